"""Backups of a memory that is being written, restoring them, and the check every night."""

import asyncio
from contextlib import closing
from datetime import timedelta
import logging
from pathlib import Path
import sqlite3
import tarfile

from homeassistant.components.backup.const import DATA_MANAGER
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from benchmarks.event_loop import StallMeter
from custom_components.ai_memory import backup
from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import (
    Caller,
    Database,
    Filters,
    MemoryManager,
    NewMemory,
    StorageError,
    file_hold,
)
from custom_components.ai_memory.database_care import SALVAGED_ISSUE, check_time
from custom_components.ai_memory.embedding import EngineSettings, create_engine

AUTOMATION = Caller(source="service")
PAGE = 4096


@pytest.fixture
def path(hass_config_dir: str) -> Path:
    return Path(hass_config_dir) / "ai_memory.db"


class Writers:
    """Some tasks that write as fast as they can, and what they were told is stored."""

    def __init__(self, manager: MemoryManager) -> None:
        """Start writing."""
        self.acknowledged: dict[str, str] = {}
        self.failures: list[BaseException] = []
        self._manager = manager
        self._go_on = True
        self._tasks = [asyncio.create_task(self._write(number)) for number in range(4)]

    async def reach(self, count: int) -> None:
        """Wait until so many memories are stored."""
        while len(self.acknowledged) < count and not self.failures:
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Let each finish its last write."""
        self._go_on = False
        await asyncio.wait(self._tasks)
        assert not self.failures

    async def _write(self, writer: int) -> None:
        number = 0
        while self._go_on:
            content = f"Note {number} of writer {writer}: nonsense{writer}x{number}"
            try:
                added = await self._manager.add(AUTOMATION, NewMemory(content=content))
                # A search counts as a use, which is written behind.
                await self._manager.search(AUTOMATION, Filters(), f"nonsense{writer}x{number}", 1)
            except StorageError as err:
                self.failures.append(err)
                return
            self.acknowledged[added.memory.id] = content
            number += 1


async def _copy_slowly(source: Path, target: Path, seconds: float) -> None:
    """Copy a file piece by piece, as a busy machine does, while everything else goes on."""
    data_length = source.stat().st_size
    step = max(1, data_length // 40)
    with source.open("rb") as reading, target.open("wb") as writing:
        while piece := reading.read(step):
            writing.write(piece)
            await asyncio.sleep(seconds / 40)


async def _restored(path: Path) -> dict[str, str]:
    """Open a copy as a fresh memory; returns what it holds, each found by its words too."""
    for pragma, healthy in (("integrity_check", [("ok",)]), ("foreign_key_check", [])):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute(f"PRAGMA {pragma}").fetchall() == healthy
    manager = MemoryManager(
        Database(path),
        create_engine("tfidf", EngineSettings(storage_path=path.parent)),
        max_entries=100_000,
    )
    await manager.open()
    assert manager.salvaged is None
    listed = await manager.latest(AUTOMATION, Filters(), 100_000)
    for memory in listed.memories:
        word = memory.content.split()[-1]
        found = await manager.search(AUTOMATION, Filters(), word, 1)
        assert [hit.memory.id for hit in found.hits] == [memory.id]
    await manager.close()
    return {memory.id: memory.content for memory in listed.memories}


async def test_a_copy_made_under_full_load_holds_everything_that_was_acknowledged(
    hass: HomeAssistant, loaded: MockConfigEntry, path: Path, tmp_path: Path
) -> None:
    manager = loaded.runtime_data.manager
    writers = Writers(manager)
    await writers.reach(40)
    with StallMeter() as meter:
        await backup.async_pre_backup(hass)
        before = dict(writers.acknowledged)
        assert path.with_name("ai_memory.db-wal").stat().st_size == 0
        copying = asyncio.create_task(_copy_slowly(path, tmp_path / "copy.db", 0.6))
        searches = 0
        while not copying.done():
            # Reading goes on all the while.
            assert (await manager.search(AUTOMATION, Filters(), "nonsense0x0", 1)).hits
            searches += 1
        await copying
        during = dict(writers.acknowledged)
        await backup.async_post_backup(hass)
    await writers.reach(len(during) + 40)
    await writers.stop()
    assert len(before) >= 40
    assert searches > 20
    # A search after the last write was on its way when the file was held; none was written.
    assert len(during) - len(before) <= 4
    assert meter.stall.longest_own_ms < 250
    restored = await _restored(tmp_path / "copy.db")
    assert restored.items() >= before.items()
    assert restored.items() >= during.items()
    stored = await manager.latest(AUTOMATION, Filters(), 100_000)
    assert {one.id: one.content for one in stored.memories} == writers.acknowledged


async def test_uses_are_in_the_copy(
    hass: HomeAssistant, loaded: MockConfigEntry, path: Path, tmp_path: Path
) -> None:
    manager = loaded.runtime_data.manager
    await manager.add(AUTOMATION, NewMemory(content="The ladder is in the shed"))
    for _ in range(3):
        await manager.search(AUTOMATION, Filters(), "ladder", 1)
    await backup.async_pre_backup(hass)
    (tmp_path / "copy.db").write_bytes(path.read_bytes())
    await backup.async_post_backup(hass)
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        assert connection.execute("SELECT returned FROM usage").fetchall() == [(3,)]


async def test_a_backup_that_takes_long_stays_consistent_while_writing_goes_on(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "custom_components.ai_memory")
    monkeypatch.setattr(file_hold, "WRITES_WAIT_SECONDS", 0.1)
    manager = loaded.runtime_data.manager
    writers = Writers(manager)
    await writers.reach(20)
    await backup.async_pre_backup(hass)
    before, held = dict(writers.acknowledged), path.read_bytes()
    await _copy_slowly(path, tmp_path / "copy.db", 0.5)
    await writers.reach(len(before) + 300)
    (deleted,) = await manager.delete(AUTOMATION, next(iter(before)), Filters())
    # The log outgrew what usually has it folded in, and the file was not touched.
    log = path.with_name("ai_memory.db-wal")
    assert log.stat().st_size > file_hold.AUTO_CHECKPOINT_PAGES * PAGE
    assert path.read_bytes() == held
    during = dict(writers.acknowledged)
    await _copy_slowly(log, tmp_path / "copy.db-wal", 0.2)
    await backup.async_post_backup(hass)
    await writers.stop()
    assert log.stat().st_size < file_hold.AUTO_CHECKPOINT_PAGES * PAGE
    assert "A backup takes longer" in caplog.text
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "copy.db").write_bytes((tmp_path / "copy.db").read_bytes())
    assert (await _restored(tmp_path / "alone" / "copy.db")).items() >= before.items()
    del during[deleted]
    assert (await _restored(tmp_path / "copy.db")).items() >= during.items()


async def test_without_an_end_of_the_backup_everything_goes_on_by_itself(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(file_hold, "WRITES_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(file_hold, "HOLD_SECONDS", 0.2)
    manager = loaded.runtime_data.manager
    await backup.async_pre_backup(hass)
    began = hass.loop.time()
    await manager.add(AUTOMATION, NewMemory(content="The ladder is in the shed"))
    assert 0.1 < hass.loop.time() - began < 2
    _, task = manager._hold or pytest.fail("It is not held")
    await task
    assert "Nobody said that the backup is over" in caplog.text
    assert path.with_name("ai_memory.db-wal").stat().st_size == 0
    async with manager._database.writing() as writer:
        rows = list(await writer.execute_fetchall("PRAGMA wal_autocheckpoint"))
    assert rows[0][0] == file_hold.AUTO_CHECKPOINT_PAGES
    # The next backup finds nothing in its way.
    await backup.async_pre_backup(hass)
    await backup.async_post_backup(hass)
    await manager.add(AUTOMATION, NewMemory(content="The torch is in the cellar"))


async def test_a_reload_waits_for_the_backup(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await backup.async_pre_backup(hass)
    held = path.read_bytes()
    reload = hass.async_create_task(hass.config_entries.async_reload(loaded.entry_id))
    await asyncio.sleep(0.2)
    assert not reload.done()
    assert path.read_bytes() == held
    await backup.async_post_backup(hass)
    assert await reload
    await loaded.runtime_data.manager.add(AUTOMATION, NewMemory(content="It goes on"))

    monkeypatch.setattr(backup, "SETUP_WAITS_SECONDS", 0.05)
    await backup.async_pre_backup(hass)
    assert await hass.config_entries.async_reload(loaded.entry_id)
    assert "going on without waiting" in caplog.text
    await loaded.runtime_data.manager.add(AUTOMATION, NewMemory(content="It goes on still"))
    await backup.async_post_backup(hass)


async def test_shutting_down_does_not_wait_for_the_backup(
    hass: HomeAssistant, loaded: MockConfigEntry, path: Path
) -> None:
    manager = loaded.runtime_data.manager
    await backup.async_pre_backup(hass)
    writing = hass.async_create_task(
        manager.add(AUTOMATION, NewMemory(content="Told at the last moment"))
    )
    await asyncio.sleep(0.05)
    assert not writing.done()
    hass.bus.async_fire(EVENT_HOMEASSISTANT_CLOSE)
    await hass.async_block_till_done()
    assert (await writing).memory.content == "Told at the last moment"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM memories").fetchone() == (1,)
    await backup.async_post_backup(hass)


async def test_a_backup_without_a_memory_is_nobody_s_problem(hass: HomeAssistant) -> None:
    await backup.async_pre_backup(hass)
    await backup.async_post_backup(hass)
    await backup.async_post_backup(hass)


async def test_a_database_that_cannot_be_held_never_fails_the_backup(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(backup, "READY_SECONDS", 0.1)
    manager = loaded.runtime_data.manager
    async with manager._database.transaction():
        await backup.async_pre_backup(hass)
    assert "could not be held still" in caplog.text
    await backup.async_post_backup(hass)
    caplog.clear()
    await manager._database.close()
    await backup.async_pre_backup(hass)
    assert "database_closed" in caplog.text
    await backup.async_post_backup(hass)
    await manager._database.open()
    await manager.add(AUTOMATION, NewMemory(content="The torch is in the cellar"))
    async with manager._database.writing() as writer:
        rows = list(await writer.execute_fetchall("PRAGMA wal_autocheckpoint"))
    assert rows[0][0] == file_hold.AUTO_CHECKPOINT_PAGES


async def test_home_assistant_s_own_backup_holds_the_memory(
    hass: HomeAssistant, loaded: MockConfigEntry, path: Path, tmp_path: Path
) -> None:
    assert await async_setup_component(hass, "backup", {})
    await hass.async_block_till_done()
    backups = hass.data[DATA_MANAGER]
    assert DOMAIN in backups.platforms
    writers = Writers(loaded.runtime_data.manager)
    await writers.reach(20)
    before = dict(writers.acknowledged)
    made = await backups.async_create_backup(
        agent_ids=["backup.local"],
        extra_metadata=None,
        include_addons=None,
        include_all_addons=False,
        include_database=False,
        include_folders=None,
        include_homeassistant=True,
        name="Test",
        password=None,
    )
    await hass.async_block_till_done()
    assert made.backup_job_id
    await writers.reach(len(before) + 20)
    await writers.stop()
    (archive,) = (path.parent / "backups").glob("*.tar")
    with tarfile.open(archive) as outer:
        inner = outer.extractfile("homeassistant.tar.gz")
        with tarfile.open(fileobj=inner, mode="r:gz") as tar:
            tar.extract("data/ai_memory.db", tmp_path / "restored", filter="data")
    restored = await _restored(tmp_path / "restored" / "data" / "ai_memory.db")
    assert restored.items() >= before.items()


async def _filled(manager: MemoryManager) -> None:
    for number in range(120):
        await manager.add(AUTOMATION, NewMemory(content=f"Shelf {number} holds " + "jars " * 30))
    async with manager._database.writing() as writer:
        await writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _spoil(path: Path) -> int:
    """Overwrite a page of memories with zeros; returns how many were on it."""
    data = path.read_bytes()
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    full = [number for number, page in enumerate(pages) if page[0] == 13 and b" holds jars" in page]
    number = full[len(full) // 2]
    with path.open("r+b") as file:
        file.seek(number * PAGE)
        file.write(bytes(PAGE))
    return pages[number].count(b" holds jars")


async def _at_night(hass: HomeAssistant, entry: MockConfigEntry, days: int) -> None:
    hour, minute, second = check_time(entry.entry_id)
    night = (dt_util.now() + timedelta(days=days)).replace(hour=hour, minute=minute, second=second)
    async_fire_time_changed(hass, night)
    # The check is a task in the background, which ends in a reload when something is wrong.
    for _ in range(40):
        await asyncio.sleep(0.01)
        await hass.async_block_till_done()


async def test_the_nightly_check_repairs_and_a_notice_says_what_came_back(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    path: Path,
    issue_registry: ir.IssueRegistry,
) -> None:
    await _filled(loaded.runtime_data.manager)
    await _at_night(hass, loaded, 1)
    assert issue_registry.async_get_issue(DOMAIN, SALVAGED_ISSUE) is None
    lost = _spoil(path)
    assert lost > 5
    await _at_night(hass, loaded, 2)
    await hass.async_block_till_done()
    assert loaded.state is ConfigEntryState.LOADED
    issue = issue_registry.async_get_issue(DOMAIN, SALVAGED_ISSUE)
    assert issue is not None
    assert (issue.is_persistent, issue.severity) == (True, ir.IssueSeverity.ERROR)
    told = issue.translation_placeholders or {}
    assert (told["restored"], told["lost"]) == (str(120 - lost), str(lost))
    aside = Path(told["aside"])
    assert aside.parent == path.parent
    assert aside.name.startswith("ai_memory.damaged.")
    manager = loaded.runtime_data.manager
    assert (await manager.latest(AUTOMATION, Filters(), 1000)).total == 120 - lost
    assert manager.counts().total == 120 - lost
    assert (await manager.search(AUTOMATION, Filters(), "shelf 3", 3)).hits
    assert len(list(path.parent.glob("ai_memory.damaged.*.db"))) == 1
    await hass.config_entries.async_remove(loaded.entry_id)
    assert issue_registry.async_get_issue(DOMAIN, SALVAGED_ISSUE) is None
    assert aside.exists()


async def test_a_damaged_database_is_repaired_at_start(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    path: Path,
    issue_registry: ir.IssueRegistry,
) -> None:
    await _filled(loaded.runtime_data.manager)
    assert await hass.config_entries.async_unload(loaded.entry_id)
    lost = _spoil(path)
    assert await hass.config_entries.async_setup(loaded.entry_id)
    issue = issue_registry.async_get_issue(DOMAIN, SALVAGED_ISSUE)
    assert issue is not None
    assert (issue.translation_placeholders or {})["restored"] == str(120 - lost)
    assert issue_registry.async_get_issue(DOMAIN, "database") is None


async def test_no_check_runs_during_a_backup(
    hass: HomeAssistant, loaded: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[None] = []

    async def find_damage(_manager: MemoryManager) -> None:
        asked.append(None)

    monkeypatch.setattr(MemoryManager, "find_damage", find_damage)
    await backup.async_pre_backup(hass)
    await _at_night(hass, loaded, 1)
    assert not asked
    await backup.async_post_backup(hass)
    await _at_night(hass, loaded, 2)
    assert len(asked) == 1


def test_each_home_checks_at_a_moment_of_its_own() -> None:
    times = [check_time(f"{number:026d}") for number in range(500)]
    assert min(times) >= (3, 15, 0)
    assert max(times) < (3, 45, 0)
    assert len(set(times)) > 300
    assert check_time("one") == check_time("one")
