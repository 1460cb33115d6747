"""The rows of tunnels: their kinds and states, their ends, and how they follow places that move.

``tunnels`` opens and shows them, ``tunnel_search`` goes through them, ``place_changes`` tells where
their ends have moved. Ends are rows of wings and rooms; who may know of them is decided elsewhere.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
import json
from typing import Final

import aiosqlite

from .errors import InvalidInputError
from .models import GLOBAL_WING, is_workshop

PROJECTS: Final = "projects/"
TOPICS: Final = "topics/"
LOCAL: Final = "local/"
FROM_OPTIONS: Final = "options"
"""The source of links and hubs that the options opened."""


class TunnelKind(StrEnum):
    """What a tunnel is for."""

    TUNNEL = "tunnel"
    LINK = "link"
    HUB = "hub"


class TunnelState(StrEnum):
    """Whether a tunnel can be gone through."""

    OPEN = "open"
    PROPOSED = "proposed"
    DISMISSED = "dismissed"


_STRENGTH: Final = {TunnelState.OPEN: 2, TunnelState.DISMISSED: 1, TunnelState.PROPOSED: 0}


@dataclass(frozen=True, slots=True)
class End:
    """One end by row; ``room`` is None for a wing."""

    wing: int
    room: int | None


@dataclass(frozen=True, slots=True)
class TunnelRow:
    """A tunnel by row, for those who need no names."""

    id: str
    kind: TunnelKind
    state: TunnelState
    start: End
    end: End | None
    source: str

    @property
    def ends(self) -> frozenset[End | None]:
        """Both ends, whichever way round."""
        return frozenset((self.start, self.end))


_ROWS: Final = """
    SELECT id, kind, state, from_wing, from_room, to_wing, to_room, source FROM tunnels
"""
_MOVE_ENDS: Final = """
    UPDATE tunnels SET from_wing = :from_wing, from_room = :from_room, to_wing = :to_wing,
        to_room = :to_room
    WHERE id = :id
"""


def is_repository(wing: str) -> bool:
    """Return whether a wing is the namespace of a repository on some forge."""
    return (
        is_workshop(wing) and wing != GLOBAL_WING and not wing.startswith((PROJECTS, TOPICS, LOCAL))
    )


def check_link(repository: str, project: str | None) -> None:
    """Refuse to link anything but a repository, and to anything but a project.

    Raises InvalidInputError.
    """
    if not is_repository(repository) or not (project or PROJECTS).startswith(PROJECTS):
        raise InvalidInputError("invalid_link", first=repository, second=project or "")


async def between(
    connection: aiosqlite.Connection, start: End, end: End | None
) -> TunnelRow | None:
    """Return the tunnel between two ends, whichever way round."""
    for row in await touching(connection, [start.wing]):
        if row.ends == {start, end}:
            return row
    return None


async def touching(connection: aiosqlite.Connection, wings: Collection[int]) -> list[TunnelRow]:
    """Return the rows of all tunnels that touch some wings or rooms of theirs."""
    some = "(SELECT value FROM json_each(:wings))"
    rows = await connection.execute_fetchall(
        f"{_ROWS} WHERE from_wing IN {some} OR to_wing IN {some}",
        {"wings": json.dumps(list(wings))},
    )
    return [_row(*row) for row in rows]


def _row(  # noqa: PLR0917 - the columns of a row
    id_: str,
    kind: str,
    state: str,
    from_wing: int,
    from_room: int | None,
    to_wing: int | None,
    to_room: int | None,
    source: str,
) -> TunnelRow:
    end = None if to_wing is None else End(to_wing, to_room)
    start = End(from_wing, from_room)
    return TunnelRow(id_, TunnelKind(kind), TunnelState(state), start, end, source)


async def repoint(
    connection: aiosqlite.Connection, *, rooms: Mapping[int, int], wings: Mapping[int, int]
) -> None:
    """Follow places that moved or were joined, by row from old to new.

    A tunnel between two places that became one goes; of two with the same ends one stays.
    """
    before = [_row(*row) for row in await connection.execute_fetchall(_ROWS)]
    if not before:
        return
    wing_of = await _wings_of_rooms(connection)

    def followed(end: End | None) -> End | None:
        if end is None:
            return None
        if end.room is None:
            return End(wings.get(end.wing, end.wing), None)
        room = rooms.get(end.room, end.room)
        return End(wing_of[room], room)

    kept: dict[frozenset[End | None], tuple[TunnelRow, TunnelRow]] = {}
    for row in before:
        after = replace(row, start=followed(row.start) or row.start, end=followed(row.end))
        other = kept.get(after.ends)
        if after.start != after.end and (other is None or _strength(other[0]) < _strength(row)):
            kept[after.ends] = row, after
    staying = {row.id for row, _ in kept.values()}
    await connection.executemany(
        "DELETE FROM tunnels WHERE id = ?", [(row.id,) for row in before if row.id not in staying]
    )
    await connection.executemany(
        _MOVE_ENDS, [_ends_of(after) for row, after in kept.values() if row != after]
    )


def _strength(row: TunnelRow) -> tuple[int, bool]:
    """Return which of two tunnels stays; what a person opened outlives the options."""
    return _STRENGTH[row.state], row.source != FROM_OPTIONS


def _ends_of(row: TunnelRow) -> dict[str, str | int | None]:
    return {
        "id": row.id,
        "from_wing": row.start.wing,
        "from_room": row.start.room,
        "to_wing": row.end.wing if row.end else None,
        "to_room": row.end.room if row.end else None,
    }


async def _wings_of_rooms(connection: aiosqlite.Connection) -> dict[int, int]:
    rows = await connection.execute_fetchall("SELECT id, wing_id FROM rooms")
    return {int(room): int(wing) for room, wing in rows}
