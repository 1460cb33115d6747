"""Pages of long lists, and the cursors that lead from one to the next.

A cursor says of which list it is and where it goes on; to a client it is opaque. Used by the
methods that list.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
import binascii
from collections.abc import Sequence
from typing import Final

from .jsonrpc import ErrorCode, RpcError
from .strict_json import JsonValue

PAGE_SIZE: Final = 100
CURSOR_LIMIT_CHARACTERS: Final = 1_024
_SEPARATOR: Final = "\n"


def write_cursor(list_name: str, after: str) -> str:
    """Return the cursor for what follows a place in a list."""
    return urlsafe_b64encode(f"{list_name}{_SEPARATOR}{after}".encode()).decode()


def read_cursor(list_name: str, cursor: JsonValue) -> str | None:
    """Return the place that a cursor of the list names, or None for the start. Raises RpcError."""
    if cursor is None:
        return None
    refusal = RpcError(ErrorCode.INVALID_PARAMS, "The cursor is not one of this list")
    if not isinstance(cursor, str) or len(cursor) > CURSOR_LIMIT_CHARACTERS:
        raise refusal
    try:
        name, separator, after = urlsafe_b64decode(cursor.encode()).decode().partition(_SEPARATOR)
    except (binascii.Error, UnicodeError):
        raise refusal from None
    if name != list_name or not separator:
        raise refusal
    return after


def page_of[T](
    list_name: str, items: Sequence[T], cursor: JsonValue
) -> tuple[Sequence[T], str | None]:
    """Return a page of a list that is at hand, and the cursor of the next one."""
    after = read_cursor(list_name, cursor)
    start = 0
    if after is not None:
        if not after.isdecimal() or not 0 < int(after) < len(items):
            raise RpcError(ErrorCode.INVALID_PARAMS, "The cursor is not one of this list")
        start = int(after)
    end = start + PAGE_SIZE
    return items[start:end], write_cursor(list_name, str(end)) if end < len(items) else None
