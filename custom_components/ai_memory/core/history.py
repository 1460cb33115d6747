"""What memories said before: earlier texts, and the chain of those that were replaced.

``changes`` keeps a text here before it is rewritten; ``lifecycle`` reads with a connection for
reads. An earlier text has the scope and the owner that it had then, and is shown to nobody else.
"""

from collections.abc import Sequence
from dataclasses import replace
import json
from math import inf
from typing import Any, Final

import aiosqlite

from . import memories
from .errors import NotFoundError
from .memories import moment
from .models import (
    KEPT,
    WITH_HISTORY,
    Caller,
    Filters,
    Memory,
    SearchHit,
    Status,
    TimelineEntry,
    Version,
)
from .transaction import Transaction
from .visibility import SqlValue, owned_by, visible_to

TEXTS_KEPT: Final = 50
"""Earlier texts of one memory."""
TEXTS_TOLD: Final = 3
"""Earlier texts that a search tells of one memory."""

_KEEP: Final = """
    INSERT INTO earlier_texts (
        sequence, revision, content, summary, scope, owner_agent, owner_user, written_ms,
        replaced_ms
    ) VALUES (
        :sequence, :revision, :content, :summary, :scope, :owner_agent, :owner_user,
        coalesce(
            (SELECT max(replaced_ms) FROM earlier_texts WHERE sequence = :sequence), :created_ms
        ),
        :now_ms
    )
"""
_PRUNE: Final = """
    DELETE FROM earlier_texts WHERE sequence = :sequence AND id NOT IN (
        SELECT id FROM earlier_texts WHERE sequence = :sequence ORDER BY replaced_ms DESC, id DESC
        LIMIT :kept
    )
"""
_CHAIN: Final = """
    WITH RECURSIVE newer (sequence) AS (
        SELECT :sequence
        UNION
        SELECT m.superseded_by FROM newer n JOIN memories m ON m.sequence = n.sequence
        WHERE m.superseded_by IS NOT NULL
    ), chain (sequence) AS (
        SELECT sequence FROM newer
        UNION
        SELECT o.sequence FROM chain c JOIN memories o ON o.superseded_by = c.sequence
    )
"""
_CHAINED: Final = f"""
    {_CHAIN} SELECT m.sequence, m.revision, m.id, m.content, m.summary, m.status,
        coalesce(
            (SELECT max(e.replaced_ms) FROM earlier_texts e WHERE e.sequence = m.sequence),
            m.created_ms
        ),
        m.superseded_ms
    FROM memories m WHERE m.sequence IN (SELECT sequence FROM chain)
"""
_EARLIER: Final = f"""
    {_CHAIN} SELECT m.sequence, e.revision, m.id, e.content, e.summary, 'superseded',
        e.written_ms, e.replaced_ms
    FROM earlier_texts e JOIN memories m ON m.sequence = e.sequence
    WHERE e.sequence IN (SELECT sequence FROM chain)
"""

_BEFORE: Final = f"""
    SELECT e.sequence, m.id, e.content, e.summary, 'superseded', e.written_ms, e.replaced_ms
    FROM earlier_texts e JOIN memories m ON m.sequence = e.sequence
    WHERE e.sequence IN {memories.LISTED} AND %s ORDER BY e.id DESC
"""

_TIMELINE: Final = """
    SELECT id, content, summary, status, since_ms, until_ms, wing, room FROM (
        SELECT m.id, m.content, m.summary, m.status, coalesce(
                (SELECT max(e.replaced_ms) FROM earlier_texts e WHERE e.sequence = m.sequence),
                m.created_ms
            ) AS since_ms, m.superseded_ms AS until_ms, n.name AS wing, p.name AS room,
            m.sequence, m.revision
        FROM memories m JOIN rooms p ON p.id = m.room_id JOIN wings n ON n.id = p.wing_id
        WHERE {seen} AND {chained} AND m.status IN (SELECT value FROM json_each(:wanted))
        UNION ALL
        SELECT m.id, e.content, e.summary, 'superseded', e.written_ms, e.replaced_ms, n.name,
            p.name, m.sequence, e.revision
        FROM earlier_texts e JOIN memories m ON m.sequence = e.sequence
        JOIN rooms p ON p.id = m.room_id JOIN wings n ON n.id = p.wing_id
        WHERE {seen} AND {chained} AND {own}
            AND 'superseded' IN (SELECT value FROM json_each(:wanted))
    ) ORDER BY since_ms DESC, sequence DESC, revision DESC LIMIT :limit
"""
_ONE_CHAIN: Final = f"m.sequence IN ({_CHAIN} SELECT sequence FROM chain)"


async def keep(write: Transaction, before: Memory) -> None:
    """Keep a text that is about to be replaced."""
    await write.connection.execute(
        _KEEP,
        {
            "sequence": before.sequence,
            "revision": before.revision,
            "content": before.content,
            "summary": before.summary,
            "scope": before.scope,
            "owner_agent": before.owner_agent,
            "owner_user": before.owner_user,
            "created_ms": memories.milliseconds(before.created),
            "now_ms": write.now_ms,
        },
    )
    await prune(write.connection, before.sequence)


async def prune(connection: aiosqlite.Connection, sequence: int) -> None:
    """Drop the oldest texts where a memory has more than are kept."""
    await connection.execute(_PRUNE, {"sequence": sequence, "kept": TEXTS_KEPT})


async def versions(
    connection: aiosqlite.Connection, caller: Caller, memory_id: str, limit: int
) -> list[Version]:
    """Return what a memory says and said, and all that it replaced or that replaced it.

    Newest first, as far as the caller may see it. Raises NotFoundError.
    """
    memory = await memories.get(connection, caller, memory_id)
    if memory is None:
        raise NotFoundError("memory_not_found", id=memory_id)
    seen, own = visible_to(caller, Filters(statuses=KEPT)), owned_by(caller, "e")
    start = {"sequence": memory.sequence}
    rows = await connection.execute_fetchall(f"{_CHAINED} AND {seen.sql}", seen.parameters | start)
    texts = await connection.execute_fetchall(
        f"{_EARLIER} AND {seen.sql} AND {own.sql}", seen.parameters | own.parameters | start
    )
    # One moment can hold several changes.
    ordered = sorted([*rows, *texts], key=_age)
    return [_version(*row[2:]) for row in ordered[:limit]]


async def timeline(
    connection: aiosqlite.Connection,
    caller: Caller,
    filters: Filters,
    memory_id: str | None,
    limit: int,
) -> list[TimelineEntry]:
    """Return what was said, of one memory or of all, as far as the caller may see it.

    The latest first, by when it was said; earlier texts count as superseded. Raises
    NotFoundError.
    """
    start: dict[str, SqlValue] = {}
    if memory_id is not None:
        memory = await memories.get(connection, caller, memory_id)
        if memory is None:
            raise NotFoundError("memory_not_found", id=memory_id)
        start = {"sequence": memory.sequence}
    texts_too = Status.SUPERSEDED in filters.statuses
    statuses = WITH_HISTORY if texts_too else filters.statuses
    seen, own = visible_to(caller, replace(filters, statuses=statuses)), owned_by(caller, "e")
    rows = await connection.execute_fetchall(
        _TIMELINE.format(seen=seen.sql, own=own.sql, chained=_ONE_CHAIN if start else "1"),
        seen.parameters
        | own.parameters
        | start
        | {"wanted": json.dumps(filters.statuses), "limit": limit},
    )
    return [TimelineEntry(_version(*row[:6]), *row[6:]) for row in rows]


async def with_earlier(
    connection: aiosqlite.Connection, caller: Caller, hits: Sequence[SearchHit]
) -> tuple[SearchHit, ...]:
    """Return hits, which the caller may see, with what they said before as far as it may see that.

    A rewritten text may have been seen by fewer than the present one.
    """
    own = owned_by(caller, "e")
    listed = memories.listed([hit.memory.sequence for hit in hits])
    rows = await connection.execute_fetchall(_BEFORE % own.sql, own.parameters | listed)
    before: dict[int, list[Version]] = {}
    for sequence, *columns in rows:
        before.setdefault(sequence, []).append(_version(*columns))
    return tuple(
        replace(hit, earlier=tuple(before.get(hit.memory.sequence, ())[:TEXTS_TOLD]))
        for hit in hits
    )


def _age(row: Sequence[Any]) -> tuple[float, ...]:
    """Return how old a version is: that which holds now comes first."""
    sequence, revision, *_, since_ms, until_ms = row
    return -inf if until_ms is None else -until_ms, -since_ms, -sequence, -revision


def _version(  # noqa: PLR0917 - the columns of a row
    memory_id: str, content: str, summary: str, status: str, since_ms: int, until_ms: int | None
) -> Version:
    return Version(
        memory_id=memory_id,
        content=content,
        summary=summary,
        status=Status(status),
        since=moment(since_ms),
        until=None if until_ms is None else moment(until_ms),
    )
