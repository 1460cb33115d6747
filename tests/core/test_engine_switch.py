"""The engine is switched while the memory is searched and written: nothing is lost or mixed up.

One real file is closed and opened with another engine, as a reload of the config entry does, and
those who search and write never stop: a call on a memory that was just closed is refused, and what
was acknowledged must be there. One switch comes while the vectors of the engine before are made.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
import sqlite3
from typing import Any, Final

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
    StorageError,
)
from custom_components.ai_memory.embedding import (
    EmbeddingEngine,
    EngineSettings,
    FloatMatrix,
    TextKind,
    create_engine,
)
from custom_components.ai_memory.embedding.tfidf import DIMENSIONS as TFIDF_DIMENSIONS

SETTLED: Final = 120
"""Memories that are there before all switches and that nobody writes again."""
BATCH_TEXTS: Final = 16
WRITERS: Final = 2
SEARCHERS: Final = 3
PAUSE_SECONDS: Final = 0.002


class Server(ProjectionEngine):
    """An engine that is asked in the background, and that hangs after some documents if told to."""

    def __init__(self, dimensions: int, seed: int, hangs_after: int | None = None) -> None:
        """Hang for ever once so many documents have their vectors."""
        super().__init__(dimensions, seed)
        self.hangs = asyncio.Event()
        self._hangs_after = hangs_after
        self._made = 0

    @property
    def local(self) -> bool:
        """Be asked in the background."""
        return False

    @property
    def batch_size(self) -> int:
        """Make vectors in many steps."""
        return BATCH_TEXTS

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Return vectors, or never."""
        if kind is TextKind.DOCUMENT:
            if self._hangs_after is not None and self._made >= self._hangs_after:
                self.hangs.set()
                await asyncio.Event().wait()
            self._made += len(texts)
        await asyncio.sleep(PAUSE_SECONDS)
        return await super().embed(texts, kind)


def _tfidf(folder: Path) -> EmbeddingEngine:
    return create_engine("tfidf", EngineSettings(storage_path=folder))


def _name(number: int) -> str:
    """Return a word that no other memory holds."""
    return f"item{number:05d}"


def _settled_text(number: int) -> str:
    return f"{_name(number)} lies beside the things that we keep on shelf {number % 7}"


@dataclass(slots=True)
class House:
    """A file that many use, whatever engine is in force, and what they were told about it."""

    path: Path
    anna: Caller
    memory: MemoryManager
    engine: EmbeddingEngine
    kept: dict[str, str] = field(default_factory=dict)
    """Texts of all acknowledged memories by id."""
    found_by: Counter[MatchType] = field(default_factory=Counter)
    acknowledged: Counter[str] = field(default_factory=Counter)
    refusals: set[str] = field(default_factory=set)
    _numbers: count[int] = field(default_factory=lambda: count(SETTLED))

    @classmethod
    async def built(cls, path: Path, anna: Caller, engine: EmbeddingEngine) -> "House":
        """Make the file with the memories that stay."""
        house = cls(path, anna, await _opened(path, engine), engine)
        for number in range(SETTLED):
            await house._add(_settled_text(number))
        return house

    async def switch(self, engine: EmbeddingEngine) -> None:
        """Close and open again with another engine, as a reload does."""
        await self.memory.close()
        self.engine = engine
        self.memory = await _opened(self.path, engine)

    async def close(self) -> None:
        """Close for good."""
        await self.memory.close()

    @asynccontextmanager
    async def used(self) -> AsyncGenerator[None]:
        """Let everybody search and write for the length of the block, and some moments after."""
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for one in range(WRITERS):
                group.create_task(self._until(over, self._write, count(one)))
            for one in range(SEARCHERS):
                group.create_task(self._until(over, self._search, count(one)))
            yield
            over.set()

    async def some_time(self) -> None:
        """Wait until enough was written and found to tell that everything goes on."""
        writes, finds = self.acknowledged.total() + 10, self.found_by.total() + 30
        await _until(lambda: self.acknowledged.total() >= writes and self.found_by.total() >= finds)

    async def _until(
        self,
        over: asyncio.Event,
        use: Callable[[int], Coroutine[Any, Any, None]],
        turns: count[int],
    ) -> None:
        while not over.is_set():
            try:
                await use(next(turns))
            except StorageError as err:
                self.refusals.add(err.key)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _write(self, turn: int) -> None:
        """Add, and change and delete what was added before by the same hand."""
        number = next(self._numbers)
        added = await self._add(f"{_name(number)} was bought and stands on shelf {number % 7}")
        if turn % 3 == 1:
            text = f"{_name(number)} was moved to shelf {number % 5}"
            await self.memory.update(self.anna, added, MemoryChanges(content=text))
            self.kept[added] = text
            self.acknowledged["updated"] += 1
        if turn % 5 == 2:
            await self.memory.delete(self.anna, added, Filters())
            del self.kept[added]
            self.acknowledged["deleted"] += 1

    async def _add(self, text: str) -> str:
        added = await self.memory.add(self.anna, NewMemory(content=text, scope=Scope.COMMON))
        self.kept[added.memory.id] = text
        self.acknowledged["added"] += 1
        return added.memory.id

    async def _search(self, turn: int) -> None:
        """Ask for a memory that stays: it is always found first, in one way or another."""
        memory, engine, number = self.memory, self.engine, turn * 7 % SETTLED
        query = f"{_name(number)} lies beside the things"
        result = await memory.search(self.anna, Filters(), query, 20, -1.0)
        assert result.hits[0].memory.content == _settled_text(number)
        self.found_by[result.hits[0].match_type] += 1
        if isinstance(engine, ProjectionEngine):
            for hit in result.hits:
                if hit.match_type is not MatchType.TEXT and " lies beside " in hit.memory.content:
                    cosine = float(engine.vector(hit.memory.content) @ engine.vector(query))
                    assert hit.score == pytest.approx(cosine, abs=1e-4)

    async def verify_current(self) -> None:
        """Check that every memory is there and has one vector: that of its text by this engine."""
        async with asyncio.timeout(20):
            await self.memory.wait_for_vectors()
        assert self.refusals <= {"database_closed"}
        stored = _stored(self.path)
        assert {one.memory_id: one.content for one in stored} == self.kept
        assert {one.fingerprint for one in stored} == {self.engine.fingerprint}
        assert (self.memory.counts().total, self.memory.vector_count) == (len(stored), len(stored))
        assert self.memory.pending_vectors == 0
        made = await self.engine.embed([one.content for one in stored], TextKind.DOCUMENT)
        vectors = np.stack([np.frombuffer(one.vector or b"", np.float32) for one in stored])
        np.testing.assert_allclose(vectors, made, atol=1e-6)
        self.verify_index()

    def verify_index(self) -> None:
        """Check that what is compared are vectors of this engine, as they are stored."""
        index = self.memory._upkeep.index
        mine = {
            one.sequence: np.frombuffer(one.vector or b"", np.float32)
            for one in _stored(self.path)
            if one.fingerprint == self.engine.fingerprint
        }
        sequences, vectors = index._rows.vectors_of(list(range(1, max(mine) + 1)))
        assert len(index) == len(sequences) == len(mine)
        for sequence, vector in zip(sequences.tolist(), vectors, strict=True):
            np.testing.assert_array_equal(vector, mine[sequence])


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory in the file with its vector, if it has one."""

    sequence: int
    memory_id: str
    content: str
    fingerprint: str | None
    vector: bytes | None


def _stored(path: Path) -> list[Stored]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("""
            SELECT m.sequence, m.id, m.content, e.fingerprint, e.vector
            FROM memories m LEFT JOIN embeddings e ON e.sequence = m.sequence ORDER BY 1
        """).fetchall()
    return [Stored(*row) for row in rows]


async def _opened(path: Path, engine: EmbeddingEngine) -> MemoryManager:
    memory = MemoryManager(Database(path), engine, max_entries=1_000_000)
    await memory.open()
    return memory


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(PAUSE_SECONDS)


@pytest.fixture
async def house(tmp_path: Path, anna: Caller) -> AsyncGenerator[House]:
    """Return a house in which word statistics are in force."""
    built = await House.built(tmp_path / "memory.db", anna, _tfidf(tmp_path))
    yield built
    await built.close()


async def test_engines_are_switched_under_load_and_nothing_is_lost(
    house: House, tmp_path: Path
) -> None:
    # Neither the dimensions of the engine before nor other ones than those of the engine after.
    hanging = Server(64, 1, hangs_after=SETTLED // 2)
    same_dimensions = Server(TFIDF_DIMENSIONS, 2)
    async with house.used():
        await house.some_time()

        await house.switch(hanging)
        await asyncio.wait_for(hanging.hangs.wait(), 20)
        house.found_by.clear()
        await house.some_time()
        # Half of the vectors are there: that half is found by meaning too, the others by words.
        assert set(house.found_by) >= {MatchType.TEXT, MatchType.HYBRID}
        assert (house.memory.pending_vectors or 0) >= SETTLED // 3
        fingerprints = {one.fingerprint for one in _stored(house.path)}
        assert fingerprints == {"tfidf/384/1", hanging.fingerprint, None}
        house.verify_index()

        await house.switch(same_dimensions)
        await house.some_time()
    await house.verify_current()

    async with house.used():
        await house.some_time()
        await house.switch(_tfidf(tmp_path))
        await house.some_time()
    await house.verify_current()
    assert house.engine.fingerprint == "tfidf/384/1"
    assert min(house.acknowledged.values()) >= 3


async def test_a_switch_back_in_the_middle_makes_only_what_is_missing(
    house: House, tmp_path: Path
) -> None:
    before = {one.memory_id: one.vector for one in _stored(house.path)}
    hanging = Server(64, 1, hangs_after=SETTLED // 2)
    await house.switch(hanging)
    await asyncio.wait_for(hanging.hangs.wait(), 20)
    untouched = [one for one in _stored(house.path) if one.fingerprint == "tfidf/384/1"]
    assert len(untouched) >= SETTLED // 3
    async with house.used():
        await house.switch(_tfidf(tmp_path))
        await house.some_time()
    await house.verify_current()
    after = {one.memory_id: one.vector for one in _stored(house.path)}
    assert {memory_id: after[memory_id] for memory_id in before} == before
