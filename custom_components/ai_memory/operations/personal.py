"""What a person may ask about itself: what is kept of it, and to forget that."""

from typing import Final

from ..core import (
    AboutPerson,
    Access,
    AccessDeniedError,
    Caller,
    Forgetting,
    MemoryManager,
)
from .operation import Operation, limited
from .parameters import Parameter, Values
from .replies import Reply, memory_reply

ABOUT_LIMIT_DEFAULT: Final = 50
ABOUT_LIMIT_MAXIMUM: Final = 1_000

NEXT_STEP: Final = (
    "Nothing is forgotten yet. Tell the person how many memories these are and ask. "
    "Only after a yes, call again with this confirm."
)
"""Told where it is needed rather than in the description, which costs tokens in every prompt."""


async def _about(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    limit = values.whole("limit") or ABOUT_LIMIT_DEFAULT
    return about_reply(await manager.personal.about(caller, limit))


async def _forget(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    user, confirmation = values.text("user"), values.text("confirm")
    if user not in {None, caller.user} and Access.ADMIN not in caller.access:
        raise AccessDeniedError("access_denied", access=Access.ADMIN.value)
    confirmation = confirmation.strip() if confirmation else None
    return forget_reply(await manager.personal.forget(caller, user, confirmation))


def about_reply(result: AboutPerson) -> Reply:
    """Return a person's own memories, and how many others the agent may speak of."""
    return {
        "memories": [memory_reply(memory) for memory in result.memories],
        "count": len(result.memories),
        "total": result.total,
        "others": {"agent": result.agents, "common": result.common},
    }


def forget_reply(result: Forgetting) -> Reply:
    """Return what was forgotten, or what has to be confirmed."""
    if result.forgotten is not None:
        return {
            "result": "deleted",
            "deleted": result.count,
            "memory_ids": list(result.forgotten),
        }
    if not result.count:
        return {"result": "nothing_to_forget", "count": 0}
    return {
        "result": "confirmation_needed",
        "count": result.count,
        "confirm": result.confirmation,
        "next_step": NEXT_STEP,
    }


OPERATIONS: Final = (
    Operation(
        name="about_me",
        title="What is kept of a person",
        description="List what is private to the person who asks.",
        parameters=(limited(ABOUT_LIMIT_DEFAULT, ABOUT_LIMIT_MAXIMUM),),
        access=Access.READ,
        handler=_about,
    ),
    Operation(
        name="forget_me",
        title="Forget a person",
        description="Forget all private to the speaker; asks first.",
        parameters=(Parameter(name="confirm"), Parameter(name="user")),
        access=Access.DELETE,
        handler=_forget,
        destructive=True,
    ),
)
