"""Tunnels: which places belong together, and what a search finds beyond them.

A tunnel joins two rooms or two wings; between two rooms of one wing it is called a hall. In the
workshop a link joins a repository to a project that it shares with others, and a hub is a
repository that reaches every other one. ``places`` changes them inside its transactions, ``search``
and the coding tools ask where they lead. A tunnel widens nobody's view: both ends of one that a
caller is told of are known to the caller, and what lies beyond is seen as anywhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiosqlite
from ulid_transform import ulid_at_time

from . import place_view
from .errors import InvalidInputError, NotFoundError
from .models import Caller
from .palace import ensure_wing
from .place_view import PlaceName
from .tunnel_rows import End, TunnelKind, TunnelRow, TunnelState, between, check_link


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A tunnel by the names of its ends; ``end`` is None for a hub, which leads everywhere."""

    id: str
    kind: TunnelKind
    state: TunnelState
    start: PlaceName
    end: PlaceName | None
    reason: str
    source: str
    created_ms: int

    @property
    def is_hall(self) -> bool:
        """Whether it joins two rooms of one wing."""
        return self.end is not None and self.start.wing == self.end.wing


_TUNNELS: Final = """
    SELECT t.id, t.kind, t.state, fw.name, fr.name, tw.name, tr.name, t.reason, t.source,
        t.created_ms
    FROM tunnels t JOIN wings fw ON fw.id = t.from_wing
    LEFT JOIN rooms fr ON fr.id = t.from_room
    LEFT JOIN wings tw ON tw.id = t.to_wing
    LEFT JOIN rooms tr ON tr.id = t.to_room
"""
_INSERT: Final = """
    INSERT INTO tunnels (
        id, kind, state, from_wing, from_room, to_wing, to_room, reason, source, created_ms
    ) VALUES (:id, :kind, :state, :from_wing, :from_room, :to_wing, :to_room, :reason, :source,
        :now_ms)
"""


async def connect(
    connection: aiosqlite.Connection,
    caller: Caller,
    ends: tuple[PlaceName, PlaceName],
    reason: str,
    now_ms: int,
) -> str:
    """Join two places that the caller knows of; returns the id of the tunnel.

    One that was proposed or dismissed becomes open. No reason is kept where only private memories
    lie. Raises NotFoundError and InvalidInputError.
    """
    check_ends(TunnelKind.TUNNEL, *ends)
    rows = [await place_view.known(connection, caller, place) for place in ends]
    if not all([await place_view.is_common(connection, row) for row in rows]):
        reason = ""
    start, end = (End(row.wing_id, row.room_id) for row in rows)
    return await _open(connection, caller, TunnelKind.TUNNEL, start, end, reason, now_ms)


async def connect_workshop(  # noqa: PLR0917 - two ends, and why
    connection: aiosqlite.Connection,
    caller: Caller,
    repository: str,
    project: str | None,
    reason: str,
    now_ms: int,
) -> str:
    """Link a repository to a project, or make it a hub where there is none; returns the id.

    The namespaces may hold nothing yet. Raises NotFoundError and InvalidInputError.
    """
    kind = TunnelKind.LINK if project else TunnelKind.HUB
    check_link(repository, project)
    for wing in filter(None, (repository, project)):
        if not caller.reach.admits(wing):
            raise NotFoundError("place_not_found", place=wing)
    start = End(await ensure_wing(connection, repository, now_ms), None)
    end = End(await ensure_wing(connection, project, now_ms), None) if project else None
    return await _open(connection, caller, kind, start, end, reason, now_ms)


def check_ends(kind: TunnelKind, start: PlaceName, end: PlaceName | None) -> None:
    """Refuse what no tunnel of a kind can join. Raises InvalidInputError."""
    if kind is TunnelKind.TUNNEL:
        if end is None or start == end:
            raise InvalidInputError("tunnel_to_itself", place=start.told)
        if (start.room is None) != (end.room is None):
            raise InvalidInputError("tunnel_ends_differ", first=start.told, second=end.told)
        return
    if start.room is not None or (end is not None and end.room is not None):
        second = "" if end is None else end.told
        raise InvalidInputError("invalid_link", first=start.told, second=second)
    check_link(start.wing, None if end is None else end.wing)


async def _open(  # noqa: PLR0917 - the columns of a row
    connection: aiosqlite.Connection,
    caller: Caller,
    kind: TunnelKind,
    start: End,
    end: End | None,
    reason: str,
    now_ms: int,
) -> str:
    there = await between(connection, start, end)
    if there is not None and there.state is TunnelState.OPEN:
        raise InvalidInputError("tunnel_exists", id=there.id)
    return await open_between(connection, caller, kind, start, end, there, reason, now_ms)


async def open_between(  # noqa: PLR0917 - the columns of a row
    connection: aiosqlite.Connection,
    caller: Caller,
    kind: TunnelKind,
    start: End,
    end: End | None,
    instead: TunnelRow | None,
    reason: str,
    now_ms: int,
) -> str:
    """Open a tunnel between rows, ``instead`` of the one there that was proposed or dismissed."""
    if instead is not None:
        await connection.execute("DELETE FROM tunnels WHERE id = ?", (instead.id,))
    row = _values(kind, TunnelState.OPEN, start, end, now_ms)
    await connection.execute(_INSERT, row | {"reason": reason, "source": caller.source})
    return str(row["id"])


async def propose(
    connection: aiosqlite.Connection, rooms: tuple[int, int], reason: str, now_ms: int
) -> bool:
    """Propose to join two rooms, unless they are joined or somebody dismissed it already."""
    ends = []
    for room in rooms:
        for (wing,) in await connection.execute_fetchall(
            "SELECT wing_id FROM rooms WHERE id = ? AND moving_to IS NULL", (room,)
        ):
            ends.append(End(wing, room))
    if len(ends) < len(rooms) or await between(connection, ends[0], ends[1]) is not None:
        return False
    row = _values(TunnelKind.TUNNEL, TunnelState.PROPOSED, ends[0], ends[1], now_ms)
    await connection.execute(_INSERT, row | {"reason": reason, "source": "maintenance"})
    return True


async def proposed_count(connection: aiosqlite.Connection) -> int:
    """Return how many proposals wait for somebody to decide."""
    rows = await connection.execute_fetchall(
        "SELECT count(*) FROM tunnels WHERE state = 'proposed'"
    )
    return int(next(iter(rows))[0])


def _values(
    kind: TunnelKind, state: TunnelState, start: End, end: End | None, now_ms: int
) -> dict[str, str | int | None]:
    return {
        "id": ulid_at_time(now_ms / 1000),
        "kind": kind,
        "state": state,
        "from_wing": start.wing,
        "from_room": start.room,
        "to_wing": end.wing if end else None,
        "to_room": end.room if end else None,
        "now_ms": now_ms,
    }


async def decide(
    connection: aiosqlite.Connection, caller: Caller, tunnel_id: str, state: TunnelState
) -> Tunnel:
    """Open a tunnel that was proposed, or dismiss it for good. Raises NotFoundError."""
    tunnel = await get(connection, caller, tunnel_id)
    await connection.execute("UPDATE tunnels SET state = ? WHERE id = ?", (state, tunnel_id))
    return tunnel


async def disconnect(connection: aiosqlite.Connection, caller: Caller, tunnel_id: str) -> Tunnel:
    """Remove a tunnel; one that was found by itself is not found again.

    What is left of that one is no tunnel any more. Raises NotFoundError.
    """
    tunnel = await get(connection, caller, tunnel_id)
    if tunnel.state is TunnelState.DISMISSED:
        raise NotFoundError("tunnel_not_found", id=tunnel_id[:40])
    if tunnel.kind is TunnelKind.TUNNEL and tunnel.start.room is not None:
        return await decide(connection, caller, tunnel_id, TunnelState.DISMISSED)
    await connection.execute("DELETE FROM tunnels WHERE id = ?", (tunnel_id,))
    return tunnel


async def get(connection: aiosqlite.Connection, caller: Caller, tunnel_id: str) -> Tunnel:
    """Return one tunnel whose ends the caller knows. Raises NotFoundError."""
    for tunnel in await _known(connection, caller, "WHERE t.id = ?", (tunnel_id,)):
        return tunnel
    raise NotFoundError("tunnel_not_found", id=tunnel_id[:40])


async def listing(
    connection: aiosqlite.Connection,
    caller: Caller,
    place: PlaceName | None,
    state: TunnelState | None,
) -> list[Tunnel]:
    """Return the tunnels whose ends the caller knows, those of one place and state if asked."""
    shown = []
    for tunnel in await _known(connection, caller, "ORDER BY t.created_ms, t.id", ()):
        if state is not None and tunnel.state is not state:
            continue
        if place is None or _touches(tunnel, place):
            shown.append(tunnel)
    return shown


async def in_state(connection: aiosqlite.Connection, state: TunnelState) -> list[Tunnel]:
    """Return the tunnels that stand like this, whoever knows of their ends."""
    rows = await connection.execute_fetchall(f"{_TUNNELS} WHERE t.state = ?", (state,))
    return [_tunnel(*row) for row in rows]


def _touches(tunnel: Tunnel, place: PlaceName) -> bool:
    return any(
        end is not None and end.wing == place.wing and place.room in {None, end.room}
        for end in (tunnel.start, tunnel.end)
    )


async def _known(
    connection: aiosqlite.Connection, caller: Caller, condition: str, values: Sequence[str]
) -> list[Tunnel]:
    """Return tunnels of which the caller knows both ends."""
    known: dict[PlaceName, bool] = {}
    found = []
    for row in await connection.execute_fetchall(f"{_TUNNELS} {condition}", values):
        tunnel = _tunnel(*row)
        ends = [place for place in (tunnel.start, tunnel.end) if place is not None]
        for place in ends:
            if place not in known:
                known[place] = await is_known(connection, caller, tunnel.kind, place)
        if all(known[place] for place in ends):
            found.append(tunnel)
    return found


def _tunnel(  # noqa: PLR0917 - the columns of a row
    id_: str,
    kind: str,
    state: str,
    wing: str,
    room: str | None,
    to_wing: str | None,
    to_room: str | None,
    *told: Any,  # noqa: ANN401 - the columns that need no change
) -> Tunnel:
    start = PlaceName(wing, room)
    end = None if to_wing is None else PlaceName(to_wing, to_room)
    return Tunnel(id_, TunnelKind(kind), TunnelState(state), start, end, *told)


async def is_known(
    connection: aiosqlite.Connection, caller: Caller, kind: TunnelKind, place: PlaceName
) -> bool:
    """Return whether the caller knows of a place at the end of a tunnel of some kind."""
    if kind is not TunnelKind.TUNNEL:
        # An administrator named it, whatever lies there.
        return caller.reach.admits(place.wing)
    return await place_view.find_known(connection, caller, place) is not None
