"""What a coding agent reads: an index of a namespace, whole records, a timeline.

The flow that the replies are made for: bootstrap, then search (``searching``), then get the records
that matter.
"""

from collections.abc import Sequence
from typing import Final

from ...core import (
    Access,
    Caller,
    Filters,
    InvalidInputError,
    Memory,
    MemoryManager,
    NotFoundError,
    Status,
)
from ...core.models import LIVE
from ...core.namespaces import namespace_of_remote
from ..operation import Operation, limited, required
from ..parameters import Kind, Parameter, Values
from ..replies import Reply
from .budget import (
    BOOTSTRAP_TOKENS,
    RECORDS_TOKENS,
    Packet,
    budget,
)
from .records import index_entry, missing, record, title_of, witnessed
from .scope import NAMESPACE, TOPICS, Scope, scope_of

INDEXED_A_WING: Final = 40
"""How many of a wing's records an index looks at; a budget holds far fewer."""
GET_MAXIMUM: Final = 50
TIMELINE_LIMIT_DEFAULT: Final = 20
TIMELINE_LIMIT_MAXIMUM: Final = 200


async def _namespace(manager: MemoryManager, _caller: Caller, values: Values) -> Reply:
    rules = manager.workshop.namespaces
    return {"namespace": namespace_of_remote(values.given("remote"), rules)}


async def _bootstrap(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    scope = await scope_of(manager, caller, values, from_hub=False)
    narrowed = scope.narrowed(caller)
    pending = await manager.latest(narrowed, Filters(statuses=(Status.CANDIDATE,)), 1)
    packet = Packet(
        {
            "namespace": scope.namespace,
            "scope": list(scope.wings or ()),
            "candidates_pending": pending.total,
        },
        BOOTSTRAP_TOKENS,
    )
    if not packet.fits:
        raise InvalidInputError("reply_too_small", tokens=BOOTSTRAP_TOKENS)
    found, total = await _indexed(manager, narrowed, scope)
    short = await manager.ids.shortened(caller, (memory.id for memory in found))
    for memory in found:
        packet.offer(index_entry(memory, short[memory.id]) | witnessed(memory))
    packet.leave_out(total - len(found))
    return packet.reply()


async def _indexed(
    manager: MemoryManager, caller: Caller, scope: Scope
) -> tuple[list[Memory], int]:
    """Return the latest active records, wing by wing in scope, and how many there are."""
    listed: list[Memory] = []
    total = 0
    for wing in (None,) if scope.wings is None else scope.wings:
        page = await manager.latest(caller, Filters(wing=wing), INDEXED_A_WING)
        listed += page.memories
        total += page.total
    return listed, total


async def _get(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    found, unknown = await _by_ids(manager, caller, values.texts("ids"))
    tokens = values.whole("budget_tokens") or RECORDS_TOKENS
    packet = Packet({"unknown": [*unknown]} if unknown else {}, tokens)
    if not packet.fits:
        raise InvalidInputError("reply_too_small", tokens=tokens)
    for memory in found:
        if packet.offer(record(memory)):
            manager.note_fetched(memory)
    return packet.reply()


async def _by_ids(
    manager: MemoryManager, caller: Caller, ids: Sequence[str]
) -> tuple[list[Memory], list[str]]:
    """Return the records behind ids, and the ids that are of none.

    Raises NotFoundError where none is of one, and InvalidInputError for a beginning of several.
    """
    found, unknown = [], []
    first: NotFoundError | None = None
    for beginning in ids:
        try:
            found.append(await manager.ids.find(caller, beginning.strip()))
        except NotFoundError as err:
            first = first or err
            unknown.append(err.placeholders["id"])
    if first is not None and not found:
        raise first
    return found, unknown


async def _timeline(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    scope = await scope_of(manager, caller, values, from_hub=False)
    narrowed = scope.narrowed(caller)
    status = values.text("status")
    wanted = Filters(statuses=(Status(status),) if status else LIVE)
    page = await manager.latest(narrowed, wanted, values.whole("limit") or TIMELINE_LIMIT_DEFAULT)
    pending = await manager.latest(narrowed, Filters(statuses=(Status.CANDIDATE,)), 1)
    packet = Packet(
        {"namespace": scope.namespace, "candidates_pending": pending.total},
        values.whole("budget_tokens") or RECORDS_TOKENS,
    )
    for memory in page.memories:
        packet.offer(
            {
                "id": memory.id,
                "namespace": memory.wing,
                "type": memory.type,
                "title": title_of(memory),
                "status": memory.status.value,
                "revision": memory.revision,
                "agent": record(memory)["agent"],
                "updated": memory.updated.isoformat(timespec="seconds"),
            }
            | missing(memory)
        )
    packet.leave_out(page.total - len(page.memories))
    return packet.reply()


BEGINNING: Final = (
    Operation(
        name="memory_namespace",
        title="Namespace of a repository",
        description="Return the namespace of a git remote, for all other tools.",
        parameters=(
            Parameter(name="remote", description="git remote get-url origin", required=True),
        ),
        access=Access.READ,
        handler=_namespace,
    ),
    Operation(
        name="memory_bootstrap",
        title="Begin a session",
        description=(
            "Begin a session: the titles of what is known about a namespace, with short ids for"
            " memory_get. Read before you explore a repository again."
        ),
        parameters=(NAMESPACE, TOPICS),
        access=Access.READ,
        handler=_bootstrap,
    ),
)
RECORDS: Final = (
    Operation(
        name="memory_get",
        title="Read records",
        description=(
            "Read records in full by their ids, or by beginnings of 8 or more characters. Those"
            " that are of no record are listed as unknown."
        ),
        parameters=(
            required(Parameter(name="ids", kind=Kind.TEXTS, maximum=GET_MAXIMUM)),
            budget(RECORDS_TOKENS),
        ),
        access=Access.READ,
        handler=_get,
    ),
    Operation(
        name="memory_timeline",
        title="Latest records",
        description=(
            "List records by when they last changed. With status candidate: what waits for review,"
            " to be made active with memory_update or dropped with memory_forget."
        ),
        parameters=(
            NAMESPACE,
            TOPICS,
            Parameter(
                name="status",
                kind=Kind.CHOICE,
                choices=(Status.ACTIVE, Status.CANDIDATE, Status.SUPERSEDED),
            ),
            limited(TIMELINE_LIMIT_DEFAULT, TIMELINE_LIMIT_MAXIMUM),
            budget(RECORDS_TOKENS),
        ),
        access=Access.READ,
        handler=_timeline,
    ),
)
