"""What must exist for records to hold, as coding agents list it and report on it.

Paths, hosts and addresses are looked for by agents that can see them; entities by the home itself,
which no agent reports on.
"""

from collections.abc import Mapping
from typing import Final

from ...core import (
    Access,
    AnchorFilters,
    AnchorKind,
    AnchorState,
    Caller,
    InvalidInputError,
    ListedAnchor,
    MemoryManager,
    Report,
)
from ...core.models import LIVE
from ..anchors import ANCHORS_DEFAULT, ANCHORS_MAXIMUM, KIND, STATE
from ..operation import Operation, limited
from ..parameters import Kind, Parameter, Values
from ..replies import JsonValue, Reply
from .scope import NAMESPACE

_ID: Final = Parameter(
    name="id", description="of one record: full, or its first 8 or more characters"
)


async def _anchors(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    limit = values.whole("limit") or ANCHORS_DEFAULT
    kind, state = values.text("kind"), values.text("state")
    filters = AnchorFilters(
        wing=values.text("namespace"),
        memory_id=await _record(manager, caller, values),
        kind=AnchorKind(kind) if kind else None,
        state=AnchorState(state) if state else None,
    )
    listed = await manager.anchors.listed(caller, filters, limit + 1)
    told: list[JsonValue] = [_told(one) for one in listed[:limit]]
    return {"anchors": told, "count": len(told), "more": len(listed) > limit}


async def _report(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    reports = _reports(values.mapping("reports"))
    filters = AnchorFilters(
        wing=values.text("namespace"), memory_id=await _record(manager, caller, values)
    )
    reported = await manager.anchors.report(caller, reports, filters)
    return {
        "reported": reported.anchors,
        "changed": list(reported.memory_ids),
        "unknown": list(reported.unknown),
    }


async def _record(manager: MemoryManager, caller: Caller, values: Values) -> str | None:
    """Return the id of the record that was asked for. Raises NotFoundError, InvalidInputError."""
    beginning = values.text("id")
    if beginning is None:
        return None
    return (await manager.ids.find(caller, beginning.strip(), LIVE)).id


def _reports(raw: Mapping[str, object]) -> dict[str, Report]:
    """Return what was found, by anchor. Raises InvalidInputError."""
    reports = {}
    for anchor, found in raw.items():
        if found not in tuple(Report):
            raise InvalidInputError("unknown_choice", field="reports", choices=", ".join(Report))
        reports[anchor] = Report(str(found))
    return reports


def _told(one: ListedAnchor) -> Reply:
    return {
        "anchor": one.anchor,
        "state": one.state.value,
        "checked": one.checked.isoformat() if one.checked else None,
        "unavailable_since": one.unavailable_since.isoformat() if one.unavailable_since else None,
        "id": one.memory_id,
        "namespace": one.wing,
    }


OPERATIONS: Final = (
    Operation(
        name="memory_anchors",
        title="List anchors",
        description="List what records are about: entities, paths, hosts, addresses.",
        parameters=(NAMESPACE, KIND, STATE, _ID, limited(ANCHORS_DEFAULT, ANCHORS_MAXIMUM)),
        access=Access.READ,
        handler=_anchors,
    ),
    Operation(
        name="memory_anchor_report",
        title="Report on anchors",
        description="Tell which paths, hosts and addresses are there and which are missing.",
        parameters=(
            Parameter(
                name="reports",
                kind=Kind.OBJECT,
                description="by anchor: ok, missing, or unavailable where you could not look",
                required=True,
            ),
            NAMESPACE,
            _ID,
        ),
        access=Access.WRITE,
        handler=_report,
    ),
)
