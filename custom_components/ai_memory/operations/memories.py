"""Remembering, recalling, correcting and forgetting: the operations on single memories."""

from dataclasses import replace
from typing import Final

from ..core import (
    WITH_HISTORY,
    Access,
    Caller,
    Layer,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Status,
)
from .operation import (
    ANCHORS,
    CONFIDENCE,
    DRY_RUN,
    EXPIRES,
    LAYER,
    MEMORY_ID,
    PIN,
    REVISION,
    ROOM,
    SCOPE,
    STATUS,
    SUMMARY,
    TYPE,
    WING,
    Operation,
    filters_of,
    layer_of,
    limited,
    required,
    scope_of,
    status_of,
)
from .parameters import Kind, Parameter, Values
from .replies import (
    Reply,
    add_reply,
    anchors_of_reply,
    delete_reply,
    list_reply,
    maintain_reply,
    memory_reply,
    search_reply,
    update_reply,
)

LIST_LIMIT_DEFAULT: Final = 50
LIST_LIMIT_MAXIMUM: Final = 10_000
SEARCH_LIMIT_DEFAULT: Final = 5
SEARCH_LIMIT_MAXIMUM: Final = 100


async def _add(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    new = NewMemory(
        content=values.given("content"),
        summary=values.text("summary") or "",
        wing=values.text("wing"),
        room=values.text("room"),
        scope=scope_of(values),
        layer=layer_of(values) or Layer.STANDARD,
        pinned=bool(values.flag("pin")),
        type=values.text("type"),
        status=status_of(values) or Status.ACTIVE,
        confidence=1.0 if (told := values.number("confidence")) is None else told,
        expires=values.expiry("expires"),
        supersedes=values.text("supersedes"),
        anchors=values.texts("anchors"),
    )
    return add_reply(await manager.add(caller, new))


async def _get(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    memory = await manager.get(caller, values.given("memory_id"))
    return {"memory": memory_reply(memory) | anchors_of_reply(memory)}


async def _list(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    limit = values.whole("limit") or LIST_LIMIT_DEFAULT
    return await list_reply(
        await manager.latest(caller, filters_of(values), limit),
        excerpts=bool(values.flag("excerpts")),
    )


async def _search(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    filters = filters_of(values)
    if values.flag("history"):
        filters = replace(filters, statuses=WITH_HISTORY)
    result = await manager.search(
        caller,
        filters,
        values.given("query"),
        values.whole("limit") or SEARCH_LIMIT_DEFAULT,
        values.number("min_score"),
        counted=not values.flag("recall"),
    )
    return search_reply(result)


async def _update(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    changes = MemoryChanges(
        content=values.text("content"),
        summary=values.text("summary"),
        wing=values.text("wing"),
        room=values.text("room"),
        scope=scope_of(values),
        layer=layer_of(values),
        pinned=values.flag("pin"),
        type=values.text("type"),
        status=status_of(values),
        confidence=values.number("confidence"),
        expires=values.expiry("expires"),
        anchors=None if values.held["anchors"] is None else values.texts("anchors"),
    )
    memory_id, revision = values.given("memory_id"), values.whole("revision")
    return update_reply(await manager.update(caller, memory_id, changes, revision))


async def _maintain(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    dry_run = bool(values.flag("dry_run"))
    return maintain_reply(caller, await manager.maintain(dry_run=dry_run), dry_run=dry_run)


async def _delete(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    memory_id = values.text("memory_id")
    restorable = bool(values.flag("restorable"))
    return delete_reply(
        await manager.delete(caller, memory_id, filters_of(values), restorable=restorable)
    )


OPERATIONS: Final = (
    Operation(
        name="add",
        title="Remember",
        description="Store one fact as a full sentence in the user's language.",
        parameters=(
            Parameter(name="content", required=True),
            SCOPE,
            SUMMARY,
            WING,
            ROOM,
            replace(LAYER, default=int(Layer.STANDARD)),
            PIN,
            replace(EXPIRES, description="YYYY-MM-DD"),
            Parameter(name="supersedes", description="old id"),
            TYPE,
            STATUS,
            CONFIDENCE,
            ANCHORS,
        ),
        access=Access.WRITE,
        handler=_add,
    ),
    Operation(
        name="get",
        title="Read one memory",
        description="Read one memory in full.",
        parameters=(required(MEMORY_ID),),
        access=Access.READ,
        handler=_get,
    ),
    Operation(
        name="list",
        title="List memories",
        description="List, latest first.",
        parameters=(
            WING,
            ROOM,
            SCOPE,
            limited(LIST_LIMIT_DEFAULT, LIST_LIMIT_MAXIMUM),
            Parameter(
                name="excerpts",
                kind=Kind.BOOLEAN,
                default=False,
                description="only the beginning of long memories",
            ),
        ),
        access=Access.READ,
        handler=_list,
    ),
    Operation(
        name="search",
        title="Recall",
        description="Recall stored facts.",
        parameters=(
            Parameter(name="query", required=True),
            WING,
            ROOM,
            SCOPE,
            LAYER,
            limited(SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAXIMUM),
            Parameter(
                name="min_score",
                kind=Kind.NUMBER,
                description="least cosine similarity",
                minimum=0,
                maximum=1,
            ),
            Parameter(
                name="history",
                kind=Kind.BOOLEAN,
                default=False,
                description="also what was replaced",
            ),
            Parameter(
                name="recall",
                kind=Kind.BOOLEAN,
                default=False,
                description="count no use of what is found",
            ),
        ),
        access=Access.READ,
        handler=_search,
    ),
    Operation(
        name="update",
        title="Correct a memory",
        description="Correct or move one.",
        parameters=(
            required(MEMORY_ID),
            Parameter(name="content"),
            replace(SUMMARY, description=""),
            WING,
            ROOM,
            SCOPE,
            LAYER,
            PIN,
            EXPIRES,
            TYPE,
            STATUS,
            CONFIDENCE,
            ANCHORS,
            REVISION,
        ),
        access=Access.WRITE,
        handler=_update,
        destructive=True,
    ),
    Operation(
        name="delete",
        title="Forget",
        description="Forget by id, room, wing or scope.",
        parameters=(
            MEMORY_ID,
            ROOM,
            WING,
            SCOPE,
            Parameter(
                name="restorable",
                kind=Kind.BOOLEAN,
                default=False,
                description="keep it for some days, so that it can be restored",
            ),
        ),
        access=Access.DELETE,
        handler=_delete,
        destructive=True,
    ),
    Operation(
        name="maintain",
        title="Maintain layers",
        description="Move memories between the layers by how they are used.",
        parameters=(DRY_RUN,),
        access=Access.WRITE,
        handler=_maintain,
    ),
)
