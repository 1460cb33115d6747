"""The services that arrange the palace: publications of its operations, and who may do what.

``services`` registers them beside all others. Rearranging needs an administrator of Home Assistant,
or an automation that runs by itself.
"""

from dataclasses import replace
from typing import Final

from homeassistant.core import ServiceCall

from .core import HOME_ACCESS, Access, Caller
from .operations import Publication

PALACE_SERVICES: Final = (
    Publication(name="list_places", operation_name="palace", offered=("wing",)),
    Publication(
        name="describe_place",
        operation_name="describe_place",
        offered=("wing", "room", "description", "default_scope"),
    ),
    Publication(
        name="rename_place",
        operation_name="rename_place",
        offered=("wing", "room", "new_wing", "new_room", "merge"),
    ),
    Publication(
        name="delete_place",
        operation_name="delete_place",
        offered=("wing", "room", "move_to_wing", "move_to_room"),
    ),
    Publication(
        name="connect_places",
        operation_name="connect",
        offered=("wing", "room", "to_wing", "to_room", "reason"),
    ),
    Publication(name="disconnect_places", operation_name="disconnect", offered=("tunnel_id",)),
    Publication(name="list_tunnels", operation_name="tunnels", offered=("wing", "room", "state")),
    Publication(name="propose_tunnels", operation_name="propose_tunnels", offered=()),
    Publication(name="accept_tunnel", operation_name="accept_tunnel", offered=("tunnel_id",)),
    Publication(name="dismiss_tunnel", operation_name="dismiss_tunnel", offered=("tunnel_id",)),
)

_REARRANGING: Final = frozenset({"describe_place", "rename_place", "delete_place"})


def rearranges(publication: Publication) -> bool:
    """Return whether a service changes places."""
    return publication.operation_name in _REARRANGING


async def rearranging(call: ServiceCall, caller: Caller) -> Caller:
    """Return the caller with the access to change places, if it has that."""
    user_id = call.context.user_id
    user = None if user_id is None else await call.hass.auth.async_get_user(user_id)
    # What runs without a user is an automation, and an administrator wrote it.
    trusted = user_id is None or (user is not None and user.is_admin)
    return replace(caller, access=HOME_ACCESS | {Access.ADMIN}) if trusted else caller
