"""Finding memories by words and by meaning, in one order.

The manager asks ``MemorySearch.find``; the ranking lives behind that one function. A missing, slow
or failing engine never fails a search: words answer, and the result says which ways of matching
took part. What the caller may see is decided in SQL before anything is ranked.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from . import memories
from .database import Database
from .encoder import Encoder
from .fulltext import asks_for_something
from .fusion import NOTHING_STANDS_OUT, Background, Candidate, fused
from .models import Caller, Filters, MatchType, SearchHit, SearchResult
from .query_tense import asks_for_earlier
from .query_time import Period, spoken_period
from .vector_index import Vector, VectorIndex
from .visibility import Clause, visible_to
from .visibility_cache import VisibilityCache
from .visible_set import VisibleSet
from .word_search import WordMatch, WordSearch

INLINE_INDEX_ROWS: Final = 1_000
SEARCHES_AT_ONCE: Final = 4
"""More at once would be no faster, and all of them ready at once would hold the event loop."""
CANDIDATES_A_WAY: Final = 20
"""How many the words and the vectors each bring up, or as many as are asked for."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What vectors say about a query; nothing where there are none."""

    vector: Vector | None = None
    found: dict[int, float] = field(default_factory=dict)
    background: Background = NOTHING_STANDS_OUT


class MemorySearch:
    """Search over one database and the index of its vectors."""

    def __init__(
        self,
        database: Database,
        encoder: Encoder,
        index: VectorIndex,
        floor: Callable[[], float],
        local_now: Callable[[], datetime],
    ) -> None:
        """Keep what is searched; ``floor`` is the least cosine of a match where none is asked."""
        self.visibility: Final = VisibilityCache(database)
        self._database = database
        self._encoder = encoder
        self._index = index
        self._floor = floor
        self._local_now = local_now
        self._words = WordSearch(database)
        self._ranking = asyncio.Lock()
        self._places = asyncio.Semaphore(SEARCHES_AT_ONCE)

    async def find(
        self, caller: Caller, filters: Filters, query: str, limit: int, min_score: float | None
    ) -> SearchResult:
        """Return up to ``limit`` memories that the caller may see, best first.

        A match by meaning has at least the cosine ``min_score``, or the floor of the model where
        that is None; one by words has the score 0.0. Raises StorageError.
        """
        # A slow engine must not hold a place: its vector is waited for outside.
        comparable = len(self._index) and any(map(str.isalnum, query))
        vector = await self._encoder.query(query) if comparable else None
        async with self._places:
            return await self._found(visible_to(caller, filters), query, vector, limit, min_score)

    async def _found(
        self,
        clause: Clause,
        query: str,
        vector: Vector | None,
        limit: int,
        min_score: float | None,
    ) -> SearchResult:
        visible = await self.visibility.visible(clause)
        depth = max(limit, CANDIDATES_A_WAY)
        floor = self._floor() if min_score is None else min_score
        period = spoken_period(query, self._local_now())
        by_words, meaning = await asyncio.gather(
            self._words.best(query, visible, depth),
            self._by_meaning(vector, visible, depth, floor),
        )
        words = {match.sequence: match for match in by_words}
        span = _span(period) if period else None
        of_period = await self._of_period(clause, period, depth)
        cosines = meaning.found | await self._cosines(meaning, words.keys() - meaning.found.keys())
        async with self._database.reading() as connection:
            times = await memories.times(
                connection, clause, list({*words, *meaning.found, *of_period})
            )
        ranked = fused(
            [_candidate(*found, words, cosines, floor, span) for found in times],
            meaning.background,
            self._encoder.engine.ranking,
            earlier=asks_for_earlier(query),
        )
        hits = await self._hits(clause, ranked[:limit])
        return SearchResult(hits=tuple(hits), ranking=_ranking(hits))

    async def _by_meaning(
        self, vector: Vector | None, visible: VisibleSet, depth: int, floor: float
    ) -> _Meaning:
        if vector is None or not len(self._index):
            return _Meaning()

        def compare() -> _Meaning:
            found = dict(self._index.best(vector, visible, depth, floor))
            cosines = self._index.background(vector, visible)
            background = Background.of(cosines) if len(cosines) else NOTHING_STANDS_OUT
            return _Meaning(vector, found, background)

        return await self._compared(compare)

    async def _cosines(self, meaning: _Meaning, sequences: Iterable[int]) -> dict[int, float]:
        """Return the similarity of what words alone have found."""
        wanted = list(sequences)
        if meaning.vector is None or not wanted:
            return {}
        vector = meaning.vector
        if not self._index.packed:
            return self._index.cosines(vector, wanted)
        return await self._compared(lambda: self._index.cosines(vector, wanted))

    async def _compared[T](self, work: Callable[[], T]) -> T:
        if len(self._index) <= INLINE_INDEX_ROWS and not self._index.packed:
            return work()
        loop = asyncio.get_running_loop()
        # One at a time: side by side they would only take the processors from the event loop.
        async with self._ranking:
            return await loop.run_in_executor(None, work)

    async def _of_period(self, clause: Clause, period: Period | None, depth: int) -> list[int]:
        """Return what was written then, where the query asks for nothing but its time."""
        if period is None or asks_for_something(period.remaining):
            return []
        start_ms, end_ms = _span(period)
        async with self._database.reading() as connection:
            return await memories.newest_between(connection, clause, start_ms, end_ms, depth)

    async def _hits(self, clause: Clause, ranked: list[Candidate]) -> list[SearchHit]:
        async with self._database.reading() as connection:
            found = await memories.by_sequences(
                connection, clause, [one.sequence for one in ranked]
            )
        return [one.hit(found[one.sequence]) for one in ranked if one.sequence in found]


def _candidate(  # noqa: PLR0917 - what three ways of finding know of one memory
    sequence: int,
    created_ms: int,
    updated_ms: int,
    evidence: float,
    words: dict[int, WordMatch],
    cosines: dict[int, float],
    floor: float,
    span: tuple[int, int] | None,
) -> Candidate:
    match = words.get(sequence)
    cosine = cosines.get(sequence)
    return Candidate(
        sequence=sequence,
        updated_ms=updated_ms,
        evidence=evidence,
        coverage=match.coverage if match else 0.0,
        words=match.words if match else (),
        cosine=cosine,
        alike=cosine is not None and cosine >= floor and cosine > 0,
        in_period=span is not None
        and any(span[0] <= at_ms < span[1] for at_ms in (created_ms, updated_ms)),
    )


def _span(period: Period) -> tuple[int, int]:
    return memories.milliseconds(period.start), memories.milliseconds(period.end)


def _ranking(hits: list[SearchHit]) -> str:
    """Return the one way in which all hits were found, or hybrid."""
    ways = {hit.match_type for hit in hits}
    if not ways:
        return "none"
    return next(iter(ways)).value if len(ways) == 1 else MatchType.HYBRID.value
