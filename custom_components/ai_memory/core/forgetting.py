"""How memories go: forgotten but kept a while, lapsed, or removed for good.

A forgotten memory is seen by nobody, loses its vector and can be restored until the maintenance
purges it. What it had replaced goes the same way with it. Each function runs in a transaction.
"""

from collections.abc import Sequence
from typing import Final

import aiosqlite

from . import memories, supersession, vectors
from .errors import InvalidInputError, NotFoundError
from .models import EVERY_STATUS, Action, Filters, Memory, Status
from .restatement import restatement_digest
from .transaction import REMOVED_AT_ONCE, MemoryChange, Transaction, Written
from .visibility import Clause, SqlValue, visible_to

DEFAULT_RETENTION_DAYS: Final = 30

_FORGET: Final = f"""
    UPDATE memories SET status = 'deleted', forgotten_status = status, deleted_ms = :now_ms,
        revision = revision + 1
    WHERE sequence IN {memories.LISTED}
"""
_RESTORE: Final = """
    UPDATE memories SET status = :status, forgotten_status = NULL, deleted_ms = NULL,
        superseded_by = iif(:status = 'superseded', superseded_by, NULL),
        superseded_ms = iif(:status = 'superseded', superseded_ms, NULL),
        expires_ms = iif(expires_ms <= :now_ms, NULL, expires_ms), revision = revision + 1
    WHERE sequence = :sequence
"""
_FORGOTTEN: Final = """
    SELECT m.forgotten_status, m.deleted_ms, m.room_id,
        (SELECT s.status FROM memories s WHERE s.sequence = m.superseded_by)
    FROM memories m WHERE m.sequence = ?
"""
_DELETED_AT: Final = "SELECT sequence FROM memories WHERE deleted_ms = ?"
_LAPSED: Final = f"""
    m.sequence IN (
        SELECT sequence FROM memories WHERE expires_ms <= :now_ms AND status <> 'deleted'
        LIMIT {REMOVED_AT_ONCE}
    )
"""
_PURGEABLE: Final = f"""
    m.sequence IN (
        SELECT sequence FROM memories WHERE deleted_ms < :before_ms LIMIT {REMOVED_AT_ONCE}
    )
"""
_NEXT_EXPIRY: Final = """
    SELECT expires_ms FROM memories WHERE expires_ms IS NOT NULL AND status <> 'deleted'
    ORDER BY expires_ms LIMIT 1
"""


async def forget(
    write: Transaction, memory_id: str, revision: int | None
) -> tuple[Memory, list[Written]]:
    """Forget a memory, so that it can still be restored; returns it as it stands then.

    Raises NotFoundError and ConflictError.
    """
    memory = await write.memory(memory_id, revision)
    changes = await _forgotten(write, [memory], visible_to(write.caller, _EVERY))
    forgotten = next(after for _, after in changes if after and after.id == memory.id)
    return forgotten, [await write.record(Action.FORGOTTEN, changes)]


async def forget_all(write: Transaction, filters: Filters) -> tuple[tuple[str, ...], list[Written]]:
    """Forget all in the filters that the caller may see, so that each can still be restored.

    Returns their ids; replaced memories among them, and what they replaced, go silently.
    """
    clause, every = visible_to(write.caller, filters), visible_to(write.caller, _EVERY)
    changes: list[MemoryChange] = []
    ids: list[str] = []
    while doomed := await memories.matching(write.connection, clause, REMOVED_AT_ONCE):
        ids += [memory.id for memory in doomed if memory.live]
        changes += await _forgotten(write, doomed, every)
    return tuple(ids), [await write.record(Action.FORGOTTEN, changes)] if changes else []


async def restore(
    write: Transaction, memory_id: str, revision: int | None
) -> tuple[Memory, list[Written]]:
    """Bring a forgotten memory back as what it was, with what went with it.

    Where what replaced it is gone as well, it is active again. Raises NotFoundError, ConflictError
    and InvalidInputError where it is not forgotten or another one says the same by now.
    """
    memory = await _forgotten_before(write, memory_id, revision)
    row = await write.connection.execute_fetchall(_FORGOTTEN, (memory.sequence,))
    was, deleted_ms, room_id, replacement = next(iter(row))
    if was == Status.SUPERSEDED and replacement in {None, Status.DELETED}:
        was = Status.ACTIVE
    known = None
    if was != Status.SUPERSEDED:
        digest = restatement_digest(memory.content)
        same = {"restatement": digest, "room_id": room_id, "scope": memory.scope}
        known = await memories.restated(write.connection, same | supersession.owner_of(memory))
    if known is not None:
        other = await memories.by_sequence(write.connection, known)
        raise InvalidInputError("already_known", id=other.id)
    together = await write.connection.execute_fetchall(_DELETED_AT, (deleted_ms,))
    at_once = {sequence for (sequence,) in together}
    every = visible_to(write.caller, _EVERY)
    history = await supersession.predecessors(write, [memory.sequence], every)
    changes: list[MemoryChange] = [await _restored(write, memory, Status(was))]
    changes += [
        await _restored(write, one, Status.SUPERSEDED)
        for one in history
        if one.status is Status.DELETED and one.sequence in at_once
    ]
    restored = changes[0][1]
    assert restored is not None  # noqa: S101 - it was just read
    (told,) = await memories.as_seen_by(write.connection, write.caller, [restored])
    return told, [await write.record(Action.RESTORED, changes)]


async def delete(
    write: Transaction, memory_id: str | None, filters: Filters, revision: int | None = None
) -> tuple[tuple[str, ...], list[Written]]:
    """Remove one memory by id, or all in the filters, that the caller may see, at once.

    Returns the ids that were asked for; replaced and forgotten memories among them, and what they
    replaced, go silently. Raises NotFoundError and ConflictError.
    """
    everything = visible_to(write.caller, _EVERY)
    if memory_id is not None:
        memory = await write.memory(memory_id, revision, EVERY_STATUS)
        gone = await erase(write, [memory], everything)
        return (memory.id,), [await write.record(Action.DELETED, gone)]
    clause = visible_to(write.caller, filters)
    gone, ids = [], []
    while doomed := await memories.matching(write.connection, clause, REMOVED_AT_ONCE):
        ids += [memory.id for memory in doomed if memory.live]
        gone += await erase(write, doomed, everything)
    return tuple(ids), [await write.record(Action.DELETED, gone)] if gone else []


async def lapse(write: Transaction) -> tuple[int, list[Written]]:
    """Forget the next memories whose time is over; returns how many."""
    now: dict[str, SqlValue] = {"now_ms": write.now_ms}
    due = await memories.where(write.connection, _LAPSED, now, REMOVED_AT_ONCE)
    if not due:
        return 0, []
    changes = await _forgotten(write, due, None)
    return len(due), [await write.record(Action.LAPSED, changes)]


async def next_expiry(connection: aiosqlite.Connection) -> int | None:
    """Return when the next memory lapses, in milliseconds."""
    rows = list(await connection.execute_fetchall(_NEXT_EXPIRY))
    return rows[0][0] if rows else None


async def purge(write: Transaction, before_ms: int) -> tuple[int, list[Written]]:
    """Remove the next memories that were forgotten before a moment; returns how many."""
    before: dict[str, SqlValue] = {"before_ms": before_ms}
    doomed = await memories.where(write.connection, _PURGEABLE, before, REMOVED_AT_ONCE)
    if not doomed:
        return 0, []
    gone = await erase(write, doomed)
    return len(gone), [await write.record(Action.PURGED, gone)]


async def erase(
    write: Transaction, doomed: Sequence[Memory], clause: Clause | None = None
) -> list[MemoryChange]:
    """Remove memories and what they replaced, as far as the clause admits that."""
    sequences = [memory.sequence for memory in doomed]
    every = [*doomed, *await supersession.predecessors(write, sequences, clause)]
    await memories.remove(write.connection, every)
    return [(memory, None) for memory in every]


async def _forgotten_before(write: Transaction, memory_id: str, revision: int | None) -> Memory:
    """Return a forgotten memory; of another that the caller may see, say why it cannot come back.

    Raises NotFoundError, ConflictError and InvalidInputError.
    """
    try:
        return await write.memory(memory_id, revision, (Status.DELETED,))
    except NotFoundError:
        kept = await write.memory(memory_id)
    if kept.superseded_by is not None:
        raise InvalidInputError("replaced_by", id=kept.id, replacement=kept.superseded_by)
    if kept.status is Status.SUPERSEDED:
        # By what is not told: the caller may not see it.
        raise InvalidInputError("already_superseded", id=kept.id)
    raise InvalidInputError("not_forgotten", id=kept.id)


async def _forgotten(
    write: Transaction, doomed: Sequence[Memory], clause: Clause | None
) -> list[MemoryChange]:
    """Forget memories and what they replaced, as far as the clause admits that."""
    sequences = [memory.sequence for memory in doomed]
    history = await supersession.predecessors(write, sequences, clause)
    before = [*doomed, *(one for one in history if one.kept)]
    going = memories.listed([memory.sequence for memory in before])
    await write.connection.execute(_FORGET, going | {"now_ms": write.now_ms})
    await vectors.discard(write.connection, *(memory.sequence for memory in before))
    after = await memories.where(
        write.connection, f"m.sequence IN {memories.LISTED}", going, len(before)
    )
    gone = {memory.sequence: memory for memory in after}
    return [(memory, gone[memory.sequence]) for memory in before]


async def _restored(write: Transaction, memory: Memory, status: Status) -> MemoryChange:
    values = {"sequence": memory.sequence, "status": status, "now_ms": write.now_ms}
    await write.connection.execute(_RESTORE, values)
    return memory, await memories.by_sequence(write.connection, memory.sequence)


_EVERY: Final = Filters(statuses=EVERY_STATUS)
