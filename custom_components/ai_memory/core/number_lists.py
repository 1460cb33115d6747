"""Long lists of sequences, as SQLite tells them in one row.

Word search and the sets of visible memories read theirs here. One row is told far faster than many,
and is read in pieces, so that no other thread waits long for the interpreter.
"""

from typing import Final

import numpy as np

from .vector_blocks import Sequences

PARSED_AT_ONCE_CHARACTERS: Final = 1 << 18


def numbers_of(json_array: str) -> Sequences:
    """Return the numbers of a JSON array without spaces, in its order; blocking for many."""
    parts = []
    start, end = 1, len(json_array) - 1
    while start < end:
        stop = json_array.find(",", start + PARSED_AT_ONCE_CHARACTERS)
        stop = end if stop < 0 else stop
        parts.append(np.fromstring(json_array[start:stop], np.int64, sep=","))
        start = stop + 1
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
