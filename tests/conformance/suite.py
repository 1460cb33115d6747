"""Running the suite and comparing what it found with what is known not to apply.

The suite writes the checks of every scenario into a file. A check that fails or warns must be
listed with a reason, and one that is listed must still fail: a list that is out of date is an
error as well.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
import json
from pathlib import Path
import re
import subprocess
from typing import Final

TIMEOUT_SECONDS: Final = 100
LIST: Final = Path(__file__).with_name("not_applicable.json")
_STAMP: Final = re.compile(r"^server-(?P<scenario>.+?)-\d{4}-\d{2}-\d{2}T.*$")
_BAD: Final = frozenset({"FAILURE", "WARNING"})

type Checks = dict[str, str]
"""Each check with what became of it, named ``scenario/check``."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One release of the suite with the arguments that select a set of scenarios."""

    name: str
    package: str
    arguments: tuple[str, ...]


SUITES: Final = (
    Suite("2025-06-18", "stable", ("--suite", "all", "--spec-version", "2025-06-18")),
    Suite("2025-11-25", "stable", ("--suite", "all", "--spec-version", "2025-11-25")),
    Suite("2025-11-25 requirements", "next", ("--requirements", "2025-11-25")),
    Suite("2026-07-28 requirements", "next", ("--requirements", "2026-07-28")),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one suite found, set against the list."""

    passed: int
    expected: list[str]
    unexpected: list[str]
    outdated: list[str]

    @property
    def good(self) -> bool:
        """Whether all is as listed."""
        return bool(self.passed) and not self.unexpected and not self.outdated


async def run_suite(suite: Suite, node: Path, modules: Path, url: str, results: Path) -> Checks:
    """Run a suite against a server and return its checks."""
    program = modules / suite.package / "dist" / "index.js"
    results.mkdir(parents=True)
    process = await asyncio.create_subprocess_exec(
        *(str(node), str(program), "server", "--url", url, "-o", str(results)),
        *suite.arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            _, errors = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    checks = read_checks(results)
    if not checks:
        raise RuntimeError(f"The suite reported nothing: {errors.decode(errors='replace')}")
    return checks


def read_checks(results: Path) -> Checks:
    """Return the checks that a run left behind; of one made several times, the worst."""
    checks: Checks = {}
    for file in sorted(results.rglob("checks.json")):
        stamped = _STAMP.match(file.parent.name)
        scenario = stamped["scenario"] if stamped else file.parent.name
        for check in json.loads(file.read_text(encoding="utf-8")):
            name = f"{scenario}/{check['id']}"
            if checks.get(name) not in _BAD:
                checks[name] = check["status"]
    return checks


def read_list() -> dict[str, dict[str, str]]:
    """Return the checks that do not apply, by suite, each with its reason."""
    listed: dict[str, dict[str, str]] = json.loads(LIST.read_text(encoding="utf-8"))
    return listed


def judge(checks: Checks, listed: Mapping[str, str]) -> Verdict:
    """Compare a run with the list; an entry that ends in ``/*`` stands for a whole scenario."""
    bad = {name for name, status in checks.items() if status in _BAD}
    covered = {name: _entry(name, listed) for name in bad}
    used = set(covered.values())
    return Verdict(
        passed=sum(status == "SUCCESS" for status in checks.values()),
        expected=sorted(name for name in bad if covered[name]),
        unexpected=sorted(name for name in bad if not covered[name]),
        outdated=sorted(entry for entry in listed if entry not in used),
    )


def _entry(name: str, listed: Mapping[str, str]) -> str | None:
    whole = f"{name.partition('/')[0]}/*"
    return next((entry for entry in (name, whole) if entry in listed), None)
