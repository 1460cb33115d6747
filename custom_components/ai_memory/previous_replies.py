"""What scripts written for the integration before read in the responses of the shared actions.

The services call it last, and no other door does. It adds names and changes none, so that whoever
reads a response by today's names finds them as everywhere.
"""

from typing import Final

from .operations import Reply
from .operations.replies import JsonValue

_LISTS: Final = {"list_memories": "memories", "search_memory": "results"}
_WRITES: Final = frozenset({"add_memory", "update_memory", "delete_memory"})


def with_previous_names(service: str, reply: Reply) -> Reply:
    """Return the response of a service with the names of before beside its own."""
    if service in _WRITES:
        reply |= {"success": True}
    if service == "delete_memory":
        reply |= {"deleted_count": reply["deleted"]}
    if service in _LISTS:
        _date(reply[_LISTS[service]])
    return reply


def _date(memories: JsonValue) -> None:
    if isinstance(memories, list):
        for memory in memories:
            if isinstance(memory, dict):
                memory["created_at"] = memory["created"]
