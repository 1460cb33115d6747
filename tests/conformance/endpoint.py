"""The endpoint under test: the transport of this project on a bare web server, without sign-in.

The suite cannot send a token, so letting in is left out; every other rule of the real endpoint
holds, and the code that answers is the same.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

from aiohttp import web

from custom_components.ai_memory.mcp.engine import Server
from custom_components.ai_memory.mcp.limits import Limits
from custom_components.ai_memory.mcp.requests import RequestRefusedError, check_origin
from custom_components.ai_memory.mcp.transport import Transport, refused

from .fixtures import FixtureOffer, Visitor

HOST: Final = "127.0.0.1"
PATH: Final = "/mcp"


def fixture_app() -> web.Application:
    """Return the application that serves the fixtures."""
    transport: Transport[Visitor] = Transport(Server(FixtureOffer()), Limits())
    visitor = Visitor()

    async def post(request: web.Request) -> web.StreamResponse:
        try:
            check_origin(request)
        except RequestRefusedError as err:
            return refused(err)
        return await transport.post(request, visitor)

    async def not_allowed(request: web.Request) -> web.StreamResponse:
        reason = "Only POST is answered here"
        return refused(
            RequestRefusedError(HTTPStatus.METHOD_NOT_ALLOWED, reason, {"Allow": "POST"})
        )

    app = web.Application()
    app.router.add_post(PATH, post)
    app.router.add_get(PATH, not_allowed)
    app.router.add_delete(PATH, not_allowed)
    return app


@asynccontextmanager
async def fixture_server() -> AsyncGenerator[str]:
    """Serve the fixtures on a free port; yields the URL."""
    runner = web.AppRunner(fixture_app(), shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, 0)
        await site.start()
        port = runner.addresses[0][1]
        yield f"http://{HOST}:{port}{PATH}"
    finally:
        await runner.cleanup()
