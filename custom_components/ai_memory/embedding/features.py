"""Text to hashed features: what two texts have in common, in any script.

The TF-IDF engine and its vocabulary call this. A *term* is a word, a short window of a script
written without spaces, or a symbol; its *sketch* is the term itself plus the character n-grams
inside it, as 32-bit hashes with a weight each. Both depend on the text alone and are the same in
every process. Nothing here knows a language, a corpus or the size of a vector.
"""

from array import array
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import lru_cache
from itertools import groupby
from time import sleep
from types import MappingProxyType
from typing import Final, NamedTuple
import unicodedata
from zlib import crc32

# Longer runs (keys, encoded blobs) are cut into pieces, which bounds every cached sketch.
MAX_TERM_CHARACTERS: Final = 48

# The whole term counts more than any of its n-grams, and is spread over several hashes so that one
# collision of two important terms cannot make two texts look alike.
_TERM_PROBES: Final = 4
_PROBE_WEIGHT: Final = 0.5  # four of these make a unit vector
_GRAM_WEIGHT: Final = 0.4
# Korean glues particles to short words, so its syllable pairs say as much as the whole.
_HANGUL_GRAM_WEIGHT: Final = 1.0

# Short words in alphabets are mostly articles, pronouns and particles, whatever the language.
_LENGTH_WEIGHTS: Final = (0.0, 0.3, 0.5, 0.75)
# Hiragana mostly spells particles and endings; content words are Han or Katakana.
_HIRAGANA_WEIGHT: Final = 0.5

_EDGE: Final = "\x02"
_CODE_UNIT_BYTES: Final = 4


class _Script(Enum):
    """How a run of characters is cut into terms."""

    GAP = auto()
    SYMBOL = auto()
    WORD = auto()
    HANGUL = auto()
    HAN = auto()
    HIRAGANA = auto()
    KATAKANA = auto()
    SOUTH_EAST_ASIAN = auto()


class Sketch(NamedTuple):
    """The features of one term, packed as native ``uint32`` hashes and ``float32`` weights."""

    hashes: bytes
    weights: bytes
    size: int


# Terms of an unspaced script are windows of this many characters; the shorter n-grams inside them
# are their features. Alphabets of South-East Asia say too little with one character.
_WINDOW_CHARACTERS: Final = MappingProxyType(
    {
        _Script.HAN: 2,
        _Script.HIRAGANA: 3,
        _Script.KATAKANA: 3,
        _Script.SOUTH_EAST_ASIAN: 3,
    }
)
_GRAM_CHARACTERS: Final = MappingProxyType(
    {
        _Script.WORD: (3, 4, 5),
        _Script.HANGUL: (2, 3),
        _Script.HAN: (1,),
        _Script.HIRAGANA: (1, 2),
        _Script.KATAKANA: (1, 2),
        _Script.SOUTH_EAST_ASIAN: (2,),
    }
)

# First and last code point of each block whose script decides how text is cut.
_BLOCKS: Final = (
    (0x0E00, 0x0EFF, _Script.SOUTH_EAST_ASIAN),  # Thai, Lao
    (0x1000, 0x109F, _Script.SOUTH_EAST_ASIAN),  # Myanmar
    (0x1100, 0x11FF, _Script.HANGUL),
    (0x1780, 0x17FF, _Script.SOUTH_EAST_ASIAN),  # Khmer
    (0x2E80, 0x2FDF, _Script.HAN),
    (0x3005, 0x3007, _Script.HAN),
    (0x3021, 0x3029, _Script.HAN),
    (0x3040, 0x309F, _Script.HIRAGANA),
    (0x30A0, 0x30FF, _Script.KATAKANA),
    (0x3130, 0x318F, _Script.HANGUL),
    (0x31F0, 0x31FF, _Script.KATAKANA),
    (0x3400, 0x4DBF, _Script.HAN),
    (0x4E00, 0x9FFF, _Script.HAN),
    (0xA9E0, 0xA9FF, _Script.SOUTH_EAST_ASIAN),  # Myanmar extended
    (0xAA60, 0xAA7F, _Script.SOUTH_EAST_ASIAN),  # Myanmar extended
    (0xAC00, 0xD7FF, _Script.HANGUL),
    (0xF900, 0xFAFF, _Script.HAN),
    (0x1AFF0, 0x1B0FF, _Script.KATAKANA),
    (0x1B100, 0x1B16F, _Script.HIRAGANA),
    (0x20000, 0x3FFFF, _Script.HAN),
)

# Arabic, Persian, Devanagari, Bengali, Thai, Lao, Myanmar and Khmer digits start here.
_DIGIT_ZEROS: Final = (0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0x0ED0, 0x1040, 0x17E0)

# Applied to decomposed text: marks and spellings that people leave out or interchange.
_FOLDED: Final = MappingProxyType(
    {
        **dict.fromkeys(range(0x0300, 0x0370)),  # Latin, Greek and Cyrillic diacritics
        **dict.fromkeys(range(0x0591, 0x05BE)),  # Hebrew cantillation and points
        **dict.fromkeys((0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7)),
        **dict.fromkeys(range(0x0610, 0x061B)),  # Arabic honorifics
        **dict.fromkeys(range(0x064B, 0x0660)),  # Arabic vowels and hamza above or below
        **dict.fromkeys((0x0640, 0x0670)),  # Arabic tatweel, superscript alef
        0x093C: None,  # Devanagari nukta
        **dict.fromkeys((0x00AD, 0x2060, 0xFEFF)),  # soft hyphen, joiners of nothing
        **dict.fromkeys(range(0x200C, 0x2010)),  # zero-width joiners, direction marks
        **dict.fromkeys(range(0x20D0, 0x2100)),  # marks for symbols, such as a keycap
        **dict.fromkeys(range(0xFE00, 0xFE10)),  # variation selectors
        **dict.fromkeys(range(0x1F3FB, 0x1F400)),  # skin tones
        **{zero + digit: str(digit) for zero in _DIGIT_ZEROS for digit in range(10)},
        ord("ı"): "i",
        ord("ł"): "l",
        ord("ø"): "o",
        ord("đ"): "d",
        ord("æ"): "ae",
        ord("œ"): "oe",
        ord("ة"): "ه",
        ord("ى"): "ي",
        ord("ی"): "ي",
        ord("ک"): "ك",
    }
)


def in_turns(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts, letting the event loop's thread run between two of them."""
    for number, text in enumerate(texts):
        if number:
            sleep(0)
        yield text


def split_terms(text: str) -> list[str]:
    """Cut a text into terms, in order and with repetitions; empty when it says nothing."""
    terms: list[str] = []
    for script, characters in groupby(_normalize(text), _script_of):
        if script is _Script.GAP:
            continue
        if script is _Script.SYMBOL:
            terms.extend(characters)
            continue
        run = "".join(characters)
        if (window := _WINDOW_CHARACTERS.get(script)) is not None:
            terms.extend(run[i : i + window] for i in range(max(1, len(run) - window + 1)))
        else:
            terms.extend(
                run[i : i + MAX_TERM_CHARACTERS] for i in range(0, len(run), MAX_TERM_CHARACTERS)
            )
    return terms


def sketch(term: str) -> Sketch:
    """Return the features of a term that :func:`split_terms` produced."""
    script = _script_of(term[0])
    units = term.encode("utf-32-le")
    hashes = [crc32(units, probe) for probe in range(_TERM_PROBES)]
    if script is _Script.WORD or script is _Script.HANGUL:
        units = f"{_EDGE}{term}{_EDGE}".encode("utf-32-le")
    for length in _GRAM_CHARACTERS.get(script, ()):
        width = length * _CODE_UNIT_BYTES
        hashes.extend(
            crc32(units[start : start + width], _TERM_PROBES)
            for start in range(0, len(units) - width + 1, _CODE_UNIT_BYTES)
        )
    weight = _term_weight(term, script)
    gram_weight = weight * (_HANGUL_GRAM_WEIGHT if script is _Script.HANGUL else _GRAM_WEIGHT)
    weights = array("f", [weight * _PROBE_WEIGHT]) * _TERM_PROBES
    weights.extend([gram_weight] * (len(hashes) - _TERM_PROBES))
    return Sketch(array("I", hashes).tobytes(), weights.tobytes(), len(hashes))


def _normalize(text: str) -> str:
    """Fold compatibility forms, case, diacritics and digits; ASCII needs case alone."""
    if text.isascii():
        return text.casefold()
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFD", folded).translate(_FOLDED)
    return unicodedata.normalize("NFKC", folded)


@lru_cache(maxsize=8192)
def _script_of(character: str) -> _Script:
    """Tell how to treat one character; unknown future characters count as symbols."""
    category = unicodedata.category(character)
    if category in {"So", "Sc", "Co", "Cn"} or (category == "Sm" and not character.isascii()):
        return _Script.SYMBOL
    if category[0] not in "LNM":
        return _Script.GAP
    code_point = ord(character)
    for first, last, script in _BLOCKS:
        if first <= code_point <= last:
            return script
    return _Script.WORD


def _term_weight(term: str, script: _Script) -> float:
    """Weigh a term by what its script and length alone say about its content."""
    if script is _Script.HIRAGANA:
        return _HIRAGANA_WEIGHT
    if script is _Script.WORD and len(term) < len(_LENGTH_WEIGHTS) and not term.isdecimal():
        return _LENGTH_WEIGHTS[len(term)]
    return 1.0
