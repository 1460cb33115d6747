"""What of this door lives as long as a config entry is loaded: the offer, the server, the limits.

Made when the memory is opened and kept in the entry's runtime, where the views find it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core import MemoryManager
from .clients import Authenticate, Client, first_of, home_assistant_users
from .engine import Server
from .limits import Limits
from .offer import MemoryOffer
from .tools import TOOLS
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


def open_door(
    manager: MemoryManager,
    settings: Mapping[str, Any],
    version: str,
    ways_in: Sequence[Authenticate] = (),
) -> Door:
    """Return the door of an open memory; ``ways_in`` are asked before Home Assistant's users."""
    offer = MemoryOffer(manager, TOOLS, version)
    return Door(
        offer=offer,
        transport=Transport(Server(offer), Limits()),
        authenticate=first_of((*ways_in, home_assistant_users(settings))),
    )
