"""What a new memory is most like in its room, among those that its caller may see.

``additions`` asks inside the transaction of an addition, so that two that are told at once know of
each other. One lookup of the words that the text begins with: of each the newest memories that hold
it, however many do, so that an addition costs the same in a large memory. How much a word tells is
counted among what the caller may see. Alike is no certainty: only ``plain_change`` decides that one
memory takes the place of another.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
import json
from math import log
from typing import Final

import aiosqlite

from . import memories
from .change_words import CHANGE_WORDS, without_unspaced_change
from .fulltext import query_phrases, quoted
from .models import Caller, Filters, Memory, NewMemory, Status
from .plain_change import changes_a_code
from .visibility import SqlValue, visible_to

READ_CHARACTERS: Final = 500
FIRST_PHRASES: Final = 24
PHRASES: Final = 12
"""How many words are looked up: the longest of the first ones, as long words are the rarer."""
NEWEST_OF_A_WORD: Final = 32
"""How many that hold a word are looked at, of those that the caller may see."""
HELD_BY_ANYBODY: Final = 1_000
"""Among how many that hold a word they are looked for: so many that others' hardly ever matter."""
CANDIDATES: Final = 16
"""How many of those that share most are compared, as far as they are in the same room."""

# Chosen by ``benchmarks.near_duplicates``; changing them without a run of it is guessing.
LEAST_SIMILARITY: Final = 0.15
"""The share of what two texts tell that both tell."""
LEAST_SHARED: Final = 6.0
"""What they share at least: two rare words, or more that are met often."""
NEARLY_THE_SAME: Final = 0.6
"""Where that much is shared, no word has to be rare."""

_HOLDING: Final = """
    SELECT (
        SELECT json_group_array(sequence) FROM (
            SELECT m.sequence FROM (
                SELECT rowid AS sequence FROM memory_words
                WHERE memory_words MATCH '{content} : ' || phrase.value
                ORDER BY rowid DESC LIMIT :held
            ) held CROSS JOIN memories m ON m.sequence = held.sequence
            WHERE %s LIMIT :newest
        )
    )
    FROM json_each(:phrases) phrase ORDER BY phrase.key
"""


@dataclass(frozen=True, slots=True)
class Similar:
    """The nearest memory, and whether the new one tells what has become of it."""

    memory: Memory
    replaced: bool


async def nearest(
    connection: aiosqlite.Connection, caller: Caller, new: NewMemory, values: dict[str, SqlValue]
) -> Similar | None:
    """Return the visible memory in its room that a new one is most like, None where none is alike.

    The new one is cleaned; ``values`` are those that are about to be stored.
    """
    phrases = _looked_up(new.content)
    clause = visible_to(caller, Filters())
    rows = await connection.execute_fetchall(
        _HOLDING % clause.sql,
        clause.parameters
        | {
            "phrases": json.dumps([quoted(phrase) for phrase in phrases]),
            "newest": NEWEST_OF_A_WORD,
            "held": HELD_BY_ANYBODY,
        },
    )
    told = _Told.of(phrases, [row[0] for row in rows])
    chosen = told.best(CANDIDATES)
    if not chosen:
        return None
    here = visible_to(caller, Filters(wing=new.wing, room=new.room))
    found = await memories.by_sequences(connection, here, chosen)
    replaced = [one for one in found.values() if _replaces(new, values, one)]
    if len(replaced) == 1:
        return Similar(replaced[0], replaced=True)
    alike = [one for one in found.values() if told.alike(one)]
    if not alike:
        return None
    best = max(alike, key=lambda one: (told.similarity(one), one.sequence))
    return Similar(best, replaced=False)


@dataclass(frozen=True, slots=True)
class _Told:
    """How much each phrase of a text tells, and what each memory shares of that."""

    weights: dict[str, float]
    shared: dict[int, float]

    @classmethod
    def of(cls, phrases: Sequence[str], arrays: Sequence[str]) -> "_Told":
        weights: dict[str, float] = {}
        shared: defaultdict[int, float] = defaultdict(float)
        for phrase, array in zip(phrases, arrays, strict=True):
            holding = json.loads(array)
            count = len(holding)
            weight = log(1 + (NEWEST_OF_A_WORD - count + 0.5) / (count + 0.5))
            weights[phrase] = weight
            for sequence in holding:
                shared[sequence] += weight
        return cls(weights, dict(shared))

    def best(self, limit: int) -> list[int]:
        """Return those that share most, the newest where they are level."""
        ranked = sorted(self.shared, key=lambda one: (self.shared[one], one), reverse=True)
        return ranked[:limit]

    def alike(self, memory: Memory) -> bool:
        """Return whether both tell enough of the same."""
        enough = self.shared[memory.sequence] >= LEAST_SHARED
        return self.similarity(memory) >= (LEAST_SIMILARITY if enough else NEARLY_THE_SAME)

    def similarity(self, memory: Memory) -> float:
        """Return the share of what both tell that both tell."""
        mean = sum(self.weights.values()) / len(self.weights)
        own = _looked_up(memory.content)
        # A word of the other alone was not counted: it tells what one tells on average.
        others = sum(phrase not in self.weights for phrase in own) * mean
        return self.shared[memory.sequence] / (sum(self.weights.values()) + others)


def _looked_up(content: str) -> list[str]:
    told = query_phrases(without_unspaced_change(content[:READ_CHARACTERS]))
    first = [phrase for phrase in told if phrase not in CHANGE_WORDS] or told
    first = first[:FIRST_PHRASES]
    # A number is what is told, not what it is told of, and "now" is neither.
    words = [phrase for phrase in first if not any(map(str.isdigit, phrase))] or first
    return sorted(words, key=len, reverse=True)[:PHRASES]


def _replaces(new: NewMemory, values: dict[str, SqlValue], old: Memory) -> bool:
    """Return whether the new memory is certainly what the old one has become.

    It is of the same place, owner, scope and type, as sure, and neither is for a time only.
    """
    same = (old.wing, old.room, old.scope, old.owner_agent, old.owner_user, old.type) == (
        new.wing,
        new.room,
        *(values[name] for name in ("scope", "owner_agent", "owner_user", "type")),
    )
    lasting = old.expires is None and new.expires is None and new.confidence >= old.confidence
    if not same or not lasting or new.status is not Status.ACTIVE:
        return False
    return changes_a_code(old.content, new.content, speaker_known=old.owner_user is not None)
