"""A write under way, and what it tells once it is committed.

The modules of one subject each (``additions``, ``changes``, ``supersession``, ``forgetting``,
``evidence``) get a ``Transaction`` and return what they did as ``Written`` values; ``writer``
begins and ends it. Nothing here knows what is kept in memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import aiosqlite

from . import memories, palace, vectors
from .anchors import EntityCheck
from .errors import AccessDeniedError, ConflictError, NotFoundError
from .models import KEPT, Action, Caller, Memory, Status
from .text_input import check_id
from .vector_index import Vector
from .vectors import Unembedded

REMOVED_AT_ONCE: Final = 100
"""Memories of one statement: between two of them the event loop runs."""

type MemoryChange = tuple[Memory | None, Memory | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One kind of change that a transaction made, as pairs of before and after.

    ``vector`` was stored with the memory after the change; ``palace`` counts wings and rooms.
    """

    action: Action
    changes: Sequence[MemoryChange]
    palace: tuple[int, int]
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """What a write needs to know: who asks, when, and how many memories took room before.

    ``check_entity`` tells whether the home has an entity.
    """

    connection: aiosqlite.Connection
    caller: Caller
    now_ms: int
    fingerprint: str
    of_home: int
    check_entity: EntityCheck

    async def memory(
        self,
        memory_id: str,
        revision: int | None = None,
        statuses: tuple[Status, ...] = KEPT,
    ) -> Memory:
        """Return a memory that the caller may see, at the revision if one is given.

        Raises NotFoundError, and ConflictError where it is at another revision.
        """
        check_id(memory_id)
        memory = await memories.get(self.connection, self.caller, memory_id, statuses)
        if memory is None:
            raise NotFoundError("memory_not_found", id=memory_id)
        if revision is not None and revision != memory.revision:
            raise ConflictError("revision_conflict", memory, id=memory_id, revision=memory.revision)
        return memory

    def check_reach(self, wing: str) -> None:
        """Refuse to write where the caller could not read. Raises AccessDeniedError."""
        if not self.caller.reach.admits(wing):
            raise AccessDeniedError("wing_not_allowed", wing=wing)

    async def store_vector(self, memory: Memory, vector: Vector | None) -> None:
        """Store the vector of a memory that was just written, if there is one."""
        if vector is not None:
            subject = Unembedded(memory.sequence, memory.revision, memory.embedded_text)
            await vectors.store(self.connection, subject, self.fingerprint, vector)

    async def record(
        self, action: Action, changes: Sequence[MemoryChange], vector: Vector | None = None
    ) -> Written:
        """Write the audit rows of a change; returns it as what the transaction tells."""
        await memories.audit(self.connection, self.caller, action, self.now_ms, changes)
        size = await palace.size(self.connection)
        return Written(action=action, changes=changes, palace=size, vector=vector)
