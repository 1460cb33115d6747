"""The repository of stored vectors: float32 blobs beside their memories.

Called by the writer inside a transaction, and by the index loader through a connection of its own.
A vector belongs to the fingerprint of the engine that made it, two fingerprints never mix, and to
the digest of its text, so that the same text is never embedded twice.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
import sqlite3
from typing import Final

import aiosqlite
import numpy as np

from ..embedding.protocol import FloatMatrix
from .vector_index import BLOCK_ROWS, FREE, Sequences, Vector

FETCHED_ROWS: Final = 256
"""Fetched at once: few enough that no other thread waits for the interpreter."""

_STORE: Final = """
    INSERT INTO embeddings (sequence, fingerprint, digest, vector)
    SELECT :sequence, :fingerprint, :digest, :vector
    WHERE EXISTS (SELECT 1 FROM memories WHERE sequence = :sequence AND revision = :revision)
    ON CONFLICT (sequence) DO UPDATE SET
        fingerprint = excluded.fingerprint, digest = excluded.digest, vector = excluded.vector
"""
_KNOWN: Final = "SELECT vector FROM embeddings WHERE digest = ? AND fingerprint = ? LIMIT 1"
_MISSING: Final = """
    SELECT m.sequence, m.revision, m.content FROM memories m
    LEFT JOIN embeddings e ON e.sequence = m.sequence AND e.fingerprint = :fingerprint
    WHERE e.sequence IS NULL AND m.sequence > :after
    ORDER BY m.sequence LIMIT :limit
"""
_MISSING_COUNT: Final = """
    SELECT (SELECT count(*) FROM memories)
        - (SELECT count(*) FROM embeddings WHERE fingerprint = ?)
"""
_COMMON_CONTENTS: Final = """
    SELECT content FROM memories WHERE scope = 'common' ORDER BY sequence
"""
_LOAD: Final = """
    SELECT sequence, vector FROM embeddings WHERE fingerprint = ? ORDER BY sequence
"""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory without a current vector, at the revision that was read."""

    sequence: int
    revision: int
    content: str


def _digest(content: str) -> bytes:
    return sha256(content.encode()).digest()


async def store(
    connection: aiosqlite.Connection, memory: Unembedded, fingerprint: str, vector: Vector
) -> bool:
    """Store the vector of a memory unless it changed or went; returns whether it was stored."""
    cursor = await connection.execute(
        _STORE,
        {
            "sequence": memory.sequence,
            "revision": memory.revision,
            "fingerprint": fingerprint,
            "digest": _digest(memory.content),
            "vector": np.asarray(vector, np.float32).tobytes(),
        },
    )
    return cursor.rowcount > 0


async def discard(connection: aiosqlite.Connection, sequence: int) -> None:
    """Drop the vector of a memory whose text changed."""
    await connection.execute("DELETE FROM embeddings WHERE sequence = ?", (sequence,))


async def known(connection: aiosqlite.Connection, content: str, fingerprint: str) -> Vector | None:
    """Return the vector that the same text already has, if any."""
    rows = list(await connection.execute_fetchall(_KNOWN, (_digest(content), fingerprint)))
    return np.frombuffer(rows[0][0], np.float32) if rows else None


async def missing(
    connection: aiosqlite.Connection, fingerprint: str, after: int, limit: int
) -> list[Unembedded]:
    """Return the next memories without a current vector, in order of their sequence."""
    rows = await connection.execute_fetchall(
        _MISSING, {"fingerprint": fingerprint, "after": after, "limit": limit}
    )
    return [Unembedded(*row) for row in rows]


async def missing_count(connection: aiosqlite.Connection, fingerprint: str) -> int:
    """Return how many memories have no current vector."""
    rows = await connection.execute_fetchall(_MISSING_COUNT, (fingerprint,))
    return int(next(iter(rows))[0])


async def fingerprints(connection: aiosqlite.Connection) -> list[str]:
    """Return the fingerprints of stored vectors, the most frequent first."""
    rows = await connection.execute_fetchall(
        "SELECT fingerprint FROM embeddings GROUP BY 1 ORDER BY count(*) DESC"
    )
    return [row[0] for row in rows]


def load(path: Path, fingerprint: str) -> Generator[tuple[Sequences, FloatMatrix]]:
    """Yield sequences and their vectors a block at a time, -1 for a row without one; blocking.

    Rows of another dimension than the first are left out: they cannot be compared.
    """
    with closing(_connect(path)) as connection:
        cursor = connection.execute(_LOAD, (fingerprint,))
        rows = cursor.fetchmany(FETCHED_ROWS)
        size = len(rows[0][1]) if rows else 0
        while rows:
            sequences = np.full(BLOCK_ROWS, FREE, np.int64)
            block = np.zeros((BLOCK_ROWS, size // 4), np.float32)
            filled = 0
            while rows and filled + len(rows) <= BLOCK_ROWS:
                for sequence, blob in rows:
                    if len(blob) == size:
                        block[filled] = np.frombuffer(blob, np.float32)
                        sequences[filled] = sequence
                        filled += 1
                rows = cursor.fetchmany(FETCHED_ROWS)
            yield sequences, block


def load_common_contents(path: Path) -> list[str]:
    """Return the content of every common memory; blocking."""
    with closing(_connect(path)) as connection:
        return [content for (content,) in connection.execute(_COMMON_CONTENTS)]


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, check_same_thread=False)
