"""A JSON document in small steps: its items one after the other, however large it is.

The readers of JSON formats walk a document with ``items`` and read single lines with ``parsed``.
Decoding it whole would hold the interpreter for as long as it takes. A broken item is passed over
and the walk goes on after it; what cannot be walked any further ends it. Nothing here raises.
"""

from collections.abc import Iterator
from dataclasses import dataclass
import json
import re
from typing import Final

from .values import ITEM_LIMIT_CHARACTERS, Skipped, SkipReason

DEEPEST_CONTAINER: Final = 3
_WINDOWS: Final = (4 * 1024, 64 * 1024, ITEM_LIMIT_CHARACTERS)
_DECODER: Final = json.JSONDecoder(strict=False)
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_TOKEN: Final = re.compile(r'\\.|["\[\]{},]', re.DOTALL)
_MARKS: Final = frozenset("[]{},")
_ENDS: Final = frozenset("]},")


@dataclass(frozen=True, slots=True)
class JsonItem:
    """A value of a document, the line that it begins in, and the keys that lead to it."""

    line: int
    keys: tuple[str, ...]
    value: object


class _BrokenError(Exception):
    """The document cannot be walked any further."""


class _Cursor:
    """A place in a document that only moves forward."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._counted = 0
        self._line = 1

    @property
    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def peek(self) -> str:
        """Return the next character that is no white space, nothing at the end."""
        if found := _SPACE.match(self._text, self._at):
            self._at = found.end()
        return self._text[self._at : self._at + 1]

    def take(self, expected: str) -> bool:
        """Move past the next character if it is one of these."""
        character = self.peek()
        if not character or character not in expected:
            return False
        self._at += 1
        return True

    def decode(self) -> object:
        """Return the value that begins here and move past it. Raises ValueError."""
        self.peek()
        for size in _WINDOWS:
            window = self._text[self._at : self._at + size]
            whole = self._at + size >= len(self._text)
            try:
                value, end = _DECODER.raw_decode(window)
            except RecursionError:
                raise ValueError from None
            except ValueError:
                if whole:
                    raise
                continue
            # A number may go on after the window.
            if whole or end < len(window):
                self._at += end
                return value
        raise ValueError

    def skip_value(self) -> None:
        """Move to the comma or the bracket after a value that cannot be decoded."""
        depth, quoted = 0, False
        for token in _TOKEN.finditer(self._text, self._at):
            mark = token.group()
            if mark == '"':
                quoted = not quoted
            elif not quoted and mark in _MARKS:
                if depth == 0 and mark in _ENDS:
                    self._at = token.start()
                    return
                depth += (mark in "[{") - (mark in "]}")
        self._at = len(self._text)


def parsed(line: str) -> object:
    """Return the value of one line, None where it is no JSON. Never raises."""
    try:
        return _DECODER.decode(line)
    except (ValueError, RecursionError):
        return None


def items(text: str) -> Iterator[JsonItem | Skipped]:
    """Return the elements of every list of a document and the plain values of its objects."""
    cursor = _Cursor(text)
    try:
        yield from _walk(cursor, ())
    except _BrokenError:
        yield Skipped(cursor.line, SkipReason.NOT_JSON)


def _walk(cursor: _Cursor, keys: tuple[str, ...]) -> Iterator[JsonItem | Skipped]:
    if cursor.take("["):
        yield from _elements(cursor, keys)
    elif cursor.peek() == "{" and len(keys) < DEEPEST_CONTAINER:
        cursor.take("{")
        yield from _members(cursor, keys)
    else:
        yield _one(cursor, keys)


def _elements(cursor: _Cursor, keys: tuple[str, ...]) -> Iterator[JsonItem | Skipped]:
    if cursor.take("]"):
        return
    while True:
        yield _one(cursor, keys)
        if not cursor.take(","):
            break
    if not cursor.take("]"):
        raise _BrokenError


def _members(cursor: _Cursor, keys: tuple[str, ...]) -> Iterator[JsonItem | Skipped]:
    if cursor.take("}"):
        return
    while True:
        try:
            key = cursor.decode()
        except ValueError:
            raise _BrokenError from None
        if not isinstance(key, str) or not cursor.take(":"):
            raise _BrokenError
        yield from _walk(cursor, (*keys, key))
        if not cursor.take(","):
            break
    if not cursor.take("}"):
        raise _BrokenError


def _one(cursor: _Cursor, keys: tuple[str, ...]) -> JsonItem | Skipped:
    cursor.peek()
    line = cursor.line
    try:
        return JsonItem(line, keys, cursor.decode())
    except ValueError:
        cursor.skip_value()
        return Skipped(line, SkipReason.NOT_JSON)
