"""What memories are about outside the memory: the operations on anchors.

The home looks for entities itself; whoever can see a path, a host or an address reports on it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..core import (
    Access,
    AnchorFilters,
    AnchorKind,
    AnchorState,
    Caller,
    InvalidInputError,
    MemoryManager,
    Report,
)
from .operation import MEMORY_ID, WING, Operation, limited
from .parameters import Kind, Parameter, Values
from .replies import Reply, anchors_reply, report_reply, sweep_reply

ANCHORS_DEFAULT: Final = 100
ANCHORS_MAXIMUM: Final = 1_000

KIND: Final = Parameter(
    name="kind", kind=Kind.CHOICE, choices=tuple(kind.value for kind in AnchorKind)
)
STATE: Final = Parameter(
    name="state", kind=Kind.CHOICE, choices=tuple(state.value for state in AnchorState)
)


async def _anchors(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    limit = values.whole("limit") or ANCHORS_DEFAULT
    kind, state = values.text("kind"), values.text("state")
    filters = replace(
        _filters(values),
        kind=AnchorKind(kind) if kind else None,
        state=AnchorState(state) if state else None,
    )
    listed = await manager.anchors.listed(caller, filters, limit + 1)
    return anchors_reply(listed[:limit], more=len(listed) > limit)


async def _report(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    reports = _reports(values.mapping("reports"))
    return report_reply(await manager.anchors.report(caller, reports, _filters(values)))


async def _sweep(manager: MemoryManager, caller: Caller, _values: Values) -> Reply:
    return sweep_reply(await manager.anchors.sweep(caller))


def _filters(values: Values) -> AnchorFilters:
    return AnchorFilters(wing=values.text("wing"), memory_id=values.text("memory_id"))


def _reports(raw: Mapping[str, object]) -> dict[str, Report]:
    """Return what was found, by anchor. Raises InvalidInputError."""
    reports = {}
    for anchor, found in raw.items():
        if found not in tuple(Report):
            raise InvalidInputError("unknown_choice", field="reports", choices=", ".join(Report))
        reports[anchor] = Report(str(found))
    return reports


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
        name="report_anchors",
        title="Report on anchors",
        description="Tell which paths, hosts and addresses are there and which are missing.",
        parameters=(
            Parameter(
                name="reports",
                kind=Kind.OBJECT,
                description="by anchor: ok, missing, or unavailable where you could not look",
                required=True,
            ),
            WING,
            MEMORY_ID,
        ),
        access=Access.WRITE,
        handler=_report,
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
