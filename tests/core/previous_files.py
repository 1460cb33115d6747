"""Databases as the integration before this one wrote them, made from its schema row by row."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
import shutil
import sqlite3
from typing import Any, Final

SAMPLES: Final = Path(__file__).parent.parent / "data" / "previous_databases"

_FIRST: Final = """
    CREATE TABLE memories (
        id TEXT PRIMARY KEY, content TEXT, embedding TEXT, scope TEXT, agent_id TEXT,
        created_at TEXT, metadata TEXT
    );
"""
_SECOND: Final = """
    CREATE TABLE _meta (key TEXT PRIMARY KEY, value TEXT);
    INSERT INTO _meta VALUES ('db_version', '1'), ('embedding_dim', '4');
    CREATE TABLE memories (
        id TEXT PRIMARY KEY, content TEXT, embedding TEXT, scope TEXT, agent_id TEXT,
        created_at TEXT, summary TEXT, wing TEXT DEFAULT 'general', room TEXT DEFAULT 'general',
        layer INTEGER DEFAULT 2, updated_at TEXT, accessed_at TEXT, access_count INTEGER DEFAULT 0
    );
    CREATE TABLE knowledge_graph (
        id TEXT PRIMARY KEY, subject TEXT NOT NULL, relationship TEXT NOT NULL,
        object TEXT NOT NULL, valid_from TEXT, valid_to TEXT, confidence REAL DEFAULT 1.0,
        source_memory_id TEXT, created_at TEXT DEFAULT CURRENT_TIMESTAMP
    );
    CREATE TABLE palace_structure (
        wing TEXT NOT NULL, room TEXT NOT NULL, scope TEXT DEFAULT 'common',
        hall_connections TEXT DEFAULT '[]', tunnel_connections TEXT DEFAULT '[]',
        description TEXT, auto_assign_keywords TEXT DEFAULT '[]',
        created_at TEXT DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (wing, room)
    );
"""
_USUAL: Final[Mapping[str, Any]] = {
    "content": "The ladder is in the shed",
    "scope": "common",
    "agent_id": "ollama",
    "created_at": "2026-01-02T03:04:05.678901",
    "wing": "household",
    "room": "devices",
}


def sample(version: str, path: Path) -> Path:
    """Copy a sample to a path."""
    shutil.copyfile(SAMPLES / f"ai_memory-{version}.db", path)
    return path


@contextmanager
def second_schema(path: Path) -> Iterator[sqlite3.Connection]:
    """Make an empty database of 0.2.0, filled within the block."""
    with _made(path, _SECOND) as connection:
        yield connection


@contextmanager
def first_schema(path: Path) -> Iterator[sqlite3.Connection]:
    """Make an empty database of 0.0.x, filled within the block."""
    with _made(path, _FIRST) as connection:
        yield connection


def insert(connection: sqlite3.Connection, id_: object, **values: Any) -> None:
    """Insert a memory, with usual values where none are given."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(memories)")}
    usual = {name: value for name, value in _USUAL.items() if name in columns}
    row = {"id": id_, **usual, **values}
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO memories ({names}) VALUES ({marks})", tuple(row.values()))


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the memories of an old database as they stand there."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM memories ORDER BY rowid")]


@contextmanager
def _made(path: Path, schema: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(schema)
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
