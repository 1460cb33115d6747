"""JSON-RPC 2.0 as MCP speaks it: the messages that arrive, and what goes back.

Used by the dispatcher and the HTTP view. Knows the shape of a message, never what a method means.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from .strict_json import JsonObject, JsonValue, MalformedJsonError, read_json

ID_LIMIT_CHARACTERS: Final = 256
BATCH_MAXIMUM_MESSAGES: Final = 32

type RequestId = str | int


class ErrorCode(IntEnum):
    """The codes of JSON-RPC, of MCP, and the two that JSON-RPC leaves to a server."""

    PARSE = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL = -32603
    RESOURCE_NOT_FOUND = -32002
    REFUSED = -32001
    HEADER_MISMATCH = -32020
    MISSING_CAPABILITY = -32021
    UNSUPPORTED_VERSION = -32022
    CANCELLED = -32800


class RpcError(Exception):
    """A request that gets an error instead of a result; its text is for whoever asked."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        data: JsonValue = None,
        *,
        status: int | None = None,
        request_id: RequestId | None = None,
    ) -> None:
        """Keep what goes on the wire; ``status`` overrides the HTTP status of the code."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status
        self.request_id = request_id

    def as_message(self, request_id: RequestId | None) -> JsonObject:
        """Return the error as the response to a request, or to none where its id is unknown."""
        error: JsonObject = {"code": int(self.code), "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": request_id, "error": error}


@dataclass(frozen=True, slots=True)
class Request:
    """A message that wants a response."""

    id: RequestId
    method: str
    params: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants none."""

    method: str
    params: JsonObject = field(default_factory=dict)


type Message = Request | Notification


def read_message(body: bytes) -> Message | list[Message]:
    """Return the message in a body, or the messages of a batch. Raises RpcError."""
    try:
        value = read_json(body)
    except MalformedJsonError as err:
        raise RpcError(ErrorCode.PARSE, str(err)) from None
    if not isinstance(value, list):
        return as_message(value)
    if not 0 < len(value) <= BATCH_MAXIMUM_MESSAGES:
        raise RpcError(
            ErrorCode.INVALID_REQUEST, f"A batch holds 1 to {BATCH_MAXIMUM_MESSAGES} messages"
        )
    return [as_message(part) for part in value]


def as_message(value: JsonValue) -> Message:
    """Return a value as the message it is. Raises RpcError, with the id if that much is right."""
    if not isinstance(value, dict):
        raise RpcError(ErrorCode.INVALID_REQUEST, "A message is an object")
    request_id = _id_of(value)
    method = value.get("method")
    params = value.get("params", {})
    if value.get("jsonrpc") != "2.0":
        problem = 'A message has "jsonrpc": "2.0"'
    elif "result" in value or "error" in value:
        problem = "This server asks nothing, so there is nothing to respond to"
    elif not isinstance(method, str):
        problem = "A message names its method"
    elif not isinstance(params, dict):
        problem = "Parameters are given by name, in an object"
    elif request_id is None:
        return Notification(method, params)
    else:
        return Request(request_id, method, params)
    raise RpcError(ErrorCode.INVALID_REQUEST, problem, request_id=request_id)


def _id_of(message: Mapping[str, JsonValue]) -> RequestId | None:
    """Return the id, or None where the message has none and so is a notification."""
    if "id" not in message:
        return None
    request_id = message["id"]
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        raise RpcError(ErrorCode.INVALID_REQUEST, "An id is a text or a whole number")
    if isinstance(request_id, str) and len(request_id) > ID_LIMIT_CHARACTERS:
        problem = f"An id has at most {ID_LIMIT_CHARACTERS} characters"
        raise RpcError(ErrorCode.INVALID_REQUEST, problem)
    return request_id


def result_message(request_id: RequestId, result: JsonObject) -> JsonObject:
    """Return the response with a result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def notification_message(method: str, params: JsonObject) -> JsonObject:
    """Return a notification to the client."""
    return {"jsonrpc": "2.0", "method": method, "params": params}
