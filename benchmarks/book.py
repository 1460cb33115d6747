"""Where the measured parts of a case are written down: durations, stalls and ways of answering."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import perf_counter

from .core import SearchResult
from .event_loop import StallMeter
from .figures import Latency, Section, Stall


@dataclass(slots=True)
class _Record:
    """What happened in one section."""

    stall: Stall
    seconds: list[float]
    rankings: Counter[str]
    counts_in_summary: bool


@dataclass(slots=True)
class Book:
    """The sections of one case, each named after what it does: ``search_by_meaning``."""

    _records: dict[str, _Record] = field(default_factory=dict)

    async def section(
        self,
        name: str,
        times: int,
        call: Callable[[int], Awaitable[object]],
        *,
        before: Callable[[], Awaitable[object]] | None = None,
        at_once: int = 1,
        counts_in_summary: bool = True,
    ) -> None:
        """Do something many times; ``before`` is not timed, but may stall the loop."""
        seconds: list[float] = []
        rankings: Counter[str] = Counter()

        async def timed(turn: int) -> None:
            start = perf_counter()
            result = await call(turn)
            seconds.append(perf_counter() - start)
            if isinstance(result, SearchResult):
                rankings[result.ranking] += 1

        with StallMeter() as meter:
            for turn in range(0, times, at_once):
                if before is not None:
                    await before()
                await asyncio.gather(*(timed(turn + offset) for offset in range(at_once)))
        self._records[name] = _Record(meter.stall, seconds, rankings, counts_in_summary)

    def sections(self) -> dict[str, Section]:
        """Return every section by name."""
        return {name: _section([record]) for name, record in self._records.items()}

    def summary(self, verb: str) -> Section:
        """Return one section for all of a verb: latencies of those that count, all stalls."""
        records = [record for name, record in self._records.items() if name.startswith(verb)]
        return _section(
            [record for record in records if record.counts_in_summary],
            Stall.worst([record.stall for record in records]),
        )


def _section(records: list[_Record], stall: Stall | None = None) -> Section:
    return Section(
        latency=Latency.of([second for record in records for second in record.seconds]),
        stall=stall or Stall.worst([record.stall for record in records]),
        rankings=dict(sum((record.rankings for record in records), Counter[str]())),
    )
