"""Writes that meet late in the life of a memory: one after the other, and nothing half done."""

import asyncio
import sqlite3
from typing import Any

import pytest

from custom_components.ai_memory.core import (
    AiMemoryError,
    Caller,
    ConflictError,
    Filters,
    InvalidInputError,
    Memory,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Scope,
    Status,
    UpdateResult,
)

SERVICE = Caller(source="service")


async def _add(memory: MemoryManager, content: str, **more: Any) -> str:
    return (
        await memory.add(SERVICE, NewMemory(content=content, scope=Scope.COMMON, **more))
    ).memory.id


def _rows(memory: MemoryManager, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(memory._database.path) as connection:
        return connection.execute(sql).fetchall()


async def _agrees(memory: MemoryManager) -> None:
    """Compare what is kept in memory with the table."""
    await memory.wait_for_vectors()
    live = "status IN ('active', 'candidate')"
    assert memory.counts().total == memory.commits.of_home
    assert _rows(memory, f"SELECT count(*) FROM memories WHERE {live}") == [
        (memory.counts().total,)
    ]
    kept = _rows(memory, "SELECT count(*) FROM memories WHERE status <> 'deleted'")
    assert kept == [(memory.vector_count,)]
    assert _rows(memory, "SELECT count(*) FROM embeddings") == kept
    assert _rows(memory, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("rounds", range(3))
async def test_of_two_updates_at_one_revision_one_wins_each_time(
    memory: MemoryManager, rounds: int
) -> None:
    id_ = await _add(memory, "The bins go out on day 0")
    for revision in range(1, 11):
        results = await asyncio.gather(
            *(
                memory.update(
                    SERVICE, id_, MemoryChanges(content=f"Bins: {revision} {who}"), revision
                )
                for who in ("Anna", "Ben")
            ),
            return_exceptions=True,
        )
        won = [one for one in results if isinstance(one, UpdateResult)]
        lost = [one for one in results if isinstance(one, ConflictError)]
        assert (len(won), len(lost)) == (1, 1)
        assert lost[0].current == won[0].memory == await memory.get(SERVICE, id_)
        assert won[0].memory.revision == revision + 1
    assert _rows(memory, "SELECT count(*) FROM earlier_texts") == [(10,)]
    await _agrees(memory)


async def test_forgetting_and_restoring_at_once_leave_one_or_the_other(
    memory: MemoryManager,
) -> None:
    ids = [await _add(memory, f"Shelf {number} holds jars") for number in range(10)]

    async def attempt(id_: str, number: int) -> str:
        try:
            if number % 2:
                await memory.lifecycle.restore(SERVICE, id_)
                return "restored"
            await memory.lifecycle.forget(SERVICE, id_)
        except NotFoundError:
            return "refused"
        return "forgotten"

    done = await asyncio.gather(*(attempt(id_, number) for id_ in ids for number in range(6)))
    for id_ in ids:
        # Each change took what the one before it left.
        trail = _rows(
            memory,
            "SELECT action, revision_before, revision_after FROM audit"
            f" WHERE memory_id = '{id_}' ORDER BY id",
        )
        actions = [action for action, *_ in trail[1:]]
        assert actions == (["forgotten", "restored"] * 3)[: len(actions)]
        assert [before for _, before, _ in trail[1:]] == [after for *_, after in trail[:-1]]
    written = _rows(memory, "SELECT action FROM audit WHERE action <> 'added'")
    assert len(written) == sum(one != "refused" for one in done)
    await _agrees(memory)


async def test_a_replacement_and_a_forgetting_of_the_same_memory_do_not_mix(
    memory: MemoryManager,
) -> None:
    for number in range(10):
        old = await _add(memory, f"The valve {number} opens to the left", room="valves")
        new = NewMemory(content=f"The valve {number} opens to the right", supersedes=old)
        results = await asyncio.gather(
            memory.lifecycle.forget(SERVICE, old),
            memory.add(SERVICE, new),
            memory.update(SERVICE, old, MemoryChanges(summary="valve")),
            return_exceptions=True,
        )
        assert all(
            isinstance(one, AiMemoryError) or not isinstance(one, BaseException) for one in results
        )
        (status, by) = _rows(
            memory, f"SELECT status, superseded_by FROM memories WHERE id = '{old}'"
        )[0]
        assert status == Status.DELETED
        assert (by is None) == isinstance(results[1], NotFoundError)
    await _agrees(memory)


async def test_what_is_told_again_while_it_is_restored_exists_once(memory: MemoryManager) -> None:
    for number in range(10):
        text = f"The lamp {number} is broken"
        id_ = await _add(memory, text, room="lamps")
        await memory.lifecycle.forget(SERVICE, id_)
        again, restored = await asyncio.gather(
            memory.add(SERVICE, NewMemory(content=text, scope=Scope.COMMON, room="lamps")),
            memory.lifecycle.restore(SERVICE, id_),
            return_exceptions=True,
        )
        assert not isinstance(again, BaseException)
        if isinstance(restored, Memory):
            assert (again.refreshed, again.memory.id) == (True, id_)
        else:
            assert isinstance(restored, InvalidInputError)
            assert restored.key == "already_known"
        assert _rows(
            memory, f"SELECT count(*) FROM memories WHERE content = '{text}' AND status = 'active'"
        ) == [(1,)]
    await _agrees(memory)


async def test_a_restored_memory_is_found_by_meaning_again(memory: MemoryManager) -> None:
    ids = [await _add(memory, f"Jar {number} holds quince jelly") for number in range(4)]
    old = await _add(memory, "The attic hatch sticks in winter", room="attic")
    new = NewMemory(content="The attic hatch was planed down", supersedes=old)
    replaced = (await memory.add(SERVICE, new)).memory.id
    await memory.wait_for_vectors()
    index = memory._upkeep.index
    for id_ in (ids[0], replaced):
        await memory.lifecycle.forget(SERVICE, id_)
    assert (len(index), memory.vector_count) == (3, 3)
    for id_ in (ids[0], replaced):
        await memory.lifecycle.restore(SERVICE, id_)
    await _agrees(memory)
    # What came back with its replacement has its vector again, too.
    assert len(index) == 6
    hits = (await memory.search(SERVICE, Filters(), "attic hatch planed", 5)).hits
    assert (hits[0].memory.id, hits[0].score > 0) == (replaced, True)
    ever = Filters(statuses=(Status.ACTIVE, Status.SUPERSEDED))
    hits = (await memory.search(SERVICE, ever, "attic hatch sticks", 5)).hits
    assert (hits[0].memory.id, hits[0].score > 0) == (old, True)
