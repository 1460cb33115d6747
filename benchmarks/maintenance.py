"""What the daily maintenance takes at a size, and whether the event loop is held meanwhile.

    python -m benchmarks.maintenance [--memories N]

One memory in twenty was used often, one is critical and unused for long, one has an expiry. Time
passes by a clock that is set, and what is due is done step by step as it is in a home, then a wing
is joined to another. Asked of ``MemoryManager`` in a temporary folder that is removed.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
import tempfile
from time import perf_counter
from typing import Final

from .core import Access, Caller, Database, MemoryManager
from .event_loop import StallMeter
from .figures import Stall
from .filling import fill_texts
from .synthetic import Household, ProjectionEngine

DEFAULT_MEMORIES: Final = 100_000
DIMENSIONS: Final = 384
SEED: Final = 1
GOAL_MS: Final = 10.0

_OWNER: Final = Caller(source="service", user="owner", access=frozenset(Access))
_FIRST: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
_DUE: Final = (
    """
    UPDATE memories SET layered_ms = :now_ms, updated_ms = :now_ms, layer = CASE
        WHEN sequence % 20 = 0 THEN 1 WHEN sequence % 20 = 1 THEN 2 ELSE max(layer, 2) END
    """,
    """
    INSERT INTO usage (sequence, returned, fetched, last_used_ms)
    SELECT sequence, 10, 0, :now_ms FROM memories WHERE sequence % 20 = 1
    """,
    "UPDATE memories SET expires_ms = :now_ms + 86400000 WHERE sequence % 20 = 2",
)


class Clock:
    """A clock that is set forward."""

    def __init__(self) -> None:
        """Begin on a winter noon."""
        self.now = _FIRST

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def forward(self, days: int) -> None:
        """Let days pass."""
        self.now += timedelta(days=days)


async def fill(path: Path, memories: int) -> None:
    """Make a file in which much is due."""
    await fill_texts(path, Household(SEED, memories), memories)
    database = Database(path)
    await database.open()
    async with database.transaction() as connection:
        for statement in _DUE:
            await connection.execute(statement, {"now_ms": round(_FIRST.timestamp() * 1000)})
    await database.close()


async def measure(path: Path, memories: int) -> list[tuple[str, int, float, Stall]]:
    """Return for each step what it did, how often, the seconds and the stall of the loop."""
    clock = Clock()
    manager = MemoryManager(
        Database(path), ProjectionEngine(DIMENSIONS, SEED), max_entries=memories, clock=clock
    )
    await manager.open()
    await manager.wait_for_vectors()
    done = []

    async def step(name: str, work: Callable[[], Awaitable[int]]) -> None:
        begun = perf_counter()
        with StallMeter() as meter:
            count = await work()
        done.append((name, count, perf_counter() - begun, meter.stall))

    async def maintain(*, dry_run: bool = False) -> int:
        return len(await manager.maintain(dry_run=dry_run))

    async def lapse() -> int:
        before = manager.counts().total
        await manager.lifecycle.lapse_due()
        return before - manager.counts().total

    async def merge() -> int:
        first, second = [name for name, count in manager.counts().wings.items() if count][:2]
        moved = await manager.places.rename(_OWNER, (first, None), (second, None), merge=True)
        return moved.count

    try:
        clock.forward(days=2)
        await step("expired memories forgotten", lapse)
        clock.forward(days=100)
        await step("moves told by a dry run", lambda: maintain(dry_run=True))
        await step("moves between layers, forgotten ones purged", maintain)
        await step("moves that a second maintenance finds", maintain)
        await step("empty places removed", manager.places.tidy)
        await step("tunnels proposed", manager.places.propose_tunnels)
        await step("memories of a wing joined to another", merge)
    finally:
        await manager.close()
    return done


async def main() -> None:
    """Fill, let time pass, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=DEFAULT_MEMORIES)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        await fill(path, asked.memories)
        done = await measure(path, asked.memories)
    for name, count, seconds, stall in done:
        print(
            f"{count:>7} {name}: {seconds:.2f} s, the event loop held for"
            f" {stall.longest_ms:.1f} ms, {stall.longest_own_ms:.1f} ms of it by this process"
        )
    longest = max(stall.longest_ms for *_, stall in done)
    kept = "kept" if longest <= GOAL_MS else "missed"
    print(f"longest stall {longest:.1f} ms; the goal of {GOAL_MS:.0f} ms is {kept}")


if __name__ == "__main__":
    asyncio.run(main())
