"""Finding memories by words and by meaning, in one order.

The manager asks ``MemorySearch.find``; the ranking lives behind that one function. A missing, slow
or failing engine never fails a search: words answer, and the result says which ways of matching
took part. What the caller may see is decided in SQL before anything is ranked. Vectors are compared
in a thread of their own while the thread of the reader looks for words.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile
import sqlite3
from typing import Final

import numpy as np

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

SEARCHES_AT_ONCE: Final = 4
"""More at once would be no faster, and all of them ready at once would hold the event loop."""
CANDIDATES_A_WAY: Final = 20
"""How many the words and the vectors each bring up, or as many as are asked for."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What vectors say about a query; nothing where there are none."""

    found: dict[int, float] = field(default_factory=dict)
    background: Background = NOTHING_STANDS_OUT


def _one_thread() -> ThreadPoolExecutor:
    """Return what compares: side by side searches would only take processors from each other."""
    return ThreadPoolExecutor(1, "ai_memory_compare")


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
        self._comparer = _one_thread()
        self._places = asyncio.Semaphore(SEARCHES_AT_ONCE)

    async def close(self) -> None:
        """End the thread that compares; the next search begins another."""
        comparer, self._comparer = self._comparer, _one_thread()
        await asyncio.get_running_loop().run_in_executor(None, comparer.shutdown)

    async def find(
        self,
        caller: Caller,
        filters: Filters,
        query: str,
        limit: int,
        min_score: float | None,
        *,
        archive: bool = False,
    ) -> SearchResult:
        """Return up to ``limit`` memories that the caller may see, best first.

        A match by meaning has at least the cosine ``min_score``, or the floor of the model where
        that is None; one by words has the score 0.0. With ``archive`` the archive answers what the
        filters leave unanswered. Raises StorageError.
        """
        # A slow engine must not hold a place: its vector is waited for outside.
        made_by = self._index.made_by
        vector = await self._encoder.query(query) if await self._comparable(caller, query) else None
        async with self._places:
            if self._index.made_by != made_by:
                vector = None
            near = visible_to(caller, filters)
            every = visible_to(caller, replace(filters, archived=True)) if archive else near
            return await self._found(near, every, query, vector, limit, min_score)

    async def _comparable(self, caller: Caller, query: str) -> bool:
        """Return whether a query has a meaning to compare that may be told to the engine."""
        engine = self._encoder.engine
        if not len(self._index) or self._index.made_by != engine.fingerprint:
            return False
        if not any(map(str.isalnum, query)):
            return False
        # No secret leaves the house, not even in a question.
        return engine.local or not await self._gate.find(caller, {"query": query})

    async def _found(  # noqa: PLR0917 - what was asked, in every form it has
        self,
        near: Clause,
        every: Clause,
        query: str,
        vector: Vector | None,
        limit: int,
        min_score: float | None,
    ) -> SearchResult:
        visible_near = await self.visibility.visible(near)
        inquiry = _Inquiry(
            query=query,
            vector=vector,
            near=near,
            every=every,
            visible_near=visible_near,
            visible=visible_near if every is near else await self.visibility.visible(every),
            limit=limit,
            floor=self._floor() if min_score is None else min_score,
            now=self._local_now(),
            index=self._index,
            profile=self._encoder.engine.ranking,
        )

        async with self._database.reading():
            # Nothing begins to compare for a database that is closed.
            compared = self._comparer.submit(inquiry.by_meaning)

        def answer(connection: sqlite3.Connection) -> SearchResult:
            by_words = inquiry.by_words(connection)
            return inquiry.in_order(connection, by_words, compared.result())

        if not self._index.packed:
            return await self._database.read(answer)
        # Comparing takes long enough for others to use the reader meanwhile.
        by_words, meaning = await asyncio.gather(
            self._database.read(inquiry.by_words), asyncio.wrap_future(compared)
        )
        return await self._database.read(
            lambda connection: inquiry.in_order(connection, by_words, meaning)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inquiry:
    """One search: every step of it is blocking and done in the thread of a connection."""

    query: str
    vector: Vector | None
    near: Clause
    every: Clause
    """What is near, and the archive where that may answer."""
    visible_near: VisibleSet
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

    @property
    def asks_archive(self) -> bool:
        """Whether the archive may answer."""
        return self.every is not self.near

    def by_words(self, connection: sqlite3.Connection) -> "_Wording":
        """Return what shares words with the query, archived ones where nothing else answers."""
        every = self.visible if self.asks_archive else None
        found = best_by_words(connection, self.query, self.visible_near, self.depth, every)
        time = _Time.asked_for(self.query, self.now)
        return _Wording(found, time, self._of_period(connection, time))

    def by_meaning(self) -> _Meaning:
        """Return what is like the query. Raises StorageError."""
        if self.vector is None or not len(self.index):
            return _Meaning()
        found = self._most_alike(self.vector)
        cosines = self.index.background(self.vector, self.visible)
        return _Meaning(found, Background.of(cosines) if len(cosines) else NOTHING_STANDS_OUT)

    def _most_alike(self, vector: Vector) -> dict[int, float]:
        """Return the cosines of what is most alike: of what is near, and of all."""
        if not self.asks_archive:
            return dict(self.index.best(vector, self.visible, self.depth, self.floor))
        wanted = 2 * self.depth
        found = dict(self.index.best(vector, self.visible, wanted, self.floor))
        near = int(np.count_nonzero(self.visible_near.mask(np.array(list(found), np.int64))))
        if len(found) < wanted or near >= self.depth:
            return found
        # What is archived must not keep from being found what is not.
        return found | dict(self.index.best(vector, self.visible_near, self.depth, self.floor))

    def in_order(
        self, connection: sqlite3.Connection, by_words: "_Wording", meaning: _Meaning
    ) -> SearchResult:
        """Return the best of all that was found. Raises StorageError."""
        words = {match.sequence: match for match in by_words.found}
        cosines = meaning.found | self._cosines(words.keys() - meaning.found.keys())
        time = by_words.time
        time_alone = time is not None and time.alone
        found = {*words, *meaning.found, *by_words.of_period}
        times = times_of(connection, self.every, list(found))
        candidates = [self._candidate(row, words, cosines, time) for row in times]
        near = [one for one in candidates if not one.archived]
        answers = {match.sequence for match in by_words.found if match.answers}
        if any(one.in_period if time_alone else one.sequence in answers for one in near):
            candidates = near
        ranked = fused(
            candidates,
            meaning.background,
            self.profile,
            earlier=asks_for_earlier(self.query),
            time_alone=time_alone,
        )
        told = _archived_above(ranked)[: self.limit]
        memories = memories_of(connection, self.every, [one.sequence for one in told])
        hits = [one.hit(memories[one.sequence]) for one in told if one.sequence in memories]
        return SearchResult(hits=tuple(hits), ranking=ranking_of(hits))

    def _cosines(self, sequences: Collection[int]) -> dict[int, float]:
        """Return the similarity of what words alone have found."""
        return {} if self.vector is None else self.index.cosines(self.vector, sequences)

    def _of_period(self, connection: sqlite3.Connection, time: "_Time | None") -> list[int]:
        """Return what was written then, where the query asks for nothing but its time."""
        if time is None or not time.alone:
            return []
        of_time = newest_between(connection, self.near, time.start_ms, time.end_ms, self.depth)
        if of_time or not self.asks_archive:
            return of_time
        return newest_between(connection, self.every, time.start_ms, time.end_ms, self.depth)

    def _candidate(
        self,
        row: tuple[int, int, int, int, float],
        words: dict[int, WordMatch],
        cosines: dict[int, float],
        time: "_Time | None",
    ) -> Candidate:
        """Return what the three ways of finding know of one memory."""
        sequence, layer, created_ms, updated_ms, evidence = row
        match = words.get(sequence)
        cosine = cosines.get(sequence)
        alike = cosine is not None and cosine >= self.floor and cosine > 0
        held = match.words if match else ()
        in_period = time is not None and time.includes(created_ms, updated_ms)
        return Candidate(
            sequence=sequence,
            archived=self.asks_archive and layer == Layer.ARCHIVE,
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


@dataclass(frozen=True, slots=True)
class _Wording:
    """What the words of a query say: who holds them, a time, and what was written then."""

    found: list[WordMatch]
    time: _Time | None
    of_period: list[int]


def _archived_above(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Leave out what is archived and not above everything else."""
    archived = takewhile(lambda one: one.archived, ranked)
    return [*archived, *(one for one in ranked if not one.archived)]


def ranking_of(hits: Sequence[SearchHit]) -> str:
    """Return the one way in which all hits were found, or hybrid."""
    ways = {hit.match_type for hit in hits}
    if not ways:
        return "none"
    return next(iter(ways)).value if len(ways) == 1 else MatchType.HYBRID.value
