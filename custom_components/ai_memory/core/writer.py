"""The transactions that change memories: one method each, all or nothing.

Only the manager calls this. Each method returns what it committed as ``Written`` values, from which
the manager brings the index, the census and the listeners up to date.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import aiosqlite
from ulid_transform import ulid_at_time

from ..embedding.protocol import EmbeddingEngine
from . import layers, memories, palace, vectors
from .database import Database
from .errors import AccessDeniedError, InvalidInputError, NotFoundError
from .layers import LayerMove
from .models import (
    Action,
    AddResult,
    Caller,
    Filters,
    Memory,
    MemoryChanges,
    MemoryReference,
    NewMemory,
    Scope,
)
from .restatement import restatement_digest
from .vector_index import Vector
from .vectors import Unembedded
from .visibility import SqlValue, visible_to

REMOVED_AT_ONCE: Final = 200

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


class MemoryWriter:
    """Writes on behalf of callers, each change in one transaction with its audit row."""

    def __init__(self, database: Database, engine: EmbeddingEngine) -> None:
        """Keep the database and the engine under whose fingerprint vectors are stored."""
        self._database = database
        self._engine = engine
        self.total = 0

    async def add(
        self, caller: Caller, new: NewMemory, vector: Vector | None, now_ms: int, capacity: int
    ) -> tuple[AddResult, list[Written]]:
        """Insert a memory, or refresh the one it restates; on insertion evict beyond ``capacity``.

        ``new`` is cleaned and has its place. Raises InvalidInputError and StorageError.
        """
        async with self._database.transaction() as connection:
            result, written = await self._add(
                connection, caller, new, vector, now_ms=now_ms, capacity=capacity
            )
        self._count(written)
        return result, written

    async def update(
        self,
        caller: Caller,
        memory_id: str,
        changes: MemoryChanges,
        vector: Vector | None,
        now_ms: int,
    ) -> tuple[Memory, list[Written]]:
        """Change a memory that the caller may see; nothing is written when nothing would change.

        ``changes`` are cleaned. Raises NotFoundError, InvalidInputError when another memory in that
        place already says the same, and StorageError.
        """
        async with self._database.transaction() as connection:
            before = await memories.get(connection, caller, memory_id)
            if before is None:
                raise NotFoundError("memory_not_found", id=memory_id)
            if (wanted := _changed(before, changes)) == before:
                return before, []
            _check_reach(caller, wanted.wing)
            place = await palace.ensure_place(connection, wanted.wing, wanted.room, now_ms)
            owner: dict[str, SqlValue] = {
                "owner_agent": before.owner_agent,
                "owner_user": before.owner_user,
            }
            if wanted.scope is not before.scope:
                owner = _owner(caller, wanted.scope)
            values: dict[str, SqlValue] = {
                "content": wanted.content,
                "summary": wanted.summary,
                "restatement": restatement_digest(wanted.content),
                "room_id": place.room_id,
                "scope": wanted.scope,
                "layer": wanted.layer,
                "pinned": wanted.pinned,
                "now_ms": now_ms,
                **owner,
            }
            known = await memories.restated(connection, values)
            if known is not None and known != before.sequence:
                other = await memories.by_sequence(connection, known)
                raise InvalidInputError("already_known", id=other.id)
            after = await memories.update(connection, before, values)
            if after.content != before.content:
                await vectors.discard(connection, after.sequence)
                if vector is not None:
                    await self._store_vector(connection, after, vector)
            written = await _record(connection, caller, Action.UPDATED, now_ms, [(before, after)])
            return after, [replace(written, vector=vector)]

    async def delete(
        self, caller: Caller, memory_id: str | None, filters: Filters, now_ms: int
    ) -> list[Written]:
        """Remove one memory by id, or every memory in the filters, that the caller may see.

        Raises NotFoundError for an id and StorageError.
        """
        async with self._database.transaction() as connection:
            clause = visible_to(caller, filters)
            if memory_id is not None:
                clause = replace(
                    clause,
                    sql=f"{clause.sql} AND m.id = :id",
                    parameters=clause.parameters | {"id": memory_id},
                )
            gone: list[MemoryChange] = []
            while doomed := await memories.matching(connection, clause, REMOVED_AT_ONCE):
                await memories.remove(connection, doomed)
                gone += [(memory, None) for memory in doomed]
            if memory_id is not None and not gone:
                raise NotFoundError("memory_not_found", id=memory_id)
            if not gone:
                return []
            written = [await _record(connection, caller, Action.DELETED, now_ms, gone)]
        self._count(written)
        return written

    async def move_layers(
        self, caller: Caller, moves: list[LayerMove], now_ms: int
    ) -> list[Written]:
        """Move memories to other layers, as maintenance found them due. Raises StorageError."""
        async with self._database.transaction() as connection:
            changes = await layers.move(connection, moves, now_ms)
            if not changes:
                return []
            return [await _record(connection, caller, Action.MOVED, now_ms, changes)]

    async def store_vectors(
        self, made: Sequence[tuple[Unembedded, Vector]]
    ) -> list[tuple[int, Vector]]:
        """Store vectors made in the background; returns those stored, by sequence.

        A memory that changed or went meanwhile is passed over. Raises StorageError.
        """
        fingerprint = self._engine.fingerprint
        async with self._database.transaction() as connection:
            return [
                (memory.sequence, vector)
                for memory, vector in made
                if await vectors.store(connection, memory, fingerprint, vector)
            ]

    async def _add(
        self,
        connection: aiosqlite.Connection,
        caller: Caller,
        new: NewMemory,
        vector: Vector | None,
        *,
        now_ms: int,
        capacity: int,
    ) -> tuple[AddResult, list[Written]]:
        _check_reach(caller, new.wing or "")
        place = await palace.ensure_place(connection, new.wing or "", new.room or "", now_ms)
        scope = new.scope or place.default_scope
        values: dict[str, SqlValue] = {
            "content": new.content,
            "summary": new.summary,
            "restatement": restatement_digest(new.content),
            "room_id": place.room_id,
            "scope": scope,
            "layer": new.layer,
            "pinned": new.pinned,
            "now_ms": now_ms,
            **_owner(caller, scope),
        }
        known = await memories.restated(connection, values)
        if known is not None:
            return await self._refresh(connection, caller, known, values)
        memory = await memories.insert(
            connection,
            values
            | {
                "id": ulid_at_time(now_ms / 1000),
                "type": new.type,
                "language": caller.language,
                "source": caller.source,
            },
        )
        if vector is not None:
            await self._store_vector(connection, memory, vector)
        added = await _record(connection, caller, Action.ADDED, now_ms, [(None, memory)])
        written = [replace(added, vector=vector)]
        result = AddResult(memory=memory, refreshed=False, evicted=(), evicted_count=0)
        surplus = self.total + 1 - capacity
        if surplus > 0:
            evicted, seen = await _evict(connection, caller, memory, now_ms, surplus)
            result = replace(result, evicted=seen, evicted_count=len(evicted.changes))
            written += [evicted] if evicted.changes else []
        return result, written

    def _count(self, written: Sequence[Written]) -> None:
        """Follow a commit before the next transaction can begin, which nothing awaited lets it."""
        for one in written:
            for before, after in one.changes:
                self.total += live(after) - live(before)

    async def _store_vector(
        self, connection: aiosqlite.Connection, memory: Memory, vector: Vector
    ) -> None:
        subject = Unembedded(memory.sequence, memory.revision, memory.content)
        await vectors.store(connection, subject, self._engine.fingerprint, vector)

    async def _refresh(
        self,
        connection: aiosqlite.Connection,
        caller: Caller,
        known: int,
        values: dict[str, SqlValue],
    ) -> tuple[AddResult, list[Written]]:
        """Renew the first telling: its words stay; a missing summary or a higher layer is taken."""
        before = await memories.by_sequence(connection, known)
        kept: dict[str, SqlValue] = {
            "content": before.content,
            "summary": before.summary or values["summary"],
            "layer": min(before.layer, int(str(values["layer"]))),
            "pinned": before.pinned or values["pinned"],
        }
        after = await memories.update(connection, before, values | kept)
        now_ms = int(str(values["now_ms"]))
        written = await _record(connection, caller, Action.REFRESHED, now_ms, [(before, after)])
        result = AddResult(memory=after, refreshed=True, evicted=(), evicted_count=0)
        return result, [written]


def live(memory: Memory | None) -> bool:
    """Return whether there is a memory that is neither replaced nor forgotten."""
    return memory is not None and memory.live


def _check_reach(caller: Caller, wing: str) -> None:
    """Refuse to write where the caller could not read. Raises AccessDeniedError."""
    if not caller.reach.admits(wing):
        raise AccessDeniedError("wing_not_allowed", wing=wing)


def _owner(caller: Caller, scope: Scope) -> dict[str, SqlValue]:
    """Return who owns a memory of this scope. Raises InvalidInputError where nobody could."""
    if scope is Scope.COMMON:
        return {"owner_agent": None, "owner_user": None}
    agent = caller.agent or caller.provider
    if not agent:
        raise InvalidInputError("private_needs_agent")
    return {"owner_agent": agent, "owner_user": caller.user or None}


def _changed(before: Memory, changes: MemoryChanges) -> Memory:
    """Return the memory as the changes want it, None leaving a field as it is."""
    fields = {
        name: value
        for name in ("content", "summary", "wing", "room", "scope", "layer", "pinned")
        if (value := getattr(changes, name)) is not None
    }
    return replace(before, **fields)


async def _evict(
    connection: aiosqlite.Connection, caller: Caller, keep: Memory, now_ms: int, surplus: int
) -> tuple[Written, tuple[MemoryReference, ...]]:
    """Remove the least valuable memories; the caller is told only of those it could see."""
    gone: list[MemoryChange] = []
    seen: list[MemoryReference] = []
    while surplus > len(gone):
        limit = min(surplus - len(gone), REMOVED_AT_ONCE)
        doomed = await memories.least_valuable(connection, keep.sequence, limit)
        if not doomed:
            break
        visible = await memories.by_sequences(
            connection, visible_to(caller, Filters()), [memory.sequence for memory in doomed]
        )
        seen += [
            MemoryReference(id=memory.id, wing=memory.wing, room=memory.room)
            for memory in visible.values()
        ]
        await memories.remove(connection, doomed)
        gone += [(memory, None) for memory in doomed]
    written = await _record(connection, caller, Action.EVICTED, now_ms, gone)
    return written, tuple(seen)


async def _record(
    connection: aiosqlite.Connection,
    caller: Caller,
    action: Action,
    now_ms: int,
    changes: Sequence[MemoryChange],
) -> Written:
    """Write the audit rows of a change."""
    await memories.audit(connection, caller, action, now_ms, changes)
    return Written(action=action, changes=changes, palace=await palace.size(connection))
