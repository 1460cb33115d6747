"""Finding rooms that keep sharing the same things: a tunnel to propose, never one to open.

``places`` asks once a day. Only common memories are read, so that a proposal tells nothing that not
everybody may know, and only the newest, a few at a time and aside from the event loop. Two rooms
belong together when each speaks again and again of the same entity, person or rare word, and hardly
any other room does.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
import re
from typing import Final

from .database import Database
from .fulltext import words_of
from .function_words import FUNCTION_WORDS
from .text_folding import fold

MEMORIES_READ: Final = 20_000
READ_AT_ONCE: Final = 200
CHARACTERS_READ: Final = 2_000
TERMS_A_MEMORY: Final = 60
TERM_CHARACTERS: Final = 4
TELLINGS: Final = 2
"""In how many memories a room has to speak of something."""
ROOMS_AT_MOST: Final = 3
"""What more rooms speak of joins none of them."""
ENOUGH: Final = 3
"""What two rooms have to share: one entity, a person and a rare word, or three rare words."""
PROPOSED_AT_MOST: Final = 10
"""How many proposals wait at a time for somebody to decide."""
TERMS_TOLD: Final = 5

_ENTITY_WEIGHT: Final = 3
_PERSON_WEIGHT: Final = 2
_WORD_WEIGHT: Final = 1

_DOMAINS: Final = (
    "alarm_control_panel|automation|binary_sensor|button|calendar|camera|climate|cover|"
    "device_tracker|event|fan|group|humidifier|input_\\w+|lawn_mower|light|lock|media_player|"
    "number|person|plant|remote|scene|script|select|sensor|siren|sun|switch|timer|todo|update|"
    "vacuum|valve|water_heater|weather|zone"
)
_ENTITY: Final = re.compile(rf"(?<![\w.])(?:{_DOMAINS})\.[a-z0-9_]+(?![\w.]*\w)")

_NEWEST: Final = """
    SELECT m.sequence, m.room_id, substr(m.content, 1, :characters), m.summary FROM memories m
    WHERE m.sequence < :before AND m.scope = 'common' AND m.status = 'active'
    ORDER BY m.sequence DESC LIMIT :limit
"""
_HALVES: Final = "SELECT r.id, w.workshop FROM rooms r JOIN wings w ON w.id = r.wing_id"

type _Text = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two rooms by row, and what both keep speaking of."""

    rooms: tuple[int, int]
    reason: str
    weight: int


@dataclass(frozen=True, slots=True)
class _Told:
    """How many memories of each room speak of what, and how much it counts."""

    names: frozenset[str]
    rooms: dict[str, Counter[int]] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)

    def read(self, texts: Iterable[_Text]) -> None:
        """Count what some memories speak of."""
        for room, text in texts:
            for term, weight in self._terms(text).items():
                self.rooms.setdefault(term, Counter())[room] += 1
                self.weights[term] = weight

    def _terms(self, text: str) -> dict[str, int]:
        terms = dict.fromkeys(_ENTITY.findall(text), _ENTITY_WEIGHT)
        for word in words_of(_ENTITY.sub(" ", text)):
            if word in self.names:
                terms[word] = _PERSON_WEIGHT
            elif len(word) >= TERM_CHARACTERS and word.isalpha() and word not in FUNCTION_WORDS:
                terms[word] = _WORD_WEIGHT
            if len(terms) >= TERMS_A_MEMORY:
                break
        return terms

    def proposals(self, halves: dict[int, int]) -> list[Proposal]:
        """Return the rooms that belong together, those that share most first."""
        shared: dict[tuple[int, int], list[str]] = {}
        for term, rooms in self.rooms.items():
            if len(rooms) > ROOMS_AT_MOST:
                continue
            often = sorted(room for room, told in rooms.items() if told >= TELLINGS)
            for pair in combinations(often, 2):
                if halves.get(pair[0]) == halves.get(pair[1]):
                    shared.setdefault(pair, []).append(term)
        found = [self._proposal(pair, terms) for pair, terms in shared.items()]
        enough = [one for one in found if one.weight >= ENOUGH]
        return sorted(enough, key=lambda one: (-one.weight, one.rooms))

    def _proposal(self, pair: tuple[int, int], terms: Sequence[str]) -> Proposal:
        ordered = sorted(terms, key=lambda term: (-self.weights[term], term))
        weight = sum(self.weights[term] for term in terms)
        return Proposal(pair, ", ".join(ordered[:TERMS_TOLD]), weight)


async def find(database: Database, names: Sequence[str] = ()) -> list[Proposal]:
    """Return what could be proposed, the strongest first. Raises StorageError."""
    loop = asyncio.get_running_loop()
    told = _Told(frozenset(word for name in names for word in words_of(fold(name))))
    before, read = 1 << 62, 0
    while read < MEMORIES_READ:
        values = {"before": before, "limit": READ_AT_ONCE, "characters": CHARACTERS_READ}
        async with database.reading() as connection:
            rows = list(await connection.execute_fetchall(_NEWEST, values))
        if not rows:
            break
        before, read = rows[-1][0], read + len(rows)
        texts = [(room, f"{content} {summary}") for _, room, content, summary in rows]
        await loop.run_in_executor(None, told.read, texts)
    async with database.reading() as connection:
        sides = await connection.execute_fetchall(_HALVES)
        halves = {int(room): int(half) for room, half in sides}
    return await loop.run_in_executor(None, told.proposals, halves)
