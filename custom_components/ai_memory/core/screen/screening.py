"""The screen: one look at a text that is about to be kept.

Called by ``gate`` for what callers send. A pattern that every secret of its kind must contain is
looked for first; what has the shape of a vendor's key is only looked for in words that are long
enough, of which prose has few. Any text takes time in step with its length.
"""

import re
from typing import Final

from . import contexts, encoded, key_material
from .assignments import ASSIGNMENT, MACHINE_ASSIGNMENT
from .finding import WORKSHOP, Finding, Strictness
from .rules import Rule, first_match, subject
from .spoken import SPOKEN_RULES
from .vendors import VENDOR_RULES

LONG_WORD_CHARACTERS: Final = 20
"""No key with a shape of its own is shorter."""

_MARKER: Final = Rule(
    name="do-not-store",
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
# Full width forms of ASCII, and what is written between letters without being seen.
_DISGUISED: Final = re.compile("[\u00ad\u200b-\u200d\u2010\u2011\u2060\ufeff\uff01-\uff5e]")
_PLAIN: Final = str.maketrans(
    {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), "")
    | dict.fromkeys((0x2010, 0x2011), "-")
)
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
    if "\\" in text and (written_out := _ESCAPE.sub(_unescaped, text)) != text:
        return _plain_pattern(written_out, strictness)
    return None


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
