"""The benchmark of the door, run small, from its command line to its JSON and its exit code."""

from concurrent.futures import ThreadPoolExecutor
import json
from pathlib import Path

import pytest

from benchmarks import door


@pytest.fixture(autouse=True)
def _allow_sockets(socket_enabled: None) -> None:
    """Allow the benchmark its sockets."""


def test_a_small_run_tells_of_every_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "SINGLE_CALLS", 5)
    file = tmp_path / "door.json"
    small = ["--records", "60", "--seconds", "2", "--clients", "3", "--json", str(file)]
    with ThreadPoolExecutor(1) as thread:
        thread.submit(door.main, small).result()
    alone, crowd, flood = json.loads(file.read_text())["parts"]
    assert alone["latencies"]["bootstrap"]["count"] == 5
    assert alone["latencies"]["search"]["count"] == 5
    assert {"bootstrap", "search", "store"} <= crowd["latencies"].keys()
    assert flood["limited"] > 0
    assert flood["latencies"]["search"]["count"] > 0
    for part in (alone, crowd, flood):
        # A short id that was shown is ambiguous once another record of the same second begins so.
        assert all("ambiguous_id" in error for error, count in part["errors"].items() if count)
        assert part["stall"]["ticks"] > 0
        for calls in part["latencies"].values():
            assert 0 < calls["p50_ms"] <= calls["p95_ms"] <= calls["longest_ms"]
    told = capsys.readouterr().out
    assert "60 records of 384 dimensions" in told
    assert told.count("errors: ") == 3
