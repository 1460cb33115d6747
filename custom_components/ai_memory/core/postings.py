"""Which memories hold a phrase, as the full-text tables know it.

Word search asks for the sequences alone and weighs them itself: full text would score every match,
those that the caller may not see among them, and take fifty times as long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import json
import sqlite3
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .fulltext import quoted
from .number_lists import numbers_of
from .vector_index import Sequences
from .visible_set import VisibleSet

COLUMN_WEIGHTS: Final = {"content": 1.0, "summary": 0.5}
"""How much a word counts in the text itself, and in its summary or the name of its place."""

_WORDS: Final = """
    SELECT (
        SELECT json_group_array(rowid) FROM memory_words
        WHERE memory_words MATCH '{' || part.value || '} : ' || phrase.value
    )
    FROM json_each(:phrases) phrase, json_each(:columns) part
    ORDER BY phrase.key, part.key
"""
_WORDS_AND_PLACES: Final = """
    SELECT iif(part.value = 'summary',
        (
            SELECT json_group_array(held) FROM (
                SELECT rowid AS held FROM memory_words
                WHERE memory_words MATCH '{summary} : ' || phrase.value
                UNION
                SELECT m.sequence FROM place_words p JOIN memories m ON m.room_id = p.rowid
                WHERE place_words MATCH phrase.value
                ORDER BY held
            )
        ),
        (
            SELECT json_group_array(rowid) FROM memory_words
            WHERE memory_words MATCH '{' || part.value || '} : ' || phrase.value
        )
    )
    FROM json_each(:phrases) phrase, json_each(:columns) part
    ORDER BY phrase.key, part.key
"""
_A_PLACE_OF_WORDS: Final = "SELECT 1 FROM place_words WHERE place_words MATCH :any LIMIT 1"
_PARTS: Final = """
    SELECT (
        SELECT json_group_array(rowid) FROM memory_trigrams
        WHERE memory_trigrams MATCH '{content summary} : ' || phrase.value
    )
    FROM json_each(:phrases) phrase ORDER BY phrase.key
"""


@dataclass(frozen=True, slots=True)
class Postings:
    """The visible memories that hold a phrase, ascending, and how much it counts in each."""

    phrase: str
    sequences: Sequences
    weights: NDArray[np.float32]

    def weights_in(self, sequences: Sequences) -> NDArray[np.float32]:
        """Return how much the phrase counts in each of these memories, 0 where it is not."""
        if not len(self.sequences):
            return np.zeros(len(sequences), np.float32)
        at = np.searchsorted(self.sequences, sequences).clip(max=len(self.sequences) - 1)
        found: NDArray[np.float32] = np.where(
            self.sequences[at] == sequences, self.weights[at], np.float32(0)
        )
        return found


def of_words(connection: sqlite3.Connection, phrases: Sequence[str]) -> list[str]:
    """Return JSON arrays of sequences: for each phrase one a column.

    The words of a place count like those of a summary, for every memory that lies there.
    """
    words = [quoted(phrase) for phrase in phrases]
    parameters = {
        "phrases": json.dumps(words),
        "columns": json.dumps(list(COLUMN_WEIGHTS)),
        "any": " OR ".join(words),
    }
    named = connection.execute(_A_PLACE_OF_WORDS, parameters).fetchone()
    asked = _WORDS_AND_PLACES if named else _WORDS
    return [row[0] for row in connection.execute(asked, parameters).fetchall()]


def of_parts(connection: sqlite3.Connection, parts: Sequence[str]) -> list[str]:
    """Return JSON arrays of sequences: one for each part of a word, whole words included."""
    parameters = {"phrases": json.dumps([quoted(part) for part in parts])}
    return [row[0] for row in connection.execute(_PARTS, parameters).fetchall()]


def read_words(
    phrases: Sequence[str], arrays: Sequence[str], visible: VisibleSet
) -> list[Postings]:
    """Return what ``of_words`` told of the memories in the set."""
    width = len(COLUMN_WEIGHTS)
    weights = tuple(COLUMN_WEIGHTS.values())
    return [
        _read(phrase, arrays[at * width : (at + 1) * width], weights, visible)
        for at, phrase in enumerate(phrases)
    ]


def read_parts(parts: Sequence[str], arrays: Sequence[str], visible: VisibleSet) -> list[Postings]:
    """Return what ``of_parts`` told of the memories in the set."""
    return [
        _read(part, [array], (1.0,), visible) for part, array in zip(parts, arrays, strict=True)
    ]


def _read(
    phrase: str, arrays: Sequence[str], weights: Sequence[float], visible: VisibleSet
) -> Postings:
    columns = [(numbers_of(array), weight) for array, weight in zip(arrays, weights, strict=True)]
    held = [(sequences, weight) for sequences, weight in columns if len(sequences)]
    if len(held) == 1:
        sequences, weight = held[0]
        seen = sequences[visible.mask(sequences)]
        return Postings(phrase, seen, np.full(len(seen), weight, np.float32))
    every = np.concatenate([sequences for sequences, _ in held]) if held else numbers_of("[]")
    of_each = np.repeat([weight for _, weight in held], [len(found) for found, _ in held])
    kept = np.flatnonzero(visible.mask(every))
    if not len(kept):
        return Postings(phrase, every[:0], np.zeros(0, np.float32))
    # Each column is in order by itself, which makes this a merge.
    kept = kept[np.argsort(every[kept], kind="stable")]
    starts = np.flatnonzero(np.diff(every[kept], prepend=-1))
    summed = np.add.reduceat(of_each[kept], starts).astype(np.float32)
    return Postings(phrase, every[kept][starts], summed)
