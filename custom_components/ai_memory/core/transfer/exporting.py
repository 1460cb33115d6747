"""Writing memories out: page by page, so that the largest memory holds nobody up.

The manager calls ``export``. What a caller may not see is in no export; whose a memory is stands in
one only for its owner and for an administrator.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
import json
import re
from typing import Final

import aiosqlite

from .. import memories
from ..database import Database
from ..errors import InvalidInputError
from ..models import KEPT, Caller, Filters
from ..schema import SCHEMA_VERSION
from ..visibility import visible_to
from . import attached, export_rows, markdown, own, palace_lines
from .own import ExportedMemory
from .values import ExportFormat

PAGE_MEMORIES: Final = 100
PAGE_BYTES: Final = 700_000
"""A page of an export as JSON escapes it at the worst: an import of it is no request too large."""

_CURSOR: Final = re.compile(r"memory [0-9A-Za-z]{1,64} \d{4}|(place|tunnel) [^\x00-\x1f]{1,300}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an export, what orders it among all, and how long it is as JSON escapes it."""

    key: str
    text: str
    size: int
    begins_memory: bool


@dataclass(frozen=True, slots=True)
class ExportPage:
    """A part of an export that comes in by itself, how many memories it holds, and what is next."""

    text: str
    count: int
    next_cursor: str | None


async def export(
    database: Database,
    caller: Caller,
    filters: Filters,
    wanted: ExportFormat,
    now: datetime,
    *,
    all_owners: bool,
) -> AsyncIterator[tuple[str, int]]:
    """Return pieces of the export, each with how many memories it holds. Raises StorageError."""
    write = _jsonl if wanted is ExportFormat.JSONL else _markdown
    async for piece in write(database, caller, filters, now, all_owners=all_owners):
        yield piece


async def _jsonl(
    database: Database, caller: Caller, filters: Filters, now: datetime, *, all_owners: bool
) -> AsyncIterator[tuple[str, int]]:
    yield own.header(now, SCHEMA_VERSION), 0
    async for lines in jsonl_lines(database, caller, filters, all_owners=all_owners):
        yield "".join(line.text for line in lines), sum(line.begins_memory for line in lines)


async def jsonl_lines(
    database: Database, caller: Caller, filters: Filters, *, all_owners: bool, after: str = ""
) -> AsyncIterator[list[Line]]:
    """Return the lines of an export after the one with a key, in the order of their keys.

    Memories by id, then the palace: what comes or goes meanwhile moves no other line.
    """
    loop = asyncio.get_running_loop()
    clause = visible_to(caller, replace(filters, statuses=KEPT), all_owners=all_owners)
    first_id = after.split(" ")[1] if after.startswith(f"{palace_lines.MEMORY} ") else ""
    while after < palace_lines.PLACE:
        async with database.reading() as connection:
            page = await export_rows.page_from(connection, clause, first_id, PAGE_MEMORIES)
            page = await export_rows.with_replaced(connection, caller, page, all_owners=all_owners)
            if not all_owners:
                page = [_for_caller(caller, one) for one in await _seen(connection, caller, page)]
        lines = await loop.run_in_executor(None, _memory_lines, page, after)
        if not lines:
            break
        yield lines
        first_id, after = page[-1].memory.id, lines[-1].key
    async with database.reading() as connection:
        palace = await palace_lines.lines(connection, caller, filters, all_owners=all_owners)
    yield [_line(key, text) for key, text in palace if key > after]


async def page_of(lines: AsyncIterator[list[Line]], now: datetime, most: int) -> ExportPage:
    """Return as many lines as one page holds, at least one where there are any."""
    texts, size, count, last = [own.header(now, SCHEMA_VERSION)], 0, 0, ""
    async for batch in lines:
        for line in batch:
            size += line.size
            if size > most and last:
                return ExportPage("".join(texts), count, last)
            texts.append(line.text)
            count += line.begins_memory
            last = line.key
    return ExportPage("".join(texts), count, None)


def check_cursor(cursor: str | None) -> None:
    """Refuse what no page can have given as its end. Raises InvalidInputError."""
    if cursor is not None and not _CURSOR.fullmatch(cursor):
        raise InvalidInputError("invalid_cursor", field="cursor")


async def _markdown(
    database: Database, caller: Caller, filters: Filters, now: datetime, *, all_owners: bool
) -> AsyncIterator[tuple[str, int]]:
    yield markdown.title(now), 0
    async with database.reading() as connection:
        places = await export_rows.places(
            connection, visible_to(caller, filters, all_owners=all_owners)
        )
    before = None
    for wing, room in places:
        yield markdown.heading(wing if wing != before else None, room), 0
        before = wing
        there = replace(filters, wing=wing, room=room)
        async for page in _pages(database, caller, there, all_owners=all_owners):
            yield "".join(markdown.entry(one.memory) for one in page), len(page)


async def _pages(
    database: Database, caller: Caller, filters: Filters, *, all_owners: bool
) -> AsyncIterator[list[ExportedMemory]]:
    clause = visible_to(caller, filters, all_owners=all_owners)
    after = 0
    while True:
        async with database.reading() as connection:
            page = await export_rows.page(connection, clause, after, PAGE_MEMORIES)
            if not all_owners:
                page = await _seen(connection, caller, page)
        if not page:
            return
        after = page[-1].memory.sequence
        yield page


def _for_caller(caller: Caller, one: ExportedMemory) -> ExportedMemory:
    return replace(one, attached=attached.for_caller(caller, one.attached))


async def _seen(
    connection: aiosqlite.Connection, caller: Caller, page: list[ExportedMemory]
) -> list[ExportedMemory]:
    """Return memories without the ids of those that the caller may not see."""
    told = await memories.as_seen_by(connection, caller, [one.memory for one in page])
    return [replace(one, memory=memory) for one, memory in zip(page, told, strict=True)]


def _memory_lines(page: list[ExportedMemory], after: str) -> list[Line]:
    lines = []
    for one in page:
        for number, text in enumerate(own.lines_of(one)):
            key = f"{palace_lines.MEMORY} {one.memory.id} {number:04}"
            if key > after:
                lines.append(_line(key, text, begins_memory=not number))
    return lines


def _line(key: str, text: str, *, begins_memory: bool = False) -> Line:
    return Line(key, text, len(json.dumps(text)), begins_memory)
