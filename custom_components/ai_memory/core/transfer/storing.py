"""One memory of an import into its rows: new, at a later revision, or completed.

``importing`` decides which of them inside its transactions, and counts.
"""

from dataclasses import dataclass

import aiosqlite
from ulid_transform import ulid_at_time

from .. import history, memories, palace, vectors
from ..models import DEFAULT_TYPE, Caller, Layer, Memory, Scope
from ..transaction import Transaction
from ..visibility import SqlValue
from . import attached, repository
from .preparing import Owner, Prepared, attached_of, source_of


@dataclass(frozen=True, slots=True)
class Spot:
    """Where and whose a memory would be; the room may not exist yet."""

    room_id: int | None
    scope: Scope
    owner: Owner


async def insert(write: Transaction, one: Prepared, spot: Spot, source: str) -> Memory:
    """Store a new memory; ``source`` is for one that names none."""
    connection, now_ms, told = write.connection, write.now_ms, one.told
    memory_id = told.id
    if memory_id is None or await repository.is_taken(connection, memory_id):
        memory_id = ulid_at_time(now_ms / 1000)
    memory = await memories.insert(
        connection,
        {
            **await _values(connection, one, spot, now_ms),
            "id": memory_id,
            "type": told.type or DEFAULT_TYPE,
            "language": told.language or (None if told.id else write.caller.language),
            "source": source_of(one, write.caller) or source,
        },
    )
    await repository.set_usage(connection, memory.sequence, told.usage)
    await _attach(connection, write.caller, one, spot, memory)
    stamp = repository.stamped(told, now_ms)
    return await repository.stamp(connection, memory.sequence, stamp)


async def renew(write: Transaction, one: Prepared, spot: Spot, existing: Memory) -> Memory:
    """Bring a stored memory to a later revision of itself; the text it had stays as history."""
    connection, now_ms = write.connection, write.now_ms
    earlier, *_ = attached_of(one, spot.owner, write.caller)
    if one.content != existing.content and not attached.tells(earlier, existing.content):
        await history.keep(write, existing)
    values = await _values(connection, one, spot, now_ms)
    after = await memories.update(connection, existing, values)
    if after.embedded_text != existing.embedded_text:
        await vectors.discard(connection, existing.sequence)
    await _attach(connection, write.caller, one, spot, after)
    await history.prune(connection, after.sequence)
    stamp = repository.stamped(one.told, now_ms)
    return await repository.stamp(connection, after.sequence, stamp)


async def complete(write: Transaction, one: Prepared, spot: Spot, existing: Memory) -> None:
    """Store what another line of the same memory has that does not belong to it yet."""
    await _attach(write.connection, write.caller, one, spot, existing)


async def _attach(
    connection: aiosqlite.Connection, caller: Caller, one: Prepared, spot: Spot, memory: Memory
) -> None:
    belonging = attached_of(one, spot.owner, caller)
    await repository.attach(connection, memory.sequence, belonging)


async def _values(
    connection: aiosqlite.Connection, one: Prepared, spot: Spot, now_ms: int
) -> dict[str, SqlValue]:
    room_id = spot.room_id
    if room_id is None:
        room_id = (await palace.ensure_place(connection, one.wing, one.room, now_ms)).room_id
    return {
        "content": one.content,
        "summary": one.summary,
        "restatement": one.digest,
        "room_id": room_id,
        "scope": spot.scope,
        "owner_agent": spot.owner.agent,
        "owner_user": spot.owner.user,
        "layer": one.told.layer or Layer.STANDARD,
        "pinned": one.told.pinned,
        "now_ms": now_ms,
    }
