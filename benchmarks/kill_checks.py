"""What must hold of a file whose process was killed, whatever it was doing.

``kill`` asks after every round. Everything that was acknowledged is there as it was told; what was
under way is there as a whole or not at all; the file is sound, every row has its record of who
changed it, and both indexes hold what the table holds.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
import json
from pathlib import Path
import sqlite3
from typing import Any, Final

from .core import FULL_TEXT_TABLES, embedded_text, fold, indexed_text
from .kill_storm import Told, manager_of

_PREPARED: Final = tuple(zip(FULL_TEXT_TABLES, (indexed_text, fold), strict=True))
_ROWS: Final = """
    SELECT m.id, m.content, m.revision, m.status,
        (SELECT count(*) FROM evidence e WHERE e.sequence = m.sequence) AS proofs
    FROM memories m
"""
_UNRECORDED: Final = """
    SELECT count(*) FROM memories m WHERE m.revision IS NOT (
        SELECT max(a.revision_after) FROM audit a WHERE a.memory_id = m.id
    )
"""
_WITHOUT_VECTOR: Final = """
    SELECT count(*) FROM memories m LEFT JOIN embeddings e ON e.sequence = m.sequence
    WHERE m.status IN ('active', 'candidate') AND e.sequence IS NULL
"""


@dataclass(slots=True)
class Promised:
    """What one file must hold by what its writers told."""

    records: dict[str, Told] = field(default_factory=dict)
    receipts: set[str] = field(default_factory=set)
    under_way: list[Told] = field(default_factory=list)
    acknowledged: int = 0

    def hear(self, lines: Iterable[bytes]) -> None:
        """Take what a writer told from its beginning to its end."""
        under_way: dict[str, Told] = {}
        for line in lines:
            if not line.endswith(b"\n"):
                continue  # It died in the middle of a word.
            told = json.loads(line)
            if "begin" in told:
                under_way[told["agent"]] = told
            elif "done" in told:
                del under_way[told["agent"]]
                self._keep(told["done"], told.get("receipt"))
                self.acknowledged += 1
        self.under_way = list(under_way.values())

    def _keep(self, after: list[Told], receipt: str | None) -> None:
        self.records |= {one["id"]: one for one in after}
        if receipt is not None:
            self.receipts.add(receipt)

    def settle(self, told: Told, ids: dict[str, str]) -> None:
        """Take what was under way and happened as if it had been acknowledged."""
        after = [one if one["id"] else one | {"id": ids[one["content"]]} for one in told["begin"]]
        self._keep(after, told.get("receipt"))


async def faults(path: Path, promised: Promised) -> list[str]:
    """Return what is wrong with a file; what was under way is settled by what became of it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        found = [*_damage(connection), *_broken_promises(connection, promised)]
        found += _index_faults(connection)
    return found + await _faults_when_open(path)


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    for check, sound in (("integrity_check", ["ok"]), ("foreign_key_check", [])):
        told = [str(row[0]) for row in connection.execute(f"PRAGMA {check}")]
        if told != sound:
            yield f"{check}: {told[:3]}"


def _broken_promises(connection: sqlite3.Connection, promised: Promised) -> Iterator[str]:
    rows: dict[str, Told] = {row["id"]: dict(row) for row in connection.execute(_ROWS)}
    ids = {row["content"]: row["id"] for row in rows.values()}
    receipts = {row[0] for row in connection.execute("SELECT op_id FROM receipts")}
    for told in promised.under_way:
        happened = [_stands(one, rows, ids) for one in told["begin"]]
        if receipt := told.get("receipt"):
            happened.append(receipt in receipts)
        if all(happened):
            promised.settle(told, ids)
        elif any(happened):
            yield f"half a write: {told}"
    expected = {one["id"]: {name: one[name] for name in one} for one in promised.records.values()}
    for memory_id, one in expected.items():
        if rows.get(memory_id) != one:
            yield f"promised {one}, found {rows.get(memory_id)}"
    if unknown := rows.keys() - expected.keys():
        yield f"{len(unknown)} rows that nobody wrote"
    if receipts != promised.receipts:
        yield f"receipts differ: {sorted(receipts ^ promised.receipts)[:3]}"
    (unrecorded,) = connection.execute(_UNRECORDED).fetchone()
    if unrecorded:
        yield f"{unrecorded} revisions without a record of who made them"


def _stands(one: Told, rows: dict[str, Told], ids: dict[str, str]) -> bool:
    memory_id = one["id"] or ids.get(one["content"], "")
    return rows.get(memory_id) == one | {"id": memory_id}


def _index_faults(connection: sqlite3.Connection) -> Iterator[str]:
    """Compare both tables of full text with ones that are made anew of the memories."""
    memories = connection.execute(
        "SELECT sequence, content, summary, indexed_place FROM memories"
    ).fetchall()
    for table, prepared in _PREPARED:
        (made,) = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)
        ).fetchone()
        connection.execute(made.replace(f"TABLE {table}", "TABLE temp.made_anew"))
        connection.executemany(
            "INSERT INTO temp.made_anew (rowid, content, summary, place) VALUES (?, ?, ?, ?)",
            ((row[0], *map(prepared, tuple(row)[1:])) for row in memories),
        )
        if _words(connection, "main", table) != _words(connection, "temp", "made_anew"):
            yield f"{table} differs from the memories"
        connection.execute("DROP TABLE temp.made_anew")


def _words(connection: sqlite3.Connection, schema: str, table: str) -> list[tuple[Any, ...]]:
    connection.execute(
        f"CREATE VIRTUAL TABLE temp.words USING fts5vocab({schema}, {table}, instance)"
    )
    words = [
        tuple(row) for row in connection.execute("SELECT * FROM temp.words ORDER BY 1, 2, 3, 4")
    ]
    connection.execute("DROP TABLE temp.words")
    return words


async def _faults_when_open(path: Path) -> list[str]:
    """Open the memory as the next start does and compare its vectors with the table."""
    manager = manager_of(path)
    found = []
    try:
        await manager.open()
        await manager.wait_for_vectors()
        with closing(sqlite3.connect(path)) as connection:
            (without,) = connection.execute(_WITHOUT_VECTOR).fetchone()
            stored = connection.execute(
                "SELECT e.digest, m.summary, m.content"
                " FROM embeddings e JOIN memories m USING (sequence)"
            ).fetchall()
        stale = sum(
            digest != sha256(embedded_text(summary, content).encode()).digest()
            for digest, summary, content in stored
        )
        if without or stale or manager.vector_count != len(stored):
            found.append(
                f"{without} memories without a vector, {stale} with an old one,"
                f" {manager.vector_count} in the index, {len(stored)} in the table"
            )
    finally:
        await manager.close()
    return found
