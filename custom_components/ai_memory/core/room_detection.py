"""Guess the room of a memory from its words, and read room names in ten languages.

The memory manager asks here when a caller stores a memory without naming a room, or names a room
or wing in its own language. The keywords are data (``room_vocabulary``); nothing here reads the
database, and a text that betrays no room gets none: the caller decides on the fallback.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
import re
from typing import Final

from .room_vocabulary import ROOM_KEYWORDS, ROOM_NAMES
from .text_folding import fold

# Of two rooms with the same score the one further left wins: first where a wrong guess would
# expose something, then from the telling (a wish, a time) to the incidental (a lamp is mentioned
# in half of all routines).
ROOM_PRIORITY: Final = (
    "secrets",
    "health",
    "preferences",
    "schedules",
    "routines",
    "maintenance",
    "events",
    "devices",
)

_DECISIVE_WEIGHT: Final = 3
_TELLING_WEIGHT: Final = 1

# Letters that no normalisation takes apart, but that people without the key type in plain.
_PLAIN_LETTERS: Final = str.maketrans({"ł": "l", "œ": "oe", "æ": "ae", "ø": "o"})
_NUMBER: Final = re.compile(r"\d+")
_JAPANESE_OR_CHINESE: Final = re.compile(r"[\u3005-\u30ff\u3400-\u9fff]")
# A time of day (after numbers became #), or a run of letters of a script that has word borders.
_TOKEN: Final = re.compile(r"#:#|(?:[^\W_\u3005-\u30ff\u3400-\u9fff]|#)+")
_NAME_SEPARATORS: Final = re.compile(r"[\s_-]+")

type _Weights = dict[str, int]


@dataclass(frozen=True, slots=True)
class _Phrase:
    """An entry of several words; the last of them may be a stem."""

    entry: str
    words: tuple[str, ...]

    def starts_at(self, tokens: list[str], position: int) -> bool:
        """Tell whether the tokens from this position on are this phrase."""
        *exact, last = self.words
        end = position + len(exact)
        if end >= len(tokens) or tokens[position:end] != exact:
            return False
        if last.endswith("*"):
            return tokens[end].startswith(last[:-1])
        return tokens[end] == last


@dataclass(frozen=True, slots=True)
class _Matcher:
    """All keywords, arranged so that a text is read once."""

    weights: Mapping[str, _Weights]
    stem_lengths: tuple[int, ...]
    ending_lengths: tuple[int, ...]
    phrases: Mapping[str, tuple[_Phrase, ...]]
    # Each Chinese or Japanese entry with the longer entries that contain it.
    substrings: tuple[tuple[str, tuple[str, ...]], ...]

    def entries_in(self, text: str) -> set[str]:
        """Find the distinct entries in a plain text."""
        found = set(self._entries_of_words(_TOKEN.findall(text)))
        if _JAPANESE_OR_CHINESE.search(text):
            inside = {entry for entry, _ in self.substrings if entry in text}
            found.update(
                entry
                for entry, longer in self.substrings
                if entry in inside and inside.isdisjoint(longer)
            )
        return found

    def _entries_of_words(self, tokens: list[str]) -> Iterator[str]:
        """Walk over the words; a phrase swallows the words it is made of."""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            phrase = self._phrase_at(tokens, position)
            if phrase is not None:
                position += len(phrase.words)
                yield phrase.entry
                continue
            position += 1
            entry = self._entry_of_word(token)
            if entry is not None:
                yield entry

    def _phrase_at(self, tokens: list[str], position: int) -> _Phrase | None:
        for phrase in self.phrases.get(tokens[position], ()):
            if phrase.starts_at(tokens, position):
                return phrase
        return None

    def _entry_of_word(self, token: str) -> str | None:
        """Find the most specific entry: the word itself, then the longest stem or ending."""
        if token in self.weights:
            return token
        size = len(token)
        for length in self.stem_lengths:
            if length <= size and (entry := token[:length] + "*") in self.weights:
                return entry
        for length in self.ending_lengths:
            if length < size and (entry := "*" + token[-length:]) in self.weights:
                return entry
        return None


def detect_room(text: str, rooms: Collection[str] | None = None) -> str | None:
    """Return the default room whose keywords weigh most in the text, or None.

    ``rooms`` restricts the answer, for instance to the rooms of a wing the caller did name.
    """
    matcher = _matcher()
    scores: dict[str, int] = {}
    for entry in matcher.entries_in(_plain(text)):
        for room, weight in matcher.weights[entry].items():
            scores[room] = scores.get(room, 0) + weight
    candidates = [room for room in ROOM_PRIORITY if room in scores and _allowed(room, rooms)]
    # max() keeps the first of equals, and the candidates are in order of priority.
    return max(candidates, key=scores.__getitem__, default=None)


def canonical_name(name: str) -> str | None:
    """Return the English slug of a default room or wing named in any of the ten languages."""
    return ROOM_NAMES.get(_NAME_SEPARATORS.sub(" ", _letters(name)).strip())


def _allowed(room: str, rooms: Collection[str] | None) -> bool:
    return rooms is None or room in rooms


def _letters(text: str) -> str:
    return fold(text).translate(_PLAIN_LETTERS)


def _plain(text: str) -> str:
    """Write a text the way the keywords are written: folded, and # for every number."""
    return _NUMBER.sub("#", _letters(text))


@cache
def _matcher() -> _Matcher:
    """Build the matcher from the vocabulary, once per process."""
    weights = _weights_by_entry()
    words = [entry for entry in weights if not _JAPANESE_OR_CHINESE.search(entry)]
    single = [entry for entry in words if " " not in entry]
    return _Matcher(
        weights=weights,
        stem_lengths=_lengths(entry[:-1] for entry in single if entry.endswith("*")),
        ending_lengths=_lengths(entry[1:] for entry in single if entry.startswith("*")),
        phrases=_phrases_by_first_word(entry for entry in words if " " in entry),
        substrings=_substrings([entry for entry in weights if _JAPANESE_OR_CHINESE.search(entry)]),
    )


def _weights_by_entry() -> dict[str, _Weights]:
    """Merge the languages: an entry has one weight per room, the highest it was given."""
    weights: dict[str, _Weights] = {}
    for keywords in ROOM_KEYWORDS:
        for entries, weight in (
            (keywords.telling_entries(), _TELLING_WEIGHT),
            (keywords.decisive_entries(), _DECISIVE_WEIGHT),
        ):
            for entry in entries:
                of_entry = weights.setdefault(entry, {})
                of_entry[keywords.room] = max(weight, of_entry.get(keywords.room, 0))
    return weights


def _lengths(parts: Iterator[str]) -> tuple[int, ...]:
    return tuple(sorted({len(part) for part in parts}, reverse=True))


def _phrases_by_first_word(entries: Iterator[str]) -> dict[str, tuple[_Phrase, ...]]:
    """Group phrases by their first word, the longest first."""
    phrases: dict[str, tuple[_Phrase, ...]] = {}
    for phrase in sorted(
        (_Phrase(entry, tuple(_words_of(entry))) for entry in entries),
        key=lambda phrase: (-len(phrase.words), phrase.entry),
    ):
        phrases[phrase.words[0]] = (*phrases.get(phrase.words[0], ()), phrase)
    return phrases


def _words_of(entry: str) -> list[str]:
    return entry.split(" ")


def _substrings(entries: list[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (entry, tuple(other for other in entries if entry != other and entry in other))
        for entry in entries
    )
