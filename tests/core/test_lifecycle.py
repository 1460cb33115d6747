"""Witnesses, forgetting, restoring, lapsing, purging and receipts, on a real file."""

import asyncio
from datetime import UTC, date, datetime, timedelta
import sqlite3
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from custom_components.ai_memory.core import (
    WITH_HISTORY,
    Action,
    Caller,
    Change,
    ConflictError,
    Filters,
    InvalidInputError,
    MemoryChanges,
    MemoryManager,
    Never,
    NewMemory,
    NotFoundError,
    Receipt,
    ReceiptError,
    Scope,
    Stance,
    Status,
    Transaction,
    Written,
)
from custom_components.ai_memory.core.additions import add
from tests.conftest import Opener, SteppingClock

SERVICE = Caller(source="service")
BEN = Caller(source="assist", agent="conversation.home", provider="ollama", user="ben")


async def _add(memory: MemoryManager, content: str, **more: Any) -> str:
    more.setdefault("scope", Scope.COMMON)
    return (await memory.add(SERVICE, NewMemory(content=content, **more))).memory.id


def _rows(memory: MemoryManager, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(memory._database.path) as connection:
        return connection.execute(sql).fetchall()


async def _found(memory: MemoryManager, query: str) -> list[str]:
    result = await memory.search(SERVICE, Filters(), query, 10)
    return [hit.memory.id for hit in result.hits]


async def test_a_forgotten_memory_is_seen_by_nobody_and_comes_back_as_it_was(
    memory: MemoryManager,
) -> None:
    told: list[Change] = []
    memory.subscribe(told.append)
    id_ = await _add(memory, "The ladder is in the shed", status=Status.CANDIDATE)
    await memory.wait_for_vectors()
    assert await memory.lifecycle.forget(SERVICE, id_) == (id_,)
    assert (await _found(memory, "ladder"), memory.counts().total) == ([], 0)
    assert memory.vector_count == 0
    assert _rows(memory, "SELECT count(*) FROM embeddings") == [(0,)]
    with pytest.raises(NotFoundError):
        await memory.get(SERVICE, id_)
    with pytest.raises(NotFoundError):
        await memory.update(SERVICE, id_, MemoryChanges(content="else"))
    with pytest.raises(NotFoundError):
        await memory.lifecycle.forget(SERVICE, id_)
    restored = await memory.lifecycle.restore(SERVICE, id_)
    assert (restored.status, restored.revision) == (Status.CANDIDATE, 3)
    await memory.wait_for_vectors()
    assert (memory.vector_count, memory.counts().total) == (1, 1)
    assert [change.action for change in told] == [
        Action.ADDED,
        Action.FORGOTTEN,
        Action.RESTORED,
    ]
    assert _rows(memory, "SELECT action, revision_before, revision_after FROM audit") == [
        ("added", None, 1),
        ("forgotten", 1, 2),
        ("restored", 2, 3),
    ]
    with pytest.raises(InvalidInputError) as refused:
        await memory.lifecycle.restore(SERVICE, id_)
    assert (refused.value.key, refused.value.placeholders) == ("not_forgotten", {"id": id_})


async def test_a_timeline_tells_what_was_said_when_and_to_whom_it_was_told(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    told: dict[str, Any] = {"wing": "household", "room": "devices"}
    first = await _add(memory, "The lamp is red", **told)
    clock.advance(minutes=1)
    added = await memory.add(anna, NewMemory(content="A gift", scope=Scope.PRIVATE, **told))
    clock.advance(minutes=1)
    await memory.update(SERVICE, first, MemoryChanges(content="The lamp is blue"))
    await memory.update(anna, added.memory.id, MemoryChanges(content="A watch"))
    clock.advance(minutes=1)
    await memory.update(anna, added.memory.id, MemoryChanges(scope=Scope.COMMON))
    waits = await _add(memory, "The lamp is dim", status=Status.CANDIDATE, **told)
    elsewhere = await _add(memory, "The bin is full", wing="household", room="events")

    async def said(caller: Caller, memory_id: str | None = None, **filters: Any) -> list[str]:
        filters.setdefault("statuses", WITH_HISTORY)
        entries = await memory.lifecycle.timeline(caller, Filters(**filters), memory_id, 20)
        return [entry.version.content for entry in entries]

    lamp = ["The lamp is blue", "The lamp is red"]
    assert await said(SERVICE, wing="household") == ["The bin is full", "A watch", *lamp]
    assert await said(anna, room="devices") == ["A watch", "The lamp is blue", "A gift", lamp[1]]
    assert await said(BEN, wing="household", room="devices") == ["A watch", *lamp]
    assert await said(SERVICE, first) == lamp
    assert await said(SERVICE, first, statuses=(Status.SUPERSEDED,)) == ["The lamp is red"]
    assert await said(SERVICE, statuses=(Status.CANDIDATE,)) == ["The lamp is dim"]
    assert await said(SERVICE, first, room="events") == []
    (entry,) = await memory.lifecycle.timeline(SERVICE, Filters(room="events"), None, 1)
    assert (entry.version.memory_id, entry.wing, entry.room) == (elsewhere, "household", "events")
    assert (entry.version.since, entry.version.until) == (clock.now, None)
    with pytest.raises(NotFoundError):
        await said(SERVICE, "01JZ8Q6Y3N5T7V9X1B3D5F7H9K")
    assert waits


async def test_what_was_forgotten_is_purged_when_its_time_is_over(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    old = [await _add(memory, f"Forgotten thing number {number}") for number in range(250)]
    for id_ in old:
        await memory.lifecycle.forget(SERVICE, id_)
    clock.advance(days=20)
    young = await _add(memory, "The key is under the mat")
    await memory.lifecycle.forget(SERVICE, young)
    clock.advance(days=10, seconds=1)
    await memory.maintain(dry_run=True)
    assert _rows(memory, "SELECT count(*) FROM memories") == [(251,)]
    await memory.maintain()
    assert _rows(memory, "SELECT id FROM memories") == [(young,)]
    assert _rows(memory, "SELECT count(*) FROM audit WHERE action = 'purged'") == [(250,)]
    assert b"Forgotten thing" not in memory._database.path.read_bytes()
    assert (await memory.lifecycle.restore(SERVICE, young)).status is Status.ACTIVE


async def test_a_hard_forget_leaves_no_text_and_no_earlier_text(
    memory: MemoryManager,
) -> None:
    id_ = await _add(memory, "The alarm code is 4711-QX")
    newer = (
        await memory.add(SERVICE, NewMemory(content="The alarm code is 0815-QX", supersedes=id_))
    ).memory
    await memory.update(SERVICE, newer.id, MemoryChanges(content="The alarm code is 2222-QX"))
    assert await memory.lifecycle.forget(SERVICE, newer.id, hard=True) == (newer.id,)
    assert _rows(memory, "SELECT count(*) FROM memories") == [(0,)]
    assert b"-QX" not in memory._database.path.read_bytes()
    assert _rows(memory, "SELECT count(*) FROM earlier_texts") == [(0,)]


async def test_a_forgotten_replacement_takes_its_history_and_brings_it_back(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    old = await _add(memory, "The bins go out on Monday")
    new = (
        await memory.add(SERVICE, NewMemory(content="The bins go out on Friday", supersedes=old))
    ).memory.id
    clock.advance(minutes=1)
    await memory.lifecycle.forget(SERVICE, new)
    with pytest.raises(NotFoundError):
        await memory.get(SERVICE, old)
    await memory.lifecycle.restore(SERVICE, new)
    assert (await memory.get(SERVICE, old)).superseded_by == new
    with pytest.raises(InvalidInputError) as refused:
        await memory.lifecycle.restore(SERVICE, old)
    assert (refused.value.key, refused.value.placeholders) == (
        "replaced_by",
        {"id": old, "replacement": new},
    )
    await memory.lifecycle.forget(SERVICE, new)
    undone = await memory.lifecycle.restore(SERVICE, old)
    assert (undone.status, undone.superseded_by) == (Status.ACTIVE, None)
    assert await _found(memory, "bins") == [old]
    assert memory.counts().total == 1


async def test_what_replaced_a_memory_out_of_sight_is_not_named(
    memory: MemoryManager, anna: Caller
) -> None:
    old = await _add(memory, "The bins go out on Monday")
    added = await memory.add(anna, NewMemory(content="The bins go out on Friday", supersedes=old))
    await memory.update(anna, added.memory.id, MemoryChanges(scope=Scope.PRIVATE))
    with pytest.raises(InvalidInputError) as refused:
        await memory.lifecycle.restore(BEN, old)
    assert (refused.value.key, refused.value.placeholders) == ("already_superseded", {"id": old})


async def test_what_is_told_again_meanwhile_is_not_restored_twice(memory: MemoryManager) -> None:
    id_ = await _add(memory, "The bins go out on Monday")
    await memory.lifecycle.forget(SERVICE, id_)
    again = await _add(memory, "The bins go out on Monday")
    with pytest.raises(InvalidInputError) as refused:
        await memory.lifecycle.restore(SERVICE, id_)
    assert (refused.value.key, refused.value.placeholders) == ("already_known", {"id": again})


async def test_deleting_a_place_takes_what_was_replaced_and_forgotten_there(
    memory: MemoryManager,
) -> None:
    place = {"wing": "household", "room": "attic"}
    old = await _add(memory, "The box is red", **place)
    new = (await memory.add(SERVICE, NewMemory(content="The box is blue", supersedes=old))).memory
    await memory.lifecycle.forget(SERVICE, await _add(memory, "The trunk is heavy", **place))
    deleted = await memory.delete(SERVICE, None, Filters(room="attic"))
    assert deleted == (new.id,)
    assert _rows(memory, "SELECT count(*) FROM memories") == [(0,)]


async def test_others_private_memories_look_like_unknown_ids(
    memory: MemoryManager, anna: Caller
) -> None:
    mine = (
        await memory.add(anna, NewMemory(content="My diary is blue", scope=Scope.PRIVATE))
    ).memory.id
    unknown = "01JZ8Q6Y3N5T7V9X1B3D5F7H9K"

    async def refusals(id_: str) -> list[str]:
        told = []
        for attempt in (
            memory.lifecycle.forget(BEN, id_),
            memory.lifecycle.forget(BEN, id_, 7, hard=True),
            memory.lifecycle.restore(BEN, id_),
            memory.lifecycle.corroborate(BEN, id_, "seen", Stance.CONTRADICTS),
            memory.lifecycle.history(BEN, id_, 5),
            memory.update(BEN, id_, MemoryChanges(content="x"), 7),
            memory.add(BEN, NewMemory(content="x", scope=Scope.COMMON, supersedes=id_)),
        ):
            with pytest.raises(NotFoundError) as refused:
                await attempt
            told.append(str(refused.value).replace(id_, "ID"))
        return told

    assert await refusals(mine) == await refusals(unknown)
    await memory.lifecycle.forget(anna, mine)
    with pytest.raises(NotFoundError):
        await memory.lifecycle.restore(BEN, mine)
    assert (await memory.lifecycle.restore(anna, mine)).revision == 3


async def test_witnesses_move_the_confidence_and_the_ranking(memory: MemoryManager) -> None:
    told = await _add(memory, "The spare fuse is in the red drawer", confidence=0.7)
    other = await _add(memory, "The spare fuse box key is in the blue drawer", confidence=0.7)
    await memory.lifecycle.corroborate(SERVICE, told, "seen", Stance.CORROBORATES)
    proven = await memory.lifecycle.corroborate(SERVICE, told, "seen", Stance.CORROBORATES)
    expected = 1 - 0.3 * (2 / 3) ** 2
    assert proven.memory.effective_confidence == pytest.approx(expected)
    assert (proven.tally.proofs, proven.tally.refutations) == (2, 0)
    refuted = await memory.lifecycle.corroborate(SERVICE, told, "gone", Stance.CONTRADICTS)
    assert refuted.memory.effective_confidence == pytest.approx(expected / 2)
    assert (refuted.memory.status, refuted.memory.revision) == (Status.ACTIVE, 4)
    for _ in range(3):
        await memory.lifecycle.corroborate(SERVICE, told, "gone", Stance.CONTRADICTS)
    hits = (await memory.search(SERVICE, Filters(), "spare fuse drawer", 5)).hits
    assert [hit.memory.id for hit in hits] == [other, told]
    assert (hits[0].why.count("evidence"), hits[1].why[-14:]) == (0, "evidence x0.08")
    assert [(hit.memory.tally.proofs, hit.memory.tally.refutations) for hit in hits] == [
        (0, 0),
        (2, 4),
    ]
    changed = await memory.update(SERVICE, told, MemoryChanges(confidence=1.0))
    assert changed.memory.effective_confidence == pytest.approx(1 / 16)
    assert [row[0] for row in _rows(memory, "SELECT quote FROM evidence LIMIT 2")] == ["seen"] * 2


async def test_a_memory_nobody_witnessed_keeps_its_confidence(memory: MemoryManager) -> None:
    for confidence in (0.0, 0.3, 1.0):
        id_ = await _add(memory, f"Confidence {confidence}", confidence=confidence)
        assert (await memory.get(SERVICE, id_)).effective_confidence == confidence


@pytest.mark.parametrize(
    ("confidence", "once_for", "then_against"),
    [(0.0, 1 / 3, 1 / 6), (0.004, 1 - 0.996 * 2 / 3, (1 - 0.996 * 2 / 3) / 2), (1.0, 1.0, 0.5)],
)
async def test_witnesses_move_any_confidence(
    memory: MemoryManager, confidence: float, once_for: float, then_against: float
) -> None:
    id_ = await _add(memory, "The ladder is in the shed", confidence=confidence)
    told = await memory.lifecycle.corroborate(SERVICE, id_, "seen", Stance.CORROBORATES)
    assert told.memory.effective_confidence == pytest.approx(once_for)
    told = await memory.lifecycle.corroborate(SERVICE, id_, "gone", Stance.CONTRADICTS)
    assert told.memory.effective_confidence == pytest.approx(then_against)
    assert (await memory.get(SERVICE, id_)).confidence == confidence


@pytest.mark.parametrize("quote", ["", " ", "x" * 501, "nul\x00"])
async def test_a_quote_is_a_bounded_text(memory: MemoryManager, quote: str) -> None:
    id_ = await _add(memory, "The ladder is in the shed")
    with pytest.raises(InvalidInputError):
        await memory.lifecycle.corroborate(SERVICE, id_, quote, Stance.CORROBORATES)
    assert (await memory.get(SERVICE, id_)).revision == 1


async def test_a_memory_lapses_by_itself_at_its_time(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    told: list[Change] = []
    memory.subscribe(told.append)
    far = await _add(memory, "The tree is cut in spring", expires=clock.now + timedelta(days=90))
    near = await _add(memory, "Guests stay", expires=clock.now + timedelta(milliseconds=300))
    assert await _found(memory, "guests stay") == [near]
    # The clock of the test stands still while the loop sleeps.
    clock.advance(seconds=1)
    async with asyncio.timeout(5):
        while [change.action for change in told[-1:]] != [Action.LAPSED]:
            await asyncio.sleep(0.02)
    assert await _gone(memory, near)
    assert told[-1].memory_ids == (near,)
    assert (await memory.get(SERVICE, far)).status is Status.ACTIVE
    assert (await memory.lifecycle.restore(SERVICE, near)).expires is None


async def _gone(memory: MemoryManager, id_: str) -> bool:
    try:
        await memory.get(SERVICE, id_)
    except NotFoundError:
        return True
    return False


async def test_what_lapsed_while_nobody_looked_is_not_served(
    open_memory: Opener, clock: SteppingClock
) -> None:
    first = await open_memory()
    await _add(first, "Guests stay in the attic", expires=clock.now + timedelta(days=1))
    await first.close()
    clock.advance(days=2)
    second = await open_memory()
    assert second.counts().total == 0
    assert await _found(second, "guests") == []


@pytest.mark.parametrize(
    ("expires", "expected"),
    [
        # A day ends when the home's day ends, which is short where the clock is put forward.
        (date(2027, 3, 28), datetime(2027, 3, 28, 22, 0, tzinfo=UTC)),
        (date(2027, 10, 31), datetime(2027, 10, 31, 23, 0, tzinfo=UTC)),
        (datetime.fromisoformat("2027-07-01T12:00"), datetime(2027, 7, 1, 10, 0, tzinfo=UTC)),
        (datetime.fromisoformat("2027-01-01T12:00"), datetime(2027, 1, 1, 11, 0, tzinfo=UTC)),
        (datetime(2027, 1, 1, 12, 0, tzinfo=UTC), datetime(2027, 1, 1, 12, 0, tzinfo=UTC)),
    ],
)
async def test_a_time_without_an_offset_is_the_homes(
    memory: MemoryManager,
    clock: SteppingClock,
    monkeypatch: pytest.MonkeyPatch,
    expires: date,
    expected: datetime,
) -> None:
    monkeypatch.setattr(
        memory, "_local_now", lambda: clock.now.astimezone(ZoneInfo("Europe/Berlin"))
    )
    id_ = await _add(memory, "Guests stay", expires=expires)
    assert (await memory.get(SERVICE, id_)).expires == expected
    cleared = await memory.update(SERVICE, id_, MemoryChanges(expires=Never.NEVER))
    assert (cleared.changed, cleared.memory.expires) == (True, None)


@pytest.mark.parametrize(
    ("expires", "key"),
    [
        (date(2026, 11, 29), "expires_in_past"),
        (datetime(2026, 11, 30, 8, 0, tzinfo=UTC), "expires_in_past"),
        (date.max, "not_a_time"),
        (datetime.fromisoformat("9999-12-31T23:59:59.9999"), "not_a_time"),
        (datetime.fromisoformat("0001-01-01"), "expires_in_past"),
    ],
)
async def test_a_time_that_cannot_come_is_refused(
    memory: MemoryManager, expires: date, key: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await _add(memory, "Guests stay", expires=expires)
    assert refused.value.key == key
    assert memory.counts().total == 0


async def test_the_day_that_is_today_lasts_until_its_end(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    id_ = await _add(memory, "The oven is hot", expires=clock.now.date())
    expected = datetime(2026, 12, 1, tzinfo=UTC)
    assert (await memory.get(SERVICE, id_)).expires == expected


async def test_an_operation_with_a_receipt_happens_once(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    ran = 0

    async def work(write: Transaction) -> tuple[dict[str, Any], list[Written]]:
        nonlocal ran
        ran += 1
        result, written = await add(write, addition)
        return {"id": result.memory.id}, written

    addition = await memory.prepare(SERVICE, NewMemory(content="Closed the session"))
    receipt = Receipt.of("close-0001", "codex", {"notes": ["a", "b"], "n": 1})
    first, replayed = await memory.lifecycle.once(SERVICE, receipt, work)
    assert (ran, replayed, memory.counts().total) == (1, False, 1)
    same = Receipt.of("close-0001", "codex", {"n": 1, "notes": ["a", "b"]})
    assert await memory.lifecycle.once(SERVICE, same, work) == (first, True)
    for client, inputs in (("claude", {"notes": ["a", "b"], "n": 1}), ("codex", {"n": 2})):
        other = Receipt.of("close-0001", client, inputs)
        with pytest.raises(ReceiptError) as refused:
            await memory.lifecycle.once(SERVICE, other, work)
        assert refused.value.key == "receipt_mismatch"
    clock.advance(days=30, seconds=1)
    for _ in range(2):
        with pytest.raises(ReceiptError) as refused:
            await memory.lifecycle.once(SERVICE, same, work)
        assert refused.value.key == "receipt_expired"
        await memory.maintain()
    assert _rows(memory, "SELECT result FROM receipts") == [(None,)]
    assert ran == 1


async def test_a_receipt_lasts_a_day_where_nothing_forgotten_is_kept(
    open_memory: Opener, clock: SteppingClock
) -> None:
    memory = await open_memory(retention_deleted_days=0)
    forgotten = await _add(memory, "The ladder is in the shed")
    await memory.lifecycle.forget(SERVICE, forgotten)

    async def work(_write: Transaction) -> tuple[dict[str, Any], list[Written]]:
        return {"result": "closed"}, []

    receipt = Receipt.of("close-0001", "codex", {})
    assert await memory.lifecycle.once(SERVICE, receipt, work) == ({"result": "closed"}, False)
    clock.advance(hours=23)
    await memory.maintain()
    assert _rows(memory, "SELECT count(*) FROM memories") == [(0,)]
    assert await memory.lifecycle.once(SERVICE, receipt, work) == ({"result": "closed"}, True)
    clock.advance(hours=2)
    await memory.maintain()
    with pytest.raises(ReceiptError) as refused:
        await memory.lifecycle.once(SERVICE, receipt, work)
    assert refused.value.key == "receipt_expired"


async def test_no_receipt_is_kept_of_what_failed(memory: MemoryManager) -> None:
    async def work(write: Transaction) -> tuple[dict[str, Any], list[Written]]:
        await add(write, addition)
        raise InvalidInputError("empty", field="notes")

    addition = await memory.prepare(SERVICE, NewMemory(content="Closed the session"))
    receipt = Receipt.of("close-0001", "codex", {})
    with pytest.raises(InvalidInputError):
        await memory.lifecycle.once(SERVICE, receipt, work)
    assert _rows(memory, "SELECT count(*) FROM receipts") == [(0,)]
    assert _rows(memory, "SELECT count(*) FROM memories") == [(0,)]


@pytest.mark.parametrize("op_id", ["", "short", "x" * 65, "with space", "ümläut-id", "a/b/c/d/e"])
def test_an_operation_id_is_of_plain_characters(op_id: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        Receipt.of(op_id, "codex", {})
    assert refused.value.key == "invalid_op_id"


async def test_of_two_updates_at_one_revision_one_wins(memory: MemoryManager) -> None:
    id_ = await _add(memory, "The bins go out on Monday")
    results = await asyncio.gather(
        *(
            memory.update(SERVICE, id_, MemoryChanges(content=f"The bins go out on {day}"), 1)
            for day in ("Tuesday", "Wednesday", "Thursday")
        ),
        return_exceptions=True,
    )
    refused = [one for one in results if isinstance(one, ConflictError)]
    assert len(refused) == 2
    stands = await memory.get(SERVICE, id_)
    assert stands.revision == 2
    assert {one.current and one.current.content for one in refused} == {stands.content}
    assert refused[0].key == "revision_conflict"
    assert refused[0].placeholders == {"id": id_, "revision": "2"}
    with pytest.raises(ConflictError):
        await memory.lifecycle.forget(SERVICE, id_, 1)
    with pytest.raises(ConflictError):
        await memory.lifecycle.forget(SERVICE, id_, 1, hard=True)
    assert await memory.lifecycle.forget(SERVICE, id_, 2) == (id_,)


async def test_a_recall_counts_nothing(memory: MemoryManager, clock: SteppingClock) -> None:
    id_ = await _add(memory, "The ladder is in the shed")
    await memory.search(SERVICE, Filters(), "ladder", 5, counted=False)
    assert (await memory.get(SERVICE, id_)).access_count == 0
    await memory._usage.flush()
    fetched_ms = int(clock.now.timestamp() * 1000)
    columns = "returned, fetched, last_returned_ms, last_fetched_ms"
    assert _rows(memory, f"SELECT {columns} FROM usage") == [(0, 1, None, fetched_ms)]
    clock.advance(minutes=1)
    await memory.search(SERVICE, Filters(), "ladder", 5)
    await memory._usage.flush()
    expected = (1, 1, fetched_ms + 60_000, fetched_ms)
    assert _rows(memory, f"SELECT {columns} FROM usage") == [expected]
