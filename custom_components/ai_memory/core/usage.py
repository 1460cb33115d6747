"""Counting which memories are used, written behind so that no reader waits for it.

The manager notes each use here; a task that the config entry owns writes the sums every few seconds
and once more at the end. A crash may lose the last few counts, never a memory.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from .database import Database
from .memories import milliseconds, record_use
from .visibility import SqlValue

FLUSH_SECONDS: Final = 5.0


@dataclass(slots=True)
class _Use:
    returned: int = 0
    fetched: int = 0
    last_used_ms: int = 0


class UsageLog:
    """Uses that are not yet written, summed by memory."""

    def __init__(self, database: Database) -> None:
        """Start with nothing noted."""
        self._database = database
        self._pending: dict[int, _Use] = {}

    def returned(self, sequences: Iterable[int], at: datetime) -> None:
        """Note memories that a search returned."""
        for sequence in sequences:
            self._note(sequence, at).returned += 1

    def fetched(self, sequence: int, at: datetime) -> None:
        """Note a memory that was asked for by id."""
        self._note(sequence, at).fetched += 1

    async def flush(self) -> None:
        """Write what was noted; on failure it is kept for the next time. Raises StorageError."""
        batch, self._pending = self._pending, {}
        if not batch:
            return
        rows: list[dict[str, SqlValue]] = [
            {
                "sequence": sequence,
                "returned": use.returned,
                "fetched": use.fetched,
                "last_used_ms": use.last_used_ms,
            }
            for sequence, use in batch.items()
        ]
        try:
            async with self._database.transaction() as connection:
                await record_use(connection, rows)
        except BaseException:
            self._put_back(batch)
            raise

    def _note(self, sequence: int, at: datetime) -> _Use:
        use = self._pending.setdefault(sequence, _Use())
        use.last_used_ms = max(use.last_used_ms, milliseconds(at))
        return use

    def _put_back(self, batch: dict[int, _Use]) -> None:
        for sequence, use in batch.items():
            newer = self._pending.setdefault(sequence, _Use())
            newer.returned += use.returned
            newer.fetched += use.fetched
            newer.last_used_ms = max(newer.last_used_ms, use.last_used_ms)
