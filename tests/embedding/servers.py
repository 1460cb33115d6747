"""Model servers that answer as a test tells them to: real HTTP on this machine, nothing else.

``BROKEN`` holds what a server can do wrong whatever protocol it speaks, with the error that the
engines owe for it. The servers are the network's edge: no part of the project is replaced.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
import gzip
from http import HTTPStatus
import json
from typing import Any, Final

import aiohttp
from aiohttp import web

from custom_components.ai_memory.embedding.errors import (
    EngineReason,
    EngineResponseError,
    EngineUnauthorizedError,
    EngineUnavailableError,
)
from custom_components.ai_memory.embedding.http import RemoteEngine
from custom_components.ai_memory.embedding.protocol import EngineError

_HOST: Final = "127.0.0.1"
_CHUNK: Final = b" " * (256 * 1024)
HUGE_BYTES: Final = 200 * 1024 * 1024
KEY: Final = "made-up-key"

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, as it came over the network."""

    method: str
    path: str
    authorization: str | None
    body: Any


@dataclass(frozen=True, slots=True)
class Settings:
    """What an engine is told about its server."""

    session: aiohttp.ClientSession | None
    url: str
    model: str = "bge-m3"
    api_key: str | None = KEY
    timeout_seconds: float = 10.0
    query_instruction: str | None = None
    document_instruction: str | None = None


class ScriptedServer:
    """A server whose answers are set path by path; every other path is not found."""

    def __init__(self) -> None:
        """Begin with no answers."""
        self.url = ""
        self.asked: list[Asked] = []
        self.answers: dict[str, Handler] = {}
        self.sent_bytes = 0

    def answer(self, path: str, content: Any, status: int = HTTPStatus.OK) -> None:
        """Answer requests for this path with this JSON."""
        self.answers[path] = json_answer(content, status)

    def bodies(self, path: str) -> list[Any]:
        """Return what was sent to this path, in order."""
        return [asked.body for asked in self.asked if asked.path == path]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Note a request and answer it."""
        body = await request.json() if request.can_read_body else None
        authorization = request.headers.get("Authorization")
        self.asked.append(Asked(request.method, request.rel_url.raw_path, authorization, body))
        request["server"] = self
        answer = self.answers.get(request.rel_url.raw_path, _not_found)
        return await answer(request)


@asynccontextmanager
async def running_server() -> AsyncIterator[ScriptedServer]:
    """Serve on a free port until the end of the block."""
    server = ScriptedServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, _HOST, 0).start()
        server.url = f"http://{_HOST}:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()


def json_answer(content: Any, status: int = HTTPStatus.OK) -> Handler:
    """Return a handler that answers with JSON; NaN and infinity as Python writes them."""
    return text_answer(json.dumps(content), status, content_type="application/json")


def text_answer(
    text: str,
    status: int = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
    content_type: str = "text/plain",
) -> Handler:
    """Return a handler that answers with a text."""

    async def handle(_request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, status=status, headers=headers, content_type=content_type)

    return handle


def redirect(status: int, location: str) -> Handler:
    """Return a handler that sends the client elsewhere."""
    return text_answer("", status, {"Location": location})


async def hang(_request: web.Request) -> web.StreamResponse:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def drip(request: web.Request) -> web.StreamResponse:
    """Send a byte now and then, for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


async def close_mid_body(request: web.Request) -> web.StreamResponse:
    """Announce more than is sent, then hang up."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"data": [')
    assert request.transport is not None
    request.transport.close()
    return response


async def close_at_once(request: web.Request) -> web.StreamResponse:
    """Hang up without a word."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def stream_endlessly(
    request: web.Request, *, announced: bool, line: bytes = _CHUNK
) -> web.StreamResponse:
    """Send 200 MB, unless the client has had enough before."""
    server: ScriptedServer = request["server"]
    headers = {"Content-Length": str(HUGE_BYTES)} if announced else {}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    while server.sent_bytes < HUGE_BYTES:
        await response.write(line)
        server.sent_bytes += len(line)
    return response


async def _unpack_to_much(_request: web.Request) -> web.StreamResponse:
    packed = gzip.compress(bytes(64 * 1024 * 1024), compresslevel=1)
    return web.Response(body=packed, headers={"Content-Encoding": "gzip"})


async def _not_found(_request: web.Request) -> web.StreamResponse:
    return web.Response(text="404 page not found", status=HTTPStatus.NOT_FOUND)


_HTML = (
    "<!DOCTYPE html><html><title>Router</title><body>No model here: model not found</body></html>"
)
_WRONG = (EngineResponseError, EngineReason.BAD_RESPONSE)
_DOWN = (EngineUnavailableError, EngineReason.UNREACHABLE)
_DENIED = (EngineUnauthorizedError, EngineReason.UNAUTHORIZED)

# What goes wrong: how a server does it, and the error that says so.
BROKEN: Final[Mapping[str, tuple[Handler, type[EngineError], EngineReason]]] = {
    "hangs": (hang, EngineUnavailableError, EngineReason.TIMEOUT),
    "drips": (drip, EngineUnavailableError, EngineReason.TIMEOUT),
    "closes mid-body": (close_mid_body, *_DOWN),
    "closes at once": (close_at_once, *_DOWN),
    "500": (text_answer("Internal Server Error", 500), *_DOWN),
    "502 in HTML": (text_answer("<html>Bad gateway</html>", 502), *_DOWN),
    "503": (json_answer({"error": "server busy, please try again"}, 503), *_DOWN),
    "429": (text_answer("slow down", 429), EngineUnavailableError, EngineReason.RATE_LIMITED),
    "401": (json_answer({"error": {"message": f"no such key: {KEY}"}}, 401), *_DENIED),
    "403": (text_answer("forbidden", 403), *_DENIED),
    "400": (json_answer({"error": "bad request"}, 400), *_WRONG),
    "HTML": (text_answer(_HTML, content_type="text/html"), *_WRONG),
    "invalid JSON": (text_answer('{"data": [', content_type="application/json"), *_WRONG),
    "binary": (text_answer("\0\x7f"), *_WRONG),
    "nothing": (text_answer(""), *_WRONG),
    "deeply nested JSON": (text_answer("[" * 200_000), *_WRONG),
    "a number": (json_answer(1), *_WRONG),
    "a list": (json_answer([[1.0, 2.0]]), *_WRONG),
    "null": (json_answer(None), *_WRONG),
    "an empty object": (json_answer({}), *_WRONG),
    "null in every field": (
        json_answer({"data": None, "models": None, "embeddings": None, "version": None}),
        *_WRONG,
    ),
    "an object for a list": (
        json_answer({"data": {}, "models": {}, "embeddings": {}, "version": {}}),
        *_WRONG,
    ),
    "an error with 200": (json_answer({"error": "Unexpected endpoint or method"}), *_WRONG),
    "200 MB announced": (partial(stream_endlessly, announced=True), *_WRONG),
    "200 MB unannounced": (partial(stream_endlessly, announced=False), *_WRONG),
    "64 MB packed into a few": (_unpack_to_much, *_WRONG),
    "redirects in a circle": (redirect(307, ""), *_WRONG),
    "redirects by 303": (redirect(303, "/"), *_WRONG),
    "redirects to nowhere": (redirect(307, "http://[:"), *_WRONG),
}

_NAN, _INFINITY = float("nan"), float("inf")

# Vectors that a server may send for two texts, none of which may get through.
BAD_VECTORS: Final[Mapping[str, list[Any]]] = {
    "NaN": [[1.0, 0.0], [_NAN, 1.0]],
    "infinity": [[1.0, 0.0], [_INFINITY, 1.0]],
    "too large to have a length": [[1.0, 0.0], [1e300, 1e300]],
    "zeros": [[1.0, 0.0], [0.0, 0.0]],
    "null": [[1.0, 0.0], [None, 1.0]],
    "no vector": [[1.0, 0.0], None],
    "an empty vector": [[1.0, 0.0], []],
    "two empty vectors": [[], []],
    "text": [[1.0, 0.0], ["1.0", "0.0"]],
    "truth values": [[1.0, 0.0], [True, False]],
    "numbers without end": [[1.0, 0.0], [10**400, 1]],
    "a vector in a vector": [[1.0, 0.0], [[1.0, 0.0]]],
    "a number": [[1.0, 0.0], 1.0],
    "broken base64": [[1.0, 0.0], "not base64!"],
    "half a float in base64": [[1.0, 0.0], "AAA="],
    "two dimensions": [[1.0, 0.0], [1.0, 0.0, 0.0]],
    "fewer than asked": [[1.0, 0.0]],
    "none at all": [],
    "more than asked": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
}


def knowing[Engine: RemoteEngine](engine: Engine, revision: str) -> Engine:
    """Return the engine after it was told what stored vectors say of the model's revision."""
    engine.remember([engine.fingerprint.replace("@", f"@{revision}", 1)])
    return engine
