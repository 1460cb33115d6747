"""The one place that everything about to be kept passes, and where refusals go on record.

Called by the manager with what a caller sent, as it was sent. What is taken over from another
database does not come this way: nobody loses an old memory to a new rule.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import aiosqlite

from ..anchors import FIELD as ANCHORS, url_of
from ..database import Database
from ..errors import ScreenedError
from ..memories import milliseconds
from ..models import Caller
from .finding import MARKED, WORKSHOP, Finding, Strictness
from .screening import screen
from .urls import screen_anchor_url

SCREENED: Final = "screened"
"""The action that a refusal has in the audit."""

AT_ONCE_CHARACTERS: Final = 500
"""Longer texts are looked at beside the event loop."""

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
            if field == ANCHORS and (url := url_of(text)) and (found := screen_anchor_url(url)):
                return replace(found, field=field)
    return None


class Gate:
    """The screen as one memory has it; the manager owns it, and whoever keeps texts asks it."""

    def __init__(self, database: Database, home: Strictness, clock: Callable[[], datetime]) -> None:
        """Keep how strict the home's doors are; the workshop's always are."""
        self._database = database
        self._home = home
        self._clock = clock

    async def admit(
        self, caller: Caller, fields: Mapping[str, Screened], memory_id: str = ""
    ) -> None:
        """Refuse what holds a secret or is marked as not to be kept, and put that on record.

        ``memory_id`` is blank for a new memory. Raises ScreenedError and StorageError.
        """
        found = await self.find(caller, fields)
        if found is None:
            return
        now_ms = milliseconds(self._clock())
        async with self._database.transaction() as connection:
            await _audit_refusal(connection, caller, found, now_ms, memory_id)
        if found.pattern == MARKED:
            raise ScreenedError("marked_do_not_store", field=found.field, pattern=found.pattern)
        raise ScreenedError("screened", field=found.field, pattern=found.pattern)

    async def find(self, caller: Caller, fields: Mapping[str, Screened]) -> Finding | None:
        """Return the first secret in texts of a caller."""
        strictness = WORKSHOP if caller.reach.workshop else self._home
        texts = [text for value in fields.values() for text in _texts(value)]
        if sum(map(len, texts)) <= AT_ONCE_CHARACTERS:
            return find(fields, strictness)
        return await asyncio.get_running_loop().run_in_executor(None, find, fields, strictness)


def masked(text: str, strictness: Strictness) -> str:
    """Return a text for the audit: as it is, or only which pattern found a secret in it."""
    found = screen("", text, strictness)
    return text if found is None else f"[{SCREENED}:{found.pattern}]"


async def _audit_refusal(
    connection: aiosqlite.Connection,
    caller: Caller,
    found: Finding,
    now_ms: int,
    memory_id: str,
) -> None:
    """Put a refusal on record by field and pattern, never by what was refused."""
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
