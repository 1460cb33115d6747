"""Full text that knows places by room: in new files, and in those that held them by memory."""

from pathlib import Path
import sqlite3

from custom_components.ai_memory.core import Caller, Filters, MemoryChanges, NewMemory
from custom_components.ai_memory.core.schema import APPLICATION_ID, MIGRATIONS
from tests.conftest import Opener

ANNA = Caller(source="test", agent="home")


def _version_4(path: Path) -> None:
    """Make a file as version 4 did, whose full text repeats the place for each memory."""
    connection = sqlite3.connect(path)
    for step in MIGRATIONS[:4]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 4")
    connection.execute("INSERT INTO wings VALUES (1, 'old_house', 'common', 0)")
    connection.execute("INSERT INTO rooms VALUES (1, 1, 'attic', 0)")
    for number in range(1, 4):
        content = f"Box number {number} holds books."
        connection.execute(
            "INSERT INTO memories (id, room_id, content, restatement, scope, created_ms,"
            " updated_ms, source) VALUES (?, 1, ?, ?, 'common', 0, 0, 'test')",
            (f"old{number}", content, bytes([number])),
        )
        for table, text in (
            ("memory_words", f"box number {number} holds books "),
            ("memory_trigrams", content.lower()),
        ):
            connection.execute(
                f"INSERT INTO {table} (rowid, content, summary, place) VALUES (?, ?, '', ?)",
                (number, text, "old house attic"),
            )
    connection.commit()
    connection.close()


def _holding(path: Path, table: str, phrase: str) -> list[int]:
    connection = sqlite3.connect(path)
    try:
        sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid"
        return [row for (row,) in connection.execute(sql, (phrase,))]
    finally:
        connection.close()


async def test_a_file_of_an_earlier_version_is_found_by_place_and_leaves_nothing_behind(
    open_memory: Opener, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    _version_4(path)
    memory = await open_memory()
    found = await memory.search(ANNA, Filters(), "attic", 10)
    assert {hit.memory.id for hit in found.hits} == {"old1", "old2", "old3"}
    await memory.update(ANNA, "old1", MemoryChanges(content="Box number 1 holds toys."))
    await memory.update(ANNA, "old2", MemoryChanges(room="cellar"))
    assert _holding(path, "memory_words", "attic") == [2, 3]
    await memory.delete(ANNA, "old3", Filters())
    await memory.delete(ANNA, "old2", Filters())
    for table in ("memory_words", "memory_trigrams"):
        assert _holding(path, table, "attic") == []
        assert _holding(path, table, "books") == []
        assert _holding(path, table, "toys") == [1]
    found = await memory.search(ANNA, Filters(), "attic", 10)
    assert [hit.memory.id for hit in found.hits] == ["old1"]


async def test_a_memory_is_found_by_the_words_of_its_place(open_memory: Opener) -> None:
    memory = await open_memory()
    await memory.add(ANNA, NewMemory(content="It leaks.", wing="summer_house", room="garden"))
    for query, found in (("summer", 1), ("summers", 1), ("garden", 1), ("winter", 0)):
        assert len((await memory.search(ANNA, Filters(), query, 5)).hits) == found
