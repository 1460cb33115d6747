"""Document frequencies and the file that keeps them."""

import errno
import json
import os
from pathlib import Path
import signal
import stat
import subprocess
import sys
from types import MappingProxyType

import pytest

from custom_components.ai_memory.embedding import vocabulary
from custom_components.ai_memory.embedding.vocabulary import (
    IDF_MAX,
    IDF_MIN,
    Statistics,
    StatisticsFileError,
    load_statistics,
    save_statistics,
)

_PACKAGE_FOLDER = Path(vocabulary.__file__).parent.parent

_KILLED_BEFORE_THE_RENAME = """
import os, pathlib, signal, sys
sys.path.insert(0, sys.argv[1])
from embedding.vocabulary import Statistics, save_statistics
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
save_statistics(pathlib.Path(sys.argv[2]), Statistics.of(["something new"]))
"""


def test_each_document_counts_a_term_once() -> None:
    statistics = Statistics.of(["tea tea Tea", "green tea"])
    assert statistics.document_count == 2
    assert statistics.term_df == {"tea": 2, "green": 1}


def test_removed_documents_are_forgotten() -> None:
    statistics = Statistics.of(["green tea", "black tea"]).changed(["coffee"], ["green tea"])
    assert statistics.document_count == 2
    assert statistics.term_df == {"tea": 1, "black": 1, "coffee": 1}


def test_removing_what_was_never_added_does_no_harm() -> None:
    assert Statistics().changed([], ["green tea"]) == Statistics()


def test_a_change_leaves_the_earlier_statistics_alone() -> None:
    before = Statistics.of(["tea"])
    before.changed(["tea"], [])
    assert before == Statistics(1, MappingProxyType({"tea": 1}))


def test_idf_falls_from_rare_to_common_within_its_bounds() -> None:
    statistics = Statistics.of([f"user word{number % 10} id{number}" for number in range(1000)])
    weights = [statistics.idf(term) for term in ("unknown", "id7", "word7", "user")]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == pytest.approx(IDF_MAX, abs=0.05)
    assert weights[1] > 2.5
    assert weights[2] < 2.0
    assert weights[3] == IDF_MIN


def test_few_documents_weigh_terms_little() -> None:
    assert Statistics().idf("tea") == IDF_MIN
    assert Statistics.of(["tea"]).idf("coffee") < 1.25


def test_idf_stays_in_bounds_with_inconsistent_counts() -> None:
    assert Statistics(2, MappingProxyType({"tea": 900})).idf("tea") == IDF_MIN


def test_over_the_cap_the_rarest_terms_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MAX_TERMS", 100)
    monkeypatch.setattr(vocabulary, "_PRUNED_TERMS", 80)
    common = "alpha beta gamma"
    statistics = Statistics.of([common] * 5)
    for number in range(300):
        statistics = statistics.changed([f"id{number} id{number}b"], [])
        assert len(statistics.term_df) <= 100
    assert {term: statistics.term_df[term] for term in common.split()} == dict.fromkeys(
        common.split(), 5
    )
    assert "id299b" in statistics.term_df
    assert "id0" not in statistics.term_df


def test_exactly_the_excess_is_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MAX_TERMS", 5)
    monkeypatch.setattr(vocabulary, "_PRUNED_TERMS", 3)
    statistics = Statistics.of(["aa bb cc", "aa bb cc", "aa bb", "dd", "ee", "ff"])
    assert statistics.term_df == {"aa": 3, "bb": 3, "cc": 2}


def test_statistics_survive_in_their_file(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "vocab.json"
    statistics = Statistics.of(["green tea", "緑茶 🍵", "чай"])
    save_statistics(path, statistics)
    assert load_statistics(path) == statistics
    assert json.loads(path.read_text()) == {
        "document_count": 3,
        "term_df": dict(statistics.term_df),
        "version": 1,
    }
    assert _names(path.parent) == ["vocab.json"]


@pytest.mark.skipif(os.name == "nt", reason="permission bits are POSIX's")
def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.write_text("{}")
    path.chmod(0o644)
    save_statistics(path, Statistics.of(["tea"]))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_file_means_no_statistics(tmp_path: Path) -> None:
    assert load_statistics(tmp_path / "vocab.json") == Statistics()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe",
        b'{"document_count": 3, "term_df": {"te',
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"document_count": 10, "term_df": {"bought": 1}}',
        b'{"document_count": 10, "term_df": {"bought": 1}, "version": 2}',
        b'{"document_count": 10, "term_df": {"bought": 1}, "version": "1"}',
        b'{"document_count": -1, "term_df": {}, "version": 1}',
        b'{"document_count": 1.5, "term_df": {}, "version": 1}',
        b'{"document_count": NaN, "term_df": {}, "version": 1}',
        b'{"document_count": 1, "term_df": {"tea": "1"}, "version": 1}',
        b'{"document_count": 1, "term_df": {"tea": 0}, "version": 1}',
        b'{"document_count": 1, "term_df": ["tea"], "version": 1}',
        b'{"document_count": ' + b"9" * 5000 + b', "term_df": {}, "version": 1}',
    ],
    ids=[
        "empty",
        "binary",
        "cut_short",
        "list",
        "null",
        "deep",
        "previous",
        "newer",
        "version_as_text",
        "negative_count",
        "fractional_count",
        "not_a_number",
        "df_as_text",
        "df_of_zero",
        "df_as_list",
        "huge_number",
    ],
)
def test_damaged_previous_and_newer_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vocab.json"
    path.write_bytes(content)
    with pytest.raises(StatisticsFileError):
        load_statistics(path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.touch()
    os.truncate(path, 1 << 30)
    with pytest.raises(StatisticsFileError, match="too large"):
        load_statistics(path)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StatisticsFileError):
        load_statistics(tmp_path)


def test_a_full_disk_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vocab.json"
    save_statistics(path, Statistics.of(["tea"]))

    def fail(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        save_statistics(path, Statistics.of(["coffee"]))
    assert load_statistics(path) == Statistics.of(["tea"])
    assert _names(tmp_path) == ["vocab.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_crash_before_the_rename_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    save_statistics(path, Statistics.of(["tea"]))
    crashed = subprocess.run(  # noqa: S603 - this interpreter, on the text above
        [sys.executable, "-c", _KILLED_BEFORE_THE_RENAME, str(_PACKAGE_FOLDER), str(path)],
        check=False,
    )
    assert crashed.returncode == -signal.SIGKILL
    assert _names(tmp_path) == ["vocab.json", "vocab.json.tmp"]
    assert load_statistics(path) == Statistics.of(["tea"])
    save_statistics(path, Statistics.of(["coffee"]))
    assert load_statistics(path) == Statistics.of(["coffee"])
    assert _names(tmp_path) == ["vocab.json"]


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())
