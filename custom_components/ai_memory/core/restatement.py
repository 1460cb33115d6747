"""Recognising that a new memory only says again what is already stored.

Called by the writer before an insert. Deliberately strict: losing a fact would be far worse than
keeping it twice. Numbers, signs, passwords, units and names that differ in any way stay apart.
"""

from hashlib import blake2b
import re
from typing import Final
import unicodedata

DIGEST_BYTES: Final = 16

# Only at the very start of a sentence does an article change nothing in any of these languages.
_LEADING_ARTICLES: Final = frozenset(
    {"the", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il", "lo", "gli", "het"}
)
_FULL_STOPS: Final = ".。…．"
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_SPELLINGS: Final = {"wi-fi": "wifi", "wifi": "wifi", "e-mail": "email", "email": "email"}


def restatement_digest(text: str) -> bytes:
    """Return 16 bytes that two texts share when one merely restates the other.

    White space, the full stop at the end, a capital at the start of a word and an article at the
    start of the text make no difference; everything else does.
    """
    return blake2b("\x1f".join(plain_words(text)).encode(), digest_size=DIGEST_BYTES).digest()


def plain_words(text: str) -> list[str]:
    """Return the words of a text without what makes no difference to what it says."""
    words = unicodedata.normalize("NFC", text).split()
    if words:
        words[-1] = words[-1].rstrip(_FULL_STOPS) or words[-1]
    words = [_spelled(word) for word in words]
    if len(words) > 1 and words[0] in _LEADING_ARTICLES:
        del words[0]
    return words


def _spelled(word: str) -> str:
    """Return a word without the capital that a sentence or a noun gives it; others stay exact."""
    lowered = word.lower()
    if lowered in _SPELLINGS:
        return _SPELLINGS[lowered]
    return lowered if _PLAIN_WORD.fullmatch(word) and word[1:] == lowered[1:] else word
