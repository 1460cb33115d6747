"""What memories are about outside the memory: the operations on anchors.

The home looks for entities itself; coding agents, who see paths, hosts and addresses, list and
report them with tools of their own (``workshop.anchors``).
"""

from dataclasses import replace
from typing import Final

from ..core import (
    Access,
    AnchorFilters,
    AnchorKind,
    AnchorState,
    Caller,
    ListedAnchor,
    MemoryManager,
)
from .operation import MEMORY_ID, WING, Operation, limited
from .parameters import Kind, Parameter, Values
from .replies import Reply, anchors_reply, sweep_reply

ANCHORS_DEFAULT: Final = 100
ANCHORS_MAXIMUM: Final = 1_000

KIND: Final = Parameter(
    name="kind", kind=Kind.CHOICE, choices=tuple(kind.value for kind in AnchorKind)
)
STATE: Final = Parameter(
    name="state", kind=Kind.CHOICE, choices=tuple(state.value for state in AnchorState)
)


async def _anchors(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    filters = AnchorFilters(wing=values.text("wing"), memory_id=values.text("memory_id"))
    listed, more = await listed_anchors(manager, caller, values, filters)
    return anchors_reply(listed, more=more)


async def listed_anchors(
    manager: MemoryManager, caller: Caller, values: Values, where: AnchorFilters
) -> tuple[list[ListedAnchor], bool]:
    """Return the anchors of a kind and state that were asked for, and whether there are more."""
    limit = values.whole("limit") or ANCHORS_DEFAULT
    kind, state = values.text("kind"), values.text("state")
    filters = replace(
        where,
        kind=AnchorKind(kind) if kind else None,
        state=AnchorState(state) if state else None,
    )
    listed = await manager.anchors.listed(caller, filters, limit + 1)
    return listed[:limit], len(listed) > limit


async def _sweep(manager: MemoryManager, caller: Caller, _values: Values) -> Reply:
    return sweep_reply(await manager.anchors.sweep(caller))


OPERATIONS: Final = (
    Operation(
        name="anchors",
        title="List anchors",
        description="List what memories are about: entities, paths, hosts, addresses.",
        parameters=(WING, KIND, STATE, MEMORY_ID, limited(ANCHORS_DEFAULT, ANCHORS_MAXIMUM)),
        access=Access.READ,
        handler=_anchors,
    ),
    Operation(
        name="sweep_anchors",
        title="Look for entities",
        description="Look now which entities that memories are about are still there.",
        parameters=(),
        access=Access.WRITE,
        handler=_sweep,
    ),
)
