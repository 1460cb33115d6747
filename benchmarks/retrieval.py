"""How well the product finds the right memory, against plain FTS5 on the same data.

``python -m benchmarks.retrieval --engine NAME [--locomo FILE] [--household DIR] [--json FILE]``

Searches go through the product's own ``MemoryManager``, on a real file, with the engine that is
named. LoCoMo is one memory a turn and one memory file a conversation; the relevant memories are
the evidence turns. A household is a folder with ``memories.jsonl`` and ``questions.jsonl``. The
baseline is one FTS5 table with the porter stemmer and the words of the question joined by OR.
Differences carry a paired bootstrap 95 % interval over questions.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
import json
from pathlib import Path
import tempfile
from typing import Any, Final

import aiohttp

from .baseline import Baseline
from .core import (
    Caller,
    Database,
    EngineSettings,
    Filters,
    MemoryManager,
    NewMemory,
    Scope,
    create_engine,
)
from .datasets import Corpus, Question, household_corpus, locomo_corpora
from .ranking_metrics import CUTS, Scores, interval, scores_of

DEPTH: Final = 20
OWNER_AGENT: Final = "benchmark"
_CALLER: Final = Caller(source="benchmark", agent=OWNER_AGENT)


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with the scores of both rankings."""

    question: Question
    product: Scores
    baseline: Scores


async def answer(corpus: Corpus, engine: str, settings: EngineSettings) -> list[Answered]:
    """Fill a memory with the corpus and ask every question of it."""
    clock = _CorpusClock()
    with tempfile.TemporaryDirectory() as folder:
        manager = MemoryManager(
            Database(Path(folder) / "memory.db"),
            create_engine(engine, settings),
            max_entries=1_000_000,
            query_timeout_seconds=60,
            clock=clock,
        )
        await manager.open()
        try:
            ids = await _fill(manager, corpus, clock)
            baseline = Baseline(corpus.texts)
            answered = []
            for question in corpus.questions:
                found = await manager.search(
                    _CALLER, Filters(), question.text, DEPTH, **corpus.search_arguments
                )
                ranked = [ids[hit.memory.id] for hit in found.hits]
                answered.append(
                    Answered(
                        question,
                        scores_of(ranked, question.relevant),
                        scores_of(baseline.ranked(question.text, DEPTH), question.relevant),
                    )
                )
            return answered
        finally:
            await manager.close()


class _CorpusClock:
    """The time at which each memory of a corpus was stored, where the corpus tells."""

    def __init__(self) -> None:
        """Start now."""
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


async def _fill(manager: MemoryManager, corpus: Corpus, clock: _CorpusClock) -> dict[str, str]:
    """Store the corpus through the product; returns corpus ids by memory id."""
    ids: dict[str, str] = {}
    for item in corpus.items:
        clock.now = item.created or clock.now
        new = NewMemory(content=item.text, wing=item.wing, room=item.room, scope=Scope.COMMON)
        added = await manager.add(_CALLER, new)
        # A restated turn is one memory: the first of the turns stands for all of them.
        ids.setdefault(added.memory.id, item.id)
    await manager.wait_for_vectors()
    return ids


def table(name: str, answered: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return a row per group of questions: all of them, then each kind."""
    groups: dict[str, list[Answered]] = defaultdict(list)
    for one in answered:
        if one.question.relevant:
            groups["all"].append(one)
            if one.question.same_language:
                groups["same language"].append(one)
            groups[one.question.kind].append(one)
    rows = []
    for group, members in groups.items():
        row: dict[str, Any] = {"set": name, "group": group, "questions": len(members)}
        for field in asdict(members[0].product):
            ours = [getattr(one.product, field) for one in members]
            theirs = [getattr(one.baseline, field) for one in members]
            row[field] = sum(ours) / len(ours)
            row[f"{field}_fts5"] = sum(theirs) / len(theirs)
            low, high = interval(ours, theirs)
            row[f"{field}_difference"] = [low, high]
        rows.append(row)
    silent = [one for one in answered if not one.question.relevant]
    if silent:
        quiet = sum(one.product.found == 0 for one in silent) / len(silent)
        rows.append({"set": name, "group": "no answer", "questions": len(silent), "silent": quiet})
    return rows


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print the figures that people compare, ours beside FTS5 alone."""
    fields = ["hit_1", *(f"recall_{cut}" for cut in CUTS), "mrr", "ndcg_10"]
    print(f"{'set':<12}{'group':<18}{'n':>5}  " + "".join(f"{name:>22}" for name in fields))
    for row in rows:
        head = f"{row['set']:<12}{row['group']:<18}{row['questions']:>5}  "
        if "silent" in row:
            print(f"{head}silent {row['silent']:.3f}")
            continue
        cells = []
        for name in fields:
            low, high = row[f"{name}_difference"]
            cells.append(f"{row[name]:.3f} ({row[f'{name}_fts5']:.3f}{low:+.3f}{high:+.3f})")
        print(head + "".join(f"{cell:>22}" for cell in cells))
    print("Each cell: the product (FTS5 alone, 95 % interval of the difference).")


async def run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the sets that were asked for."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as storage:
        async with aiohttp.ClientSession() as session:
            settings = EngineSettings(
                storage_path=Path(storage),
                session=session,
                url=arguments.url,
                api_key=arguments.api_key,
                model=arguments.model,
            )
            if arguments.locomo:
                corpora, unresolved = locomo_corpora(arguments.locomo)
                print(f"LoCoMo: {unresolved} evidence ids do not resolve")
                answered = [
                    one
                    for corpus in corpora
                    for one in await answer(corpus, arguments.engine, settings)
                ]
                rows += table("locomo", answered)
            if arguments.household:
                corpus = household_corpus(arguments.household)
                rows += table("household", await answer(corpus, arguments.engine, settings))
    return rows


def main() -> None:
    """Read the command line, run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--url", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--api-key")
    parser.add_argument("--locomo", type=Path, metavar="FILE")
    parser.add_argument("--household", type=Path, metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    rows = asyncio.run(run(arguments))
    print_table(rows)
    if arguments.json:
        report = {"engine": arguments.engine, "model": arguments.model, "rows": rows}
        arguments.json.write_text(json.dumps(report, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
