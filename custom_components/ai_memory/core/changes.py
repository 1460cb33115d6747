"""Changing a memory in place: its text, its place, who sees it, and how it stands.

The manager runs ``update`` in a transaction. A text that is replaced stays as history, seen by
those who could see it then.
"""

from dataclasses import replace
from operator import attrgetter
from typing import Final

from . import evidence, expiry, history, memories, palace, vectors
from .additions import owner
from .anchor_rows import place_anchors
from .anchors import anchors_after
from .errors import InvalidInputError
from .models import Action, Memory, MemoryChanges, Never, Scope, Status
from .restatement import restatement_digest
from .supersession import owner_of
from .transaction import Transaction, Written
from .vector_index import Vector
from .visibility import SqlValue

_FOUND_BY: Final = attrgetter("content", "wing", "room", "scope", "status")
"""What makes a memory one that says the same as another."""

_FIELDS: Final = (
    "content",
    "summary",
    "wing",
    "room",
    "scope",
    "layer",
    "pinned",
    "type",
    "status",
    "confidence",
)


async def update(
    write: Transaction,
    memory_id: str,
    changes: MemoryChanges,
    vector: Vector | None,
    revision: int | None,
) -> tuple[Memory, list[Written]]:
    """Change a live memory that the caller may see; writes nothing where nothing would change.

    ``changes`` are cleaned. Raises NotFoundError, ConflictError at another revision than the one
    given, and InvalidInputError where the memory was replaced or another one says the same.
    """
    before = await write.memory(memory_id, revision)
    if before.status is Status.SUPERSEDED:
        raise InvalidInputError("already_superseded", id=before.id)
    wanted, anchors = _changed(before, changes), anchors_after(before, changes, write.check_entity)
    if wanted == before and set(anchors) == {anchor.target for anchor in before.anchors}:
        return before, []
    values = await _values(write, before, wanted)
    known = await memories.restated(write.connection, values)
    # Joined rooms may hold a thing twice: then each can still be changed in other ways.
    elsewhere = _FOUND_BY(wanted) != _FOUND_BY(before)
    if known is not None and known != before.sequence and elsewhere:
        other = await memories.by_sequence(write.connection, known)
        raise InvalidInputError("already_known", id=other.id)
    if wanted.content != before.content:
        await history.keep(write, before)
    if before.scope is Scope.PRIVATE and wanted.scope is Scope.COMMON:
        await evidence.forget_quotes(write.connection, before.sequence)
    after = await memories.update(write.connection, before, values)
    after = await place_anchors(write, after, anchors)
    if after.embedded_text == before.embedded_text:
        return after, [await write.record(Action.UPDATED, [(before, after)])]
    await vectors.discard(write.connection, after.sequence)
    # Made before it was known what the memory holds beside what is changed.
    made = vector if after.summary == (changes.summary or "") else None
    await write.store_vector(after, made)
    return after, [await write.record(Action.UPDATED, [(before, after)], made)]


async def _values(write: Transaction, before: Memory, wanted: Memory) -> dict[str, SqlValue]:
    """Return what is to be stored. Raises AccessDeniedError and InvalidInputError."""
    write.check_reach(wanted.wing)
    place = await palace.ensure_place(write.connection, wanted.wing, wanted.room, write.now_ms)
    owned = owner_of(before)
    if wanted.scope is not before.scope:
        owned = owner(write.caller, wanted.scope)
    factor = before.evidence
    if wanted.confidence != before.confidence:
        factor = await evidence.factor(write.connection, before.sequence, wanted.confidence)
    return {
        "content": wanted.content,
        "summary": wanted.summary,
        "restatement": restatement_digest(wanted.content),
        "room_id": place.room_id,
        "scope": wanted.scope,
        "layer": wanted.layer,
        "pinned": wanted.pinned,
        "type": wanted.type,
        "status": wanted.status,
        "confidence": wanted.confidence,
        "expires_ms": expiry.stored(wanted.expires),
        "evidence": factor,
        "now_ms": write.now_ms,
        **owned,
    }


def _changed(before: Memory, changes: MemoryChanges) -> Memory:
    """Return the memory as the changes want it, None leaving a field as it is."""
    fields = {name: value for name in _FIELDS if (value := getattr(changes, name)) is not None}
    if changes.expires is not None:
        expires = None if isinstance(changes.expires, Never) else changes.expires
        fields["expires"] = expires
    return replace(before, **fields)
