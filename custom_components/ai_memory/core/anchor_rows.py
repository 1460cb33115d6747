"""The repository of anchors: every statement that reads or writes one.

Called by the writer with the anchors of a memory, and by ``anchor_keeper`` with what was found out
about them. A change of state comes with its evidence and the memory's revision, in the transaction
of whoever calls.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
import json
from typing import Any, Final

import aiosqlite

from . import memories
from .anchors import AnchorKind, entity_of
from .evidence import factor, prune_observations, renew_evidence
from .models import AnchorState, Caller, Memory
from .transaction import MemoryChange, Transaction
from .visibility import Clause, SqlValue

SWEPT: Final = "anchors_swept"
RENAMED: Final = "anchor_renamed"
"""Actions in the audit of what is no change of a memory's own."""

ROWS_AT_ONCE: Final = 200
"""Anchors of one transaction: others write and the event loop runs between two of them."""

_HELD: Final = """
    SELECT a.anchor, a.sequence, a.state, a.unavailable_since_ms FROM anchors a
    JOIN memories m ON m.sequence = a.sequence
    WHERE {condition} AND (a.anchor, a.sequence) > (:first, :after) AND a.anchor <= :last
    ORDER BY a.anchor, a.sequence LIMIT :limit
"""
_AS_THEY_ARE: Final = """
    SELECT a.anchor, a.sequence, a.state, a.unavailable_since_ms FROM json_each(:keys) k
    CROSS JOIN anchors a ON a.sequence = json_extract(k.value, '$[0]')
        AND a.anchor = json_extract(k.value, '$[1]')
"""
_LISTED: Final = """
    SELECT a.anchor, a.state, a.checked_ms, a.unavailable_since_ms, m.id, w.name, r.name
    FROM anchors a JOIN memories m ON m.sequence = a.sequence
    JOIN rooms r ON r.id = m.room_id JOIN wings w ON w.id = r.wing_id
    WHERE {condition} ORDER BY a.anchor, a.sequence LIMIT :limit
"""
_INSERT: Final = """
    INSERT INTO anchors (sequence, anchor, state, checked_ms)
    VALUES (:sequence, :anchor, :state, :checked_ms) ON CONFLICT DO NOTHING
"""
_DELETE: Final = "DELETE FROM anchors WHERE sequence = :sequence AND anchor = :anchor"
_CHECKED: Final = """
    UPDATE anchors SET state = :state, checked_ms = :now_ms, unavailable_since_ms = NULL
    WHERE sequence = :sequence AND anchor = :anchor
"""
_UNAVAILABLE: Final = """
    UPDATE anchors SET unavailable_since_ms = coalesce(unavailable_since_ms, :now_ms)
    WHERE sequence = :sequence AND anchor = :anchor
"""
_RENAMED: Final = """
    UPDATE OR REPLACE anchors SET anchor = :new
    WHERE anchor = :old AND sequence IN (SELECT value FROM json_each(:sequences))
"""
_OBSERVED: Final = """
    INSERT INTO evidence (sequence, at_ms, stance, quote, anchor, source, agent, user)
    VALUES (:sequence, :at_ms, :stance, :quote, :anchor, :source, :agent, :user)
"""
_LAST_SWEEP: Final = """
    SELECT at_ms, reason FROM audit WHERE action = :action ORDER BY id DESC LIMIT 1
"""
_AUDIT: Final = """
    INSERT INTO audit (
        at_ms, action, memory_id, revision_before, revision_after, source, agent, user, subject,
        reason
    ) VALUES (
        :at_ms, :action, :memory_id, :before, :after, :source, :agent, :user, :subject, :reason
    )
"""
_SHARE: Final = "UPDATE memories SET evidence = :evidence WHERE sequence = :sequence"
_STANCES: Final = {AnchorState.MISSING: "contradicts", AnchorState.OK: "corroborates"}
_QUOTES: Final = {AnchorState.MISSING: "is missing", AnchorState.OK: "is there again"}


@dataclass(frozen=True, slots=True)
class Held:
    """One anchor of one memory, and whether its checker cannot look at the moment."""

    anchor: str
    sequence: int
    state: AnchorState
    unavailable: bool


@dataclass(frozen=True, slots=True)
class ListedAnchor:
    """An anchor as it is told to a caller, with the memory it belongs to."""

    anchor: str
    state: AnchorState
    checked: datetime | None
    unavailable_since: datetime | None
    memory_id: str
    wing: str
    room: str


@dataclass(frozen=True, slots=True)
class Span:
    """Anchors from the first to the last in order, after a place between them."""

    first: str
    last: str
    after: int = -1

    def beyond(self, held: Held) -> "Span":
        """Return what follows an anchor."""
        return Span(held.anchor, self.last, held.sequence)


async def place_anchors(write: Transaction, memory: Memory, wanted: Sequence[str]) -> Memory:
    """Give a memory exactly these anchors and return it; those it had keep their state."""
    held = {anchor.target for anchor in memory.anchors}
    if held == set(wanted):
        return memory
    gone = [{"sequence": memory.sequence, "anchor": one} for one in held - set(wanted)]
    new = [
        {"sequence": memory.sequence, "anchor": one} | _first_state(write, one)
        for one in wanted
        if one not in held
    ]
    connection = write.connection
    await connection.executemany(_DELETE, gone)
    await connection.executemany(_INSERT, new)
    if any(anchor.state is AnchorState.MISSING for anchor in memory.anchors):
        share = await factor(connection, memory.sequence, memory.confidence)
        await connection.execute(_SHARE, {"sequence": memory.sequence, "evidence": share})
    return await memories.by_sequence(connection, memory.sequence)


async def held(
    connection: aiosqlite.Connection, clause: Clause, span: Span, limit: int = ROWS_AT_ONCE
) -> list[Held]:
    """Return the next anchors of a span, of memories that the clause admits."""
    parameters: dict[str, SqlValue] = {
        "first": span.first,
        "last": span.last,
        "after": span.after,
        "limit": limit,
    }
    rows = await connection.execute_fetchall(
        _HELD.format(condition=clause.sql), clause.parameters | parameters
    )
    return [_held(row) for row in rows]


async def as_they_are(connection: aiosqlite.Connection, found: Iterable[Held]) -> list[Held]:
    """Return what is left of anchors that were read before, as they stand now."""
    keys = json.dumps([[one.sequence, one.anchor] for one in found])
    rows = await connection.execute_fetchall(_AS_THEY_ARE, {"keys": keys})
    return [_held(row) for row in rows]


async def listed(
    connection: aiosqlite.Connection, clause: Clause, limit: int
) -> list[ListedAnchor]:
    """Return anchors by name, on a condition on ``a`` (anchors) and ``m`` (memories)."""
    rows = await connection.execute_fetchall(
        _LISTED.format(condition=clause.sql), clause.parameters | {"limit": limit}
    )
    return [
        ListedAnchor(anchor, AnchorState(state), _moment(checked), _moment(since), *place)
        for anchor, state, checked, since, *place in rows
    ]


async def settle(
    write: Transaction, found: Sequence[Held], state: AnchorState
) -> list[MemoryChange]:
    """Note that these anchors are there, or are not; returns the memories that changed.

    The first check of an anchor is no observation; every other change of state files one.
    """
    connection, now_ms = write.connection, write.now_ms
    await connection.executemany(
        _CHECKED, [key | {"state": state, "now_ms": now_ms} for key in _keys(found)]
    )
    changed = [one for one in found if one.state is not state]
    if not changed:
        return []
    await connection.executemany(
        _OBSERVED,
        [
            {
                "sequence": one.sequence,
                "at_ms": now_ms,
                "stance": _STANCES[state],
                "quote": f"{one.anchor} {_QUOTES[state]}",
                "anchor": one.anchor,
            }
            | _who(write.caller)
            for one in changed
            if one.state is not AnchorState.UNCHECKED
        ],
    )
    sequences = sorted({one.sequence for one in changed})
    await prune_observations(connection, sequences)
    return [await renew_evidence(connection, sequence) for sequence in sequences]


async def note_unavailable(write: Transaction, found: Iterable[Held]) -> None:
    """Note since when nobody can look after these anchors; their states stay."""
    keys = _keys(one for one in found if not one.unavailable)
    await write.connection.executemany(
        _UNAVAILABLE, [key | {"now_ms": write.now_ms} for key in keys]
    )


async def rename(write: Transaction, found: Sequence[Held], new: str) -> list[MemoryChange]:
    """Let anchors of one target point at another; returns the memories that changed.

    Which memories follow under the new name is put on record.
    """
    old, sequences = found[0].anchor, [one.sequence for one in found]
    await write.connection.execute(
        _RENAMED, {"old": old, "new": new, "sequences": json.dumps(sequences)}
    )
    changes = [await renew_evidence(write.connection, sequence) for sequence in sequences]
    await write.connection.executemany(
        _AUDIT,
        [
            {
                "at_ms": write.now_ms,
                "action": RENAMED,
                "memory_id": after.id,
                "before": before.revision,
                "after": after.revision,
                "subject": new,
                "reason": f"renamed from {old}",
            }
            | _who(write.caller)
            for before, after in changes
        ],
    )
    return [*changes]


async def last_sweep(connection: aiosqlite.Connection) -> tuple[datetime, str] | None:
    """Return when the entities were last swept, and what was noted of it."""
    rows = list(await connection.execute_fetchall(_LAST_SWEEP, {"action": SWEPT}))
    return (datetime.fromtimestamp(rows[0][0] / 1000, UTC), rows[0][1]) if rows else None


async def audit_sweep(write: Transaction, noted: str) -> None:
    """Put a sweep on record, from which its time is read back."""
    await write.connection.execute(
        _AUDIT,
        {
            "at_ms": write.now_ms,
            "action": SWEPT,
            "memory_id": "",
            "before": None,
            "after": None,
            "subject": AnchorKind.ENTITY,
            "reason": noted,
        }
        | _who(write.caller),
    )


def _first_state(write: Transaction, anchor: str) -> dict[str, SqlValue]:
    """Return the state of a new anchor: an entity that is there needs no sweep to tell."""
    entity_id = entity_of(anchor)
    if entity_id is not None and write.check_entity(entity_id):
        return {"state": AnchorState.OK, "checked_ms": write.now_ms}
    return {"state": AnchorState.UNCHECKED, "checked_ms": None}


def _held(row: Sequence[Any]) -> Held:
    anchor, sequence, state, since = row
    return Held(anchor, sequence, AnchorState(state), since is not None)


def _keys(found: Iterable[Held]) -> list[dict[str, SqlValue]]:
    return [{"sequence": one.sequence, "anchor": one.anchor} for one in found]


def _who(caller: Caller) -> dict[str, SqlValue]:
    return {"source": caller.source, "agent": caller.agent, "user": caller.user}


def _moment(value: int | None) -> datetime | None:
    return None if value is None else datetime.fromtimestamp(value / 1000, UTC)
