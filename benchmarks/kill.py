"""Whether anything is lost or torn when the process is killed while it writes.

    python -m benchmarks.kill [--rounds N] [--seed N]

In each round a process of its own writes as fast as it can and is killed (``SIGKILL``) at a random
moment, now and then while it still opens the file. What it told of on a pipe is then compared with
the file, see ``kill_checks``. Ten rounds share a file, so that it is killed and opened again and
again. The exit code is 1 if anything was lost, torn, damaged or out of step.
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
import random
import signal
import subprocess
import sys
import tempfile
import threading
from time import perf_counter
from typing import Final

from .kill_checks import Promised, faults

DEFAULT_ROUNDS: Final = 200
ROUNDS_A_FILE: Final = 10
LONGEST_STORM_SECONDS: Final = 0.5
EARLY_EVERY: Final = 8
"""One process in so many is killed before it says that it is ready."""
LONGEST_START_SECONDS: Final = 0.8
PROJECT: Final = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rounds as the command line asks; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kill", description="Kill the memory while it writes."
    )
    parser.add_argument("--rounds", type=int, default=DEFAULT_ROUNDS, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="draws other moments")
    wanted = parser.parse_args(arguments)
    generator = random.Random(wanted.seed)  # noqa: S311 - no secret
    start = perf_counter()
    acknowledged = under_way = 0
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ai_memory_kill_") as folder:
        promised, path = Promised(), Path(folder) / "first.db"
        for number in range(wanted.rounds):
            if number % ROUNDS_A_FILE == 0:
                acknowledged += promised.acknowledged
                promised, path = Promised(), Path(folder) / f"{number}.db"
            promised.hear(_storm(path, f"round{number}", generator, early=_early(number)))
            under_way += len(promised.under_way)
            wrong = [f"round {number}: {one}" for one in asyncio.run(faults(path, promised))]
            found += wrong
            for one in wrong:
                print(one, file=sys.stderr)
    acknowledged += promised.acknowledged
    print(
        f"{wanted.rounds} processes killed in {perf_counter() - start:.0f} s:"
        f" {acknowledged} writes acknowledged, {under_way} under way, {len(found)} faults"
    )
    return int(bool(found))


def _early(number: int) -> bool:
    return number % EARLY_EVERY == EARLY_EVERY - 1


def _storm(path: Path, name: str, generator: random.Random, *, early: bool) -> list[bytes]:
    """Let a process write and kill it; returns the lines that it told."""
    command = [sys.executable, "-m", "benchmarks.kill_storm", str(path), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=PROJECT) as process:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        first = b"" if early else process.stdout.readline()
        longest = LONGEST_START_SECONDS if early else LONGEST_STORM_SECONDS
        killer = threading.Timer(generator.random() * longest, process.kill)
        killer.start()
        # Until its end: what it told before it died is still in the pipe.
        lines = [first, *process.stdout]
        killer.cancel()
    if process.returncode != -signal.SIGKILL:
        raise RuntimeError(f"The process ended by itself, with {process.returncode}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
