"""The vectors of a memory, followed through writes, growth, restarts and a damaged file."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
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
    encoder,
    index_upkeep,
)
from custom_components.ai_memory.core.packed_vectors import PackedVectors
from custom_components.ai_memory.core.vector_index import VectorIndex, VisibleSet
from custom_components.ai_memory.embedding.protocol import FloatMatrix, TextKind

DIMENSIONS = 64
ENGINE = ProjectionEngine(DIMENSIONS, 1)
OTHER = ProjectionEngine(DIMENSIONS, 2)


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


class Swapped(Server):
    """A server that has another model under the same name from some moment on."""

    def __init__(self) -> None:
        """Have the first model, and tell so at each probe."""
        super().__init__(DIMENSIONS, 1)
        self.served: ProjectionEngine = self
        self.learned: ProjectionEngine = self
        self.swap_after: int | None = None
        self._made = 0

    @property
    def batch_size(self) -> int:
        """Make vectors in many steps."""
        return 4

    @property
    def fingerprint(self) -> str:
        """Known since the last probe."""
        known = super().fingerprint if self.learned is self else self.learned.fingerprint
        return f"server/{known}"

    async def probe(self) -> None:
        """Learn which model there is."""
        self.learned = self.served

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Make vectors with the model of the moment; it may be another one meanwhile."""
        await asyncio.sleep(0.002)
        self._made += len(texts)
        if self.swap_after is not None and self._made > self.swap_after:
            self.served = OTHER
        return np.stack([self.served.vector(text) for text in texts])


@pytest.mark.parametrize("swap_after", [None, 10], ids=["all is made", "half is made"])
async def test_another_model_under_the_same_name_is_noticed(
    tmp_path: Path, anna: Caller, monkeypatch: pytest.MonkeyPatch, swap_after: int | None
) -> None:
    monkeypatch.setattr(encoder, "USUAL_PROBE_PAUSE_SECONDS", 0.02)
    path, server = tmp_path / "memory.db", Swapped()
    server.swap_after = swap_after
    async with _opened(path, server) as manager:
        for number in range(20):
            await _add(manager, anna, number)
        if swap_after is None:
            await manager.wait_for_vectors()
            _assert_made_by(ENGINE, path)
            server.served = OTHER
        await _until(lambda: server.learned is OTHER)
        found = await manager.search(anna, Filters(), "number7", 5)
        assert found.hits[0].memory.content.startswith("number7 ")
        await manager.wait_for_vectors()
        assert (manager.pending_vectors, manager.vector_count) == (0, 20)
        _assert_is_what_is_stored(manager, path)
        _assert_made_by(OTHER, path)
        found = await manager.search(anna, Filters(), "number7 of the things we keep", 1)
        assert (found.ranking, found.hits[0].score) == ("hybrid", 1.0)


def _assert_made_by(engine: ProjectionEngine, path: Path) -> None:
    made = sorted(map(bytes, _stored(path).values()))
    assert made == sorted(
        engine.vector(f"number{number} of the things we keep").tobytes() for number in range(20)
    )
