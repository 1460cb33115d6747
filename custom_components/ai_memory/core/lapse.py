"""Waiting for the time of memories to be over.

The manager runs ``keep`` as long as it is open. Nothing polls: it sleeps until the next memory
lapses and is woken by a write that sets an earlier time. Clocks are set and machines sleep, so the
clock on the wall is looked at again after an hour at the latest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
import logging
from typing import Final

from .errors import StorageError
from .transaction import MemoryChange

LONGEST_SLEEP_SECONDS: Final = 3_600.0
RETRY_SECONDS: Final = 60.0

_LOGGER: Final = logging.getLogger(__name__)


class Lapse:
    """Knows when the next memory lapses."""

    def __init__(self) -> None:
        """Know of none."""
        self._next: datetime | None = None
        self._woken = asyncio.Event()

    def follow(self, changes: Sequence[MemoryChange]) -> None:
        """Wake up where a committed write set an earlier time."""
        times = [after.expires for _, after in changes if after and after.kept and after.expires]
        if times and (self._next is None or min(times) < self._next):
            self._next = min(times)
            self._woken.set()

    async def keep(
        self, clock: Callable[[], datetime], lapse_due: Callable[[], Awaitable[datetime | None]]
    ) -> None:
        """Call ``lapse_due`` whenever a memory lapses; it returns when the next one does."""
        while True:
            self._woken.clear()
            try:
                self._next = await lapse_due()
            except StorageError as err:
                _LOGGER.warning("Memories could not lapse, trying again later: %s", err)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            await self._sleep(clock)

    async def _sleep(self, clock: Callable[[], datetime]) -> None:
        """Wait until the next memory lapses, the clock is to be looked at again, or a write."""
        seconds = None
        if self._next is not None:
            left = (self._next - clock().astimezone(UTC)).total_seconds()
            seconds = min(max(left, 0.0), LONGEST_SLEEP_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
