"""Which operations of the catalogue this door publishes, under which names and bounds.

Every client is offered the tools of the workshop; those of the home only a client that may see it,
and those that arrange the workshop only one that administers.
"""

from typing import Final

from ..core import Access
from ..operations import Narrowing, Publication
from ..operations.workshop import OPERATIONS

LIST_LIMIT_DEFAULT: Final = 20
LIST_LIMIT_MAXIMUM: Final = 100
SEARCH_LIMIT_MAXIMUM: Final = 50

_OF_RECORDS: Final = {"wing": "namespace", "memory_id": "id"}
_TOLD_OF_RECORDS: Final = _OF_RECORDS | {"summary": "title"}
_TOLD_OF_SESSIONS: Final = {"wing": "namespace", "content": "summary"}
"""What refusals of the memory call a field, and what the tool does: one has a summary itself."""

WORKSHOP_TOOLS: Final = (
    *(
        Publication(
            name=operation.name,
            operation_name=operation.name,
            offered=tuple(parameter.name for parameter in operation.parameters),
            renamed=(
                _TOLD_OF_SESSIONS if operation.name == "memory_session_close" else _TOLD_OF_RECORDS
            ),
        )
        for operation in OPERATIONS
    ),
    Publication(name="memory_anchor_sweep", operation_name="sweep_anchors", offered=()),
    Publication(
        name="memory_export",
        operation_name="export",
        offered=("wing", "format", "cursor"),
        renamed=_OF_RECORDS,
    ),
    Publication(
        name="memory_import",
        operation_name="import",
        offered=("text", "format", "wing", "dry_run"),
        renamed=_OF_RECORDS,
    ),
)
ADMINISTRATION_TOOLS: Final = (
    Publication(
        name="memory_links",
        operation_name="tunnels",
        offered=("wing",),
        renamed=_OF_RECORDS,
        demanded=Access.ADMIN,
    ),
    Publication(
        name="memory_link",
        operation_name="connect",
        offered=("wing", "to_wing", "reason"),
        renamed={"wing": "namespace", "to_wing": "project"},
        demanded=Access.ADMIN,
    ),
    Publication(
        name="memory_make_hub",
        operation_name="make_hub",
        offered=("wing",),
        renamed=_OF_RECORDS,
    ),
    Publication(
        name="memory_unlink",
        operation_name="disconnect",
        offered=("tunnel_id",),
        renamed={"tunnel_id": "id"},
        demanded=Access.ADMIN,
    ),
    Publication(name="memory_rename_owner", operation_name="rename_owner", offered=("from", "to")),
)
HOME_TOOLS: Final = (
    Publication(
        name="add_memory",
        operation_name="add",
        offered=(
            *("content", "scope", "summary", "wing", "room", "layer", "pin"),
            *("expires", "supersedes"),
        ),
    ),
    Publication(name="get_memory", operation_name="get", offered=("memory_id",)),
    Publication(
        name="list_memories",
        operation_name="list",
        offered=("wing", "room", "scope", "limit"),
        narrowed={"limit": Narrowing(default=LIST_LIMIT_DEFAULT, maximum=LIST_LIMIT_MAXIMUM)},
        # A full list of long memories would leave a model no room to think.
        fixed={"excerpts": True},
    ),
    Publication(
        name="search_memory",
        operation_name="search",
        offered=("query", "wing", "room", "scope", "layer", "limit", "min_score"),
        narrowed={"limit": Narrowing(maximum=SEARCH_LIMIT_MAXIMUM)},
    ),
    Publication(
        name="update_memory",
        operation_name="update",
        offered=(
            *("memory_id", "content", "summary", "wing", "room", "scope", "layer", "pin"),
            *("expires", "revision"),
        ),
    ),
    Publication(
        name="delete_memory",
        operation_name="delete",
        offered=("memory_id", "room", "wing", "scope"),
        # A model errs more often than a person does.
        fixed={"restorable": True},
    ),
)
