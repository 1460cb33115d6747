"""Showing and arranging the palace: the operations on wings, rooms and tunnels.

Renaming, joining and deleting places needs the access ``admin`` whatever they hold: a refusal that
depended on it would tell of what others keep there in private.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from ..core import (
    Access,
    Caller,
    MemoryManager,
    Outcome,
    PlaceName,
    Scope,
    Tunnel,
    TunnelState,
    WingReport,
)
from ..core.place_view import ROOMS_TOLD
from .operation import ROOM, SCOPE, WING, Operation, required
from .parameters import Kind, Parameter, Values
from .replies import JsonValue, Reply

HALL: Final = "hall"
CLOSED: Final = "closed"
TUNNELS_TOLD: Final = 500

_WING: Final = required(WING)
_TUNNEL_ID: Final = Parameter(name="tunnel_id", required=True)
_REASON: Final = Parameter(name="reason", description="why they belong together")


async def _palace(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    wings = await manager.places.wings(caller, values.text("wing"))
    told: list[JsonValue] = []
    left = ROOMS_TOLD
    for wing in wings:
        if left > 0:
            told.append(_wing_reply(wing, left))
        left -= len(wing.rooms)
    return {
        "wings": told,
        "count": len(wings),
        "memories": sum(wing.count for wing in wings),
        "rooms_left_out": max(0, -left),
    }


async def _describe(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    place = await manager.places.describe(
        caller,
        values.given("wing"),
        values.text("room"),
        values.text("description"),
        _scope(values),
    )
    return {"result": "described", **_place_reply(place)}


async def _rename(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    outcome = await manager.places.rename(
        caller,
        (values.given("wing"), values.text("room")),
        (values.text("new_wing"), values.text("new_room")),
        merge=bool(values.flag("merge")),
    )
    return _outcome_reply(outcome)


async def _delete(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    outcome = await manager.places.delete(
        caller,
        (values.given("wing"), values.text("room")),
        (values.text("move_to_wing"), values.text("move_to_room")),
    )
    return {"result": outcome.result, "moved": outcome.count}


async def _rename_owner(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    outcomes = await manager.places.rename_owner(caller, values.given("from"), values.given("to"))
    wings: list[JsonValue] = [outcome.place.wing for outcome in outcomes]
    return {"result": "renamed" if wings else "unchanged", "wings": wings}


async def _connect(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    tunnel = await manager.places.connect(
        caller,
        (values.given("wing"), values.text("room")),
        (values.given("to_wing"), values.text("to_room")),
        values.text("reason") or "",
    )
    return {"result": "connected", "tunnel": _tunnel_reply(tunnel)}


async def _hub(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    tunnel = await manager.places.link(caller, values.given("wing"), None)
    return {"result": "connected", "tunnel": _tunnel_reply(tunnel)}


async def _disconnect(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    tunnel = await manager.places.disconnect(caller, values.given("tunnel_id"))
    return {"result": "disconnected", "tunnel": _tunnel_reply(tunnel) | {"state": CLOSED}}


async def _tunnels(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    state = values.text("state")
    found = await manager.places.tunnels(
        caller,
        values.text("wing"),
        values.text("room"),
        None if state is None else TunnelState(state),
    )
    told: list[JsonValue] = [_tunnel_reply(tunnel) for tunnel in found[:TUNNELS_TOLD]]
    return {"tunnels": told, "count": len(told), "total": len(found)}


async def _propose(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    await manager.places.propose_tunnels(values.texts("names"))
    waiting = await manager.places.tunnels(caller, None, None, TunnelState.PROPOSED)
    told: list[JsonValue] = [_tunnel_reply(tunnel) for tunnel in waiting]
    return {"tunnels": told, "count": len(told)}


async def _accept(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    tunnel = await manager.places.decide(caller, values.given("tunnel_id"), TunnelState.OPEN)
    return {"result": "accepted", "tunnel": _tunnel_reply(tunnel)}


async def _dismiss(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    tunnel = await manager.places.decide(caller, values.given("tunnel_id"), TunnelState.DISMISSED)
    return {"result": "dismissed", "tunnel": _tunnel_reply(tunnel)}


def _scope(values: Values) -> Scope | None:
    value = values.text("default_scope")
    return None if value is None else Scope(value)


def _wing_reply(wing: WingReport, rooms: int) -> Reply:
    told: list[JsonValue] = [
        {"room": room.name, "description": room.description, "count": room.count}
        for room in wing.rooms[:rooms]
    ]
    return {
        "wing": wing.name,
        "description": wing.description,
        "default_scope": wing.default_scope.value,
        "count": wing.count,
        "rooms": told,
    }


def _place_reply(place: PlaceName) -> Reply:
    return {"wing": place.wing, "room": place.room}


def _outcome_reply(outcome: Outcome) -> Reply:
    return {"result": outcome.result, **_place_reply(outcome.place), "count": outcome.count}


def _tunnel_reply(tunnel: Tunnel) -> Reply:
    """Return a tunnel; between two rooms of one wing it is called a hall."""
    return {
        "id": tunnel.id,
        "kind": HALL if tunnel.is_hall else tunnel.kind.value,
        "state": tunnel.state.value,
        "from": _place_reply(tunnel.start),
        "to": None if tunnel.end is None else _place_reply(tunnel.end),
        "reason": tunnel.reason,
        "created": datetime.fromtimestamp(tunnel.created_ms / 1000, UTC).isoformat(),
    }


OPERATIONS: Final = (
    Operation(
        name="palace",
        title="Show the palace",
        description="Wings and rooms with what they are for and how many memories they hold.",
        parameters=(WING,),
        access=Access.READ,
        handler=_palace,
    ),
    Operation(
        name="describe_place",
        title="Describe a place",
        description="Say what a wing or room is for, or which scope a wing suggests.",
        parameters=(
            _WING,
            ROOM,
            Parameter(name="description", clearable=True),
            replace(SCOPE, name="default_scope"),
        ),
        access=Access.WRITE,
        handler=_describe,
        destructive=True,
    ),
    Operation(
        name="rename_place",
        title="Rename or merge a place",
        description="Rename a wing or room, or merge it into an existing one.",
        parameters=(
            _WING,
            ROOM,
            Parameter(name="new_wing"),
            Parameter(name="new_room"),
            Parameter(name="merge", kind=Kind.BOOLEAN, default=False),
        ),
        access=Access.ADMIN,
        handler=_rename,
        destructive=True,
    ),
    Operation(
        name="delete_place",
        title="Delete a place",
        description="Delete a wing or room; what it holds moves to another place.",
        parameters=(
            _WING,
            ROOM,
            Parameter(name="move_to_wing"),
            Parameter(name="move_to_room"),
        ),
        access=Access.ADMIN,
        handler=_delete,
        destructive=True,
    ),
    Operation(
        name="rename_owner",
        title="Rename an owner",
        description="Move all namespaces of an owner: from github/old/ to github/new/.",
        parameters=(
            Parameter(name="from", required=True),
            Parameter(name="to", required=True),
        ),
        access=Access.ADMIN,
        handler=_rename_owner,
        destructive=True,
    ),
    Operation(
        name="connect",
        title="Connect places",
        description="Join two rooms or two wings, so that a search in one also offers the other.",
        parameters=(
            _WING,
            ROOM,
            Parameter(name="to_wing", required=True),
            Parameter(name="to_room"),
            _REASON,
        ),
        access=Access.WRITE,
        handler=_connect,
        idempotent=False,
    ),
    Operation(
        name="make_hub",
        title="Make a hub",
        description="Let searches in a repository reach every other one.",
        parameters=(_WING,),
        access=Access.ADMIN,
        handler=_hub,
        idempotent=False,
    ),
    Operation(
        name="disconnect",
        title="Disconnect places",
        description="Close a tunnel.",
        parameters=(_TUNNEL_ID,),
        access=Access.WRITE,
        handler=_disconnect,
        destructive=True,
    ),
    Operation(
        name="tunnels",
        title="List tunnels",
        description="Which places are joined, or proposed to be.",
        parameters=(
            WING,
            ROOM,
            Parameter(
                name="state",
                kind=Kind.CHOICE,
                choices=tuple(state.value for state in TunnelState),
            ),
        ),
        access=Access.READ,
        handler=_tunnels,
    ),
    Operation(
        name="propose_tunnels",
        title="Propose tunnels",
        description="Find rooms that keep sharing the same things and propose to join them.",
        parameters=(
            Parameter(name="names", kind=Kind.TEXTS, description="people of the home", maximum=100),
        ),
        access=Access.WRITE,
        handler=_propose,
    ),
    Operation(
        name="accept_tunnel",
        title="Accept a tunnel",
        description="Open a tunnel that was proposed.",
        parameters=(_TUNNEL_ID,),
        access=Access.WRITE,
        handler=_accept,
    ),
    Operation(
        name="dismiss_tunnel",
        title="Dismiss a tunnel",
        description="Turn a proposed tunnel down for good.",
        parameters=(_TUNNEL_ID,),
        access=Access.WRITE,
        handler=_dismiss,
        destructive=True,
    ),
)
