"""What the memory does when a whole house asks at once while it is written to.

    python -m benchmarks.load [--memories N] [--seconds S] [--searches N] [--writes N] [--dims N]
                              [--json FILE]

A filled memory is searched by so many at once, each asking again as soon as it was answered, while
writes land at a fixed rate whether or not the ones before have ended. Afterwards the file is opened
again and everything that was acknowledged is looked for. The exit code is 1 if anything failed, was
answered with nothing or got lost; a stall above the goal is only told. Everything is asked of
``MemoryManager`` in a temporary folder that is removed; the encoder costs next to nothing.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
import json
from math import ceil
from pathlib import Path
import sys
import tempfile
from time import perf_counter
from typing import Final, Self

from .core import Database, Filters, MemoryManager, NewMemory
from .event_loop import StallMeter
from .figures import Stall
from .filling import ANNA, fill_texts
from .measuring import IDLE_SECONDS, SEARCH_LIMIT, all_vectors
from .report import Environment, environment
from .synthetic import Household, ProjectionEngine

DEFAULT_MEMORIES: Final = 10_000
DEFAULT_SECONDS: Final = 60.0
DEFAULT_SEARCHES_AT_ONCE: Final = 50
DEFAULT_WRITES_A_SECOND: Final = 20.0
DEFAULT_DIMENSIONS: Final = 384
DEFAULT_SEED: Final = 1
LONGEST_STALL_MS: Final = 50.0
SAMPLED_WRITES: Final = 50
SETTLE_SECONDS: Final = 2.0
"""What follows once all vectors are there, such as calibration, has ended by then."""

_SPARE_WRITES: Final = 10
_STRIDE: Final = 7_919
"""From the memory of one question to the next: a prime, so that they are spread over the file."""
_ANYWHERE: Final = Filters()


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked of the memory, and for how long."""

    memories: int
    seconds: float
    searches_at_once: int
    writes_a_second: float
    dimensions: int
    seed: int

    @property
    def writes(self) -> int:
        """How many writes are due in that time."""
        return ceil(self.seconds * self.writes_a_second)

    def household(self) -> Household:
        """Return the texts: those in the file first, then those that are written."""
        return Household(self.seed, self.memories + self.writes + _SPARE_WRITES)

    def engine(self) -> ProjectionEngine:
        """Return the engine."""
        return ProjectionEngine(self.dimensions, self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """How many calls of a kind ended well, and how long they took for the caller."""

    count: int
    a_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    longest_ms: float

    @classmethod
    def of(cls, seconds: Sequence[float], within_seconds: float) -> Self:
        """Sum up single durations; percentiles are durations that occurred (nearest rank)."""
        ordered = sorted(seconds) or [0.0]

        def percentile(part: float) -> float:
            return ordered[ceil(part * len(ordered)) - 1] * 1000

        return cls(
            count=len(seconds),
            a_second=len(seconds) / within_seconds,
            p50_ms=percentile(0.5),
            p95_ms=percentile(0.95),
            p99_ms=percentile(0.99),
            longest_ms=percentile(1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """Everything about one run; ``errors`` counts by what went wrong."""

    seconds: float
    search: Calls
    write: Calls
    rankings: dict[str, int]
    stall: Stall
    idle: Stall
    errors: dict[str, int]

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.errors)


@dataclass(frozen=True, slots=True)
class _Crowd:
    """Those who search and write at the same time, and what they noted."""

    memory: MemoryManager
    household: Household
    load: Load
    searches: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    written: dict[str, int] = field(default_factory=dict)
    """Ids that were acknowledged, with the number of the memory."""
    rankings: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    async def run(self) -> float:
        """Let everybody in until the time is over; returns how long that was in the end."""
        start = perf_counter()
        end = start + self.load.seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._write_until(end))
            for one in range(self.load.searches_at_once):
                group.create_task(self._ask_until(end, one))
        return perf_counter() - start

    async def _ask_until(self, end: float, turn: int) -> None:
        """Ask one question after the other, in every way that is answered differently."""
        texts = self.household
        # A short word without one of its letters may look like none that is there.
        ways: tuple[tuple[Callable[[int], str], bool], ...] = (
            (texts.question, True),
            (texts.rare_words, True),
            (texts.common_words, True),
            (texts.misspelled, False),
        )
        while (start := perf_counter()) < end:
            asking, has_answer = ways[turn % len(ways)]
            query = asking(turn * _STRIDE % self.load.memories)
            turn += self.load.searches_at_once + 1
            with _noting(self.errors, "search"):
                found = await self.memory.search(ANNA, _ANYWHERE, query, SEARCH_LIMIT)
                self.searches.append(perf_counter() - start)
                self.rankings[found.ranking] += 1
                self.errors["search found nothing"] += has_answer and not found.hits

    async def _write_until(self, end: float) -> None:
        """Begin a write whenever one is due, without waiting for the one before."""
        start = perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(self.load.writes):
                due = start + number / self.load.writes_a_second
                await asyncio.sleep(max(0.0, due - perf_counter()))
                if perf_counter() >= end:
                    break
                group.create_task(self._write(self.load.memories + number))

    async def _write(self, number: int) -> None:
        start = perf_counter()
        new = NewMemory(
            content=self.household.content(number), summary=self.household.summary(number)
        )
        with _noting(self.errors, "write"):
            added = await self.memory.add(ANNA, new)
            self.writes.append(perf_counter() - start)
            self.written[added.memory.id] = number


@contextmanager
def _noting(errors: Counter[str], what: str) -> Generator[None]:
    """Count an error by its kind and go on, so that one does not end the run."""
    try:
        yield
    except Exception as err:  # noqa: BLE001  # whatever fails is what this looks for
        errors[f"{what}: {type(err).__name__}"] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark as the command line asks; returns the exit code."""
    wanted = _parser().parse_args(arguments)
    load = Load(
        memories=wanted.memories,
        seconds=wanted.seconds,
        searches_at_once=wanted.searches,
        writes_a_second=wanted.writes,
        dimensions=wanted.dims,
        seed=wanted.seed,
    )
    found_on = environment()
    with tempfile.TemporaryDirectory(prefix="ai_memory_load_") as folder:
        figures = asyncio.run(_measure(Path(folder) / "load.db", load))
    print(_report(found_on, load, figures))
    if wanted.json:
        told = {
            "benchmark": "load",
            "environment": found_on,
            "load": asdict(load),
            "figures": asdict(figures),
        }
        wanted.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return int(figures.failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load", description="Measure the memory under load."
    )
    for name, kind, default, told in (
        ("memories", int, DEFAULT_MEMORIES, "memories in the file"),
        ("seconds", float, DEFAULT_SECONDS, "how long"),
        ("searches", int, DEFAULT_SEARCHES_AT_ONCE, "searches in flight at all times"),
        ("writes", float, DEFAULT_WRITES_A_SECOND, "writes a second"),
        ("dims", int, DEFAULT_DIMENSIONS, "dimensions of the vectors"),
    ):
        parser.add_argument(
            f"--{name}",
            type=_positive(kind),
            default=default,
            metavar="N",
            help=f"{told} (default {default:g})",
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, metavar="N", help="draws other texts and vectors"
    )
    return parser


def _positive(kind: type[int | float]) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError("a positive number is needed")
        return value

    return number


async def _measure(path: Path, load: Load) -> LoadFigures:
    household = load.household()
    start = perf_counter()
    await fill_texts(path, household, load.memories)
    async with _opened(path, load, load.memories) as memory:
        _tell(f"{load.memories} memories written", start)
        await asyncio.sleep(SETTLE_SECONDS)
        idle = [await _idle()]
        crowd = _Crowd(memory, household, load)
        with StallMeter() as meter:
            seconds = await crowd.run()
        idle.append(await _idle())
    _tell("Load measured", start)
    async with _opened(path, load, load.memories + len(crowd.written)) as memory:
        crowd.errors.update(await _losses(memory, crowd))
    _tell("All writes looked for", start)
    return LoadFigures(
        seconds=seconds,
        search=Calls.of(crowd.searches, seconds),
        write=Calls.of(crowd.writes, seconds),
        rankings=dict(crowd.rankings),
        stall=meter.stall,
        idle=Stall.worst(idle),
        errors=dict(+crowd.errors),
    )


@asynccontextmanager
async def _opened(path: Path, load: Load, expected: int) -> AsyncGenerator[MemoryManager]:
    """Lend an open manager with all its vectors, or with those it has after a long time."""
    roomy = 2 * (load.memories + load.writes)
    manager = MemoryManager(Database(path), load.engine(), max_entries=roomy)
    try:
        await manager.open()
        with suppress(TimeoutError):
            await all_vectors(manager, expected)
        yield manager
    finally:
        await manager.close()


async def _idle() -> Stall:
    """Measure what the machine alone does to an idle loop."""
    with StallMeter() as meter:
        await asyncio.sleep(IDLE_SECONDS)
    return meter.stall


async def _losses(memory: MemoryManager, crowd: _Crowd) -> Counter[str]:
    """Count what was acknowledged and is not there: all by number, some of them by search."""
    expected = crowd.load.memories + len(crowd.written)
    written = list(crowd.written.items())
    sample = written[:: max(1, len(written) // SAMPLED_WRITES)]
    unfound = 0
    for memory_id, number in sample:
        query = crowd.household.content(number)
        found = await memory.search(ANNA, _ANYWHERE, query, SEARCH_LIMIT)
        unfound += all(hit.memory.id != memory_id for hit in found.hits)
    return Counter(
        {
            "memories lost": abs(expected - memory.counts().total),
            "vectors lost": abs(expected - memory.vector_count),
            "writes not found by search": unfound,
        }
    )


def _report(found_on: Environment, load: Load, figures: LoadFigures) -> str:
    """Return the figures for a person to read."""
    kept = "kept" if figures.stall.longest_ms <= LONGEST_STALL_MS else "missed"
    asked = (
        f"{load.memories} memories of {load.dimensions} dimensions, {load.searches_at_once}"
        f" searches at once, {load.writes_a_second:g} writes a second, {figures.seconds:.1f} s:"
    )
    stall = (
        f"longest stall of the event loop {_stall(figures.stall)}, idle {_stall(figures.idle)};"
        f" the goal of {LONGEST_STALL_MS:g} ms is {kept}"
    )
    lines = (
        ", ".join(f"{name} {value}" for name, value in found_on.items()),
        "",
        asked,
        _calls("search", figures.search),
        _calls("write", figures.write),
        f"searches answered: {_counted(figures.rankings)}",
        stall,
        f"errors: {_counted(figures.errors) or 'none'}",
    )
    return "\n".join(lines)


def _counted(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _calls(name: str, calls: Calls) -> str:
    return (
        f"{name}: {calls.count}, {calls.a_second:.1f}/s, p50 {calls.p50_ms:.1f} ms,"
        f" p95 {calls.p95_ms:.1f} ms, p99 {calls.p99_ms:.1f} ms, longest {calls.longest_ms:.1f} ms"
    )


def _stall(stall: Stall) -> str:
    return f"{stall.longest_ms:.1f} ms (its own {stall.longest_own_ms:.1f})"


def _tell(what: str, start: float) -> None:
    print(f"{what} after {perf_counter() - start:.1f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
