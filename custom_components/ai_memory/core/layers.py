"""How memories move between the layers by themselves: what is used comes near, the rest recedes.

The manager runs a maintenance once a day and on demand. Nothing is rewritten but the layer: neither
the revision nor the time of the last change moves, and what is pinned stays where it is.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import aiosqlite

from . import memories
from .models import Layer, Memory

DEFAULT_PROMOTION_USES: Final = 10
DEFAULT_ARCHIVE_DAYS: Final = 90
MOVED_AT_ONCE: Final = 200
"""Memories of one transaction: others write and the event loop runs between two of them."""

_DAY_MS: Final = 86_400_000

# Records of the workshop are found by what they say alone: an archived one would answer last.
_DUE: Final = f"""
    m.status = 'active' AND m.pinned = 0 AND m.sequence > :after AND {memories.AT_HOME} AND (
        (m.layer = 2 AND coalesce(u.returned + u.fetched, 0) >= :uses)
        OR (m.layer = 1
            AND max(m.updated_ms, m.layered_ms, coalesce(u.last_used_ms, 0)) < :unused_since_ms)
        OR (m.layer = 3 AND u.last_used_ms > m.layered_ms)
    )
"""
_MOVE: Final = """
    UPDATE memories SET layer = :to, layered_ms = :now_ms
    WHERE sequence = :sequence AND layer = :from AND pinned = 0
"""


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
    parameters: dict[str, Any] = {
        "after": after,
        "uses": rules.promotion_uses,
        "unused_since_ms": now_ms - rules.archive_days * _DAY_MS,
    }
    found = await memories.where(connection, _DUE, parameters, MOVED_AT_ONCE)
    return [LayerMove(memory, *_MOVES[memory.layer]) for memory in found]


async def move(
    connection: aiosqlite.Connection, moves: list[LayerMove], now_ms: int
) -> list[tuple[Memory, Memory]]:
    """Move memories that are still where they were; returns them before and after."""
    changes = []
    for one in moves:
        values = {"sequence": one.memory.sequence, "from": one.memory.layer, "to": one.to}
        cursor = await connection.execute(_MOVE, values | {"now_ms": now_ms})
        if cursor.rowcount:
            after = await memories.by_sequence(connection, one.memory.sequence)
            changes.append((one.memory, after))
    return changes
