"""The repository of stored vectors: float32 blobs beside their memories.

Called by the writer inside a transaction, and by the index loader through a connection of its own.
A vector belongs to the fingerprint of the engine that made it, two fingerprints never mix, and to
the digest of its text, so that the same text is never embedded twice.
"""

from collections.abc import Collection, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
import json
from pathlib import Path
import sqlite3
from typing import Final

import aiosqlite
import numpy as np

from ..embedding.protocol import FloatMatrix
from .database import storage_error
from .vector_blocks import Part, Sequences, Vector

FETCHED_ROWS: Final = 512
"""Fetched at once: few enough that no other thread waits for the interpreter."""

_FLOAT_BYTES: Final = 4

SAMPLED_ROWS: Final = 2_048
"""Enough for the mean of all."""

_STORE: Final = """
    INSERT INTO embeddings (sequence, fingerprint, digest, vector)
    SELECT :sequence, :fingerprint, :digest, :vector
    WHERE EXISTS (SELECT 1 FROM memories WHERE sequence = :sequence AND revision = :revision)
    ON CONFLICT (sequence) DO UPDATE SET
        fingerprint = excluded.fingerprint, digest = excluded.digest, vector = excluded.vector
"""
_KNOWN: Final = "SELECT vector FROM embeddings WHERE digest = ? AND fingerprint = ? LIMIT 1"
# As ``models.embedded_text`` says.
_TEXT: Final = """
    iif(instr(m.content, m.summary) = 1, m.content, m.summary || char(10) || m.content)
"""
_MISSING: Final = f"""
    SELECT m.sequence, m.revision, {_TEXT} FROM memories m
    LEFT JOIN embeddings e ON e.sequence = m.sequence AND e.fingerprint = :fingerprint
    WHERE e.sequence IS NULL AND m.sequence > :after AND m.status <> 'deleted'
    ORDER BY m.sequence LIMIT :limit
"""
_MISSING_COUNT: Final = """
    SELECT (SELECT count(*) FROM memories)
        - (SELECT count(*) FROM memories WHERE deleted_ms IS NOT NULL)
        - (SELECT count(*) FROM embeddings WHERE fingerprint = ?)
"""
_COMMON_TEXTS: Final = f"""
    SELECT {_TEXT} FROM memories m
    WHERE scope = 'common' AND status IN ('active', 'candidate') ORDER BY sequence
"""
_MISSING_AMONG: Final = f"""
    SELECT m.sequence, m.revision, {_TEXT} FROM json_each(:sequences) wanted
    CROSS JOIN memories m ON m.sequence = wanted.value
    LEFT JOIN embeddings e ON e.sequence = m.sequence AND e.fingerprint = :fingerprint
    WHERE e.sequence IS NULL AND m.status <> 'deleted'
"""
_CURRENT_COUNT: Final = "SELECT count(*) FROM embeddings WHERE fingerprint = ?"
# The digest of a text is as good as random: its index gives a sample of all.
_SAMPLE: Final = """
    SELECT vector FROM embeddings WHERE fingerprint = ? ORDER BY digest LIMIT ?
"""
_FIRST_SIZE: Final = """
    SELECT length(vector) FROM embeddings WHERE fingerprint = ? ORDER BY sequence LIMIT 1
"""
# One row however many vectors: between two rows another thread could take the interpreter away.
_JOINED: Final = """
    json_group_array(sequence) FILTER (WHERE length(vector) = :size),
    CAST(group_concat(vector, '') FILTER (WHERE length(vector) = :size) AS BLOB)
"""
_LOAD: Final = f"""
    SELECT {_JOINED},
        json_group_array(sequence) FILTER (WHERE length(vector) <> :size), max(sequence)
    FROM (
        SELECT sequence, vector FROM embeddings
        WHERE fingerprint = :fingerprint AND sequence > :after ORDER BY sequence LIMIT :limit
    )
"""
_READ: Final = f"""
    SELECT {_JOINED} FROM json_each(:sequences) wanted
    CROSS JOIN embeddings ON sequence = wanted.value WHERE fingerprint = :fingerprint
"""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory without a current vector, at the revision that was read."""

    sequence: int
    revision: int
    text: str


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()


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
            "digest": _digest(memory.text),
            "vector": np.asarray(vector, np.float32).tobytes(),
        },
    )
    return cursor.rowcount > 0


async def discard(connection: aiosqlite.Connection, *sequences: int) -> None:
    """Drop the vectors of memories that changed their text or were forgotten."""
    listed = (json.dumps(sequences),)
    await connection.execute(
        "DELETE FROM embeddings WHERE sequence IN (SELECT value FROM json_each(?))", listed
    )


async def known(connection: aiosqlite.Connection, text: str, fingerprint: str) -> Vector | None:
    """Return the vector that the same text already has, if any."""
    rows = list(await connection.execute_fetchall(_KNOWN, (_digest(text), fingerprint)))
    return np.frombuffer(rows[0][0], np.float32) if rows else None


async def missing(
    connection: aiosqlite.Connection, fingerprint: str, after: int, limit: int
) -> list[Unembedded]:
    """Return the next memories without a current vector, in order of their sequence."""
    rows = await connection.execute_fetchall(
        _MISSING, {"fingerprint": fingerprint, "after": after, "limit": limit}
    )
    return [Unembedded(*row) for row in rows]


async def missing_among(
    connection: aiosqlite.Connection, fingerprint: str, sequences: Collection[int]
) -> list[Unembedded]:
    """Return which of some memories have no current vector."""
    parameters = {"fingerprint": fingerprint, "sequences": json.dumps(list(sequences))}
    rows = await connection.execute_fetchall(_MISSING_AMONG, parameters)
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


def current_count(path: Path, fingerprint: str) -> int:
    """Return how many current vectors are stored; blocking. Raises StorageError."""
    with _reading(path) as connection:
        return int(connection.execute(_CURRENT_COUNT, (fingerprint,)).fetchone()[0])


def mean(path: Path, fingerprint: str) -> Vector | None:
    """Return the mean of a sample of the current vectors, None without any; blocking.

    Raises StorageError.
    """
    with _reading(path) as connection:
        size = _first_size(connection, fingerprint)
        rows = connection.execute(_SAMPLE, (fingerprint, SAMPLED_ROWS)).fetchall()
    alike = [blob for (blob,) in rows if len(blob) == size]
    if not alike:
        return None
    average: Vector = _matrix(b"".join(alike), size).mean(axis=0)
    return average


def load(path: Path, fingerprint: str) -> Generator[Part]:
    """Yield all current vectors in order of sequence, some at a time; blocking.

    Rows of another dimension than the first are left out: they cannot be compared. What is written
    meanwhile may be among them or not. Raises StorageError.
    """
    with _reading(path) as connection:
        size = _first_size(connection, fingerprint)
        if not size:
            # What comes from now on would be of another dimension than none: writes bring it.
            return
        wanted = {"fingerprint": fingerprint, "size": size, "limit": FETCHED_ROWS}
        last = 0
        while True:
            rows = connection.execute(_LOAD, wanted | {"after": last})
            listed, joined, others, last = rows.fetchone()
            if last is None:
                return
            yield Part(_sequences(listed), _matrix(joined, size), json.loads(others))


def read(
    path: Path, fingerprint: str, sequences: Collection[int], dimensions: int
) -> tuple[Sequences, FloatMatrix]:
    """Return the current vectors of some memories, those that have one; blocking.

    Raises StorageError.
    """
    size, listed = dimensions * _FLOAT_BYTES, json.dumps(list(sequences))
    wanted = {"fingerprint": fingerprint, "size": size, "sequences": listed}
    with _reading(path) as connection:
        found, joined = connection.execute(_READ, wanted).fetchone()
    return _sequences(found), _matrix(joined, size)


def load_common_texts(path: Path) -> list[str]:
    """Return what is embedded of every live common memory; blocking. Raises StorageError."""
    with _reading(path) as connection:
        return [text for (text,) in connection.execute(_COMMON_TEXTS)]


@contextmanager
def _reading(path: Path) -> Generator[sqlite3.Connection]:
    """Lend a connection for one read: opening one is cheap, and none outlives the memory."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
            yield connection
    except sqlite3.Error as err:
        raise storage_error(err, path) from err


def _first_size(connection: sqlite3.Connection, fingerprint: str) -> int:
    row = connection.execute(_FIRST_SIZE, (fingerprint,)).fetchone()
    return int(row[0]) if row else 0


def _sequences(json_array: str) -> Sequences:
    return np.array(json.loads(json_array), np.int64)


def _matrix(joined: bytes | None, size: int) -> FloatMatrix:
    """Return the vectors of so many bytes each that were joined, None being none."""
    return np.frombuffer(joined or b"", np.float32).reshape(-1, max(1, size // _FLOAT_BYTES))
