"""Moving the rows of wings and rooms: renaming, joining, and removing what is empty.

``place_changes`` decides what may happen and calls this inside its transactions; ``place_upkeep``
finishes what a joined room begins. Touches places and tunnels, never memories.
"""

from dataclasses import dataclass
from typing import Final

import aiosqlite

from . import place_view
from .models import Scope
from .palace import ensure_wing
from .place_view import PlaceName, PlaceRows
from .tunnel_rows import repoint

_EMPTY: Final = """
    SELECT w.id, w.name, r.id, r.name FROM rooms r JOIN wings w ON w.id = r.wing_id
    WHERE r.description = '' AND r.moving_to IS NULL
        AND NOT EXISTS (SELECT 1 FROM memories WHERE room_id = r.id)
        AND NOT EXISTS (SELECT 1 FROM rooms o WHERE o.moving_to = r.id)
        AND NOT EXISTS (
            SELECT 1 FROM tunnels WHERE state = 'open' AND r.id IN (from_room, to_room)
        )
"""
_WINGS_WITHOUT_ROOMS: Final = """
    DELETE FROM wings WHERE description = '' AND default_scope = 'common' AND moving_to IS NULL
        AND NOT EXISTS (SELECT 1 FROM rooms WHERE wing_id = wings.id)
        AND NOT EXISTS (SELECT 1 FROM wings o WHERE o.moving_to = wings.id)
        AND NOT EXISTS (
            SELECT 1 FROM tunnels WHERE state = 'open' AND wings.id IN (from_wing, to_wing)
        )
"""


@dataclass(frozen=True, slots=True)
class _Room:
    id: int
    name: str


async def move(
    connection: aiosqlite.Connection, rows: PlaceRows, wanted: PlaceName, now_ms: int
) -> None:
    """Rename a place, or join it to the one of that name."""
    if rows.room_id is None and wanted.room is not None:
        for room in await _rooms_of(connection, rows.wing_id):
            await _move_room(connection, room.id, wanted.wing, wanted.room, now_ms)
        await _leave(connection, rows.wing_id, await ensure_wing(connection, wanted.wing, now_ms))
    elif rows.room_id is None:
        await _move_wing(connection, rows.wing_id, wanted.wing)
    elif wanted.room is not None:
        await _move_room(connection, rows.room_id, wanted.wing, wanted.room, now_ms)


async def _move_wing(connection: aiosqlite.Connection, wing_id: int, name: str) -> None:
    target = await place_view.find_place(connection, PlaceName(name))
    if target is None:
        await connection.execute("UPDATE wings SET name = ? WHERE id = ?", (name, wing_id))
        return
    there = {room.name: room.id for room in await _rooms_of(connection, target.wing_id)}
    for room in await _rooms_of(connection, wing_id):
        if room.name in there:
            await _join_rooms(connection, room.id, there[room.name])
        else:
            await _put_room(connection, room.id, target.wing_id, room.name)
    await _keep_description(connection, "wings", wing_id, target.wing_id)
    await _leave(connection, wing_id, target.wing_id)


async def _leave(connection: aiosqlite.Connection, wing_id: int, target_id: int) -> None:
    """Let a wing go once its last memory has moved to another wing."""
    await connection.execute("UPDATE wings SET moving_to = ? WHERE id = ?", (target_id, wing_id))
    await repoint(connection, rooms={}, wings={wing_id: target_id})
    await drop_left_wings(connection)


async def _move_room(
    connection: aiosqlite.Connection, room_id: int, wing: str, name: str, now_ms: int
) -> None:
    target = await place_view.find_place(connection, PlaceName(wing, name))
    if target is None:
        scopes = await connection.execute_fetchall(
            "SELECT w.default_scope FROM rooms r JOIN wings w ON w.id = r.wing_id WHERE r.id = ?",
            (room_id,),
        )
        # A new wing suggests what the old one did.
        scope = next((Scope(scope) for (scope,) in scopes), None)
        wing_id = await ensure_wing(connection, wing, now_ms, scope)
        await _put_room(connection, room_id, wing_id, name)
    elif target.room_id is not None and target.room_id != room_id:
        await _join_rooms(connection, room_id, target.room_id)


async def _put_room(
    connection: aiosqlite.Connection, room_id: int, wing_id: int, name: str
) -> None:
    await connection.execute(
        "UPDATE rooms SET wing_id = ?, name = ? WHERE id = ?", (wing_id, name, room_id)
    )
    await repoint(connection, rooms={room_id: room_id}, wings={})


async def _join_rooms(connection: aiosqlite.Connection, room_id: int, target_id: int) -> None:
    """Let the memories of a room follow to another one; until then they are where they were."""
    await connection.execute("UPDATE rooms SET moving_to = ? WHERE id = ?", (target_id, room_id))
    await _keep_description(connection, "rooms", room_id, target_id)
    await repoint(connection, rooms={room_id: target_id}, wings={})
    await drop_left_room(connection, room_id)


async def drop_left_room(connection: aiosqlite.Connection, room_id: int) -> bool:
    """Remove a room whose memories were to move, once it has none; returns whether it has none."""
    gone = await connection.execute(
        "DELETE FROM rooms WHERE id = :room AND moving_to IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM memories WHERE room_id = :room)",
        {"room": room_id},
    )
    return bool(gone.rowcount)


async def drop_left_wings(connection: aiosqlite.Connection) -> None:
    """Remove wings that were joined to others, once they have no room left."""
    await connection.execute(
        "DELETE FROM wings WHERE moving_to IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM rooms WHERE wing_id = wings.id)"
    )
    # Somebody stored something there meanwhile: it stays.
    await connection.execute(
        "UPDATE wings SET moving_to = NULL WHERE moving_to IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM rooms WHERE wing_id = wings.id AND moving_to IS NOT NULL)"
    )


async def drop_empty(connection: aiosqlite.Connection, place: PlaceRows) -> bool:
    """Remove what holds no memory at all of a place; returns whether anything was removed."""
    before = connection.total_changes
    rooms = [place.room_id] if place.room_id is not None else []
    rooms += [room.id for room in await _rooms_of(connection, place.wing_id)] if not rooms else []
    for room_id in rooms:
        await connection.execute(
            "DELETE FROM rooms WHERE id = :room"
            " AND NOT EXISTS (SELECT 1 FROM memories WHERE room_id = :room)",
            {"room": room_id},
        )
    if place.room_id is None:
        await connection.execute(
            "DELETE FROM wings WHERE id = :wing"
            " AND NOT EXISTS (SELECT 1 FROM rooms WHERE wing_id = :wing)",
            {"wing": place.wing_id},
        )
    return connection.total_changes > before


async def tidy(connection: aiosqlite.Connection) -> int:
    """Remove rooms and wings that hold nothing and that nobody described or joined to others.

    Their names may tell what a memory was about that is gone. Returns how many went.
    """
    gone = 0
    for wing_id, wing, room_id, room in await connection.execute_fetchall(_EMPTY):
        if not (place := PlaceName(wing, room)).is_default:
            gone += await drop_empty(connection, PlaceRows(place, wing_id, room_id))
    left = await connection.execute(_WINGS_WITHOUT_ROOMS)
    return gone + left.rowcount


async def _rooms_of(connection: aiosqlite.Connection, wing_id: int) -> list[_Room]:
    rows = await connection.execute_fetchall(
        "SELECT id, name FROM rooms WHERE wing_id = ? ORDER BY id", (wing_id,)
    )
    return [_Room(*row) for row in rows]


async def _keep_description(
    connection: aiosqlite.Connection, table: str, old: int, new: int
) -> None:
    """Give a place that has no description the one of the place that joins it."""
    await connection.execute(
        f"UPDATE {table} SET description = (SELECT description FROM {table} WHERE id = :old)"
        " WHERE id = :new AND description = ''",
        {"old": old, "new": new},
    )
