"""The speed benchmark, run small, from its command line to its JSON."""

from collections.abc import Iterator
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import speed

LATENCY = {"count", "p50_ms", "p95_ms", "longest_ms"}
STALL = {"longest_ms", "longest_own_ms", "over_5_ms", "ticks"}
SECTIONS = {
    "add",
    "add_at_capacity",
    "list_in_room",
    "list_in_wing",
    "list_newest",
    "search_8_at_once",
    "search_8_at_once_after_write",
    "search_after_write",
    "search_by_common_words",
    "search_by_meaning",
    "search_by_rare_words",
    "search_in_wing",
    "search_misspelled",
    "search_without_answer",
}


def _numbers(figures: Any) -> Iterator[float]:
    if isinstance(figures, dict):
        figures = list(figures.values())
    if isinstance(figures, list):
        for value in figures:
            yield from _numbers(value)
    elif isinstance(figures, int | float):
        yield figures


def test_a_small_run_prints_and_writes_every_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "speed.json"
    speed.main(["--sizes", "50", "--dims", "8", "--setup", "50", "--json", str(file)])
    figures = json.loads(file.read_text())

    assert figures.keys() == {"benchmark", "seed", "environment", "cases", "setup"}
    assert {"date", "python", "sqlite", "numpy", "cpus", "machine"} <= figures["environment"].keys()
    [case] = figures["cases"]
    assert (case["memories"], case["dimensions"], case["sections"].keys()) == (50, 8, SECTIONS)
    for section in (case["add"], case["search"], case["list"], *case["sections"].values()):
        latency, stall = section["latency"], section["stall"]
        assert (latency.keys(), stall.keys()) == (LATENCY, STALL)
        assert 0 < latency["p50_ms"] <= latency["p95_ms"] <= latency["longest_ms"]
        assert 0 < stall["longest_own_ms"] <= stall["longest_ms"]
    assert case["idle"].keys() == STALL
    assert case["database_bytes"] > 0
    resident = case["resident"]
    assert 0 < resident["before_bytes"] <= resident["peak_bytes"]
    for opened in (case["opening"], figures["setup"]):
        assert 0 < opened["first_search_ms"] <= opened["vectors_loaded_ms"]
    assert figures["setup"]["memories"] == 50
    assert min(_numbers(figures)) >= 0

    table = capsys.readouterr().out
    assert "50 x 8" in table
    assert "async_setup_entry to first answered search" in table


def test_numbers_below_one_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        speed.main(["--sizes", "0"])
    assert "positive numbers are needed" in capsys.readouterr().err
