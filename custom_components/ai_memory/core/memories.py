"""The repository of memories: every statement that reads or writes one.

Called by the manager with a connection: inside a transaction for writes, the read-only one for
reads. What searches read is in ``search_reads``. Rows leave as frozen ``Memory`` values. What a
caller may see is always decided by ``visibility``; the full-text rows change in the same statement
sequence as the memory itself.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
import json
from typing import Any, Final

import aiosqlite

from .fulltext import indexed_text
from .models import (
    KEPT,
    UNWITNESSED,
    Anchor,
    AnchorState,
    Caller,
    Filters,
    Layer,
    Memory,
    Scope,
    Status,
    Tally,
)
from .schema import FULL_TEXT_TABLES
from .steps import AT_ONCE, in_steps
from .text_folding import fold
from .visibility import Clause, SqlValue, visible_to

_FROM: Final = """
    FROM memories m
    JOIN rooms r ON r.id = m.room_id
    JOIN wings w ON w.id = r.wing_id
    LEFT JOIN usage u ON u.sequence = m.sequence
"""
_COLUMNS: Final = """
    m.sequence, m.id, m.content, m.summary, w.name, r.name, m.scope, m.owner_agent, m.owner_user,
    m.layer, m.type, m.status, m.confidence, m.revision, m.language, m.created_ms, m.updated_ms,
    u.last_used_ms, coalesce(u.returned + u.fetched, 0), m.source, m.pinned, m.expires_ms,
    (SELECT s.id FROM memories s WHERE s.sequence = m.superseded_by), m.evidence,
    (SELECT sum(e.stance = 'corroborates') || '/' || count(*) FROM evidence e
        WHERE e.sequence = m.sequence AND e.anchor IS NULL),
    (SELECT json_group_array(json_array(a.anchor, a.state)) FROM anchors a
        WHERE a.sequence = m.sequence)
"""
SELECT: Final = f"SELECT {_COLUMNS} {_FROM}"

_INSERT: Final = """
    INSERT INTO memories (
        id, room_id, content, summary, restatement, scope, owner_agent, owner_user, layer, type,
        language, created_ms, updated_ms, source, pinned, layered_ms, status, confidence, expires_ms
    ) VALUES (
        :id, :room_id, :content, :summary, :restatement, :scope, :owner_agent, :owner_user, :layer,
        :type, :language, :now_ms, :now_ms, :source, :pinned, :now_ms, :status, :confidence,
        :expires_ms
    )
"""
_AT_FIRST: Final[dict[str, SqlValue]] = {
    "pinned": False,
    "status": Status.ACTIVE,
    "confidence": 1.0,
    "expires_ms": None,
}
_UPDATE: Final = """
    UPDATE memories SET
        room_id = :room_id, content = :content, summary = :summary, restatement = :restatement,
        scope = :scope, owner_agent = :owner_agent, owner_user = :owner_user, pinned = :pinned,
        layered_ms = iif(layer = :layer, layered_ms, :now_ms), layer = :layer,
        type = :type, status = :status, confidence = :confidence, expires_ms = :expires_ms,
        evidence = :evidence, updated_ms = :now_ms, revision = revision + 1
    WHERE sequence = :sequence
"""
_RESTATED: Final = """
    SELECT m.sequence FROM memories m
    WHERE m.room_id = :room_id AND m.restatement = :restatement AND m.scope = :scope
        AND m.owner_agent IS :owner_agent AND m.owner_user IS :owner_user
        AND m.status IN ('active', 'candidate')
    ORDER BY m.sequence LIMIT 1
"""
_VALUE: Final = """m.layer DESC, coalesce(u.returned + u.fetched, 0),
    max(m.updated_ms, coalesce(u.last_used_ms, 0)), m.sequence"""
AT_HOME: Final = """
    m.room_id NOT IN (SELECT r.id FROM wings w JOIN rooms r ON r.wing_id = w.id WHERE w.workshop)
"""
_LEAST_VALUABLE: Final = f"""
    {SELECT}
    WHERE m.sequence IN (
        SELECT m.sequence FROM memories m LEFT JOIN usage u ON u.sequence = m.sequence
        WHERE m.layer > 1 AND m.pinned = 0 AND m.sequence <> :keep
            AND m.status IN ('active', 'candidate') AND {AT_HOME}
        ORDER BY {_VALUE} LIMIT :limit
    )
    ORDER BY {_VALUE}
"""
LISTED: Final = "(SELECT value FROM json_each(:listed))"
"""Stands for a list of any length, so that a statement is prepared once."""
_SEQUENCES: Final = "SELECT json_group_array(m.sequence) FROM memories m"
_AUDIT: Final = """
    INSERT INTO audit (
        at_ms, action, memory_id, revision_before, revision_after, source, agent, user
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_COUNT_PRIVATE: Final = """
    SELECT count(*) FROM memories
    WHERE scope = 'private' AND owner_agent = :agent AND status = 'active'
"""
_RECORD_USE: Final = """
    INSERT INTO usage (
        sequence, returned, fetched, last_used_ms, last_returned_ms, last_fetched_ms
    )
    SELECT :sequence, :returned, :fetched, :last_used_ms, :last_returned_ms, :last_fetched_ms
    WHERE EXISTS (SELECT 1 FROM memories WHERE sequence = :sequence)
    ON CONFLICT (sequence) DO UPDATE SET
        returned = returned + excluded.returned, fetched = fetched + excluded.fetched,
        last_used_ms = max(last_used_ms, excluded.last_used_ms),
        last_returned_ms = max(
            coalesce(last_returned_ms, excluded.last_returned_ms),
            coalesce(excluded.last_returned_ms, last_returned_ms)
        ),
        last_fetched_ms = max(
            coalesce(last_fetched_ms, excluded.last_fetched_ms),
            coalesce(excluded.last_fetched_ms, last_fetched_ms)
        )
"""


def milliseconds(moment: datetime) -> int:
    """Return a moment as the database holds it: milliseconds since 1970, UTC."""
    return round(moment.timestamp() * 1000)


def moment(value: int) -> datetime:
    """Return the moment that the database holds as milliseconds."""
    return datetime.fromtimestamp(value / 1000, UTC)


def memory_of(row: Sequence[Any]) -> Memory:
    """Return the memory that a row of ``SELECT`` holds."""
    (sequence, id_, content, summary, wing, room, scope, agent, user, layer, type_, status) = row[
        :12
    ]
    (confidence, revision, language, created, updated, used, uses, source, pinned) = row[12:21]
    (expires, superseded_by, evidence, tally, anchors) = row[21:]
    return Memory(
        sequence=sequence,
        id=id_,
        content=content,
        summary=summary,
        wing=wing,
        room=room,
        scope=Scope(scope),
        owner_agent=agent,
        owner_user=user,
        layer=Layer(layer),
        type=type_,
        status=Status(status),
        confidence=confidence,
        revision=revision,
        language=language,
        created=moment(created),
        updated=moment(updated),
        accessed=None if used is None else moment(used),
        access_count=uses,
        source=source,
        pinned=bool(pinned),
        expires=None if expires is None else moment(expires),
        superseded_by=superseded_by,
        evidence=evidence,
        tally=_tally(tally),
        anchors=_anchors(anchors),
    )


def _tally(proofs_of_all: str | None) -> Tally:
    if proofs_of_all is None:
        return UNWITNESSED
    proofs, witnesses = map(int, proofs_of_all.split("/"))
    return Tally(proofs, witnesses - proofs)


def _anchors(listed: str) -> tuple[Anchor, ...]:
    if listed == "[]":
        return ()
    return tuple(Anchor(target, AnchorState(state)) for target, state in json.loads(listed))


async def select(
    connection: aiosqlite.Connection, sql: str, parameters: dict[str, SqlValue]
) -> list[Memory]:
    """Return the memories of a statement that begins with ``SELECT``."""
    rows = list(await connection.execute_fetchall(sql, parameters))
    if len(rows) <= AT_ONCE:
        return [memory_of(row) for row in rows]
    return [memory_of(row) async for some in in_steps(rows) for row in some]


async def get(
    connection: aiosqlite.Connection,
    caller: Caller,
    memory_id: str,
    statuses: tuple[Status, ...] = KEPT,
) -> Memory | None:
    """Return one memory by id, if the caller may see it and it has one of the statuses."""
    clause = visible_to(caller, Filters(statuses=statuses))
    sql = f"{SELECT} WHERE {clause.sql} AND m.id = :id"
    found = await select(connection, sql, clause.parameters | {"id": memory_id})
    return (await as_seen_by(connection, caller, found))[0] if found else None


async def as_seen_by(
    connection: aiosqlite.Connection, caller: Caller, found: Sequence[Memory]
) -> list[Memory]:
    """Return memories that a caller may see without the ids of those it may not.

    What replaced one may have been moved out of sight since.
    """
    replacements = {one.superseded_by for one in found if one.superseded_by is not None}
    if not replacements:
        return list(found)
    clause = visible_to(caller, Filters(statuses=KEPT))
    rows = await connection.execute_fetchall(
        "SELECT m.id FROM memories m"
        f" WHERE m.id IN (SELECT value FROM json_each(:replacements)) AND {clause.sql}",
        clause.parameters | {"replacements": json.dumps(sorted(replacements))},
    )
    seen = {memory_id for (memory_id,) in rows}
    return [one if one.superseded_by in seen else replace(one, superseded_by=None) for one in found]


def listed(sequences: Sequence[int]) -> dict[str, SqlValue]:
    """Return the parameter for ``LISTED``."""
    return {"listed": json.dumps(list(sequences))}


async def by_sequence(connection: aiosqlite.Connection, sequence: int) -> Memory:
    """Return a memory that the running transaction knows to exist."""
    return (await select(connection, f"{SELECT} WHERE m.sequence = :s", {"s": sequence}))[0]


async def by_sequences(
    connection: aiosqlite.Connection, clause: Clause, sequences: Sequence[int]
) -> dict[int, Memory]:
    """Return those of the memories that the clause admits, by sequence."""
    sql = f"{SELECT} WHERE {clause.sql} AND m.sequence IN {LISTED}"
    found = await select(connection, sql, clause.parameters | listed(sequences))
    return {memory.sequence: memory for memory in found}


async def newest(
    connection: aiosqlite.Connection, clause: Clause, limit: int
) -> tuple[list[Memory], int]:
    """Return the most recently changed memories that the clause admits, and how many it admits."""
    page = await select(
        connection,
        f"{SELECT} WHERE m.sequence IN (SELECT m.sequence FROM memories m WHERE {clause.sql}"
        " ORDER BY m.updated_ms DESC, m.sequence DESC LIMIT :limit)"
        " ORDER BY m.updated_ms DESC, m.sequence DESC",
        clause.parameters | {"limit": limit},
    )
    if len(page) < limit:
        return page, len(page)
    return page, await count(connection, clause)


async def count(connection: aiosqlite.Connection, clause: Clause) -> int:
    """Return how many memories the clause admits."""
    rows = await connection.execute_fetchall(
        f"SELECT count(*) FROM memories m WHERE {clause.sql}", clause.parameters
    )
    return int(next(iter(rows))[0])


async def where(
    connection: aiosqlite.Connection,
    condition: str,
    parameters: dict[str, SqlValue],
    limit: int,
) -> list[Memory]:
    """Return memories of all owners by a condition on ``m`` and ``u`` (usage), oldest first."""
    sql = f"{SELECT} WHERE {condition} ORDER BY m.sequence LIMIT :limit"
    return await select(connection, sql, parameters | {"limit": limit})


async def critical(connection: aiosqlite.Connection, limit: int) -> list[Memory]:
    """Return the newest critical memories of every owner in each wing of the home.

    Up to ``limit`` of each, the oldest first.
    """
    sql = f"""
        {SELECT} WHERE m.sequence IN (
            SELECT sequence FROM (
                SELECT o.sequence, row_number() OVER (
                    PARTITION BY p.wing_id, o.scope, o.owner_agent, o.owner_user
                    ORDER BY o.sequence DESC
                ) AS place
                FROM memories o JOIN rooms p ON p.id = o.room_id JOIN wings h ON h.id = p.wing_id
                WHERE o.layer = 1 AND o.status = 'active' AND h.workshop = 0
            ) WHERE place <= :limit
        ) ORDER BY m.sequence
    """
    return await select(connection, sql, {"limit": limit})


async def matching(connection: aiosqlite.Connection, clause: Clause, limit: int) -> list[Memory]:
    """Return memories that the clause admits, in no order."""
    parameters = clause.parameters | {"limit": limit}
    return await select(connection, f"{SELECT} WHERE {clause.sql} LIMIT :limit", parameters)


async def with_prefix(
    connection: aiosqlite.Connection, clause: Clause, first: str, last: str
) -> list[Memory]:
    """Return up to two memories that the clause admits with ids from ``first`` to ``last``."""
    sql = f"{SELECT} WHERE {clause.sql} AND m.id BETWEEN :first AND :last LIMIT 2"
    return await select(connection, sql, clause.parameters | {"first": first, "last": last})


async def neighbours(
    connection: aiosqlite.Connection, clause: Clause, ids: Sequence[str], alike: int
) -> dict[str, list[str]]:
    """Return the ids next to each, of those that begin ``alike`` and that the clause admits."""
    before = "m.id >= substr(wanted.value, 1, :alike) AND m.id < wanted.value"
    after = "m.id > wanted.value AND m.id < substr(wanted.value, 1, :alike) || '~'"
    sql = f"""
        SELECT wanted.value,
            (SELECT max(m.id) FROM memories m WHERE {before} AND {clause.sql}),
            (SELECT min(m.id) FROM memories m WHERE {after} AND {clause.sql})
        FROM json_each(:ids) wanted
    """
    parameters = clause.parameters | {"ids": json.dumps(ids), "alike": alike}
    rows = await connection.execute_fetchall(sql, parameters)
    return {str(one): [str(other) for other in others if other] for one, *others in rows}


async def visible_sequences(
    connection: aiosqlite.Connection, clause: Clause, among: Sequence[int] | None = None
) -> str:
    """Return the sequences that the clause admits as one JSON array, of all or of those given."""
    narrowed, chosen = (
        ("", {}) if among is None else (f" AND m.sequence IN {LISTED}", listed(among))
    )
    sql = f"{_SEQUENCES} WHERE {clause.sql}{narrowed}"
    rows = await connection.execute_fetchall(sql, clause.parameters | chosen)
    return str(next(iter(rows))[0])


async def restated(connection: aiosqlite.Connection, values: dict[str, SqlValue]) -> int | None:
    """Return the sequence of a memory in the same place, of the same owner, that says the same."""
    rows = list(await connection.execute_fetchall(_RESTATED, values))
    return rows[0][0] if rows else None


async def insert(connection: aiosqlite.Connection, values: dict[str, SqlValue]) -> Memory:
    """Insert a memory with its full-text rows and return it."""
    async with connection.execute(_INSERT, _AT_FIRST | values) as cursor:
        sequence = cursor.lastrowid
    assert sequence is not None  # noqa: S101 - an INSERT always sets it
    memory = await by_sequence(connection, sequence)
    await _index(connection, memory)
    return memory


async def update(
    connection: aiosqlite.Connection, before: Memory, values: dict[str, SqlValue]
) -> Memory:
    """Rewrite a memory and its full-text rows, advance its revision and return it."""
    kept: dict[str, SqlValue] = {
        "sequence": before.sequence,
        "type": before.type,
        "status": before.status,
        "confidence": before.confidence,
        "expires_ms": None if before.expires is None else milliseconds(before.expires),
        "evidence": before.evidence,
    }
    await connection.execute(_UPDATE, kept | values)
    after = await by_sequence(connection, before.sequence)
    if (before.content, before.summary) != (after.content, after.summary):
        await _unindex(connection, [before])
        await _index(connection, after)
    return after


async def remove(connection: aiosqlite.Connection, memories: Sequence[Memory]) -> None:
    """Remove memories with their full-text rows, vectors and usage."""
    await _unindex(connection, memories)
    await connection.executemany(
        "DELETE FROM memories WHERE sequence = ?", [(memory.sequence,) for memory in memories]
    )


async def least_valuable(connection: aiosqlite.Connection, keep: int, limit: int) -> list[Memory]:
    """Return what to evict first: archived before standard, then least and longest unused.

    Critical memories and the one with the sequence ``keep`` are never among them.
    """
    return await select(connection, _LEAST_VALUABLE, {"keep": keep, "limit": limit})


async def audit(
    connection: aiosqlite.Connection,
    caller: Caller,
    action: str,
    now_ms: int,
    changes: Iterable[tuple[Memory | None, Memory | None]],
) -> None:
    """Record who did what to which memory, as pairs of before and after; never any text."""
    rows = []
    for before, after in changes:
        subject = after or before
        if subject is not None:
            revisions = (before and before.revision, after and after.revision)
            who = (caller.source, caller.agent, caller.user)
            rows.append((now_ms, action, subject.id, *revisions, *who))
    await connection.executemany(_AUDIT, rows)


async def record_use(connection: aiosqlite.Connection, uses: Iterable[dict[str, SqlValue]]) -> None:
    """Add to the usage counters of memories that still exist."""
    unknown = {"last_returned_ms": None, "last_fetched_ms": None}
    await connection.executemany(_RECORD_USE, [unknown | use for use in uses])


async def census(connection: aiosqlite.Connection) -> list[tuple[str, str, int, int]]:
    """Return how many live memories there are by wing, scope and layer."""
    rows = await connection.execute_fetchall(
        f"SELECT w.name, m.scope, m.layer, count(*) {_FROM}"
        " WHERE m.status IN ('active', 'candidate') GROUP BY 1, 2, 3"
    )
    return [(wing, scope, layer, count) for wing, scope, layer, count in rows]


async def count_private(connection: aiosqlite.Connection, agent: str) -> int:
    """Return how many private memories an agent owns, alone or with persons."""
    rows = await connection.execute_fetchall(_COUNT_PRIVATE, {"agent": agent})
    return int(next(iter(rows))[0])


async def last_change(connection: aiosqlite.Connection) -> datetime | None:
    """Return when a memory was last written, changed or removed."""
    rows = await connection.execute_fetchall(
        # What is put on record without a memory, such as a sweep, changed none.
        "SELECT max(at_ms) FROM audit WHERE memory_id <> ''"
    )
    newest_ms = next(iter(rows))[0]
    return None if newest_ms is None else moment(newest_ms)


async def fill_full_text(connection: aiosqlite.Connection, after: int, limit: int) -> int | None:
    """Index the next memories of a file whose rows came by other means.

    Returns the sequence of the last one, None when all are done.
    """
    sql = f"{SELECT} WHERE m.sequence > :after ORDER BY m.sequence LIMIT :limit"
    found = await select(connection, sql, {"after": after, "limit": limit})
    # No row of this file holds the words of a place.
    await connection.executemany(
        "UPDATE memories SET indexed_place = '' WHERE sequence = ?",
        [(memory.sequence,) for memory in found],
    )
    for memory in found:
        await _index(connection, memory)
    return found[-1].sequence if found else None


def _full_text(
    memory: Memory, prepared: Callable[[str], str], place: str = ""
) -> tuple[int, str, str, str]:
    content, summary = prepared(memory.content), prepared(memory.summary)
    return memory.sequence, content, summary, prepared(place)


def _full_texts(
    memories: Sequence[Memory], prepared: Callable[[str], str], places: Mapping[int, str]
) -> list[tuple[int, str, str, str]]:
    return [_full_text(memory, prepared, places[memory.sequence]) for memory in memories]


async def _index(connection: aiosqlite.Connection, memory: Memory) -> None:
    for table, prepared in _FULL_TEXT_TABLES:
        await connection.execute(
            f"INSERT INTO {table} (rowid, content, summary, place) VALUES (?, ?, ?, ?)",
            _full_text(memory, prepared),
        )


async def _unindex(connection: aiosqlite.Connection, memories: Sequence[Memory]) -> None:
    """Remove full-text rows by what was indexed, which may hold the words of a place."""
    loop = asyncio.get_running_loop()
    sequences = listed([memory.sequence for memory in memories])
    held = await connection.execute_fetchall(
        f"SELECT sequence, indexed_place FROM memories WHERE sequence IN {LISTED}", sequences
    )
    places = {int(sequence): str(place) for sequence, place in held}
    for table, prepared in _FULL_TEXT_TABLES:
        rows = await loop.run_in_executor(None, _full_texts, memories, prepared, places)
        await connection.executemany(
            f"INSERT INTO {table} ({table}, rowid, content, summary, place)"
            " VALUES ('delete', ?, ?, ?, ?)",
            rows,
        )
    if any(places.values()):
        await connection.execute(
            f"UPDATE memories SET indexed_place = '' WHERE sequence IN {LISTED}", sequences
        )


_FULL_TEXT_TABLES: Final = tuple(zip(FULL_TEXT_TABLES, (indexed_text, fold), strict=True))
