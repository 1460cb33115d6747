"""The one place that everything about to be kept passes, and where refusals are put on record.

Called by the manager with what a caller sent, as it was sent. What is taken over from another
database does not come this way: nobody loses an old memory to a new rule.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import aiosqlite

from ..errors import ScreenedError
from ..models import Caller
from .finding import Finding, Strictness
from .screening import screen

SCREENED: Final = "screened"
"""The action that a refusal has in the audit."""

type Screened = str | int | float | bool | Sequence[Screened] | Mapping[str, Screened] | None

_AUDIT: Final = """
    INSERT INTO audit (at_ms, action, memory_id, source, agent, user, subject, reason)
    VALUES (:at_ms, :action, :memory_id, :source, :agent, :user, :subject, :reason)
"""


def find(fields: Mapping[str, Screened], strictness: Strictness) -> Finding | None:
    """Return the first secret in what is about to be kept, named by its field."""
    for field, value in fields.items():
        for text in _texts(value):
            if found := screen(field, text, strictness):
                return found
    return None


def check(fields: Mapping[str, Screened], strictness: Strictness) -> None:
    """Refuse what holds a secret. Raises ScreenedError."""
    if found := find(fields, strictness):
        raise refusal(found)


def refusal(found: Finding) -> ScreenedError:
    """Return the error that names field and pattern, and nothing else."""
    return ScreenedError("screened", field=found.field, pattern=found.pattern)


def masked(text: str, strictness: Strictness) -> str:
    """Return a text for the audit: as it is, or only which pattern found a secret in it."""
    found = screen("", text, strictness)
    return text if found is None else f"[{SCREENED}:{found.pattern}]"


async def audit_refusal(
    connection: aiosqlite.Connection,
    caller: Caller,
    found: Finding,
    now_ms: int,
    memory_id: str = "",
) -> None:
    """Put a refusal on record by field and pattern; ``memory_id`` is blank for a new memory."""
    row = {
        "at_ms": now_ms,
        "action": SCREENED,
        "memory_id": memory_id,
        "source": caller.source,
        "agent": caller.agent,
        "user": caller.user,
        "subject": found.field,
        "reason": found.pattern,
    }
    await connection.execute(_AUDIT, row)


def _texts(value: Screened) -> list[str]:
    """Return every text in a value, the names of its fields included."""
    texts: list[str] = []
    waiting: list[Screened] = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                texts.append(text)
            case Mapping() as fields:
                texts += fields
                waiting += fields.values()
                # What a name gives away only shows beside its value.
                texts += [f"{name}: {one}" for name, one in fields.items() if isinstance(one, str)]
            case Sequence() as items:
                waiting += items
    return texts
