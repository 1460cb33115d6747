"""One bounded packet for a task: what matches it, then what holds in the repository anyway.

Each record says why it is here. The order is fixed: matches, constraints and decisions, open work,
known failures, procedures; what does not fit is counted.
"""

from dataclasses import replace
from typing import Final

from ...core import Access, Caller, Filters, Memory, MemoryManager
from ...core.models import LIVE
from ...core.workshop_rules import CONTEXT_TOKENS_MAXIMUM
from ..operation import Operation, required
from ..parameters import Parameter, Values
from ..replies import Reply
from .budget import PACKET_TOKENS, Packet, budget
from .records import record, why
from .scope import NAMESPACE, TOPICS, Scope, scope_of

MATCHES: Final = 10
OF_A_KIND: Final = 20
"""How many records of one kind are looked at."""

_KINDS: Final = (
    (("constraint", "requirement"), "constraint of the namespace"),
    (("decision",), "decision of the namespace"),
    (("open_work",), "open work"),
    (("failure",), "known failure"),
    (("procedure",), "procedure"),
)


async def _project_context(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    scope = await scope_of(manager, caller, values, from_hub=True)
    wanted = values.whole("budget_tokens") or manager.workshop.context_budget_tokens
    tokens = min(wanted, manager.workshop.hard_context_limit_tokens)
    packet = Packet({"namespace": scope.namespace, "task": values.given("task")[:200]}, tokens)
    told: set[str] = set()

    def tell(memory: Memory, reason: str) -> None:
        if memory.id not in told:
            told.add(memory.id)
            packet.offer(record(memory) | {"reason": reason})

    narrowed = scope.narrowed(caller)
    matches = await manager.search(narrowed, Filters(statuses=LIVE), values.given("task"), MATCHES)
    for hit in matches.hits:
        tell(hit.memory, f"matches the task ({why(hit)})")
    for memory, reason in await _standing(manager, narrowed, scope):
        tell(memory, reason)
    return packet.reply() | {"ranking": matches.ranking}


async def _standing(
    manager: MemoryManager, caller: Caller, scope: Scope
) -> list[tuple[Memory, str]]:
    """Return what holds whatever the task is, in its order."""
    found: list[tuple[Memory, str]] = []
    for types, reason in _KINDS:
        page = await manager.latest(caller, Filters(wing=scope.namespace, types=types), OF_A_KIND)
        found += [(memory, reason) for memory in page.memories]
    return found


OPERATIONS: Final = (
    Operation(
        name="memory_project_context",
        title="Context for a task",
        description=(
            "One bounded packet for a task in a namespace, a reason with each record: matches of"
            " the task, then constraints and decisions, open work, known failures, procedures."
        ),
        parameters=(
            required(NAMESPACE),
            Parameter(name="task", description="what is about to be done", required=True),
            TOPICS,
            replace(budget(PACKET_TOKENS), default=None, maximum=CONTEXT_TOKENS_MAXIMUM),
        ),
        access=Access.READ,
        handler=_project_context,
    ),
)
