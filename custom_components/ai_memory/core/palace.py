"""Wings and rooms: what there is at first, where a memory belongs, and their table rows.

Called by the manager inside its transactions. A wing has a default scope; unknown wings and rooms
are created when something is stored in them, never when somebody merely asks.
"""

from dataclasses import dataclass
from typing import Final

import aiosqlite

from .models import Scope
from .room_detection import detect_room


@dataclass(frozen=True, slots=True)
class WingPlan:
    """A wing of a new palace."""

    name: str
    default_scope: Scope
    rooms: tuple[str, ...]


GENERAL: Final = "general"
TELLING_CHARACTERS: Final = 2_000
"""How much of a text is read to choose its room: what it is about is said early."""

DEFAULT_WINGS: Final = (
    WingPlan("household", Scope.COMMON, ("devices", "maintenance", "events")),
    WingPlan("personal", Scope.PRIVATE, ("preferences", "health", "secrets")),
    WingPlan("automation", Scope.COMMON, ("routines", "schedules")),
    WingPlan(GENERAL, Scope.COMMON, (GENERAL,)),
)
_PLANNED: Final = {wing.name: wing.default_scope for wing in DEFAULT_WINGS}
_WING_OF_ROOM: Final = {room: wing.name for wing in DEFAULT_WINGS for room in wing.rooms}
_ROOMS_OF_WING: Final = {wing.name: wing.rooms for wing in DEFAULT_WINGS}


@dataclass(frozen=True, slots=True)
class Place:
    """The room of a memory, by name and by row, with the scope its wing suggests."""

    wing: str
    room: str
    room_id: int
    default_scope: Scope


def choose_place(wing: str | None, room: str | None, text: str) -> tuple[str, str]:
    """Return wing and room for a memory, filling what the caller left blank from its text."""
    text = text[:TELLING_CHARACTERS]
    if room is None:
        if wing is None:
            room = detect_room(text) or GENERAL
        else:
            room = detect_room(text, _ROOMS_OF_WING.get(wing, ())) or GENERAL
    return wing or _WING_OF_ROOM.get(room, GENERAL), room


async def seed(connection: aiosqlite.Connection, now_ms: int) -> None:
    """Create the default wings in a palace that has none."""
    rows = list(await connection.execute_fetchall("SELECT 1 FROM wings LIMIT 1"))
    if rows:
        return
    for wing in DEFAULT_WINGS:
        for room in wing.rooms:
            await ensure_place(connection, wing.name, room, now_ms)


async def ensure_place(
    connection: aiosqlite.Connection, wing: str, room: str, now_ms: int
) -> Place:
    """Return the place, creating wing and room where they are missing."""
    wing_id = await ensure_wing(connection, wing, now_ms)
    await connection.execute(
        "INSERT INTO rooms (wing_id, name, created_ms) VALUES (?, ?, ?)"
        " ON CONFLICT (wing_id, name) DO NOTHING",
        (wing_id, room, now_ms),
    )
    rows = await connection.execute_fetchall(
        "SELECT r.id, w.default_scope FROM rooms r JOIN wings w ON w.id = r.wing_id"
        " WHERE w.name = ? AND r.name = ?",
        (wing, room),
    )
    room_id, default_scope = next(iter(rows))
    return Place(wing, room, room_id, Scope(default_scope))


def first_scope(wing: str) -> Scope:
    """Return the scope that a wing suggests as long as nobody says otherwise."""
    return _PLANNED.get(wing, Scope.COMMON)


async def ensure_wing(
    connection: aiosqlite.Connection, wing: str, now_ms: int, scope: Scope | None = None
) -> int:
    """Return the row of a wing, creating it where it is missing.

    A new one gets the scope of the default wing of that name, else ``scope``, else common.
    """
    scope = _PLANNED.get(wing, scope)
    await connection.execute(
        "INSERT INTO wings (name, default_scope, created_ms) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO NOTHING",
        (wing, scope or Scope.COMMON, now_ms),
    )
    rows = await connection.execute_fetchall("SELECT id FROM wings WHERE name = ?", (wing,))
    return int(next(iter(rows))[0])


async def size(connection: aiosqlite.Connection) -> tuple[int, int]:
    """Return how many wings and rooms there are."""
    rows = await connection.execute_fetchall(
        "SELECT (SELECT count(*) FROM wings), (SELECT count(*) FROM rooms)"
    )
    wings, rooms = next(iter(rows))
    return wings, rooms
