"""What a coding agent reads: an index of a namespace, hits of a search, whole records, a timeline.

The flow that the replies are made for: bootstrap, then search, then get the records that matter.
"""

from collections.abc import Sequence
from typing import Final

from ...core import (
    Access,
    Caller,
    Filters,
    InvalidInputError,
    MatchType,
    Memory,
    MemoryManager,
    SearchHit,
    Status,
)
from ...core.memory_ids import SHORTEST_CHARACTERS
from ...core.models import LIVE
from ...core.namespaces import namespace_of_remote
from ..operation import Operation, limited, required
from ..parameters import Kind, Parameter, Values
from ..replies import Reply
from .budget import (
    BOOTSTRAP_TOKENS,
    HARD_LIMIT_TOKENS,
    LEAST_TOKENS,
    RECORDS_TOKENS,
    SEARCH_TOKENS,
    Packet,
)
from .records import excerpt, index_entry, missing, record, title_of, why, witnessed
from .scope import NAMESPACE, TOPICS, Scope, scope_of

INDEXED_A_WING: Final = 40
"""How many of a wing's records an index looks at; a budget holds far fewer."""
GET_MAXIMUM: Final = 50
SEARCH_LIMIT_DEFAULT: Final = 8
SEARCH_LIMIT_MAXIMUM: Final = 50
TIMELINE_LIMIT_DEFAULT: Final = 20
TIMELINE_LIMIT_MAXIMUM: Final = 200


def budget(default: int) -> Parameter:
    """Return a parameter for how much a reply may hold."""
    return Parameter(
        name="budget_tokens",
        kind=Kind.INTEGER,
        default=default,
        minimum=LEAST_TOKENS,
        maximum=HARD_LIMIT_TOKENS,
    )


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


async def _search(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    scope = await scope_of(manager, caller, values, from_hub=True)
    left_out = _prefixes(values.texts("exclude"))
    limit = values.whole("limit") or SEARCH_LIMIT_DEFAULT
    least = values.number("min_cosine")
    result = await manager.search(
        scope.narrowed(caller),
        Filters(statuses=LIVE),
        values.given("query"),
        limit + len(left_out),
        least,
        counted=not values.flag("recall"),
    )
    hits = [hit for hit in result.hits if not hit.memory.id.startswith(left_out)]
    if least is not None:
        # What words alone have found is like the query to no degree.
        hits = [hit for hit in hits if hit.match_type is not MatchType.TEXT]
    packet = Packet({"ranking": result.ranking}, values.whole("budget_tokens") or SEARCH_TOKENS)
    short = await manager.ids.shortened(caller, (hit.memory.id for hit in hits[:limit]))
    for hit in hits[:limit]:
        packet.offer(hit_entry(hit, short[hit.memory.id]))
    return packet.reply()


def hit_entry(hit: SearchHit, shown_id: str) -> Reply:
    """Return what a hit holds: enough to decide whether to read the record, and why it is here."""
    memory = hit.memory
    entry = index_entry(memory, shown_id) | {
        "namespace": memory.wing,
        "excerpt": excerpt(memory.content),
        "updated": memory.updated.date().isoformat(),
        "why": why(hit),
    }
    if hit.score:
        entry["cosine"] = hit.score
    return entry


def _prefixes(given: Sequence[str]) -> tuple[str, ...]:
    """Return the beginnings of ids, those that are long enough to mean one."""
    return tuple(one.strip().upper() for one in given if len(one.strip()) >= SHORTEST_CHARACTERS)


async def _get(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    packet = Packet({}, values.whole("budget_tokens") or RECORDS_TOKENS)
    for prefix in values.texts("ids"):
        memory = await manager.ids.find(caller, prefix.strip())
        full = record(memory)
        if packet.offer(full):
            manager.note_fetched(memory)
    return packet.reply()


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


OPERATIONS: Final = (
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
    Operation(
        name="memory_search",
        title="Search the memory",
        description=(
            "Search records by words and meaning. Give a namespace to search it, its projects,"
            " topics and what is global."
        ),
        parameters=(
            Parameter(name="query", required=True),
            NAMESPACE,
            TOPICS,
            limited(SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAXIMUM),
            Parameter(
                name="min_cosine",
                kind=Kind.NUMBER,
                description="keep only hits at least that similar",
                minimum=0,
                maximum=1,
            ),
            Parameter(
                name="exclude",
                kind=Kind.TEXTS,
                description="ids, or beginnings of them, to leave out",
                maximum=SEARCH_LIMIT_MAXIMUM,
            ),
            Parameter(
                name="recall",
                kind=Kind.BOOLEAN,
                description="asked by a hook, not by a person: count nothing",
                default=False,
            ),
            budget(SEARCH_TOKENS),
        ),
        access=Access.READ,
        handler=_search,
    ),
    Operation(
        name="memory_get",
        title="Read records",
        description="Read records in full by their ids, or by beginnings of 8 or more characters.",
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
