"""The palace in our own export: what wings and rooms are for, and what joins them.

Each is a line of its own kind beside those of memories. ``exporting`` writes them, ``own`` has them
read, ``furnishing`` puts them in place. A wing or a room that there is nothing to say about has no
line: its memories name it.
"""

from collections.abc import Iterator, Mapping, Sequence
import json
from typing import Any, Final

import aiosqlite

from .. import place_view, tunnels
from ..models import KEPT, Caller, Filters, Scope
from ..palace import first_scope
from ..place_view import PlaceName, WingReport
from ..tunnel_rows import TunnelKind, TunnelState
from ..tunnels import Tunnel
from .values import ImportedPlace, ImportedTunnel, Skipped, SkipReason

KIND_KEY: Final = "kind"
MEMORY: Final = "memory"
"""Goes without saying."""
PLACE: Final = "place"
TUNNEL: Final = "tunnel"

_TEXT_LIMIT_CHARACTERS: Final = 1_000


async def lines(
    connection: aiosqlite.Connection, caller: Caller, filters: Filters, *, all_owners: bool
) -> list[tuple[str, str]]:
    """Return the lines about the palace that the caller may have, each with its key, in order.

    A place is told to those who see one of the memories that are exported in it, a tunnel to those
    to whom both of its ends are.
    """
    lens = Filters(scope=filters.scope, statuses=KEPT)
    wings = await place_view.wings_known(connection, caller, lens, all_owners=all_owners)
    known = {
        place
        for wing in wings
        for place in (PlaceName(wing.name), *(PlaceName(wing.name, r.name) for r in wing.rooms))
    }
    written = [
        (f"{PLACE} {place.wing} {place.room or ''}", line)
        for wing in wings
        for place, line in _about(wing)
        if _wanted(filters, place)
    ]
    written += [
        (f"{TUNNEL} {tunnel.id}", _tunnel_line(tunnel))
        for tunnel in await tunnels.in_state(connection, TunnelState.OPEN)
        if _may_have(caller, known, tunnel) and any(_wanted(filters, end) for end in _ends(tunnel))
    ]
    return sorted(written)


def read_palace(line: int, row: Mapping[str, Any]) -> ImportedPlace | ImportedTunnel | Skipped:
    """Return what a line of another kind than a memory tells."""
    try:
        if row[KIND_KEY] == PLACE:
            return _place(line, row)
        if row[KIND_KEY] == TUNNEL:
            return _tunnel(line, row)
    except (KeyError, TypeError, ValueError):
        return Skipped(line, SkipReason.INVALID_VALUE)
    return Skipped(line, SkipReason.UNKNOWN_KIND)


def _about(wing: WingReport) -> Iterator[tuple[PlaceName, str]]:
    """Return what there is to say about a wing and its rooms."""
    if wing.description or wing.default_scope is not first_scope(wing.name):
        told = {"description": wing.description, "default_scope": wing.default_scope.value}
        yield PlaceName(wing.name), _line({KIND_KEY: PLACE, "wing": wing.name, **told})
    for room in wing.rooms:
        if room.description:
            told = {"wing": wing.name, "room": room.name, "description": room.description}
            yield PlaceName(wing.name, room.name), _line({KIND_KEY: PLACE, **told})


def _wanted(filters: Filters, place: PlaceName) -> bool:
    return filters.wing in {None, place.wing} and filters.room in {None, place.room}


def _ends(tunnel: Tunnel) -> Sequence[PlaceName]:
    return [end for end in (tunnel.start, tunnel.end) if end is not None]


def _may_have(caller: Caller, known: set[PlaceName], tunnel: Tunnel) -> bool:
    if tunnel.kind is TunnelKind.TUNNEL:
        return all(end in known for end in _ends(tunnel))
    # An administrator named its ends, whatever lies there.
    return all(caller.reach.admits(end.wing) for end in _ends(tunnel))


def _tunnel_line(tunnel: Tunnel) -> str:
    end = {} if tunnel.end is None else {"to_wing": tunnel.end.wing, "to_room": tunnel.end.room}
    return _line(
        {
            KIND_KEY: TUNNEL,
            TUNNEL: tunnel.kind.value,
            "from_wing": tunnel.start.wing,
            "from_room": tunnel.start.room,
            **end,
            "reason": tunnel.reason,
        }
    )


def _line(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def _place(line: int, row: Mapping[str, Any]) -> ImportedPlace:
    scope = row.get("default_scope")
    return ImportedPlace(
        line=line,
        place=PlaceName(_text(row["wing"]), _optional(row, "room")),
        description=_optional(row, "description") or "",
        default_scope=None if scope is None else Scope(scope),
    )


def _tunnel(line: int, row: Mapping[str, Any]) -> ImportedTunnel:
    kind, end = TunnelKind(row[TUNNEL]), _optional(row, "to_wing")
    if (end is None) != (kind is TunnelKind.HUB):
        raise ValueError
    return ImportedTunnel(
        line=line,
        kind=kind,
        start=PlaceName(_text(row["from_wing"]), _optional(row, "from_room")),
        end=None if end is None else PlaceName(end, _optional(row, "to_room")),
        reason=_optional(row, "reason") or "",
    )


def _optional(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    return None if value is None else _text(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _TEXT_LIMIT_CHARACTERS:
        raise ValueError
    return value
