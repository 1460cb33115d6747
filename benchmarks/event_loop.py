"""How long the event loop is held: the figure that everything else in a home waits for.

The measured parts of the benchmark run inside ``with StallMeter() as meter``. The meter asks the
loop to be called every millisecond and notes how late each call comes, whatever the reason: a long
step on the loop, another thread that keeps the interpreter's lock or the processor, or a machine
that is busy with other things. What part of a lateness this process spent computing, on whichever
thread, tells how much of it can be its own doing. The collection of garbage is left out of that
part: a full one takes as long as all modules and objects in the process need, which are far more in
Home Assistant than here, whoever sets it off.
"""

import asyncio
import gc
from time import perf_counter, process_time
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
        self._computed = 0.0
        self._collecting_since = 0.0
        self._collecting = 0.0
        self._longest = 0.0
        self._longest_own = 0.0
        self._noticeable = 0
        self._ticks = 0

    def __enter__(self) -> Self:
        """Begin."""
        gc.callbacks.append(self._follow_collection)
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        """End; what is overdue at this moment counts."""
        if self._handle is not None:
            self._handle.cancel()
        self._note()
        gc.callbacks.remove(self._follow_collection)

    @property
    def stall(self) -> Stall:
        """What was measured."""
        return Stall(
            longest_ms=self._longest * 1000,
            longest_own_ms=self._longest_own * 1000,
            over_5_ms=self._noticeable,
            ticks=self._ticks,
        )

    def _wait(self) -> None:
        self._computed = process_time()
        self._collecting = 0.0
        self._due = perf_counter() + TICK_SECONDS
        self._handle = self._loop.call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._ticks += 1
        self._note()
        self._wait()

    def _note(self) -> None:
        late = perf_counter() - self._due
        own = min(late, process_time() - self._computed) - self._collecting
        self._longest = max(self._longest, late)
        self._longest_own = max(self._longest_own, own)
        self._noticeable += late > NOTICEABLE_SECONDS

    def _follow_collection(self, phase: str, _: dict[str, int]) -> None:
        """Note how long a collection takes, on whichever thread."""
        if phase == "start":
            self._collecting_since = perf_counter()
        else:
            self._collecting += perf_counter() - self._collecting_since
