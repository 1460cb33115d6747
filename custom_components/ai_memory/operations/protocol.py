"""The life of a memory after it was stored: witnesses, history, forgetting and restoring."""

from dataclasses import replace
from typing import Final

from ..core import KEPT, WITH_HISTORY, Access, Caller, MemoryManager, Stance, Status
from .operation import (
    MEMORY_ID,
    REVISION,
    ROOM,
    SCOPE,
    WING,
    Operation,
    filters_of,
    limited,
    required,
)
from .parameters import Kind, Parameter, Values
from .replies import (
    Reply,
    delete_reply,
    history_reply,
    memory_reply,
    timeline_reply,
    witnessed_reply,
)

HISTORY_LIMIT_DEFAULT: Final = 20
HISTORY_LIMIT_MAXIMUM: Final = 200


async def _corroborate(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    witnessed = await manager.lifecycle.corroborate(
        caller, values.given("memory_id"), values.given("quote"), Stance(values.given("stance"))
    )
    return witnessed_reply(witnessed)


async def _history(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    limit = values.whole("limit") or HISTORY_LIMIT_DEFAULT
    versions = await manager.lifecycle.history(caller, values.given("memory_id"), limit)
    return history_reply(versions)


async def _timeline(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    status = values.text("status")
    statuses = (Status(status),) if status else WITH_HISTORY
    entries = await manager.lifecycle.timeline(
        caller,
        replace(filters_of(values), statuses=statuses),
        values.text("memory_id"),
        values.whole("limit") or HISTORY_LIMIT_DEFAULT,
    )
    return timeline_reply(entries)


async def _forget(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    hard = bool(values.flag("hard"))
    forgotten = await manager.lifecycle.forget(
        caller, values.given("memory_id"), values.whole("revision"), hard=hard
    )
    return delete_reply(forgotten) if hard else {"result": "forgotten", "memory_id": forgotten[0]}


async def _restore(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    memory = await manager.lifecycle.restore(
        caller, values.given("memory_id"), values.whole("revision")
    )
    return {"result": "restored", "memory": memory_reply(memory)}


OPERATIONS: Final = (
    Operation(
        name="corroborate",
        title="Bear witness",
        description="Attach a quoted observation that speaks for or against a memory.",
        parameters=(
            required(MEMORY_ID),
            Parameter(name="quote", required=True, description="what was seen or said, verbatim"),
            Parameter(
                name="stance",
                kind=Kind.CHOICE,
                choices=tuple(stance.value for stance in Stance),
                required=True,
            ),
        ),
        access=Access.WRITE,
        handler=_corroborate,
        idempotent=False,
    ),
    Operation(
        name="history",
        title="Read the history of a memory",
        description="Tell what a memory says and said before, newest first.",
        parameters=(
            required(MEMORY_ID),
            limited(HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAXIMUM),
        ),
        access=Access.READ,
        handler=_history,
    ),
    Operation(
        name="timeline",
        title="Read what was said, by time",
        description="Tell what was said in a wing, a room or of a memory, the latest first.",
        parameters=(
            WING,
            ROOM,
            SCOPE,
            MEMORY_ID,
            Parameter(
                name="status",
                kind=Kind.CHOICE,
                choices=tuple(status.value for status in KEPT),
            ),
            limited(HISTORY_LIMIT_DEFAULT, HISTORY_LIMIT_MAXIMUM),
        ),
        access=Access.READ,
        handler=_timeline,
    ),
    Operation(
        name="forget",
        title="Forget a memory",
        description="Forget a memory so that it can be restored for some days, or at once.",
        parameters=(
            required(MEMORY_ID),
            Parameter(
                name="hard",
                kind=Kind.BOOLEAN,
                default=False,
                description="remove it for good at once",
            ),
            REVISION,
        ),
        access=Access.DELETE,
        handler=_forget,
        destructive=True,
    ),
    Operation(
        name="restore",
        title="Restore a memory",
        description="Bring a forgotten memory back.",
        parameters=(required(MEMORY_ID), REVISION),
        access=Access.DELETE,
        handler=_restore,
    ),
)
