"""What a caller knows of the palace: its wings and rooms, and what lies in them for that caller.

``places`` asks on behalf of the operations, ``place_changes`` and ``tunnels`` before they change
anything. The name of a place may tell what a private memory is about, so a place is known to those
who see a memory in it, and nobody else learns whether it exists. The default places are known to
all. Only reads.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import aiosqlite

from .errors import NotFoundError
from .models import Caller, Filters, Scope, Status
from .palace import DEFAULT_WINGS
from .visibility import Clause, visible_to

ROOMS_TOLD: Final = 1_000

_DEFAULT_PLACES: Final = frozenset(
    {(wing.name, None) for wing in DEFAULT_WINGS}
    | {(wing.name, room) for wing in DEFAULT_WINGS for room in wing.rooms}
)
_ANY_STATUS: Final = Filters(statuses=(Status.ACTIVE, Status.CANDIDATE, Status.SUPERSEDED))

_ROOMS: Final = """
    SELECT w.name, w.description, w.default_scope, r.name, r.description,
        coalesce(c.held, 0), coalesce(c.active, 0)
    FROM rooms r JOIN wings w ON w.id = r.wing_id
    LEFT JOIN (
        SELECT m.room_id, count(*) AS held, sum(m.status = 'active') AS active
        FROM memories m WHERE {visible} GROUP BY m.room_id
    ) c ON c.room_id = r.id
    ORDER BY w.workshop, w.name, r.name
"""


@dataclass(frozen=True, slots=True)
class PlaceName:
    """A wing, or a room of it, by cleaned names."""

    wing: str
    room: str | None = None

    @property
    def told(self) -> str:
        """The place as a person reads it."""
        return self.wing if self.room is None else f"{self.wing}/{self.room}"

    @property
    def subject(self) -> str:
        """The place as the audit names it."""
        return f"wing:{self.told}" if self.room is None else f"room:{self.told}"

    @property
    def is_default(self) -> bool:
        """Whether every palace has it at first."""
        return (self.wing, self.room) in _DEFAULT_PLACES


@dataclass(frozen=True, slots=True)
class PlaceRows:
    """A place that exists, by row; ``room_id`` is None for a wing."""

    name: PlaceName
    wing_id: int
    room_id: int | None


@dataclass(frozen=True, slots=True)
class RoomReport:
    """A room and how many memories the caller sees in it."""

    name: str
    description: str
    count: int


@dataclass(frozen=True, slots=True)
class WingReport:
    """A wing that the caller knows of, with its rooms."""

    name: str
    description: str
    default_scope: Scope
    rooms: tuple[RoomReport, ...]

    @property
    def count(self) -> int:
        """How many memories the caller sees in it."""
        return sum(room.count for room in self.rooms)


async def wings_known(
    connection: aiosqlite.Connection,
    caller: Caller,
    filters: Filters = _ANY_STATUS,
    *,
    all_owners: bool = False,
) -> list[WingReport]:
    """Return the wings that a caller knows of, those of the home first.

    By the memories that the filters admit; ``all_owners`` knows of all that is within reach.
    """
    clause = visible_to(caller, filters, all_owners=all_owners)
    rows = await connection.execute_fetchall(_ROOMS.format(visible=clause.sql), clause.parameters)
    wings: dict[str, tuple[str, Scope]] = {}
    rooms: dict[str, list[RoomReport]] = {}
    for wing, about, scope, room, about_room, held, active in rows:
        is_known = held or all_owners or PlaceName(wing, room).is_default
        if not caller.reach.admits(wing) or not is_known:
            continue
        wings[wing] = about, Scope(scope)
        rooms.setdefault(wing, []).append(RoomReport(room, about_room, active))
    return [WingReport(wing, *told, tuple(rooms[wing])) for wing, told in wings.items()]


async def find_place(connection: aiosqlite.Connection, place: PlaceName) -> PlaceRows | None:
    """Return the rows of a place, whoever knows of it."""
    if place.room is None:
        sql, names = "SELECT id, NULL FROM wings WHERE name = ?", (place.wing,)
    else:
        sql = (
            "SELECT w.id, r.id FROM rooms r JOIN wings w ON w.id = r.wing_id"
            " WHERE w.name = ? AND r.name = ?"
        )
        names = (place.wing, place.room)  # type: ignore[assignment]
    for wing_id, room_id in await connection.execute_fetchall(sql, names):
        return PlaceRows(place, wing_id, room_id)
    return None


async def find_known(
    connection: aiosqlite.Connection, caller: Caller, place: PlaceName
) -> PlaceRows | None:
    """Return the rows of a place, None where the caller does not know of it."""
    if not caller.reach.admits(place.wing):
        return None
    found = await find_place(connection, place)
    if found is None or place.is_default or await count(connection, caller, [found], at_most=1):
        return found
    return None


async def known(connection: aiosqlite.Connection, caller: Caller, place: PlaceName) -> PlaceRows:
    """Return the rows of a place that the caller knows of. Raises NotFoundError."""
    found = await find_known(connection, caller, place)
    if found is None:
        raise NotFoundError("place_not_found", place=place.told)
    return found


async def is_common(connection: aiosqlite.Connection, place: PlaceRows) -> bool:
    """Return whether more is in a place than what some keep in private.

    Who guesses the name of another one and stores something there comes to know it: so nothing may
    be written about it that everybody who knows it could read.
    """
    if place.name.is_default:
        return True
    inside = _inside(Clause("m.scope = 'common'", {}), place)
    rows = await connection.execute_fetchall(
        f"SELECT EXISTS (SELECT 1 FROM memories m WHERE {inside.sql})", inside.parameters
    )
    return bool(next(iter(rows))[0])


async def count(
    connection: aiosqlite.Connection,
    caller: Caller,
    places: Iterable[PlaceRows],
    *,
    at_most: int = -1,
) -> int:
    """Return how many memories the caller sees in some places, counting no further than told."""
    held = 0
    for place in places:
        clause = _inside(visible_to(caller, _ANY_STATUS), place)
        rows = await connection.execute_fetchall(
            f"SELECT count(*) FROM (SELECT 1 FROM memories m WHERE {clause.sql} LIMIT :at_most)",
            clause.parameters | {"at_most": at_most},
        )
        held += next(iter(rows))[0]
    return held


def _inside(clause: Clause, place: PlaceRows) -> Clause:
    """Narrow a clause to a place by row."""
    if place.room_id is not None:
        inside, row = "m.room_id = :inside", place.room_id
    else:
        inside, row = "m.room_id IN (SELECT id FROM rooms WHERE wing_id = :inside)", place.wing_id
    return Clause(f"{inside} AND {clause.sql}", clause.parameters | {"inside": row})
