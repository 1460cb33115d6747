"""Keeping the database file still while somebody copies it.

The manager holds the file when a backup begins and lets go when it is over. What is in the
write-ahead log is folded into the file first; then the file alone is consistent, and writers
wait. No writer waits longer than ``WRITES_WAIT_SECONDS``: then writes go on, but only into the log,
which only grows, so that the file and any part of the log that was copied still belong together.
Readers never notice. Should nobody say that the backup is over, the file is let go by itself.
"""

import asyncio
import logging
from typing import Final

import aiosqlite

from .database import Database
from .errors import StorageError

WRITES_WAIT_SECONDS: Final = 30.0
HOLD_SECONDS: Final = 3_600.0
AUTO_CHECKPOINT_PAGES: Final = 1_000
"""What SQLite does by itself: the log is folded in when it has so many pages."""

_LOGGER: Final = logging.getLogger(__name__)


class FileHold:
    """One backup's hold on the file; ``run`` is a task that the manager starts."""

    def __init__(self, database: Database) -> None:
        """Begin with nothing held."""
        self._database = database
        self._over = asyncio.Event()
        self._begun = asyncio.Event()
        self._failure: StorageError | None = None

    async def wait_until_still(self) -> None:
        """Wait until the file may be copied. Raises StorageError."""
        await self._begun.wait()
        if self._failure is not None:
            raise self._failure

    def release(self) -> None:
        """Let the writers go on."""
        self._over.set()

    async def run(self) -> None:
        """Hold the file until it is released, or for as long as a backup may take."""
        try:
            await self._hold()
        except StorageError as err:
            if self._begun.is_set():
                _LOGGER.warning("The database could not be let go after a backup: %s", err)
            self._failure = err
        except asyncio.CancelledError:
            self._failure = StorageError("database_closed", path=str(self._database.path))
            raise
        finally:
            self._database.keeps_log = False
            self._begun.set()

    async def _hold(self) -> None:
        async with self._database.writing() as writer:
            try:
                await self._begin(writer)
                self._begun.set()
                if await self._is_over_within(WRITES_WAIT_SECONDS):
                    await self._end(writer)
                    return
            except BaseException:
                await self._end(writer)
                raise
        _LOGGER.info(
            "A backup takes longer than %d seconds: memories are written again, beside the copy",
            WRITES_WAIT_SECONDS,
        )
        try:
            if not await self._is_over_within(HOLD_SECONDS):
                _LOGGER.warning("Nobody said that the backup is over: the database is let go")
        finally:
            async with self._database.writing() as writer:
                await self._end(writer)
        # What was deleted meanwhile may still be in the log.
        await self._database.erase_traces()

    async def _begin(self, writer: aiosqlite.Connection) -> None:
        self._database.keeps_log = True
        await writer.execute("PRAGMA wal_autocheckpoint = 0")
        async with writer.execute("PRAGMA wal_checkpoint(TRUNCATE)") as cursor:
            row = await cursor.fetchone()
        if row is None or row[0]:
            _LOGGER.info("A long read keeps the log apart: the backup needs it beside the file")

    async def _end(self, writer: aiosqlite.Connection) -> None:
        self._database.keeps_log = False
        await writer.execute(f"PRAGMA wal_autocheckpoint = {AUTO_CHECKPOINT_PAGES}")

    async def _is_over_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            return False
        return True
