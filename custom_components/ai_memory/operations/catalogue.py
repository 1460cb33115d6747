"""Everything the memory can do, each written once: the catalogue that all doors publish from.

An operation has a name, a description for models, parameters, the access it needs and a handler
that takes the manager, a caller and parsed arguments and returns a plain reply. A new capability is
one entry here; a door adds it to its selection.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ..core import (
    Access,
    AccessDeniedError,
    Caller,
    Filters,
    Layer,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Scope,
)
from .parameters import Arguments, Kind, Parameter, Value, parse_arguments
from .replies import (
    Reply,
    add_reply,
    delete_reply,
    list_reply,
    maintain_reply,
    memory_reply,
    search_reply,
    update_reply,
)

LIST_LIMIT_DEFAULT: Final = 50
LIST_LIMIT_MAXIMUM: Final = 1_000
SEARCH_LIMIT_DEFAULT: Final = 5
SEARCH_LIMIT_MAXIMUM: Final = 100

type Handler = Callable[[MemoryManager, Caller, Mapping[str, Value]], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing the memory can do."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    access: Access
    handler: Handler
    destructive: bool = False
    idempotent: bool = True

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing that a caller could notice."""
        return self.access is Access.READ


_MEMORY_ID: Final = Parameter(name="memory_id")
_WING: Final = Parameter(name="wing")
_ROOM: Final = Parameter(name="room")
_SCOPE: Final = Parameter(
    name="scope", kind=Kind.CHOICE, choices=tuple(scope.value for scope in Scope)
)
_SUMMARY: Final = Parameter(name="summary", description="3-5 keywords")
_LAYER: Final = Parameter(
    name="layer",
    kind=Kind.INTEGER,
    description="1 critical, 2 standard, 3 archive",
    minimum=min(Layer),
    maximum=max(Layer),
)


_PIN: Final = Parameter(name="pin", kind=Kind.BOOLEAN, description="keep it in its layer for good")


def _required(parameter: Parameter) -> Parameter:
    return Parameter(
        name=parameter.name,
        kind=parameter.kind,
        description=parameter.description,
        required=True,
        choices=parameter.choices,
    )


def _limit(default: int, maximum: int) -> Parameter:
    return Parameter(name="limit", kind=Kind.INTEGER, default=default, minimum=1, maximum=maximum)


def _text(arguments: Mapping[str, Value], name: str) -> str | None:
    value = arguments[name]
    return None if value is None else str(value)


def _scope(arguments: Mapping[str, Value]) -> Scope | None:
    value = _text(arguments, "scope")
    return None if value is None else Scope(value)


def _whole(arguments: Mapping[str, Value], name: str) -> int:
    return int(arguments[name] or 0)


def _filters(arguments: Mapping[str, Value]) -> Filters:
    layer = arguments.get("layer")
    return Filters(
        wing=_text(arguments, "wing"),
        room=_text(arguments, "room"),
        scope=_scope(arguments),
        layer=None if layer is None else Layer(int(layer)),
    )


async def _add(manager: MemoryManager, caller: Caller, arguments: Mapping[str, Value]) -> Reply:
    new = NewMemory(
        content=_text(arguments, "content") or "",
        summary=_text(arguments, "summary") or "",
        wing=_text(arguments, "wing"),
        room=_text(arguments, "room"),
        scope=_scope(arguments),
        layer=Layer(_whole(arguments, "layer")),
        pinned=bool(arguments["pin"]),
    )
    return add_reply(await manager.add(caller, new))


async def _get(manager: MemoryManager, caller: Caller, arguments: Mapping[str, Value]) -> Reply:
    memory = await manager.get(caller, _text(arguments, "memory_id") or "")
    return {"memory": memory_reply(memory)}


async def _list(manager: MemoryManager, caller: Caller, arguments: Mapping[str, Value]) -> Reply:
    limit = _whole(arguments, "limit")
    return list_reply(await manager.latest(caller, _filters(arguments), limit))


async def _search(manager: MemoryManager, caller: Caller, arguments: Mapping[str, Value]) -> Reply:
    least = arguments["min_score"]
    result = await manager.search(
        caller,
        _filters(arguments),
        _text(arguments, "query") or "",
        _whole(arguments, "limit"),
        None if least is None else float(least),
    )
    return search_reply(result)


async def _update(manager: MemoryManager, caller: Caller, arguments: Mapping[str, Value]) -> Reply:
    layer = arguments["layer"]
    changes = MemoryChanges(
        content=_text(arguments, "content"),
        summary=_text(arguments, "summary"),
        wing=_text(arguments, "wing"),
        room=_text(arguments, "room"),
        scope=_scope(arguments),
        layer=None if layer is None else Layer(int(layer)),
        pinned=None if arguments["pin"] is None else bool(arguments["pin"]),
    )
    memory_id = _text(arguments, "memory_id") or ""
    return update_reply(await manager.update(caller, memory_id, changes))


async def _maintain(
    manager: MemoryManager, caller: Caller, arguments: Mapping[str, Value]
) -> Reply:
    dry_run = bool(arguments["dry_run"])
    return maintain_reply(caller, await manager.maintain(dry_run=dry_run), dry_run=dry_run)


async def _delete(manager: MemoryManager, caller: Caller, arguments: Mapping[str, Value]) -> Reply:
    memory_id = _text(arguments, "memory_id")
    return delete_reply(await manager.delete(caller, memory_id, _filters(arguments)))


_OPERATIONS: Final = (
    Operation(
        name="add",
        title="Remember",
        description="Store one lasting fact as a full sentence, in the user's language.",
        parameters=(
            Parameter(name="content", required=True),
            _SCOPE,
            _SUMMARY,
            _WING,
            _ROOM,
            Parameter(
                name="layer",
                kind=Kind.INTEGER,
                description=_LAYER.description,
                default=int(Layer.STANDARD),
                minimum=_LAYER.minimum,
                maximum=_LAYER.maximum,
            ),
            _PIN,
        ),
        access=Access.WRITE,
        handler=_add,
    ),
    Operation(
        name="get",
        title="Read one memory",
        description="Read one memory in full.",
        parameters=(_required(_MEMORY_ID),),
        access=Access.READ,
        handler=_get,
    ),
    Operation(
        name="list",
        title="List memories",
        description="List memories, latest first.",
        parameters=(_WING, _ROOM, _SCOPE, _limit(LIST_LIMIT_DEFAULT, LIST_LIMIT_MAXIMUM)),
        access=Access.READ,
        handler=_list,
    ),
    Operation(
        name="search",
        title="Recall",
        description="Recall stored facts about people and home.",
        parameters=(
            Parameter(name="query", required=True),
            _WING,
            _ROOM,
            _SCOPE,
            _LAYER,
            _limit(SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAXIMUM),
            Parameter(
                name="min_score",
                kind=Kind.NUMBER,
                description="least cosine similarity",
                minimum=0,
                maximum=1,
            ),
        ),
        access=Access.READ,
        handler=_search,
    ),
    Operation(
        name="update",
        title="Correct a memory",
        description="Correct or move a memory; give only what changes.",
        parameters=(
            _required(_MEMORY_ID),
            Parameter(name="content"),
            _SUMMARY,
            _WING,
            _ROOM,
            _SCOPE,
            _LAYER,
            _PIN,
        ),
        access=Access.WRITE,
        handler=_update,
        destructive=True,
    ),
    Operation(
        name="delete",
        title="Forget",
        description="Forget one memory by id, or all in a room, wing or scope.",
        parameters=(_MEMORY_ID, _ROOM, _WING, _SCOPE),
        access=Access.DELETE,
        handler=_delete,
        destructive=True,
    ),
    Operation(
        name="maintain",
        title="Maintain layers",
        description="Move memories between the layers by how they are used.",
        parameters=(Parameter(name="dry_run", kind=Kind.BOOLEAN, default=False),),
        access=Access.WRITE,
        handler=_maintain,
    ),
)

CATALOGUE: Final[Mapping[str, Operation]] = MappingProxyType(
    {operation.name: operation for operation in _OPERATIONS}
)


async def run(
    manager: MemoryManager, operation: Operation, caller: Caller, arguments: Arguments
) -> Reply:
    """Check access and arguments, then run the operation. Raises AiMemoryError."""
    if operation.access not in caller.access:
        raise AccessDeniedError("access_denied", access=operation.access.value)
    parsed = parse_arguments(operation.parameters, arguments)
    return await operation.handler(manager, caller, parsed)
