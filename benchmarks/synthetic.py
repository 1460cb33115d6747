"""Texts that look like the memories of a home, and an engine that costs next to nothing.

Everything follows from the seed and the size, so every run measures the same. About ten memories
share a subject, so that a question about it has several answers, as in a grown memory; how often
words occur is as uneven as in a language: some in every text, most in few.
"""

from collections.abc import Sequence
from hashlib import blake2b
import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .core import FloatMatrix, RankingProfile, TextKind, ranking_of

MEMORIES_A_SUBJECT: Final = 10
LONG_EVERY: Final = 10
"""One memory in so many has three sentences instead of one."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_PEOPLE: Final = _words(
    "Anna Ben Clara David Emma Felix Grace Henry Ida Jonas Karla Leo Mia Noah Olga Paul"
)
_VERBS: Final = _words(
    "moved repaired bought prefers cleaned borrowed labelled replaced checked wants painted"
    " ordered forgot locked opened tested"
)
_ADJECTIVES: Final = _words(
    "blue green white black small large heavy broken spare wooden metal old new quiet bright warm"
    " cold round narrow electric folding hidden"
)
_THINGS: Final = _words(
    "lamp ladder router heater kettle drill blanket camera bicycle thermostat speaker keyboard"
    " mirror shelf curtain battery cable toolbox printer vacuum radiator doorbell freezer oven"
    " medicine passport charger umbrella backpack guitar telescope tent hose bucket mower grill"
    " fan clock scale toaster mixer suitcase notebook fuse valve sensor switch socket filter pump"
)
_PLACES: Final = _words(
    "kitchen bathroom bedroom hallway cellar attic garage garden balcony office nursery pantry"
    " shed laundry terrace workshop stairwell cupboard drawer basement porch guestroom closet"
)
_BESIDE: Final = _words("near behind under beside above below opposite before")
_PLACED: Final = (
    ("household", "devices"),
    ("household", "maintenance"),
    ("household", "events"),
    ("personal", "preferences"),
    ("personal", "health"),
    ("automation", "routines"),
    ("general", "general"),
)
FILTERED_PLACE: Final = _PLACED[0]

_SYLLABLES: Final = _words(
    "ba be di do fa fe gi go ha jo ka ke la li lo ma mi mu na ne ni pa po ra re ri ro sa se si"
    " ta te ti to va ve vi za zo zu"
)
_FILLER_WORDS: Final = 4_000
_FILLERS: Final = 4
_SENTENCES: Final = 3


class Household:
    """Numbered memories and questions about them."""

    def __init__(self, seed: int, count: int) -> None:
        """Make room for memories 0 to ``count`` - 1."""
        generator = np.random.default_rng(seed)
        self._subjects = generator.integers(0, 2**31, (count // MEMORIES_A_SUBJECT + 1, 5))
        self._choices = generator.integers(0, 2**31, (count, 4))
        # A Zipf distribution: the word of rank r is met about 1 / r as often as the first.
        parts = generator.random((count, _SENTENCES * _FILLERS))
        self._fillers = (_FILLER_WORDS**parts).astype(np.int64)

    def content(self, number: int) -> str:
        """Return the text of a memory."""
        adjective, thing, place, first, last = self._subject(number)
        person, verb, day, _ = self._choices[number].tolist()
        fillers = [_pseudo_word(rank, 3) for rank in self._fillers[number].tolist()]
        told = (
            f"{_of(_PEOPLE, person)} {_of(_VERBS, verb)} the {adjective} {thing} in the {place}"
            f" {_of(_BESIDE, day)} {first} {last}, {' '.join(fillers[:_FILLERS])}, note {number}."
        )
        if number % LONG_EVERY:
            return told
        return (
            f"{told} It was on day {day % 31 + 1} and {' '.join(fillers[_FILLERS:-_FILLERS])}."
            f" Ask {_of(_PEOPLE, verb)} about {' '.join(fillers[-_FILLERS:])}."
        )

    def summary(self, number: int) -> str:
        """Return the summary of a memory; every second one has one."""
        _, thing, place, *_ = self._subject(number)
        return f"{thing} in the {place}" if number % 2 else ""

    def place(self, number: int) -> tuple[str, str]:
        """Return wing and room of a memory."""
        return _PLACED[int(self._choices[number, 3]) % len(_PLACED)]

    def question(self, number: int) -> str:
        """Ask for what a memory is about, in its own words: meaning answers."""
        adjective, thing, place, first, last = self._subject(number)
        return f"the {adjective} {thing} in the {place} of {first} {last}"

    def rare_words(self, number: int) -> str:
        """Ask by two words that are in few texts: too short for meaning, words answer."""
        return " ".join(self._subject(number)[3:])

    def common_words(self, number: int) -> str:
        """Ask by words that are in very many texts, the hardest thing to rank by words."""
        _, thing, place, *_ = self._subject(number)
        return f"where did {_of(_PEOPLE, number)} leave a {thing} for the {place}?"

    def misspelled(self, number: int) -> str:
        """Ask by a rare word that lacks a letter: only parts of words answer."""
        word = self._subject(number)[4]
        return word[:4] + word[5:]

    @staticmethod
    def nonsense(number: int) -> str:
        """Ask for what no text has, not even in part."""
        return f"qwxq{'ycq' * (number % 3 + 1)} wyqx"

    def _subject(self, number: int) -> tuple[str, str, str, str, str]:
        adjective, thing, place, first, last = self._subjects[number // MEMORIES_A_SUBJECT].tolist()
        return (
            _of(_ADJECTIVES, adjective),
            _of(_THINGS, thing),
            _of(_PLACES, place),
            _pseudo_word(first, 4),
            _pseudo_word(last, 4),
        )


def _of(words: Sequence[str], number: int) -> str:
    return words[number % len(words)]


def _pseudo_word(number: int, syllables: int) -> str:
    """Write a number in syllables, as many as given."""
    word = ""
    for _ in range(syllables):
        number, syllable = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[syllable]
    return word


class ProjectionEngine:
    """Turns texts into vectors of any dimension in well under a millisecond.

    Each word stands for a few random directions and a text for the sum of those of its words, so
    that texts are the more alike the more words they share. It stands in for a language model:
    what remains to be measured is the memory itself, not an encoder.
    """

    _BATCH_TEXTS: Final = 1024
    _DIRECTIONS: Final = 1024
    _DIRECTIONS_A_WORD: Final = 4
    _WORD: Final = re.compile(r"\w+")

    def __init__(self, dimensions: int, seed: int) -> None:
        """Draw the directions."""
        generator = np.random.default_rng(seed)
        self._directions = generator.standard_normal((self._DIRECTIONS, dimensions), np.float32)
        self._fingerprint = f"projection/{dimensions}/{seed}"

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "projection"

    @property
    def fingerprint(self) -> str:
        """Dimensions and seed decide the vectors."""
        return self._fingerprint

    @property
    def local(self) -> bool:
        """Needs nothing and hardly any time."""
        return True

    @property
    def document_count(self) -> None:
        """Keeps no statistics."""
        return

    @property
    def batch_size(self) -> int:
        """As many texts at once as one transaction of the benchmark may hold."""
        return self._BATCH_TEXTS

    @property
    def ranking(self) -> RankingProfile:
        """Return the profile of a sentence encoder, for which it stands in."""
        return ranking_of("")

    def remember(self, fingerprints: Sequence[str]) -> None:
        """Have one revision for ever."""

    async def probe(self) -> None:
        """Be there."""

    async def start(self) -> None:
        """Need nothing."""

    async def stop(self) -> None:
        """Leave nothing."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Return one row per text, the same for questions and documents."""
        return np.stack([self.vector(text) for text in texts])

    async def observe(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """Learn nothing."""

    async def reset(self, documents: Sequence[str]) -> None:
        """Learn nothing."""

    def vector(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a text, zero where there are no words."""
        hashes = b"".join(
            blake2b(word.encode(), digest_size=2 * self._DIRECTIONS_A_WORD).digest()
            for word in dict.fromkeys(self._WORD.findall(text.lower()))
        )
        drawn = np.frombuffer(hashes, "<u2")
        signs = np.where(drawn & 1, np.float32(1), np.float32(-1))
        total: NDArray[np.float32] = signs @ self._directions[(drawn >> 1) % self._DIRECTIONS]
        return total / (np.linalg.norm(total) or np.float32(1))
