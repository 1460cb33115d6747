"""Building this memory's database from that of the integration before it, and proving it whole.

``previous_database`` calls both functions in a worker thread. Everything is written through the
schema and the repositories that also write what callers send, into a file that nobody uses yet.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import batched, zip_longest
from pathlib import Path
import sqlite3
from typing import Any, Final

import aiosqlite

from . import memories, palace, vectors
from .database import Database
from .models import Caller, Scope
from .palace import DEFAULT_WINGS
from .previous_rows import (
    KeptVectors,
    PreviousMemory,
    PreviousRoom,
    count_memories,
    read_memories,
    read_rooms,
    readable,
)
from .restatement import restatement_digest
from .vectors import Unembedded
from .visibility import SqlValue

SOURCE: Final = "previous_database"
MIGRATED: Final = "migrated"
BATCH_MEMORIES: Final = 500

_SET_UPDATED: Final = "UPDATE memories SET updated_ms = ? WHERE sequence = ?"
_SET_WING_SCOPE: Final = "UPDATE wings SET default_scope = ? WHERE name = ?"
_STORED: Final = """
    SELECT m.id, m.content, m.summary, w.name, r.name, m.scope, m.owner_agent, m.layer,
        m.created_ms, m.updated_ms, coalesce(u.returned, 0), u.last_used_ms
    FROM memories m
    JOIN rooms r ON r.id = m.room_id
    JOIN wings w ON w.id = r.wing_id
    LEFT JOIN usage u ON u.sequence = m.sequence
    ORDER BY m.sequence
"""

type _Row = tuple[Any, ...]


class IncompleteError(Exception):
    """What was built is not what was read; the message says what differs, never any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What went into the new file: each memory as it must be found there, and the figures."""

    rows: Sequence[_Row]
    common: int
    renamed: int
    unowned: int
    vectors: int


async def build(
    source: Path, target: Path, kept: KeptVectors | None, now_ms: int, check: Callable[[], None]
) -> Built:
    """Fill a new database with everything that the old one holds.

    ``check`` is called between batches and may raise. Raises StorageError and sqlite3.Error.
    """
    database = Database(target)
    await database.open()
    try:
        with closing(_reading(source)) as connection:
            builder = _Builder(database, kept, now_ms)
            await builder.rooms(read_rooms(connection, now_ms))
            read = read_memories(connection, kept, now_ms)
            for batch in batched(read, BATCH_MEMORIES, strict=False):
                check()
                await builder.memories(batch)
    finally:
        await database.close()
    return builder.built()


def verify(source: Path, target: Path, built: Built) -> None:
    """Compare the new file with what was read, row by row. Raises IncompleteError, sqlite3.Error.

    The number of rows is counted anew in the old file.
    """
    with closing(_reading(source)) as connection:
        expected = count_memories(connection)
    if expected != (len(built.rows), built.common):
        raise IncompleteError("not every row was read")
    # The file alone, without a write-ahead log, is what will be moved.
    with closing(_reading(target, "&immutable=1")) as connection:
        for pragma, healthy in (("integrity_check", [("ok",)]), ("foreign_key_check", [])):
            if connection.execute(f"PRAGMA {pragma}").fetchall() != healthy:
                raise IncompleteError(f"the new database fails its {pragma}")
        stored = map(_digested, connection.execute(_STORED))
        differing = sum(old != new for old, new in zip_longest(built.rows, stored))
    if differing:
        raise IncompleteError(f"{differing} memories differ")


class _Builder:
    """Writes rooms and memories, and keeps what the new file must hold."""

    def __init__(self, database: Database, kept: KeptVectors | None, now_ms: int) -> None:
        self._database = database
        self._kept = kept
        self._now_ms = now_ms
        self._places: dict[tuple[str, str], int] = {}
        self._rows: list[_Row] = []
        self._common = self._renamed = self._unowned = self._vectors = 0

    def built(self) -> Built:
        """Return what was written."""
        return Built(
            rows=self._rows,
            common=self._common,
            renamed=self._renamed,
            unowned=self._unowned,
            vectors=self._vectors,
        )

    async def rooms(self, rooms: Sequence[PreviousRoom]) -> None:
        """Create the rooms, with the scope on which all rooms of a further wing agree."""
        ours = {plan.name for plan in DEFAULT_WINGS}
        async with self._database.transaction() as connection:
            for room in rooms:
                await self._room_id(connection, room.wing, room.room, room.created_ms)
            for wing in {room.wing for room in rooms} - ours:
                if {room.scope for room in rooms if room.wing == wing} == {Scope.PRIVATE}:
                    await connection.execute(_SET_WING_SCOPE, (Scope.PRIVATE, wing))
            for plan in DEFAULT_WINGS:
                for room_name in plan.rooms:
                    await self._room_id(connection, plan.name, room_name, self._now_ms)

    async def memories(self, batch: Iterable[PreviousMemory]) -> None:
        """Store some memories with all that belongs to them, in one transaction."""
        async with self._database.transaction() as connection:
            uses: list[dict[str, SqlValue]] = []
            for old in batch:
                sequence = await self._store(connection, old)
                used_ms = old.updated_ms if old.used_ms is None and old.uses else old.used_ms
                if used_ms is not None:
                    uses.append(
                        {
                            "sequence": sequence,
                            "returned": old.uses,
                            "fetched": 0,
                            "last_used_ms": used_ms,
                        }
                    )
                self._note(old, used_ms)
            await memories.record_use(connection, uses)

    async def _store(self, connection: aiosqlite.Connection, old: PreviousMemory) -> int:
        stored = await memories.insert(
            connection,
            {
                "id": old.id,
                "room_id": await self._room_id(connection, old.wing, old.room, old.created_ms),
                "content": old.content,
                "summary": old.summary,
                "restatement": restatement_digest(old.content),
                "scope": old.scope,
                "owner_agent": old.owner,
                "owner_user": None,
                "layer": old.layer,
                "type": "fact",
                "language": None,
                "now_ms": old.created_ms,
                "source": SOURCE,
            },
        )
        if old.updated_ms != old.created_ms:
            await connection.execute(_SET_UPDATED, (old.updated_ms, stored.sequence))
        if self._kept is not None and old.vector is not None:
            subject = Unembedded(stored.sequence, stored.revision, stored.content)
            await vectors.store(connection, subject, self._kept.fingerprint, old.vector)
            self._vectors += 1
        teller = Caller(source=SOURCE, agent=old.teller)
        await memories.audit(connection, teller, MIGRATED, self._now_ms, [(None, stored)])
        return stored.sequence

    async def _room_id(
        self, connection: aiosqlite.Connection, wing: str, room: str, created_ms: int
    ) -> int:
        known = self._places.get((wing, room))
        if known is None:
            place = await palace.ensure_place(connection, wing, room, created_ms)
            known = self._places[wing, room] = place.room_id
        return known

    def _note(self, old: PreviousMemory, used_ms: int | None) -> None:
        self._common += old.scope is Scope.COMMON
        self._renamed += old.renamed
        self._unowned += old.scope is Scope.PRIVATE and old.teller is None
        row = (
            *(old.id, old.content, old.summary, old.wing, old.room, old.scope, old.owner),
            *(old.layer, old.created_ms, old.updated_ms, old.uses, used_ms),
        )
        self._rows.append(_digested(row))


def _reading(path: Path, more: str = "") -> sqlite3.Connection:
    return readable(sqlite3.connect(f"{path.as_uri()}?mode=ro{more}", uri=True))


def _digested(row: _Row) -> _Row:
    """Return a row with a digest in the place of its content, of which there may be much."""
    id_, content, *others = row
    return (id_, blake2b(content.encode(), digest_size=16).digest(), *others)
