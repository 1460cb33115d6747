"""How fast the memory is, how long it holds the event loop and what it costs.

    python -m benchmarks.speed [--sizes 1000,10000,100000] [--dims 384,1024] [--json FILE]

Every size and dimension is filled and measured in processes of their own, in a temporary folder
that is removed. This module starts them, prints the tables and writes the JSON; ``measuring`` and
``setup_time`` hold what is measured.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib.util import find_spec
import json
from multiprocessing import get_context
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from time import perf_counter
from typing import Final

from .figures import CaseFigures, SetupFigures
from .measuring import Case, measure, prepare_home, prepare_texts, prepare_vectors
from .report import environment, report

DEFAULT_SIZES: Final = (1_000, 10_000, 100_000)
DEFAULT_DIMENSIONS: Final = (384, 1024)
DEFAULT_SETUP_MEMORIES: Final = 10_000
DEFAULT_SEED: Final = 1

_PROJECT: Final = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark as the command line asks."""
    wanted = _parser().parse_args(arguments)
    found_on = environment()
    with tempfile.TemporaryDirectory(prefix="ai_memory_speed_") as folder:
        cases = list(_cases(Path(folder), wanted.sizes, wanted.dims, wanted.seed))
        setup = _setup(Path(folder), wanted.setup, wanted.seed)
    print(report(found_on, cases, setup))
    if wanted.json:
        figures = {
            "benchmark": "speed",
            "seed": wanted.seed,
            "environment": found_on,
            "cases": [asdict(case) for case in cases],
            "setup": setup and asdict(setup),
        }
        wanted.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description="Measure the speed of the memory."
    )
    parser.add_argument(
        "--sizes",
        type=_numbers,
        default=DEFAULT_SIZES,
        metavar="N,N",
        help="numbers of memories (default 1000,10000,100000)",
    )
    parser.add_argument(
        "--dims",
        type=_numbers,
        default=DEFAULT_DIMENSIONS,
        metavar="N,N",
        help="dimensions of the vectors (default 384,1024)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, metavar="N", help="draws other texts and vectors"
    )
    parser.add_argument(
        "--setup",
        type=int,
        default=DEFAULT_SETUP_MEMORIES,
        metavar="N",
        help="memories of the set-up in Home Assistant (default 10000, 0 for none)",
    )
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in text.split(","))
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError("positive numbers are needed")
    return numbers


def _cases(
    folder: Path, sizes: Sequence[int], dims: Sequence[int], seed: int
) -> Iterator[CaseFigures]:
    """Measure every case; there are never more than two files at a time."""
    for memories in sizes:
        texts, filled = folder / "texts.db", folder / "filled.db"
        start = perf_counter()
        _in_process(prepare_texts, texts, memories, seed)
        _tell(f"{memories} memories written", start)
        for dimensions in dims:
            start = perf_counter()
            case = Case(path=filled, memories=memories, dimensions=dimensions, seed=seed)
            shutil.copyfile(texts, filled)
            _in_process(prepare_vectors, case)
            yield _in_process(measure, case)
            filled.unlink()
            _tell(f"{memories} memories of {dimensions} dimensions measured", start)
        texts.unlink()


def _setup(folder: Path, memories: int, seed: int) -> SetupFigures | None:
    """Measure the set-up where Home Assistant is installed."""
    if not memories or find_spec("homeassistant") is None:
        return None
    start = perf_counter()
    question = _in_process(prepare_home, folder, memories, seed)
    program = (sys.executable, "-m", "benchmarks.setup_time", str(folder), str(memories), question)
    done = subprocess.run(program, cwd=_PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    _tell(f"Set-up with {memories} memories measured", start)
    return SetupFigures(**json.loads(done.stdout))


def _in_process[**P, R](work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Do something in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as process:
        return process.submit(work, *args, **kwargs).result()


def _tell(what: str, start: float) -> None:
    print(f"{what} in {perf_counter() - start:.1f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
