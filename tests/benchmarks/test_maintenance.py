"""A small run of the benchmark of the daily maintenance."""

from pathlib import Path

from benchmarks.maintenance import fill, measure


async def test_what_is_due_is_done(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await fill(path, 200)
    done = {name: count for name, count, _, _ in await measure(path, 200)}
    assert done.pop("memories of a wing joined to another") > 0
    assert done.pop("tunnels proposed") >= 0
    assert done == {
        "expired memories forgotten": 10,
        "moves told by a dry run": 20,
        "moves between layers, forgotten ones purged": 20,
        "moves that a second maintenance finds": 0,
        "empty places removed": 0,
    }
