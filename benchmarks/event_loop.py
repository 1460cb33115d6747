"""How long the event loop is held: the figure that everything else in a home waits for.

The measured parts of the benchmark run inside ``with StallMeter() as meter``. The meter asks the
loop to be called every millisecond and notes how late each call comes, whatever the reason: a long
step on the loop, another thread that keeps the interpreter's lock, or a busy machine.
"""

import asyncio
from time import perf_counter
from typing import Final, Self

from .figures import Stall

TICK_SECONDS: Final = 0.001
NOTICEABLE_SECONDS: Final = 0.005


class StallMeter:
    """Measures the running event loop between entering and leaving."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._longest = 0.0
        self._noticeable = 0
        self._ticks = 0

    def __enter__(self) -> Self:
        """Begin."""
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        """End; what is overdue at this moment counts."""
        if self._handle is not None:
            self._handle.cancel()
        self._note()

    @property
    def stall(self) -> Stall:
        """What was measured."""
        return Stall(longest_ms=self._longest * 1000, over_5_ms=self._noticeable, ticks=self._ticks)

    def _wait(self) -> None:
        self._due = perf_counter() + TICK_SECONDS
        self._handle = self._loop.call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._ticks += 1
        self._note()
        self._wait()

    def _note(self) -> None:
        late = perf_counter() - self._due
        self._longest = max(self._longest, late)
        self._noticeable += late > NOTICEABLE_SECONDS
