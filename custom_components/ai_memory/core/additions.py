"""Adding a memory: a new one, one that says again what is known, one that replaces another.

The manager prepares an ``Addition`` and runs ``add`` in a transaction; an import or the close of a
session runs it in theirs. What is beyond the capacity makes room in the same transaction.
"""

from dataclasses import dataclass, replace

from ulid_transform import ulid_at_time

from . import expiry, forgetting, memories, palace, similar, supersession, vectors
from .anchor_rows import place_anchors
from .anchors import anchors_of, bounded
from .errors import InvalidInputError
from .models import (
    DEFAULT_TYPE,
    KEPT,
    Action,
    AddResult,
    Caller,
    Filters,
    Memory,
    MemoryReference,
    NewMemory,
    Scope,
    Status,
)
from .restatement import restatement_digest
from .transaction import REMOVED_AT_ONCE, MemoryChange, Transaction, Written
from .vector_index import Vector
from .visibility import SqlValue, visible_to


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A memory as ``cleaning.cleaned_new`` returns it, its vector if known, and the capacity."""

    new: NewMemory
    vector: Vector | None
    capacity: int


async def add(write: Transaction, addition: Addition) -> tuple[AddResult, list[Written]]:
    """Insert a memory, or refresh the one it restates; then evict beyond the capacity.

    Raises NotFoundError, InvalidInputError and AccessDeniedError.
    """
    new = addition.new
    old = await supersession.replaceable(write, new) if new.supersedes else None
    values = await _values(write, new, old)
    anchors = anchors_of(new, write.check_entity)
    known = await memories.restated(write.connection, values)
    if known is not None:
        return await _refresh(write, known, values, old, anchors)
    near = None
    if old is None:
        near = await similar.nearest(write.connection, write.caller, new, values)
    if near is not None and near.replaced:
        old, near = near.memory, None
        values = await _values(write, new, old)
    identity: dict[str, SqlValue] = {
        "id": ulid_at_time(write.now_ms / 1000),
        "language": write.caller.language,
        "source": write.caller.source,
    }
    memory = await memories.insert(write.connection, values | identity)
    memory = await place_anchors(write, memory, anchors)
    await write.store_vector(memory, addition.vector)
    written = [await write.record(Action.ADDED, [(None, memory)], addition.vector)]
    if old is not None:
        written += await supersession.supersede(write, old, memory)
    result = AddResult(
        memory=memory, refreshed=False, superseded=old, similar=near.memory if near else None
    )
    replaced = old is not None and old.takes_room
    surplus = write.of_home + 1 - replaced - addition.capacity if memory.takes_room else 0
    if surplus > 0:
        evicted, seen = await _evict(write, memory, surplus)
        count = sum(before is not None and before.live for before, _ in evicted.changes)
        result = replace(result, evicted=seen, evicted_count=count)
        if result.similar is not None and result.similar.id in {gone.id for gone in seen}:
            result = replace(result, similar=None)
        written += [evicted] if evicted.changes else []
    return result, written


def owner(caller: Caller, scope: Scope) -> dict[str, SqlValue]:
    """Return who owns a memory of this scope. Raises InvalidInputError where nobody could."""
    if scope is Scope.COMMON:
        return {"owner_agent": None, "owner_user": None}
    agent = caller.agent or caller.provider
    if not agent:
        raise InvalidInputError("private_needs_agent")
    return {"owner_agent": agent, "owner_user": caller.user or None}


async def _values(write: Transaction, new: NewMemory, old: Memory | None) -> dict[str, SqlValue]:
    """Return what is stored; what replaces a memory has its place, scope, owner, layer and type."""
    wing, room = new.wing or "", new.room or ""
    if old is not None:
        wing, room = wing or old.wing, room or old.room
    write.check_reach(wing)
    place = await palace.ensure_place(write.connection, wing, room, write.now_ms)
    scope = old.scope if old else new.scope or place.default_scope
    owned = supersession.owner_of(old) if old else owner(write.caller, scope)
    return {
        "content": new.content,
        "summary": new.summary,
        "restatement": restatement_digest(new.content),
        "room_id": place.room_id,
        "scope": scope,
        "layer": min(new.layer, old.layer) if old else new.layer,
        "pinned": new.pinned or (old is not None and old.pinned),
        "type": new.type or (old.type if old else DEFAULT_TYPE),
        "status": new.status,
        "confidence": new.confidence,
        "expires_ms": expiry.stored(new.expires),
        "now_ms": write.now_ms,
        **owned,
    }


async def _refresh(
    write: Transaction,
    known: int,
    values: dict[str, SqlValue],
    old: Memory | None,
    anchors: tuple[str, ...],
) -> tuple[AddResult, list[Written]]:
    """Renew the first telling: its words stay; a missing summary or a higher layer is taken."""
    before = await memories.by_sequence(write.connection, known)
    if old is not None and old.sequence == known:
        raise InvalidInputError("supersedes_itself", id=old.id)
    told_active = Status.ACTIVE in {before.status, values["status"]}
    kept: dict[str, SqlValue] = {
        "content": before.content,
        "summary": before.summary or values["summary"],
        "layer": min(before.layer, int(str(values["layer"]))),
        "pinned": before.pinned or values["pinned"],
        "type": before.type,
        "status": Status.ACTIVE if told_active else Status.CANDIDATE,
        "confidence": before.confidence,
        "expires_ms": values["expires_ms"] or expiry.stored(before.expires),
    }
    after = await memories.update(write.connection, before, values | kept)
    held = (anchor.target for anchor in before.anchors)
    after = await place_anchors(write, after, bounded(held, anchors))
    if after.embedded_text != before.embedded_text:
        await vectors.discard(write.connection, after.sequence)
    written = [await write.record(Action.REFRESHED, [(before, after)])]
    if old is not None:
        written += await supersession.supersede(write, old, after)
    return AddResult(memory=after, refreshed=True, superseded=old), written


async def _evict(
    write: Transaction, keep: Memory, surplus: int
) -> tuple[Written, tuple[MemoryReference, ...]]:
    """Remove the least valuable memories; the caller is told only of those it could see."""
    gone: list[MemoryChange] = []
    seen: list[MemoryReference] = []
    evicted = 0
    while surplus > evicted:
        limit = min(surplus - evicted, REMOVED_AT_ONCE)
        doomed = await memories.least_valuable(write.connection, keep.sequence, limit)
        if not doomed:
            break
        visible = await memories.by_sequences(
            write.connection,
            visible_to(write.caller, Filters(statuses=KEPT)),
            [memory.sequence for memory in doomed],
        )
        seen += [
            MemoryReference(id=memory.id, wing=memory.wing, room=memory.room)
            for memory in visible.values()
        ]
        gone += await forgetting.erase(write, doomed)
        evicted += len(doomed)
    return await write.record(Action.EVICTED, gone), tuple(seen)
