"""What belongs to a memory beside its own row: its earlier texts, its evidence and its anchors.

``own`` writes and reads it as lists of an exported memory, ``repository`` finds and stores it. Each
list is described once, in ``LISTS``, for all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ..evidence import OBSERVATIONS_KEPT, WITNESSES_LIMIT
from ..memories import milliseconds, moment
from ..models import Caller, Scope
from ..text_input import CONTENT_LIMIT_CHARACTERS
from ..visibility import SqlValue

ROWS_LIMIT: Final = WITNESSES_LIMIT + OBSERVATIONS_KEPT
"""As many rows as one list of one memory may have: no memory that we wrote has more."""

_COUNT_LIMIT: Final = 2**53
_STANCES: Final = ("corroborates", "contradicts")
_STATES: Final = ("unchecked", "ok", "missing")
_EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)

type Row = tuple[SqlValue, ...]
type Attached = tuple[tuple[Row, ...], ...]
"""The rows of each of ``LISTS``, in that order."""


@dataclass(frozen=True, slots=True)
class Column:
    """One value of a row: its name in an export and in the table, and what it may be."""

    name: str
    optional: bool = False
    choices: tuple[str, ...] = ()
    is_time: bool = False
    is_count: bool = False

    @property
    def stored(self) -> str:
        """Its name in the table."""
        return f"{self.name}_ms" if self.is_time else self.name

    def told(self, value: SqlValue) -> object:
        """Return the value as an export writes it."""
        if not self.is_time or value is None:
            return value
        return moment(int(value)).isoformat(timespec="milliseconds")

    def parsed(self, value: object) -> SqlValue:
        """Return the value as the table holds it. Raises ValueError."""
        if value is None and self.optional:
            return None
        if self.is_count:
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError
            if not 0 <= value <= _COUNT_LIMIT:
                raise ValueError
            return value
        if not isinstance(value, str) or len(value) > CONTENT_LIMIT_CHARACTERS:
            raise ValueError
        if self.is_time:
            return milliseconds(moment_of(value))
        if self.choices and value not in self.choices:
            raise ValueError
        return value


@dataclass(frozen=True, slots=True)
class AttachedList:
    """One kind of rows that belong to memories."""

    name: str
    table: str
    columns: tuple[Column, ...]

    def position(self, column: str) -> int:
        """Return where a row of this list has the column."""
        return next(at for at, one in enumerate(self.columns) if one.name == column)


EARLIER: Final = AttachedList(
    "earlier",
    "earlier_texts",
    (
        Column("revision", is_count=True),
        Column("content"),
        Column("summary"),
        Column("scope", choices=tuple(scope.value for scope in Scope)),
        Column("owner_agent", optional=True),
        Column("owner_user", optional=True),
        Column("written", is_time=True),
        Column("replaced", is_time=True),
    ),
)
EVIDENCE: Final = AttachedList(
    "witnessed",
    "evidence",
    (
        Column("at", is_time=True),
        Column("stance", choices=_STANCES),
        Column("quote"),
        Column("anchor", optional=True),
        Column("source"),
        Column("agent", optional=True),
        Column("user", optional=True),
    ),
)
ANCHORS: Final = AttachedList(
    "anchors",
    "anchors",
    (
        Column("anchor"),
        Column("state", choices=_STATES),
        Column("checked", optional=True, is_time=True),
        Column("unavailable_since", optional=True, is_time=True),
    ),
)
LISTS: Final = (EARLIER, EVIDENCE, ANCHORS)
NOTHING: Final[Attached] = ((),) * len(LISTS)


def told(attached: Attached) -> dict[str, list[dict[str, object]]]:
    """Return the lists that are not empty, as an export writes them."""
    return {
        one.name: [
            {
                column.name: column.told(value)
                for column, value in zip(one.columns, row, strict=True)
            }
            for row in rows
        ]
        for one, rows in zip(LISTS, attached, strict=True)
        if rows
    }


def parsed(memory: Mapping[str, Any]) -> Attached:
    """Return the lists of an exported memory. Raises ValueError."""
    lists = {one: memory.get(one.name, ()) for one in LISTS}
    lists[EVIDENCE] = _newest_observations(lists[EVIDENCE])
    return tuple(_rows(one, listed) for one, listed in lists.items())


def for_caller(caller: Caller, attached: Attached) -> Attached:
    """Return what of the lists the caller may take out: own and common texts, no witnesses' names.

    A text may have been private, and somebody else's, before its memory became common.
    """
    agents = {caller.agent, caller.provider} - {None}
    scope, agent, user = map(EARLIER.position, ("scope", "owner_agent", "owner_user"))
    earlier = tuple(
        row
        for row in attached[0]
        if row[scope] == Scope.COMMON or (row[agent] in agents and row[user] in {None, caller.user})
    )
    return earlier, _unnamed(attached[1]), attached[2]


def owned(attached: Attached, agent: str | None, user: str | None) -> Attached:
    """Return the lists as they are whose private texts belong to this owner, without witnesses."""
    scope = EARLIER.position("scope")
    start, end = EARLIER.position("owner_agent"), EARLIER.position("owner_user") + 1
    earlier = tuple(
        row if row[scope] == Scope.COMMON else (*row[:start], agent, user, *row[end:])
        for row in attached[0]
        if agent is not None or row[scope] == Scope.COMMON
    )
    return earlier, _unnamed(attached[1]), attached[2]


def tells(earlier: Sequence[Row], content: str) -> bool:
    """Return whether a text is among earlier ones."""
    at = EARLIER.position("content")
    return any(row[at] == content for row in earlier)


def unproved(attached: Attached) -> Attached:
    """Return the lists without what a caller cannot know: no witnesses, and anchors unchecked."""
    end = ANCHORS.position("state")
    unchecked = tuple((*row[:end], _STATES[0], None, None) for row in attached[2])
    return attached[0], (), unchecked


def texts(attached: Attached) -> list[str]:
    """Return every text in the lists."""
    return [value for rows in attached for row in rows for value in row if isinstance(value, str)]


def anchors_of(attached: Attached) -> tuple[str, ...]:
    """Return what the memory is anchored to."""
    at = ANCHORS.position("anchor")
    return tuple(str(row[at]) for row in attached[LISTS.index(ANCHORS)])


def _unnamed(evidence: Sequence[Row]) -> tuple[Row, ...]:
    """Return evidence that does not say which agent and person witnessed it."""
    end = EVIDENCE.position("agent")
    return tuple((*row[:end], None, None) for row in evidence)


def _newest_observations(listed: object) -> object:
    """Return a list of evidence without what anchors left there before the newest that are kept.

    Exports of earlier versions may hold any number of them.
    """
    if not isinstance(listed, list) or not all(isinstance(row, Mapping) for row in listed):
        return listed
    observed = [row for row in listed if row.get("anchor") is not None]
    surplus = {id(row) for row in sorted(observed, key=_when)[:-OBSERVATIONS_KEPT]}
    return [row for row in listed if id(row) not in surplus]


def _when(row: Mapping[str, object]) -> str:
    return str(row.get("at"))


def _rows(one: AttachedList, listed: object) -> tuple[Row, ...]:
    if not isinstance(listed, list | tuple) or len(listed) > ROWS_LIMIT:
        raise ValueError
    return tuple(_row(one, row) for row in listed)


def _row(one: AttachedList, row: object) -> Row:
    if not isinstance(row, Mapping):
        raise TypeError
    return tuple(column.parsed(row.get(column.name)) for column in one.columns)


def moment_of(text: str) -> datetime:
    """Return a moment as exact as it is stored. Raises ValueError for one that cannot be."""
    told = datetime.fromisoformat(text).astimezone(UTC)
    if told < _EARLIEST:
        raise ValueError
    # The last of all years is over for what would be rounded up: it could not be read again.
    return moment(milliseconds(told))
