"""The figures for a person to read: two tables and what they were measured on."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
import os
from pathlib import Path
import platform
import sqlite3

from .figures import CaseFigures, Section, SetupFigures, Stall

_MEGABYTE = 1_000_000
_CPU_INFO = Path("/proc/cpuinfo")

type Environment = Mapping[str, str | int]


def environment() -> Environment:
    """Return what the figures depend on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "numpy": version("numpy"),
        "aiosqlite": version("aiosqlite"),
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu": _cpu(),
        "cpus": os.process_cpu_count() or 0,
    }


def _cpu() -> str:
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def report(found_on: Environment, cases: Sequence[CaseFigures], setup: SetupFigures | None) -> str:
    """Return everything as text."""
    parts = [", ".join(f"{name} {value}" for name, value in found_on.items())]
    if cases:
        parts += [
            "p50 / p95 / longest stall of the event loop (of which its own), in ms:",
            _summary(cases),
            _details(cases),
        ]
    if setup is not None:
        parts.append(_setup(setup))
    return "\n\n".join(parts)


def _summary(cases: Sequence[CaseFigures]) -> str:
    header = (
        *("memories", "dims", "add", "search", "list", "idle stall", "file MB", "resident MB"),
        *("grown by", "open to first search ms", "to all vectors ms", "stall meanwhile"),
    )
    return _table(header, map(_summary_row, cases))


def _summary_row(case: CaseFigures) -> tuple[str, ...]:
    opening, resident = case.opening, case.resident
    return (
        f"{case.memories}",
        f"{case.dimensions}",
        *map(_section, (case.add, case.search, case.list)),
        _stall(case.idle),
        f"{case.database_bytes / _MEGABYTE:.1f}",
        f"{resident.end_bytes / _MEGABYTE:.0f}",
        f"{resident.growth_bytes / _MEGABYTE:.0f}",
        f"{opening.first_search_ms:.0f}",
        f"{opening.vectors_loaded_ms:.0f}",
        _stall(opening.stall),
    )


def _details(cases: Sequence[CaseFigures]) -> str:
    header = ("", *(f"{case.memories} x {case.dimensions}" for case in cases))
    return _table(
        header,
        (
            (name.replace("_", " "), *(_section(case.sections[name]) for case in cases))
            for name in cases[0].sections
        ),
    )


def _section(section: Section) -> str:
    latency = section.latency
    return f"{latency.p50_ms:.1f} / {latency.p95_ms:.1f} / {_stall(section.stall)}"


def _stall(stall: Stall) -> str:
    return f"{stall.longest_ms:.1f} ({stall.longest_own_ms:.1f})"


def _setup(setup: SetupFigures) -> str:
    return (
        f"Home Assistant {setup.home_assistant}, {setup.memories} memories, engine"
        f" {setup.engine}: async_setup_entry to first answered search"
        f" {setup.first_search_ms:.0f} ms (set up after {setup.setup_ms:.0f} ms, all vectors after"
        f" {setup.vectors_loaded_ms:.0f} ms)"
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
