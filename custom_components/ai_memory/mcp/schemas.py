"""JSON schemas of what tools take and give, for MCP and the OpenAPI document alike.

``parameter_schema`` is the one place that knows how a parameter of the catalogue looks in JSON
schema; the replies are described here because only these doors tell of their shape beforehand.
"""

from collections.abc import Sequence
from typing import Final

from ..core import MatchType, Scope
from ..operations import Kind, Parameter
from .engine import JsonObject, JsonValue

ANY_REPLY: Final[JsonObject] = {"type": "object"}


def input_schema(parameters: Sequence[Parameter]) -> JsonObject:
    """Return the schema of an object with these parameters and no others."""
    required: list[JsonValue] = [one.name for one in parameters if one.required]
    schema: JsonObject = {
        "type": "object",
        "properties": {one.name: parameter_schema(one) for one in parameters},
        "additionalProperties": False,
    }
    return schema | ({"required": required} if required else {})


def parameter_schema(parameter: Parameter) -> JsonObject:
    """Return the schema of one parameter."""
    schema = _kind_schema(parameter)
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema


def _kind_schema(parameter: Parameter) -> JsonObject:
    match parameter.kind:
        case Kind.TEXT:
            return {"type": "string"}
        case Kind.CHOICE:
            return {"type": "string", "enum": [*parameter.choices]}
        case Kind.BOOLEAN:
            return {"type": "boolean"}
        case Kind.INTEGER:
            return {"type": "integer"} | _bounds(parameter)
        case Kind.NUMBER:
            return {"type": "number"} | _bounds(parameter)


def _bounds(parameter: Parameter) -> JsonObject:
    bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    return {name: bound for name, bound in bounds.items() if bound is not None}


_TEXT: Final[JsonObject] = {"type": "string"}
_COUNT: Final[JsonObject] = {"type": "integer", "minimum": 0}
_TIME: Final[JsonObject] = {"type": "string", "format": "date-time"}
_MEMORY_MEMBERS: Final[JsonObject] = {
    "id": _TEXT,
    "content": _TEXT,
    "summary": _TEXT,
    "wing": _TEXT,
    "room": _TEXT,
    "scope": {"type": "string", "enum": [*map(str, Scope)]},
    "layer": {"type": "integer"},
    "type": _TEXT,
    "status": _TEXT,
    "confidence": {"type": "number"},
    "revision": {"type": "integer", "minimum": 1},
    "language": {"type": ["string", "null"]},
    "created": _TIME,
    "updated": _TIME,
    "accessed": {"type": ["string", "null"], "format": "date-time"},
    "access_count": _COUNT,
    "source": _TEXT,
    "pinned": {"type": "boolean"},
}


def _object(members: JsonObject) -> JsonObject:
    """Return the schema of an object that has these members, and may get more in time."""
    return {"type": "object", "properties": members, "required": [*members]}


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items}


def _one_of(*words: str) -> JsonObject:
    return {"type": "string", "enum": [*words]}


_MEMORY: Final = _object(_MEMORY_MEMBERS)
_HIT: Final = _object(
    {
        **_MEMORY_MEMBERS,
        "score": {"type": "number"},
        "match_type": _one_of(*map(str, MatchType)),
        "why": _TEXT,
    }
)
_PLACE: Final = _object({"id": _TEXT, "wing": _TEXT, "room": _TEXT})

REPLY_SCHEMAS: Final[dict[str, JsonObject]] = {
    "add": _object(
        {
            "result": _one_of("added", "refreshed"),
            "memory": _MEMORY,
            "evicted": _list(_PLACE),
            "evicted_count": _COUNT,
        }
    ),
    "get": _object({"memory": _MEMORY}),
    "list": _object({"memories": _list(_MEMORY), "count": _COUNT, "total": _COUNT}),
    "search": _object({"results": _list(_HIT), "count": _COUNT, "ranking": _TEXT}),
    "update": _object({"result": _one_of("updated", "unchanged"), "memory": _MEMORY}),
    "delete": _object(
        {"result": _one_of("deleted"), "deleted": _COUNT, "memory_ids": _list(_TEXT)}
    ),
}
"""What each operation replies, by its name."""
