"""Run the conformance suite. Usage: ``scripts/conformance``, which brings Node and the suite.

Exits with 1 when anything is other than ``not_applicable.json`` says.
"""

import argparse
import asyncio
from pathlib import Path
import sys
import tempfile
import time

from .endpoint import fixture_server
from .suite import SUITES, Suite, Verdict, judge, read_list, run_suite


def main() -> int:
    """Run every suite and print what it found."""
    parser = argparse.ArgumentParser(prog="scripts/conformance")
    parser.add_argument("--node", type=Path, required=True, help="the Node executable")
    parser.add_argument("--modules", type=Path, required=True, help="where the releases are")
    options = parser.parse_args()
    return 0 if asyncio.run(_run_all(options.node, options.modules)) else 1


async def _run_all(node: Path, modules: Path) -> bool:
    listed = read_list()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for number, suite in enumerate(SUITES):
            started = time.monotonic()
            async with fixture_server() as url:
                checks = await run_suite(suite, node, modules, url, Path(folder) / str(number))
            verdict = judge(checks, listed.get(suite.name, {}))
            _print(suite, verdict, time.monotonic() - started)
            good = good and verdict.good
    return good


def _print(suite: Suite, verdict: Verdict, seconds: float) -> None:
    print(
        f"{suite.name} ({suite.package}): {verdict.passed} checks passed,"
        f" {len(verdict.expected)} do not apply ({seconds:.0f} s)"
    )
    for name in verdict.unexpected:
        print(f"  unexpected: {name}")
    for name in verdict.outdated:
        print(f"  listed, but no longer failing: {name}")


if __name__ == "__main__":
    sys.exit(main())
