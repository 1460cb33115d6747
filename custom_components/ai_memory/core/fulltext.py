"""How text becomes rows and queries of the two full-text tables.

``memories`` writes what ``indexed_text`` returns; ``search`` asks with the query builders. The
words table holds whole words; scripts written without spaces, and Korean with its joined particles,
are indexed character by character, so that any part of such a run is found as a phrase. The trigram
table finds parts of words. No user text ever reaches SQLite unquoted, so full-text operators in a
query are just words.
"""

import re
from typing import Final
import unicodedata

from .function_words import FUNCTION_SUBSTRINGS, FUNCTION_WORDS
from .text_folding import fold

QUERY_TERM_LIMIT: Final = 64
TRIGRAM_LENGTH: Final = 3
FUZZY_TERM_CHARACTERS: Final = 3

_CJK: Final = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED: Final = re.compile(f"[{_CJK}{_SOUTH_EAST_ASIAN}]")
_CJK_RUN: Final = re.compile(f"[{_CJK}]+")
_SOUTH_EAST_ASIAN_RUN: Final = re.compile(f"[{_SOUTH_EAST_ASIAN}]+")

_KANA: Final = re.compile("[\u3040-\u30ff]")
_FUNCTION: Final = re.compile("|".join(sorted(FUNCTION_SUBSTRINGS, key=len, reverse=True)))
_DIGRAPH: Final = re.compile("([aou])e")
_HYPHENATED: Final = re.compile(r"(?<![^\W_])[^\W_]++(?:-[^\W_]++)+")


class _Separation(dict[int, str]):
    """What each character becomes so that words stand between spaces, filled as they are met.

    Letters, digits and marks stay; symbols such as emoji and the characters of unspaced scripts
    become words of their own; everything else becomes a space.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "So" or _UNSPACED.match(character):
            replacement = f" {character} "
        else:
            replacement = character if category[0] in "LMN" else " "
        self[code] = replacement
        return replacement


_SEPARATION: Final = _Separation()


def indexed_text(text: str) -> str:
    """Return the text as the words table holds it: folded words between spaces.

    A word with hyphens is there in parts and in one, so that "wifi" finds "Wi-Fi".
    """
    folded = _HYPHENATED.sub(lambda found: f"{found[0]} {found[0].replace('-', '')}", fold(text))
    return folded.translate(_SEPARATION)


def query_phrases(text: str) -> list[str]:
    """Return the words of a query, and phrases of those scripts that write none.

    Words without meaning in a question are dropped unless nothing else is left.
    """
    phrases: list[str] = []
    fillers: list[str] = []
    for token in _query_tokens(text):
        (fillers if token in FUNCTION_WORDS else phrases).append(token)
    for run in _runs(_CJK_RUN, text):
        phrases += [" ".join(phrase) for phrase in _telling_parts(run[:QUERY_TERM_LIMIT])]
        fillers += [" ".join(phrase) for phrase in _grams(run[:QUERY_TERM_LIMIT], 2)]
    for run in _runs(_SOUTH_EAST_ASIAN_RUN, text):
        phrases += [" ".join(phrase) for phrase in _grams(run, TRIGRAM_LENGTH)]
    return list(dict.fromkeys(phrases or fillers))[:QUERY_TERM_LIMIT]


def asks_for_something(text: str) -> bool:
    """Return whether a query has words with a meaning."""
    return any(token not in FUNCTION_WORDS for token in _query_tokens(text)) or any(
        _telling_parts(run) for run in _runs(_CJK_RUN, text)
    )


def fuzzy_terms(text: str) -> list[str]:
    """Return the words of a query long enough to be recognised when spelled differently."""
    return [
        token
        for token in dict.fromkeys(_query_tokens(text))
        if len(token) >= FUZZY_TERM_CHARACTERS and token not in FUNCTION_WORDS
    ][:QUERY_TERM_LIMIT]


def with_umlauts(word: str) -> str:
    """Return a word as it is once ``ue`` was written as an umlaut and folded, or as it is."""
    return _DIGRAPH.sub(r"\1", word)


def halves(term: str) -> list[str]:
    """Return both halves of a word: one of them outlives a slip of the pen in the other."""
    length = max(TRIGRAM_LENGTH, (len(term) + 1) // 2)
    return list(dict.fromkeys((term, term[:length], term[-length:])))


def grams_of(term: str) -> list[str]:
    """Return the trigrams of a word as they stand in a text."""
    return list(dict.fromkeys(_grams(term, TRIGRAM_LENGTH)))


def quoted(phrase: str) -> str:
    """Return a phrase as a full-text query that holds no operators."""
    return f'"{phrase}"'


def words_of(text: str) -> list[str]:
    """Return the distinct words of a text, folded, in order."""
    return list(dict.fromkeys(_tokens(text)))


def trigrams(word: str) -> frozenset[str]:
    """Return the trigrams of a word, its start marked so that beginnings weigh more."""
    return frozenset(_grams(f" {word}", TRIGRAM_LENGTH))


def _tokens(text: str) -> list[str]:
    """Split folded text into words, leaving out the scripts that have no spaces."""
    words = indexed_text(text).split()
    return words if text.isascii() else [word for word in words if not _UNSPACED.match(word)]


def _query_tokens(text: str) -> list[str]:
    """Return the words of a query, each also as it is spelled with umlauts, now folded away."""
    return [
        spelled
        for token in _tokens(text)
        for spelled in dict.fromkeys((token, with_umlauts(token)))
    ]


def _telling_parts(run: str) -> list[str]:
    """Return pairs of characters of a run between its particles, and single ideographs."""
    parts = []
    for segment in _FUNCTION.split(run):
        if len(segment) > 1:
            parts += _grams(segment, 2)
        elif segment and not _KANA.match(segment):
            parts.append(segment)
    return parts


def _runs(pattern: re.Pattern[str], text: str) -> list[str]:
    return pattern.findall(fold(text))


def _grams(text: str, length: int) -> list[str]:
    if len(text) <= length:
        return [text]
    return [text[start : start + length] for start in range(len(text) - length + 1)]
