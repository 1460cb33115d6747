"""How long a sweep of anchored entities takes, and whether the event loop is held meanwhile.

    python -m benchmarks.anchors [--memories N] [--entities N]

Every memory is anchored to one of so many entities. Three sweeps: nothing is gone, one entity in a
thousand is, one in ten is. Asked of ``MemoryManager`` in a temporary folder that is removed.
"""

import argparse
import asyncio
from pathlib import Path
import tempfile
from time import perf_counter
from typing import Final

from .core import Database, MemoryManager
from .event_loop import StallMeter
from .filling import ANNA, fill_texts
from .synthetic import Household, ProjectionEngine

DEFAULT_MEMORIES: Final = 100_000
DEFAULT_ENTITIES: Final = 2_000
DIMENSIONS: Final = 384
SEED: Final = 1
GONE_ONE_IN: Final = (None, 1_000, 10)

_ANCHOR: Final = """
    INSERT INTO anchors (sequence, anchor, state, checked_ms)
    SELECT sequence, 'entity:sensor.number_' || (sequence % ?), 'ok', 1 FROM memories
"""


class Home:
    """A home from which entities vanish by their numbers."""

    def __init__(self) -> None:
        """Have everything."""
        self.gone_one_in: int | None = None

    def __call__(self, entity_id: str) -> bool:
        """Return whether an entity is there."""
        number = int(entity_id.rpartition("_")[2])
        return self.gone_one_in is None or number % self.gone_one_in != 0


async def fill(path: Path, memories: int, entities: int) -> None:
    """Make a file in which every memory has an anchor."""
    await fill_texts(path, Household(SEED, memories), memories)
    database = Database(path)
    await database.open()
    async with database.transaction() as connection:
        await connection.execute(_ANCHOR, (entities,))
    await database.close()


async def measure(path: Path, memories: int) -> None:
    """Sweep and print what it took."""
    home = Home()
    manager = MemoryManager(
        Database(path), ProjectionEngine(DIMENSIONS, SEED), max_entries=memories, check_entity=home
    )
    await manager.open()
    await manager.wait_for_vectors()
    for home.gone_one_in in GONE_ONE_IN:
        begun = perf_counter()
        with StallMeter() as meter:
            sweep = await manager.anchors.sweep(ANNA)
        stall = meter.stall
        print(
            f"{sweep.counts.changed} of {memories} memories changed:"
            f" {perf_counter() - begun:.2f} s, the event loop held for {stall.longest_ms:.1f} ms,"
            f" {stall.longest_own_ms:.1f} ms of it by this process"
        )
    await manager.close()


async def main() -> None:
    """Fill, sweep, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=DEFAULT_MEMORIES)
    parser.add_argument("--entities", type=int, default=DEFAULT_ENTITIES)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        await fill(path, asked.memories, asked.entities)
        await measure(path, asked.memories)


if __name__ == "__main__":
    asyncio.run(main())
