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
FUZZY_TERM_CHARACTERS: Final = 4

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


class _Separation(dict[str, str]):
    """What each character becomes so that words stand between spaces, filled as they are met.

    Letters, digits and marks stay; symbols such as emoji and the characters of unspaced scripts
    become words of their own; everything else becomes a space.
    """

    def __missing__(self, character: str) -> str:
        category = unicodedata.category(character)
        if category == "So" or _UNSPACED.match(character):
            replacement = f" {character} "
        else:
            replacement = character if category[0] in "LMN" else " "
        self[character] = replacement
        return replacement


_SEPARATION: Final = _Separation()


def indexed_text(text: str) -> str:
    """Return the text as the words table holds it: folded words between spaces.

    A word with hyphens is there in parts and in one, so that "wifi" finds "Wi-Fi".
    """
    folded = _HYPHENATED.sub(lambda found: f"{found[0]} {found[0].replace('-', '')}", fold(text))
    return "".join([_SEPARATION[character] for character in folded])


def words_query(text: str) -> str | None:
    """Return an OR query over whole words, or None when the text has none.

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
    return _any_of(phrases or fillers)


def fuzzy_terms(text: str) -> list[str]:
    """Return the words of a query long enough to be recognised when spelled differently."""
    return [
        token
        for token in dict.fromkeys(_query_tokens(text))
        if len(token) >= FUZZY_TERM_CHARACTERS and token not in FUNCTION_WORDS
    ][:QUERY_TERM_LIMIT]


def trigram_query(terms: list[str]) -> str | None:
    """Return an OR query over the trigrams of the terms, or None when there are none."""
    return _any_of([gram for term in terms for gram in _grams(term, TRIGRAM_LENGTH)])


def words_of(text: str) -> list[str]:
    """Return the distinct words of a text, folded, in order."""
    return list(dict.fromkeys(_tokens(text)))


def trigrams(word: str) -> frozenset[str]:
    """Return the trigrams of a word, its start marked so that beginnings weigh more."""
    return frozenset(_grams(f" {word}", TRIGRAM_LENGTH))


def _tokens(text: str) -> list[str]:
    """Split folded text into words, leaving out the scripts that have no spaces."""
    return [word for word in indexed_text(text).split() if not _UNSPACED.match(word)]


def _query_tokens(text: str) -> list[str]:
    """Return the words of a query, each also as it is spelled with umlauts, now folded away."""
    return [
        spelled
        for token in _tokens(text)
        for spelled in dict.fromkeys((token, _DIGRAPH.sub(r"\1", token)))
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


def _any_of(phrases: list[str]) -> str | None:
    """Quote each phrase and join them with OR."""
    distinct = list(dict.fromkeys(phrases))[:QUERY_TERM_LIMIT]
    if not distinct:
        return None
    return " OR ".join(f'"{phrase}"' for phrase in distinct)
