"""The door of coding agents without a house around it: the real transport on a socket of its own.

``fuzz`` and ``door`` knock on it. Everything behind the socket is the product's, but for who is let
in: Home Assistant checks its users' tokens and keeps the clients' digests, here a table of tokens
stands in for both.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import web
from homeassistant.core import HomeAssistant

from custom_components.ai_memory.core import Access, MemoryManager, Reach
from custom_components.ai_memory.mcp.clients import (
    WRONG_PROOF,
    Authenticate,
    Client,
    Refusal,
    Source,
    bearer_token,
)
from custom_components.ai_memory.mcp.door import Door
from custom_components.ai_memory.mcp.engine import Server
from custom_components.ai_memory.mcp.limits import Limits
from custom_components.ai_memory.mcp.offer import MemoryOffer
from custom_components.ai_memory.mcp.requests import RequestRefusedError, check_origin
from custom_components.ai_memory.mcp.rest import run_tool
from custom_components.ai_memory.mcp.transport import Transport, refused

MCP_PATH: Final = "/mcp"
TOOLS_PATH: Final = "/tools/"
_EVERYTHING: Final = frozenset(Access)


def client_of(
    name: str,
    access: frozenset[Access] = _EVERYTHING,
    *,
    home: bool = False,
    wings: tuple[str, ...] | None = None,
) -> Client:
    """Return a client as its subentry makes it."""
    reach = Reach(home=home, workshop=True, wings=wings)
    return Client(name=name, access=access, source=Source.TOKEN, identity=name, reach=reach)


@asynccontextmanager
async def open_door(
    manager: MemoryManager, tokens: Mapping[str, Client], config: Path
) -> AsyncGenerator[str]:
    """Serve a memory on a free port of this machine; lends the address."""
    # An idle core is how the door words its errors; nothing is set up in it.
    hass = HomeAssistant(str(config))
    offer = MemoryOffer(manager, "0")
    door = Door(offer, Transport(Server(offer), Limits()), _knowing(tokens))

    async def enter(request: web.Request) -> tuple[Door, Client]:
        check_origin(request)
        outcome = await door.authenticate(request)
        if isinstance(outcome, Refusal):
            raise RequestRefusedError(outcome.status, outcome.reason)
        return door, outcome

    async def mcp(request: web.Request) -> web.StreamResponse:
        try:
            _, client = await enter(request)
        except RequestRefusedError as err:
            return refused(err)
        return await door.transport.post(request, client)

    async def tool(request: web.Request) -> web.Response:
        return await run_tool(request, request.match_info["name"], enter)

    app = web.Application()
    app.router.add_post(MCP_PATH, mcp)
    app.router.add_post(f"{TOOLS_PATH}{{name}}", tool)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    try:
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        door.close()
        await runner.cleanup()
        await hass.async_stop(force=True)


def _knowing(tokens: Mapping[str, Client]) -> Authenticate:
    async def authenticate(request: web.Request) -> Client | Refusal:
        return tokens.get(bearer_token(request) or "", WRONG_PROOF)

    return authenticate
