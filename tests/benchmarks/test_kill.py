"""The killing benchmark, run small: nothing is lost, and what is lost would be noticed."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
import random
import shutil
import sqlite3

import pytest

from benchmarks import kill
from benchmarks.kill_checks import Promised, faults

ROUNDS = 3


def test_nothing_is_lost_or_torn(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(kill.main, ["--rounds", str(ROUNDS)]).result() == 0
    assert f"{ROUNDS} processes killed" in capsys.readouterr().out


def _faults(path: Path, promised: Promised) -> list[str]:
    """Look away from the event loop of the test plugin."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(faults(path, promised))).result()


def _last_with_vector(path: Path) -> int | None:
    """Return the newest active memory whose vector was made before the process was killed."""
    with closing(sqlite3.connect(path)) as connection:
        row: int | None = connection.execute(
            "SELECT max(sequence) FROM memories JOIN embeddings USING (sequence)"
            " WHERE status = 'active'"
        ).fetchone()[0]
    return row


@pytest.fixture(scope="module")
def stormed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Promised]:
    """Return a file whose process was killed, and what it promised."""
    path, promised = tmp_path_factory.mktemp("storm") / "storm.db", Promised()
    generator = random.Random(1)  # noqa: S311 - no secret
    for number in range(20):
        promised.hear(kill._storm(path, f"round{number}", generator, early=False))
        assert _faults(path, promised) == []
        if _last_with_vector(path) is not None:
            return path, promised
    pytest.fail("No process lived long enough to make a vector")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("DELETE FROM memories WHERE sequence = {row}", "promised"),
        ("UPDATE memories SET content = 'Else.' WHERE sequence = {row}", "promised"),
        ("UPDATE memories SET revision = revision + 1 WHERE sequence = {row}", "without a record"),
        ("DELETE FROM embeddings WHERE sequence = {row}", None),
        ("UPDATE embeddings SET digest = x'00' WHERE sequence = {row}", "with an old one"),
        (
            "INSERT INTO memory_words (rowid, content, summary, place) VALUES ({row}, 'x', '', '')",
            "memory_words differs",
        ),
    ],
)
def test_what_is_wrong_is_noticed(
    stormed: tuple[Path, Promised], tmp_path: Path, damage: str, told: str | None
) -> None:
    whole, promised = stormed
    path = tmp_path / "storm.db"
    shutil.copy(whole, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage.format(row=_last_with_vector(path)))
    found = _faults(path, promised)
    if told is None:
        # What only lacks its vector gets it at the next start.
        assert found == []
    else:
        assert any(told in one for one in found), found
