"""The benchmark of near duplicates, on the household set: no fact may be lost."""

from concurrent.futures import ThreadPoolExecutor
import json
from pathlib import Path

import pytest

from benchmarks import near_duplicates


def test_no_fact_of_the_household_is_superseded_and_changed_facts_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "near.json"
    arguments = ["--size", "500", "--show", "--json", str(file)]
    # In a thread of its own: older test plugins want the main one's loop for themselves.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(near_duplicates.main, arguments).result()
    report = json.loads(file.read_text())
    household = report["sets"][0]
    assert (household["added"], household["restated"], household["superseded"]) == (369, 0, 0)
    assert (household["changed"], household["right"]) == (21, 16)
    assert household["named"] <= 32
    assert 0 < report["look_up"]["p50_ms"] <= report["look_up"]["p95_ms"]
    assert "The winter tyres for Snowball now hang" in capsys.readouterr().out
