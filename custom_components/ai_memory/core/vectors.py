"""The repository of stored vectors: float32 blobs beside their memories.

Called by the manager inside a transaction, and by the index loader through a connection of its own.
A vector belongs to the fingerprint of the engine that made it; two fingerprints never mix.
"""

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
import sqlite3
from typing import Final

import aiosqlite
import numpy as np

from ..embedding.protocol import FloatMatrix
from .vector_index import Sequences, Vector

LOAD_BATCH_ROWS: Final = 4096

_STORE: Final = """
    INSERT INTO embeddings (sequence, fingerprint, vector) VALUES (?, ?, ?)
    ON CONFLICT (sequence) DO UPDATE SET
        fingerprint = excluded.fingerprint, vector = excluded.vector
"""
_STORE_FOR_REVISION: Final = """
    INSERT INTO embeddings (sequence, fingerprint, vector)
    SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM memories WHERE sequence = ? AND revision = ?)
    ON CONFLICT (sequence) DO UPDATE SET
        fingerprint = excluded.fingerprint, vector = excluded.vector
"""
_MISSING: Final = """
    SELECT m.sequence, m.revision, m.content FROM memories m
    LEFT JOIN embeddings e ON e.sequence = m.sequence AND e.fingerprint = :fingerprint
    WHERE e.sequence IS NULL AND m.sequence > :after
    ORDER BY m.sequence LIMIT :limit
"""
_CONTENTS: Final = "SELECT content FROM memories ORDER BY sequence"
_LOAD: Final = """
    SELECT sequence, vector FROM embeddings WHERE fingerprint = ? ORDER BY sequence
"""


async def store(
    connection: aiosqlite.Connection, sequence: int, fingerprint: str, vector: Vector
) -> None:
    """Store or replace the vector of a memory."""
    await connection.execute(_STORE, (sequence, fingerprint, vector.tobytes()))


async def replace(
    connection: aiosqlite.Connection, sequence: int, fingerprint: str, vector: Vector | None
) -> None:
    """Store the vector of a changed text, or drop the old one when there is none yet."""
    await connection.execute("DELETE FROM embeddings WHERE sequence = ?", (sequence,))
    if vector is not None:
        await store(connection, sequence, fingerprint, vector)


async def store_for_revision(
    connection: aiosqlite.Connection,
    sequence: int,
    revision: int,
    fingerprint: str,
    vector: Vector,
) -> bool:
    """Store a vector unless the memory changed or went; returns whether it was stored."""
    cursor = await connection.execute(
        _STORE_FOR_REVISION, (sequence, fingerprint, vector.tobytes(), sequence, revision)
    )
    return cursor.rowcount > 0


async def missing(
    connection: aiosqlite.Connection, fingerprint: str, after: int, limit: int
) -> list[tuple[int, int, str]]:
    """Return sequence, revision and content of memories without a current vector."""
    rows = await connection.execute_fetchall(
        _MISSING, {"fingerprint": fingerprint, "after": after, "limit": limit}
    )
    return [(sequence, revision, content) for sequence, revision, content in rows]


def load(path: Path, fingerprint: str) -> Generator[tuple[Sequences, FloatMatrix]]:
    """Yield sequences and their vectors in batches, one row a memory; blocking.

    Rows of another dimension than the first are left out: they cannot be compared.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
        cursor = connection.execute(_LOAD, (fingerprint,))
        size = 0
        while rows := cursor.fetchmany(LOAD_BATCH_ROWS):
            size = size or len(rows[0][1])
            fitting = [row for row in rows if len(row[1]) == size]
            yield _batch(fitting, size)


def _batch(rows: Sequence[tuple[int, bytes]], size: int) -> tuple[Sequences, FloatMatrix]:
    sequences = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    joined = b"".join(row[1] for row in rows)
    return sequences, np.frombuffer(joined, np.float32).reshape(len(rows), size // 4)


def load_contents(path: Path) -> list[str]:
    """Return the content of every memory; blocking."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return [content for (content,) in connection.execute(_CONTENTS)]
