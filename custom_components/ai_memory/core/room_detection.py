"""Guess the room of a memory from its words, and read room names in ten languages.

The memory manager asks here when a caller stores a memory without naming a room, or names a room
or wing in its own language. The keywords are data (``room_vocabulary``); nothing here reads the
database, and a text that betrays no room gets none: the caller decides on the fallback.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
import re
from typing import Final

from .room_vocabulary import ROOM_KEYWORDS, ROOM_NAMES
from .steps import in_turns
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
_KEYWORDS_AT_ONCE: Final = 10

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
    """An entry of several words, without the first, by which it is looked up."""

    entry: str
    between: tuple[str, ...]
    last: str
    last_is_stem: bool

    def follows(self, tokens: list[str], position: int) -> bool:
        """Tell whether the rest of this phrase stands after the token at this position."""
        end = position + len(self.between) + 1
        if end >= len(tokens):
            return False
        token = tokens[end]
        if not (token.startswith(self.last) if self.last_is_stem else token == self.last):
            return False
        return not self.between or tuple(tokens[position + 1 : end]) == self.between


@dataclass(frozen=True, slots=True)
class _Matcher:
    """All keywords, arranged so that a text is read once."""

    weights: Mapping[str, _Weights]
    # Stems and endings without their asterisk, with the entry; and the lengths they come in.
    stems: Mapping[str, str]
    stem_lengths: tuple[int, ...]
    endings: Mapping[str, str]
    ending_lengths: tuple[int, ...]
    phrases: Mapping[str, tuple[_Phrase, ...]]
    # Each Chinese or Japanese entry with the longer entries that contain it.
    substrings: Mapping[str, Sequence[str]]

    def entries_in(self, text: str) -> set[str]:
        """Find the distinct entries in a plain text."""
        found = set(self._entries_of_words(_TOKEN.findall(text)))
        if _JAPANESE_OR_CHINESE.search(text):
            inside = {entry for entry in self.substrings if entry in text}
            found.update(entry for entry in inside if inside.isdisjoint(self.substrings[entry]))
        return found

    def _entries_of_words(self, tokens: list[str]) -> Iterator[str]:
        """Walk over the words; a phrase swallows the words it is made of."""
        position = 0
        while position < len(tokens):
            phrase = self._phrase_at(tokens, position)
            if phrase is not None:
                position += len(phrase.between) + 2
                yield phrase.entry
                continue
            entry = self._entry_of_word(tokens[position])
            position += 1
            if entry is not None:
                yield entry

    def _phrase_at(self, tokens: list[str], position: int) -> _Phrase | None:
        for phrase in self.phrases.get(tokens[position], ()):
            if phrase.follows(tokens, position):
                return phrase
        return None

    def _entry_of_word(self, token: str) -> str | None:
        """Find the most specific entry: the word itself, then the longest stem or ending."""
        if token in self.weights:
            return token
        size = len(token)
        for length in self.stem_lengths:
            if length <= size and (entry := self.stems.get(token[:length])):
                return entry
        for length in self.ending_lengths:
            if length < size and (entry := self.endings.get(token[-length:])):
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


def load_vocabulary() -> None:
    """Build what detection needs now, in a worker thread, rather than at the first memory.

    It takes about 10 ms, too long for the event loop. Calling it is optional.
    """
    _matcher()


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
    substrings = {entry for entry in weights if _JAPANESE_OR_CHINESE.search(entry)}
    words = [entry for entry in weights if entry not in substrings]
    single = [entry for entry in words if " " not in entry]
    stems = {entry[:-1]: entry for entry in single if entry.endswith("*")}
    endings = {entry[1:]: entry for entry in single if entry.startswith("*")}
    return _Matcher(
        weights=weights,
        stems=stems,
        stem_lengths=_lengths(stems),
        endings=endings,
        ending_lengths=_lengths(endings),
        phrases=_phrases_by_first_word([entry for entry in words if " " in entry]),
        substrings=_longer_entries(substrings),
    )


def _weights_by_entry() -> dict[str, _Weights]:
    """Merge the languages: an entry has one weight per room, the highest it was given."""
    weights: dict[str, _Weights] = {}
    for keywords in in_turns(ROOM_KEYWORDS, _KEYWORDS_AT_ONCE):
        for entries, weight in (
            (keywords.telling_entries(), _TELLING_WEIGHT),
            (keywords.decisive_entries(), _DECISIVE_WEIGHT),
        ):
            for entry in entries:
                of_entry = weights.setdefault(entry, {})
                of_entry[keywords.room] = max(weight, of_entry.get(keywords.room, 0))
    return weights


def _lengths(parts: Iterable[str]) -> tuple[int, ...]:
    """Return the lengths that occur, the longest first."""
    return tuple(sorted({len(part) for part in parts}, reverse=True))


def _phrases_by_first_word(entries: list[str]) -> dict[str, tuple[_Phrase, ...]]:
    """Group phrases by their first word, the longest first."""
    phrases: dict[str, tuple[_Phrase, ...]] = {}
    for entry in sorted(entries, key=lambda entry: (-entry.count(" "), entry)):
        first, *between, last = entry.split(" ")
        phrase = _Phrase(entry, tuple(between), last.removesuffix("*"), last.endswith("*"))
        phrases[first] = (*phrases.get(first, ()), phrase)
    return phrases


def _longer_entries(entries: set[str]) -> dict[str, list[str]]:
    """Map each entry to the entries that contain it."""
    longer: dict[str, list[str]] = {entry: [] for entry in entries}
    for entry in entries:
        for start, end in combinations(range(len(entry) + 1), 2):
            part = entry[start:end]
            if part != entry and part in entries:
                longer[part].append(entry)
    return longer
