"""The screen: one look at a text that is about to be kept.

Called by ``gate`` for what callers send. A pattern that every secret of its kind must contain is
looked for first; what has the shape of a vendor's key is only looked for in words that are long
enough, of which prose has few. Any text takes time in step with its length.
"""

from html import unescape
import re
from typing import Final
from urllib.parse import unquote

from . import contexts, encoded, key_material
from .assignments import ASSIGNMENT, MACHINE_ASSIGNMENT
from .finding import MARKED, WORKSHOP, Finding, Strictness
from .rules import Rule, first_match, subject
from .spoken import SPOKEN_RULES
from .vendors import VENDOR_RULES

LONG_WORD_CHARACTERS: Final = 20
"""No key with a shape of its own is shorter."""

_MARKER: Final = Rule(
    name=MARKED,
    anchors=("do-not-store", "do_not_store"),
    pattern=re.compile(r"(?<![a-z0-9])do[-_]not[-_]store(?![a-z0-9])", re.IGNORECASE),
    caseless=True,
)
_WORD_RULES: Final = (*key_material.WORDS, *VENDOR_RULES)
_TEXT_RULES: Final = {
    Strictness.KEYS: (_MARKER, *key_material.BLOCKS, *contexts.MACHINE_RULES, MACHINE_ASSIGNMENT),
    Strictness.STRICT: (
        _MARKER,
        *key_material.BLOCKS,
        *contexts.MACHINE_RULES,
        *contexts.CONTEXT_RULES,
        ASSIGNMENT,
        *SPOKEN_RULES,
    ),
}
# Written between letters without being seen: joiners, marks of direction, variations, tags.
_UNSEEN: Final = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F)),
    *(*range(0x2060, 0x2070), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE0200)),
)
_HYPHENS: Final = (0x2010, 0x2011, 0x2012, 0x2013, 0x2212)
_FULL_WIDTH: Final = range(0xFF01, 0xFF5F)
_PLAIN: Final = str.maketrans(
    {code: chr(code - 0xFEE0) for code in _FULL_WIDTH}
    | dict.fromkeys(_UNSEEN, "")
    | dict.fromkeys(_HYPHENS, "-")
)
_DISGUISED: Final = re.compile(f"[{''.join(map(chr, (*_UNSEEN, *_HYPHENS, *_FULL_WIDTH)))}]")
_ESCAPE: Final = re.compile(r"\\{1,4}(?:([nrt])|u00([2-7][0-9a-fA-F])|(?=[\"'/]))")


def screen(field: str, text: str, strictness: Strictness = WORKSHOP) -> Finding | None:
    """Return what kind of secret a text holds, or None."""
    if strictness is Strictness.OFF:
        return None
    pattern = _pattern(text, strictness)
    return None if pattern is None else Finding(field, pattern)


def _pattern(text: str, strictness: Strictness) -> str | None:
    if not text.isascii() and _DISGUISED.search(text):
        text = text.translate(_PLAIN)
    if found := _plain_pattern(text, strictness):
        return found
    forms = (written_out(text) for mark, written_out in _WRITTEN_OUT if mark in text)
    patterns = (_plain_pattern(form, strictness) for form in forms if form != text)
    return next((pattern for pattern in patterns if pattern is not None), None)


def _plain_pattern(text: str, strictness: Strictness) -> str | None:
    if found := first_match(_TEXT_RULES[strictness], subject(text)):
        return found
    words = _long_words(text)
    if not words:
        return None
    if found := first_match(_WORD_RULES, subject(words)):
        return found
    for inner in encoded.decoded_texts(words):
        rules = (*_TEXT_RULES[strictness], *_WORD_RULES)
        if found := first_match(rules, subject(inner)):
            return found
    return None


def _long_words(text: str) -> str:
    """Return the words that are long enough for a key, a line each."""
    return "\n".join(word for word in text.split() if len(word) >= LONG_WORD_CHARACTERS)


def _unescaped(escape: re.Match[str]) -> str:
    if escape[2]:
        return chr(int(escape[2], 16))
    return "\n" if escape[1] else ""


def _without_escapes(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text)


_WRITTEN_OUT: Final = (("\\", _without_escapes), ("%", unquote), ("&", unescape))
"""How programs write what would mean something to another: in strings, addresses and markup."""
