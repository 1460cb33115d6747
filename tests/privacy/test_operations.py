"""Every operation of the catalogue for every caller: what is hidden might as well not be there."""

from contextlib import closing
from dataclasses import replace
from functools import partial
import json
import sqlite3
from typing import Any, Final

import pytest

from custom_components.ai_memory.core import Access, AiMemoryError, MemoryManager
from custom_components.ai_memory.core.standing_context import Profile
from custom_components.ai_memory.operations import CATALOGUE, run

from .callers import ABOUT_ITSELF, GUESTS, Guest
from .conftest import Open
from .probes import (
    ARRANGING,
    BRINGING,
    MEMORIES,
    PROMPT,
    READING,
    SEARCHED,
    WORKSHOP,
    WRITING,
    Probe,
)
from .twins import Answers, answers, assert_alike, assert_told
from .world import NAMES, Ulids, build, id_of

_OF_MEMORIES: Final = "SELECT sequence FROM memories WHERE id IN (SELECT value FROM json_each(?))"
ROWS: Final = (
    f"""
    SELECT m.*, r.name, w.name FROM memories m JOIN rooms r ON r.id = m.room_id
    JOIN wings w ON w.id = r.wing_id WHERE m.sequence IN ({_OF_MEMORIES}) ORDER BY m.sequence
    """,
    f"SELECT * FROM anchors WHERE sequence IN ({_OF_MEMORIES}) ORDER BY 1, 2",
    f"SELECT * FROM evidence WHERE sequence IN ({_OF_MEMORIES}) ORDER BY 1",
    f"SELECT * FROM earlier_texts WHERE sequence IN ({_OF_MEMORIES}) ORDER BY 1",
    f"SELECT * FROM usage WHERE sequence IN ({_OF_MEMORIES}) ORDER BY 1",
)

PROFILE: Final = Profile("Be kind.", 1_000)
RECALL: Final = Probe("recall", {})
"""No operation: what is recalled for a sentence."""
HARMLESS: Final = (PROMPT, RECALL, *READING, *WORKSHOP, *WRITING, PROMPT, RECALL)


@pytest.mark.parametrize("guest", GUESTS, ids=lambda guest: guest.name)
async def test_what_is_hidden_might_as_well_not_be_there(
    open_world: Open, ulids: Ulids, guest: Guest
) -> None:
    world = guest.who.world()
    hidden = [name for name in MEMORIES if name not in world]
    assert hidden
    everything, without = await open_world("everything"), await open_world("without")
    await build(everything, ulids, NAMES)
    before = _rows(everything, hidden)
    told = await _told(everything, guest, HARMLESS)
    assert _rows(everything, hidden) == before
    told += await _told(everything, guest, ARRANGING)
    assert_told(told, guest.who)
    await build(without, ulids, world)
    assert_alike(told, await _told(without, guest, (*HARMLESS, *ARRANGING)))


@pytest.mark.parametrize("guest", GUESTS, ids=lambda guest: guest.name)
async def test_who_is_no_administrator_learns_nothing_hidden_from_an_import(
    open_world: Open, ulids: Ulids, guest: Guest
) -> None:
    guest = replace(
        guest, caller=replace(guest.caller, access=guest.caller.access - {Access.ADMIN})
    )
    world = guest.who.world()
    everything, without = await open_world("everything"), await open_world("without")
    await build(everything, ulids, NAMES)
    told = await _told(everything, guest, BRINGING)
    await build(without, ulids, world)
    assert_alike(told, await _told(without, guest, BRINGING))


async def _told(manager: MemoryManager, guest: Guest, probes: tuple[Probe, ...]) -> Answers:
    return await answers(
        (probe for probe in probes if _asks(guest, probe)), partial(_ask, manager, guest)
    )


def _asks(guest: Guest, probe: Probe) -> bool:
    if guest.caller.user is not None and guest.caller.agent is None:
        # Who asks without an agent is told of its own with every agent, here and nowhere else.
        return (probe.operation in ABOUT_ITSELF) is guest.about_itself
    return True


async def _ask(manager: MemoryManager, guest: Guest, probe: Probe) -> object:
    if probe == PROMPT:
        return manager.standing_text(guest.caller, PROFILE)
    if probe == RECALL:
        return await manager.recall(guest.caller, SEARCHED, PROFILE)
    operation = CATALOGUE[probe.operation]
    try:
        return await run(manager, operation, guest.caller, probe.arguments)
    except AiMemoryError as err:
        return {"error_key": err.key, "kind": type(err).__name__, **err.placeholders}


def _rows(manager: MemoryManager, names: list[str]) -> list[tuple[Any, ...]]:
    """Return all that the file holds of memories."""
    ids = json.dumps([id_of(name) for name in names])
    with closing(sqlite3.connect(manager._database.path)) as connection:
        return [row for sql in ROWS for row in connection.execute(sql, (ids,))]
