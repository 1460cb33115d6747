"""Secrets under one layer of base64, as configuration files and command lines carry them.

Pictures and other binary data are passed over after their first bytes.
"""

from base64 import b64decode
from collections.abc import Iterator
import re
from typing import Final

_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{24,}+", re.ASCII)
_FIRST_CHARACTERS: Final = 32
_URL_SAFE: Final = str.maketrans("-_", "+/")
_BINARY: Final = re.compile(rb"[^\t\n\r\x20-\x7e]")


def decoded_texts(words: str) -> Iterator[str]:
    """Return the texts that stand in long words as base64."""
    for run in _RUN.finditer(words):
        first = _decode(run[0][:_FIRST_CHARACTERS])
        # A character of UTF-8 may be cut by the end of the first bytes.
        if len(_BINARY.findall(first)) <= len(first) // 4 and (whole := _decode(run[0])):
            text = whole.decode("utf-8", "replace")
            if text.count("\ufffd") * 8 <= len(text):
                yield text


def _decode(run: str) -> bytes:
    """Return the bytes of a run, without the zeros that make ASCII out of UTF-16."""
    # A last character on its own holds too few bits for a byte.
    length = len(run) - (len(run) % 4 == 1)
    padded = run[:length].translate(_URL_SAFE) + "=" * (-length % 4)
    return b64decode(padded).replace(b"\0", b"")
