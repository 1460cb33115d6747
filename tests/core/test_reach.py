"""Which wings a caller knows of: the home's, the workshop's, or some by name."""

from dataclasses import replace

import pytest

from custom_components.ai_memory.core import (
    AccessDeniedError,
    Caller,
    Filters,
    InvalidInputError,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Reach,
)
from custom_components.ai_memory.core.models import WORKSHOP_REACH, is_workshop

HOME = Caller(source="test", agent="voice")
CODER = Caller(source="test", agent="coder", reach=WORKSHOP_REACH)
BOTH = Caller(source="test", agent="owner", reach=Reach(workshop=True))
OWNER_ONLY = replace(CODER, reach=Reach(home=False, workshop=True, wings=("github/acme/*",)))


async def _fill(memory: MemoryManager) -> dict[str, str]:
    """Store one memory in each wing; returns their ids by wing."""
    stored = {}
    for caller, wing in (
        (HOME, "household"),
        (HOME, "global_things"),
        (CODER, "global"),
        (CODER, "github/acme/tool"),
        (CODER, "github/acme_other/tool"),
        (CODER, "topics/testing"),
    ):
        new = NewMemory(content=f"The lamp of {wing}.", wing=wing, room="general")
        stored[wing] = (await memory.add(caller, new)).memory.id
    return stored


@pytest.mark.parametrize(
    ("caller", "wings"),
    [
        (HOME, {"household", "global_things"}),
        (CODER, {"global", "github/acme/tool", "github/acme_other/tool", "topics/testing"}),
        (
            BOTH,
            {
                "household",
                "global_things",
                "global",
                "github/acme/tool",
                "github/acme_other/tool",
                "topics/testing",
            },
        ),
        (OWNER_ONLY, {"github/acme/tool"}),
        (replace(HOME, reach=Reach(wings=("household",))), {"household"}),
        (replace(HOME, reach=Reach(wings=())), set()),
        (replace(HOME, reach=Reach(wings=("h*", "global"))), {"household"}),
    ],
)
async def test_a_caller_sees_the_wings_in_its_reach_and_no_other(
    memory: MemoryManager, caller: Caller, wings: set[str]
) -> None:
    stored = await _fill(memory)
    listed = await memory.latest(caller, Filters(), 50)
    found = await memory.search(caller, Filters(), "lamp", 20)
    assert {one.wing for one in listed.memories} == wings
    assert listed.total == len(wings)
    assert {hit.memory.wing for hit in found.hits} == wings
    for wing, memory_id in stored.items():
        assert caller.reach.admits(wing) == (wing in wings)
        if wing in wings:
            assert (await memory.get(caller, memory_id)).wing == wing
            continue
        with pytest.raises(NotFoundError):
            await memory.get(caller, memory_id)
        with pytest.raises(NotFoundError):
            await memory.update(caller, memory_id, MemoryChanges(content="changed"))
        with pytest.raises(NotFoundError):
            await memory.delete(caller, memory_id, Filters())


async def test_nobody_writes_beyond_their_reach(memory: MemoryManager) -> None:
    stored = await _fill(memory)
    with pytest.raises(AccessDeniedError) as refused:
        await memory.add(HOME, NewMemory(content="A secret plan.", wing="global"))
    assert refused.value.key == "wing_not_allowed"
    with pytest.raises(AccessDeniedError):
        await memory.add(CODER, NewMemory(content="A secret plan.", wing="household"))
    with pytest.raises(AccessDeniedError):
        changes = MemoryChanges(wing="github/other/tool")
        await memory.update(OWNER_ONLY, stored["github/acme/tool"], changes)
    assert memory.counts().total == len(stored)


async def test_a_slash_makes_no_namespace_at_home(memory: MemoryManager) -> None:
    added = await memory.add(HOME, NewMemory(content="A plan.", wing="github/acme/tool"))
    assert added.memory.wing == "github_acme_tool"
    assert not is_workshop(added.memory.wing)


@pytest.mark.parametrize("name", ["github//tool", "/x", "x/", "github/../x", "a b/c", "ü/x"])
async def test_what_is_no_namespace_is_refused(memory: MemoryManager, name: str) -> None:
    with pytest.raises(InvalidInputError):
        await memory.add(CODER, NewMemory(content="A plan.", wing=name))
