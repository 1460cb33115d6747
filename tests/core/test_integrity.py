"""Damaged files: what is noticed, what comes back, and that nothing is ever thrown away."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
import logging
from pathlib import Path
import random
import re
import shutil
import sqlite3
import threading
from typing import Any, Final

import pytest

from benchmarks.event_loop import StallMeter
from custom_components.ai_memory.core import (
    Caller,
    Database,
    DatabaseLockedError,
    DatabaseUnusableError,
    Filters,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Receipt,
    Scope,
    Stance,
    Status,
    StorageError,
    Transaction,
    Written,
    integrity,
)
from custom_components.ai_memory.core.schema import SCHEMA_VERSION
from custom_components.ai_memory.embedding import EngineSettings, create_engine
from tests.conftest import Opener

PAGE: Final = 4096
SHELVES: Final = 240
TABLE_LEAF: Final = 0x0D
NOW_MS: Final = 1_796_000_000_000
"""A day in November 2026."""

ANNA: Final = Caller(source="assist", agent="conversation.home", provider="ollama", user="anna")
_SHELF: Final = re.compile(rb"Shelf (\d+) holds")

type Damage = Callable[[bytes], bytes]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


async def _fill(folder: Path) -> None:
    manager = MemoryManager(
        Database(folder / "memory.db"),
        create_engine("tfidf", EngineSettings(storage_path=folder)),
        max_entries=1000,
    )
    await manager.open()
    for number in range(SHELVES):
        text = f"Shelf {number} holds jar {number} with " + f"pickled fruit {number % 7} " * 6
        scope = Scope.PRIVATE if number % 5 == 0 else Scope.COMMON
        added = await manager.add(
            ANNA,
            NewMemory(content=text, wing="household", room=f"cellar {number % 3}", scope=scope),
        )
        if number % 10 == 0:
            await manager.update(ANNA, added.memory.id, MemoryChanges(summary="checked"))
            await manager.get(ANNA, added.memory.id)
    await manager.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a filled database, made once."""
    folder = tmp_path_factory.mktemp("whole")
    # In a thread: the loop of this one belongs to the tests.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, _fill(folder)).result()
    return (folder / "memory.db").read_bytes()


def _pages(data: bytes) -> list[bytes]:
    return [data[start : start + PAGE] for start in range(0, len(data), PAGE)]


def _replaced(data: bytes, number: int, page: bytes) -> bytes:
    """Return the file with another page, counted from 0."""
    return data[: number * PAGE] + page + data[(number + 1) * PAGE :]


def _memory_pages(data: bytes) -> dict[int, set[int]]:
    """Return the shelves on each page of the table."""
    return {
        number: {int(shelf) for shelf in _SHELF.findall(page)}
        for number, page in enumerate(_pages(data))
        if page[0] == TABLE_LEAF and _SHELF.search(page)
    }


def _root(data: bytes, name: str, folder: Path) -> int:
    """Return where a table or index begins, counted from 0."""
    copy = folder / "look.db"
    copy.write_bytes(data)
    with closing(sqlite3.connect(copy)) as connection:
        statement = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return int(connection.execute(statement, (name,)).fetchone()[0]) - 1


def _rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(statement).fetchall()


def _shelves(path: Path) -> set[int]:
    contents = _rows(path, "SELECT content FROM memories")
    return {int(_SHELF.findall(content.encode())[0]) for (content,) in contents}


def _is_sound(path: Path) -> bool:
    return (
        _rows(path, "PRAGMA integrity_check") == [("ok",)]
        and not _rows(path, "PRAGMA foreign_key_check")
        and all(
            _rows(path, f"SELECT count(*) FROM {table}_docsize")
            == _rows(path, "SELECT count(*) FROM memories")
            for table in ("memory_words", "memory_trigrams")
        )
    )


def _random_page(size: int = PAGE) -> bytes:
    return random.Random(4).randbytes(size)  # noqa: S311 - the same in every run


async def _repaired(path: Path) -> integrity.Salvaged:
    salvaged = await integrity.repair(path, NOW_MS)
    assert salvaged is not None
    return salvaged


async def test_a_whole_database_is_found_whole_and_never_repaired(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)
    assert await integrity.find_damage(path) is None
    assert await integrity.repair(path, NOW_MS) is None
    assert path.read_bytes() == whole
    assert not list(path.parent.glob("*damaged*"))


@pytest.mark.parametrize("page", [bytes(PAGE), _random_page()], ids=["zeros", "random"])
async def test_a_damaged_page_costs_only_its_own_memories(
    path: Path, whole: bytes, page: bytes
) -> None:
    pages = _memory_pages(whole)
    assert len(pages) > 10
    hit = sorted(pages)[len(pages) // 2]
    damaged = _replaced(whole, hit, page)
    path.write_bytes(damaged)
    assert await integrity.find_damage(path) is not None
    salvaged = await _repaired(path)
    assert salvaged.aside == path.with_name("memory.damaged.2026-11-30.db")
    assert salvaged.aside.read_bytes() == damaged
    assert (salvaged.restored, salvaged.lost) == (SHELVES - len(pages[hit]), len(pages[hit]))
    assert _shelves(path) == set(range(SHELVES)) - pages[hit]
    assert _is_sound(path)
    assert await integrity.find_damage(path) is None


async def test_what_comes_back_is_the_same_in_every_column(path: Path, whole: bytes) -> None:
    pages = _memory_pages(whole)
    path.write_bytes(_replaced(whole, min(pages), bytes(PAGE)))
    before = path.with_name("before.db")
    before.write_bytes(whole)
    salvaged = await _repaired(path)
    for table in ("memories", "usage", "audit", "rooms", "wings"):
        old, new = (set(_rows(one, f"SELECT * FROM {table}")) for one in (before, path))
        assert new <= old
        if table != "memories":
            missing = len(old) - len(new)
            assert missing == (len(pages[min(pages)]) // 10 + 1 if table == "usage" else 0)
        else:
            assert len(new) == salvaged.restored


async def test_many_damaged_pages_cost_only_theirs(path: Path, whole: bytes) -> None:
    pages = _memory_pages(whole)
    hit = sorted(pages)[::3]
    damaged = whole
    for number in hit:
        damaged = _replaced(damaged, number, _random_page())
    path.write_bytes(damaged)
    gone = set[int]().union(*(pages[number] for number in hit))
    salvaged = await _repaired(path)
    assert (salvaged.restored, salvaged.lost) == (SHELVES - len(gone), len(gone))
    assert _shelves(path) == set(range(SHELVES)) - gone


@pytest.mark.parametrize(
    "name",
    [
        *("sqlite_autoindex_memories_1", "memories_by_place", "memories_by_visibility"),
        *("memory_words_data", "memory_trigrams_data", "memory_trigrams_idx", "embeddings"),
    ],
)
@pytest.mark.parametrize("page", [bytes(PAGE), _random_page()], ids=["zeros", "random"])
async def test_damage_to_what_is_made_from_memories_costs_none(
    open_memory: Opener, path: Path, whole: bytes, name: str, page: bytes, tmp_path: Path
) -> None:
    path.write_bytes(_replaced(whole, _root(whole, name, tmp_path), page))
    manager = await open_memory()
    assert manager.salvaged is not None
    assert (manager.salvaged.restored, manager.salvaged.lost) == (SHELVES, 0)
    found = await manager.search(ANNA, Filters(), "shelf 217", 3)
    assert found.hits[0].memory.content.startswith("Shelf 217 holds")
    assert (await manager.latest(ANNA, Filters(scope=Scope.PRIVATE), 1000)).total == SHELVES // 5
    await manager.close()
    assert _is_sound(path)


async def test_memories_whose_room_is_lost_keep_their_owner(
    open_memory: Opener, path: Path, whole: bytes, tmp_path: Path
) -> None:
    path.write_bytes(_replaced(whole, _root(whole, "rooms", tmp_path), bytes(PAGE)))
    manager = await open_memory()
    assert manager.salvaged is not None
    assert (manager.salvaged.restored, manager.salvaged.lost) == (SHELVES, 0)
    private = await manager.latest(ANNA, Filters(scope=Scope.PRIVATE), 1000)
    assert private.total == SHELVES // 5
    assert {(one.wing, one.room) for one in private.memories} == {("general", "general")}
    stranger = Caller(source="assist", agent="conversation.other", provider="openai")
    assert (await manager.latest(stranger, Filters(), 1000)).total == SHELVES * 4 // 5


async def test_a_truncated_file_keeps_what_is_before_the_cut(path: Path, whole: bytes) -> None:
    pages = _memory_pages(whole)
    cut = sorted(pages)[len(pages) // 2]
    path.write_bytes(whole[: cut * PAGE])
    gone = set[int]().union(*(pages[number] for number in pages if number >= cut))
    salvaged = await _repaired(path)
    assert salvaged.restored == SHELVES - len(gone) > 0
    assert _shelves(path) == set(range(SHELVES)) - gone
    assert salvaged.aside.read_bytes() == whole[: cut * PAGE]


async def test_a_text_that_damage_made_unreadable_does_not_come_back(
    path: Path, whole: bytes, tmp_path: Path
) -> None:
    at = whole.index(b"Shelf 100 holds")
    damaged = whole[:at] + b"\xff\xfe\xfd\xfc" + whole[at + 4 :]
    at = whole.index(b"Shelf 101 holds")
    damaged = damaged[:at] + bytes(4) + damaged[at + 4 :]
    damaged = _replaced(damaged, _root(whole, "memory_words_data", tmp_path), bytes(PAGE))
    path.write_bytes(damaged)
    salvaged = await _repaired(path)
    assert (salvaged.restored, salvaged.lost) == (SHELVES - 2, 2)
    assert _shelves(path) == set(range(SHELVES)) - {100, 101}


async def test_a_database_of_which_nothing_can_be_read_starts_anew_and_is_kept(
    open_memory: Opener, path: Path, whole: bytes
) -> None:
    damaged = whole[:100] + bytes(len(whole) - 100)
    path.write_bytes(damaged)
    manager = await open_memory()
    assert manager.salvaged is not None
    assert (manager.salvaged.restored, manager.salvaged.lost) == (0, None)
    assert manager.salvaged.aside.read_bytes() == damaged
    await manager.add(ANNA, NewMemory(content="Life goes on"))
    assert manager.counts().total == 1


@pytest.mark.parametrize(
    ("spoil", "key"),
    [
        (lambda data: bytes(PAGE) + data[PAGE:], "database_not_a_database"),
        (lambda data: _random_page(len(data)), "database_not_a_database"),
        (lambda data: bytes(len(data)), "database_not_a_database"),
        (lambda data: data[:68] + b"\x00\x00\x30\x39" + data[72:-8192], "database_corrupt"),
        (
            lambda data: data[:60] + (SCHEMA_VERSION + 1).to_bytes(4) + data[64:-8192],
            "database_newer",
        ),
    ],
    ids=["first page", "random", "zeros", "foreign and truncated", "newer and truncated"],
)
async def test_a_file_that_is_not_known_to_be_ours_stays_in_place(
    open_memory: Opener, path: Path, whole: bytes, spoil: Damage, key: str
) -> None:
    damaged = spoil(whole)
    path.write_bytes(damaged)
    with pytest.raises(DatabaseUnusableError) as refused:
        await open_memory()
    assert (refused.value.key, refused.value.placeholders["path"]) == (key, str(path))
    assert path.read_bytes() == damaged
    assert not list(path.parent.glob("*damaged*"))


async def test_a_damaged_file_that_somebody_writes_to_is_left_to_them(
    path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.database.BUSY_TIMEOUT_SECONDS", 0.05)
    damaged = _replaced(whole, _root(whole, "memory_words_data", tmp_path), bytes(PAGE))
    path.write_bytes(damaged)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseLockedError):
        await integrity.repair(path, NOW_MS)
    assert path.read_bytes() == damaged
    assert {file.name for file in path.parent.iterdir()} <= {
        *("memory.db", "memory.db-wal", "memory.db-shm", "look.db"),
    }
    other.execute("ROLLBACK")
    other.close()
    assert (await _repaired(path)).restored == SHELVES


async def test_what_is_still_in_the_log_comes_back_and_the_log_is_kept(
    open_memory: Opener, path: Path, tmp_path: Path
) -> None:
    manager = await open_memory(name="living.db")
    for number in range(40):
        await manager.add(ANNA, NewMemory(content=f"Shelf {number} holds " + "cheese " * 40))
    async with manager._database.writing() as writer:
        await writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(40, 60):
        await manager.add(ANNA, NewMemory(content=f"Shelf {number} holds " + "cheese " * 40))
    living = tmp_path / "living.db"
    shutil.copyfile(living, path)
    shutil.copyfile(living.with_name("living.db-wal"), path.with_name("memory.db-wal"))
    pages = _memory_pages(path.read_bytes())
    damaged = _replaced(path.read_bytes(), min(pages), bytes(PAGE))
    path.write_bytes(damaged)
    log = path.with_name("memory.db-wal").read_bytes()
    assert len(log) > PAGE
    salvaged = await _repaired(path)
    assert not path.with_name("memory.db-wal").exists()
    assert _shelves(path) == set(range(60)) - pages[min(pages)]
    assert salvaged.aside.read_bytes() == damaged
    assert salvaged.aside.with_name(f"{salvaged.aside.name}-wal").read_bytes() == log


async def test_no_file_set_aside_is_ever_overwritten(path: Path, whole: bytes) -> None:
    pages = sorted(_memory_pages(whole))
    kept: dict[Path, bytes] = {}
    for number in pages[:3]:
        path.write_bytes(_replaced(whole, number, _random_page()))
        damaged = path.read_bytes()
        kept[(await _repaired(path)).aside] = damaged
    assert [aside.name for aside in kept] == [
        "memory.damaged.2026-11-30.db",
        "memory.damaged.2026-11-30-2.db",
        "memory.damaged.2026-11-30-3.db",
    ]
    assert {aside: aside.read_bytes() for aside in kept} == kept


@pytest.mark.parametrize("step", range(4))
async def test_a_repair_that_is_cut_off_is_finished_or_begun_anew(
    open_memory: Opener,
    path: Path,
    whole: bytes,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
) -> None:
    pages = _memory_pages(whole)
    path.write_bytes(_replaced(whole, max(pages), bytes(PAGE)))
    rename, steps = Path.rename, iter(range(100))

    def rename_or_die(self: Path, target: Path) -> Path:
        if next(steps) == step:
            raise OSError(5, "the power is gone")
        return rename(self, target)

    with monkeypatch.context() as dying:
        dying.setattr(Path, "rename", rename_or_die)
        with pytest.raises(StorageError):
            await integrity.repair(path, NOW_MS)
    manager = await open_memory()
    assert (await manager.latest(ANNA, Filters(), 1000)).total == SHELVES - len(pages[max(pages)])
    aside = path.with_name("memory.damaged.2026-11-30.db")
    assert manager.salvaged is not None
    assert manager.salvaged.aside == aside
    assert manager.salvaged.restored == SHELVES - len(pages[max(pages)])
    await manager.close()
    assert aside.read_bytes() == _replaced(whole, max(pages), bytes(PAGE))
    left = {file.name for file in path.parent.glob("memory.db*")}
    assert left == {"memory.db"}
    assert _is_sound(path)


async def test_without_space_for_the_new_file_the_old_one_stays(
    path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = _replaced(whole, min(_memory_pages(whole)), bytes(PAGE))
    path.write_bytes(damaged)

    async def no_space(*_: object) -> None:
        raise StorageError("disk_full", path="elsewhere")

    monkeypatch.setattr("custom_components.ai_memory.core.salvage.salvage", no_space)
    with pytest.raises(StorageError) as refused:
        await integrity.repair(path, NOW_MS)
    assert (refused.value.key, refused.value.placeholders) == ("disk_full", {"path": str(path)})
    assert path.read_bytes() == damaged
    assert not list(path.parent.glob("*salvage*"))


async def test_a_link_is_repaired_where_it_leads(path: Path, whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    real = tmp_path / "disk" / "real.db"
    real.write_bytes(_replaced(whole, min(_memory_pages(whole)), bytes(PAGE)))
    path.symlink_to(real)
    salvaged = await _repaired(path)
    assert path.is_symlink()
    assert salvaged.aside == real.with_name("real.damaged.2026-11-30.db")
    assert _is_sound(path)


async def test_a_damaged_file_opened_from_the_shelf_is_not_repaired_by_the_database_itself(
    path: Path, whole: bytes
) -> None:
    damaged = _replaced(whole, min(_memory_pages(whole)), bytes(PAGE))
    path.write_bytes(damaged)
    with pytest.raises(DatabaseUnusableError):
        await Database(path).open()
    assert path.read_bytes() == damaged


async def test_a_file_too_large_to_be_checked_at_start_is_repaired_when_distrusted(
    path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.database.QUICK_CHECK_LIMIT_BYTES", 1)
    path.write_bytes(_replaced(whole, _root(whole, "memory_trigrams_idx", tmp_path), bytes(PAGE)))
    for distrusted in (False, True):
        manager = MemoryManager(
            Database(path),
            create_engine("tfidf", EngineSettings(storage_path=tmp_path)),
            max_entries=1000,
            distrusted=distrusted,
        )
        await manager.open()
        assert (manager.salvaged is not None) == distrusted
        await manager.close()
    assert _shelves(path) == set(range(SHELVES))
    assert _is_sound(path)


async def test_neither_the_loop_nor_writers_wait_for_a_check(
    open_memory: Opener, path: Path, whole: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "custom_components")
    # It would warn of each step that a busy machine was slow with.
    asyncio.get_running_loop().set_debug(enabled=False)
    path.write_bytes(whole)
    manager = await open_memory()
    checked = 0

    async def check() -> None:
        nonlocal checked
        while True:
            assert await manager.find_damage() is None
            checked += 1

    checks = asyncio.create_task(check())
    with StallMeter() as meter:
        async with asyncio.timeout(30):
            number = 0
            while checked <= 5 or number < 60:
                await manager.add(ANNA, NewMemory(content=f"Written meanwhile: {number}"))
                number += 1
    checks.cancel()
    await asyncio.wait([checks])
    # Only what this process computed itself counts: the machine may be busy.
    assert meter.stall.longest_own_ms < 250
    assert not caplog.records


async def test_closing_ends_a_check(
    open_memory: Opener, path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_damage = integrity._find_damage

    def once_unwanted(path: Path, cancelled: threading.Event) -> str | None:
        assert cancelled.wait(10)
        return find_damage(path, cancelled)

    path.write_bytes(whole)
    monkeypatch.setattr(integrity, "STEPS_BETWEEN_LOOKS", 1)
    monkeypatch.setattr(integrity, "_find_damage", once_unwanted)
    manager = await open_memory()
    check = asyncio.create_task(manager.find_damage())
    await asyncio.sleep(0)
    await manager.close()
    with pytest.raises(asyncio.CancelledError):
        await check
    assert not path.with_name("memory.db-wal").exists()


async def test_a_lock_is_no_verdict(
    path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.database.BUSY_TIMEOUT_SECONDS", 0.05)
    path.write_bytes(whole)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseLockedError):
        await integrity.find_damage(path)
    other.execute("ROLLBACK")
    other.close()
    with pytest.raises(StorageError):
        await integrity.find_damage(path.with_name("nowhere.db"))


async def _fill_with_history(path: Path) -> dict[str, str]:
    """Store memories that others replaced, witnessed, rewrote and forgot; returns some ids."""
    manager = MemoryManager(
        Database(path),
        create_engine("tfidf", EngineSettings(storage_path=path.parent)),
        max_entries=1000,
    )
    await manager.open()
    ids: dict[str, str] = {}
    for number in range(SHELVES):
        text = f"Shelf {number} holds jar {number} with " + f"pickled fruit {number % 7} " * 6
        new = NewMemory(content=text, scope=Scope.COMMON, wing="household", room="cellar")
        first = (await manager.add(ANNA, new)).memory.id
        if number % 4:
            continue
        replaced = replace(new, content=f"{text} and plums", supersedes=first)
        second = (await manager.add(ANNA, replaced)).memory.id
        rewritten = MemoryChanges(content=f"{text} and quinces")
        await manager.update(ANNA, second, rewritten)
        await manager.lifecycle.corroborate(ANNA, second, "I saw it", Stance.CORROBORATES)
        ids |= {f"{number} first": first, f"{number} second": second}
    forgotten = ids["8 second"]
    await manager.lifecycle.forget(ANNA, forgotten)

    async def close_session(write: Transaction) -> tuple[dict[str, Any], list[Written]]:
        return {"closed": True}, []

    await manager.lifecycle.once(ANNA, Receipt.of("close-0001", "codex", {}), close_session)
    await manager.close()
    anchors = [
        (sequence, "light.hall", "missing")
        for (sequence,) in _rows(path, "SELECT sequence FROM memories WHERE sequence % 9 = 0")
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        insert = "INSERT INTO anchors (sequence, anchor, state) VALUES (?, ?, ?)"
        connection.executemany(insert, anchors)
    return ids


async def _replayed(manager: MemoryManager) -> dict[str, Any]:
    """Ask again for what was done once; it must not be done again."""

    async def again(_write: Transaction) -> tuple[dict[str, Any], list[Written]]:
        raise AssertionError

    receipt = Receipt.of("close-0001", "codex", {})
    answer, replayed = await manager.lifecycle.once(ANNA, receipt, again)
    assert replayed
    return answer


async def test_what_was_replaced_comes_back_with_its_chain_its_witnesses_and_receipts(
    path: Path, open_memory: Opener
) -> None:
    ids = await _fill_with_history(path)
    tables = ("memories", "earlier_texts", "evidence", "anchors", "receipts", "audit")
    before = {table: _rows(path, f"SELECT * FROM {table} ORDER BY rowid") for table in tables}
    assert all(before.values())
    # Damage to what is made from memories alone: everything else can be read.
    data = path.read_bytes()
    root = _root(data, "memories_by_expiry", path.parent)
    path.write_bytes(_replaced(data, root, _random_page()))
    salvaged = await _repaired(path)
    assert salvaged.lost == 0
    after = {table: _rows(path, f"SELECT * FROM {table} ORDER BY rowid") for table in tables}
    assert after == before
    assert _is_sound(path)
    manager = await open_memory()
    said = await manager.lifecycle.history(ANNA, ids["0 second"], 9)
    endings = [version.content.split()[-1] for version in said]
    assert (endings, said[-1].memory_id) == (["quinces", "plums", "0"], ids["0 first"])
    restored = await manager.lifecycle.restore(ANNA, ids["8 second"])
    assert (restored.status, restored.evidence) == (Status.ACTIVE, 1.0)
    assert (await manager.get(ANNA, ids["8 first"])).superseded_by == ids["8 second"]
    assert await _replayed(manager) == {"closed": True}


async def test_what_replaced_a_memory_may_be_lost_and_it_stands_without(
    path: Path, open_memory: Opener
) -> None:
    await _fill_with_history(path)
    data = path.read_bytes()
    pages = _memory_pages(data)
    number = max(pages)
    path.write_bytes(_replaced(data, number, _random_page()))
    salvaged = await _repaired(path)
    assert salvaged.lost
    assert _is_sound(path)
    lost = "superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT sequence FROM memories)"
    assert _rows(path, f"SELECT count(*) FROM memories WHERE {lost}") == [(0,)]
    for table in ("earlier_texts", "evidence", "anchors"):
        orphans = "sequence NOT IN (SELECT sequence FROM memories)"
        assert _rows(path, f"SELECT count(*) FROM {table} WHERE {orphans}") == [(0,)]
    manager = await open_memory()
    live = "SELECT count(*) FROM memories WHERE status IN ('active', 'candidate')"
    assert _rows(path, live) == [(manager.counts().total,)]
