"""Listening for changes: a request of the stateless era that is answered when it ends.

The first message says which kinds of change will be told; then each change is told as it happens,
tagged with the id of the request. Repeated changes that nobody has fetched yet are told once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from .jsonrpc import ErrorCode, Request, RpcError, notification_message
from .offer import ChangeKind, Offer, OfferChange
from .strict_json import JsonObject, JsonValue

SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"
WATCHED_MAXIMUM_RESOURCES: Final = 256

_FILTERS: Final = {
    "toolsListChanged": ChangeKind.TOOLS,
    "promptsListChanged": ChangeKind.PROMPTS,
    "resourcesListChanged": ChangeKind.RESOURCES,
}
_RESOURCES: Final = "resourceSubscriptions"

type Send = Callable[[JsonObject], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a client listens for, of what the offer tells at all."""

    kinds: frozenset[ChangeKind]
    uris: frozenset[str]

    def includes(self, change: OfferChange) -> bool:
        """Return whether a change is to be told."""
        if change.kind is ChangeKind.RESOURCE:
            return change.uri in self.uris
        return change.kind in self.kinds

    def as_wire(self) -> JsonObject:
        """Return what is acknowledged."""
        wire: JsonObject = {name: True for name, kind in _FILTERS.items() if kind in self.kinds}
        if self.uris:
            wire[_RESOURCES] = [*sorted(self.uris)]
        return wire


async def listen(
    offer: Offer[Any], client: object, request: Request, send: Send, closing: asyncio.Event
) -> JsonObject:
    """Tell a client of changes until it leaves, which cancels this, or the server closes."""
    wanted = _wanted(offer, client, request.params.get("notifications"))
    tag: JsonObject = {SUBSCRIPTION_KEY: request.id}
    # A dictionary as an ordered set: a change that still waits to be told is told once.
    waiting: dict[OfferChange, None] = {}
    arrived = asyncio.Event()

    def note(change: OfferChange) -> None:
        if wanted.includes(change):
            waiting[change] = None
            arrived.set()

    end = offer.subscribe(client, note)
    closed = asyncio.ensure_future(closing.wait())
    closed.add_done_callback(lambda _: arrived.set())
    try:
        acknowledged: JsonObject = {"notifications": wanted.as_wire(), "_meta": tag}
        await send(notification_message("notifications/subscriptions/acknowledged", acknowledged))
        while not closing.is_set():
            await arrived.wait()
            arrived.clear()
            while waiting:
                change = next(iter(waiting))
                del waiting[change]
                params: JsonObject = {"_meta": tag}
                if change.uri is not None:
                    params["uri"] = change.uri
                await send(notification_message(change.kind.value, params))
    finally:
        closed.cancel()
        end()
    return {"_meta": tag}


def _wanted(offer: Offer[Any], client: object, filters: JsonValue) -> Wanted:
    if not isinstance(filters, dict):
        raise RpcError(ErrorCode.INVALID_PARAMS, "notifications must be an object")
    uris = filters.get(_RESOURCES) or []
    if not isinstance(uris, list) or len(uris) > WATCHED_MAXIMUM_RESOURCES:
        problem = f"{_RESOURCES} must be a list of at most {WATCHED_MAXIMUM_RESOURCES} URIs"
        raise RpcError(ErrorCode.INVALID_PARAMS, problem)
    told = offer.about.changes
    kinds = {kind for name, kind in _FILTERS.items() if filters.get(name) is True} & told
    watched = set(map(str, uris)) if ChangeKind.RESOURCE in told else set()
    watched = {uri for uri in watched if offer.tells_of(client, uri)}
    return Wanted(frozenset(kinds), frozenset(watched))
