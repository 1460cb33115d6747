"""What a search reads of memories, in the thread of the read-only connection.

``Database.read`` lends the connection; search and word search call this between steps of their own,
so that a whole search is one way to that thread and back. Everything else about memories is in
``memories``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import sqlite3

from .memories import LISTED, SELECT, listed, memory_of
from .models import Memory
from .visibility import Clause


@dataclass(frozen=True, slots=True)
class Text:
    """What word search reads of a memory."""

    sequence: int
    content: str
    summary: str


def texts_of(connection: sqlite3.Connection, sequences: Sequence[int]) -> list[Text]:
    """Return the texts of memories whose visibility the caller has made sure of."""
    rows = connection.execute(
        f"SELECT sequence, content, summary FROM memories WHERE sequence IN {LISTED}",
        listed(sequences),
    )
    return [Text(*row) for row in rows.fetchall()]


def times_of(
    connection: sqlite3.Connection, clause: Clause, sequences: Sequence[int]
) -> list[tuple[int, int, int, int, float]]:
    """Return of those admitted by the clause: layer, when made, when last changed, evidence."""
    rows = connection.execute(
        "SELECT m.sequence, m.layer, m.created_ms, m.updated_ms, m.evidence FROM memories m"
        f" WHERE {clause.sql} AND m.sequence IN {LISTED}",
        clause.parameters | listed(sequences),
    )
    return rows.fetchall()


def newest_between(
    connection: sqlite3.Connection, clause: Clause, start_ms: int, end_ms: int, limit: int
) -> list[int]:
    """Return the sequences of memories last written in a period, the newest first."""
    rows = connection.execute(
        f"SELECT m.sequence FROM memories m WHERE {clause.sql}"
        " AND m.updated_ms >= :start_ms AND m.updated_ms < :end_ms"
        " ORDER BY m.updated_ms DESC, m.sequence DESC LIMIT :limit",
        clause.parameters | {"start_ms": start_ms, "end_ms": end_ms, "limit": limit},
    )
    return [sequence for (sequence,) in rows.fetchall()]


def memories_of(
    connection: sqlite3.Connection, clause: Clause, sequences: Sequence[int]
) -> dict[int, Memory]:
    """Return those of the memories that the clause admits, by sequence."""
    rows = connection.execute(
        f"{SELECT} WHERE {clause.sql} AND m.sequence IN {LISTED}",
        clause.parameters | listed(sequences),
    )
    found = [memory_of(row) for row in rows.fetchall()]
    return {memory.sequence: memory for memory in found}
