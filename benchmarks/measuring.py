"""One number of memories of one dimension, measured on a filled file.

``speed`` runs the three functions here in processes of their own, so that the figures of resident
memory belong to one case and the file is opened by a process that has never seen it. Everything is
asked of ``MemoryManager``, as the operations ask it, one call after the other unless a section says
otherwise.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Final

from .book import Book
from .core import (
    DATABASE_FILE_NAME,
    DEFAULT_ENGINE,
    AddResult,
    Database,
    EmbeddingEngine,
    EngineSettings,
    Filters,
    MemoryManager,
    NewMemory,
    SearchResult,
    create_engine,
)
from .event_loop import StallMeter
from .figures import CaseFigures, Opening, Resident, Stall
from .filling import ANNA, fill_texts
from .resident import peak_resident_bytes, resident_bytes
from .synthetic import FILTERED_PLACE, Household, ProjectionEngine

ADDS: Final = 200
ADDS_AT_CAPACITY: Final = 50
SEARCHES: Final = 40
SEARCH_LIMIT: Final = 5
SEARCHES_AT_ONCE: Final = 8
LISTS: Final = 60
LIST_LIMIT: Final = 20
IDLE_SECONDS: Final = 1.0

_VECTORS_TIMEOUT_SECONDS: Final = 300
_VECTORS_A_SECOND: Final = 200
"""So many at least are made or loaded, however slow the machine is."""
_POLL_SECONDS: Final = 0.005
_SPARE_MEMORIES: Final = 1_000
"""Numbers of a household above those in the file, for what is added while measuring."""
_STRIDE: Final = 7_919
"""From the memory of one question to the next: a prime, so that they are spread over the file."""

_ANYWHERE: Final = Filters()
_IN_WING: Final = Filters(wing=FILTERED_PLACE[0])
_IN_ROOM: Final = Filters(wing=FILTERED_PLACE[0], room=FILTERED_PLACE[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is measured, and on which file."""

    path: Path
    memories: int
    dimensions: int
    seed: int

    def household(self) -> Household:
        """Return the texts of this case."""
        return Household(self.seed, self.memories + _SPARE_MEMORIES)

    def engine(self) -> ProjectionEngine:
        """Return the engine of this case."""
        return ProjectionEngine(self.dimensions, self.seed)


def prepare_texts(path: Path, memories: int, seed: int) -> None:
    """Make the file of texts that all dimensions share."""
    asyncio.run(fill_texts(path, Household(seed, memories + _SPARE_MEMORIES), memories))


def prepare_vectors(case: Case) -> None:
    """Complete a copy of that file with vectors."""
    asyncio.run(_make_vectors(case.path, case.engine(), case.memories))


def prepare_home(config: Path, memories: int, seed: int) -> str:
    """Make a configuration folder with a file as the default engine leaves it.

    Returns a question that has an answer.
    """
    household = Household(seed, memories + _SPARE_MEMORIES)
    database = config / DATABASE_FILE_NAME
    engine = create_engine(DEFAULT_ENGINE, EngineSettings(storage_path=config / ".storage"))
    asyncio.run(fill_texts(database, household, memories))
    asyncio.run(_make_vectors(database, engine, memories))
    return household.question(0)


async def _make_vectors(path: Path, engine: EmbeddingEngine, memories: int) -> None:
    """Let the memory make the vectors that are missing, in the engine's batches."""
    async with _manager(path, engine, max_entries=2 * memories) as memory:
        await memory.open()
        await all_vectors(memory, memories)


def measure(case: Case) -> CaseFigures:
    """Measure a prepared case; the file is fuller afterwards."""
    return asyncio.run(_measure(case))


async def _measure(case: Case) -> CaseFigures:
    household, engine, numbers, book = case.household(), case.engine(), count(case.memories), Book()
    database_bytes = case.path.stat().st_size
    before_bytes = resident_bytes()
    roomy = 2 * case.memories + _SPARE_MEMORIES
    async with _manager(case.path, engine, max_entries=roomy) as memory:
        opening = await _open(memory, case.memories, household.question(0))
        loaded_bytes = resident_bytes()
        idle = [await _idle()]
        bench = _Bench(book, memory, household, case.memories, numbers)
        await bench.search()
        await bench.list()
        await bench.add()
        await bench.search_after_writes()
        idle.append(await _idle())
        resident = Resident(
            before_bytes=before_bytes,
            loaded_bytes=loaded_bytes,
            end_bytes=resident_bytes(),
            peak_bytes=peak_resident_bytes(),
        )
        stored = memory.counts().total
    async with _manager(case.path, engine, max_entries=stored) as memory:
        await _open(memory, stored, household.question(0))
        await _Bench(book, memory, household, case.memories, numbers).add_at_capacity()
    return CaseFigures(
        memories=case.memories,
        dimensions=case.dimensions,
        add=book.summary("add"),
        search=book.summary("search"),
        list=book.summary("list"),
        idle=Stall.worst(idle),
        opening=opening,
        resident=resident,
        database_bytes=database_bytes,
        sections=book.sections(),
    )


@asynccontextmanager
async def _manager(
    path: Path, engine: EmbeddingEngine, *, max_entries: int
) -> AsyncGenerator[MemoryManager]:
    """Lend a manager that is not yet open; it is closed at the end."""
    manager = MemoryManager(Database(path), engine, max_entries=max_entries)
    try:
        yield manager
    finally:
        await manager.close()


async def _open(memory: MemoryManager, expected: int, question: str) -> Opening:
    """Open the memory, ask at once, then wait until every vector is there."""
    start = perf_counter()
    with StallMeter() as meter:
        await memory.open()
        opened = perf_counter()
        await memory.search(ANNA, _ANYWHERE, question, SEARCH_LIMIT)
        answered = perf_counter()
        await all_vectors(memory, expected)
        loaded = perf_counter()
    return Opening(
        open_ms=(opened - start) * 1000,
        first_search_ms=(answered - start) * 1000,
        vectors_loaded_ms=(loaded - start) * 1000,
        stall=meter.stall,
    )


async def _idle() -> Stall:
    """Measure what the machine alone does to an idle loop."""
    with StallMeter() as meter:
        await asyncio.sleep(IDLE_SECONDS)
    return meter.stall


async def all_vectors(memory: MemoryManager, expected: int) -> None:
    """Wait until so many memories can be found by meaning."""
    limit_seconds = _VECTORS_TIMEOUT_SECONDS + expected / _VECTORS_A_SECOND
    async with asyncio.timeout(limit_seconds):
        while memory.vector_count < expected:
            await asyncio.sleep(_POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class _Bench:
    """What is done with an open memory; every method writes sections into the book."""

    _book: Book
    _memory: MemoryManager
    _household: Household
    _filled: int
    _numbers: count[int]

    async def search(self) -> None:
        """Ask in every way that is answered differently, then many at once."""
        texts = self._household
        await self._embed_questions()
        by_meaning = self._asking(texts.question)
        by_rare_words = self._asking(texts.rare_words)
        by_common_words = self._asking(texts.common_words)
        for name, asking in (
            ("search_by_meaning", by_meaning),
            ("search_by_rare_words", by_rare_words),
            ("search_by_common_words", by_common_words),
            ("search_misspelled", self._asking(texts.misspelled)),
            ("search_without_answer", self._asking(texts.nonsense)),
            ("search_in_wing", self._asking(texts.question, _IN_WING)),
        ):
            await self._book.section(name, SEARCHES, asking)
        mixed = (by_meaning, by_rare_words, by_common_words)
        await self._book.section(
            "search_8_at_once",
            SEARCHES,
            lambda turn: mixed[turn % len(mixed)](turn),
            at_once=SEARCHES_AT_ONCE,
            counts_in_summary=False,
        )

    async def search_after_writes(self) -> None:
        """Ask right after a write, when what was remembered about visibility is forgotten."""
        asking = self._asking(self._household.question)
        await self._book.section("search_after_write", SEARCHES, asking, before=self._add_next)
        await self._book.section(
            "search_8_at_once_after_write",
            SEARCHES,
            asking,
            before=self._add_next,
            at_once=SEARCHES_AT_ONCE,
            counts_in_summary=False,
        )

    async def list(self) -> None:
        """List the newest anywhere, in a wing and in a room."""
        for name, filters in (
            ("list_newest", _ANYWHERE),
            ("list_in_wing", _IN_WING),
            ("list_in_room", _IN_ROOM),
        ):

            async def latest(_turn: int, filters: Filters = filters) -> None:
                await self._memory.latest(ANNA, filters, LIST_LIMIT)

            await self._book.section(name, LISTS, latest)

    async def add(self) -> None:
        """Add memories that have room."""
        await self._book.section("add", ADDS, lambda _: self._add_next())

    async def add_at_capacity(self) -> None:
        """Add to a full memory, so that each memory takes the place of another."""
        await self._book.section(
            "add_at_capacity",
            ADDS_AT_CAPACITY,
            lambda _: self._add_next(),
            counts_in_summary=False,
        )

    async def _embed_questions(self) -> None:
        """Have the vector of every question remembered: how fast an encoder is, is its own."""
        texts = self._household
        for question in (
            texts.question,
            texts.rare_words,
            texts.common_words,
            texts.misspelled,
            texts.nonsense,
        ):
            for turn in range(SEARCHES):
                await self._memory.encoder.query(question(self._asked_about(turn)))

    def _asking(
        self, question: Callable[[int], str], filters: Filters = _ANYWHERE
    ) -> Callable[[int], Awaitable[SearchResult]]:
        def ask(turn: int) -> Awaitable[SearchResult]:
            text = question(self._asked_about(turn))
            return self._memory.search(ANNA, filters, text, SEARCH_LIMIT)

        return ask

    def _asked_about(self, turn: int) -> int:
        return turn * _STRIDE % self._filled

    def _add_next(self) -> Awaitable[AddResult]:
        """Add the next memory; its place and its scope are left to the memory to choose."""
        number = next(self._numbers)
        new = NewMemory(
            content=self._household.content(number), summary=self._household.summary(number)
        )
        return self._memory.add(ANNA, new)
