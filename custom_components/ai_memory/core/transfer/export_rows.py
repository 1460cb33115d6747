"""The statements that only exports need: memories with everything that no reply tells of them.

``exporting`` reads them page by page, in the order that its format asks for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
import json
from typing import Any, Final

import aiosqlite

from .. import memories
from ..models import Caller, Filters, Memory, Status
from ..visibility import Clause, SqlValue, visible_to
from .attached import LISTS, ROWS_LIMIT, Attached, AttachedList, Row
from .own import ExportedMemory
from .values import Usage

_PAGE: Final = """
    SELECT m.sequence, m.layered_ms, m.superseded_ms, u.returned, u.fetched, u.last_used_ms,
        u.last_returned_ms, u.last_fetched_ms
    FROM memories m {walked} LEFT JOIN usage u ON u.sequence = m.sequence
    WHERE {after} AND {condition} ORDER BY {order} LIMIT :limit
"""
_BY_ID: Final = "INDEXED BY sqlite_autoindex_memories_1"
"""The index of the ids: all pages together walk it once, where another would sort for each."""
_REPLACED: Final = """
    SELECT m.superseded_by, m.id FROM memories m
    WHERE m.superseded_by IN (SELECT value FROM json_each(:listed)) AND {condition} ORDER BY m.id
"""
_PLACES: Final = """
    SELECT DISTINCT w.name, r.name
    FROM memories m JOIN rooms r ON r.id = m.room_id JOIN wings w ON w.id = r.wing_id
    WHERE {condition} ORDER BY w.name, r.name
"""


def _select_attached(one: AttachedList) -> str:
    columns = ", ".join(column.stored for column in one.columns)
    return (
        f"SELECT sequence, {columns} FROM {one.table}"
        f" WHERE sequence IN (SELECT value FROM json_each(:listed)) ORDER BY sequence, {columns}"
    )


_ATTACHED: Final = tuple(_select_attached(one) for one in LISTS)


async def page(
    connection: aiosqlite.Connection, clause: Clause, after: int, limit: int
) -> list[ExportedMemory]:
    """Return the next memories that the clause admits, in order of sequence."""
    sql = _PAGE.format(
        walked="", after="m.sequence > :after", order="m.sequence", condition=clause.sql
    )
    return await _page(connection, clause, sql, {"after": after, "limit": limit})


async def page_from(
    connection: aiosqlite.Connection, clause: Clause, first_id: str, limit: int
) -> list[ExportedMemory]:
    """Return the next memories that the clause admits, in order of id, from one that is named."""
    sql = _PAGE.format(walked=_BY_ID, after="m.id >= :first", order="m.id", condition=clause.sql)
    return await _page(connection, clause, sql, {"first": first_id, "limit": limit})


async def with_replaced(
    connection: aiosqlite.Connection,
    caller: Caller,
    page: Sequence[ExportedMemory],
    *,
    all_owners: bool,
) -> list[ExportedMemory]:
    """Return exported memories with the ids of what they replaced, as far as the caller sees it."""
    clause = visible_to(caller, Filters(statuses=(Status.SUPERSEDED,)), all_owners=all_owners)
    listed = memories.listed([one.memory.sequence for one in page])
    sql = _REPLACED.format(condition=clause.sql)
    replaced: dict[int, list[str]] = {}
    for sequence, memory_id in await connection.execute_fetchall(sql, clause.parameters | listed):
        replaced.setdefault(sequence, []).append(memory_id)
    return [
        replace(one, supersedes=tuple(replaced.get(one.memory.sequence, ())[:ROWS_LIMIT]))
        for one in page
    ]


async def _page(
    connection: aiosqlite.Connection, clause: Clause, sql: str, bounds: dict[str, SqlValue]
) -> list[ExportedMemory]:
    rows = list(await connection.execute_fetchall(sql, clause.parameters | bounds))
    found = await memories.by_sequences(connection, clause, [row[0] for row in rows])
    belonging = [await _attached(connection, statement, found) for statement in _ATTACHED]
    return [
        _exported(
            found[sequence], values, tuple(tuple(rows.get(sequence, ())) for rows in belonging)
        )
        for sequence, *values in rows
        if sequence in found
    ]


async def places(connection: aiosqlite.Connection, clause: Clause) -> list[tuple[str, str]]:
    """Return the places that hold memories which the clause admits, by name."""
    sql = _PLACES.format(condition=clause.sql)
    rows = await connection.execute_fetchall(sql, clause.parameters)
    return [(wing, room) for wing, room in rows]


async def _attached(
    connection: aiosqlite.Connection, statement: str, sequences: Iterable[int]
) -> dict[int, list[Row]]:
    """Return the rows of one list by the memory that they belong to."""
    listed = {"listed": json.dumps(list(sequences))}
    rows: dict[int, list[Row]] = {}
    for sequence, *values in await connection.execute_fetchall(statement, listed):
        rows.setdefault(sequence, []).append(tuple(values))
    return rows


def _exported(memory: Memory, row: Sequence[Any], attached: Attached) -> ExportedMemory:
    layered, superseded, returned, fetched, used, last_returned, last_fetched = row
    return ExportedMemory(
        memory=memory,
        layered=_moment(layered) or memory.updated,
        superseded=_moment(superseded),
        usage=Usage(
            returned=returned or 0,
            fetched=fetched or 0,
            used=_moment(used),
            last_returned=_moment(last_returned),
            last_fetched=_moment(last_fetched),
        ),
        attached=attached,
    )


def _moment(value: int | None) -> datetime | None:
    return None if value is None else datetime.fromtimestamp(value / 1000, UTC)
