"""What of this door lives as long as a config entry is loaded: the offer, the server, the limits.

Made when the memory is opened and kept in the entry's runtime, where the views find it. A client
that is added, changed or removed meanwhile needs no other door: it is looked up with each request,
and what it still had running is ended here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from ..core import MemoryManager
from .client_tokens import settings_by_id
from .clients import Authenticate, Client, first_of, home_assistant_users, keys_of, known_clients
from .engine import Server
from .limits import Limits
from .offer import MemoryOffer
from .transport import Transport


@dataclass(slots=True)
class Door:
    """The open door."""

    offer: MemoryOffer
    transport: Transport[Client]
    authenticate: Authenticate
    clients: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The clients that a person added, as requests under way may know them."""

    @property
    def limits(self) -> Limits:
        """The shares of the clients, the same for every way of asking."""
        return self.transport.limits

    async def follow(self, hass: HomeAssistant, entry: ConfigEntry[Any]) -> None:
        """End what clients have running that are no longer what they were; the others go on."""
        before, self.clients = self.clients, settings_by_id(entry.subentries.values())
        for subentry_id, settings in before.items():
            if self.clients.get(subentry_id) != settings:
                for key in keys_of(subentry_id):
                    self.transport.end(key)

    def close(self) -> None:
        """End the requests that still run or listen."""
        self.transport.server.close()


def open_door(entry: ConfigEntry[Any], manager: MemoryManager, version: str) -> Door:
    """Return the door of an open memory."""
    offer = MemoryOffer(manager, version)
    settings = {**entry.data, **entry.options}
    return Door(
        offer=offer,
        transport=Transport(Server(offer), Limits()),
        authenticate=first_of((known_clients(entry), home_assistant_users(settings))),
        clients=settings_by_id(entry.subentries.values()),
    )
