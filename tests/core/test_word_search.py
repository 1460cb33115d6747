"""Finding by words: what counts how much, for one caller, in a real file."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from custom_components.ai_memory.core import (
    Caller,
    Filters,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Scope,
    memories,
)
from custom_components.ai_memory.core.number_lists import (
    PARSED_AT_ONCE_CHARACTERS,
    numbers_of,
)
from custom_components.ai_memory.core.visibility import Clause, visible_to
from custom_components.ai_memory.core.visible_set import VisibleSet
from custom_components.ai_memory.core.word_search import CANDIDATES, WordMatch, best_by_words
from tests.conftest import Opener

BEN = Caller(source="assist", agent="conversation.home", provider="ollama", user="ben")


async def _add(memory: MemoryManager, caller: Caller, *contents: str, **fields: Any) -> None:
    for content in contents:
        await memory.add(caller, NewMemory(content=content, **({"scope": Scope.COMMON} | fields)))


async def _matches(
    memory: MemoryManager, caller: Caller, query: str, limit: int = 10
) -> list[WordMatch]:
    visible = await memory._search.visibility.visible(visible_to(caller, Filters()))
    return await memory._database.read(
        lambda connection: best_by_words(connection, query, visible, limit)
    )


async def test_coverage_is_the_share_of_what_is_asked(memory: MemoryManager, anna: Caller) -> None:
    await _add(memory, anna, "Blue ladder in the shed", "Blue bucket", "Green hose", "Red box")
    found = {match.words: match.coverage for match in await _matches(memory, anna, "blue ladder")}
    assert set(found) == {("blue", "ladder"), ("blue",)}
    # "ladder" is rarer than "blue", so holding only "blue" is less than half of it.
    assert 0.9 < found["blue", "ladder"] < 1.3
    assert 0.1 < found["blue",] < 0.5


async def test_summary_and_place_count_less_than_content(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "The xylophone is heavy", wing="general", room="general")
    await _add(memory, anna, "It is heavy too", summary="xylophone", wing="general", room="general")
    await _add(memory, anna, "It is heavy as well", wing="general", room="xylophone")
    coverages = [match.coverage for match in await _matches(memory, anna, "xylophone")]
    assert coverages == sorted(coverages, reverse=True)
    assert len(set(coverages)) == len(coverages) == 3


async def test_what_others_store_changes_nothing(memory: MemoryManager, anna: Caller) -> None:
    """Neither order nor coverage rest on memories that the caller may not see."""
    await _add(memory, anna, "The safe is heavy", "The code is long", "The safe code is with me")
    before = await _matches(memory, anna, "safe code")
    for number in range(40):
        await _add(memory, BEN, f"My code number {number}, code", scope=Scope.PRIVATE)
    assert await _matches(memory, anna, "safe code") == before
    assert len(await _matches(memory, BEN, "safe code", 50)) == 43


async def test_a_word_known_only_to_others_is_still_found_by_spelling(
    memory: MemoryManager, anna: Caller
) -> None:
    """Otherwise the missing match would tell that somebody holds the word."""
    await _add(memory, anna, "The dishwasher is old")
    spelled = await _matches(memory, anna, "dishwaser")
    await _add(memory, BEN, "dishwaser", scope=Scope.PRIVATE)
    assert await _matches(memory, anna, "dishwaser") == spelled
    assert [match.words for match in spelled] == [()]


@pytest.mark.parametrize("query", ["dishwaser", "dishwashr", "tishwasher", "dishwashers"])
async def test_a_slip_of_the_pen_is_forgiven(
    memory: MemoryManager, anna: Caller, query: str
) -> None:
    await _add(memory, anna, "The dishwasher is old", "The lamp is new", "Wash the dishes")
    found = await _matches(memory, anna, query)
    assert found[0].sequence == 1


@pytest.mark.parametrize("query", ["netwrok", "ntework", "netwokr", "nettwork", "networ"])
async def test_letters_added_missed_or_swapped_are_forgiven(
    memory: MemoryManager, anna: Caller, query: str
) -> None:
    await _add(memory, anna, "The guest network is slow", "We lent Ben a frame for his work")
    assert [match.sequence for match in await _matches(memory, anna, query)] == [1]


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("cable", "The table is made of oak"),
        ("Marta", "Maria is the cleaner"),
        ("price", "The prize is a book"),
        ("form", "A letter from Karl"),
    ],
)
async def test_a_word_with_another_letter_is_another_word(
    memory: MemoryManager, anna: Caller, query: str, content: str
) -> None:
    await _add(memory, anna, content, "Something else")
    assert await _matches(memory, anna, query) == []


async def test_among_very_many_equal_matches_the_newest_are_weighed(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory(max_entries=10_000)
    await _add(memory, anna, *(f"Box number {number}" for number in range(CANDIDATES + 50)))
    found = await _matches(memory, anna, "box", 1000)
    assert len(found) == CANDIDATES + 50
    found = await _matches(memory, anna, "box", 10)
    assert min(match.sequence for match in found) > 50


def test_long_lists_of_sequences_are_read_in_pieces() -> None:
    sequences = list(range(1, 10 * PARSED_AT_ONCE_CHARACTERS // 6))
    listed = f"[{','.join(map(str, sequences))}]"
    assert len(listed) > 5 * PARSED_AT_ONCE_CHARACTERS
    assert numbers_of(listed).tolist() == sequences
    assert numbers_of("[]").tolist() == []
    assert numbers_of("[7]").tolist() == [7]


def test_a_visible_set_follows_changes() -> None:
    visible = VisibleSet.parse("[1,2,9]")
    after = visible.replaced({2, 3, 12}, VisibleSet.parse("[3,12]"))
    assert np.flatnonzero(after.admitted).tolist() == [1, 3, 9, 12]
    assert np.flatnonzero(visible.admitted).tolist() == [1, 2, 9]
    assert (len(visible), len(after)) == (3, 4)
    assert VisibleSet.parse("[]").some() == ()
    many = VisibleSet.parse(f"[{','.join(map(str, range(1, 10_000)))}]")
    assert 400 < len(many.some()) <= 512
    # A few changes leave those that stand for all as they are, many do not.
    assert many.replaced({3, 4}, visible).some() is many.some()
    assert many.replaced(range(1, 5_000), visible).some() != many.some()


async def test_places_that_change_hands_are_seen_at_once(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "A secret")
    (hit,) = (await memory.search(BEN, Filters(), "secret", 5)).hits
    await memory.update(anna, hit.memory.id, MemoryChanges(scope=Scope.PRIVATE))
    assert (await memory.search(BEN, Filters(), "secret", 5)).hits == ()
    assert len((await memory.search(anna, Filters(), "secret", 5)).hits) == 1


async def test_memories_that_go_meanwhile_are_no_error(
    memory: MemoryManager, anna: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _add(memory, anna, "The ladder is in the shed")

    def gone(*_: object) -> list[object]:
        return []

    monkeypatch.setattr("custom_components.ai_memory.core.word_search.texts_of", gone)
    assert await _matches(memory, anna, "ladder") == []


async def test_a_compound_is_found_beside_whole_words(memory: MemoryManager, anna: Caller) -> None:
    await _add(memory, anna, "Der Haustürschlüssel hängt im Flur", "Der Autoschlüssel liegt oben")
    await _add(memory, anna, "Der Schlüssel zum Schuppen hängt hinten")
    assert len(await _matches(memory, anna, "Wo sind die Schlüssel?")) == 3


async def test_searches_side_by_side_after_a_write_read_only_what_changed(
    memory: MemoryManager, anna: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _add(memory, anna, "The ladder is in the shed", "The hose is in the garden")
    await memory.search(anna, Filters(), "ladder", 5)
    asked: list[list[int] | None] = []
    read = memories.visible_sequences

    async def noted(connection: Any, clause: Clause, among: Sequence[int] | None = None) -> str:
        asked.append(None if among is None else list(among))
        return await read(connection, clause, among)

    monkeypatch.setattr(memories, "visible_sequences", noted)
    await _add(memory, anna, "The ladder was sold")
    searches = [memory.search(anna, Filters(), "ladder", 5) for _ in range(4)]
    results = await asyncio.gather(*searches)
    assert [len(result.hits) for result in results] == [2, 2, 2, 2]
    assert asked == [[3]] * 4
    await memory.search(anna, Filters(), "ladder", 5)
    assert len(asked) == 4
