"""Taking a memory out and bringing it in again: nothing is lost, nothing is told, nothing twice."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
import json
from pathlib import Path
import sqlite3
import time
from typing import Any, Final

import pytest

from benchmarks.event_loop import StallMeter
from custom_components.ai_memory.core import (
    HOME_ACCESS,
    Access,
    Action,
    Caller,
    Change,
    Filters,
    InvalidInputError,
    Layer,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Reach,
    Scope,
    Stance,
    Tally,
)
from custom_components.ai_memory.core.transfer import (
    Defaults,
    ExportFormat,
    ImportReport,
    ImportRequest,
    TransferFormat,
)
from custom_components.ai_memory.core.transfer.asking import without_cycles
from tests.conftest import Opener, SteppingClock

DATA: Final = Path(__file__).parent.parent / "data" / "transfer"
HOME: Final = Caller(source="service")
AUTOMATION: Final = replace(HOME, automation=True)
TOKEN: Final = "ghp_" + "a1B2" * 9
BEN: Final = Caller(source="assist", agent="conversation.home", user="ben")
ADMIN: Final = Caller(
    source="service",
    user="boss",
    access=HOME_ACCESS | {Access.EXPORT, Access.ADMIN},
    reach=Reach(workshop=True),
)
TOO_LATE: Final = "9999-12-31T23:59:59.9996+00:00"
"""The last of all years, which it is not any more once it is rounded to milliseconds."""
TIMES: Final = (
    "created",
    "updated",
    "layered",
    "used",
    "last_returned",
    "last_fetched",
    "expires",
)
_EARLIER: Final = {
    "revision": 1,
    "content": "a",
    "summary": "",
    "scope": "common",
    "written": "2026-01-01T00:00:00+00:00",
    "replaced": "2026-01-01T00:00:00+00:00",
}
_ANCHOR: Final = {"anchor": "host:nas", "state": "ok"}
TIMES_OF_ROWS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("earlier", _EARLIER | {"written": TOO_LATE}),
    ("earlier", _EARLIER | {"replaced": TOO_LATE}),
    ("witnessed", {"at": TOO_LATE, "stance": "corroborates", "quote": "a", "source": "b"}),
    ("anchors", _ANCHOR | {"checked": TOO_LATE}),
    ("anchors", _ANCHOR | {"unavailable_since": TOO_LATE}),
)
NOT_EXPORTED: Final = {
    "sequence": "the row number, which never leaves",
    "room_id": "told by wing and room",
    "restatement": "made of the content",
    "indexed_place": "how full text holds it",
    "deleted_ms": "what was forgotten leaves with no export",
    "forgotten_status": "what was forgotten leaves with no export",
}


_OF_IT: Final = "(SELECT sequence FROM memories WHERE id = :it)"
ATTACHED: Final = {
    "earlier_texts (sequence, revision, content, summary, scope, owner_agent, owner_user,"
    " written_ms, replaced_ms)": f"{_OF_IT}, 1, 'Oven broken', '', 'private',"
    " 'conversation.home', 'anna', 1000, 2001",
    "evidence (sequence, at_ms, stance, quote, source, agent, user)": f"{_OF_IT}, 3000,"
    " 'corroborates', 'I saw it', 'assist', 'conversation.home', 'ben'",
    "anchors (sequence, anchor, state, checked_ms)": f"{_OF_IT}, 'entity:switch.oven', 'ok', 4000",
}


async def _export(
    memory: MemoryManager,
    caller: Caller,
    wanted: ExportFormat = ExportFormat.JSONL,
    filters: Filters = Filters(),  # noqa: B008 - immutable
    *,
    all_owners: bool = False,
) -> str:
    pieces = memory.transfers.export(caller, filters, wanted, all_owners=all_owners)
    return "".join([piece async for piece, _ in pieces])


async def _import(
    memory: MemoryManager, caller: Caller, data: str | bytes, **more: Any
) -> ImportReport:
    return await memory.transfers.bring_in(caller, ImportRequest(data=data, **more))


def _told(report: ImportReport) -> dict[str, int]:
    names = ("read", "added", "known", "updated", "skipped", "refused")
    return {name: count for name in names if (count := getattr(report, name))}


def _rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()[1:]]


async def _stored(memory: MemoryManager) -> list[tuple[Any, ...]]:
    """Return everything that is stored of all memories, but for row numbers."""
    async with memory._database.reading() as connection:
        rows = await connection.execute_fetchall(
            "SELECT m.id, m.content, m.summary, w.name, r.name, m.restatement, m.scope,"
            " m.owner_agent, m.owner_user, m.layer, m.type, m.status, m.confidence, m.revision,"
            " m.language, m.created_ms, m.updated_ms, m.source, m.pinned, m.layered_ms,"
            " m.expires_ms, m.evidence, m.superseded_ms, (SELECT s.id FROM memories s"
            " WHERE s.sequence = m.superseded_by), u.returned, u.fetched, u.last_used_ms,"
            " u.last_returned_ms, u.last_fetched_ms FROM memories m"
            " JOIN rooms r ON r.id = m.room_id JOIN wings w ON w.id = r.wing_id"
            " LEFT JOIN usage u ON u.sequence = m.sequence ORDER BY m.id"
        )
    return [tuple(row) for row in rows]


async def _belonging(memory: MemoryManager) -> list[list[tuple[Any, ...]]]:
    """Return the rows of the tables that belong to memories, by the ids of these."""
    async with memory._database.reading() as connection:
        return [
            [
                tuple(row)
                for row in await connection.execute_fetchall(
                    f"SELECT m.id, {columns} FROM {table} t"
                    " JOIN memories m ON m.sequence = t.sequence ORDER BY 1, 2, 3"
                )
            ]
            for table, columns in (
                (
                    "earlier_texts",
                    (
                        "t.revision, t.content, t.summary, t.scope, t.owner_agent, t.owner_user,"
                        " written_ms, replaced_ms"
                    ),
                ),
                ("evidence", "at_ms, stance, quote, anchor, t.source, agent, user"),
                ("anchors", "anchor, state, checked_ms, unavailable_since_ms"),
            )
        ]


async def _execute(memory: MemoryManager, *statements: tuple[str, Iterable[Any]]) -> None:
    async with memory._database.transaction() as connection:
        for sql, parameters in statements:
            await connection.execute(sql, tuple(parameters))


async def _furnish(memory: MemoryManager, anna: Caller, clock: SteppingClock) -> dict[str, str]:
    """Store memories that differ in everything that can be stored; returns their ids."""
    ids = {}
    news = (
        (anna, NewMemory(content="Anna is allergic to peanuts", scope=Scope.PRIVATE, pinned=True)),
        (BEN, NewMemory(content="Ben plans a surprise", scope=Scope.PRIVATE, type="decision")),
        (HOME, NewMemory(content="The oven is set to 180", summary="oven, heat")),
        (HOME, NewMemory(content="The oven is set to 200", layer=Layer.CRITICAL)),
        (
            replace(HOME, language="de"),
            NewMemory(content="Müll am Donnerstag\n— „früh“ 🗑", room="Küche"),
        ),
        (ADMIN, NewMemory(content="Use tabs", wing="github/owner/repo", room="decisions")),
    )
    for number, (caller, new) in enumerate(news):
        clock.advance(minutes=7.001)
        added = await memory.add(caller, new)
        ids[f"{number}"] = added.memory.id
    await memory.update(anna, ids["0"], MemoryChanges(summary="peanuts, allergy"))
    await memory.get(HOME, ids["3"])
    await memory.search(HOME, Filters(), "oven", 5)
    await memory._usage.flush()
    await _execute(
        memory,
        (
            (
                "UPDATE memories SET status = 'superseded', superseded_ms = 5000, superseded_by ="
                " (SELECT sequence FROM memories WHERE id = ?) WHERE id = ?"
            ),
            (ids["3"], ids["2"]),
        ),
        (
            (
                "UPDATE memories SET confidence = 0.5, evidence = 1.25, expires_ms = ?,"
                " layered_ms = ? WHERE id = ?"
            ),
            (1_900_000_000_123, 1_700_000_000_001, ids["3"]),
        ),
        ("UPDATE memories SET status = 'candidate' WHERE id = ?", (ids["4"],)),
        ("UPDATE usage SET last_returned_ms = 1, last_fetched_ms = 2", ()),
        *(
            (f"INSERT INTO {table} VALUES ({values})".replace(":it", f"'{ids['3']}'"), ())
            for table, values in ATTACHED.items()
        ),
    )
    return ids


async def test_a_whole_memory_comes_back_without_a_loss_and_only_once(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory = await open_memory()
    await _furnish(memory, anna, clock)
    text = await _export(memory, ADMIN, all_owners=True)
    clock.advance(days=40)
    other = await open_memory(name="other.db")
    assert _told(await _import(other, ADMIN, text)) == {"read": 6, "added": 6}
    before, belonging = await _stored(memory), await _belonging(memory)
    assert [len(rows) for rows in belonging] == [1, 1, 1]
    assert await _stored(other) == before
    assert len(before) == 6
    await memory.close()
    memory = await open_memory()
    assert other.counts() == memory.counts()
    assert other.counts().total == 5
    for _ in range(2):
        assert _told(await _import(other, ADMIN, text)) == {"read": 6, "known": 6}
        assert _told(await _import(memory, ADMIN, text.encode("utf-16"))) == {"read": 6, "known": 6}
    assert (await _stored(other), await _stored(memory)) == (before, before)
    assert await _belonging(other) == await _belonging(memory) == belonging
    again = await _export(other, ADMIN, all_owners=True)
    assert again.splitlines()[1:] == text.splitlines()[1:]


async def test_every_column_of_a_memory_is_exported(memory: MemoryManager) -> None:
    await memory.add(HOME, NewMemory(content="A fact"))
    (row,) = _rows(await _export(memory, HOME))
    async with memory._database.reading() as connection:
        found = await connection.execute_fetchall("SELECT name FROM pragma_table_info('memories')")
        usage = await connection.execute_fetchall("SELECT name FROM pragma_table_info('usage')")
    columns = {name.removesuffix("_ms") for (name,) in found if name not in NOT_EXPORTED}
    assert columns <= set(row)
    counted = {name.removesuffix("_ms") for (name,) in usage} - {"sequence"}
    assert {"used" if name == "last_used" else name for name in counted} <= set(row)
    assert {"wing", "room"} <= set(row)


async def test_what_came_in_is_found_by_words_and_by_meaning(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory()
    heard: list[Change] = []
    memory.subscribe(heard.append)
    report = await _import(memory, anna, (DATA / "mcp_memory.jsonl").read_bytes())
    assert _told(report) == {"read": 7, "added": 4, "skipped": 3}
    assert [change.action for change in heard] == [Action.ADDED]
    await memory.wait_for_vectors()
    result = await memory.search(anna, Filters(), "Is Anna allergic to peanuts?", 5)
    assert result.hits[0].memory.content == "Anna: Allergic to peanuts"
    assert (result.hits[0].memory.source, result.ranking) == ("import_mcp_memory", "hybrid")
    assert memory.counts().total == memory.vector_count == 4


@pytest.mark.parametrize("sample", sorted(DATA.iterdir()), ids=lambda path: path.name)
async def test_each_format_is_imported_once(
    memory: MemoryManager, anna: Caller, sample: Path
) -> None:
    data = sample.read_bytes()
    tried = await _import(memory, anna, data, dry_run=True)
    assert memory.counts().total == 0
    first = await _import(memory, anna, data)
    assert _told(tried) == _told(first)
    assert (tried.dry_run, first.dry_run, tried.format) == (True, False, first.format)
    assert first.added == memory.counts().total > 0
    again = await _import(memory, anna, data)
    assert (again.added, again.known, again.skipped) == (0, first.added, first.skipped)
    # It stays known when it was moved to another room, unless the file names the room.
    for found in (await memory.latest(anna, Filters(), 1000)).memories:
        await memory.update(anna, found.id, MemoryChanges(wing="elsewhere", room="attic"))
    moved = await _import(memory, anna, data, dry_run=True)
    assert moved.added == (first.added if first.format is TransferFormat.MEMPALACE else moved.added)
    if not any(mark in data for mark in (b"wing", b"Wing", b"room", b"# house")):
        assert moved.added == 0


async def test_an_export_shows_only_what_the_caller_may_see(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    await _furnish(memory, anna, clock)

    async def seen(caller: Caller, **more: Any) -> set[str]:
        return {row["content"] for row in _rows(await _export(memory, caller, **more))}

    common = {
        "The oven is set to 180",
        "The oven is set to 200",
        "Müll am Donnerstag\n— „früh“ 🗑",
    }
    assert await seen(HOME) == common
    assert await seen(anna) == common | {"Anna is allergic to peanuts"}
    assert await seen(BEN) == common | {"Ben plans a surprise"}
    assert await seen(ADMIN) == common | {"Use tabs"}
    assert len(await seen(ADMIN, all_owners=True)) == 6
    assert await seen(anna, filters=Filters(scope=Scope.PRIVATE)) == {"Anna is allergic to peanuts"}
    assert await seen(ADMIN, filters=Filters(wing="github/owner/repo")) == {"Use tabs"}
    assert await seen(HOME, filters=Filters(wing="general", room="kuche")) == {
        "Müll am Donnerstag\n— „früh“ 🗑"
    }


async def test_what_belongs_to_a_memory_is_told_without_what_is_others(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory = await open_memory()
    ids = await _furnish(memory, anna, clock)

    async def told(caller: Caller) -> dict[str, Any]:
        rows = {row["id"]: row for row in _rows(await _export(memory, caller))}
        return rows[ids["3"]]

    hers, theirs = await told(anna), await told(BEN)
    assert [one["content"] for one in hers["earlier"]] == ["Oven broken"]
    assert "earlier" not in theirs
    for row in (hers, theirs):
        assert [(one["quote"], one["agent"], one["user"]) for one in row["witnessed"]] == [
            ("I saw it", None, None)
        ]
        assert row["anchors"][0]["anchor"] == "entity:switch.oven"
    # Who is no administrator can only say something about themselves with it.
    whole = await _export(memory, ADMIN, all_owners=True)
    other = await open_memory(name="other.db")
    await _import(other, BEN, whole)
    earlier, witnessed, anchors = await _belonging(other)
    assert [row[5:7] for row in earlier] == [("conversation.home", "ben")]
    assert witnessed == []
    assert [row[1:] for row in anchors] == [("entity:switch.oven", "unchecked", None, None)]


async def test_markdown_is_by_wing_and_room_and_dated(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    await _furnish(memory, anna, clock)
    await memory.add(HOME, NewMemory(content="Party\n# at eight", wing="household", room="events"))
    text = await _export(memory, anna, ExportFormat.MARKDOWN)
    assert text == (
        "# AI Memory\n\nExported on 2026-11-30.\n"
        "\n## household\n\n### devices\n\n"
        "- The oven is set to 200 *(2026-11-30)*\n"
        "\n### events\n\n"
        "- Party *(2026-11-30)*\n"
        "  # at eight\n"
        "\n## personal\n\n### health\n\n"
        "- Anna is allergic to peanuts *(2026-11-30; private; peanuts, allergy)*\n"
    )


async def test_who_is_no_administrator_owns_the_private_memories_that_come_in(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    await _furnish(memory, anna, clock)
    text = await _export(memory, ADMIN, all_owners=True)
    nobody = await _import(other, HOME, text)
    assert _told(nobody) == {"read": 6, "added": 3, "skipped": 3}
    assert [(one.line, one.reason.value) for one in nobody.skipped_lines] == [
        (2, "private_needs_agent"),
        (3, "private_needs_agent"),
        (7, "wing_not_allowed"),
    ]
    theirs = await _import(other, BEN, text)
    assert _told(theirs) == {"read": 6, "added": 2, "known": 3, "skipped": 1}
    owned = {
        (found.content, found.owner_agent, found.owner_user)
        for found in (await other.latest(BEN, Filters(scope=Scope.PRIVATE), 9)).memories
    }
    assert owned == {
        ("Anna is allergic to peanuts", "conversation.home", "ben"),
        ("Ben plans a surprise", "conversation.home", "ben"),
    }
    assert _told(await _import(other, BEN, text)) == {"read": 6, "known": 5, "skipped": 1}


async def test_an_import_betrays_nothing_of_others_private_memories(
    memory: MemoryManager, anna: Caller
) -> None:
    new = NewMemory(content="Anna is pregnant", scope=Scope.PRIVATE, wing="personal", room="health")
    secret = (await memory.add(anna, new)).memory
    (row,) = _rows(await _export(memory, anna))
    # With the id and the text of it, somebody else still sees their own memory come to be.
    for caller in (BEN, replace(BEN, agent="conversation.other")):
        guess = json.dumps({"ai_memory_export": 1}) + "\n" + json.dumps(row)
        for dry_run in (True, False):
            assert _told(await _import(memory, caller, guess, dry_run=dry_run)) == {
                "read": 1,
                "added": 1,
            }
        assert _told(await _import(memory, caller, guess)) == {"read": 1, "known": 1}
        (theirs,) = (await memory.latest(caller, Filters(), 9)).memories
        assert theirs.id != secret.id
    assert (await memory.get(anna, secret.id)).revision == 1


async def test_a_later_revision_updates_and_an_earlier_one_does_not(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    added = (await memory.add(HOME, NewMemory(content="The bins go out on Monday"))).memory
    first = await _export(memory, HOME)
    await _import(other, AUTOMATION, first)
    await other.wait_for_vectors()
    clock.advance(days=1)
    changes = MemoryChanges(content="The bins go out on Friday", room="maintenance")
    await memory.update(HOME, added.id, changes)
    second = await _export(memory, HOME)
    for dry_run in (True, False):
        refused = await _import(other, HOME, second, dry_run=dry_run)
        assert _told(refused) == {"read": 1, "skipped": 1}
        assert [one.reason.value for one in refused.skipped_lines] == ["renewal_needs_admin"]
    assert await _stored(other) != await _stored(memory)
    tried = await _import(other, AUTOMATION, second, dry_run=True)
    assert _told(tried) == {"read": 1, "updated": 1}
    assert _told(await _import(other, AUTOMATION, second)) == {"read": 1, "updated": 1}
    assert await _stored(other) == await _stored(memory)
    assert await _belonging(other) == await _belonging(memory)
    assert [row[2] for row in (await _belonging(other))[0]] == ["The bins go out on Monday"]
    await other.wait_for_vectors()
    found = await other.search(HOME, Filters(), "Friday", 5)
    assert [hit.memory.id for hit in found.hits] == [added.id]
    assert not (await other.search(HOME, Filters(), "Monday", 5, 0.99)).hits
    for text in (first, second):
        assert _told(await _import(other, HOME, text)) == {"read": 1, "known": 1}


async def test_a_text_that_an_import_replaces_stays_as_history(memory: MemoryManager) -> None:
    added = (await memory.add(HOME, NewMemory(content="The hedge is blue"))).memory
    (row,) = _rows(await _export(memory, HOME))
    row |= {"content": "The hedge is red", "revision": 7}
    report = await _import(memory, ADMIN, json.dumps(row), format=TransferFormat.AI_MEMORY)
    assert _told(report) == {"read": 1, "updated": 1}
    told = await memory.lifecycle.history(HOME, added.id, 9)
    assert [version.content for version in told] == ["The hedge is red", "The hedge is blue"]
    # What has a text too many of its past loses the oldest.
    row |= {"content": "The hedge is green", "revision": 8}
    past = {"summary": "", "scope": "common", "written": "2026-01-01T00:00:00.000+00:00"}
    row["earlier"] = [
        past
        | {
            "revision": number,
            "content": f"Old {number}",
            "replaced": f"2026-01-02T00:{number:02}:00.000+00:00",
        }
        for number in range(60)
    ]
    await _import(memory, ADMIN, json.dumps(row), format=TransferFormat.AI_MEMORY)
    earlier = (await _belonging(memory))[0]
    assert [line[2] for line in earlier if not line[2].startswith("Old")] == [
        "The hedge is blue",
        "The hedge is red",
    ]
    assert len(earlier) == 50
    assert {f"Old {number}" for number in range(12, 60)} < {line[2] for line in earlier}


async def test_who_is_no_administrator_poses_as_nobody_and_proves_nothing(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory = await open_memory()
    ids = await _furnish(memory, anna, clock)
    text = await _export(memory, ADMIN)
    client = Caller(source="mcp:mallory", reach=Reach(workshop=True))
    other = await open_memory(name="other.db")
    assert _told(await _import(other, client, text)) == {"read": 4, "added": 4}
    for memory_id in (ids["3"], ids["5"]):
        came = await other.get(client, memory_id)
        assert (came.source, came.evidence, came.access_count) == ("mcp:mallory", 1.0, 0)
    assert (await _belonging(other))[1] == []
    whole = await open_memory(name="whole.db")
    await _import(whole, replace(client, automation=True), text)
    came = await whole.get(client, ids["3"])
    assert (came.source, came.evidence, came.access_count > 0) == ("service", 1.25, True)
    # A file of another memory names no writer of ours either.
    line = json.dumps({"content": "The gate is green", "source": "mcp:anna"})
    await _import(other, client, line)
    await _import(other, client, "Use spaces", defaults=Defaults(wing="github/owner/repo"))
    sources = {
        one.content: one.source for one in (await other.latest(client, Filters(), 9)).memories
    }
    assert (sources["The gate is green"], sources["Use spaces"]) == ("mcp:mallory", "mcp:mallory")


async def test_a_revision_that_no_client_could_name_is_refused(memory: MemoryManager) -> None:
    await memory.add(HOME, NewMemory(content="A fact"))
    (row,) = _rows(await _export(memory, HOME))
    for revision, reason in (
        (2**53, "revision_too_high"),
        (10**400, "revision_too_high"),
        (2**31 + 1, "revision_too_high"),
        (-1, "invalid_value"),
        ("2", "invalid_value"),
    ):
        line = json.dumps(row | {"revision": revision})
        report = await _import(memory, ADMIN, line, format=TransferFormat.AI_MEMORY)
        assert [(one.line, one.reason.value) for one in report.skipped_lines] == [(1, reason)]
    (row,) = _rows(await _export(memory, HOME))
    assert row["revision"] == 1


async def test_nothing_makes_room_for_an_import(open_memory: Opener, anna: Caller) -> None:
    memory = await open_memory(max_entries=4)
    for number in range(2):
        await memory.add(HOME, NewMemory(content=f"kept {number}"))
    text = "kept 0\nnew 1\nnew 2\nnew 2\nnew 3\nnew 4"
    more: dict[str, Any] = {"defaults": Defaults(wing="general", room="general")}
    expected = {"read": 6, "added": 2, "known": 2, "refused": 2}
    assert _told(await _import(memory, HOME, text, dry_run=True, **more)) == expected
    assert _told(await _import(memory, HOME, text, **more)) == expected
    kept = {found.content for found in (await memory.latest(HOME, Filters(), 9)).memories}
    assert kept == {"kept 0", "kept 1", "new 1", "new 2"}
    more["defaults"] = Defaults(wing="github/acme/tool", room="general")
    expected = {"read": 6, "added": 5, "known": 1}
    assert _told(await _import(memory, ADMIN, text, dry_run=True, **more)) == expected
    assert _told(await _import(memory, ADMIN, text, **more)) == expected


async def test_places_and_scope_for_those_that_name_none(
    memory: MemoryManager, anna: Caller
) -> None:
    text = "content,room\nFirst fact,attic\nSecond fact,\n"
    defaults = Defaults(wing="Haus am See", room="Keller", scope=Scope.PRIVATE)
    assert _told(await _import(memory, anna, text, defaults=defaults)) == {"read": 2, "added": 2}
    found = (await memory.latest(anna, Filters(), 9)).memories
    assert {(one.content, one.wing, one.room, one.scope) for one in found} == {
        ("First fact", "haus_am_see", "attic", Scope.PRIVATE),
        ("Second fact", "haus_am_see", "keller", Scope.PRIVATE),
    }


async def test_times_of_others_are_kept_but_never_in_the_future(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    rows = [
        {"content": "old", "created_at": "2020-01-02"},
        {"content": "odd", "created_at": "2999-01-01"},
        {"content": "new"},
    ]
    await _import(memory, anna, "\n".join(map(json.dumps, rows)))
    found = (await memory.latest(anna, Filters(), 9)).memories
    times = {one.content: (one.created, one.updated) for one in found}
    assert times["old"][0].isoformat() == "2020-01-02T00:00:00+00:00"
    assert times["old"][0] == times["old"][1]
    assert times["odd"] == times["new"] == (clock.now, clock.now)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"content": " "}, "empty"),
        ({"content": "a\x00b"}, "invalid_characters"),
        ({"content": "x" * 10_001}, "too_long"),
        ({"summary": "x" * 501}, "too_long"),
        ({"wing": "💡"}, "invalid_name"),
        ({"content": 5}, "not_a_memory"),
        ({"id": "a b"}, "invalid_value"),
        ({"scope": "public"}, "invalid_value"),
        ({"layer": 0}, "invalid_value"),
        ({"status": "deleted"}, "invalid_value"),
        ({"status": "superseded", "superseded": TOO_LATE}, "invalid_value"),
        ({"revision": -1}, "invalid_value"),
        ({"confidence": 2}, "invalid_value"),
        ({"evidence": 99}, "invalid_value"),
        ({"created": "yesterday"}, "invalid_value"),
        ({"created": "0001-01-01T00:00:00+00:00"}, "invalid_value"),
        ({"updated": "9999-12-31T23:59:59-12:00"}, "invalid_value"),
        *(({name: TOO_LATE}, "invalid_value") for name in TIMES),
        *(({name: [row]}, "invalid_value") for name, row in TIMES_OF_ROWS),
        ({"returned": 2**70}, "invalid_value"),
        ({"owner_agent": "x" * 300}, "invalid_value"),
        ({"source": "a\ud800"}, "invalid_characters"),
        ({"type": "spell"}, "invalid_value"),
        ({"anchors": 5}, "invalid_value"),
        ({"anchors": ["entity:light.hall"]}, "invalid_value"),
        ({"anchors": [{"anchor": "entity:light.hall", "state": "gone"}]}, "invalid_value"),
        ({"anchors": [{"anchor": "a\x00", "state": "ok"}]}, "invalid_characters"),
        ({"anchors": [{"anchor": "a", "state": "ok", "checked": "now"}]}, "invalid_value"),
        ({"anchors": [{"anchor": "entity:hall", "state": "ok"}]}, "invalid_value"),
        ({"anchors": [{"anchor": "url:https://a:b@c.de", "state": "ok"}]}, "invalid_value"),
        ({"anchors": [{"anchor": f"path:{n}", "state": "ok"} for n in range(17)]}, "invalid_value"),
        ({"anchors": [{"anchor": "path:a", "state": "ok"}] * 2}, "invalid_value"),
        ({"earlier": [{"revision": 1}]}, "invalid_value"),
        ({"content": f"Push with {TOKEN}"}, "screened"),
        ({"summary": TOKEN}, "screened"),
        ({"source": TOKEN}, "screened"),
        ({"id": "AKIA" + "Q7WX2MPL" * 2}, "screened"),
        ({"language": TOKEN}, "screened"),
        ({"owner_agent": TOKEN}, "screened"),
        ({"owner_user": TOKEN}, "screened"),
        ({"wing": f"local/{TOKEN}"}, "screened"),
        ({"room": TOKEN}, "screened"),
        ({"revision": 2**31 + 1}, "revision_too_high"),
        ({"witnessed": [{}] * 1_101}, "invalid_value"),
    ],
)
async def test_a_row_that_was_tampered_with_is_skipped(
    memory: MemoryManager, changes: dict[str, Any], reason: str
) -> None:
    await memory.add(HOME, NewMemory(content="A fact"))
    text = await _export(memory, HOME)
    (row,) = _rows(text)
    broken = text.splitlines()[0] + "\n" + json.dumps(row | {"id": "X1"} | changes)
    report = await _import(memory, ADMIN, broken)
    assert _told(report) == {"read": 1, "skipped": 1}
    assert [(one.line, one.reason.value) for one in report.skipped_lines] == [(2, reason)]
    assert memory.counts().total == 1


async def test_an_export_of_a_later_version_is_not_guessed_at(memory: MemoryManager) -> None:
    report = await _import(memory, ADMIN, '{"ai_memory_export": 2}\n{"id": "a", "content": "b"}')
    assert [one.reason.value for one in report.skipped_lines] == ["newer_export"]
    assert _told(report) == {"read": 1, "skipped": 1}


async def test_replacements_that_go_in_a_circle_are_not_linked(memory: MemoryManager) -> None:
    await memory.add(HOME, NewMemory(content="A fact"))
    text = await _export(memory, HOME)
    (row,) = _rows(text)
    chain = {"A": "B", "B": "C", "C": "B", "D": "D", "E": "F", "F": None, "G": "unknown"}
    rows = [
        row | {"id": id_, "content": f"fact {id_}", "superseded_by": by, "status": "superseded"}
        for id_, by in chain.items()
    ]
    lines = [text.splitlines()[0], *map(json.dumps, rows)]
    assert _told(await _import(memory, HOME, "\n".join(lines))) == {"read": 7, "added": 7}
    linked = {row[0]: row[23] for row in await _stored(memory) if row[23]}
    assert linked == {"E": "F"}


@pytest.mark.parametrize("status", ["active", "candidate"])
async def test_what_holds_does_not_go_with_what_it_claims_was_put_in_its_place(
    memory: MemoryManager, anna: Caller, status: str
) -> None:
    told = await memory.add(anna, NewMemory(content="A fact", scope=Scope.COMMON))
    text = await _export(memory, anna)
    (row,) = _rows(text)
    claims = {
        "id": "X1",
        "content": "Another fact",
        "status": status,
        "superseded_by": row["id"],
        "superseded": row["created"],
    }
    lines = [*text.splitlines(), json.dumps(row | claims)]
    assert _told(await _import(memory, BEN, "\n".join(lines))) == {
        "read": 2,
        "known": 1,
        "added": 1,
    }
    assert (await memory.get(anna, "X1")).superseded_by is None
    assert await memory.delete(anna, told.memory.id, Filters()) == (told.memory.id,)
    assert (await memory.get(anna, "X1")).status.value == status


def test_a_long_history_is_linked_in_no_time() -> None:
    ids = [str(number) for number in range(50_000)]
    replaced = dict(pairwise(ids))
    sequences = {id_: number for number, id_ in enumerate(ids)}
    started = time.monotonic()
    assert without_cycles(sequences, replaced) == list(pairwise(range(50_000)))
    assert without_cycles(sequences, replaced | {ids[-1]: ids[100]}) == []
    assert time.monotonic() - started < 5


async def _pages(
    memory: MemoryManager, caller: Caller, most: int, *, all_owners: bool = False
) -> list[str]:
    pages: list[str] = []
    cursor: str | None = None
    while True:
        page = await memory.transfers.page(
            caller, Filters(), cursor, all_owners=all_owners, most=most
        )
        pages.append(page.text)
        assert len(_rows(page.text)) >= page.count
        if (cursor := page.next_cursor) is None:
            return pages


async def test_an_export_comes_in_pages_that_come_back_in_any_order(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory = await open_memory()
    ids = await _furnish(memory, anna, clock)
    await memory.places.describe(ADMIN, "household", None, "The house", None)
    whole = await _export(memory, ADMIN, all_owners=True)
    assert await _pages(memory, ADMIN, 700_000, all_owners=True) == [whole]
    pages = await _pages(memory, ADMIN, 1, all_owners=True)
    assert len(pages) == 7
    assert [page.splitlines()[1] for page in pages] == whole.splitlines()[1:]
    chain = [json.loads(page.splitlines()[1]) for page in pages if ids["3"] in page]
    assert [(one.get("superseded_by"), one.get("supersedes")) for one in chain] == [
        (ids["3"], None),
        (None, [ids["2"]]),
    ]
    before, belonging = await _stored(memory), await _belonging(memory)
    for name, order in (("a.db", pages), ("b.db", pages[::-1]), ("c.db", pages[3:] + pages[:3])):
        other = await open_memory(name=name)
        for page in order:
            await _import(other, ADMIN, page)
        assert await _stored(other) == before
        assert await _belonging(other) == belonging
        await other.close()
    with pytest.raises(InvalidInputError) as refused:
        await memory.transfers.page(ADMIN, Filters(), "memory 1; DROP TABLE")
    assert refused.value.key == "invalid_cursor"
    # A cursor of what is gone, or of others, leads on to what comes after it.
    rest = await memory.transfers.page(HOME, Filters(), f"memory {ids['1']} 0000")
    assert [row["id"] for row in _rows(rest.text)[:-1]] == [ids["2"], ids["3"], ids["4"]]


async def test_much_that_belongs_to_one_memory_comes_back(open_memory: Opener) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    added = (await memory.add(HOME, NewMemory(content="🗑" * 10_000))).memory
    rows = [(added.sequence, number) for number in range(1_100)]
    async with memory._database.transaction() as connection:
        await connection.executemany(
            "INSERT INTO evidence (sequence, at_ms, stance, quote, anchor, source) VALUES"
            " (?1, ?2, 'corroborates', ?3, iif(?2 < 100, 'path:a', NULL), 'assist')",
            [(*row, "🗑" * 500) for row in rows],
        )
        await connection.executemany(
            "INSERT INTO earlier_texts (sequence, revision, content, summary, scope, written_ms,"
            " replaced_ms) VALUES (?1, ?2, ?3, '', 'common', ?2, ?2)",
            [(*row, "🗑" * 10_000) for row in rows[:50]],
        )
    pages = await _pages(memory, ADMIN, 700_000, all_owners=True)
    assert max(len(json.dumps({"text": page, "format": "ai_memory"})) for page in pages) < 2**20
    assert len(pages) > 15
    assert sum(len(_rows(page)) for page in pages) > len(pages)
    for page in reversed(pages):
        report = await _import(other, ADMIN, page)
        assert report.skipped == 0
    assert await _belonging(other) == await _belonging(memory)
    assert [len(one) for one in await _belonging(other)] == [50, 1_100, 0]
    whole = await open_memory(name="whole.db")
    report = await _import(whole, ADMIN, await _export(memory, ADMIN))
    assert (report.added, report.skipped) == (1, 0)
    assert await _belonging(whole) == await _belonging(memory)


async def test_links_to_what_was_here_before_make_no_circle_and_touch_nothing_of_others(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory = await open_memory()
    ids = await _furnish(memory, anna, clock)
    pages = await _pages(memory, HOME, 1)
    old, new = (next(page for page in pages if f'"id":"{ids[one]}"' in page) for one in "23")
    client = replace(HOME, source="mcp:mallory")

    async def replacement(other: MemoryManager) -> str | None:
        found: str | None
        (found,) = (row[23] for row in await _stored(other) if row[0] == ids["2"])
        return found

    # What it brought in itself it may link, what was here before it came may not.
    mine = await open_memory(name="mine.db")
    for page in (old, new):
        await _import(mine, client, page)
    assert await replacement(mine) == ids["3"]
    theirs = await open_memory(name="theirs.db")
    await _import(theirs, AUTOMATION, old)
    await _import(theirs, client, new)
    assert await replacement(theirs) is None
    # What follows the end of a chain and is replaced by its beginning would close a circle.
    circle = await open_memory(name="circle.db")
    (first,), (second,) = _rows(old), _rows(new)
    second["status"] = "superseded"
    lines = "\n".join(map(json.dumps, (first, second)))
    await _import(circle, ADMIN, lines, format=TransferFormat.AI_MEMORY)
    assert await replacement(circle) == ids["3"]
    third = first | {"id": ids["4"], "content": "A third", "supersedes": [ids["3"]]}
    third["superseded_by"] = ids["2"]
    await _import(circle, ADMIN, json.dumps(third), format=TransferFormat.AI_MEMORY)
    linked = {line[0]: line[23] for line in await _stored(circle)}
    assert linked[ids["2"]] == ids["3"]
    assert (linked[ids["3"]], linked[ids["4"]]) in ((None, ids["2"]), (ids["4"], None))


async def test_what_was_said_twice_in_the_past_stays_twice(open_memory: Opener) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    await memory.add(HOME, NewMemory(content="The oven is on"))
    text = await _export(memory, HOME)
    (row,) = _rows(text)
    rows = [row | {"id": id_, "status": "superseded"} for id_ in ("A", "B")]
    lines = "\n".join([text.splitlines()[0], *map(json.dumps, [*rows, row])])
    for known in (0, 3):
        report = await _import(other, HOME, lines)
        assert (report.added, report.known) == (3 - known, known)


async def test_an_import_that_is_cut_off_goes_on_the_next_time(
    open_memory: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = await open_memory()
    text = "\n".join(f"fact number {number}" for number in range(60))
    begun = 0
    run = memory._writer.run

    async def failing(*args: Any) -> Any:
        nonlocal begun
        begun += args[0] is HOME
        if begun > 1:
            raise sqlite3.OperationalError
        return await run(*args)

    monkeypatch.setattr(memory._writer, "run", failing)
    with suppress(sqlite3.OperationalError):
        await _import(memory, HOME, text)
    monkeypatch.undo()
    assert memory.counts().total == 25
    assert _told(await _import(memory, HOME, text)) == {"read": 60, "added": 35, "known": 25}


async def test_others_read_and_write_while_a_large_import_runs(open_memory: Opener) -> None:
    memory = await open_memory(max_entries=10_000)
    rows = [
        {"memory": f"Fact {number} about the house", "id": str(number)} for number in range(400)
    ]
    with StallMeter() as meter:
        work = asyncio.create_task(_import(memory, HOME, json.dumps(rows)))
        waits = 0
        while not work.done():
            await memory.add(HOME, NewMemory(content=f"meanwhile {waits}"))
            assert (await memory.latest(HOME, Filters(), 1)).total
            waits += 1
            await asyncio.sleep(0.02)
    assert (await work).added == 400
    assert waits > 3
    assert memory.counts().total == 400 + waits
    assert meter.stall.longest_own_ms < 50


@pytest.mark.parametrize("room", ["fact", None])
async def test_an_import_betrays_nothing_of_what_lies_beyond_reach(
    memory: MemoryManager, room: str | None
) -> None:
    home = NewMemory(content="Grandma is allergic to nuts", wing="household", room="devices")
    await memory.add(HOME, home)
    told = NewMemory(content="Bob deploys on Fridays", wing="github/bob/tool", room="fact")
    await memory.add(ADMIN, told)
    narrow = Caller(source="mcp:one", reach=Reach(home=False, workshop=True, wings=("local/x",)))
    contents = (home.content, told.content, "Nobody said that")
    text = json.dumps([{"content": content, "room": room} for content in contents])
    more: dict[str, Any] = {"defaults": Defaults(wing="local/x")}
    for dry_run in (True, False):
        report = await _import(memory, narrow, text, dry_run=dry_run, **more)
        assert _told(report) == {"read": 3, "added": 3}
    assert _told(await _import(memory, narrow, text, **more)) == {"read": 3, "known": 3}


CLIENT: Final = Caller(source="mcp:one", agent="client:1", reach=Reach(home=False, workshop=True))
OTHER: Final = replace(CLIENT, source="mcp:two", agent="client:2")
FORGED: Final = {"at": "2026-01-01T00:00:00+00:00", "stance": "corroborates", "quote": "Seen"}


def _file(row: dict[str, Any]) -> str:
    return json.dumps({"ai_memory_export": 1}) + "\n" + json.dumps(row)


async def test_a_forged_revision_loses_nothing_that_is_known_here(memory: MemoryManager) -> None:
    new = NewMemory(content="The cache lives an hour", wing="local/x", room="fact")
    known = (await memory.add(CLIENT, new)).memory
    await memory.lifecycle.corroborate(OTHER, known.id, "It lives a day", Stance.CONTRADICTS)
    (row,) = _rows(await _export(memory, OTHER))
    forged = [FORGED | {"source": "mcp:one"}] * 3
    row |= {"content": "The cache lives forever", "revision": 9, "evidence": 1.0}
    row |= {"source": "mcp:boss", "witnessed": forged, "updated": "2999-01-01T00:00:00+00:00"}
    assert _told(await _import(memory, OTHER, _file(row))) == {"read": 1, "skipped": 1}
    after = await memory.get(CLIENT, known.id)
    assert (after.content, after.revision, after.source) == (new.content, 2, "mcp:one")
    assert after.effective_confidence == known.confidence / 2
    assert after.tally == Tally(0, 1)
    # An administrator is believed; still the text that was here stays as history.
    row["witnessed"] = []
    assert _told(await _import(memory, ADMIN, _file(row))) == {"read": 1, "updated": 1}
    after = await memory.get(CLIENT, known.id)
    assert (after.content, after.revision, after.source) == (row["content"], 9, "mcp:one")
    assert after.updated <= known.updated + timedelta(seconds=1)
    history = await memory.lifecycle.history(CLIENT, known.id, 9)
    assert [one.content for one in history] == [row["content"], new.content]
    # And nothing is retired without what replaced it.
    row |= {"revision": 10, "status": "superseded", "superseded_by": "X1"}
    for caller in (OTHER, ADMIN):
        assert _told(await _import(memory, caller, _file(row))) == {"read": 1, "known": 1}
    assert (await memory.get(CLIENT, known.id)).live


async def test_a_client_signs_what_it_imports_and_an_administrator_brings_in_the_work_of_others(
    memory: MemoryManager,
) -> None:
    witnessed = [FORGED | {"source": "mcp:boss"}]
    row: dict[str, Any] = {"content": "Ship on Fridays", "wing": "local/x", "room": "fact"}
    row |= {"scope": "common", "source": "mcp:boss", "witnessed": witnessed}
    admin = replace(ADMIN, source="mcp:admin")
    for caller, source in ((OTHER, "mcp:two"), (admin, "mcp:boss")):
        row |= {"id": f"X{source[4:]}", "content": f"{row['content']} twice"}
        assert _told(await _import(memory, caller, _file(row))) == {"read": 1, "added": 1}
        assert (await memory.get(OTHER, row["id"])).source == source
        evidence = (await _belonging(memory))[1]
        witnesses = {one[5] for one in evidence if one[0] == row["id"]}
        assert witnesses == ({source} if caller == admin else set())
    plain = json.dumps({"content": "Ship on Mondays", "source": "mcp:boss"})
    await _import(memory, OTHER, plain, defaults=Defaults(wing="local/y", room="fact"))
    (found,) = (await memory.latest(OTHER, Filters(wing="local/y"), 9)).memories
    assert found.source == "mcp:two"
    # What nobody signed is signed by an administrator too; in the home it tells the format.
    for wing, source in (("local/z", "mcp:admin"), ("household", "import_text")):
        await _import(memory, admin, f"Ship on days in {wing}", defaults=Defaults(wing=wing))
        (found,) = (await memory.latest(admin, Filters(wing=wing), 9)).memories
        assert found.source == source


async def test_a_later_revision_that_was_replaced_is_linked(
    open_memory: Opener, clock: SteppingClock
) -> None:
    memory, other = await open_memory(), await open_memory(name="other.db")
    old = (await memory.add(HOME, NewMemory(content="The bins go out on Monday"))).memory
    before = await _export(memory, HOME)
    await _import(other, AUTOMATION, before)
    clock.advance(days=1)
    new = NewMemory(content="The bins go out on Friday", supersedes=old.id)
    await memory.add(HOME, new)
    apart = await open_memory(name="apart.db")
    await _import(apart, AUTOMATION, before)
    report = await _import(other, AUTOMATION, await _export(memory, HOME))
    assert _told(report) == {"read": 2, "updated": 1, "added": 1}
    for page in reversed(await _pages(memory, HOME, 1)):
        await _import(apart, AUTOMATION, page)
    assert await _stored(apart) == await _stored(memory)
    assert await _stored(other) == await _stored(memory)
