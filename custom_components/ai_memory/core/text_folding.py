"""One form of a text for every comparison: case, width and accents set aside.

Room detection, word search and the memories table call ``fold`` on both sides of a comparison. It
changes texts for comparing only: what a memory stores and shows is never folded.
"""

import re
from typing import Final
import unicodedata

# The accents of Latin, Greek and Cyrillic. Other scripts write vowels and voicing as combining
# characters too (Japanese dakuten, Thai, the Indic scripts); theirs are letters and must stay.
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Return the text in NFKC, caseless, without accents; folding twice changes nothing."""
    if text.isascii():
        return text.lower()
    caseless = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", caseless)))
