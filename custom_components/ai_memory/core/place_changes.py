"""Renaming, joining, describing and deleting wings and rooms, each inside one transaction.

Called by ``places`` alone. A change here touches places, never memories: those of a joined room
follow in small steps (``place_upkeep``). What others keep in private moves
along without being named or counted, and what a caller may not know of is answered like what does
not exist.
"""

from dataclasses import dataclass
from typing import Final

import aiosqlite

from . import place_view
from .errors import AccessDeniedError, InvalidInputError
from .models import Caller, Scope, is_workshop
from .palace import ensure_place, ensure_wing
from .place_rows import drop_empty, move
from .place_view import PlaceName, PlaceRows
from .screen import WORKSHOP
from .screen.gate import masked

RENAMED: Final = "renamed"
MERGED: Final = "merged"
UNCHANGED: Final = "unchanged"
DELETED: Final = "deleted"

_AUDIT: Final = """
    INSERT INTO audit (at_ms, action, memory_id, source, agent, user, subject, reason)
    VALUES (?, ?, '', ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a place: where it is now, and how many memories the caller sees there."""

    result: str
    place: PlaceName
    count: int = 0


async def audit(
    connection: aiosqlite.Connection,
    caller: Caller,
    action: str,
    now_ms: int,
    *subject_and_reason: str,
) -> None:
    """Record who did what to the palace; a place may bear a name from before names were screened.

    What is put on record stays, so it is looked at as strictly as anywhere.
    """
    who = (caller.source, caller.agent, caller.user)
    subject, reason = (*(masked(one, WORKSHOP) for one in subject_and_reason), None)[:2]
    await connection.execute(_AUDIT, (now_ms, action, *who, subject, reason))


async def rename(
    connection: aiosqlite.Connection,
    caller: Caller,
    place: PlaceName,
    wanted: PlaceName,
    now_ms: int,
    *,
    merge: bool,
) -> Outcome:
    """Give a place another name, or join it to the one that has that name already.

    Raises NotFoundError, AccessDeniedError and InvalidInputError.
    """
    rows = await place_view.known(connection, caller, place)
    check_move(caller, place, wanted)
    if place == wanted:
        return Outcome(UNCHANGED, place, await place_view.count(connection, caller, [rows]))
    result = MERGED
    target = await place_view.find_place(connection, wanted)
    if target is None:
        result = RENAMED
    elif await place_view.find_known(connection, caller, wanted) is None:
        # Nothing is there as far as the caller may know, so the caller finds what it had.
        await _take_description(connection, rows, target)
        result = RENAMED
    elif not merge:
        raise InvalidInputError("place_exists", place=wanted.told)
    await move(connection, rows, wanted, now_ms)
    await audit(connection, caller, f"place_{result}", now_ms, place.subject, wanted.subject)
    return Outcome(result, wanted, await _count_moved(connection, caller, rows, wanted))


async def _count_moved(
    connection: aiosqlite.Connection, caller: Caller, rows: PlaceRows, wanted: PlaceName
) -> int:
    """Count what is at the new place and what is still to follow from the old one."""
    moved = await place_view.find_place(connection, wanted)
    places = [rows]
    if moved is not None and (moved.room_id or moved.wing_id) != (rows.room_id or rows.wing_id):
        places.append(moved)
    return await place_view.count(connection, caller, places)


def check_move(caller: Caller, place: PlaceName, wanted: PlaceName) -> None:
    """Refuse to move a place where the caller could not follow it."""
    if not caller.reach.admits(wanted.wing):
        raise AccessDeniedError("wing_not_allowed", wing=wanted.wing)
    if is_workshop(place.wing) != is_workshop(wanted.wing):
        # Those who see the one half do not see the other.
        raise InvalidInputError("place_between_halves", place=place.told)


async def describe(  # noqa: PLR0917 - a place, and all that can be said of it
    connection: aiosqlite.Connection,
    caller: Caller,
    place: PlaceName,
    description: str | None,
    default_scope: Scope | None,
    now_ms: int,
) -> PlaceRows:
    """Set what a place is for, and the scope that a wing suggests for what is stored from now on.

    Raises NotFoundError, and InvalidInputError where only private memories lie.
    """
    rows = await place_view.known(connection, caller, place)
    if not await place_view.is_common(connection, rows):
        raise InvalidInputError("place_is_private", place=place.told)
    table, row = ("wings", rows.wing_id) if rows.room_id is None else ("rooms", rows.room_id)
    if description is not None:
        await connection.execute(
            f"UPDATE {table} SET description = ? WHERE id = ?", (description, row)
        )
        await audit(connection, caller, "place_described", now_ms, place.subject)
    if default_scope is not None:
        await connection.execute(
            "UPDATE wings SET default_scope = ? WHERE id = ?", (default_scope, rows.wing_id)
        )
        await audit(connection, caller, "place_scoped", now_ms, place.subject, default_scope)
    return rows


async def delete(
    connection: aiosqlite.Connection,
    caller: Caller,
    place: PlaceName,
    move_to: PlaceName | None,
    now_ms: int,
) -> Outcome:
    """Remove a place and move what lies there, or refuse where nobody said whereto.

    Raises NotFoundError, AccessDeniedError and InvalidInputError.
    """
    if move_to is not None:
        return await _delete_moving(connection, caller, place, move_to, now_ms)
    if await place_view.find_known(connection, caller, place) is not None:
        # A default place is known to all, whatever others keep in it in private.
        raise InvalidInputError("place_in_use", place=place.told)
    if caller.reach.admits(place.wing):
        # What the caller sees nothing in is gone for the caller, whether others see something.
        found = await place_view.find_place(connection, place)
        if found is not None and await drop_empty(connection, found):
            await audit(connection, caller, "place_deleted", now_ms, place.subject)
    return Outcome(DELETED, place)


async def _delete_moving(
    connection: aiosqlite.Connection,
    caller: Caller,
    place: PlaceName,
    move_to: PlaceName,
    now_ms: int,
) -> Outcome:
    rows = await place_view.known(connection, caller, place)
    check_move(caller, place, move_to)
    if place == move_to or (place.room is None and place.wing == move_to.wing):
        raise InvalidInputError("place_inside_itself", place=place.told)
    held = await place_view.count(connection, caller, [rows])
    if move_to.room is not None:
        await ensure_place(connection, move_to.wing, move_to.room, now_ms)
    else:
        await ensure_wing(connection, move_to.wing, now_ms)
    await move(connection, rows, move_to, now_ms)
    await audit(connection, caller, "place_deleted", now_ms, place.subject, move_to.subject)
    return Outcome(DELETED, move_to, held)


async def rename_owner(
    connection: aiosqlite.Connection, caller: Caller, old: str, new: str, now_ms: int
) -> list[Outcome]:
    """Move every namespace under one beginning to another one; nothing happens the second time.

    Raises AccessDeniedError.
    """
    outcomes = []
    for name in await namespaces_under(connection, old):
        if not caller.reach.admits(name):
            continue
        place, wanted = PlaceName(name), PlaceName(new + name[len(old) :])
        check_move(caller, place, wanted)
        found = await place_view.find_place(connection, place)
        if found is None:
            continue
        known = await place_view.find_known(connection, caller, place)
        await move(connection, found, wanted, now_ms)
        await audit(connection, caller, "place_renamed", now_ms, place.subject, wanted.subject)
        if known is not None:
            outcomes.append(Outcome(RENAMED, wanted))
    return outcomes


async def namespaces_under(connection: aiosqlite.Connection, beginning: str) -> list[str]:
    """Return the namespaces that begin like that, whoever knows of them."""
    rows = await connection.execute_fetchall(
        "SELECT name FROM wings WHERE substr(name, 1, length(:old)) = :old AND moving_to IS NULL"
        " ORDER BY name",
        {"old": beginning},
    )
    return [str(name) for (name,) in rows]


async def _take_description(
    connection: aiosqlite.Connection, rows: PlaceRows, target: PlaceRows
) -> None:
    """Make a place look like the one that joins it: its description and default scope."""
    if rows.room_id is None:
        await connection.execute(
            "UPDATE wings SET (description, default_scope) ="
            " (SELECT description, default_scope FROM wings WHERE id = ?) WHERE id = ?",
            (rows.wing_id, target.wing_id),
        )
        return
    await connection.execute(
        "UPDATE rooms SET description = (SELECT description FROM rooms WHERE id = ?) WHERE id = ?",
        (rows.room_id, target.room_id),
    )
