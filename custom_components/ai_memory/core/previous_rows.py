"""What the database of the integration before this one holds, read as values that this one takes.

``previous_database`` asks which version wrote a file, ``previous_build`` reads its memories and
rooms. All functions block, run in a worker thread and only ever read. Nothing is refused here: the
limits of ``text_input`` are for callers, and a memory that somebody already has is kept whole.

What becomes of each column and table, beyond those with an obvious counterpart:

- ``agent_id`` owns a private memory; of a common one it is what the audit names.
- a scope other than ``common`` was never shown to anybody but its agent: it is private.
- ``accessed_at`` and ``access_count`` become the usage of the memory.
- ``embedding`` stays only where the configured engine proved to make the same vectors. It was made
  from the summary where there was one, while ours are made from the content.
- ``metadata`` (0.0.x) only repeats other columns; ``_meta`` holds a version and a dimension.
- ``palace_structure`` gives the rooms and the scopes of wings. Its keywords, descriptions, halls
  and tunnels, and the ``knowledge_graph``, that integration never used: they stay in the backup.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import count
import json
from math import isfinite
import re
import sqlite3
from typing import Any, Final

import numpy as np
from slugify import slugify

from . import palace
from .errors import AiMemoryError
from .models import Layer, Scope
from .text_input import NAME_LIMIT_CHARACTERS, check_id, place_name
from .vector_blocks import Vector

UNKNOWN_AGENT: Final = "unknown_agent"
"""The owner that the integration before wrote down itself where it knew none."""

_FIRST_COLUMNS: Final = frozenset({"id", "content", "embedding", "scope", "agent_id", "created_at"})
_LATER_COLUMNS: Final = frozenset(
    {"summary", "wing", "room", "layer", "updated_at", "accessed_at", "access_count"}
)
_PALACE_COLUMNS: Final = frozenset(
    {
        "wing",
        "room",
        "scope",
        "hall_connections",
        "tunnel_connections",
        "description",
        "auto_assign_keywords",
        "created_at",
    }
)
_GRAPH_COLUMNS: Final = frozenset(
    {
        "id",
        "subject",
        "relationship",
        "object",
        "valid_from",
        "valid_to",
        "confidence",
        "source_memory_id",
        "created_at",
    }
)
_META_COLUMNS: Final = frozenset({"key", "value"})
_TABLES: Final = {
    "memories": (_FIRST_COLUMNS, _FIRST_COLUMNS | _LATER_COLUMNS | {"metadata"}),
    "_meta": (_META_COLUMNS, _META_COLUMNS),
    "palace_structure": (_PALACE_COLUMNS, _PALACE_COLUMNS),
    "knowledge_graph": (_GRAPH_COLUMNS, _GRAPH_COLUMNS),
}
"""The columns that each table must have, and those it may have."""

_SECOND_SCHEMA: Final = "1"
FIRST_VERSION: Final = "0.0"
SECOND_VERSION: Final = "0.2.0"

_MEMORY_COLUMNS: Final = (
    "id",
    "content",
    "scope",
    "agent_id",
    "created_at",
    "summary",
    "wing",
    "room",
    "layer",
    "updated_at",
    "accessed_at",
    "access_count",
    "embedding",
)
_NAMED_TABLES: Final = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
"""
_ROOMS: Final = "SELECT wing, room, scope, created_at FROM palace_structure ORDER BY rowid"
# What that integration created by itself does not count.
_LEFT_BEHIND: Final = {
    "knowledge_graph": "SELECT count(*) FROM knowledge_graph",
    "palace_structure": """
        SELECT count(*) FROM palace_structure
        WHERE coalesce(hall_connections, '[]') <> '[]' OR coalesce(tunnel_connections, '[]') <> '[]'
            OR coalesce(description, '') <> ''
    """,
}

# Numbers beyond this are milliseconds: in seconds it is the year 5138.
_SECONDS_MAXIMUM: Final = 1e11
_LAST_MS: Final = 253_402_300_799_999
_MARKS: Final = re.compile("([\u0300-\u036f]{16})[\u0300-\u036f]+")
_UNREADABLE: Final = "\ufffd"
_ID_DIGEST_BYTES: Final = 16
_NAME_DIGEST_BYTES: Final = 4
_COUNT_MAXIMUM: Final = 2**53
# A model fills nearly every place; word statistics, to which that integration fell back, few.
_LEAST_FILLED: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVectors:
    """Under which fingerprint stored vectors of so many dimensions are still valid."""

    fingerprint: str
    dimensions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousMemory:
    """One row, as this memory holds it; ``teller`` is the agent that stored it, if known."""

    id: str
    renamed: bool
    content: str
    summary: str
    wing: str
    room: str
    scope: Scope
    owner: str | None
    teller: str | None
    layer: Layer
    created_ms: int
    updated_ms: int
    used_ms: int | None
    uses: int
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousRoom:
    """A room that somebody may have made without storing anything in it yet."""

    wing: str
    room: str
    scope: Scope
    created_ms: int


def version_of(connection: sqlite3.Connection) -> str | None:
    """Return which version wrote this database, None if not every part of it is known."""
    for pragma in ("application_id", "user_version"):
        if connection.execute(f"PRAGMA {pragma}").fetchone()[0] != 0:
            return None
    tables = {name for (name,) in connection.execute(_NAMED_TABLES)}
    if "memories" not in tables or not tables <= _TABLES.keys():
        return None
    for table in tables:
        least, most = _TABLES[table]
        if not least <= set(_columns(connection, table)) <= most:
            return None
    if "_meta" not in tables or (marker := _schema_marker(connection)) is None:
        return FIRST_VERSION
    complete = set(_columns(connection, "memories")) >= _LATER_COLUMNS
    return SECOND_VERSION if marker == _SECOND_SCHEMA and complete else None


def readable(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Let a connection return texts whatever bytes they hold."""
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def count_memories(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many rows there are, and how many of them are common."""
    row = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE scope = 'common') FROM memories"
    ).fetchone()
    return row[0], row[1]


def left_behind(connection: sqlite3.Connection) -> int:
    """Return how many rows of other tables hold something that only the backup keeps."""
    tables = {name for (name,) in connection.execute(_NAMED_TABLES)}
    return sum(
        connection.execute(sql).fetchone()[0]
        for table, sql in _LEFT_BEHIND.items()
        if table in tables
    )


def read_memories(
    connection: sqlite3.Connection, kept: KeptVectors | None, now_ms: int
) -> Iterator[PreviousMemory]:
    """Yield every memory in the order in which they were stored."""
    present = set(_columns(connection, "memories")) - (set() if kept else {"embedding"})
    chosen = ", ".join(name if name in present else "NULL" for name in _MEMORY_COLUMNS)
    ids = _Ids(connection)
    for rowid, *row in connection.execute(f"SELECT rowid, {chosen} FROM memories ORDER BY rowid"):
        yield _memory(ids, rowid, row, kept, now_ms)


def read_rooms(connection: sqlite3.Connection, now_ms: int) -> list[PreviousRoom]:
    """Return the rooms that exist, with or without memories."""
    if not _columns(connection, "palace_structure"):
        return []
    rooms = []
    for raw_wing, raw_room, scope, created in connection.execute(_ROOMS):
        wing, room = _place_name(raw_wing, "wing"), _place_name(raw_room, "room")
        if wing and room:
            rooms.append(
                PreviousRoom(
                    wing=wing,
                    room=room,
                    scope=Scope.PRIVATE if scope == Scope.PRIVATE else Scope.COMMON,
                    created_ms=_coalesce(_milliseconds(created, naive_is_utc=True), now_ms),
                )
            )
    return rooms


def sample_vectors(connection: sqlite3.Connection, size: int) -> list[tuple[str, Vector]]:
    """Return some contents with the vectors of a model made from them, spread over all the time.

    The first and the last are always among them: whoever changed the model left the older vectors
    at the beginning.
    """
    summary = "summary" if "summary" in _columns(connection, "memories") else "''"
    rowids = [
        rowid
        for (rowid,) in connection.execute(
            "SELECT rowid FROM memories WHERE length(embedding) > 2"
            f" AND coalesce({summary}, '') = '' AND coalesce(content, '') <> '' ORDER BY rowid"
        )
    ]
    steps = np.linspace(0, len(rowids) - 1, min(size, len(rowids))).astype(int)
    samples = []
    for step in steps.tolist():
        content, embedding = connection.execute(
            "SELECT content, embedding FROM memories WHERE rowid = ?", (rowids[step],)
        ).fetchone()
        if (vector := _vector(embedding)) is not None:
            samples.append((_text(content), vector))
    return samples


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})")]


def _schema_marker(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM _meta WHERE key = 'db_version'").fetchone()
    return None if row is None else str(row[0])


def _memory(
    ids: "_Ids", rowid: int, row: Sequence[Any], kept: KeptVectors | None, now_ms: int
) -> PreviousMemory:
    id_, content, scope, agent, created, summary, wing, room, layer, updated, used, uses, raw = row
    text, keywords, teller = _text(content), _text(summary), _text(agent) or None
    shared = scope == Scope.COMMON
    moments = [_milliseconds(moment) for moment in (created, updated, used)]
    created_ms = next((moment for moment in moments if moment is not None), now_ms)
    place = palace.choose_place(
        _place_name(wing, "wing"), _place_name(room, "room"), f"{text} {keywords}"
    )
    new_id = ids.of(id_, rowid)
    return PreviousMemory(
        id=new_id,
        renamed=new_id != id_,
        content=text,
        summary=keywords,
        wing=place[0],
        room=place[1],
        scope=Scope.COMMON if shared else Scope.PRIVATE,
        owner=None if shared else teller or UNKNOWN_AGENT,
        teller=teller,
        layer=_layer(layer),
        created_ms=created_ms,
        updated_ms=_coalesce(moments[1], created_ms),
        used_ms=moments[2],
        uses=_uses(uses),
        vector=_vector(raw, kept.dimensions) if kept and not keywords else None,
    )


class _Ids:
    """Gives every row an id that can be asked for, the same one each time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Note the ids that stay, which no other row may get."""
        admitted = (id_ for (id_,) in connection.execute("SELECT id FROM memories"))
        self._taken = {id_ for id_ in admitted if _is_id(id_)}

    def of(self, old: object, rowid: int) -> str:
        """Return the id itself, else without its hyphens, else a digest of it."""
        if _is_id(old):
            return str(old)
        for new in self._candidates(_text(old) or f"row {rowid}"):
            if new not in self._taken and _is_id(new):
                self._taken.add(new)
                return new
        raise AssertionError  # There is always another digest.

    @staticmethod
    def _candidates(old: str) -> Iterator[str]:
        yield old.replace("-", "")
        for attempt in count():
            key = f"{old}\0{attempt}".encode()
            yield blake2b(key, digest_size=_ID_DIGEST_BYTES).hexdigest()


def _is_id(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        check_id(value)
    except AiMemoryError:
        return False
    return True


def _text(value: object) -> str:
    """Return a value as text that every part of the memory can work with.

    What cannot be read becomes a sign that says so, and of a heap of accents 16 stay.
    """
    if value is None:
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return _MARKS.sub(r"\1", text.replace("\x00", _UNREADABLE))


def _place_name(value: object, field: str) -> str | None:
    """Return the name as the palace writes it; one that it would refuse stays recognisable."""
    name = _text(value).strip()
    try:
        return place_name(name, field)
    except AiMemoryError:
        digest = blake2b(name.encode(), digest_size=_NAME_DIGEST_BYTES).hexdigest()
        slug = slugify(name, separator="_", max_length=NAME_LIMIT_CHARACTERS - len(digest) - 1)
        return f"{slug or field}_{digest}"


def _layer(value: object) -> Layer:
    """Return the layer; what that integration called layer 0 is at least critical."""
    if not isinstance(value, int):
        return Layer.STANDARD
    return Layer(min(max(value, Layer.CRITICAL), Layer.ARCHIVE))


def _uses(value: object) -> int:
    return min(max(value, 0), _COUNT_MAXIMUM) if isinstance(value, int) else 0


def _milliseconds(value: object, *, naive_is_utc: bool = False) -> int | None:
    """Return a moment written in ISO 8601 or as seconds or milliseconds since 1970.

    That integration wrote the local time of the machine without a zone, SQLite itself UTC.
    """
    try:
        seconds = _seconds(value, naive_is_utc=naive_is_utc)
        milliseconds = round(seconds * 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return milliseconds if 0 <= milliseconds <= _LAST_MS else None


def _seconds(value: object, *, naive_is_utc: bool) -> float:
    if isinstance(value, str):
        with suppress(ValueError):
            moment = datetime.fromisoformat(value.strip())
            if naive_is_utc and moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return moment.timestamp()
    if not isinstance(value, str | int | float):
        raise ValueError("not a moment")  # noqa: TRY004 - nobody made a mistake
    number = float(value)
    return number / 1000 if abs(number) > _SECONDS_MAXIMUM else number


def _coalesce(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _vector(raw: object, dimensions: int | None = None) -> Vector | None:
    """Return a stored vector in unit length, None if no model can have made it."""
    try:
        numbers = np.asarray(json.loads(_text(raw)), np.float64)
    except (ValueError, TypeError, RecursionError, OverflowError):
        return None
    if numbers.ndim != 1 or not numbers.size or dimensions not in {None, numbers.size}:
        return None
    length = float(np.linalg.norm(numbers))
    if not isfinite(length) or np.count_nonzero(numbers) < _LEAST_FILLED * numbers.size:
        return None
    vector: Vector = (numbers / length).astype(np.float32)
    return vector
