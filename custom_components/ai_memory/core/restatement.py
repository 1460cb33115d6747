"""Recognising that a new memory only says again what is already stored.

Called by the manager before a write. Deliberately strict: the words, their order and every number
must be the same, so that "freezer at -18" and "freezer at 18", or a fact and its negation, always
stay two memories. Losing a fact would be worse than keeping it twice.
"""

from hashlib import blake2b
import re
from typing import Final
import unicodedata

from .function_words import ARTICLES

DIGEST_BYTES: Final = 16

_EDGE_PUNCTUATION: Final = ".,;:!?\"'()[]{}<>«»„“”‘’‚…、。，！？；：「」『』（）·*_`~"
_JOINERS: Final = re.compile(r"(?<=[^\W\d])['’\-‐‑](?=[^\W\d])")


def restatement_digest(text: str) -> bytes:
    """Return 16 bytes that two texts share when one merely restates the other.

    Case, Unicode form, white space, punctuation around words, hyphens inside words and the articles
    of Western languages make no difference; everything else does.
    """
    folded = _JOINERS.sub("", unicodedata.normalize("NFKC", text).casefold())
    words = [word.strip(_EDGE_PUNCTUATION) or word for word in folded.split()]
    telling = [word for word in words if word not in ARTICLES] or words
    return blake2b("\x1f".join(telling).encode(), digest_size=DIGEST_BYTES).digest()
