"""A small run of the benchmark of the screen."""

import pytest

from benchmarks import screen


def test_a_run_tells_what_was_found_and_how_fast(capsys: pytest.CaptureFixture[str]) -> None:
    screen.main(["--characters", "2000"])
    printed = capsys.readouterr().out
    rows = {line.split("|")[1].strip(): line for line in printed.splitlines()[2:]}
    assert set(rows) == {
        "secrets of machines found",
        "all secrets found",
        "refused of harmless cases",
        "refused of household",
        "prose",
        "slowest",
    }
    assert "MB/s" in rows["prose"]
    assert rows["refused of household"].startswith("| refused of household | 0 of 369 |")
