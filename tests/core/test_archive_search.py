"""The archive answers last: where nothing else does, whichever way a search takes."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
import sqlite3
import threading

import pytest

from benchmarks.synthetic import ProjectionEngine
from custom_components.ai_memory.core import (
    Caller,
    Database,
    Filters,
    Layer,
    MatchType,
    MemoryManager,
    NewMemory,
    Scope,
    SearchResult,
    StorageError,
)
from custom_components.ai_memory.embedding.protocol import FloatMatrix, TextKind

ANYWHERE = Filters()


class _Bilingual(ProjectionEngine):
    """An engine for which a German word means the English one."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Translate first."""
        return await super().embed([text.replace("Leiter", "ladder") for text in texts], kind)


@pytest.fixture(params=[20_000, 0], ids=["exact", "packed"])
async def memory(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[MemoryManager]:
    """Return a memory whose vectors are kept in one of the two ways."""
    manager = MemoryManager(Database(tmp_path / "memory.db"), _Bilingual(64, 1), max_entries=1000)
    manager._upkeep.index.exact_rows = request.param
    await manager.open()
    yield manager
    await manager.close()


async def _add(memory: MemoryManager, caller: Caller, content: str, layer: Layer) -> None:
    await memory.add(caller, NewMemory(content=content, scope=Scope.COMMON, layer=layer))
    await memory.wait_for_vectors()
    async with asyncio.timeout(10):
        while memory._upkeep.index.outgrown:
            await asyncio.sleep(0.002)


async def _found(
    memory: MemoryManager, caller: Caller, query: str, filters: Filters = ANYWHERE
) -> list[str]:
    return _contents(await memory.search(caller, filters, query, 5))


def _contents(result: SearchResult) -> list[str]:
    return [hit.memory.content for hit in result.hits]


async def test_the_archive_answers_where_the_others_do_not(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "The old ladder is in the attic", Layer.ARCHIVE)
    await _add(memory, anna, "The car is a Fiat", Layer.STANDARD)
    assert (await _found(memory, anna, "ladder"))[0] == "The old ladder is in the attic"
    await _add(memory, anna, "The new ladder is in the shed", Layer.STANDARD)
    answers = await _found(memory, anna, "ladder")
    assert answers[0] == "The new ladder is in the shed"
    assert "The old ladder is in the attic" not in answers
    archived = await _found(memory, anna, "ladder", Filters(layer=Layer.ARCHIVE))
    assert archived == ["The old ladder is in the attic"]
    assert await _found(memory, anna, "ladder", Filters(layer=Layer.CRITICAL)) == []
    # What shares hardly a word with the question does not keep the archive from answering it.
    await _add(memory, anna, "The Volvo was sold to Ben", Layer.ARCHIVE)
    await _add(memory, anna, "Ben was here", Layer.STANDARD)
    answers = await _found(memory, anna, "When was the Volvo sold?")
    assert answers[0] == "The Volvo was sold to Ben"
    assert "The old ladder is in the attic" not in answers


async def test_many_archived_ones_do_not_push_out_what_is_near(
    memory: MemoryManager, anna: Caller
) -> None:
    near = ["The ladder stands in the shed", "The long ladder was lent to Ben"]
    for content in near:
        await _add(memory, anna, content, Layer.STANDARD)
    for number in range(60):
        await _add(memory, anna, f"Ladder number {number}", Layer.ARCHIVE)
    assert set(await _found(memory, anna, "ladder")) == set(near)
    assert set(await _found(memory, anna, "laddr")) == set(near)


async def test_the_archive_is_recognised_by_spelling(memory: MemoryManager, anna: Caller) -> None:
    await _add(memory, anna, "The hygrometer hangs in the cellar", Layer.ARCHIVE)
    await _add(memory, anna, "The bicycle is blue", Layer.STANDARD)
    result = await memory.search(anna, ANYWHERE, "hygromter", 5)
    assert _contents(result)[0] == "The hygrometer hangs in the cellar"
    assert "spelling" in result.hits[0].why


@pytest.mark.parametrize(
    ("word", "archived", "near"),
    [
        ("hose", "The garden hose is in the shed", "Ben brought those cookies"),
        ("lamp", "The lamp is in the attic", "The clamp is broken"),
        ("rent", "The rent is due on Friday", "My parents live in Bonn"),
        ("cable", "The cable is in the drawer", "The table is made of oak"),
        ("Karla", "Karla repairs bicycles", "Carla repairs cars"),
    ],
)
async def test_what_only_looks_like_the_word_does_not_silence_the_archive(
    memory: MemoryManager, anna: Caller, word: str, archived: str, near: str
) -> None:
    await _add(memory, anna, archived, Layer.ARCHIVE)
    await _add(memory, anna, near, Layer.STANDARD)
    for number in range(10):
        await _add(memory, anna, f"Number {number} of something else", Layer.STANDARD)
    assert (await _found(memory, anna, f"Where is the {word}?"))[0] == archived


async def test_the_archive_is_found_by_meaning_alone(memory: MemoryManager, anna: Caller) -> None:
    await _add(memory, anna, "ladder attic", Layer.ARCHIVE)
    for number in range(40):
        await _add(memory, anna, f"Something else, number {number}", Layer.STANDARD)
    result = await memory.search(anna, ANYWHERE, "Leiter", 5)
    assert _contents(result)[0] == "ladder attic"
    assert result.hits[0].match_type is MatchType.SEMANTIC
    # As soon as something near is more alike, the archive is silent.
    await _add(memory, anna, "ladder", Layer.STANDARD)
    answers = await _found(memory, anna, "Leiter")
    assert answers[0] == "ladder"
    assert "ladder attic" not in answers


async def test_many_archived_ones_do_not_push_out_the_meaning_of_what_is_near(
    memory: MemoryManager, anna: Caller
) -> None:
    for number in range(60):
        await _add(memory, anna, f"ladder {number}", Layer.ARCHIVE)
    near = {"ladder", "ladder of wood", "a ladder of steel"}
    for content in (*near, *(f"Something else, number {number}" for number in range(30))):
        await _add(memory, anna, content, Layer.STANDARD)
    answers = await _found(memory, anna, "Leiter")
    assert answers[0] == "ladder"
    assert near <= set(answers)
    assert not [one for one in answers if one not in near and one.startswith("ladder")]


async def test_the_archive_is_ordered_alike_however_little_is_near(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "ladder attic", Layer.ARCHIVE)
    for number in range(30):
        await _add(memory, anna, f"Something else, number {number}", Layer.ARCHIVE)
    await _add(memory, anna, "ladder unrelated garden blue shelf bench", Layer.ARCHIVE)
    archived = await _found(memory, anna, "Leiter", Filters(layer=Layer.ARCHIVE))
    await _add(memory, anna, "The bicycle is red", Layer.STANDARD)
    assert (await _found(memory, anna, "Leiter"))[0] == archived[0] == "ladder attic"


async def test_a_caller_that_leaves_out_the_archive_gets_nothing_of_it(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "The ladder is in the attic", Layer.ARCHIVE)
    assert await _found(memory, anna, "ladder", Filters(archived=False)) == []


async def test_what_was_replaced_is_found_though_nothing_else_is_archived(
    memory: MemoryManager, anna: Caller
) -> None:
    old = NewMemory(content="The boiler is a Vaillant", scope=Scope.COMMON, layer=Layer.ARCHIVE)
    replaced = (await memory.add(anna, old)).memory
    new = NewMemory(content="The heating is a Buderus", scope=Scope.COMMON, supersedes=replaced.id)
    await memory.add(anna, new)
    assert "The boiler is a Vaillant" in await _found(memory, anna, "previously Vaillant boiler")


async def test_a_time_is_answered_from_the_archive_where_nothing_else_was_stored_then(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "The trip goes to Lisbon", Layer.ARCHIVE)
    assert await _found(memory, anna, "What did I tell you today?") == ["The trip goes to Lisbon"]
    await _add(memory, anna, "The spare key is with Karl", Layer.STANDARD)
    answers = await _found(memory, anna, "What did I tell you today?")
    assert answers == ["The spare key is with Karl"]


async def test_archived_ones_of_others_are_as_hidden_as_any(
    memory: MemoryManager, anna: Caller
) -> None:
    ben = Caller(source="assist", agent="conversation.other", provider=None, user="ben")
    hidden = NewMemory(content="The ladder is Ben's", scope=Scope.PRIVATE, layer=Layer.ARCHIVE)
    await memory.add(ben, hidden)
    await _add(memory, anna, "The car is a Fiat", Layer.STANDARD)
    await memory.wait_for_vectors()
    for query in ("ladder", "laddr", "Leiter"):
        assert "The ladder is Ben's" not in await _found(memory, anna, query)
        assert (await _found(memory, ben, query))[0] == "The ladder is Ben's"


async def test_a_closed_memory_refuses_to_search_and_keeps_no_thread(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "The ladder is in the shed", Layer.STANDARD)
    assert await _found(memory, anna, "ladder") == ["The ladder is in the shed"]
    await memory.close()
    with pytest.raises(StorageError):
        await memory.search(anna, ANYWHERE, "ladder", 5)
    assert not [one for one in threading.enumerate() if one.name.startswith("ai_memory")]
    await memory.open()
    assert await _found(memory, anna, "ladder") == ["The ladder is in the shed"]


async def test_a_layer_that_changed_meanwhile_is_told_as_it_is(
    memory: MemoryManager, anna: Caller
) -> None:
    await _add(memory, anna, "The ladder is in the shed", Layer.STANDARD)
    await _add(memory, anna, "The ladder is in the attic", Layer.ARCHIVE)
    assert await _found(memory, anna, "ladder") == ["The ladder is in the shed"]
    with sqlite3.connect(memory._database.path) as connection:
        connection.execute("UPDATE memories SET layer = 3")
    found = await memory.search(anna, ANYWHERE, "ladder", 5)
    assert {hit.memory.layer for hit in found.hits} <= {Layer.ARCHIVE}
