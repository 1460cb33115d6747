"""Bytes and lines: what a file or a pasted text becomes before a format is looked for.

``reading`` decodes with this and the readers take their lines from it. Nothing here raises on odd
input: what is no text in any known encoding stays recognisable and is skipped line by line. Long
texts are worked through in pieces, so that other threads get the interpreter in between.
"""

import codecs
from collections.abc import Iterator
import re
from typing import Final

PIECE_BYTES: Final = 256 * 1024
_SPACE: Final = re.compile(r"\s*+")
_SNIFFED_BYTES: Final = 1_024
_NUL_SHARE: Final = 0.3
"""More NUL bytes than this in the even or odd places are those of UTF-16."""

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LEGACY: Final = "cp1252"
"""What spreadsheets still write where no Unicode was asked for."""


def decoded(data: str | bytes) -> str:
    """Return the text without its byte order mark."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    for mark, marked in _BOMS:
        if data.startswith(mark):
            return _in_pieces(data[len(mark) :], marked)
    encoding = _unmarked_utf16(data)
    if encoding is not None:
        return _in_pieces(data, encoding)
    text = _in_pieces(data, "utf-8")
    return _in_pieces(data, _LEGACY) if _looks_legacy(text) else text


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Return the numbered lines, whatever ends them; the first has the number 1."""
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    start, number = 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        yield number, text[start:end].removesuffix("\r")
        start = end + 1


def beginning(text: str, characters: int = 2_000) -> str:
    """Return the first characters of a text after white space."""
    found = _SPACE.match(text)
    start = found.end() if found else 0
    return text[start : start + characters]


def _in_pieces(data: bytes, encoding: str) -> str:
    errors = "surrogateescape" if encoding == "utf-8" else "replace"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    pieces = [
        decoder.decode(data[start : start + PIECE_BYTES])
        for start in range(0, len(data), PIECE_BYTES)
    ]
    return "".join([*pieces, decoder.decode(b"", final=True)])


def _unmarked_utf16(data: bytes) -> str | None:
    sniffed = data[:_SNIFFED_BYTES]
    half = max(len(sniffed) // 2, 1)
    even, odd = sniffed[::2].count(0) / half, sniffed[1::2].count(0) / half
    if max(even, odd) < _NUL_SHARE or min(even, odd) > _NUL_SHARE / 2:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _looks_legacy(text: str) -> bool:
    """Return whether most of what is not ASCII was no UTF-8."""
    if text.isascii():
        return False
    broken = other = 0
    for start in range(0, len(text), PIECE_BYTES):
        for character in text[start : start + PIECE_BYTES]:
            if character > "\x7f":
                escaped = "\udc80" <= character <= "\udcff"
                broken, other = broken + escaped, other + (not escaped)
    return broken > other
