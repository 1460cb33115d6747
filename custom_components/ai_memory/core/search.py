"""Finding memories by words and by meaning, in one order.

The manager asks ``MemorySearch.find``; the ranking lives behind that one function. A missing, slow
or failing engine never fails a search: words answer, and the result says which ways of matching
took part. What the caller may see is decided in SQL before anything is ranked. A search is one step
in the thread of the reader while vectors are few; more of them are compared in another thread
meanwhile.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile
import sqlite3
from typing import Final

from ..embedding.ranking import RankingProfile
from .database import Database
from .encoder import Encoder
from .fulltext import asks_for_something, query_phrases
from .fusion import NOTHING_STANDS_OUT, Background, Candidate, fused
from .memories import milliseconds
from .models import Caller, Filters, Layer, MatchType, SearchHit, SearchResult
from .query_tense import asks_for_earlier
from .query_time import spoken_period
from .screen.gate import Gate
from .search_reads import memories_of, newest_between, times_of
from .vector_index import Vector, VectorIndex
from .visibility import Clause, visible_to
from .visibility_cache import VisibilityCache
from .visible_set import VisibleSet
from .word_search import WordMatch, best_by_words

ONE_STEP_ROWS: Final = 2_000
"""With more vectors one step would take so long that a busy system takes the processor from it."""
SEARCHES_AT_ONCE: Final = 4
"""More at once would be no faster, and all of them ready at once would hold the event loop."""
ANSWERED_COVERAGE: Final = 0.5
"""Where nothing holds that much of a query's words, it may be the archive that answers it."""
RECOGNISED_COVERAGE: Final = 0.25
"""The same for words that are spelled differently, which count for less."""
CANDIDATES_A_WAY: Final = 20
"""How many the words and the vectors each bring up, or as many as are asked for."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What vectors say about a query; nothing where there are none."""

    found: dict[int, float] = field(default_factory=dict)
    background: Background = NOTHING_STANDS_OUT


class MemorySearch:
    """Search over one database and the index of its vectors."""

    def __init__(
        self,
        database: Database,
        encoder: Encoder,
        index: VectorIndex,
        *,
        floor: Callable[[], float],
        local_now: Callable[[], datetime],
        gate: Gate,
    ) -> None:
        """Keep what is searched; ``floor`` is the least cosine of a match where none is asked."""
        self._gate = gate
        self.visibility: Final = VisibilityCache(database)
        self._database = database
        self._encoder = encoder
        self._index = index
        self._floor = floor
        self._local_now = local_now
        self._comparing = asyncio.Lock()
        self._places = asyncio.Semaphore(SEARCHES_AT_ONCE)

    async def find(
        self, caller: Caller, filters: Filters, query: str, limit: int, min_score: float | None
    ) -> SearchResult:
        """Return up to ``limit`` memories that the caller may see, best first.

        A match by meaning has at least the cosine ``min_score``, or the floor of the model where
        that is None; one by words has the score 0.0. Raises StorageError.
        """
        # A slow engine must not hold a place: its vector is waited for outside.
        made_by = self._index.made_by
        vector = await self._encoder.query(query) if await self._comparable(caller, query) else None
        async with self._places:
            if self._index.made_by != made_by:
                vector = None
            return await self._found(visible_to(caller, filters), query, vector, limit, min_score)

    async def _comparable(self, caller: Caller, query: str) -> bool:
        """Return whether a query has a meaning to compare that may be told to the engine."""
        engine = self._encoder.engine
        if not len(self._index) or self._index.made_by != engine.fingerprint:
            return False
        if not any(map(str.isalnum, query)):
            return False
        # No secret leaves the house, not even in a question.
        return engine.local or not await self._gate.find(caller, {"query": query})

    async def _found(
        self,
        clause: Clause,
        query: str,
        vector: Vector | None,
        limit: int,
        min_score: float | None,
    ) -> SearchResult:
        inquiry = _Inquiry(
            query=query,
            vector=vector,
            clause=clause,
            visible=await self.visibility.visible(clause),
            limit=limit,
            floor=self._floor() if min_score is None else min_score,
            now=self._local_now(),
            index=self._index,
            profile=self._encoder.engine.ranking,
        )
        if len(self._index) <= ONE_STEP_ROWS and not self._index.packed:
            return await self._database.read(inquiry.answer)
        words, meaning = await asyncio.gather(
            self._database.read(inquiry.by_words), self._compared(inquiry)
        )
        return await self._database.read(
            lambda connection: inquiry.in_order(connection, words, meaning)
        )

    async def _compared(self, inquiry: "_Inquiry") -> _Meaning:
        """Compare with many vectors, which takes about as long as to look for words."""
        # One at a time: side by side they would only take the processors from the event loop.
        async with self._comparing:
            return await asyncio.get_running_loop().run_in_executor(None, inquiry.by_meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inquiry:
    """One search: every step of it is blocking and done in the thread of a connection."""

    query: str
    vector: Vector | None
    clause: Clause
    visible: VisibleSet
    limit: int
    floor: float
    now: datetime
    index: VectorIndex
    profile: RankingProfile

    @property
    def depth(self) -> int:
        """How many each way of matching brings up."""
        return max(self.limit, CANDIDATES_A_WAY)

    def answer(self, connection: sqlite3.Connection) -> SearchResult:
        """Do everything in one step. Raises StorageError."""
        return self.in_order(connection, self.by_words(connection), self.by_meaning())

    def by_words(self, connection: sqlite3.Connection) -> list[WordMatch]:
        """Return what shares words with the query."""
        return best_by_words(connection, self.query, self.visible, self.depth)

    def by_meaning(self) -> _Meaning:
        """Return what is like the query. Raises StorageError."""
        if self.vector is None or not len(self.index):
            return _Meaning()
        found = dict(self.index.best(self.vector, self.visible, self.depth, self.floor))
        cosines = self.index.background(self.vector, self.visible)
        return _Meaning(found, Background.of(cosines) if len(cosines) else NOTHING_STANDS_OUT)

    def in_order(
        self, connection: sqlite3.Connection, by_words: list[WordMatch], meaning: _Meaning
    ) -> SearchResult:
        """Return the best of all that was found. Raises StorageError."""
        words = {match.sequence: match for match in by_words}
        cosines = meaning.found | self._cosines(words.keys() - meaning.found.keys())
        time = _Time.asked_for(self.query, self.now)
        time_alone = time is not None and time.alone
        of_period = self._of_period(connection, time)
        times = times_of(connection, self.clause, list({*words, *meaning.found, *of_period}))
        ranked = fused(
            [_candidate(*of_one, words, cosines, self.floor, time) for of_one in times],
            meaning.background,
            self.profile,
            earlier=asks_for_earlier(self.query),
            time_alone=time_alone,
        )[: self.limit]
        found = memories_of(connection, self.clause, [one.sequence for one in ranked])
        hits = [one.hit(found[one.sequence]) for one in ranked if one.sequence in found]
        # The name of a time answers no question for it.
        answered = not time_alone and any(map(_answers, ranked))
        return SearchResult(hits=tuple(hits), ranking=ranking_of(hits), answered=answered)

    def _cosines(self, sequences: Collection[int]) -> dict[int, float]:
        """Return the similarity of what words alone have found."""
        return {} if self.vector is None else self.index.cosines(self.vector, sequences)

    def _of_period(self, connection: sqlite3.Connection, time: "_Time | None") -> list[int]:
        """Return what was written then, where the query asks for nothing but its time."""
        if time is None or not time.alone:
            return []
        return newest_between(connection, self.clause, time.start_ms, time.end_ms, self.depth)


@dataclass(frozen=True, slots=True)
class _Time:
    """The time that a query speaks of, the words that say so, and whether it asks for no more."""

    start_ms: int
    end_ms: int
    words: frozenset[str]
    alone: bool

    @classmethod
    def asked_for(cls, query: str, now: datetime) -> "_Time | None":
        if (period := spoken_period(query, now)) is None:
            return None
        return cls(
            milliseconds(period.start),
            milliseconds(period.end),
            frozenset(query_phrases(query)).difference(query_phrases(period.remaining)),
            not asks_for_something(period.remaining),
        )

    def includes(self, *moments_ms: int) -> bool:
        """Return whether any of these moments is within."""
        return any(self.start_ms <= at_ms < self.end_ms for at_ms in moments_ms)


def _candidate(  # noqa: PLR0917 - what three ways of finding know of one memory
    sequence: int,
    created_ms: int,
    updated_ms: int,
    evidence: float,
    words: dict[int, WordMatch],
    cosines: dict[int, float],
    floor: float,
    time: _Time | None,
) -> Candidate:
    match = words.get(sequence)
    cosine = cosines.get(sequence)
    alike = cosine is not None and cosine >= floor and cosine > 0
    held = match.words if match else ()
    in_period = time is not None and time.includes(created_ms, updated_ms)
    return Candidate(
        sequence=sequence,
        updated_ms=updated_ms,
        evidence=evidence,
        coverage=match.coverage if match else 0.0,
        words=held,
        cosine=cosine,
        alike=alike,
        in_period=in_period,
        names_time=time is not None
        and bool(held)
        and not (in_period or alike)
        and time.words.issuperset(held),
    )


def _answers(one: Candidate) -> bool:
    """Return whether a memory holds enough of what was asked for."""
    return one.coverage >= (ANSWERED_COVERAGE if one.words else RECOGNISED_COVERAGE)


def with_archive(near: SearchResult, every: SearchResult, limit: int) -> SearchResult:
    """Return what was found outside the archive, after what the archive alone answers better."""
    taken = takewhile if near.hits else filter
    archived = taken(lambda hit: hit.memory.layer is Layer.ARCHIVE, every.hits)
    hits = (*archived, *near.hits)[:limit]
    return replace(near, hits=hits, ranking=ranking_of(hits))


def ranking_of(hits: Sequence[SearchHit]) -> str:
    """Return the one way in which all hits were found, or hybrid."""
    ways = {hit.match_type for hit in hits}
    if not ways:
        return "none"
    return next(iter(ways)).value if len(ways) == 1 else MatchType.HYBRID.value
