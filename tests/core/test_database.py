"""Opening, refusing and protecting the database file, on real files."""

import asyncio
from collections.abc import Callable
from pathlib import Path
import sqlite3
import stat
from threading import get_ident

import pytest

from custom_components.ai_memory.core import (
    Caller,
    Database,
    DatabaseLockedError,
    DatabaseUnusableError,
    Filters,
    MemoryManager,
    NewMemory,
    StorageError,
)
from custom_components.ai_memory.core.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from tests.conftest import Opener


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


async def _opening_refusal(path: Path) -> DatabaseUnusableError:
    database = Database(path)
    with pytest.raises(DatabaseUnusableError) as refused:
        await database.open()
    return refused.value


async def _filled(open_memory: Opener, anna: Caller, count: int = 60) -> MemoryManager:
    manager = await open_memory()
    for number in range(count):
        await manager.add(anna, NewMemory(content=f"Shelf {number} holds jar {number}"))
    return manager


async def test_a_new_file_is_private_and_in_wal_mode(path: Path) -> None:
    database = Database(path)
    await database.open()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_name("memory.db-wal").stat().st_mode) == 0o600
    async with database.reading() as connection:
        rows = await connection.execute_fetchall(
            "SELECT * FROM pragma_journal_mode, pragma_user_version, pragma_application_id"
        )
    assert [tuple(row) for row in rows] == [("wal", SCHEMA_VERSION, APPLICATION_ID)]
    await database.close()


async def test_several_reads_are_one_step_that_cannot_write(path: Path) -> None:
    database = Database(path)
    await database.open()
    loop_thread = get_ident()

    def work(connection: sqlite3.Connection) -> tuple[int, bool]:
        (count,) = connection.execute("SELECT count(*) FROM memories").fetchone()
        return count, get_ident() == loop_thread

    assert await database.read(work) == (0, False)
    with pytest.raises(StorageError) as refused:
        await database.read(lambda connection: connection.execute("DELETE FROM memories"))
    assert refused.value.key == "database_read_only"
    await database.close()
    with pytest.raises(StorageError) as refused:
        await database.read(work)
    assert refused.value.key == "database_closed"


async def test_foreign_keys_are_enforced(path: Path) -> None:
    database = Database(path)
    await database.open()
    with pytest.raises(StorageError):
        async with database.transaction() as connection:
            await connection.execute(
                "INSERT INTO rooms (wing_id, name, created_ms) VALUES (99, 'x', 0)"
            )
    await database.close()


async def test_the_reader_cannot_write(path: Path) -> None:
    database = Database(path)
    await database.open()
    with pytest.raises(StorageError) as refused:
        async with database.reading() as connection:
            await connection.execute("DELETE FROM wings")
    assert refused.value.key == "database_read_only"
    await database.close()


async def test_a_failed_transaction_leaves_nothing(path: Path) -> None:
    database = Database(path)
    await database.open()
    with pytest.raises(RuntimeError):
        async with database.transaction() as connection:
            await connection.execute(
                "INSERT INTO wings (name, default_scope, created_ms) VALUES ('x', 'common', 0)"
            )
            raise RuntimeError
    async with database.reading() as connection:
        assert not list(await connection.execute_fetchall("SELECT * FROM wings"))
    await database.close()


async def test_the_audit_cannot_be_rewritten(memory: MemoryManager, anna: Caller) -> None:
    await memory.add(anna, NewMemory(content="The spare key is in the shed"))
    for statement in ("UPDATE audit SET agent = 'x'", "DELETE FROM audit"):
        with pytest.raises(StorageError):
            async with memory._database.transaction() as connection:
                await connection.execute(statement)


@pytest.mark.parametrize(
    ("key", "spoil"),
    [
        ("database_not_a_database", lambda path: path.write_bytes(b"not a database" * 500)),
        ("database_read_only", lambda path: path.chmod(0o400)),
        ("database_corrupt", lambda path: path.write_bytes(path.read_bytes()[:-8192])),
        ("database_corrupt", lambda path: path.write_bytes(path.read_bytes()[:4096])),
        (
            "database_corrupt",
            lambda path: path.write_bytes(
                path.read_bytes()[:8192] + b"\xff" * 8192 + path.read_bytes()[16384:]
            ),
        ),
    ],
)
async def test_a_spoiled_file_is_refused_and_left_untouched(
    open_memory: Opener, anna: Caller, path: Path, key: str, spoil: Callable[[Path], object]
) -> None:
    manager = await _filled(open_memory, anna)
    await manager.close()
    spoil(path)
    before, mode = path.read_bytes(), path.stat().st_mode
    refusal = await _opening_refusal(path)
    assert (refusal.key, refusal.placeholders["path"]) == (key, str(path))
    assert (path.read_bytes(), path.stat().st_mode) == (before, mode)


async def test_a_newer_schema_is_refused_and_left_untouched(
    open_memory: Opener, path: Path
) -> None:
    await (await open_memory()).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    refusal = await _opening_refusal(path)
    assert refusal.key == "database_newer"
    assert refusal.placeholders["found"] == str(SCHEMA_VERSION + 1)
    assert refusal.placeholders["supported"] == str(SCHEMA_VERSION)
    assert path.read_bytes() == before


async def test_the_database_of_another_program_is_refused_and_left_untouched(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE memories (id TEXT)")
    connection.close()
    before = path.read_bytes()
    assert (await _opening_refusal(path)).key == "database_foreign"
    assert path.read_bytes() == before


async def test_a_folder_in_the_place_of_the_file_is_refused(path: Path) -> None:
    path.mkdir()
    assert (await _opening_refusal(path)).key == "database_cannot_open"


async def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert (await _opening_refusal(tmp_path / "no" / "x.db")).key == "database_cannot_open"


async def test_an_empty_file_becomes_a_new_memory(path: Path) -> None:
    path.touch()
    database = Database(path)
    await database.open()
    await database.close()
    assert path.stat().st_size > 0


async def test_a_file_locked_by_another_process_is_reported_as_such(
    open_memory: Opener, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await open_memory()).close()
    monkeypatch.setattr("custom_components.ai_memory.core.database.BUSY_TIMEOUT_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseLockedError) as refused:
        await Database(path).open()
    assert refused.value.key == "database_locked"
    other.execute("ROLLBACK")
    other.close()
    database = Database(path)
    await database.open()
    await database.close()


async def test_a_lock_during_a_write_changes_nothing_and_passes(
    open_memory: Opener, anna: Caller, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.database.BUSY_TIMEOUT_SECONDS", 0.05)
    memory = await open_memory()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseLockedError):
        await memory.add(anna, NewMemory(content="The spare key is in the shed"))
    other.execute("ROLLBACK")
    other.close()
    assert memory.counts().total == 0
    await memory.add(anna, NewMemory(content="The spare key is in the shed"))
    assert memory.counts().total == 1


async def test_a_full_disk_in_the_middle_of_a_write_loses_nothing(
    open_memory: Opener, anna: Caller, path: Path
) -> None:
    memory = await _filled(open_memory, anna, count=20)
    async with memory._database.transaction() as connection:
        rows = await connection.execute_fetchall("PRAGMA page_count")
    pages = next(iter(rows))[0]
    await memory._database._writer.execute(f"PRAGMA max_page_count = {pages}")  # type: ignore[union-attr]
    with pytest.raises(StorageError) as refused:
        for number in range(200):
            await memory.add(anna, NewMemory(content=f"{number} " + "long story " * 800))
    assert refused.value.key == "disk_full"
    stored = memory.counts().total
    assert (await memory.latest(anna, Filters(), 1000)).total == stored
    await memory._database._writer.execute("PRAGMA max_page_count = 1000000")  # type: ignore[union-attr]
    await memory.add(anna, NewMemory(content="There is space again"))
    assert memory.counts().total == stored + 1
    await memory.close()
    connection_ = sqlite3.connect(path)
    assert connection_.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection_.execute("PRAGMA foreign_key_check").fetchall() == []
    for table in ("memory_words", "memory_trigrams"):
        indexed = connection_.execute(f"SELECT count(*) FROM {table}_docsize").fetchone()[0]
        assert indexed == stored + 1
    connection_.close()


async def test_every_migration_step_leaves_its_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (*MIGRATIONS, ("CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT",))
    database = Database(path)
    await database.open()
    await database.close()
    monkeypatch.setattr("custom_components.ai_memory.core.database.MIGRATIONS", steps)
    monkeypatch.setattr("custom_components.ai_memory.core.database.SCHEMA_VERSION", len(steps))
    await database.open()
    async with database.reading() as connection:
        rows = list(await connection.execute_fetchall("PRAGMA user_version"))
        assert rows[0][0] == SCHEMA_VERSION + 1
        assert not list(await connection.execute_fetchall("SELECT * FROM later"))
    await database.close()


async def test_a_failing_migration_step_is_undone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(path)
    await database.open()
    await database.close()
    broken = (*MIGRATIONS, ("CREATE TABLE later (id INTEGER) STRICT", "CREATE nonsense"))
    monkeypatch.setattr("custom_components.ai_memory.core.database.MIGRATIONS", broken)
    monkeypatch.setattr("custom_components.ai_memory.core.database.SCHEMA_VERSION", len(broken))
    with pytest.raises(DatabaseUnusableError):
        await database.open()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    assert "later" not in tables
    connection.close()


async def test_a_cancelled_write_is_finished_and_counted(
    memory: MemoryManager, anna: Caller
) -> None:
    async with memory._database.writing():
        await asyncio.sleep(0.1)
        others = set(memory.commits._running)
        new = NewMemory(content="The bins go out on Monday")
        write = asyncio.create_task(memory.add(anna, new))
        while not memory.commits._running - others:
            await asyncio.sleep(0)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
    await asyncio.gather(*memory.commits._running)
    assert memory.counts().total == 1
    assert (await memory.latest(anna, Filters(), 5)).total == 1


@pytest.mark.parametrize("target", ["nowhere", "memory.db"])
async def test_a_link_to_nothing_is_refused(path: Path, target: str) -> None:
    path.symlink_to(path.with_name(target))
    assert (await _opening_refusal(path)).key == "database_cannot_open"


async def test_a_reader_that_meets_the_end_is_told_so(memory: MemoryManager, anna: Caller) -> None:
    await memory.add(anna, NewMemory(content="The ladder is in the shed"))
    reads: list[asyncio.Task[object]] = []
    for _ in range(50):
        reads.append(asyncio.create_task(memory.latest(anna, Filters(), 5)))
        reads.append(asyncio.create_task(memory.search(anna, Filters(), "ladder", 5)))
    await asyncio.sleep(0)
    await memory.close()
    results = await asyncio.gather(*reads, return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    assert {getattr(failure, "key", failure) for failure in failures} <= {"database_closed"}
