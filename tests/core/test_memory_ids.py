"""Short ids: as short as they may be, and telling nothing of what the caller does not see."""

from typing import Final

import pytest

from custom_components.ai_memory.core import (
    Caller,
    InvalidInputError,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Reach,
    Scope,
)

HOME: Final = Caller(source="test", agent="conversation.home")
CODER: Final = Caller(source="mcp:a", agent="client:a", reach=Reach(home=False, workshop=True))


async def _store(memory: MemoryManager, caller: Caller, content: str, wing: str) -> str:
    new = NewMemory(content=content, wing=wing, room="facts", scope=Scope.COMMON)
    return (await memory.add(caller, new)).memory.id


async def test_what_was_made_in_one_moment_is_told_apart_by_its_shortest_difference(
    memory: MemoryManager,
) -> None:
    # The clock stands still, so all ids begin alike.
    ids = [await _store(memory, CODER, f"Fact {number}.", "local/a") for number in range(5)]
    short = await memory.ids.shortened(CODER, ids)
    for one in ids:
        assert one.startswith(short[one])
        assert [other for other in ids if other.startswith(short[one])] == [one]
        assert sum(other.startswith(short[one][:-1]) for other in ids) > 1
        assert (await memory.ids.find(CODER, short[one].lower())).id == one


async def test_a_short_id_does_not_tell_of_what_is_hidden(memory: MemoryManager) -> None:
    await _store(memory, HOME, "The key is under the pot.", "household")
    mine = await _store(memory, CODER, "Lint first.", "local/a")
    await _store(memory, HOME, "The spare key is in the shed.", "household")
    assert await memory.ids.shortened(CODER, [mine]) == {mine: mine[:8]}
    assert (await memory.ids.find(CODER, mine[:8])).id == mine
    with pytest.raises(NotFoundError):
        await memory.ids.find(HOME, mine)


async def test_a_prefix_of_several_or_none_or_too_few_letters_is_refused(
    memory: MemoryManager,
) -> None:
    first = await _store(memory, CODER, "One.", "local/a")
    await _store(memory, CODER, "Two.", "local/a")
    with pytest.raises(InvalidInputError, match="ambiguous_id"):
        await memory.ids.find(CODER, first[:8])
    for prefix in (first[:7], "0" * 8, "", "%" * 8, first[:8] + "~"):
        with pytest.raises(NotFoundError):
            await memory.ids.find(CODER, prefix)
