"""The rules that every request keeps before anyone looks at what it says.

Used by the MCP and the REST views alike. A refusal is an exception with an HTTP status; each view
puts it in its own words. Nothing is read from a request that was refused.
"""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs, web
from homeassistant.const import CONTENT_TYPE_JSON

BODY_LIMIT_BYTES: Final = 1024 * 1024
BODY_TIMEOUT_SECONDS: Final = 10.0


class RequestRefusedError(Exception):
    """A request that breaks a rule."""

    def __init__(
        self, status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Keep the status, the reason for whoever asked, and headers that belong to it."""
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = dict(headers or {})


def check_origin(request: web.Request) -> None:
    """Refuse what a web page sends: no page has business here, and a browser always says so."""
    if hdrs.ORIGIN in request.headers:
        raise RequestRefusedError(HTTPStatus.FORBIDDEN, "Web pages are not let in")


def check_form(request: web.Request) -> None:
    """Refuse a body that is not JSON, or whose length is not told or too great."""
    if request.content_type != CONTENT_TYPE_JSON or hdrs.CONTENT_ENCODING in request.headers:
        raise RequestRefusedError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The body must be plain {CONTENT_TYPE_JSON}"
        )
    length = request.headers.get(hdrs.CONTENT_LENGTH, "")
    # Only plain digits: int() also takes signs, blanks and underscores.
    if not (length.isascii() and length.isdecimal()):
        raise RequestRefusedError(HTTPStatus.BAD_REQUEST, "Content-Length is missing or no number")
    if len(length) > len(str(BODY_LIMIT_BYTES)) or int(length) > BODY_LIMIT_BYTES:
        raise _too_long()


async def read_body(request: web.Request) -> bytes:
    """Return the body. Refuses one that is longer than told or takes too long to come."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_SECONDS):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > BODY_LIMIT_BYTES:
                    raise _too_long()
    except TimeoutError:
        raise RequestRefusedError(
            HTTPStatus.REQUEST_TIMEOUT, "The body took too long", {hdrs.CONNECTION: "close"}
        ) from None
    return bytes(body)


def _too_long() -> RequestRefusedError:
    return RequestRefusedError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The body is longer than {BODY_LIMIT_BYTES} bytes",
        {hdrs.CONNECTION: "close"},
    )
