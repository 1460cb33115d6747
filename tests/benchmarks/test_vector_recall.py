"""The recall benchmark, run small, from its command line to its JSON."""

from concurrent.futures import ThreadPoolExecutor
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import vector_recall, vector_sets


def test_a_small_run_prints_and_writes_every_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_recall, "encoder_is_installed", lambda: False)
    file = tmp_path / "recall.json"
    arguments = ["--sizes", "3000,5000", "--dims", "384,100", "--json", str(file)]
    # In a thread of its own: older test plugins want the main one's loop for themselves.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(vector_recall.main, arguments).result()
    rows = json.loads(file.read_text())["rows"]
    cases = [(row["vectors"], row["memories"], row["dimensions"]) for row in rows]
    assert cases == [
        ("synthetic", 3000, 384),
        ("synthetic", 5000, 384),
        ("synthetic", 3000, 100),
        ("synthetic", 5000, 100),
    ]
    for row in rows:
        assert row["recall_10"] >= 0.98
        # So few are visible that all of them are compared exactly.
        assert row["recall_10_filtered"] >= (1.0 if row["memories"] == 3000 else 0.98)
        assert row["bit_bytes_per_memory"] == -(-row["dimensions"] // 64) * 8
        assert 0 < row["packed"]["p50_ms"] <= row["packed"]["p95_ms"]
        assert row["packed_to_exact"] == pytest.approx(
            row["packed"]["p50_ms"] / row["exact"]["p50_ms"]
        )
    assert "synthetic" in capsys.readouterr().out


def test_sentences_are_read_from_lines_and_json_lines(tmp_path: Path) -> None:
    plain, structured = tmp_path / "plain.txt", tmp_path / "some.jsonl"
    plain.write_text("one\n\ntwo\n")
    structured.write_text('{"text": "three"}\n')
    assert vector_sets._sentences(plain) == (["one", "two"], [])
    assert vector_sets._sentences(structured) == (["three"], [])


def test_mixtures_keep_the_mean_and_begin_with_the_base() -> None:
    base = vector_sets.spectrum_set(1)
    made = np.concatenate(list(vector_sets.more(base, 9000, 1)))
    assert made.shape == (9000, 384)
    assert np.array_equal(made[: len(base.documents)], base.documents)
    assert np.linalg.norm(made, axis=1) == pytest.approx(1.0, abs=1e-5)
    own, mixed = base.documents.mean(axis=0), made[len(base.documents) :].mean(axis=0)
    assert own @ mixed / np.linalg.norm(own) / np.linalg.norm(mixed) > 0.99
