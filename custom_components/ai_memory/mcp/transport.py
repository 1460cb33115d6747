"""Streamable HTTP, written on aiohttp: one POST in, one answer or one stream of messages out.

Called by the MCP view once a request is let in; the conformance run calls it without Home
Assistant. An answer is plain JSON unless something was told before it: then, and only if the client
accepts one, it becomes the last event of a stream. No state of a client is kept here.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
import time
from typing import Final

from aiohttp import hdrs, web
from homeassistant.const import CONTENT_TYPE_JSON
from homeassistant.helpers.json import json_bytes

from .engine import (
    SESSION_HEADER,
    Answer,
    ErrorCode,
    Identified,
    JsonObject,
    Message,
    Request,
    RpcError,
    Server,
    error_answer,
    read_message,
)
from .limits import ClientChangedError, Limits, Share, TooManyRequestsError
from .requests import RequestRefusedError, check_form, read_body

CONTENT_TYPE_EVENTS: Final = "text/event-stream"
INLINE_BODY_BYTES: Final = 16 * 1024
"""Up to this length a body is read at once; a longer one would hold the event loop."""
WATCH_SECONDS: Final = 1.0
KEEP_ALIVE_SECONDS: Final = 15.0
LISTENING: Final = "subscriptions/listen"

type Payload = Message | list[Message]


class EventStream:
    """The channel of one request, which becomes a stream of events when something is told."""

    def __init__(self, request: web.Request) -> None:
        """Send nothing yet."""
        self.request = request
        self._response: web.StreamResponse | None = None
        self._sent_at = 0.0
        self.open_to_stream = accepts_events(request)

    @property
    def response(self) -> web.StreamResponse | None:
        """The stream, once there is one."""
        return self._response

    async def send(self, message: JsonObject) -> None:
        """Send a message as an event, if the client accepts any."""
        if self.open_to_stream:
            await self._write(_event(message))

    async def send_last(self, message: JsonObject) -> None:
        """Send a message and drop what is sent after it: nothing of a request that was ended."""
        last, self.open_to_stream = self.open_to_stream, False
        if last:
            await self._write(_event(message))

    async def keep_alive(self) -> None:
        """Send a comment where nothing was sent for long, so that no proxy gives up."""
        if self._response is not None and time.monotonic() - self._sent_at > KEEP_ALIVE_SECONDS:
            await self._write(b": still here\n\n")

    async def _write(self, event: bytes) -> None:
        if self._response is None:
            self._response = web.StreamResponse(
                headers={
                    hdrs.CONTENT_TYPE: CONTENT_TYPE_EVENTS,
                    hdrs.CACHE_CONTROL: "no-cache, no-transform",
                    "X-Accel-Buffering": "no",
                }
            )
            await self._response.prepare(self.request)
        try:
            await self._response.write(event)
        except ConnectionError:
            # Whoever watches the request sees that its client has left, and ends it.
            self.open_to_stream = False
        self._sent_at = time.monotonic()


@dataclass(frozen=True, slots=True)
class Transport[C: Identified]:
    """Carries requests to a server and its answers back, within the limits of each client."""

    server: Server[C]
    limits: Limits

    async def post(self, request: web.Request, client: C) -> web.StreamResponse:
        """Answer a request of a client that was let in."""
        stream = EventStream(request)
        payload = None
        try:
            async with self.limits.present(client.key) as share:
                check_form(request)
                check_accept(request)
                payload = await _read(await read_body(request))
                return await self._respond(stream, payload, client, share)
        except ClientChangedError as err:
            return await _cut_off(err, stream, payload)
        except RpcError as err:
            return _json_response(error_answer(err, None, None))
        except RequestRefusedError as err:
            return refused(err)
        except TooManyRequestsError as err:
            return refused(too_many(err))

    def end(self, client_key: str) -> None:
        """End what a client has running and listening, and forget what its sessions wanted."""
        self.limits.end(client_key)
        self.server.forget(client_key)

    async def _respond(
        self, stream: EventStream, payload: Payload, client: C, share: Share
    ) -> web.StreamResponse:
        if isinstance(payload, Request) and payload.method == LISTENING:
            async with self.limits.listening(share):
                return await self._exchange(stream, payload, client)
        if isinstance(payload, Request | list):
            async with share.running:
                return await self._exchange(stream, payload, client)
        # A notification never waits: it may be what ends the calls that everything waits for.
        return await self._exchange(stream, payload, client)

    async def _exchange(
        self, stream: EventStream, payload: Payload, client: C
    ) -> web.StreamResponse:
        headers = folded_headers(stream.request)
        if isinstance(payload, list):
            coming = self.server.answer_batch(payload, headers, client, stream)
        else:
            coming = self.server.answer(payload, headers, client, stream)
        task = asyncio.ensure_future(coming)
        try:
            while not (await asyncio.wait({task}, timeout=WATCH_SECONDS))[0]:
                if has_left(stream.request):
                    return web.Response()
                await stream.keep_alive()
        finally:
            task.cancel()
        answer = task.result()
        if stream.response is None:
            return _json_response(answer)
        if isinstance(answer.message, dict):
            await stream.send(answer.message)
        return stream.response


async def _cut_off(
    error: ClientChangedError, stream: EventStream, payload: Payload | None
) -> web.StreamResponse:
    """Return the answer to a request that was ended, on its stream where there is one."""
    if not isinstance(payload, Request):
        return refused(error) if stream.response is None else stream.response
    cancelled = RpcError(ErrorCode.CANCELLED, error.reason)
    if stream.response is None:
        return _json_response(error_answer(cancelled, payload.id, None))
    await stream.send_last(cancelled.as_message(payload.id))
    return stream.response


def _event(message: JsonObject) -> bytes:
    return b"event: message\ndata: " + json_bytes(message) + b"\n\n"


async def _read(body: bytes) -> Payload:
    if len(body) <= INLINE_BODY_BYTES:
        return read_message(body)
    read: Callable[[bytes], Payload] = read_message
    return await asyncio.get_running_loop().run_in_executor(None, read, body)


def accepts_events(request: web.Request) -> bool:
    """Return whether the client says that it takes a stream."""
    return bool(_accepted(request) & {CONTENT_TYPE_EVENTS, "text/*"})


def check_accept(request: web.Request) -> None:
    """Refuse a client that takes no form of an answer; one that is silent takes all."""
    taken = {CONTENT_TYPE_JSON, "application/*", "*/*"}
    if not accepts_events(request) and not _accepted(request) & taken:
        raise RequestRefusedError(HTTPStatus.NOT_ACCEPTABLE, f"An answer is {CONTENT_TYPE_JSON}")


def _accepted(request: web.Request) -> set[str]:
    accepted = request.headers.get(hdrs.ACCEPT, "*/*").lower()
    return {one.partition(";")[0].strip() for one in accepted.split(",")}


def folded_headers(request: web.Request) -> dict[str, str]:
    """Return the headers by lower-case name; one that is sent twice holds both values."""
    folded: dict[str, str] = {}
    for name, value in request.headers.items():
        key = name.lower()
        folded[key] = f"{folded[key]}, {value}" if key in folded else value
    return folded


def has_left(request: web.Request) -> bool:
    """Return whether the client has hung up."""
    return request.transport is None or request.transport.is_closing()


def too_many(error: TooManyRequestsError) -> RequestRefusedError:
    """Return being over a limit as a refusal."""
    return RequestRefusedError(
        HTTPStatus.TOO_MANY_REQUESTS, str(error), {hdrs.RETRY_AFTER: str(error.retry_seconds)}
    )


def refused(refusal: RequestRefusedError) -> web.Response:
    """Return a refusal as this protocol words it: an error that belongs to no request."""
    by_form = refusal.status in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE}
    code = ErrorCode.INVALID_REQUEST if by_form else ErrorCode.REFUSED
    error = RpcError(code, refusal.reason, status=refusal.status)
    return _json_response(error_answer(error, None, None), refusal.headers)


def _json_response(answer: Answer, headers: dict[str, str] | None = None) -> web.Response:
    sent = dict(headers or {})
    if answer.session is not None:
        sent[SESSION_HEADER] = answer.session
    if answer.missing_access is not None:
        sent[hdrs.WWW_AUTHENTICATE] = (
            f'Bearer error="insufficient_scope", scope="{answer.missing_access}"'
        )
    if answer.message is None:
        return web.Response(status=answer.status, headers=sent)
    return web.Response(
        body=json_bytes(answer.message),
        status=answer.status,
        headers=sent,
        content_type=CONTENT_TYPE_JSON,
    )
