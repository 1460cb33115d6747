"""The dispatcher: finds the terms and the method of a message, runs it, puts the answer together.

The HTTP view hands it messages and sends what comes back. It remembers which calls are running, so
that a client can cancel its own, and which log lines a session wants; nothing else outlives a
request.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import logging
from secrets import token_urlsafe
from typing import Final

from .channel import Channel, LogLevels, SessionKey
from .jsonrpc import ErrorCode, Message, Notification, Request, RequestId, RpcError, result_message
from .methods import METHODS, Exchange, Method, server_info
from .offer import (
    AccessMissingError,
    CapabilityMissingError,
    Identified,
    InvalidArgumentsError,
    Offer,
    UnknownError,
)
from .revisions import OPENING, Revision, Terms, declared_revision, terms_of
from .strict_json import JsonObject

SESSION_HEADER: Final = "mcp-session-id"
SESSION_LIMIT_CHARACTERS: Final = 128
CALL_TIMEOUT_SECONDS: Final = 120
SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"

OK: Final = 200
ACCEPTED: Final = 202
FORBIDDEN: Final = 403
_ALWAYS: Final = {ErrorCode.PARSE: 400, ErrorCode.INVALID_REQUEST: 400}
_STATELESS_STATUS: Final = {
    **_ALWAYS,
    ErrorCode.INVALID_PARAMS: 400,
    ErrorCode.MISSING_CAPABILITY: 400,
    ErrorCode.METHOD_NOT_FOUND: 404,
}

_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: a message or, for a notification, none; the access that was missing."""

    status: int
    message: JsonObject | list[JsonObject] | None = None
    missing_access: str | None = None
    session: str | None = None
    """What a client repeats from its opening on, so that its calls are told from its twin's."""


def error_answer(error: RpcError, request_id: RequestId | None, terms: Terms | None) -> Answer:
    """Return an error as an answer, with the HTTP status that its era gives it."""
    statuses = _STATELESS_STATUS if terms and terms.stateless else _ALWAYS
    status = statuses.get(error.code, OK) if error.status is None else error.status
    named = error.request_id if request_id is None else request_id
    return Answer(status, error.as_message(named))


class Server[C: Identified]:
    """Serves an offer."""

    def __init__(self, offer: Offer[C]) -> None:
        """Start with no call running."""
        self._offer = offer
        self._closing = asyncio.Event()
        self._log_levels = LogLevels()
        self._running: dict[tuple[SessionKey, RequestId], asyncio.Task[JsonObject]] = {}

    async def answer(
        self, message: Message, headers: Mapping[str, str], client: C, channel: Channel
    ) -> Answer:
        """Return the answer to a message; header names are in lower case."""
        session = (client.key, headers.get(SESSION_HEADER, "")[:SESSION_LIMIT_CHARACTERS])
        terms = None
        try:
            terms = terms_of(message, headers)
            if isinstance(message, Notification):
                self._notice(message, session, terms)
                return Answer(ACCEPTED)
            exchange = Exchange(
                offer=self._offer,
                client=client,
                session=session,
                request=message,
                terms=terms,
                headers=headers,
                channel=channel,
                log_levels=self._log_levels,
                closing=self._closing,
            )
            method = self._method(message, terms)
            result = await self._run(method, exchange)
        except RpcError as err:
            return error_answer(err, _id_of(message), terms)
        except AccessMissingError as err:
            refusal = RpcError(ErrorCode.REFUSED, str(err), status=FORBIDDEN)
            refused = error_answer(refusal, _id_of(message), terms)
            return Answer(refused.status, refused.message, err.access)
        whole = result_message(message.id, self._complete(result, method, terms))
        return Answer(OK, whole, session=new_session() if message.method == OPENING else None)

    async def answer_batch(
        self, messages: Sequence[Message], headers: Mapping[str, str], client: C, channel: Channel
    ) -> Answer:
        """Answer the messages of a batch, one after the other: only the first revision has any."""
        try:
            revision = declared_revision(headers)
        except RpcError as err:
            return error_answer(err, None, None)
        if revision is not Revision.MARCH_2025 or any(one.method == OPENING for one in messages):
            refusal = RpcError(ErrorCode.INVALID_REQUEST, "Batches are not taken here")
            return error_answer(refusal, None, None)
        answers = [await self.answer(message, headers, client, channel) for message in messages]
        told = [answer.message for answer in answers if isinstance(answer.message, dict)]
        return Answer(OK if told else ACCEPTED, told or None)

    def forget(self, client_key: str) -> None:
        """Forget what is remembered of the sessions of a client."""
        self._log_levels.forget(client_key)

    def close(self) -> None:
        """End every request that still runs or listens: what it asks is no longer there."""
        self._closing.set()
        for task in self._running.values():
            task.cancel()

    def _method(self, request: Request, terms: Terms) -> Method:
        method = METHODS.get(request.method)
        if method is None or not method.exists(self._offer.about, terms):
            raise RpcError(ErrorCode.METHOD_NOT_FOUND, "Method not found")
        return method

    async def _run(self, method: Method, exchange: Exchange) -> JsonObject:
        """Run a method as a task of its own, which its client can cancel."""
        key = (exchange.session, exchange.request.id)
        task = asyncio.ensure_future(_handle(method, exchange))
        timeout = None if method.endless else CALL_TIMEOUT_SECONDS
        if not method.endless:
            self._running[key] = task
        try:
            done, _ = await asyncio.wait({task}, timeout=timeout)
            if not done:
                raise RpcError(ErrorCode.INTERNAL, f"No result in {CALL_TIMEOUT_SECONDS} s")
            if task.cancelled():
                raise RpcError(ErrorCode.CANCELLED, "The request was cancelled")
            return task.result()
        finally:
            # Whoever waits here may be cancelled too, and then nobody wants the result.
            task.cancel()
            if self._running.get(key) is task:
                del self._running[key]

    def _notice(self, notification: Notification, session: SessionKey, terms: Terms) -> None:
        """Act on a notification; the stateless era cancels by leaving instead."""
        if terms.stateless or notification.method != "notifications/cancelled":
            return
        request_id = notification.params.get("requestId")
        if isinstance(request_id, str | int) and (task := self._running.get((session, request_id))):
            task.cancel()

    def _complete(self, result: JsonObject, method: Method, terms: Terms) -> JsonObject:
        """Add what every result of the stateless era carries."""
        if not terms.stateless:
            return result
        complete: JsonObject = {"resultType": "complete", **result}
        meta = result.get("_meta")
        complete["_meta"] = {
            SERVER_INFO_KEY: server_info(self._offer.about),
            **(meta if isinstance(meta, dict) else {}),
        }
        if method.fresh_milliseconds is not None:
            # What a client sees depends on its access, so it must not be shared.
            complete |= {"ttlMs": method.fresh_milliseconds, "cacheScope": "private"}
        return complete


async def _handle(method: Method, exchange: Exchange) -> JsonObject:
    """Run a method and turn every way in which it can fail into one that has a code."""
    try:
        return await method.handler(exchange)
    except (UnknownError, InvalidArgumentsError) as err:
        raise RpcError(ErrorCode.INVALID_PARAMS, str(err)) from None
    except CapabilityMissingError as err:
        data: JsonObject = {"requiredCapabilities": {err.capability: {}}}
        raise RpcError(ErrorCode.MISSING_CAPABILITY, str(err), data) from None
    except (RpcError, AccessMissingError):
        raise
    except Exception:
        # The one place where anything may arrive: the client hears that it failed, the log why.
        _LOGGER.exception("The method %s failed", exchange.request.method)
        raise RpcError(ErrorCode.INTERNAL, "The server failed unexpectedly") from None


def new_session() -> str:
    """Return what a client may repeat from now on; nothing is kept for it."""
    return token_urlsafe(16)


def _id_of(message: Message) -> RequestId | None:
    return message.id if isinstance(message, Request) else None
