"""Finding memories: by meaning first, then by words and parts of words.

The manager asks ``MemorySearch.find``; the ranking lives behind that one function. A missing, slow
or failing engine never fails a search: words answer, and the result says which ways of matching
took part. What the caller may see is decided in SQL before anything is ranked.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import aiosqlite

from . import memories
from .database import Database
from .encoder import Encoder
from .fulltext import fuzzy_terms, trigram_query, trigrams, words_of, words_query
from .memories import Rated
from .models import Caller, Filters, MatchType, Memory, SearchHit, SearchResult
from .vector_index import VectorIndex, VisibleSet
from .visibility import Clause, visible_to

DEFAULT_MIN_SCORE: Final = 0.55
SCORE_DIGITS: Final = 4
INLINE_INDEX_ROWS: Final = 1_000
VISIBLE_SETS_KEPT: Final = 16
TEXT_CANDIDATES: Final = 50
# Weights chosen by ``benchmarks.retrieval``; changing them without a run of it is guessing.
PARTS_WEIGHT: Final = 0.2
"""What BM25 over trigrams counts beside BM25 over words."""
RECENCY_WEIGHT: Final = 0.2
"""How much more the newest of the candidates counts than one that is infinitely old."""
RECENCY_HALF_LIFE_MS: Final = 180 * 86_400_000
FUZZY_TEXT_CHARACTERS: Final = 2_000
FUZZY_SIMILARITY: Final = 0.5


class MemorySearch:
    """Search over one database and the index of its vectors."""

    def __init__(self, database: Database, encoder: Encoder, index: VectorIndex) -> None:
        """Keep what is searched."""
        self._database = database
        self._encoder = encoder
        self._index = index
        self._ranking = asyncio.Lock()
        self._visible: dict[tuple[str, tuple[object, ...]], VisibleSet] = {}

    def forget_visible_sets(self) -> None:
        """Drop what was remembered about visibility; called after each committed write."""
        self._visible = {}

    async def find(
        self, caller: Caller, filters: Filters, query: str, limit: int, min_score: float
    ) -> SearchResult:
        """Return up to ``limit`` memories that the caller may see, best first.

        Memories at least ``min_score`` similar come first with their cosine similarity; where they
        are fewer than ``limit``, memories that share words follow with score 0.0. Raises
        StorageError.
        """
        clause = visible_to(caller, filters)
        scores = dict(await self._by_meaning(clause, query, limit, min_score))
        ranked = list(scores)
        if len(ranked) < limit:
            found = await self._by_words(clause, query, limit + len(ranked))
            ranked += [sequence for sequence in found if sequence not in scores]
        async with self._database.reading() as connection:
            visible = await memories.by_sequences(connection, clause, ranked[:limit])
        hits = tuple(
            _hit(visible[sequence], scores.get(sequence))
            for sequence in ranked[:limit]
            if sequence in visible
        )
        ways = dict.fromkeys(hit.match_type.value for hit in hits)
        return SearchResult(hits=hits, ranking="+".join(ways) or "none")

    async def _by_meaning(
        self, clause: Clause, query: str, limit: int, min_score: float
    ) -> list[tuple[int, float]]:
        if not len(self._index) or (vector := await self._encoder.query(query)) is None:
            return []
        visible = await self._visible_set(clause)
        if len(self._index) <= INLINE_INDEX_ROWS:
            return self._index.best(vector, visible, limit, min_score)
        loop = asyncio.get_running_loop()
        # One at a time: side by side they would only take the processors from the event loop.
        async with self._ranking:
            return await loop.run_in_executor(
                None, self._index.best, vector, visible, limit, min_score
            )

    async def _visible_set(self, clause: Clause) -> VisibleSet:
        key = (clause.sql, tuple(clause.parameters.items()))
        if (known := self._visible.get(key)) is not None:
            return known
        # A write that lands during the read replaces the dict: what was read is not kept for later.
        kept = self._visible
        async with self._database.reading() as connection:
            listed = await memories.visible_sequences(connection, clause)
        loop = asyncio.get_running_loop()
        visible = await loop.run_in_executor(None, VisibleSet.parse, listed)
        if len(kept) >= VISIBLE_SETS_KEPT:
            kept.clear()
        kept[key] = visible
        return visible

    async def _by_words(self, clause: Clause, query: str, limit: int) -> list[int]:
        """Return sequences by their words, whole ones and, counting less, parts of them."""
        depth = max(limit, TEXT_CANDIDATES)
        terms = fuzzy_terms(query)
        words: list[Rated] = []
        parts: list[Rated] = []
        async with self._database.reading() as connection:
            if wanted := words_query(query):
                words = await memories.ranked_by_words(connection, clause, wanted, depth)
            if grams := trigram_query(terms):
                found = await memories.ranked_by_trigrams(connection, clause, grams, depth)
                parts = await self._trusted(connection, clause, terms, words, found)
        return _fused(words, parts)[:limit]

    async def _trusted(
        self,
        connection: aiosqlite.Connection,
        clause: Clause,
        terms: Sequence[str],
        words: Sequence[Rated],
        parts: Sequence[Rated],
    ) -> list[Rated]:
        """Return what parts of words found, unless only by chance: no word is like a term."""
        certain = {rated.sequence for rated in words}
        unsure = [rated.sequence for rated in parts if rated.sequence not in certain]
        candidates = await memories.by_sequences(connection, clause, unsure)
        alike = await asyncio.get_running_loop().run_in_executor(
            None, _spelled_alike, terms, list(candidates.values())
        )
        return [rated for rated in parts if rated.sequence in certain | alike]


def _hit(memory: Memory, score: float | None) -> SearchHit:
    if score is None:
        return SearchHit(memory=memory, score=0.0, match_type=MatchType.TEXT)
    return SearchHit(memory=memory, score=round(score, SCORE_DIGITS), match_type=MatchType.SEMANTIC)


def _fused(words: Sequence[Rated], parts: Sequence[Rated]) -> list[int]:
    """Return sequences by the sum of their weighted scores, a little more for newer ones."""
    newest_ms = max((rated.updated_ms for rated in (*words, *parts)), default=0)
    scores: dict[int, float] = {}
    for ranked, weight in ((words, 1.0), (parts, PARTS_WEIGHT)):
        for rated in ranked:
            age = (newest_ms - rated.updated_ms) / RECENCY_HALF_LIFE_MS
            factor = weight * (1 + RECENCY_WEIGHT * 0.5**age)
            scores[rated.sequence] = scores.get(rated.sequence, 0.0) + factor * rated.score
    return sorted(scores, key=lambda sequence: (-scores[sequence], sequence))


def _spelled_alike(terms: Sequence[str], candidates: Sequence[Memory]) -> set[int]:
    """Return those candidates that hold a word spelled much like a term, or with it inside."""
    wanted = [(term, trigrams(term)) for term in terms]
    return {memory.sequence for memory in candidates if _holds_a_like_word(memory, wanted)}


def _holds_a_like_word(memory: Memory, wanted: Sequence[tuple[str, frozenset[str]]]) -> bool:
    for word in words_of(f"{memory.content} {memory.summary}"[:FUZZY_TEXT_CHARACTERS]):
        of_word = trigrams(word)
        for term, of_term in wanted:
            shared = len(of_term & of_word) / max(len(of_term), len(of_word))
            if term in word or shared > FUZZY_SIMILARITY:
                return True
    return False
