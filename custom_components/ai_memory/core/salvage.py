"""Copying what can still be read of a damaged database into a new one.

``integrity`` calls ``salvage`` in a worker thread. Rows are read by ranges of their numbers, halved
wherever SQLite gives up, so that a damaged page costs only its own rows. They are written through
our own schema, whose constraints refuse what damage made of a value. What can be made anew from the
memories is not copied: full text is built here, vectors and calibrations by the memory once it is
open. Nothing is ever written to the damaged file.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
import sqlite3
from typing import Any, Final

import aiosqlite

from . import memories, palace
from .database import Database
from .palace import GENERAL

DERIVED_TABLES: Final = frozenset({"embeddings", "calibrations"})
BATCH_ROWS: Final = 500
LARGEST_VALUE_BYTES: Final = 64 * 1024 * 1024
"""Damage can make a value look far longer than any that was ever stored."""

LATEST_MS: Final = 253_402_300_799_999
"""The last moment of the year 9999: no moment is later."""

ROWS_A_PAGE: Final = 128
"""More than a page ever holds: bounds the search where no index tells the last number."""

_OURS: Final = """
    SELECT l.name FROM pragma_table_list l JOIN sqlite_master m ON m.name = l.name
    WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%' ORDER BY m.rowid
"""
_FORGET_LOST_REPLACEMENTS: Final = """
    UPDATE memories SET superseded_by = NULL
    WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT sequence FROM memories)
"""
_UNREADABLE: Final = frozenset(
    {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_ERROR}
)
_PRIMARY_CODE_MASK: Final = 0xFF

type _Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """How many memories came back, and how many are known to be lost if anything tells."""

    memories: int
    lost: int | None


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of both files, with the columns that both have."""

    name: str
    columns: tuple[str, ...]
    texts: tuple[bool, ...]

    def cleaned(self, row: _Row) -> _Row | None:
        """Return a row with its texts decoded, None where a value cannot be what was stored."""
        values: list[Any] = []
        for column, is_text, value in zip(self.columns, self.texts, row, strict=True):
            if is_text and value is not None:
                # Damage leaves zeros or bytes that are no text.
                if not isinstance(value, bytes) or b"\x00" in value:
                    return None
                try:
                    values.append(value.decode())
                except UnicodeDecodeError:
                    return None
            elif column.endswith("_ms") and not _is_moment(value):
                return None
            else:
                values.append(value)
        return tuple(values)


async def salvage(source: sqlite3.Connection, target: Path, now_ms: int) -> Restored:
    """Fill a new file with every row that can be read. Raises StorageError and sqlite3.Error.

    ``source`` is read-only and belongs to this thread.
    """
    _prepare(source)
    database = Database(target)
    await database.open()
    try:
        copied: dict[str, int] = {}
        for table in await _tables(database, source):
            copied[table.name] = await _copy(database, source, table, now_ms)
        async with database.transaction() as connection:
            await connection.execute(_FORGET_LOST_REPLACEMENTS)
        last: int | None = 0
        while last is not None:
            async with database.transaction() as connection:
                last = await memories.fill_full_text(connection, last, BATCH_ROWS)
    finally:
        await database.close()
    stored = copied.get("memories", 0)
    expected = _expected(source, "memories")
    return Restored(stored, None if expected is None else max(0, expected - stored))


def _prepare(source: sqlite3.Connection) -> None:
    source.text_factory = bytes
    source.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE_BYTES)
    # Lets a truncated file be read, and a schema of which only some lines are damaged.
    source.execute("PRAGMA writable_schema = ON")


def _is_moment(value: object) -> bool:
    return value is None or (isinstance(value, int) and 0 <= value <= LATEST_MS)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE_MASK) in _UNREADABLE


def _asked(source: sqlite3.Connection, statement: str) -> list[_Row]:
    """Return the rows of a statement, none where they cannot be read."""
    try:
        return source.execute(statement).fetchall()
    except sqlite3.DatabaseError as err:
        if _is_damage(err):
            return []
        raise


async def _tables(database: Database, source: sqlite3.Connection) -> list[_Table]:
    """Return the tables to copy, each after those that it refers to."""
    tables: list[_Table] = []
    async with database.reading() as connection:
        for (name,) in await connection.execute_fetchall(_OURS):
            if name in DERIVED_TABLES:
                continue
            info = f"SELECT name, type FROM pragma_table_info('{name}')"
            there = {column.decode() for column, _ in _asked(source, info)}
            found = await connection.execute_fetchall(info)
            both = [(column, kind) for column, kind in found if column in there]
            if both:
                columns = tuple(column for column, _ in both)
                tables.append(_Table(name, columns, tuple(kind == "TEXT" for _, kind in both)))
    return tables


async def _copy(database: Database, source: sqlite3.Connection, table: _Table, now_ms: int) -> int:
    """Copy one table; returns how many rows were taken."""
    places = ", ".join("?" * len(table.columns))
    insert = f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({places})"
    copied = 0
    for batch in batched(_rows(source, table), BATCH_ROWS, strict=False):
        async with database.transaction() as connection:
            rows = await _placed(connection, table, batch, now_ms)
            copied += await _insert(connection, insert, rows)
    return copied


async def _insert(connection: aiosqlite.Connection, insert: str, rows: Sequence[_Row]) -> int:
    """Insert rows, all at once or, where the schema refuses one, each by itself."""
    await connection.execute("SAVEPOINT batch")
    try:
        await connection.executemany(insert, rows)
    except sqlite3.IntegrityError:
        await connection.execute("ROLLBACK TO batch")
    else:
        return len(rows)
    taken = 0
    for row in rows:
        # A row that the schema refuses is not one that it once took.
        with suppress(sqlite3.IntegrityError):
            await connection.execute(insert, row)
            taken += 1
    return taken


async def _placed(
    connection: aiosqlite.Connection, table: _Table, rows: Sequence[_Row], now_ms: int
) -> Sequence[_Row]:
    """Return memories whose room is lost in the general one; their scope stays what it was."""
    if table.name != "memories":
        return rows
    column = table.columns.index("room_id")
    known = {room for (room,) in await connection.execute_fetchall("SELECT id FROM rooms")}
    if all(row[column] in known for row in rows):
        return rows
    general = await palace.ensure_place(connection, GENERAL, GENERAL, now_ms)
    return [
        row if row[column] in known else (*row[:column], general.room_id, *row[column + 1 :])
        for row in rows
    ]


def _rows(source: sqlite3.Connection, table: _Table) -> Iterator[_Row]:
    statement = (
        f"SELECT rowid, {', '.join(table.columns)} FROM {table.name}"
        # Without the limit, the last row before a damaged page is lost with it: SQLite looks for
        # one more, and Python drops the row it has when that fails.
        " WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid LIMIT ?2 - ?1 + 1"
    )
    for row in _readable(source, statement, _last_number(source, table.name)):
        cleaned = table.cleaned(row[1:])
        if cleaned is not None:
            yield cleaned


def _readable(source: sqlite3.Connection, statement: str, last: int) -> Generator[_Row]:
    """Yield what can be read from row 1 to the last, in order; each number once."""
    ranges = [(1, last)]
    while ranges:
        first, high = ranges.pop()
        low = first
        try:
            for row in source.execute(statement, (low, high)):
                if not low <= row[0] <= high:
                    # A damaged page holds any number; what follows it may be good.
                    break
                low = row[0] + 1
                yield row
            else:
                continue
        except sqlite3.DatabaseError as err:
            if not _is_damage(err):
                raise
        if low < high:
            middle = (low + high) // 2
            ranges += [(middle + 1, high), (low, middle)]
        elif first < low == high:
            ranges.append((high, high))


def _indexes(source: sqlite3.Connection, table: str) -> list[str]:
    return [name.decode() for _, name, *_ in _asked(source, f"PRAGMA index_list({table})")]


def _expected(source: sqlite3.Connection, table: str) -> int | None:
    """Return how many rows there were, as any index that is whole still tells."""
    counted = [
        rows[0][0]
        for index in _indexes(source, table)
        if (rows := _asked(source, f'SELECT count(*) FROM {table} INDEXED BY "{index}"'))
    ]
    return max(counted, default=None)


def _last_number(source: sqlite3.Connection, table: str) -> int:
    """Return a number that no row exceeds, as small as what can still be read allows."""
    told = _asked(source, f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'")
    told = told or _asked(source, f"SELECT max(rowid) FROM {table}")
    if told and isinstance(told[0][0], int):
        return int(told[0][0])
    pages = _asked(source, "PRAGMA page_count")
    return int(pages[0][0]) * ROWS_A_PAGE if pages else 0
