"""One bounded packet for a task: what matches it, then what holds in the repository anyway.

Each record says why it is here. The order is fixed: matches, constraints and decisions, open work,
known failures, procedures; what does not fit is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...core import Access, Caller, Filters, Memory, MemoryManager, Status
from ...core.models import LIVE
from ...core.search import ranking_of
from ...core.workshop_rules import CONTEXT_TOKENS_MAXIMUM
from ..operation import Operation, required
from ..parameters import Parameter, Values
from ..replies import Reply
from .budget import PACKET_TOKENS, Packet, budget
from .records import record, why
from .scope import NAMESPACE, TOPICS, Scope, scope_of

MATCHES: Final = 10
MATCHES_LOOKED_AT: Final = 50
"""Those that are not told are counted: more of them would be worth no look."""
OF_A_KIND: Final = 20
"""How many records of one kind are looked at."""
TASK_SHOWN_CHARACTERS: Final = 200

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
    task, narrowed = values.given("task"), scope.narrowed(caller)
    found = await manager.search(
        narrowed, Filters(statuses=LIVE), task, MATCHES_LOOKED_AT, counted=False
    )
    matches = found.hits[:MATCHES]
    packet = Packet(
        {
            "namespace": scope.namespace,
            "task": task[:TASK_SHOWN_CHARACTERS],
            "ranking": ranking_of(matches),
        },
        tokens,
    )
    manager.note_returned(
        [
            hit.memory
            for hit in matches
            if packet.offer(record(hit.memory) | {"reason": f"matches the task ({why(hit)})"})
        ]
    )
    told = {hit.memory.id for hit in matches}
    standing = await _standing(manager, narrowed, scope, [hit.memory for hit in found.hits])
    for memory, reason in standing.told:
        if memory.id not in told:
            told.add(memory.id)
            packet.offer(record(memory) | {"reason": reason})
    further = {hit.memory.id for hit in found.hits} - told
    packet.leave_out(len(further) + standing.beyond)
    return packet.reply()


@dataclass(frozen=True, slots=True)
class _Standing:
    """What holds whatever the task is, in its order, and how much of it is beyond the packet."""

    told: Sequence[tuple[Memory, str]]
    beyond: int


async def _standing(
    manager: MemoryManager, caller: Caller, scope: Scope, matches: Sequence[Memory]
) -> _Standing:
    """Return what holds in the namespace; what is among the matches is not counted again."""
    told: list[tuple[Memory, str]] = []
    beyond = 0
    for types, reason in _KINDS:
        page = await manager.latest(caller, Filters(wing=scope.namespace, types=types), OF_A_KIND)
        told += [(memory, reason) for memory in page.memories]
        looked_at = {memory.id for memory in page.memories} | {
            memory.id
            for memory in matches
            if memory.type in types
            and memory.wing == scope.namespace
            and memory.status is Status.ACTIVE
        }
        beyond += max(0, page.total - len(looked_at))
    return _Standing(told, beyond)


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
            replace(
                budget(PACKET_TOKENS),
                description="more than the home allows is cut to that",
                default=None,
                maximum=CONTEXT_TOKENS_MAXIMUM,
            ),
        ),
        access=Access.READ,
        handler=_project_context,
    ),
)
