"""The load benchmark, run small, from its command line to its JSON and its exit code."""

from concurrent.futures import ThreadPoolExecutor
import json
from pathlib import Path
import subprocess
import sys

import pytest

from benchmarks import load
from benchmarks.core import Filters, MemoryManager, SearchResult
from benchmarks.filling import ANNA
from scripts.develop import PROJECT

SMALL = ["--memories", "60", "--seconds", "0.5", "--searches", "5", "--dims", "8"]
CALLS = {"count", "a_second", "p50_ms", "p95_ms", "p99_ms", "longest_ms"}


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(load, "IDLE_SECONDS", 0.1)


def _run(*arguments: str) -> int:
    """Run the benchmark away from the event loop of the test plugin."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(load.main, [*SMALL, *arguments]).result()


def test_a_small_run_prints_and_writes_every_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "load.json"
    assert _run("--json", str(file)) == 0
    told = json.loads(file.read_text())

    assert told.keys() == {"benchmark", "environment", "load", "figures"}
    figures = told["figures"]
    for calls in (figures["search"], figures["write"]):
        assert calls.keys() == CALLS
        assert calls["count"] > 0
        assert 0 < calls["p50_ms"] <= calls["p95_ms"] <= calls["p99_ms"] <= calls["longest_ms"]
    # Twenty a second for half a second.
    assert figures["write"]["count"] == 10
    assert sum(figures["rankings"].values()) == figures["search"]["count"]
    assert figures["stall"]["ticks"] > 0
    assert figures["idle"]["ticks"] > 0
    assert figures["errors"] == {}

    printed = capsys.readouterr().out
    assert "60 memories of 8 dimensions, 5 searches at once, 20 writes a second" in printed
    assert "errors: none" in printed


def test_whatever_fails_or_finds_nothing_is_counted_and_ends_in_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    search, turns = MemoryManager.search, iter(range(1_000_000))

    async def often_failing(self: MemoryManager, *arguments: object) -> SearchResult:
        if next(turns) < 3:
            raise ZeroDivisionError
        if next(turns) < 8:
            return SearchResult(hits=(), ranking="none")
        return await search(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(MemoryManager, "search", often_failing)
    assert _run() == 1
    printed = capsys.readouterr().out
    assert "search: ZeroDivisionError 3" in printed
    assert "search found nothing" in printed


def test_a_write_that_is_lost_is_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = load._Crowd.run

    async def forgetful(self: load._Crowd) -> float:
        seconds = await run(self)
        gone = next(iter(self.written))
        await self.memory.delete(ANNA, gone, Filters())
        return seconds

    monkeypatch.setattr(load._Crowd, "run", forgetful)
    monkeypatch.setattr("benchmarks.measuring._VECTORS_TIMEOUT_SECONDS", 0.5)
    assert _run() == 1
    printed = capsys.readouterr().out
    assert "memories lost 1, vectors lost 1, writes not found by search 1" in printed


def test_the_command_exists_and_refuses_what_is_no_load() -> None:
    command = [sys.executable, "-m", "benchmarks.load", "--writes", "0"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert "a positive number is needed" in done.stderr
