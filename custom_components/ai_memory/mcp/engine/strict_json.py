"""Reading JSON that strangers sent: everything that readers could disagree about is refused.

Used for the body of every request, on a thread where it is long. Refuses what JSON does not know
(NaN), what it leaves open (a name twice, a number that no machine word holds, half a surrogate
pair) and what would exhaust the reader (deep nesting). Never guesses and never repairs.
"""

import json
from math import isfinite
import re
from typing import Final, NoReturn

NESTING_LIMIT_LEVELS: Final = 64
LEAST_INTEGER: Final = -(2**63)
GREATEST_INTEGER: Final = 2**63 - 1

type JsonValue = str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None
type JsonObject = dict[str, JsonValue]

# Possessive, and content without an end: one pass, whatever is sent.
_STRINGS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_AS_ONE_KIND: Final = bytes.maketrans(b"{}", b"[]")
_ALL_BUT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_HALF_PAIR: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class MalformedJsonError(ValueError):
    """The bytes are not JSON that this reader takes; the text says why, never what was sent."""


def read_json(body: bytes) -> JsonValue:
    """Return the value that the bytes hold. Raises MalformedJsonError."""
    # First of all, by counting: the parser itself goes as deep as the text does.
    if nesting_levels(body) > NESTING_LIMIT_LEVELS:
        raise MalformedJsonError(f"Nested deeper than {NESTING_LIMIT_LEVELS} levels")
    try:
        value: JsonValue = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except UnicodeDecodeError:
        raise MalformedJsonError("Not UTF-8") from None
    except json.JSONDecodeError as err:
        raise MalformedJsonError(f"Not JSON: {err.msg} at character {err.pos}") from None
    if _HALF_PAIR.search(body):
        _check_pairs(value)
    return value


def nesting_levels(body: bytes) -> int:
    """Return how deep the brackets go, or one more than the limit.

    Strings are cut out, then the innermost brackets fall away level by level: a few passes in C
    instead of one in Python. Brackets that do not match are left for the parser to refuse.
    """
    brackets = _STRINGS.sub(b"", body).translate(_AS_ONE_KIND, _ALL_BUT_BRACKETS)
    levels = 0
    while levels <= NESTING_LIMIT_LEVELS and (outer := brackets.replace(b"[]", b"")) != brackets:
        brackets = outer
        levels += 1
    # What never closes nests as well: the parser would follow it down before it finds the end.
    return levels + brackets.count(b"[")


def _object(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedJsonError("The same name twice in one object")
    return members


def _no_constant(_name: str) -> NoReturn:
    raise MalformedJsonError("NaN and Infinity are not JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise MalformedJsonError("A number is out of range")
    return number


def _integer(digits: str) -> int:
    # Twenty characters hold every number in range, and longer ones cost time to convert.
    if len(digits) <= len(str(LEAST_INTEGER)):
        number = int(digits)
        if LEAST_INTEGER <= number <= GREATEST_INTEGER:
            return number
    raise MalformedJsonError("A number is out of range")


def _check_pairs(value: JsonValue) -> None:
    """Refuse half a surrogate pair, which no UTF-8 can hold and so no reply could repeat."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise MalformedJsonError("Half a surrogate pair") from None
