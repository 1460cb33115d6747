"""Counting which memories are used, written behind so that no reader waits for it.

The manager notes each use here; a task that the config entry owns writes the sums every few seconds
and once more at the end. A crash may lose the last few counts, never a memory.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
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
    last_returned_ms: int | None = None
    last_fetched_ms: int | None = None

    def add(self, other: "_Use") -> None:
        """Sum up with other uses of the same memory."""
        self.returned += other.returned
        self.fetched += other.fetched
        self.last_used_ms = max(self.last_used_ms, other.last_used_ms)
        self.last_returned_ms = _later(self.last_returned_ms, other.last_returned_ms)
        self.last_fetched_ms = _later(self.last_fetched_ms, other.last_fetched_ms)


class UsageLog:
    """Uses that are not yet written, summed by memory."""

    def __init__(self, database: Database) -> None:
        """Start with nothing noted."""
        self._database = database
        self._pending: dict[int, _Use] = {}
        self._stood: set[int] = set()
        self._stood_on = 0

    def returned(self, sequences: Iterable[int], at: datetime) -> None:
        """Note memories that a search returned."""
        at_ms = milliseconds(at)
        for sequence in sequences:
            self._note(sequence, _Use(1, 0, at_ms, last_returned_ms=at_ms))

    def fetched(self, sequence: int, at: datetime) -> None:
        """Note a memory that was asked for by id."""
        at_ms = milliseconds(at)
        self._note(sequence, _Use(0, 1, at_ms, last_fetched_ms=at_ms))

    def stood(self, sequences: Iterable[int], at: datetime) -> bool:
        """Note that memories stand in a prompt; returns whether any did so first today.

        The day of their last use moves, not how often they were used.
        """
        if (today := at.toordinal()) != self._stood_on:
            self._stood, self._stood_on = set(), today
        new = set(sequences) - self._stood
        self._stood |= new
        for sequence in new:
            self._note(sequence, _Use(last_used_ms=milliseconds(at)))
        return bool(new)

    async def flush(self) -> None:
        """Write what was noted; on failure it is kept for the next time. Raises StorageError."""
        batch, self._pending = self._pending, {}
        if not batch:
            return
        rows: list[dict[str, SqlValue]] = [
            {"sequence": sequence, **asdict(use)} for sequence, use in batch.items()
        ]
        try:
            async with self._database.transaction() as connection:
                await record_use(connection, rows)
        except BaseException:
            self._put_back(batch)
            raise

    def _note(self, sequence: int, use: _Use) -> None:
        self._pending.setdefault(sequence, _Use()).add(use)

    def _put_back(self, batch: dict[int, _Use]) -> None:
        for sequence, use in batch.items():
            self._note(sequence, use)


def _later(one: int | None, other: int | None) -> int | None:
    return max((at_ms for at_ms in (one, other) if at_ms is not None), default=None)
