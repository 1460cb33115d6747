"""Where tunnels lead: what a search also looks into, and in which order a coding agent looks.

``MemoryManager.search`` asks what lies one tunnel beyond the place it was given; the coding tools
ask which wings a namespace reaches. A tunnel widens nobody's view: what lies beyond it is seen only
by those who see it anywhere.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import sqlite3
from typing import Final

import aiosqlite

from .database import Database
from .models import GLOBAL_WING, KEPT, Caller, Filters, SearchResult
from .place_view import PlaceName
from .search import MemorySearch, ranking_of
from .tunnel_rows import (
    PROJECTS,
    TOPICS,
    End,
    TunnelKind,
    TunnelState,
    is_repository,
    touching,
)
from .tunnels import is_known
from .visibility import visible_to

ROOMS_BEYOND: Final = 500
"""How many rooms beyond its tunnels a search looks into."""

_ROOMS_NAMED: Final = """
    SELECT r.id, r.name, w.id, w.name FROM rooms r JOIN wings w ON w.id = r.wing_id
    WHERE (:wing IS NULL OR w.name = :wing) AND (:room IS NULL OR r.name = :room)
"""
_ROOMS_AT: Final = "SELECT r.id, r.name, w.name FROM rooms r JOIN wings w ON w.id = r.wing_id"
_REPOSITORIES: Final = """
    SELECT known.name FROM wings known WHERE known.workshop = 1 AND (
        EXISTS (
            SELECT 1 FROM rooms place JOIN memories m ON m.room_id = place.id
            WHERE place.wing_id = known.id AND %s
        ) OR EXISTS (
            SELECT 1 FROM tunnels WHERE kind <> 'tunnel' AND known.id IN (from_wing, to_wing)
        )
    )
    ORDER BY known.name
"""
_LINKS: Final = """
    SELECT t.kind, fw.name, tw.name FROM tunnels t JOIN wings fw ON fw.id = t.from_wing
    LEFT JOIN wings tw ON tw.id = t.to_wing
    WHERE t.state = 'open' AND t.kind IN ('link', 'hub') AND :wing IN (fw.name, tw.name)
"""


@dataclass(frozen=True, slots=True)
class Beyond:
    """A room beyond a tunnel, and the place at the near end."""

    room_id: int
    via: str


async def beyond(
    connection: aiosqlite.Connection, caller: Caller, filters: Filters
) -> dict[tuple[str, str], Beyond]:
    """Return the rooms one tunnel away from where a search looks, by wing and room.

    What lies there is decided by ``visibility`` as anywhere else; that a tunnel begins here is told
    to those who know of this end.
    """
    near = await _near(connection, caller, filters)
    rows = [row for row in await touching(connection, near.wings) if row.state is TunnelState.OPEN]
    found: dict[tuple[str, str], Beyond] = {}
    for row in rows:
        for here, there in ((row.start, row.end), (row.end, row.start)):
            if here is None or (place := near.named(here)) is None:
                continue
            if not await is_known(connection, caller, row.kind, place):
                continue
            via = place.told
            for room_id, room, wing in await _rooms_at(connection, there):
                admitted = caller.reach.admits(wing) and room_id not in near.rooms
                if admitted and len(found) < ROOMS_BEYOND:
                    found.setdefault((wing, room), Beyond(room_id, via))
    return found


@dataclass(frozen=True, slots=True)
class _Near:
    """Where a search looks: rooms by row with their names, and wings."""

    rooms: Mapping[int, PlaceName]
    wings: Collection[int]
    whole: Mapping[int, str]
    """The wings whose own tunnels count, by name."""

    def named(self, end: End) -> PlaceName | None:
        """Return the name of an end that is here, None for one that is not."""
        if end.room is not None:
            return self.rooms.get(end.room)
        return PlaceName(self.whole[end.wing]) if end.wing in self.whole else None


async def _near(connection: aiosqlite.Connection, caller: Caller, filters: Filters) -> _Near:
    rows = await connection.execute_fetchall(
        _ROOMS_NAMED, {"wing": filters.wing, "room": filters.room}
    )
    rows = [row for row in rows if caller.reach.admits(row[3])]
    return _Near(
        rooms={room_id: PlaceName(wing, room) for room_id, room, _, wing in rows},
        wings={wing_id for _, _, wing_id, _ in rows},
        whole={wing_id: wing for _, _, wing_id, wing in rows if filters.wing is not None},
    )


async def _rooms_at(
    connection: aiosqlite.Connection, end: End | None
) -> list[tuple[int, str, str]]:
    """Return the rooms that an end leads to, those of every repository behind a hub."""
    if end is None:
        rows = await connection.execute_fetchall(f"{_ROOMS_AT} WHERE w.workshop = 1")
        return [(room_id, room, wing) for room_id, room, wing in rows if is_repository(wing)]
    column, value = ("r.id", end.room) if end.room is not None else ("w.id", end.wing)
    rows = await connection.execute_fetchall(f"{_ROOMS_AT} WHERE {column} = ?", (value,))
    return [(room_id, room, wing) for room_id, room, wing in rows]


async def reachable(
    connection: aiosqlite.Connection,
    caller: Caller,
    namespace: str,
    topics: Sequence[str] = (),
    *,
    from_hub: bool = True,
) -> list[str]:
    """Return the wings that the search of a coding agent reaches, in the order that counts.

    The namespace, the projects it is linked to, the topics asked for, what is global; from a hub
    then every other repository, unless ``from_hub`` is False. Only wings within the caller's reach,
    whether or not they hold anything yet, and every other repository only if the caller knows of
    it. Of a namespace beyond its reach a caller learns nothing.
    """
    links: Iterable[sqlite3.Row] = ()
    if caller.reach.admits(namespace):
        links = await connection.execute_fetchall(_LINKS, {"wing": namespace})
    linked, hub = [], False
    for kind, wing, other in links:
        hub = hub or (kind == TunnelKind.HUB and wing == namespace)
        linked += [name for name in (wing, other) if name and name.startswith(PROJECTS)]
    wanted = [namespace, *sorted(linked), *(_topic(topic) for topic in topics), GLOBAL_WING]
    if hub and from_hub:
        wanted += await _repositories(connection, caller)
    return [wing for wing in dict.fromkeys(wanted) if caller.reach.admits(wing)]


async def _repositories(connection: aiosqlite.Connection, caller: Caller) -> list[str]:
    """Return every repository that an administrator named or the caller sees a memory in."""
    clause = visible_to(caller, Filters(statuses=KEPT))
    rows = await connection.execute_fetchall(_REPOSITORIES % clause.sql, clause.parameters)
    return [name for (name,) in rows if is_repository(name)]


def _topic(topic: str) -> str:
    return topic if topic.startswith(TOPICS) else f"{TOPICS}{topic}"


async def with_neighbours(  # noqa: PLR0917 - a search, and what it found
    database: Database,
    search: MemorySearch,
    caller: Caller,
    filters: Filters,
    query: str,
    limit: int,
    min_score: float | None,
    found: SearchResult,
) -> SearchResult:
    """Return what was found in a place and, as far as there is room, what lies one tunnel away."""
    if len(found.hits) >= limit or (filters.wing is None and filters.room is None):
        return found
    async with database.reading() as connection:
        rooms = await beyond(connection, caller, filters)
    if not rooms:
        return found
    away = replace(
        filters, wing=None, room=None, rooms=tuple(sorted(one.room_id for one in rooms.values()))
    )
    further = await search.find(caller, away, query, limit - len(found.hits), min_score)
    hits = found.hits + tuple(
        # Who moved meanwhile is found where it is now, which no tunnel may lead to.
        replace(hit, via=rooms[place].via)
        for hit in further.hits
        if (place := (hit.memory.wing, hit.memory.room)) in rooms
    )
    return SearchResult(hits=hits, ranking=ranking_of(hits))
