"""JSON schemas of what tools take and give, for MCP and the OpenAPI document alike.

``parameter_schema`` is the one place that knows how a parameter of the catalogue looks in JSON
schema; the replies are described here because only these doors tell of their shape beforehand.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Final

from ..core import AnchorState, MatchType, Scope
from ..core.models import Never
from ..core.transfer import ExportFormat
from ..operations import Kind, Parameter
from ..operations.parameters import Value
from .engine import JsonObject, JsonValue

_KIND_SCHEMAS: Final[Mapping[Kind, JsonObject]] = MappingProxyType(
    {
        Kind.TEXT: {"type": "string"},
        Kind.CHOICE: {"type": "string"},
        Kind.INTEGER: {"type": "integer"},
        Kind.NUMBER: {"type": "number"},
        Kind.BOOLEAN: {"type": "boolean"},
        Kind.TIME: {"type": "string", "format": "date-time"},
        Kind.EXPIRY: {"type": "string"},
        Kind.TEXTS: {"type": "array", "items": {"type": "string"}},
        Kind.OBJECT: {"type": "object"},
    }
)

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
        schema["default"] = _default(parameter.default)
    return schema


def _kind_schema(parameter: Parameter) -> JsonObject:
    schema: JsonObject = {**_KIND_SCHEMAS[parameter.kind]}
    match parameter.kind:
        case Kind.CHOICE:
            schema["enum"] = [*parameter.choices]
        case Kind.INTEGER | Kind.NUMBER:
            schema |= _present(minimum=parameter.minimum, maximum=parameter.maximum)
        case Kind.TEXTS:
            schema |= _present(maxItems=parameter.maximum)
    return schema


def _present(**bounds: float | None) -> JsonObject:
    """Return the bounds that there are; whole ones are written as whole numbers."""
    return {
        name: int(bound) if bound == int(bound) else bound
        for name, bound in bounds.items()
        if bound is not None
    }


def _default(value: Value) -> JsonValue:
    """Return a default as JSON has it."""
    match value:
        case date():
            return value.isoformat()
        case Never():
            return str(value.value)
        case tuple():
            return [*value]
        case None | str() | int() | float():
            return value
    raise TypeError(f"A default cannot be {type(value).__name__}")


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


def _named(described: JsonObject) -> JsonObject:
    """Return the schema of a memory for one who writes: who may not read is told its name alone."""
    members = described["properties"]
    named = {"id", "namespace", "wing", "room", "status", "revision"}
    told = [name for name in members if name in named] if isinstance(members, dict) else []
    return described | {"required": [*told]}


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

_BUDGETED: Final[JsonObject] = {
    "left_out": _COUNT,
    "truncated": {"type": "boolean"},
    "estimated_tokens": _COUNT,
}
_RECORD: Final = _object(
    {
        "id": _TEXT,
        "namespace": _TEXT,
        "type": _TEXT,
        "title": _TEXT,
        "content": _TEXT,
        "status": _TEXT,
        "revision": {"type": "integer", "minimum": 1},
        "confidence": {"type": "number"},
        "agent": _TEXT,
        "created": _TIME,
        "updated": _TIME,
    }
)
_ANCHOR: Final = _object(
    {
        "anchor": _TEXT,
        "state": _one_of(*map(str, AnchorState)),
        "checked": {"type": ["string", "null"], "format": "date-time"},
        "unavailable_since": {"type": ["string", "null"], "format": "date-time"},
        "id": _TEXT,
        "namespace": _TEXT,
    }
)
_TUNNEL: Final = _object(
    {
        "id": _TEXT,
        "kind": _TEXT,
        "state": _TEXT,
        "from": {"type": "object"},
        "to": {"type": ["object", "null"]},
        "reason": _TEXT,
        "created": _TIME,
    }
)
_ENTRY: Final = _object({"id": _TEXT, "type": _TEXT, "title": _TEXT})


def _records(items: JsonObject, **members: JsonValue) -> JsonObject:
    """Return the schema of a reply that is filled with records up to a budget."""
    return _object({**members, "records": _list(items), **_BUDGETED})


REPLY_SCHEMAS: Final[dict[str, JsonObject | None]] = {
    "add": _object(
        {
            "result": _one_of("added", "refreshed"),
            "memory": _named(_MEMORY),
            "evicted": _list(_PLACE),
            "evicted_count": _COUNT,
        }
    ),
    "get": _object({"memory": _MEMORY}),
    "list": _object({"memories": _list(_MEMORY), "count": _COUNT, "total": _COUNT}),
    "search": _object({"results": _list(_HIT), "count": _COUNT, "ranking": _TEXT}),
    "update": _object({"result": _one_of("updated", "unchanged"), "memory": _named(_MEMORY)}),
    "delete": _object(
        {"result": _one_of("deleted"), "deleted": _COUNT, "memory_ids": _list(_TEXT)}
    ),
    "memory_namespace": _object({"namespace": _TEXT}),
    # Told as text alone: its budget holds for the whole reply, which the value would double.
    "memory_bootstrap": None,
    "memory_search": _records(_ENTRY, ranking=_TEXT),
    "memory_get": _records(_RECORD),
    "memory_timeline": _records(_ENTRY, candidates_pending=_COUNT),
    "memory_project_context": _records(_RECORD, task=_TEXT, ranking=_TEXT),
    "memory_store": _object({"result": _one_of("stored", "known"), "record": _named(_RECORD)}),
    "memory_update": _object(
        {"result": _one_of("updated", "unchanged"), "record": _named(_RECORD)}
    ),
    "memory_corroborate": _object(
        {
            "id": _TEXT,
            "revision": _COUNT,
            "confidence": {"type": "number"},
            "effective_confidence": {"type": "number"},
            "proof_count": _COUNT,
            "refutation_count": _COUNT,
        }
    ),
    "memory_forget": _object(
        {"result": _one_of("forgotten", "purged"), "id": _TEXT, "kept_days": _COUNT}
    ),
    "memory_session_close": _object(
        {"result": _one_of("closed"), "summary_id": {"type": ["string", "null"]}, "notes": _TEXT}
    ),
    "memory_anchors": _object(
        {"anchors": _list(_ANCHOR), "count": _COUNT, "more": {"type": "boolean"}}
    ),
    "memory_anchor_report": _object(
        {"reported": _COUNT, "changed": _list(_TEXT), "unknown": _list(_TEXT)}
    ),
    "tunnels": _object({"tunnels": _list(_TUNNEL), "count": _COUNT, "total": _COUNT}),
    "connect": _object({"result": _one_of("connected"), "tunnel": _TUNNEL}),
    "make_hub": _object({"result": _one_of("connected"), "tunnel": _TUNNEL}),
    "disconnect": _object({"result": _one_of("disconnected"), "tunnel": _TUNNEL}),
    "rename_owner": _object({"result": _one_of("renamed", "unchanged"), "wings": _list(_TEXT)}),
    "sweep_anchors": _object(
        {
            "at": _TIME,
            **dict.fromkeys(("checked", "ok", "missing", "unavailable", "changed"), _COUNT),
        }
    ),
    "export": _object(
        {
            "format": _one_of(*map(str, ExportFormat)),
            "count": _COUNT,
            "text": _TEXT,
            "next_cursor": {"type": ["string", "null"]},
        }
    ),
    "import": _object(
        {
            "format": _TEXT,
            "dry_run": {"type": "boolean"},
            **dict.fromkeys(("read", "added", "known", "updated", "skipped", "refused"), _COUNT),
            **dict.fromkeys(("places", "tunnels"), _COUNT),
            "skipped_lines": _list(_object({"line": _COUNT, "reason": _TEXT})),
        }
    ),
}
"""What each operation replies, by its name; None for one that is told as text alone."""
