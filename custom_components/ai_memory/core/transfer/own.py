"""Our own export: JSONL that comes back without a loss, and idempotently.

The first line says what the file is and which version; then each line is a memory with everything
that is stored of it, or has a ``kind`` (``palace_lines``). Times are ISO 8601 in UTC, to the
millisecond. A later version may add names; one that changes the meaning of a name raises
``VERSION``, and a reader that does not know it reads nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import json
from math import inf, isfinite
from typing import Any, Final

from ..models import DEFAULT_TYPE, MEMORY_TYPES, Layer, Memory, Scope, Status
from . import attached
from .json_lists import rows
from .palace_lines import KIND_KEY, MEMORY, read_palace
from .values import ImportedMemory, Item, Skipped, SkipReason, Usage

VERSION: Final = 1
HEADER_KEY: Final = "ai_memory_export"
PART_CHARACTERS: Final = 200_000
"""As much of what belongs to a memory as one line holds."""

_TEXT_LIMIT_CHARACTERS: Final = 255
_COUNT_LIMIT: Final = 2**53
REVISION_LIMIT: Final = 2**31
"""No memory is changed so often; far below what a caller can give as the one it read."""
_MOST_CONFIDENT: Final = 1 + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMemory:
    """A stored memory with what only an export tells of it."""

    memory: Memory
    layered: datetime
    superseded: datetime | None
    usage: Usage
    attached: attached.Attached
    supersedes: tuple[str, ...] = ()


def header(exported: datetime, schema: int) -> str:
    """Return the first line of an export."""
    told = {HEADER_KEY: VERSION, "exported": exported.isoformat(), "schema": schema}
    return _line(told)


def lines_of(one: ExportedMemory) -> list[str]:
    """Return a memory as lines of an export, more than one only where much belongs to it.

    Each holds all of the memory and a part of its lists, so that no line is too long to be read.
    """
    told = _told(one)
    return [_line(told | part) for part in _parts(attached.told(one.attached))]


def _parts(lists: Mapping[str, Sequence[object]]) -> Iterator[dict[str, object]]:
    part: dict[str, list[object]] = {}
    size = 0
    # Anchors come first: those who may not bring in the rest take the first line alone.
    for name in sorted(lists, key=lambda name: name != attached.ANCHORS.name):
        for row in lists[name]:
            length = len(json.dumps(row))
            if size and size + length > PART_CHARACTERS:
                yield dict(part)
                part, size = {}, 0
            part.setdefault(name, []).append(row)
            size += length
    yield dict(part)


def _told(one: ExportedMemory) -> dict[str, object]:
    memory, usage = one.memory, one.usage
    supersedes: dict[str, object] = {}
    if one.supersedes:
        supersedes["supersedes"] = list(one.supersedes)
    return {
        "id": memory.id,
        "content": memory.content,
        "summary": memory.summary,
        "wing": memory.wing,
        "room": memory.room,
        "scope": memory.scope.value,
        "owner_agent": memory.owner_agent,
        "owner_user": memory.owner_user,
        "layer": int(memory.layer),
        "pinned": memory.pinned,
        "type": memory.type,
        "status": memory.status.value,
        "confidence": memory.confidence,
        "revision": memory.revision,
        "language": memory.language,
        "source": memory.source,
        "created": _written(memory.created),
        "updated": _written(memory.updated),
        "layered": _written(one.layered),
        "expires": _written(memory.expires),
        "superseded_by": memory.superseded_by,
        "superseded": _written(one.superseded),
        "evidence": memory.evidence,
        "returned": usage.returned,
        "fetched": usage.fetched,
        "used": _written(usage.used),
        "last_returned": _written(usage.last_returned),
        "last_fetched": _written(usage.last_fetched),
    } | supersedes


def is_header(value: object) -> bool:
    """Return whether a line is the first one of an export."""
    return isinstance(value, Mapping) and HEADER_KEY in value


def read_own(text: str) -> Iterator[Item]:
    """Read one memory a line, each whole or not at all."""
    for line, value in rows(text):
        if isinstance(value, Skipped):
            yield value
        elif not isinstance(value, Mapping):
            yield Skipped(line, SkipReason.NOT_A_ROW)
        elif is_header(value):
            if value[HEADER_KEY] != VERSION:
                yield Skipped(line, SkipReason.NEWER_EXPORT)
                return
        elif value.get(KIND_KEY, MEMORY) != MEMORY:
            yield read_palace(line, value)
        else:
            yield _memory(line, value)


def _memory(line: int, row: Mapping[str, Any]) -> Item:
    if not isinstance(row.get("content"), str) or not isinstance(row.get("id"), str):
        return Skipped(line, SkipReason.NOT_A_MEMORY)
    try:
        if _number(row, "revision", 1, inf) > REVISION_LIMIT:
            return Skipped(line, SkipReason.REVISION)
        status = _status(row)
        # What still holds was replaced by nothing, or it would go with what it says replaced it.
        history = row if status is Status.SUPERSEDED else dict[str, Any]()
        return ImportedMemory(
            line=line,
            id=row["id"],
            content=row["content"],
            summary=_text(row, "summary") or "",
            wing=_text(row, "wing"),
            room=_text(row, "room"),
            scope=Scope(row["scope"]),
            owner_agent=_text(row, "owner_agent"),
            owner_user=_text(row, "owner_user"),
            layer=Layer(_number(row, "layer", Layer.STANDARD)),
            pinned=row.get("pinned") is True,
            type=_type(row),
            status=status,
            confidence=_share(row, "confidence"),
            evidence=_evidence(row),
            revision=max(_number(row, "revision", 1), 1),
            language=_text(row, "language"),
            source=_text(row, "source"),
            created=_moment(row, "created"),
            updated=_moment(row, "updated"),
            layered=_moment(row, "layered"),
            expires=_moment(row, "expires"),
            superseded_by=_text(history, "superseded_by"),
            superseded=_moment(history, "superseded"),
            supersedes=_ids(row, "supersedes"),
            usage=Usage(
                returned=_number(row, "returned", 0),
                fetched=_number(row, "fetched", 0),
                used=_moment(row, "used"),
                last_returned=_moment(row, "last_returned"),
                last_fetched=_moment(row, "last_fetched"),
            ),
            attached=attached.parsed(row),
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return Skipped(line, SkipReason.INVALID_VALUE)


def _line(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")


def _status(row: Mapping[str, Any]) -> Status:
    """Return the status; what was forgotten comes back with no import."""
    status = Status(row.get("status", Status.ACTIVE))
    if status is Status.DELETED:
        raise ValueError
    return status


def _type(row: Mapping[str, object]) -> str:
    value = row.get("type", DEFAULT_TYPE)
    if not isinstance(value, str) or value not in MEMORY_TYPES:
        raise ValueError
    return value


def _text(row: Mapping[str, object], name: str) -> str | None:
    value = row.get(name)
    if value is None:
        return None
    # The summary has a limit of its own, which is checked with those of other formats.
    if not isinstance(value, str) or (name != "summary" and len(value) > _TEXT_LIMIT_CHARACTERS):
        raise ValueError
    return value


def _ids(row: Mapping[str, object], name: str) -> tuple[str, ...]:
    listed = row.get(name, [])
    if not isinstance(listed, list) or len(listed) > attached.ROWS_LIMIT:
        raise ValueError
    if not all(isinstance(one, str) and len(one) <= _TEXT_LIMIT_CHARACTERS for one in listed):
        raise ValueError
    return tuple(listed)


def _number(row: Mapping[str, object], name: str, missing: int, limit: float = _COUNT_LIMIT) -> int:
    value = row.get(name, missing)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
        raise ValueError
    return value


def _share(row: Mapping[str, object], name: str) -> float:
    value = row.get(name, 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    if not isfinite(value) or not 0 <= value <= 1:
        raise ValueError
    return float(value)


def _evidence(row: Mapping[str, object]) -> float:
    """Return the evidence, which makes no confidence larger than 1."""
    value = row.get("evidence", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    if not isfinite(value) or value < 0 or value * _share(row, "confidence") > _MOST_CONFIDENT:
        raise ValueError
    return float(value)


def _moment(row: Mapping[str, object], name: str) -> datetime | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError
    return attached.moment_of(value)
