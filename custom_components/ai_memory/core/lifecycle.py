"""What happens to a memory after it was stored: witnessed, forgotten, restored, lapsed, purged.

The manager owns the one ``Lifecycle``; operations call it there. Each write runs in a transaction
of ``commits``, and what it does is in the module of its subject.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from . import evidence, forgetting, history, receipts
from .cleaning import cleaned_filters
from .commits import MAINTENANCE, Commits
from .database import Database
from .errors import InvalidInputError
from .evidence import QUOTE_LIMIT_CHARACTERS
from .memories import milliseconds, moment
from .models import (
    KEPT,
    Caller,
    Filters,
    Memory,
    SearchResult,
    Stance,
    TimelineEntry,
    Version,
    Witnessed,
)
from .receipts import Receipt, Result
from .screen.gate import Gate
from .text_input import check_id, clean_text
from .transaction import Transaction, Written
from .writer import Work

DAY_MS: Final = 86_400_000
RECEIPTS_KEPT_MS: Final = DAY_MS
"""Receipts stay at least so long: one that expired at once could be replayed by nobody."""


class Lifecycle:
    """What was said before, who bears witness, and how memories go."""

    def __init__(
        self,
        database: Database,
        commits: Commits,
        clock: Callable[[], datetime],
        retention_deleted_days: int,
        gate: Gate,
    ) -> None:
        """Keep for how many days forgotten memories and receipts stay."""
        self._gate = gate
        self._database = database
        self._commits = commits
        self._clock = clock
        self.retention_days: Final = retention_deleted_days
        self._retention_ms = retention_deleted_days * DAY_MS
        self._receipts_ms = max(self._retention_ms, RECEIPTS_KEPT_MS)

    async def history(self, caller: Caller, memory_id: str, limit: int) -> list[Version]:
        """Return what a memory says and said before, newest first.

        Raises NotFoundError and StorageError.
        """
        check_id(memory_id)
        async with self._database.reading() as connection:
            return await history.versions(connection, caller, memory_id, limit)

    async def timeline(
        self, caller: Caller, filters: Filters, memory_id: str | None, limit: int
    ) -> list[TimelineEntry]:
        """Return what was said in a place or of a memory, the latest first.

        Raises NotFoundError, InvalidInputError and StorageError.
        """
        if memory_id is not None:
            check_id(memory_id)
        cleaned = cleaned_filters(caller, filters)
        async with self._database.reading() as connection:
            return await history.timeline(connection, caller, cleaned, memory_id, limit)

    async def with_earlier(self, caller: Caller, found: SearchResult) -> SearchResult:
        """Return what was found with what it said before. Raises StorageError."""
        async with self._database.reading() as connection:
            hits = await history.with_earlier(connection, caller, found.hits)
        return replace(found, hits=hits)

    async def corroborate(
        self, caller: Caller, memory_id: str, quote: str, stance: Stance
    ) -> Witnessed:
        """Let the caller witness for or against a memory, in a quote.

        Raises NotFoundError, InvalidInputError, ScreenedError where the quote holds a secret, and
        StorageError.
        """
        check_id(memory_id)
        cleaned = clean_text(quote, "quote", QUOTE_LIMIT_CHARACTERS)
        if not cleaned:
            raise InvalidInputError("empty", field="quote")
        await self._gate.admit(caller, {"quote": cleaned}, memory_id)
        return await self._commits.run(
            caller,
            partial(evidence.corroborate, memory_id=memory_id, quote=cleaned, stance=stance),
        )

    async def forget(
        self,
        caller: Caller,
        memory_id: str,
        revision: int | None = None,
        *,
        hard: bool = False,
    ) -> tuple[str, ...]:
        """Forget a memory, so that it can be restored for some days, or at once where ``hard``.

        Returns its id. Raises NotFoundError, ConflictError and StorageError.
        """
        if hard:
            return await self.delete(caller, memory_id, Filters(), revision)
        forgotten = await self._commits.run(
            caller, partial(forgetting.forget, memory_id=memory_id, revision=revision)
        )
        return (forgotten.id,)

    async def forget_all(
        self, caller: Caller, memory_id: str | None, filters: Filters
    ) -> tuple[str, ...]:
        """Forget one memory, or all in cleaned filters, so that each can be restored for some days.

        Returns their ids. Raises NotFoundError and StorageError.
        """
        if memory_id is not None:
            return await self.forget(caller, memory_id)
        kept = replace(filters, statuses=KEPT)
        return await self._commits.run(caller, partial(forgetting.forget_all, filters=kept))

    async def restore(self, caller: Caller, memory_id: str, revision: int | None = None) -> Memory:
        """Bring a forgotten memory back.

        Raises NotFoundError, ConflictError, InvalidInputError and StorageError.
        """
        return await self._commits.run(
            caller, partial(forgetting.restore, memory_id=memory_id, revision=revision)
        )

    async def delete(
        self, caller: Caller, memory_id: str | None, filters: Filters, revision: int | None
    ) -> tuple[str, ...]:
        """Remove one memory, or all in cleaned filters, at once; see ``MemoryManager.delete``."""

        async def write() -> tuple[str, ...]:
            work = partial(
                forgetting.delete, memory_id=memory_id, filters=filters, revision=revision
            )
            gone = await self._commits.run(caller, work)
            await self._database.erase_traces()
            return gone

        return await self._commits.to_the_end(write())

    async def once(
        self, caller: Caller, receipt: Receipt, work: Work[Result]
    ) -> tuple[Result, bool]:
        """Do work that answers with plain values once; a repeated call gets the first answer.

        Returns the answer and whether it is a replay. The receipt commits with the work. Raises
        ReceiptError, ScreenedError where its id holds a secret, StorageError and what the work
        raises.
        """
        await self._gate.admit(caller, {"op_id": receipt.op_id})

        async def kept(write: Transaction) -> tuple[tuple[Result, bool], list[Written]]:
            expired_ms = write.now_ms - self._receipts_ms
            known = await receipt.find(write.connection, expired_ms)
            if known is not None:
                return (known, True), []
            result, written = await work(write)
            await receipt.keep(write.connection, result, write.now_ms)
            return (result, False), written

        return await self._commits.run(caller, kept)

    async def purge(self) -> int:
        """Remove for good what was forgotten long ago; returns how many. Raises StorageError."""
        now_ms = milliseconds(self._clock())
        async with self._database.transaction() as connection:
            await receipts.expire(connection, now_ms - self._receipts_ms)
        purged = 0
        work = partial(forgetting.purge, before_ms=now_ms - self._retention_ms)
        while count := await self._commits.run(MAINTENANCE, work):
            purged += count
        if purged:
            await self._database.erase_traces()
        return purged

    async def lapse_due(self) -> datetime | None:
        """Forget every memory whose time is over; returns when the next one lapses."""
        while await self._commits.run(MAINTENANCE, forgetting.lapse):
            pass
        async with self._database.reading() as connection:
            next_ms = await forgetting.next_expiry(connection)
        return None if next_ms is None else moment(next_ms)

    async def keep_lapsing(self) -> None:
        """Let memories lapse when their time is over, until this is cancelled."""
        await self._commits.lapse.keep(self._clock, self.lapse_due)
