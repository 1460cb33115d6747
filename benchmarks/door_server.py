"""The process that serves the door while ``door`` knocks on it.

A filled memory behind the real transport, on an event loop that does nothing else. Standard output
gets a line of JSON with the address, and one with the stall of the loop for each line that comes
in: how late the loop was since the line before.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import asdict
import json
from pathlib import Path
import sys
from typing import Final

from custom_components.ai_memory.core import Database, MemoryManager

from .event_loop import StallMeter
from .filling import fill_texts
from .measuring import all_vectors
from .open_door import client_of, open_door
from .synthetic import Household, ProjectionEngine

SEED: Final = 1
SPARE: Final = 100_000
REPOSITORIES: Final = 10


class Repositories(Household):
    """The same texts as records of some repositories."""

    def place(self, number: int) -> tuple[str, str]:
        """Return namespace and type of a record."""
        return namespace(number), "fact"


def namespace(number: int) -> str:
    """Return the namespace of a record."""
    return f"github/acme/tool{number % REPOSITORIES}"


async def _serve(folder: Path, records: int, dimensions: int, clients: int) -> None:
    path = folder / "door.db"
    await fill_texts(path, Repositories(SEED, records), records, owners=(None,))
    engine = ProjectionEngine(dimensions, SEED)
    manager = MemoryManager(Database(path), engine, max_entries=records + SPARE)
    await manager.open()
    try:
        await all_vectors(manager, records)
        tokens = {f"token-{number}": client_of(f"agent-{number}") for number in range(clients)}
        async with open_door(manager, tokens, folder) as url:
            print(json.dumps({"url": url}), flush=True)
            await _measure()
    finally:
        await manager.close()


async def _measure() -> None:
    """Measure the loop from one line that comes in to the next, until there are no more."""
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    more = True
    while more:
        with StallMeter() as meter:
            more = bool(await lines.readline())
        if more:
            print(json.dumps(asdict(meter.stall)), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name in ("records", "dimensions", "clients"):
        parser.add_argument(name, type=int)
    wanted = parser.parse_args(arguments)
    asyncio.run(_serve(wanted.folder, wanted.records, wanted.dimensions, wanted.clients))


if __name__ == "__main__":
    main()
