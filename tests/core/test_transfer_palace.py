"""Wings, rooms and tunnels in an export: they come back once, and are told to whom they may be."""

from collections.abc import Sequence
from dataclasses import replace
import json
from typing import Any, Final

import pytest

from custom_components.ai_memory.core import (
    HOME_ACCESS,
    Access,
    Caller,
    Filters,
    MemoryManager,
    NewMemory,
    Reach,
    Scope,
    TunnelState,
)
from custom_components.ai_memory.core.transfer import ExportFormat, ImportReport, ImportRequest
from tests.conftest import Opener

HOME: Final = Caller(source="service")
BEN: Final = Caller(source="assist", agent="conversation.home", user="ben")
ADMIN: Final = Caller(
    source="service",
    user="boss",
    access=HOME_ACCESS | {Access.EXPORT, Access.ADMIN},
    reach=Reach(workshop=True),
)
TOOL: Final = "github/acme/tool"
HUB: Final = "github/acme/hub"
PROJECT: Final = "projects/garden"


async def _export(
    memory: MemoryManager,
    caller: Caller,
    filters: Filters = Filters(),  # noqa: B008 - immutable
    *,
    all_owners: bool = False,
) -> str:
    pieces = memory.transfers.export(caller, filters, ExportFormat.JSONL, all_owners=all_owners)
    return "".join([piece async for piece, _ in pieces])


def _of_palace(text: str) -> list[dict[str, Any]]:
    rows = map(json.loads, text.splitlines()[1:])
    return [{name: row[name] for name in row if name != "kind"} for row in rows if "kind" in row]


async def _import(
    memory: MemoryManager, caller: Caller, text: str, *, dry_run: bool = False
) -> ImportReport:
    return await memory.transfers.bring_in(caller, ImportRequest(data=text, dry_run=dry_run))


async def _furnish(memory: MemoryManager, anna: Caller) -> None:
    for wing, room in (("garden", "shed"), ("garden", "pond"), (TOOL, "decision")):
        await memory.add(ADMIN, NewMemory(content=f"In the {room}", wing=wing, room=room))
    secret = NewMemory(content="Mine", wing="nook", room="alcove", scope=Scope.PRIVATE)
    await memory.add(anna, secret)
    places = memory.places
    await places.describe(ADMIN, "garden", None, "What grows", Scope.PRIVATE)
    await places.describe(ADMIN, "garden", "shed", "Tools and pots", None)
    await places.describe(ADMIN, "personal", None, None, Scope.COMMON)
    await places.connect(ADMIN, ("garden", "shed"), ("household", "devices"), "Both hold tools")
    await places.connect(anna, ("nook", "alcove"), ("garden", "pond"), "Ours")
    await places.link(ADMIN, TOOL, PROJECT, "One product")
    await places.link(ADMIN, HUB, None)
    proposed = await places.connect(ADMIN, ("garden", "pond"), ("household", "events"), "Perhaps")
    await places.disconnect(ADMIN, proposed.id)


GARDEN: Final = {"wing": "garden", "description": "What grows", "default_scope": "private"}
SHED: Final = {"wing": "garden", "room": "shed", "description": "Tools and pots"}
PERSONAL: Final = {"wing": "personal", "description": "", "default_scope": "common"}
HALL: Final = {
    "tunnel": "tunnel",
    "from_wing": "garden",
    "from_room": "shed",
    "to_wing": "household",
    "to_room": "devices",
    "reason": "Both hold tools",
}
SECRET: Final = {
    "tunnel": "tunnel",
    "from_wing": "nook",
    "from_room": "alcove",
    "to_wing": "garden",
    "to_room": "pond",
    "reason": "",
}
LINK: Final = {
    "tunnel": "link",
    "from_wing": TOOL,
    "from_room": None,
    "to_wing": PROJECT,
    "to_room": None,
    "reason": "One product",
}
CENTER: Final = {"tunnel": "hub", "from_wing": HUB, "from_room": None, "reason": ""}


def _same(found: Sequence[dict[str, Any]], expected: Sequence[dict[str, Any]]) -> bool:
    return sorted(map(str, found)) == sorted(map(str, expected))


async def test_a_palace_comes_back_and_only_once(open_memory: Opener, anna: Caller) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    await _furnish(memory, anna)
    text = await _export(memory, ADMIN, all_owners=True)
    assert _same(_of_palace(text), [GARDEN, SHED, PERSONAL, HALL, SECRET, LINK, CENTER])
    tried = await _import(other, ADMIN, text, dry_run=True)
    assert (tried.places, tried.tunnels, tried.added) == (3, 4, 4)
    # Pages may come in any order, the palace before its memories too.
    lines = text.splitlines(keepends=True)
    first = await _import(other, ADMIN, lines[0] + "".join(lines[5:]))
    assert (first.places, first.tunnels, first.read, first.skipped) == (3, 4, 0, 0)
    assert (await _import(other, ADMIN, "".join(lines[:5]))).added == 4
    assert (await _export(other, ADMIN, all_owners=True)).splitlines()[1:5] == [
        line.rstrip() for line in lines[1:5]
    ]
    for dry_run in (True, False):
        again = await _import(other, ADMIN, text, dry_run=dry_run)
        assert (again.places, again.tunnels, again.known, again.skipped) == (0, 0, 4, 0)
    assert _same(_of_palace(await _export(other, ADMIN, all_owners=True)), _of_palace(text))
    (wing,) = await other.places.wings(anna, "garden")
    assert (wing.description, wing.default_scope) == ("What grows", Scope.PRIVATE)
    assert len(await other.places.tunnels(ADMIN, None, None, TunnelState.OPEN)) == 3


async def test_an_export_names_no_place_that_its_caller_does_not_know(
    memory: MemoryManager, anna: Caller
) -> None:
    await _furnish(memory, anna)
    hers, his = await _export(memory, anna), await _export(memory, BEN)
    assert _same(_of_palace(hers), [GARDEN, SHED, PERSONAL, HALL, SECRET])
    assert _same(_of_palace(his), [GARDEN, SHED, PERSONAL, HALL])
    assert "nook" not in his
    assert _same(_of_palace(await _export(memory, ADMIN)), [*_of_palace(his), LINK, CENTER])
    # What is common alone says nothing of places where only private memories are.
    common = await _export(memory, anna, Filters(scope=Scope.COMMON))
    assert _of_palace(common) == _of_palace(his)
    shed = await _export(memory, anna, Filters(wing="garden", room="shed"))
    assert _same(_of_palace(shed), [SHED, HALL])
    assert _of_palace(await _export(memory, ADMIN, Filters(wing=TOOL))) == [LINK]
    client = Caller(source="mcp", reach=Reach(home=False, workshop=True, wings=(TOOL,)))
    assert _of_palace(await _export(memory, client)) == []


async def test_what_somebody_wrote_here_stays(open_memory: Opener, anna: Caller) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    await _furnish(memory, anna)
    text = await _export(memory, ADMIN)
    await other.add(HOME, NewMemory(content="A rake", wing="garden", room="shed"))
    await other.places.describe(ADMIN, "garden", "shed", "The old shed", None)
    ends = (("household", "devices"), ("garden", "shed"))
    closed = await other.places.connect(ADMIN, *ends, "Nearby")
    await other.places.disconnect(ADMIN, closed.id)
    report = await _import(other, ADMIN, text)
    assert (report.places, report.tunnels) == (2, 2)
    (wing,) = await other.places.wings(HOME, "garden")
    assert (wing.description, wing.rooms[1].description) == ("What grows", "The old shed")
    assert await other.places.tunnels(HOME, "garden", None, None) == []


async def test_who_is_no_administrator_describes_what_it_knows_and_links_nothing(
    open_memory: Opener, anna: Caller
) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    await _furnish(memory, anna)
    text = await _export(memory, ADMIN, all_owners=True)
    secret = NewMemory(content="Mine", wing="nook", room="alcove", scope=Scope.PRIVATE)
    await other.add(anna, secret)
    told = json.dumps({"kind": "place", "wing": "nook", "description": "Guessed"})
    nobody = json.dumps({"kind": "place", "wing": "nowhere", "description": "Guessed"})
    text += f"{told}\n{nobody}\n"
    coder = replace(BEN, reach=Reach(workshop=True))
    for dry_run in (True, False):
        report = await _import(other, coder, text, dry_run=dry_run)
        assert (report.places, report.tunnels) == (2, 2)
        reasons = {one.line: one.reason.value for one in report.skipped_lines}
        assert sorted(reasons.values()) == [
            *["link_needs_admin"] * 2,
            *["place_not_found"] * 2,
        ]
    found = await other.places.wings(coder, None)
    garden = next(one for one in found if one.name == "garden")
    assert (garden.description, garden.default_scope) == ("What grows", Scope.COMMON)
    # What was hers is his here, but what may be read of her place is not his to write.
    assert {one.name: one.description for one in found if one.name[0] == "n"} == {"nook": ""}
    opened = await other.places.tunnels(coder, None, None, None)
    assert {(one.start.told, one.reason) for one in opened} == {
        ("garden/shed", "Both hold tools"),
        ("nook/alcove", ""),
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"kind": "place"}, "invalid_value"),
        ({"kind": "place", "wing": 3}, "invalid_value"),
        ({"kind": "place", "wing": "x", "default_scope": "all"}, "invalid_value"),
        ({"kind": "place", "wing": "x", "description": "a" * 501}, "too_long"),
        ({"kind": "place", "wing": "x", "description": "ghp_" + "a1B2" * 9}, "screened"),
        ({"kind": "place", "wing": "../x/y", "description": "a"}, "invalid_value"),
        ({"kind": "place", "wing": "!", "description": "a"}, "invalid_name"),
        ({"kind": "song", "wing": "x"}, "unknown_kind"),
        ({"kind": ["place"], "wing": "x"}, "unknown_kind"),
        ({"kind": "tunnel", "tunnel": "bridge", "from_wing": "x"}, "invalid_value"),
        ({"kind": "tunnel", "tunnel": "tunnel", "from_wing": "x"}, "invalid_value"),
        ({"kind": "tunnel", "tunnel": "hub", "from_wing": "x", "to_wing": "y"}, "invalid_value"),
        ({"kind": "tunnel", "tunnel": "hub", "from_wing": "household"}, "invalid_value"),
        ({"kind": "tunnel", "tunnel": "link", "from_wing": TOOL, "to_wing": HUB}, "invalid_value"),
        (
            {"kind": "tunnel", "tunnel": "hub", "from_wing": TOOL, "from_room": "x"},
            "invalid_value",
        ),
        (
            {"kind": "tunnel", "tunnel": "tunnel", "from_wing": TOOL, "to_wing": HUB},
            "invalid_value",
        ),
        ({"kind": "tunnel", "tunnel": "tunnel", "from_wing": "x", "to_wing": "x"}, "invalid_value"),
        (
            {
                "kind": "tunnel",
                "tunnel": "tunnel",
                "from_wing": "x",
                "to_wing": "y",
                "to_room": "z",
            },
            "invalid_value",
        ),
    ],
)
async def test_a_line_that_is_no_part_of_a_palace_is_skipped(
    memory: MemoryManager, line: dict[str, Any], reason: str
) -> None:
    text = json.dumps({"ai_memory_export": 1}) + "\n" + json.dumps(line)
    report = await _import(memory, ADMIN, text)
    assert [(one.line, one.reason.value) for one in report.skipped_lines] == [(2, reason)]
    assert (report.places, report.tunnels) == (0, 0)
    assert _of_palace(await _export(memory, ADMIN, all_owners=True)) == []
