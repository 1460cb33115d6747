"""The same tools as plain REST, the document that describes them, and the health of the door.

The tools take the arguments as a JSON object and answer with the bare reply; a refusal has the HTTP
status that fits it. The rules and limits of the MCP endpoint hold here too.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
import logging
from types import MappingProxyType
from typing import Final

from aiohttp import hdrs, web
from homeassistant.components.http import KEY_HASS, HomeAssistantView
from homeassistant.const import CONTENT_TYPE_JSON
from homeassistant.helpers.json import json_bytes

from ..core import Access, AiMemoryError, Filters
from ..runtime import loaded_entry
from .clients import Client, bearer_token
from .door import Door
from .engine import AccessMissingError, JsonObject, MalformedJsonError, UnknownError, read_json
from .gate import BASE_PATH, let_in
from .limits import TooManyRequestsError
from .openapi import openapi_document
from .refusals import refusal_body, refusal_status
from .requests import RequestRefusedError, check_form, read_body
from .transport import INLINE_BODY_BYTES, too_many

_LOGGER: Final = logging.getLogger(__name__)

_REFUSED: Final[Mapping[type[Exception], tuple[HTTPStatus, str]]] = MappingProxyType(
    {
        MalformedJsonError: (HTTPStatus.BAD_REQUEST, "malformed"),
        UnknownError: (HTTPStatus.NOT_FOUND, "unknown_tool"),
        AccessMissingError: (HTTPStatus.FORBIDDEN, "access_denied"),
    }
)
"""Status and key of what is refused before the memory is asked."""

type Work = Callable[[Door, Client], Awaitable[JsonObject]]
type Enter = Callable[[web.Request], Awaitable[tuple[Door, Client]]]


class ToolView(HomeAssistantView):
    """Runs one tool."""

    url = f"{BASE_PATH}/tools/{{name}}"
    name = "api:ai_memory:tool"
    requires_auth = False

    async def post(self, request: web.Request, name: str) -> web.Response:
        """Run the tool with the arguments in the body."""
        return await run_tool(request, name)


class OpenApiView(HomeAssistantView):
    """Describes the tools."""

    url = f"{BASE_PATH}/openapi.json"
    name = "api:ai_memory:openapi"
    requires_auth = False

    async def get(self, request: web.Request) -> web.Response:
        """Return the document of what the client may use."""

        async def work(door: Door, client: Client) -> JsonObject:
            version = door.offer.about.version
            return openapi_document(door.offer.tools(client), version, BASE_PATH)

        return await answer(request, work)


class HealthView(HomeAssistantView):
    """Says whether the memory is open; to a client that is let in, a little more."""

    url = f"{BASE_PATH}/health"
    name = "api:ai_memory:health"
    requires_auth = False

    async def get(self, request: web.Request) -> web.Response:
        """Return the health."""
        entry = loaded_entry(request.app[KEY_HASS])
        if entry is None:
            return _json({"status": "unavailable"}, HTTPStatus.SERVICE_UNAVAILABLE)
        if bearer_token(request) is None and hdrs.ORIGIN not in request.headers:
            return _json({"status": "ok"})

        async def work(door: Door, client: Client) -> JsonObject:
            told: JsonObject = {
                "status": "ok",
                "version": door.offer.about.version,
                "client": client.name,
                "access": [*sorted(client.access)],
            }
            if Access.READ in client.access:
                # Of the whole house only an open door is told: a client may reach little of it.
                manager = entry.runtime_data.manager
                sweep = manager.anchors.last_sweep
                told["anchor_sweep"] = sweep.at.isoformat() if sweep else None
                told["memories"] = (await manager.latest(client.caller(), Filters(), 1)).total
            return told

        return await answer(request, work)


async def run_tool(request: web.Request, name: str, enter: Enter = let_in) -> web.Response:
    """Run a tool for whoever is let in; ``enter`` knows who is."""

    async def work(door: Door, client: Client) -> JsonObject:
        check_form(request)
        arguments = await _read_arguments(await read_body(request))
        return await door.offer.run(client, name, arguments)

    return await answer(request, work, enter)


async def answer(request: web.Request, work: Work, enter: Enter = let_in) -> web.Response:
    """Let a client in, do the work within its limits and return its outcome as JSON."""
    try:
        door, client = await enter(request)
        async with door.limits.present(client.key) as share, share.running:
            return _json(await work(door, client))
    except (RequestRefusedError, TooManyRequestsError) as err:
        return _refused(err if isinstance(err, RequestRefusedError) else too_many(err))
    except AiMemoryError as err:
        return _json(refusal_body(err), refusal_status(err))
    except tuple(_REFUSED) as err:
        status, key = _REFUSED[type(err)]
        return _json(_error(str(err), key), status)
    except Exception:
        # The one place where anything may arrive: the client hears that it failed, the log why.
        _LOGGER.exception("%s failed", request.path)
        failure = _error("The memory failed unexpectedly", "unexpected")
        return _json(failure, HTTPStatus.INTERNAL_SERVER_ERROR)


async def _read_arguments(body: bytes) -> JsonObject:
    if len(body) <= INLINE_BODY_BYTES:
        value = read_json(body)
    else:
        value = await asyncio.get_running_loop().run_in_executor(None, read_json, body)
    if not isinstance(value, dict):
        raise MalformedJsonError("The arguments are an object")
    return value


def _refused(refusal: RequestRefusedError) -> web.Response:
    key = HTTPStatus(refusal.status).name.lower()
    return _json(_error(refusal.reason, key), refusal.status, refusal.headers)


def _error(text: str, key: str) -> JsonObject:
    return {"error": text, "error_key": key}


def _json(
    body: JsonObject, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> web.Response:
    return web.Response(
        body=json_bytes(body), status=status, headers=headers, content_type=CONTENT_TYPE_JSON
    )
