"""The OpenAPI document, made from the tools that a client may use."""

from collections.abc import Sequence
from typing import Final

from ..const import NAME
from .engine import JsonObject, Tool

_REFUSALS: Final = {
    "400": "An argument is missing, unknown or out of bounds",
    "401": "The bearer token is missing or wrong",
    "403": "The client lacks the access, or a web page is asking",
    "404": "There is no such tool or memory",
    "409": "The memory has changed meanwhile; `current` is how it stands",
    "410": "The receipt has expired",
    "413": "The body is too long",
    "415": "The body is not JSON",
    "429": "Too many requests; see `Retry-After`",
    "503": "The memory is not available",
}
_REFUSAL: Final[JsonObject] = {
    "type": "object",
    "required": ["error", "error_key"],
    "properties": {
        "error": {"type": "string"},
        "error_key": {"type": "string"},
        "current": {"type": "object"},
        "revision": {"type": "integer"},
    },
}


def openapi_document(tools: Sequence[Tool], version: str, base_path: str) -> JsonObject:
    """Return the document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": NAME, "version": version},
        "servers": [{"url": base_path}],
        "security": [{"bearer": []}],
        "paths": {f"/tools/{tool.name}": {"post": _operation(tool)} for tool in tools},
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Refusal": _REFUSAL},
        },
    }


def _operation(tool: Tool) -> JsonObject:
    refusal: JsonObject = {"$ref": "#/components/schemas/Refusal"}
    refusals: JsonObject = {
        status: {"description": meaning, "content": _json(refusal)}
        for status, meaning in _REFUSALS.items()
    }
    reply: JsonObject = {
        "description": "Done",
        "content": _json(tool.output_schema or {"type": "object"}),
    }
    return {
        "operationId": tool.name,
        "summary": tool.title,
        "description": tool.description,
        "requestBody": {"required": True, "content": _json(tool.input_schema)},
        "responses": {"200": reply, **refusals},
    }


def _json(schema: JsonObject) -> JsonObject:
    return {"application/json": {"schema": schema}}
