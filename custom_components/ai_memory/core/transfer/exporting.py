"""Writing memories out: page by page, so that the largest memory holds nobody up.

The manager calls ``export``. What a caller may not see is in no export; whose a memory is stands in
one only for its owner and for an administrator.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from .. import memories
from ..database import Database
from ..models import KEPT, Caller, Filters
from ..schema import SCHEMA_VERSION
from ..visibility import visible_to
from . import attached, markdown, own, palace_lines, repository
from .own import ExportedMemory
from .values import ExportFormat

PAGE_MEMORIES: Final = 100


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
    loop = asyncio.get_running_loop()
    yield own.header(now, SCHEMA_VERSION), 0
    wanted = replace(filters, statuses=KEPT)
    async for page in _pages(database, caller, wanted, all_owners=all_owners):
        told = page if all_owners else [_for_caller(caller, one) for one in page]
        yield await loop.run_in_executor(None, _lines, told), len(page)
    async with database.reading() as connection:
        palace = await palace_lines.lines(connection, caller, filters, all_owners=all_owners)
    yield "".join(line for _, line in palace), 0


async def _markdown(
    database: Database, caller: Caller, filters: Filters, now: datetime, *, all_owners: bool
) -> AsyncIterator[tuple[str, int]]:
    yield markdown.title(now), 0
    async with database.reading() as connection:
        places = await repository.places(
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
            page = await repository.page(connection, clause, after, PAGE_MEMORIES)
            if not all_owners:
                told = await memories.as_seen_by(connection, caller, [one.memory for one in page])
                pairs = zip(page, told, strict=True)
                page = [replace(one, memory=memory) for one, memory in pairs]
        if not page:
            return
        after = page[-1].memory.sequence
        yield page


def _for_caller(caller: Caller, one: ExportedMemory) -> ExportedMemory:
    return replace(one, attached=attached.for_caller(caller, one.attached))


def _lines(page: list[ExportedMemory]) -> str:
    return "".join(own.line_of(one) for one in page)
