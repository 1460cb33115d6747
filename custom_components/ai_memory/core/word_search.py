"""Finding memories by words: whole ones, and parts of them where whole ones find too little.

``MemorySearch`` asks with the set of memories that the caller may see; how rare a word is, is
counted among these alone. Matches are weighed by BM25 (Robertson and Zaragoza, 2009) with each word
counted once a column. Parts of words refine the order, so that inflected and joined words count.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from . import memories, postings
from .database import Database
from .fulltext import (
    fuzzy_terms,
    grams_of,
    halves,
    query_phrases,
    trigrams,
    with_umlauts,
    words_of,
)
from .memories import Text
from .postings import Postings
from .text_folding import fold
from .vector_index import Sequences
from .visible_set import VisibleSet

# Chosen by ``benchmarks.retrieval``; changing them without a run of it is guessing.
SATURATION: Final = 0.9
"""BM25's k1: how soon a word that counts much stops to count more."""
LENGTH_WEIGHT: Final = 0.3
"""BM25's b: how much a long text has to hold more."""
PARTS_WEIGHT: Final = 0.1
"""What a part of a word counts beside the whole."""
CANDIDATES: Final = 32
"""How many memories are weighed exactly: those that hold the rarest words, newer ones first."""

FEW_MEMORIES: Final = 3
"""A word that fewer memories hold whole is also looked for in parts."""
FUZZY_TEXT_CHARACTERS: Final = 2_000
FUZZY_SIMILARITY: Final = 0.5
INLINE_COMPARISONS: Final = 100_000
"""Characters to look through times words to look for, which take about a millisecond."""
INLINE_CHARACTERS: Final = 1 << 15
"""Postings up to this size take less time than the way to a worker thread and back."""


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A memory that shares words with a query.

    ``coverage`` is the share of what the query asks for that it holds, rare words counting more: 1
    for all of it in a text of usual length. ``words`` are those it holds whole.
    """

    sequence: int
    coverage: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Term:
    """A phrase of the query, where it is, and how much it tells: its inverse document frequency."""

    held: Postings
    telling: float


class WordSearch:
    """Search by words over one database."""

    def __init__(self, database: Database) -> None:
        """Keep what is searched."""
        self._database = database

    async def best(self, query: str, visible: VisibleSet, limit: int) -> list[WordMatch]:
        """Return up to ``limit`` visible memories, best first. Raises StorageError."""
        if not (phrases := query_phrases(query)):
            return []
        async with self._database.reading() as connection:
            arrays = await postings.of_words(connection, phrases)
        read = await _aside(arrays, _weighed, postings.read_words, phrases, arrays, visible)
        terms = _one_spelling(read)
        known = {term.held.phrase for term in terms if len(term.held.sequences) >= FEW_MEMORIES}
        wanted = {term.held.phrase for term in terms}
        spelled = [term for term in fuzzy_terms(query) if term in wanted]
        unknown = [term for term in spelled if term not in known]
        parts = await self._parts(unknown, visible)
        chosen = await _aside(arrays, _candidates, terms, parts, max(limit, CANDIDATES))
        if not len(chosen):
            return []
        async with self._database.reading() as connection:
            texts = await memories.texts(connection, chosen.tolist())
        if not texts:
            return []
        question = _Question(terms, spelled, unknown)
        characters = sum(len(text.content) + len(text.summary) for text in texts)
        if not unknown and characters * len(spelled) <= INLINE_COMPARISONS:
            return question.best(texts, limit)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, question.best, texts, limit)

    async def _parts(self, unknown: Sequence[str], visible: VisibleSet) -> list[_Term]:
        """Return where parts are of the words that hardly any visible memory holds."""
        if not unknown:
            return []
        parts = list(dict.fromkeys(part for term in unknown for part in halves(term)))
        async with self._database.reading() as connection:
            arrays = await postings.of_parts(connection, parts)
        return await _aside(arrays, _weighed, postings.read_parts, parts, arrays, visible)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is known of a query once its words were looked up."""

    terms: Sequence[_Term]
    spelled: Sequence[str]
    unknown: Sequence[str]

    def best(self, texts: Sequence[Text], limit: int) -> list[WordMatch]:
        """Weigh the candidates exactly; returns the best first."""
        sequences = np.array([text.sequence for text in texts], np.int64)
        weights = np.stack([term.held.weights_in(sequences) for term in self.terms])
        telling = np.array([[term.telling] for term in self.terms], np.float32)
        lengths = np.array(
            [len(text.content) + len(text.summary) + 1 for text in texts], np.float32
        )
        folded = [fold(f"{text.content[:FUZZY_TEXT_CHARACTERS]} {text.summary}") for text in texts]
        length = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / lengths.mean())
        whole = (telling * weights * (SATURATION + 1) / (weights + length)).sum(axis=0)
        held = self._parts_held(folded) * (SATURATION + 1) / (1 + length)
        covered = (whole + PARTS_WEIGHT * held) / telling.sum()
        unknown = [(term, trigrams(term)) for term in self.unknown]
        for at, text in enumerate(folded):
            if not whole[at] and not self._spelled_alike(text, unknown):
                covered[at] = 0
        order = np.lexsort((sequences, -covered))[:limit]
        return [
            WordMatch(
                int(sequences[at]),
                float(covered[at]),
                tuple(
                    term.held.phrase
                    for term, weight in zip(self.terms, weights[:, at], strict=True)
                    if weight
                ),
            )
            for at in order
            if covered[at] > 0
        ]

    def _parts_held(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how much the trigrams tell that each text holds of the query's words."""
        telling = {term.held.phrase: term.telling for term in self.terms}
        grams: dict[str, float] = {}
        for word in self.spelled:
            for gram in grams_of(word):
                grams[gram] = min(telling.get(word, 0.0), grams.get(gram, telling.get(word, 0.0)))
        parts, tells = list(grams), np.array(list(grams.values()), np.float32)
        held = np.array([[part in text for part in parts] for text in texts], np.float32)
        return held @ tells

    @staticmethod
    def _spelled_alike(text: str, unknown: Sequence[tuple[str, frozenset[str]]]) -> bool:
        """Return whether a word is spelled much like one that is nowhere, or holds it."""
        for word in words_of(text):
            of_word = trigrams(word)
            for term, of_term in unknown:
                shared = len(of_term & of_word) / max(len(of_term), len(of_word))
                if term in word or shared > FUZZY_SIMILARITY:
                    return True
        return False


type _Reader = Callable[[Sequence[str], Sequence[str], VisibleSet], list[Postings]]


def _weighed(
    read: _Reader, phrases: Sequence[str], arrays: Sequence[str], visible: VisibleSet
) -> list[_Term]:
    memories_seen = len(visible)
    terms = []
    for held in read(phrases, arrays, visible):
        holding = len(held.sequences)
        terms.append(_Term(held, log(1 + (memories_seen - holding + 0.5) / (holding + 0.5))))
    return terms


def _one_spelling(terms: Sequence[_Term]) -> list[_Term]:
    """Return the terms without those that are another one, spelled with or without umlauts."""
    held = {term.held.phrase: len(term.held.sequences) for term in terms}
    dropped = set()
    for word, memories_held in held.items():
        if (other := with_umlauts(word)) == word or other not in held:
            continue
        if not held[other]:
            dropped.add(other)
        elif not memories_held:
            dropped.add(word)
    return [term for term in terms if term.held.phrase not in dropped]


def _candidates(terms: Sequence[_Term], parts: Sequence[_Term], limit: int) -> Sequences:
    """Return the memories that hold most of what tells, the newest where they are level."""
    highest = max(
        (int(term.held.sequences[-1]) for term in (*terms, *parts) if len(term.held.sequences)),
        default=-1,
    )
    sums = np.zeros(highest + 1, np.float32)
    for term in terms:
        sums[term.held.sequences] += term.telling * np.minimum(term.held.weights, 1)
    for part in parts:
        grams = len(grams_of(part.held.phrase))
        sums[part.held.sequences] += PARTS_WEIGHT * grams * part.telling
    found = np.flatnonzero(sums)
    if len(found) <= limit:
        return found
    reached = sums[found]
    least = np.partition(reached, -limit)[-limit]
    above = found[reached > least]
    return np.concatenate([above, found[reached == least][len(above) - limit :]])


async def _aside[**P, R](
    arrays: Sequence[str], work: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Do what takes the longer the more postings there are, off the event loop where it is much."""
    if sum(map(len, arrays)) <= INLINE_CHARACTERS:
        return work(*args, **kwargs)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: work(*args, **kwargs))
