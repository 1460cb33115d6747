"""What of this door lives as long as a config entry is loaded: the offer, the server, the limits.

Made when the memory is opened and kept in the entry's runtime, where the views find it.
"""

from dataclasses import dataclass
from typing import Any

from homeassistant.config_entries import ConfigEntry

from ..core import MemoryManager
from .clients import Authenticate, Client, first_of, home_assistant_users, known_clients
from .engine import Server
from .limits import Limits
from .offer import MemoryOffer
from .transport import Transport


@dataclass(frozen=True, slots=True)
class Door:
    """The open door."""

    offer: MemoryOffer
    transport: Transport[Client]
    authenticate: Authenticate

    @property
    def limits(self) -> Limits:
        """The shares of the clients, the same for every way of asking."""
        return self.transport.limits

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
    )
