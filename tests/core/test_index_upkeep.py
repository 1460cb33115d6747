"""The vectors of a memory, followed through writes, growth, restarts and a damaged file."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
import logging
from pathlib import Path
import sqlite3

import numpy as np
import pytest

from benchmarks.synthetic import ProjectionEngine
from custom_components.ai_memory.core import (
    Caller,
    Database,
    Filters,
    MatchType,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Scope,
    index_upkeep,
)
from custom_components.ai_memory.core.packed_vectors import PackedVectors
from custom_components.ai_memory.core.vector_index import VectorIndex, VisibleSet

DIMENSIONS = 64
ENGINE = ProjectionEngine(DIMENSIONS, 1)


class Server(ProjectionEngine):
    """The same vectors, made later, as an engine with a server makes them."""

    @property
    def local(self) -> bool:
        """Be asked in the background."""
        return False


@asynccontextmanager
async def _opened(
    path: Path, engine: ProjectionEngine = ENGINE, exact_rows: int = 50
) -> AsyncGenerator[MemoryManager]:
    manager = MemoryManager(Database(path), engine, max_entries=1_000_000)
    manager._upkeep.index.exact_rows = exact_rows
    await manager.open()
    try:
        yield manager
    finally:
        await manager.close()


async def _add(manager: MemoryManager, caller: Caller, number: int) -> str:
    text = f"number{number} of the things we keep"
    added = await manager.add(caller, NewMemory(content=text, scope=Scope.COMMON))
    return added.memory.id


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


def _index(manager: MemoryManager) -> VectorIndex:
    return manager._upkeep.index


def _stored(path: Path) -> dict[int, np.ndarray]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT sequence, vector FROM embeddings").fetchall()
    return {sequence: np.frombuffer(vector, np.float32) for sequence, vector in rows}


def _change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def _assert_is_what_is_stored(manager: MemoryManager, path: Path) -> None:
    stored, index = _stored(path), _index(manager)
    assert len(index) == len(stored)
    query = ENGINE.vector("number7 of the things")
    everyone = VisibleSet.parse(str(list(stored)))
    found = dict(index.best(query, everyone, len(stored), -1.0))
    assert found == pytest.approx(
        {one: float(vector @ query) for one, vector in stored.items()}, abs=1e-5
    )


@pytest.mark.parametrize("engine", [ENGINE, Server(DIMENSIONS, 1)], ids=["local", "server"])
async def test_a_memory_grows_through_the_change_of_rows_while_it_is_used(
    tmp_path: Path, anna: Caller, engine: ProjectionEngine
) -> None:
    path = tmp_path / "memory.db"
    packed: list[bool] = []
    async with _opened(path, engine) as manager:
        ids = [await _add(manager, anna, number) for number in range(40)]
        assert not _index(manager).packed

        async def write() -> None:
            for number in range(40, 140):
                ids.append(await _add(manager, anna, number))
                if number % 3 == 0:
                    await manager.delete(anna, ids.pop(0), Filters())
                if number % 5 == 0:
                    changes = MemoryChanges(content=f"number{number} is another thing now")
                    await manager.update(anna, ids[3], changes)

        async def search() -> None:
            while not writing.done():
                packed.append(_index(manager).packed)
                await manager.search(anna, Filters(), "number7 of the things", 5, -1.0)

        writing = asyncio.create_task(write())
        await asyncio.gather(writing, search(), search())
        await manager.wait_for_vectors()
        await _until(lambda: _index(manager).packed)
        assert packed[0] is False
        _assert_is_what_is_stored(manager, path)
        [hit] = (await manager.search(anna, Filters(), "number139 of the things", 1)).hits
        assert hit.memory.content.startswith("number139 ")
        assert hit.match_type is not MatchType.TEXT
    async with _opened(path, engine) as again:
        await again.wait_for_vectors()
        assert _index(again).packed
        _assert_is_what_is_stored(again, path)


async def test_a_small_memory_stays_exact(tmp_path: Path, anna: Caller) -> None:
    path = tmp_path / "memory.db"
    async with _opened(path) as manager:
        for number in range(50):
            await _add(manager, anna, number)
    async with _opened(path) as manager:
        await manager.wait_for_vectors()
        assert not _index(manager).packed
        _assert_is_what_is_stored(manager, path)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM embeddings WHERE sequence IN (3, 7)",
        "UPDATE embeddings SET fingerprint = 'another/1' WHERE sequence = 5",
        "UPDATE embeddings SET vector = x'0000803f' WHERE sequence = 5",
    ],
    ids=["gone", "another engine", "another dimension"],
)
async def test_an_index_that_disagrees_is_built_anew_once(
    tmp_path: Path,
    anna: Caller,
    damage: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index_upkeep, "SETTLE_SECONDS", 0.01)
    path = tmp_path / "memory.db"
    async with _opened(path, Server(DIMENSIONS, 1)) as manager:
        for number in range(60):
            await _add(manager, anna, number)
        await manager.wait_for_vectors()
        await _until(lambda: _index(manager).packed)
        _change(path, damage)
        before = _index(manager)._rows
        for number in range(8):
            await manager.search(anna, Filters(), f"number{number} of the things", 5, -1.0)
        await _until(lambda: _index(manager)._rows is not before)
        rows = _index(manager)._rows
        # What was missing in the file was made again.
        await _until(lambda: len(_stored(path)) == 60 and _index(manager).stored == 60)
        await _add(manager, anna, 61)
        await manager.wait_for_vectors()
        await asyncio.sleep(0.1)
        assert _index(manager)._rows is rows
    told = [one for one in caplog.records if "disagrees" in one.message]
    assert [one.levelno for one in told] == [logging.WARNING]
    assert "number" not in told[0].message


async def test_a_count_that_differs_is_noticed_without_a_search(
    tmp_path: Path, anna: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_upkeep, "SETTLE_SECONDS", 0.01)
    monkeypatch.setattr(index_upkeep, "CHECK_SECONDS", 0.0)
    path = tmp_path / "memory.db"
    async with _opened(path, Server(DIMENSIONS, 1), exact_rows=1000) as manager:
        for number in range(20):
            await _add(manager, anna, number)
        await manager.wait_for_vectors()
        await asyncio.sleep(0.1)
        _change(path, "DELETE FROM embeddings WHERE sequence = 2")
        await _add(manager, anna, 20)
        await _until(lambda: 2 in _stored(path) and len(_index(manager)) == 21)
        assert isinstance(_index(manager)._rows, PackedVectors) is False


async def test_texts_that_changed_while_they_were_embedded_are_embedded_again(
    tmp_path: Path, anna: Caller
) -> None:
    path = tmp_path / "memory.db"
    async with _opened(path, Server(DIMENSIONS, 1)) as manager:
        ids = [await _add(manager, anna, number) for number in range(10)]
        for turn in range(5):
            await asyncio.gather(
                *(
                    manager.update(anna, one, MemoryChanges(content=f"turn{turn} word{number}"))
                    for number, one in enumerate(ids)
                )
            )
        await manager.wait_for_vectors()
        assert (manager.pending_vectors, manager.vector_count) == (0, 10)
        _assert_is_what_is_stored(manager, path)
        stored = sorted(map(bytes, _stored(path).values()))
        assert stored == sorted(
            ENGINE.vector(f"turn4 word{number}").tobytes() for number in range(10)
        )
