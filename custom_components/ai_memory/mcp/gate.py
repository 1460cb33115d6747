"""Letting a request in: the rules that all views of this door share, up to a known client.

A refusal is an exception; each view words it for its protocol. Wrong tokens count with Home
Assistant's ban logic, a missing one does not: clients ask without to learn how to sign in.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import hdrs, web
from homeassistant.components.http import KEY_HASS
from homeassistant.components.http.ban import process_wrong_login
from homeassistant.core import HomeAssistant
from homeassistant.helpers.network import NoURLAvailableError, get_url

from ..const import DOMAIN
from ..runtime import loaded_entry
from .clients import Client, Refusal
from .door import Door
from .requests import RequestRefusedError, check_origin

BASE_PATH: Final = f"/api/{DOMAIN}"
MCP_PATH: Final = f"{BASE_PATH}/mcp"
METADATA_PATH: Final = f"/.well-known/oauth-protected-resource{MCP_PATH}"
UNAVAILABLE_RETRY_SECONDS: Final = 30


async def let_in(request: web.Request) -> tuple[Door, Client]:
    """Return the open door and who stands in it. Raises RequestRefusedError."""
    check_origin(request)
    door = open_door_of(request.app[KEY_HASS])
    outcome = await door.authenticate(request)
    if isinstance(outcome, Client):
        return door, outcome
    if outcome.wrong_proof:
        await process_wrong_login(request)
    raise _refused(request, outcome)


def open_door_of(hass: HomeAssistant) -> Door:
    """Return the door of the loaded entry. Raises RequestRefusedError while there is none."""
    entry = loaded_entry(hass)
    if entry is None:
        raise RequestRefusedError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "The memory is not set up or could not start",
            {hdrs.RETRY_AFTER: str(UNAVAILABLE_RETRY_SECONDS)},
        )
    return entry.runtime_data.door


def own_address(hass: HomeAssistant) -> str | None:
    """Return the address by which this request reached Home Assistant, if it is a known one."""
    try:
        return get_url(hass, require_current_request=True)
    except NoURLAvailableError:
        return None


def where_to_sign_in(request: web.Request) -> str | None:
    """Return the part of a challenge that leads to the sign-in, where the address is known."""
    address = own_address(request.app[KEY_HASS])
    return None if address is None else f'resource_metadata="{address}{METADATA_PATH}"'


def _refused(request: web.Request, refusal: Refusal) -> RequestRefusedError:
    if refusal.status is not HTTPStatus.UNAUTHORIZED:
        return RequestRefusedError(refusal.status, refusal.reason)
    error = 'error="invalid_token"' if refusal.wrong_proof else None
    details = ", ".join(filter(None, (error, where_to_sign_in(request))))
    challenge: dict[str, str] = {hdrs.WWW_AUTHENTICATE: f"Bearer {details}".strip()}
    return RequestRefusedError(refusal.status, refusal.reason, challenge)
