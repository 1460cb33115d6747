"""Finding memories by words: whole ones, and parts of them where whole ones find too little.

``MemorySearch`` asks in the thread of the reader, with the set of memories that the caller may see;
how rare a word is, is counted among these alone. Matches are weighed by BM25 (Robertson and
Zaragoza, 2009) with each word counted once a column. Parts of words refine the order, so that
inflected and joined words count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from math import log
import sqlite3
from typing import Final

import numpy as np
from numpy.typing import NDArray

from . import postings
from .fulltext import (
    fuzzy_terms,
    grams_of,
    halves,
    query_phrases,
    trigrams,
    with_umlauts,
    words_of,
)
from .postings import Postings
from .search_reads import Text, texts_of
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

ANSWERED_COVERAGE: Final = 0.5
"""Where nothing holds that much of a query's words, it may be the archive that answers it."""

FEW_MEMORIES: Final = 3
"""A word that fewer memories hold whole is also looked for in parts."""
FUZZY_TEXT_CHARACTERS: Final = 2_000
FUZZY_SIMILARITY: Final = 0.5
SWAPPED_CHARACTERS: Final = 5
"""In a shorter word swapped letters make another word."""


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A memory that shares words with a query.

    ``coverage`` is the share of what the query asks for that it holds, rare words counting more: 1
    for all of it in a text of usual length. ``words`` are those it holds whole.
    """

    sequence: int
    coverage: float
    words: tuple[str, ...]

    @property
    def answers(self) -> bool:
        """Whether the memory holds enough of the words that were asked for, as they are."""
        return bool(self.words) and self.coverage >= ANSWERED_COVERAGE


@dataclass(frozen=True, slots=True)
class _Term:
    """A phrase of the query, where it is, and how much it tells: its inverse document frequency."""

    held: Postings
    telling: float


def best_by_words(
    connection: sqlite3.Connection,
    query: str,
    visible: VisibleSet,
    limit: int,
    every: VisibleSet | None = None,
) -> list[WordMatch]:
    """Return up to ``limit`` visible memories, best first; blocking.

    Where none of them answers the query, they are followed by the best of what else is in
    ``every``: those that hold words as they are, or also those that are spelled alike where none
    of the visible ones is.
    """
    if not (phrases := query_phrases(query)):
        return []
    asked = _LookedUp(connection, phrases, fuzzy_terms(query))
    found = asked.best(visible, limit)
    if every is None or any(match.answers for match in found):
        return found
    spelled_alike = any(not match.words for match in found)
    further = asked.best(every, limit, without=visible)
    return found + [match for match in further if match.words or not spelled_alike]


class _LookedUp:
    """A query whose words are looked up once, whoever's memories are then asked for them."""

    def __init__(
        self, connection: sqlite3.Connection, phrases: Sequence[str], spelled: Sequence[str]
    ) -> None:
        """Look up the phrases; ``spelled`` are the words that parts may stand for."""
        self._connection = connection
        self._phrases = phrases
        self._spelled = spelled
        self._arrays = postings.of_words(connection, phrases)
        self._part_arrays: dict[str, str] = {}

    def best(
        self, visible: VisibleSet, limit: int, without: VisibleSet | None = None
    ) -> list[WordMatch]:
        """Return up to ``limit`` visible memories that are not in ``without``, best first."""
        held = postings.read_words(self._phrases, self._arrays, visible)
        terms = _one_spelling(_weighed(held, visible))
        known = {term.held.phrase for term in terms if len(term.held.sequences) >= FEW_MEMORIES}
        wanted = {term.held.phrase for term in terms}
        spelled = [term for term in self._spelled if term in wanted]
        unknown = [term for term in spelled if term not in known]
        parts = self._parts(unknown, visible)
        chosen = _candidates(terms, parts, max(limit, CANDIDATES), without)
        texts = texts_of(self._connection, chosen.tolist()) if len(chosen) else []
        return _Question(terms, spelled, unknown).best(texts, limit) if texts else []

    def _parts(self, unknown: Sequence[str], visible: VisibleSet) -> list[_Term]:
        """Return where parts are of the words that hardly any visible memory holds."""
        parts = list(dict.fromkeys(part for term in unknown for part in halves(term)))
        if new := [part for part in parts if part not in self._part_arrays]:
            self._part_arrays |= zip(new, postings.of_parts(self._connection, new), strict=True)
        arrays = [self._part_arrays[part] for part in parts]
        return _weighed(postings.read_parts(parts, arrays, visible), visible)


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
        spelled_alike = self._spelling()
        for at, text in enumerate(folded):
            if not whole[at] and not any(map(spelled_alike, words_of(text))):
                covered[at] = 0
        order = np.lexsort((sequences, -covered))[:limit]
        phrases = [term.held.phrase for term in self.terms]
        best = zip(order, covered[order].tolist(), weights.T[order].tolist(), strict=True)
        return [
            WordMatch(texts[at].sequence, coverage, tuple(compress(phrases, held)))
            for at, coverage, held in best
            if coverage > 0
        ]

    def _parts_held(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how much the trigrams tell that each text holds of the query's words."""
        telling = {term.held.phrase: term.telling for term in self.terms}
        grams: dict[str, float] = {}
        for word in self.spelled:
            for gram in grams_of(word):
                grams[gram] = min(telling.get(word, 0.0), grams.get(gram, telling.get(word, 0.0)))
        parts, tells = list(grams), np.array(list(grams.values()), np.float32)
        there = np.array([part in text for text in texts for part in parts], np.bool_)
        return there.reshape(len(texts), len(parts)).astype(np.float32) @ tells

    def _spelling(self) -> Callable[[str], bool]:
        """Return what tells whether a word is spelled much like one that is nowhere, or holds it.

        It tells of each word once: texts share many.
        """
        unknown = [(term, trigrams(term)) for term in self.unknown]

        @cache
        def alike(word: str) -> bool:
            of_word = trigrams(word)
            return any(
                term in word
                or _swapped(term, word)
                or len(of_term & of_word) > FUZZY_SIMILARITY * max(len(of_term), len(of_word))
                for term, of_term in unknown
            )

        return alike


def _swapped(one: str, other: str) -> bool:
    """Return whether two letters that stand together changed places."""
    if len(one) != len(other) or len(one) < SWAPPED_CHARACTERS or one == other:
        return False
    at = next(at for at in range(len(one)) if one[at] != other[at])
    return one[at:] == other[at : at + 2][::-1] + other[at + 2 :]


def _weighed(read: Sequence[Postings], visible: VisibleSet) -> list[_Term]:
    memories_seen = len(visible)
    terms = []
    for held in read:
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


def _candidates(
    terms: Sequence[_Term], parts: Sequence[_Term], limit: int, without: VisibleSet | None
) -> Sequences:
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
    if without is not None:
        found = found[~without.mask(found)]
    if len(found) <= limit:
        return found
    reached = sums[found]
    least = np.partition(reached, -limit)[-limit]
    above = found[reached > least]
    return np.concatenate([above, found[reached == least][len(above) - limit :]])
