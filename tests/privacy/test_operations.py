"""Every operation of the catalogue for every caller: what is hidden might as well not be there."""

from functools import partial
import sqlite3
from typing import Any

import pytest

from custom_components.ai_memory.core import AiMemoryError, MemoryManager
from custom_components.ai_memory.operations import CATALOGUE, Reply, run

from .callers import ABOUT_ITSELF, GUESTS, Guest
from .conftest import Open
from .probes import ARRANGING, NAMES, READING, WRITING, Probe
from .twins import Twin, assert_alike
from .world import JOINED, Ids, build


@pytest.mark.parametrize("guest", GUESTS, ids=lambda guest: guest.name)
async def test_what_is_hidden_might_as_well_not_be_there(open_world: Open, guest: Guest) -> None:
    everything = await open_world("everything")
    full = await build(everything, NAMES, [one.name for one in JOINED])
    seen = await open_world("seen")
    ids = await build(seen, guest.who.world(), guest.who.joined())
    twins = (Twin(full, full), everything), (Twin(ids, full), seen)
    hidden = set(NAMES) - guest.who.world()
    before = _rows(everything, full, hidden)
    first, second = [], []
    for probes in (READING, WRITING, ARRANGING):
        asked = [probe for probe in probes if _asks(guest, probe)]
        for answers, (twin, manager) in zip((first, second), twins, strict=True):
            answers += await twin.answers(asked, partial(_ask, manager, guest))
        if probes is WRITING:
            assert _rows(everything, full, hidden) == before
    assert_alike(first, second)
    if not guest.about_itself:
        assert hidden


def _asks(guest: Guest, probe: Probe) -> bool:
    about_itself = probe.operation in ABOUT_ITSELF
    if guest.caller.user is not None and guest.caller.agent is None:
        # Who asks without an agent is told of its own with every agent, here and nowhere else.
        return about_itself is guest.about_itself
    return True


async def _ask(manager: MemoryManager, guest: Guest, probe: Probe) -> Reply:
    operation = CATALOGUE[probe.operation]
    try:
        return await run(manager, operation, guest.caller, probe.arguments)
    except AiMemoryError as err:
        return {"error_key": err.key, "kind": type(err).__name__, **err.placeholders}


def _rows(manager: MemoryManager, ids: Ids, names: set[str]) -> list[tuple[Any, ...]]:
    """Return all that the file holds of memories."""
    marks = ", ".join("?" * len(names))
    of_memories = f"(SELECT sequence FROM memories WHERE id IN ({marks}))"
    with sqlite3.connect(manager._database.path) as connection:
        return [
            row
            for sql in (
                f"SELECT m.*, r.name, w.name FROM memories m JOIN rooms r ON r.id = m.room_id"
                f" JOIN wings w ON w.id = r.wing_id WHERE m.id IN ({marks}) ORDER BY m.sequence",
                f"SELECT * FROM anchors WHERE sequence IN {of_memories} ORDER BY 1, 2",
                f"SELECT * FROM evidence WHERE sequence IN {of_memories} ORDER BY 1",
                f"SELECT * FROM earlier_texts WHERE sequence IN {of_memories} ORDER BY 1",
                f"SELECT sequence, returned, fetched FROM usage WHERE sequence IN {of_memories}",
            )
            for row in connection.execute(sql, [ids.memories[name] for name in sorted(names)])
        ]
