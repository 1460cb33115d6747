"""The benchmark of the prompt, run small, from its command line to its JSON."""

import json
from pathlib import Path
import subprocess
import sys

import pytest

from benchmarks import prompt

PROJECT = Path(__file__).resolve().parents[2]


def test_a_small_run_prints_and_writes_every_figure(tmp_path: Path) -> None:
    file = tmp_path / "prompt.json"
    small = ("--memories", "60", "--turns", "5", "--json", str(file))
    # A process of its own: the benchmark starts a Home Assistant core.
    done = subprocess.run(  # noqa: S603 - the project's own program
        (sys.executable, "-m", "benchmarks.prompt", *small),
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    figures = json.loads(file.read_text())
    assert figures.keys() == {"benchmark", "seed", "memories", "environment", "sections"}
    assert (figures["benchmark"], figures["memories"], len(figures["sections"])) == (
        "prompt",
        60,
        5,
    )
    for name, section in figures["sections"].items():
        assert section["turns"] == 5
        assert 0 < section["p50_ms"] <= section["p99_ms"] <= section["longest_ms"]
        assert name in done.stdout
    assert "goal: p50 2 ms, p99 10 ms" in done.stdout


@pytest.mark.parametrize("wanted", ["0", "-1", "many"])
def test_a_number_that_makes_no_sense_is_refused(
    wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        prompt.main(["--memories", wanted])
    assert "--memories" in capsys.readouterr().err
