"""How memories move between the layers by themselves: what is used comes near, the rest recedes.

The manager runs a maintenance once a day and on demand. Nothing is rewritten but the layer: neither
the revision nor the time of the last change moves, and what is pinned stays where it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import aiosqlite

from . import memories
from .models import Layer, Memory
from .screen import Strictness, screen
from .transaction import MemoryChange
from .visibility import SqlValue

DEFAULT_PROMOTION_USES: Final = 10
DEFAULT_ARCHIVE_DAYS: Final = 90
SECRETS: Final = "secrets"
"""The room of what nobody else should read."""
MOVED_AT_ONCE: Final = 100
"""Memories of one transaction: others write and the event loop runs between two of them."""

_DAY_MS: Final = 86_400_000
_JUST_NOW_MS: Final = 2 * _DAY_MS
"""Longer than between two maintenances."""

# Records of the workshop are found by what they say alone: an archived one would answer last.
_DUE: Final = f"""
    m.status = 'active' AND m.pinned = 0 AND m.sequence > :after AND {memories.AT_HOME} AND (
        (m.layer = 2 AND coalesce(u.returned + u.fetched, 0) >= :uses)
        OR (m.layer = 1
            AND max(m.updated_ms, m.layered_ms, coalesce(u.last_used_ms, 0)) < :unused_since_ms)
        OR (m.layer = 3 AND (
            u.last_used_ms > m.layered_ms
            OR (m.layered_ms > :now_ms AND u.last_used_ms BETWEEN :just_now_ms AND :now_ms)
        ))
    )
"""
_STILL_DUE: Final = f"{_DUE} AND m.sequence IN {memories.LISTED}"
_MOVE: Final = "UPDATE memories SET layer = :to, layered_ms = :now_ms WHERE sequence = :sequence"


class MoveReason(StrEnum):
    """Why a memory moves."""

    USED_OFTEN = "used_often"
    UNUSED = "unused"
    USED_AGAIN = "used_again"


_MOVES: Final = {
    Layer.STANDARD: (Layer.CRITICAL, MoveReason.USED_OFTEN),
    Layer.CRITICAL: (Layer.ARCHIVE, MoveReason.UNUSED),
    Layer.ARCHIVE: (Layer.STANDARD, MoveReason.USED_AGAIN),
}


@dataclass(frozen=True, slots=True)
class LayerRules:
    """When a standard memory becomes critical, and when a critical one is archived."""

    promotion_uses: int = DEFAULT_PROMOTION_USES
    archive_days: int = DEFAULT_ARCHIVE_DAYS


@dataclass(frozen=True, slots=True)
class LayerMove:
    """A memory, the layer it moves to, and why."""

    memory: Memory
    to: Layer
    reason: MoveReason


async def due(
    connection: aiosqlite.Connection, rules: LayerRules, now_ms: int, after: int
) -> list[LayerMove]:
    """Return the next memories that should move, in order of sequence from ``after`` on."""
    parameters = _parameters(rules, now_ms, after)
    return _moves(await memories.where(connection, _DUE, parameters, MOVED_AT_ONCE))


def movable(moves: Sequence[LayerMove]) -> list[LayerMove]:
    """Return the moves without those that would put a code or a key into a prompt; blocking.

    A person may, but no count of uses: what stands in a prompt goes to whoever runs the model.
    """
    return [one for one in moves if one.to is not Layer.CRITICAL or not _secret(one.memory)]


def _secret(memory: Memory) -> bool:
    texts = (memory.content, memory.summary)
    return memory.room == SECRETS or any(screen("", text, Strictness.STRICT) for text in texts)


async def move(
    connection: aiosqlite.Connection, rules: LayerRules, now_ms: int, sequences: Sequence[int]
) -> tuple[list[LayerMove], list[MemoryChange]]:
    """Move those that still should, in the running transaction, as what they have become by then.

    Returns the moves that were made, and the memories before and after.
    """
    parameters = _parameters(rules, now_ms, 0) | memories.listed(sequences)
    found = await memories.where(connection, _STILL_DUE, parameters, MOVED_AT_ONCE)
    moves, changes = _moves(found), list[MemoryChange]()
    for one in moves:
        values = {"sequence": one.memory.sequence, "to": one.to, "now_ms": now_ms}
        await connection.execute(_MOVE, values)
        after = await memories.by_sequence(connection, one.memory.sequence)
        changes.append((one.memory, after))
    return moves, changes


def _parameters(rules: LayerRules, now_ms: int, after: int) -> dict[str, SqlValue]:
    return {
        "after": after,
        "uses": rules.promotion_uses,
        "unused_since_ms": now_ms - rules.archive_days * _DAY_MS,
        # What a clock archived that was ahead by years comes back when it is used, too.
        "just_now_ms": now_ms - _JUST_NOW_MS,
        "now_ms": now_ms,
    }


def _moves(found: Sequence[Memory]) -> list[LayerMove]:
    return [LayerMove(memory, *_MOVES[memory.layer]) for memory in found]
