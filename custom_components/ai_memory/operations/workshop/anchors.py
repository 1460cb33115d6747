"""What must exist for records to hold, as coding agents list it and report on it.

Paths, hosts and addresses are looked for by agents that can see them; entities by the home itself,
which no agent reports on.
"""

from collections.abc import Mapping
from typing import Final

from ...core import (
    Access,
    AnchorFilters,
    Caller,
    InvalidInputError,
    MemoryManager,
    Report,
)
from ...core.models import LIVE
from ..anchors import ANCHORS_DEFAULT, ANCHORS_MAXIMUM, KIND, STATE, listed_anchors
from ..operation import Operation, limited
from ..parameters import Kind, Parameter, Values
from ..replies import JsonValue, Reply, anchor_reply
from .scope import NAMESPACE

_ID: Final = Parameter(
    name="id", description="of one record: full, or its first 8 or more characters"
)


async def _anchors(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    where = await _where(manager, caller, values)
    listed, more = await listed_anchors(manager, caller, values, where)
    told: list[JsonValue] = [
        anchor_reply(one) | {"id": one.memory_id, "namespace": one.wing} for one in listed
    ]
    return {"anchors": told, "count": len(told), "more": more}


async def _report(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    reports = _reports(values.mapping("reports"))
    where = await _where(manager, caller, values)
    reported = await manager.anchors.report(caller, reports, where)
    return {
        "reported": reported.anchors,
        "changed": list(reported.memory_ids),
        "unknown": list(reported.unknown),
    }


async def _where(manager: MemoryManager, caller: Caller, values: Values) -> AnchorFilters:
    """Return the namespace and the record asked for. Raises NotFoundError, InvalidInputError."""
    record, beginning = None, values.text("id")
    if beginning is not None:
        record = (await manager.ids.find(caller, beginning.strip(), LIVE)).id
    return AnchorFilters(wing=values.text("namespace"), memory_id=record)


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
