"""Whole memories going out and coming in.

The manager owns the one ``Transfers``; operations call it there. Each batch of an import is a
transaction of ``commits``, like every other write.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial

from ..cleaning import cleaned_filters
from ..commits import Commits
from ..database import Database
from ..memories import milliseconds
from ..models import Caller, Filters
from ..screen import Strictness
from ..transaction import Transaction, Written
from . import repository
from .asking import ImportReport, ImportRequest
from .exporting import (
    PAGE_BYTES,
    ExportPage,
    check_cursor,
    export,
    jsonl_lines,
    page_of,
)
from .furnishing import Furnisher, Line
from .importing import Importer
from .linking import Link
from .preparing import Prepared
from .values import ExportFormat, Skipped


class Transfers:
    """Exports what a caller may see and imports what is not known yet."""

    def __init__(  # noqa: PLR0917 - what an import and an export rest on
        self,
        database: Database,
        commits: Commits,
        clock: Callable[[], datetime],
        flush_usage: Callable[[], Awaitable[None]],
        capacity: Callable[[], int],
        home_screen: Strictness,
    ) -> None:
        """Keep how many memories may be stored; ``flush_usage`` writes counts that are pending."""
        self._home_screen = home_screen
        self._database = database
        self._commits = commits
        self._clock = clock
        self._flush_usage = flush_usage
        self._capacity = capacity

    async def export(
        self,
        caller: Caller,
        filters: Filters,
        wanted: ExportFormat,
        *,
        all_owners: bool = False,
    ) -> AsyncIterator[tuple[str, int]]:
        """Return pieces of an export, each with how many memories it holds.

        ``all_owners`` is for administrators. Raises InvalidInputError and StorageError.
        """
        cleaned = cleaned_filters(caller, filters)
        await self._flush_usage()
        now = self._clock()
        pieces = export(self._database, caller, cleaned, wanted, now, all_owners=all_owners)
        async for piece in pieces:
            yield piece

    async def page(
        self,
        caller: Caller,
        filters: Filters,
        cursor: str | None,
        *,
        all_owners: bool = False,
        most: int = PAGE_BYTES,
    ) -> ExportPage:
        """Return what of an export comes after a cursor, as much as one import takes.

        ``most`` counts bytes as JSON escapes them at the worst. Raises InvalidInputError and
        StorageError.
        """
        check_cursor(cursor)
        cleaned = cleaned_filters(caller, filters)
        await self._flush_usage()
        lines = jsonl_lines(
            self._database, caller, cleaned, all_owners=all_owners, after=cursor or ""
        )
        return await page_of(lines, self._clock(), most)

    async def bring_in(self, caller: Caller, request: ImportRequest) -> ImportReport:
        """Store what of a text or a file is not known yet; nothing is evicted for it.

        Raises StorageError; what was stored until then stays.
        """

        async def store(batch: Sequence[Prepared]) -> None:
            async def work(write: Transaction) -> tuple[None, list[Written]]:
                return None, await importer.store(write, batch, self._capacity() - write.of_home)

            await self._commits.run(caller, work)

        async def make_links(links: Sequence[Link]) -> None:
            async def work(write: Transaction) -> tuple[None, list[Written]]:
                for one in links:
                    pair = (one.sequence, one.replacement)
                    if one.apart:
                        await repository.link_apart(write.connection, caller, *pair)
                    else:
                        await repository.link(write.connection, *pair)
                return None, []

            await self._commits.run(caller, work)

        async def furnish(furnisher: Furnisher, lines: Sequence[Line]) -> list[Skipped]:
            now_ms = milliseconds(self._clock())
            if furnisher.dry_run:
                async with self._database.reading() as connection:
                    return await furnisher.furnish(connection, lines, now_ms)
            return await self._commits.rearrange(
                partial(furnisher.furnish, lines=lines, now_ms=now_ms)
            )

        importer = Importer(self._database, caller, self._home_screen)
        room_left = self._capacity() - self._commits.of_home
        return await importer.run(request, store, make_links, furnish, room_left)
