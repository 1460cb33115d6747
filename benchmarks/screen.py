"""What the screen for secrets finds, what it refuses wrongly and how fast it is.

    python -m benchmarks.screen [--locomo FILE] [--characters 1000000]

The secrets are those of the tests. Prose is the household, and LoCoMo where its file is given. The
slowest text is made of one piece, over and over: every literal that a rule begins at, in turn.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import thread_time
from typing import Final

from custom_components.ai_memory.core.screen import HOME, WORKSHOP, Strictness, screen
from tests.core.screen_cases import HARD, HARMLESS, MACHINE, POSITIVES

from .datasets import household_corpus, locomo_corpora

HOUSEHOLD: Final = Path(__file__).parent / "household"
ROUNDS: Final = 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark as the command line asks."""
    wanted = _parser().parse_args(arguments)
    texts = {"harmless cases": list(HARMLESS), "household": _household()}
    if wanted.locomo:
        texts["LoCoMo"] = [
            item.text for corpus in locomo_corpora(wanted.locomo)[0] for item in corpus.items
        ]
    print("| | home | workshop |\n|---|---|---|")
    print(f"| secrets of machines found | {_found(MACHINE, HOME)} | {_found(MACHINE, WORKSHOP)} |")
    print(f"| all secrets found | {_found(POSITIVES, HOME)} | {_found(POSITIVES, WORKSHOP)} |")
    for name, corpus in texts.items():
        print(f"| refused of {name} | {_refused(corpus, HOME)} | {_refused(corpus, WORKSHOP)} |")
    prose = "\n".join(text for name in texts for text in texts[name] if name != "harmless cases")
    prose = (prose * (wanted.characters // len(prose) + 1))[: wanted.characters]
    clean = "\n".join(line for line in prose.splitlines() if screen("", line) is None)
    print(f"| prose | {_speed(clean, HOME)} | {_speed(clean, WORKSHOP)} |")
    print(f"| slowest | {_slowest(wanted.characters, HOME)} | {_slowest(wanted.characters)} |")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.screen", description="Measure the screen for secrets."
    )
    parser.add_argument("--locomo", type=Path, help="a file of LoCoMo conversations")
    parser.add_argument("--characters", type=int, default=1_000_000, help="of each timed text")
    return parser


def _household() -> list[str]:
    return list(household_corpus(HOUSEHOLD).texts.values())


def _found(cases: Iterable[tuple[str, str]], strictness: Strictness) -> str:
    found = [screen("", text, strictness) is not None for _, text in cases]
    return f"{sum(found)} of {len(found)}"


def _refused(texts: Sequence[str], strictness: Strictness) -> str:
    refused = sum(screen("", text, strictness) is not None for text in texts)
    return f"{refused} of {len(texts)}"


def _seconds(text: str, strictness: Strictness) -> float:
    begun = thread_time()
    screen("", text, strictness)
    return thread_time() - begun


def _speed(text: str, strictness: Strictness) -> str:
    best = min(_seconds(text, strictness) for _ in range(ROUNDS))
    return f"{len(text.encode()) / best / 1e6:.1f} MB/s"


def _slowest(characters: int, strictness: Strictness = WORKSHOP) -> str:
    slowest = max(
        (_seconds((piece * (characters // len(piece) + 1))[:characters], strictness), piece)
        for piece in HARD
    )
    return f"{slowest[0]:.2f} s for {characters:,} characters of {slowest[1]!r}"


if __name__ == "__main__":
    main()
