"""The promises of the TF-IDF engine, on its real file."""
# ruff: noqa: S311 - small files of the test, made-up words

import asyncio
from collections.abc import AsyncIterator
from itertools import chain
import json
import logging
import os
from pathlib import Path
from random import Random
import subprocess
import sys

import numpy as np
import pytest

from custom_components.ai_memory.embedding import (
    DEFAULT_ENGINE,
    ENGINE_NAMES,
    EngineError,
    EngineSettings,
    FloatMatrix,
    TextKind,
    UnknownEngineError,
    create_engine,
    tfidf,
)
from custom_components.ai_memory.embedding.tfidf import DIMENSIONS, SELF_COSINE, TfidfEngine
from custom_components.ai_memory.embedding.vocabulary import Statistics, save_statistics

_PACKAGE_FOLDER = Path(tfidf.__file__).parent.parent

_IN_ANOTHER_PROCESS = """
import asyncio, pathlib, sys
sys.path.insert(0, sys.argv[1])
from embedding.protocol import TextKind
from embedding.tfidf import TfidfEngine
async def main():
    engine = TfidfEngine(pathlib.Path(sys.argv[2]))
    await engine.start()
    rows = await engine.embed(sys.argv[4:], TextKind(sys.argv[3]))
    assert not any(name.startswith("homeassistant") for name in sys.modules)
    print(rows.tobytes().hex())
asyncio.run(main())
"""

# A memory and a question about it that shares words or parts of words with it.
_PARAPHRASES = {
    "English": [
        ("User is allergic to peanuts", "peanut allergy"),
        ("The washing machine is in the basement", "where is the washer machine"),
        ("Heating turns down at 22:30 on weekdays", "weekday heating schedule"),
        ("User likes jazz music while cooking", "which music for cooking"),
        ("Grandmother visits every Sunday", "grandma visit"),
    ],
    "German": [
        ("Der Benutzer ist allergisch gegen Erdnüsse", "Erdnussallergie"),
        ("Die Waschmaschine steht im Keller", "wo ist die Waschmaschine"),
        ("Anna hat am 14. März Geburtstag", "Annas Geburtstag"),
        ("Die Großmutter kommt jeden Sonntag", "Besuch der GROSSMUTTER am Sonntag"),
    ],
    "Turkish": [
        ("Kullanıcının fıstık alerjisi var", "fıstığa alerjik"),
        ("Çamaşır makinesi bodrumda duruyor", "CAMASIR MAKINESI nerede"),
        ("Isıtma hafta içi 22:30'da kısılıyor", "hafta içi ISITMA saatleri"),
    ],
    "Russian": [
        ("У пользователя аллергия на арахис", "аллергия к арахису"),
        ("Стиральная машина стоит в подвале", "где стиральная машинка"),
        ("Собаку зовут Рекс, она ест два раза в день", "кормить собаку"),
    ],
    "Arabic": [
        ("المستخدم لديه حساسية من الفول السوداني", "حساسية الفول السودانى"),
        ("الغسالة موجودة في القبو", "أين الغسالة"),
        ("رمز باب المرآب هو 4711", "رمز المراب"),
    ],
    "Hindi": [
        ("उपयोगकर्ता को मूंगफली से एलर्जी है", "मूंगफली की एलर्जी"),
        ("वॉशिंग मशीन तहखाने में है", "वाशिंग मशीन कहाँ है"),
        ("गैराज का कोड 4711 है", "गैराज कोड"),
    ],
    "Chinese": [
        ("用户对花生过敏", "花生过敏症"),
        ("洗衣机在地下室", "洗衣机放在哪里"),
        ("车库门的密码是4711", "车库密码"),
    ],
    "Japanese": [
        ("ユーザーはピーナッツアレルギーです", "ピーナッツのアレルギー"),
        ("洗濯機は地下室にあります", "洗濯機はどこですか"),
        ("暖房は平日22時30分に下がります", "平日の暖房の時間"),
    ],
    "Korean": [
        ("사용자는 땅콩 알레르기가 있습니다", "땅콩알레르기"),
        ("난방은 평일 22시 30분에 낮아집니다", "평일 난방 시간"),
        ("차고 문의 비밀번호는 4711입니다", "차고 비밀번호"),
    ],
    "Thai": [
        ("ผู้ใช้แพ้ถั่วลิสง", "อาการแพ้ถั่วลิสง"),
        ("เครื่องซักผ้าอยู่ในห้องใต้ดิน", "เครื่องซักผ้าอยู่ที่ไหน"),
        ("รหัสประตูโรงรถคือ 4711", "รหัสโรงรถ"),
    ],
}
_MEMORIES = [memory for memory, _ in chain.from_iterable(_PARAPHRASES.values())]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vocab.json"


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[TfidfEngine]:
    engine = TfidfEngine(path)
    await engine.start()
    yield engine
    await engine.stop()


async def test_the_registry_makes_the_engine(tmp_path: Path) -> None:
    assert ENGINE_NAMES == ("tfidf", "builtin", "ollama", "openai_compatible")
    engine = create_engine(DEFAULT_ENGINE, EngineSettings(storage_path=tmp_path))
    assert engine.name == "tfidf"
    assert engine.fingerprint == "tfidf/384/1"
    assert engine.local
    assert engine.document_count == 0
    await engine.start()
    await engine.observe(["tea"], [])
    await engine.stop()
    assert [file.name for file in tmp_path.iterdir()] == ["ai_memory_tfidf_vocab.json"]


def test_the_registry_refuses_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownEngineError, match="'word2vec'"):
        create_engine("word2vec", EngineSettings(storage_path=tmp_path))
    assert issubclass(UnknownEngineError, EngineError)


@pytest.mark.parametrize("kind", TextKind)
async def test_rows_are_unit_vectors_or_zero(engine: TfidfEngine, kind: TextKind) -> None:
    await engine.reset(_MEMORIES)
    texts = [
        *_MEMORIES,
        "🎂",
        "a",
        "4711",
        "€",
        "lone \ud800 surrogate",
        "nul\x00inside",
        "x" * 10_000,
    ]
    rows = await engine.embed(texts, kind)
    assert rows.shape == (len(texts), DIMENSIONS)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-6)
    blank = await engine.embed(["", " \n", "?!... -- _", "\x00", "\udfff"], kind)
    assert not blank.any()


async def test_no_texts_make_no_rows(engine: TfidfEngine) -> None:
    rows = await engine.embed([], TextKind.QUERY)
    assert rows.shape == (0, DIMENSIONS)
    assert rows.dtype == np.float32


async def test_a_text_has_one_vector_alone_or_among_others(engine: TfidfEngine) -> None:
    await engine.reset(_MEMORIES)
    for kind in TextKind:
        together = await engine.embed(_MEMORIES, kind)
        alone = [(await engine.embed([memory], kind))[0] for memory in _MEMORIES]
        assert np.array_equal(together, np.stack(alone))


async def test_a_document_vector_depends_on_its_text_alone(engine: TfidfEngine) -> None:
    before = await engine.embed(_MEMORIES, TextKind.DOCUMENT)
    await engine.observe(_random_documents(200), [])
    assert np.array_equal(before, await engine.embed(_MEMORIES, TextKind.DOCUMENT))


@pytest.mark.parametrize("kind", TextKind)
@pytest.mark.parametrize("seed", ["0", "4711"])
async def test_vectors_are_the_same_in_every_process(path: Path, kind: TextKind, seed: str) -> None:
    engine = TfidfEngine(path)
    await engine.start()
    await engine.reset(_MEMORIES)
    await engine.stop()
    texts = ["Erdnussallergie 🥜", "花生过敏症", "аллергия", "the the peanut"]
    here = await engine.embed(texts, kind)
    arguments = [sys.executable, "-c", _IN_ANOTHER_PROCESS, str(_PACKAGE_FOLDER), str(path), kind]
    there = await asyncio.to_thread(
        subprocess.run,
        [*arguments, *texts],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert there.stdout.strip() == here.tobytes().hex()


async def test_every_text_finds_itself_after_growth_and_restart(path: Path) -> None:
    engine = TfidfEngine(path)
    await engine.start()
    long_texts = [" ".join(_random_documents(60, seed=seed)) for seed in range(5)]
    early = [*_MEMORIES, *long_texts, "🎂", "🎂🎉", "4711", "the tea", "tea"]
    await engine.observe(early, [])
    stored = await engine.embed(early, TextKind.DOCUMENT)
    others = list(dict.fromkeys(_random_documents(5000, seed=99)))
    await engine.observe(others, [])
    await engine.stop()

    restarted = TfidfEngine(path)
    await restarted.start()
    assert restarted.document_count == len(early) + len(others)
    matrix = np.concatenate([stored, await restarted.embed(others, TextKind.DOCUMENT)])
    sample = [*early, *others[::10]]
    places = [*range(len(early)), *range(len(early), len(matrix), 10)]
    scores = await restarted.embed(sample, TextKind.QUERY) @ matrix.T
    assert scores.argmax(axis=1).tolist() == places
    assert scores[range(len(sample)), places].min() >= 0.866
    await restarted.stop()


async def test_the_bound_holds_for_the_worst_corpus(engine: TfidfEngine) -> None:
    # Half of each text is in every document and half in none: the extreme of the inequality.
    await engine.reset(["alpha bravo delta"] * 3000)
    random = Random(1)
    texts = [
        f"{known} {''.join(random.choices('bcdfghjklmnp', k=len(known)))}"
        for known in ("alpha", "bravo", "delta", "alpha bravo")
        for _ in range(100)
    ]
    documents = await engine.embed(texts, TextKind.DOCUMENT)
    queries = await engine.embed(texts, TextKind.QUERY)
    cosines = np.einsum("ij,ij->i", documents, queries)
    assert cosines.min() >= SELF_COSINE - 1e-6
    assert cosines.min() < 0.95
    assert np.linalg.norm(queries, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_query_is_moved_no_further_than_to_the_bound() -> None:
    document, query = np.eye(DIMENSIONS)[:2]
    moved = tfidf._at_least_alike(query, document)
    assert moved @ document == pytest.approx(SELF_COSINE)
    assert moved @ moved == pytest.approx(1.0)
    assert moved @ query == pytest.approx((1 - SELF_COSINE**2) ** 0.5)
    assert tfidf._at_least_alike(document, document) is document
    assert np.array_equal(tfidf._at_least_alike(np.zeros(DIMENSIONS), document), document)


@pytest.mark.parametrize("language", _PARAPHRASES)
async def test_a_paraphrase_finds_its_memory_among_all_languages(
    engine: TfidfEngine, language: str
) -> None:
    await engine.reset(_MEMORIES)
    documents = await engine.embed(_MEMORIES, TextKind.DOCUMENT)
    for memory, question in _PARAPHRASES[language]:
        scores = documents @ (await engine.embed([question], TextKind.QUERY))[0]
        own = scores[_MEMORIES.index(memory)]
        runner_up = np.delete(scores, _MEMORIES.index(memory)).max()
        assert own > runner_up + 0.03, (question, own, runner_up)


async def test_a_short_paraphrase_scores_clearly_above_unrelated_texts(engine: TfidfEngine) -> None:
    texts = ["User is allergic to peanuts", "The bin is collected on Thursday", "User likes green"]
    scores = await _scores(engine, "peanut allergy", texts)
    assert scores[0] > 0.35
    assert max(scores[1:]) < 0.15


async def test_unrelated_texts_are_nearly_orthogonal(engine: TfidfEngine) -> None:
    random = Random(7)
    words = ["".join(random.choices("abdefgiklmnoprstu", k=7)) for _ in range(2400)]
    texts = [" ".join(words[start : start + 8]) for start in range(0, len(words), 8)]
    rows = await engine.embed(texts, TextKind.DOCUMENT)
    cosines = (rows @ rows.T)[~np.eye(len(rows), dtype=bool)]
    assert abs(float(cosines.mean())) < 0.02
    assert float(np.abs(cosines).max()) < 0.3


async def test_rare_words_of_a_question_count_more(engine: TfidfEngine) -> None:
    await engine.reset([f"the user likes thing{number} a lot" for number in range(500)])
    texts = ["the user likes a lot", "piano"]
    scores = await _scores(engine, "the user likes piano", texts)
    fresh = TfidfEngine(Path("unused"))
    unweighted = await _scores(fresh, "the user likes piano", texts)
    assert scores[1] > unweighted[1] + 0.1
    assert scores[0] < unweighted[0]


@pytest.mark.parametrize(
    "content",
    [
        '{"document_count": 10, "term_df": {"bought": 1, "tea": 2}}',
        '{"document_count": 10, "term_df": {"bought": 1}, "version": 2}',
        '{"document_count": 10, "term_df": {"bou',
    ],
    ids=["previous", "newer", "cut short"],
)
async def test_a_foreign_file_starts_empty_and_is_replaced_on_reset(
    path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    path.write_text(content)
    engine = TfidfEngine(path)
    await engine.start()
    assert engine.document_count == 0
    assert "are not used" in caplog.text
    await engine.stop()
    assert path.read_text() == content
    await engine.start()
    await engine.reset(["green tea", "black tea"])
    await engine.stop()
    assert json.loads(path.read_text()) == {
        "document_count": 2,
        "term_df": {"green": 1, "tea": 2, "black": 1},
        "version": 1,
    }


async def test_documents_come_and_go(engine: TfidfEngine) -> None:
    await engine.observe(["green tea", "black tea"], [])
    await engine.observe(["coffee"], ["green tea"])
    assert engine.document_count == 2
    await engine.observe([], [])
    await engine.reset(["milk"])
    assert engine.document_count == 1


async def test_concurrent_changes_are_all_counted(engine: TfidfEngine) -> None:
    await asyncio.gather(*(engine.observe([f"tea {number}"], []) for number in range(50)))
    assert engine.document_count == 50
    assert engine._statistics.term_df["tea"] == 50


async def test_changes_are_written_together_after_a_delay(
    engine: TfidfEngine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfidf, "SAVE_DELAY_SECONDS", 0.2)
    written: list[int] = []

    def count(path: Path, statistics: Statistics) -> None:
        written.append(statistics.document_count)
        save_statistics(path, statistics)

    monkeypatch.setattr(tfidf, "save_statistics", count)
    for number in range(5):
        await engine.observe([f"tea {number}"], [])
    assert not path.exists()
    await _until_saved(engine)
    assert written == [5]
    await engine.observe(["coffee"], [])
    await _until_saved(engine)
    assert written == [5, 6]
    await engine.stop()
    assert written == [5, 6]


async def test_stop_writes_at_once(path: Path) -> None:
    engine = TfidfEngine(path)
    await engine.start()
    await engine.observe(["tea"], [])
    async with asyncio.timeout(tfidf.SAVE_DELAY_SECONDS / 3):
        await engine.stop()
    assert json.loads(path.read_text())["document_count"] == 1
    await engine.stop()


async def test_stop_writes_nothing_without_a_change(path: Path) -> None:
    engine = TfidfEngine(path)
    await engine.start()
    await engine.stop()
    assert not path.exists()


async def test_a_failing_disk_is_reported_once_and_never_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tfidf, "SAVE_DELAY_SECONDS", 0.0)
    folder = tmp_path / "folder"
    engine = TfidfEngine(folder / "vocab.json")
    await engine.start()
    folder.write_text("a file where the folder should be")
    for number in range(3):
        await engine.observe([f"tea {number}"], [])
        assert engine._save_task is not None
        await engine._save_task
    await engine.stop()
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.message.split(" to ")[0] for record in warnings] == [
        "Statistics cannot be written"
    ]
    assert engine.document_count == 3
    folder.unlink()
    await engine.stop()
    assert json.loads((folder / "vocab.json").read_text())["document_count"] == 3


async def test_long_and_many_texts_leave_the_event_loop_free(engine: TfidfEngine) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticker = asyncio.create_task(tick())
    await engine.embed(["花生过敏" * 2500], TextKind.DOCUMENT)
    await engine.embed(_random_documents(500), TextKind.QUERY)
    await engine.reset(_random_documents(500))
    ticker.cancel()
    assert ticks > 20


async def _scores(engine: TfidfEngine, question: str, texts: list[str]) -> list[float]:
    query = await engine.embed([question], TextKind.QUERY)
    documents: FloatMatrix = await engine.embed(texts, TextKind.DOCUMENT)
    scores: list[float] = (documents @ query[0]).tolist()
    return scores


async def _until_saved(engine: TfidfEngine) -> None:
    assert engine._save_task is not None
    async with asyncio.timeout(10):
        await engine._save_task


def _random_documents(count: int, *, seed: int = 0) -> list[str]:
    """Return made-up texts whose words are as unevenly frequent as in a language."""
    letters = "abcdefghijklmnoprstuvwyzäöüšğ"
    random = Random(0)
    words = ["".join(random.choices(letters, k=random.randint(2, 10))) for _ in range(5000)]
    weights = [1 / rank for rank in range(1, 5001)]
    random = Random(seed)
    return [" ".join(random.choices(words, weights, k=random.randint(4, 30))) for _ in range(count)]
