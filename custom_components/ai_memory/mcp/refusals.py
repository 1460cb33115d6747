"""What a client hears when the memory refuses: the same words and members in MCP and REST.

Used by the offer, which makes results of refusals, and by the REST views, which add a status.
"""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from ..core import (
    AccessDeniedError,
    AiMemoryError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    ReceiptError,
    StorageError,
)
from ..core.models import is_workshop
from ..failures import home_assistant_error
from ..operations.replies import memory_reply
from ..operations.workshop.records import record
from .engine import JsonObject

RECEIPT_EXPIRED: Final = "receipt_expired"
_STATUSES: Final[Mapping[type[AiMemoryError], HTTPStatus]] = MappingProxyType(
    {
        InvalidInputError: HTTPStatus.BAD_REQUEST,
        AccessDeniedError: HTTPStatus.FORBIDDEN,
        NotFoundError: HTTPStatus.NOT_FOUND,
        ConflictError: HTTPStatus.CONFLICT,
        ReceiptError: HTTPStatus.CONFLICT,
        StorageError: HTTPStatus.SERVICE_UNAVAILABLE,
    }
)


def refusal_status(error: AiMemoryError) -> HTTPStatus:
    """Return the HTTP status of a refusal."""
    if error.key == RECEIPT_EXPIRED:
        return HTTPStatus.GONE
    known = (status for kind, status in _STATUSES.items() if isinstance(error, kind))
    return next(known, HTTPStatus.INTERNAL_SERVER_ERROR)


def refusal_body(error: AiMemoryError) -> JsonObject:
    """Return a refusal as a client reads it; a conflict tells how things stand now."""
    body: JsonObject = {"error": str(home_assistant_error(error)), "error_key": error.key}
    if isinstance(error, ConflictError):
        body["revision"] = error.revision
        if (current := error.current) is not None:
            # As the tools of its side of the house tell of it.
            told = record(current) if is_workshop(current.wing) else memory_reply(current)
            body["current"] = told
    return body
