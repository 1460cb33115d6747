"""What replaces what, what a memory said before, and the chain of both, on a real file."""

import sqlite3
from typing import Any

import pytest

from custom_components.ai_memory.core import (
    Action,
    Caller,
    Change,
    Filters,
    InvalidInputError,
    Layer,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Scope,
    Status,
)
from tests.conftest import SteppingClock

SERVICE = Caller(source="service")
BEN = Caller(source="assist", agent="conversation.home", provider="ollama", user="ben")
WITH_HISTORY = Filters(statuses=(Status.ACTIVE, Status.SUPERSEDED))


async def _add(memory: MemoryManager, content: str, caller: Caller = SERVICE, **more: Any) -> str:
    if "supersedes" not in more:
        more.setdefault("scope", Scope.COMMON)
    return (await memory.add(caller, NewMemory(content=content, **more))).memory.id


def _rows(memory: MemoryManager, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(memory._database.path) as connection:
        return connection.execute(sql).fetchall()


async def _said(memory: MemoryManager, caller: Caller, id_: str) -> list[str]:
    return [version.content for version in await memory.lifecycle.history(caller, id_, 500)]


async def test_a_new_memory_retires_an_old_one_and_takes_its_place(
    memory: MemoryManager, anna: Caller
) -> None:
    told: list[Change] = []
    old = await _add(
        memory,
        "My locker code is 1234",
        anna,
        scope=Scope.PRIVATE,
        wing="personal",
        room="gym",
        layer=Layer.CRITICAL,
        type="constraint",
        pinned=True,
    )
    memory.subscribe(told.append)
    result = await memory.add(anna, NewMemory(content="My locker code is 5678", supersedes=old))
    new = result.memory
    assert result.superseded is not None
    assert result.superseded.id == old
    assert (new.wing, new.room, new.scope, new.owner_agent, new.owner_user) == (
        "personal",
        "gym",
        Scope.PRIVATE,
        anna.agent,
        "anna",
    )
    assert (new.layer, new.type, new.pinned) == (Layer.CRITICAL, "constraint", True)
    retired = await memory.get(anna, old)
    assert (retired.status, retired.superseded_by, retired.revision) == (
        Status.SUPERSEDED,
        new.id,
        2,
    )
    assert [change.action for change in told] == [Action.ADDED, Action.SUPERSEDED]
    assert _rows(memory, "SELECT action, memory_id FROM audit")[1:] == [
        ("added", new.id),
        ("superseded", old),
    ]
    assert memory.counts().total == 1


async def test_history_answers_only_where_it_is_asked_for(memory: MemoryManager) -> None:
    old = await _add(memory, "The garage code is 1234")
    new = await _add(memory, "The garage code is 5678", supersedes=old)
    await memory.wait_for_vectors()
    assert memory.vector_count == 2
    now = await memory.search(SERVICE, Filters(), "garage code", 5)
    assert [hit.memory.id for hit in now.hits] == [new]
    ever = await memory.search(SERVICE, WITH_HISTORY, "garage code", 5)
    assert {(hit.memory.id, hit.memory.status) for hit in ever.hits} == {
        (new, Status.ACTIVE),
        (old, Status.SUPERSEDED),
    }
    listed = await memory.latest(SERVICE, Filters(), 5)
    assert [one.id for one in listed.memories] == [new]


async def test_a_refreshed_memory_can_replace_another(memory: MemoryManager) -> None:
    kept = await _add(memory, "The bins go out on Friday")
    old = await _add(memory, "The bins go out on Monday")
    result = await memory.add(
        SERVICE, NewMemory(content="The bins go out on Friday", wing=None, supersedes=old)
    )
    assert (result.refreshed, result.memory.id) == (True, kept)
    assert (await memory.get(SERVICE, old)).superseded_by == kept


async def test_refusals_change_nothing(memory: MemoryManager, anna: Caller) -> None:
    told = await _add(memory, "The bins go out on Monday", wing="household")
    replaced = await _add(memory, "The milk comes on Monday", wing="household")
    await _add(memory, "The milk comes on Friday", supersedes=replaced)
    candidate = await _add(memory, "The post comes at ten", status=Status.CANDIDATE)
    before = _rows(memory, "SELECT * FROM memories")
    for new, key in (
        (NewMemory(content="The bins go out on Monday", supersedes=told), "supersedes_itself"),
        (NewMemory(content="x", supersedes=replaced), "already_superseded"),
        (NewMemory(content="x", supersedes=candidate), "supersedes_candidate"),
        (
            NewMemory(content="x", supersedes=told, status=Status.CANDIDATE),
            "supersedes_candidate",
        ),
        (NewMemory(content="x", supersedes=told, wing="garden"), "supersedes_other_wing"),
        (NewMemory(content="x", supersedes=told, scope=Scope.PRIVATE), "supersedes_other_scope"),
        (NewMemory(content="x", type="nonsense"), "unknown_choice"),
        (NewMemory(content="x", status=Status.DELETED), "unknown_choice"),
        (NewMemory(content="x", confidence=1.1), "out_of_range"),
        (NewMemory(content="x", confidence=float("nan")), "out_of_range"),
    ):
        with pytest.raises(InvalidInputError) as refused:
            await memory.add(anna, new)
        assert refused.value.key == key
    for changes, key in (
        (MemoryChanges(content="x"), "already_superseded"),
        (MemoryChanges(status=Status.SUPERSEDED), "unknown_choice"),
    ):
        with pytest.raises(InvalidInputError) as refused:
            await memory.update(SERVICE, replaced, changes)
        assert refused.value.key == key
    assert _rows(memory, "SELECT * FROM memories") == before


async def test_a_candidate_becomes_active_and_back(memory: MemoryManager) -> None:
    id_ = await _add(memory, "The post comes at ten", status=Status.CANDIDATE)
    assert (await memory.search(SERVICE, Filters(), "post", 5)).hits == ()
    promoted = await memory.update(SERVICE, id_, MemoryChanges(status=Status.ACTIVE), 1)
    assert (promoted.memory.status, promoted.memory.revision) == (Status.ACTIVE, 2)
    assert len((await memory.search(SERVICE, Filters(), "post", 5)).hits) == 1
    back = await memory.update(SERVICE, id_, MemoryChanges(status=Status.CANDIDATE))
    assert back.memory.status is Status.CANDIDATE
    again = await memory.add(SERVICE, NewMemory(content="The post comes at ten"))
    assert (again.refreshed, again.memory.id, again.memory.status) == (True, id_, Status.ACTIVE)


async def test_a_replaced_memory_takes_no_room(memory: MemoryManager) -> None:
    id_ = await _add(memory, "The meter stands at 0")
    for reading in range(1, 60):
        id_ = await _add(memory, f"The meter stands at {reading}", supersedes=id_)
    assert memory.counts().total == 1
    assert _rows(memory, "SELECT count(*) FROM memories") == [(51,)]
    said = await _said(memory, SERVICE, id_)
    assert said[:2] == ["The meter stands at 59", "The meter stands at 58"]
    assert (len(said), said[-1]) == (51, "The meter stands at 9")


async def test_the_history_of_a_memory_is_the_same_from_each_link(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    start = clock.now
    first = await _add(memory, "The code is 1")
    clock.advance(days=1)
    await memory.update(SERVICE, first, MemoryChanges(content="The code is 2"))
    clock.advance(days=1)
    await memory.update(SERVICE, first, MemoryChanges(summary="code"))
    second = await _add(memory, "The code is 3", supersedes=first)
    clock.advance(days=1)
    third = await _add(memory, "The code is 4", supersedes=second)
    expected = ["The code is 4", "The code is 3", "The code is 2", "The code is 1"]
    for id_ in (first, second, third):
        assert await _said(memory, SERVICE, id_) == expected
    versions = await memory.lifecycle.history(SERVICE, third, 10)
    days = [
        ((one.since - start).days, None if one.until is None else (one.until - start).days)
        for one in versions
    ]
    assert days == [(3, None), (2, 3), (1, 2), (0, 1)]
    assert [one.status for one in versions] == ["active", *["superseded"] * 3]
    assert len(await memory.lifecycle.history(SERVICE, third, 2)) == 2


async def test_at_most_fifty_earlier_texts_are_kept(memory: MemoryManager) -> None:
    id_ = await _add(memory, "The count is 0")
    for number in range(1, 61):
        await memory.update(SERVICE, id_, MemoryChanges(content=f"The count is {number}"))
    said = await _said(memory, SERVICE, id_)
    assert (len(said), said[0], said[-1]) == (51, "The count is 60", "The count is 10")


async def test_a_private_earlier_text_never_shows_to_others(
    memory: MemoryManager, anna: Caller
) -> None:
    id_ = await _add(memory, "I hate the green sofa", anna, scope=Scope.PRIVATE)
    await memory.update(anna, id_, MemoryChanges(content="The sofa is green", scope=Scope.COMMON))
    later = await _add(memory, "The sofa is blue", BEN, supersedes=id_)
    assert await _said(memory, BEN, later) == ["The sofa is blue", "The sofa is green"]
    assert await _said(memory, anna, later) == [
        "The sofa is blue",
        "The sofa is green",
        "I hate the green sofa",
    ]


async def test_eviction_takes_the_history_along(memory: MemoryManager) -> None:
    memory._max_entries = 2
    old = await _add(memory, "The code is 1")
    await _add(memory, "The code is 2", supersedes=old)
    await _add(memory, "Something else")
    result = await memory.add(SERVICE, NewMemory(content="A third thing"))
    assert (result.evicted_count, memory.counts().total) == (1, 2)
    contents = _rows(memory, "SELECT content FROM memories ORDER BY sequence")
    assert contents == [("Something else",), ("A third thing",)]


async def test_statistics_rest_on_what_holds_now(memory: MemoryManager) -> None:
    old = await _add(memory, "The code is 1")
    await _add(memory, "The code is 2", supersedes=old)
    assert memory._engine.document_count == memory.counts().common == 1
    await memory.lifecycle.restore(SERVICE, (await memory.lifecycle.forget(SERVICE, old))[0])
    assert memory._engine.document_count == 1


async def test_a_question_for_how_things_were_finds_what_was_replaced(
    memory: MemoryManager,
) -> None:
    old = await _add(memory, "The garage code is 1234")
    new = await _add(memory, "The garage code is 5678", supersedes=old)
    for query in ("What was the old garage code?", "Wie war der alte Code der garage?"):
        was = await memory.search(SERVICE, Filters(), query, 5)
        assert {(hit.memory.id, hit.memory.status) for hit in was.hits} == {
            (old, Status.SUPERSEDED),
            (new, Status.ACTIVE),
        }
    now = await memory.search(SERVICE, Filters(), "What is the garage code?", 5)
    assert [hit.memory.id for hit in now.hits] == [new]
    only = Filters(statuses=(Status.CANDIDATE,))
    assert (await memory.search(SERVICE, only, "the old garage code", 5)).hits == ()


async def test_a_question_for_how_things_were_tells_earlier_texts_with_their_dates(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    start = clock.now
    id_ = await _add(memory, "The garage code is 1")
    for number in range(2, 7):
        clock.advance(days=1)
        changes = MemoryChanges(content=f"The garage code is {number}")
        await memory.update(SERVICE, id_, changes)
    (hit,) = (await memory.search(SERVICE, Filters(), "What was the old garage code?", 5)).hits
    assert [version.content[-1] for version in hit.earlier] == ["5", "4", "3"]
    told = hit.earlier[0]
    assert told.until is not None
    assert ((told.since - start).days, (told.until - start).days) == (4, 5)
    (hit,) = (await memory.search(SERVICE, Filters(), "What is the garage code?", 5)).hits
    assert hit.earlier == ()


async def test_a_search_of_the_history_tells_earlier_texts_too(memory: MemoryManager) -> None:
    id_ = await _add(memory, "The trailer is parked at the marina")
    await memory.update(SERVICE, id_, MemoryChanges(content="The trailer is in the boathouse"))
    (hit,) = (await memory.search(SERVICE, WITH_HISTORY, "trailer", 5)).hits
    assert hit.memory.content == "The trailer is in the boathouse"
    assert [one.content for one in hit.earlier] == ["The trailer is parked at the marina"]
    (hit,) = (await memory.search(SERVICE, Filters(), "trailer", 5)).hits
    assert hit.earlier == ()


async def test_a_question_for_how_things_were_betrays_nothing_private(
    memory: MemoryManager, anna: Caller
) -> None:
    mine = await _add(memory, "My old locker code is 1234", anna, scope=Scope.PRIVATE)
    await _add(memory, "My locker code is 5678", anna, supersedes=mine)
    sofa = await _add(memory, "I hate the green sofa", anna, scope=Scope.PRIVATE)
    await memory.update(anna, sofa, MemoryChanges(content="The sofa is green", scope=Scope.COMMON))
    question = "What was the old locker code before that, and the sofa?"

    async def told(caller: Caller, asked: str, filters: Filters) -> tuple[set[str], set[str]]:
        hits = (await memory.search(caller, filters, asked, 9)).hits
        return (
            {hit.memory.content for hit in hits},
            {version.content for hit in hits for version in hit.earlier},
        )

    for asked, filters in (
        (question, Filters()),
        ("My locker code and the sofa", WITH_HISTORY),
    ):
        assert await told(BEN, asked, filters) == ({"The sofa is green"}, set())
        assert await told(anna, asked, filters) == (
            {"My old locker code is 1234", "My locker code is 5678", "The sofa is green"},
            {"I hate the green sofa"},
        )
