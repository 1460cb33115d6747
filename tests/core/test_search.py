"""Finding memories by meaning, by words and by spelling, for one caller only."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
import sqlite3

import numpy as np
import pytest

from custom_components.ai_memory.core import (
    Caller,
    Database,
    Filters,
    InvalidInputError,
    Layer,
    MatchType,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Scope,
)
from custom_components.ai_memory.embedding import (
    EngineError,
    EngineSettings,
    FloatMatrix,
    TextKind,
    create_engine,
)
from tests.conftest import Opener, SteppingClock

BEN = Caller(source="assist", agent="conversation.home", provider="ollama", user="ben")


async def _filled(memory: MemoryManager, caller: Caller, *contents: str) -> None:
    for content in contents:
        await memory.add(caller, NewMemory(content=content, scope=Scope.COMMON))


async def _found(memory: MemoryManager, caller: Caller, query: str, limit: int = 5) -> list[str]:
    result = await memory.search(caller, Filters(), query, limit)
    return [hit.memory.content for hit in result.hits]


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("User is allergic to peanuts", "allergies food restrictions"),
        ("The dishwasher is a Bosch Series 6", "which dishwasher do we have?"),
        ("The dishwasher is a Bosch Series 6", "dishwash"),
        ("The dishwasher is a Bosch Series 6", "dishwaser"),
        ("The Wi-Fi password is on the fridge", "wifi"),
        ("The WiFi password is on the fridge", "wi-fi"),
        ("Mülltonne wird dienstags abgeholt", "mulltonne"),
        ("L'électricien s'appelle Gérard", "electricien"),
        ("Piątek to dzień pizzy", "piatek pizza"),
        ("冰箱里有牛奶", "牛奶在哪里？"),
        ("冰箱里有牛奶", "牛奶"),
        ("鍵は玄関の引き出しにあります", "玄関の鍵はどこですか"),
        ("냉장고에 우유가 있어요", "우유"),
        ("กุญแจอยู่ในลิ้นชัก", "กุญแจอยู่ไหน"),
        ("दूध फ्रिज में है", "दूध कहाँ है"),
        ("Молоко в холодильнике", "молоко"),
        ("الحليب في الثلاجة", "الحليب"),
        ("Pizza night is 🍕 every Friday", "🍕"),
    ],
)
async def test_the_right_memory_comes_first(
    memory: MemoryManager, anna: Caller, stored: str, query: str
) -> None:
    await _filled(
        memory,
        anna,
        "Ben likes the living room at 21 degrees",
        "Der Rasenmäher steht in der Garage",
        "我们的车停在楼下",
        stored,
        "La chaudière a été révisée en mars",
    )
    assert (await _found(memory, anna, query))[:1] == [stored]


MARCH = [
    "The spare key hangs behind the meter box",
    "Zoe is allergic to hazelnuts",
    "The attic window leaks when it rains",
]


async def _told_in_march_and_november(memory: MemoryManager, clock: SteppingClock) -> None:
    caller = Caller(source="service")
    clock.now = datetime(2026, 3, 20, 8, 0, tzinfo=UTC)
    for content in reversed(MARCH):
        await _filled(memory, caller, content)
        clock.advance(days=1)
    clock.now = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
    await _filled(
        memory,
        caller,
        "The March break trip goes to Lisbon",
        "The boiler service is due every March",
        "Der Märzkalender hängt in der Küche",
        "The camping gear is stored in the loft",
    )
    await memory.wait_for_vectors()
    clock.advance(days=3)


@pytest.mark.parametrize(
    "query",
    [
        "What did I tell you in March?",
        "what was stored in March 2026?",
        "What do you remember from March?",
        "Was hatten wir im März?",
        "Qu'est-ce que je t'ai dit en mars ?",
        "¿Qué te dije en marzo?",
        "Cosa ti ho detto a marzo?",
        "Wat heb ik je in maart verteld?",
        "Co ci powiedziałem w marcu?",
        "O que eu te disse em março?",
        "三月我告诉你什么了？",
        "3月に何を言いましたか？",
    ],
)
async def test_a_question_for_a_time_alone_is_answered_with_that_time_the_newest_first(
    memory: MemoryManager, anna: Caller, clock: SteppingClock, query: str
) -> None:
    await _told_in_march_and_november(memory, clock)
    assert (await _found(memory, anna, query, 3)) == MARCH


async def test_a_time_whose_memories_are_archived_is_answered_from_the_archive(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    await _told_in_march_and_november(memory, clock)
    with sqlite3.connect(memory._database.path) as connection:
        connection.execute("UPDATE memories SET layer = 3 WHERE content IN (?, ?, ?)", MARCH)
    await memory.close()
    await memory.open()
    assert memory.counts().layers[Layer.ARCHIVE] == 3
    assert (await _found(memory, anna, "What did I tell you in March?", 3)) == MARCH


async def test_the_name_of_a_time_never_stands_before_what_was_stored_then(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    await _told_in_march_and_november(memory, clock)
    window = await _found(memory, anna, "Who repaired the windows in March?")
    assert window[0] == "The attic window leaks when it rains"
    boiler = await _found(memory, anna, "What was said of the boiler in March?")
    assert boiler[0] == "The boiler service is due every March"
    # Nothing was stored then, so that words are all there is.
    trip = await _found(memory, anna, "What did I tell you in March 2025?")
    assert set(trip[:2]) == {
        "The March break trip goes to Lisbon",
        "The boiler service is due every March",
    }


async def test_what_has_nothing_to_do_with_it_is_not_found(
    memory: MemoryManager, anna: Caller
) -> None:
    await _filled(memory, anna, "Ben likes the living room at 21 degrees")
    result = await memory.search(anna, Filters(), "spare tyre of the bicycle", 5)
    assert (result.hits, result.ranking) == ((), "none")


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '"unclosed',
        "*",
        "NEAR(a b)",
        "content:fridge",
        "a AND OR NOT",
        "^fridge",
        "{content}: x",
        "-fridge",
        "(((",
        "'; DROP TABLE memories; --",
        "\\",
        "🙂🙃",
        "?!…",
        "\ud800",
        "the of and",
        "x" * 100_000,
        "milk " * 20_000,
        "\x00milk",
        "牛" * 50_000,
    ],
)
async def test_no_query_is_an_error_and_none_is_an_operator(
    memory: MemoryManager, anna: Caller, query: str
) -> None:
    await _filled(memory, anna, "Milk is in the fridge")
    try:
        result = await memory.search(anna, Filters(), query, 5)
    except InvalidInputError as refused:
        assert (query, refused.key) == ("\ud800", "empty")  # noqa: PT017
    else:
        assert len(result.hits) <= 1
    assert memory.counts().total == 1


async def test_the_contract_of_scores(memory: MemoryManager, anna: Caller) -> None:
    await _filled(memory, anna, "The dishwasher is a Bosch Series 6", "The car is a Fiat")
    semantic = await memory.search(anna, Filters(), "the dishwasher is a Bosch series 6", 5)
    first = semantic.hits[0]
    assert (first.match_type, semantic.ranking) == (MatchType.HYBRID, "hybrid")
    assert 0.55 <= first.score <= 1
    assert first.score == round(first.score, 4)
    text = await memory.search(anna, Filters(), "Bosch", 5, min_score=0.99)
    assert [(hit.match_type, hit.score) for hit in text.hits] == [(MatchType.TEXT, 0.0)]
    assert text.ranking == "text"


async def test_words_follow_where_meaning_finds_too_little(
    memory: MemoryManager, anna: Caller
) -> None:
    await _filled(memory, anna, "Spare fuses are in the cellar", "A fuse blew in the kitchen")
    result = await memory.search(anna, Filters(), "spare fuses are in the cellar", 5)
    assert [hit.match_type for hit in result.hits] == [MatchType.HYBRID, MatchType.TEXT]
    assert result.ranking == "hybrid"
    assert [hit.score > 0 for hit in result.hits] == [True, False]


async def test_filters_and_limit_hold(memory: MemoryManager, anna: Caller) -> None:
    for number in range(8):
        for wing in ("cellar", "attic"):
            await memory.add(anna, NewMemory(content=f"Box {number} holds cables", wing=wing))
    result = await memory.search(anna, Filters(wing="Attic"), "box with cables", 5)
    assert len(result.hits) == 5
    assert {hit.memory.wing for hit in result.hits} == {"attic"}
    assert not (await memory.search(anna, Filters(room="nowhere"), "box", 5)).hits


async def test_hidden_memories_take_no_place_among_the_best(
    memory: MemoryManager, anna: Caller
) -> None:
    """A filtered search never comes back short, however many better hidden matches there are."""
    for number in range(30):
        secret = NewMemory(content=f"The safe code is {number}", scope=Scope.PRIVATE)
        await memory.add(anna, secret)
    await _filled(memory, anna, "The safe code is with grandma", "The safe is heavy")
    assert sorted(await _found(memory, BEN, "the safe code is", limit=2)) == [
        "The safe code is with grandma",
        "The safe is heavy",
    ]


async def test_a_change_is_found_at_once_and_the_old_text_no_more(
    memory: MemoryManager, anna: Caller
) -> None:
    await _filled(memory, anna, "The ladder is in the shed")
    assert await _found(memory, anna, "ladder") == ["The ladder is in the shed"]
    found = await memory.search(anna, Filters(), "ladder", 5)
    memory_id = found.hits[0].memory.id
    await memory.update(anna, memory_id, MemoryChanges(content="The hammer is in the attic"))
    assert await _found(memory, anna, "ladder shed") == []
    assert await _found(memory, anna, "hammer") == ["The hammer is in the attic"]
    await memory.delete(anna, memory_id, Filters())
    assert await _found(memory, anna, "hammer") == []


async def test_vectors_are_there_again_after_a_restart(open_memory: Opener, anna: Caller) -> None:
    memory = await open_memory()
    await _filled(memory, anna, "The ladder is in the shed", "The car is a Fiat")
    await memory.close()
    again = await open_memory()
    await asyncio.wait_for(again.wait_for_vectors(), 10)
    assert again.vector_count == 2
    result = await again.search(anna, Filters(), "the ladder is in the shed", 5)
    assert result.hits[0].match_type is MatchType.HYBRID


class _Engine:
    """A real engine whose ways are changed for a test, as a slow or broken server would be."""

    def __init__(self, tmp_path: Path, fingerprint: str = "other/1") -> None:
        self._inner = create_engine("tfidf", EngineSettings(storage_path=tmp_path))
        self.name, self.fingerprint, self.local = "other", fingerprint, True
        self.failure: Exception | None = None
        self.delay = 0.0
        self.start, self.stop = self._inner.start, self._inner.stop
        self.observe, self.reset = self._inner.observe, self._inner.reset
        self.remember, self.probe = self._inner.remember, self._inner.probe
        self.batch_size = 16
        self.ranking = self._inner.ranking

    @property
    def document_count(self) -> int | None:
        return self._inner.document_count

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        await asyncio.sleep(self.delay)
        if self.failure is not None:
            raise self.failure
        made = await self._inner.embed(texts, kind)
        return np.hstack([made, made]) / np.float32(2**0.5)


type OpenerWith = Callable[[_Engine], Awaitable[MemoryManager]]


@pytest.fixture
async def open_with(tmp_path: Path) -> AsyncGenerator[OpenerWith]:
    """Return a function that opens the memory with an engine; all are closed at the end."""
    opened: list[MemoryManager] = []

    async def opener(engine: _Engine) -> MemoryManager:
        memory = MemoryManager(Database(tmp_path / "memory.db"), engine, max_entries=100)
        opened.append(memory)
        await memory.open()
        return memory

    yield opener
    for memory in opened:
        await memory.close()


async def test_a_failing_engine_leaves_words_and_loses_nothing(
    tmp_path: Path, anna: Caller, open_memory: Opener, open_with: OpenerWith
) -> None:
    engine = _Engine(tmp_path)
    engine.failure = EngineError("down")
    memory = await open_with(engine)
    await _filled(memory, anna, "The ladder is in the shed")
    result = await memory.search(anna, Filters(), "the ladder is in the shed", 5)
    assert (result.ranking, memory.vector_count) == ("text", 0)
    await memory.close()

    healed = await open_memory()
    await asyncio.wait_for(healed.wait_for_vectors(), 10)
    assert healed.vector_count == 1
    found = await healed.search(anna, Filters(), "the ladder is in the shed", 5)
    assert found.ranking == "hybrid"


async def test_a_slow_engine_keeps_nobody_waiting(
    tmp_path: Path, anna: Caller, open_with: OpenerWith
) -> None:
    engine = _Engine(tmp_path)
    memory = await open_with(engine)
    memory.encoder._query_timeout_seconds = 0.01
    await _filled(memory, anna, "The ladder is in the shed")
    engine.delay = 30
    result = await memory.search(anna, Filters(), "the ladder is in the shed", 5)
    assert [hit.match_type for hit in result.hits] == [MatchType.TEXT]
    engine.delay = 0


async def test_vectors_of_another_engine_are_made_anew_and_never_mixed(
    tmp_path: Path, anna: Caller, open_memory: Opener, open_with: OpenerWith
) -> None:
    memory = await open_memory()
    await _filled(memory, anna, *(f"Shelf {number} holds jar {number}" for number in range(40)))
    await memory.close()
    other = await open_with(_Engine(tmp_path))
    await asyncio.wait_for(other.wait_for_vectors(), 10)
    assert other.vector_count == 40
    result = await other.search(anna, Filters(), "shelf 7 holds jar 7", 1)
    assert (result.hits[0].memory.content, result.ranking) == ("Shelf 7 holds jar 7", "hybrid")
    async with other._database.reading() as connection:
        rows = await connection.execute_fetchall(
            "SELECT fingerprint, length(vector), count(*) FROM embeddings GROUP BY 1, 2"
        )
    assert [tuple(row) for row in rows] == [("other/1", 2 * 384 * 4, 40)]


async def test_an_engine_that_fails_unexpectedly_leaves_words(
    tmp_path: Path, anna: Caller, open_with: OpenerWith
) -> None:
    engine = _Engine(tmp_path)
    engine.local = False
    memory = await open_with(engine)
    await _filled(memory, anna, "The ladder is in the shed")
    await asyncio.wait_for(memory.wait_for_vectors(), 10)
    engine.failure = RuntimeError("nobody expected this")
    result = await memory.search(anna, Filters(), "the ladder is in the shed", 5)
    assert [hit.match_type for hit in result.hits] == [MatchType.TEXT]
    await _filled(memory, anna, "The car is a Fiat")
    engine.failure = None
    memory.encoder._usable.set()
    await asyncio.wait_for(memory.wait_for_vectors(), 10)
    assert memory.vector_count == 2


async def test_signs_alone_are_not_compared(memory: MemoryManager, anna: Caller) -> None:
    await _filled(memory, anna, "The ladder is in the shed")
    assert (await memory.search(anna, Filters(), "?!…", 5, min_score=0.0)).hits == ()
