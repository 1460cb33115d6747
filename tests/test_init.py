"""Setting the integration up, tearing it down and failing with advice."""

import asyncio
import logging
from pathlib import Path
import sqlite3

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir, llm
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory import async_migrate_entry
from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Caller, Filters, MemoryManager, NewMemory, Scope

AUTOMATION = Caller(source="service")


@pytest.fixture
def path(hass_config_dir: str) -> Path:
    return Path(hass_config_dir) / "ai_memory.db"


async def test_setup_offers_everything_and_unload_withdraws_it(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    assert loaded.state is ConfigEntryState.LOADED
    assert DOMAIN in {api.id for api in llm.async_get_apis(hass)}
    assert hass.states.get("sensor.ai_memory") is not None
    assert hass.states.get("event.ai_memory_changes") is not None
    assert set(hass.services.async_services_for_domain(DOMAIN)) == {
        "accept_tunnel",
        "about_me",
        "corroborate_memory",
        "forget_memory",
        "memory_history",
        "restore_memory",
        "timeline",
        "add_memory",
        "connect_places",
        "delete_memory",
        "delete_place",
        "describe_place",
        "disconnect_places",
        "dismiss_tunnel",
        "export_memories",
        "forget_me",
        "get_memory",
        "import_memories",
        "list_anchors",
        "list_memories",
        "list_places",
        "list_tunnels",
        "maintain",
        "propose_tunnels",
        "rename_place",
        "search_memory",
        "sweep_anchors",
        "update_memory",
    }
    assert await hass.config_entries.async_unload(loaded.entry_id)
    assert DOMAIN not in {api.id for api in llm.async_get_apis(hass)}


async def test_memories_survive_a_reload(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    await loaded.runtime_data.manager.add(
        AUTOMATION, NewMemory(content="The ladder is in the shed")
    )
    assert await hass.config_entries.async_reload(loaded.entry_id)
    found = await loaded.runtime_data.manager.latest(AUTOMATION, Filters(), 10)
    assert [memory.content for memory in found.memories] == ["The ladder is in the shed"]


async def test_removing_the_entry_keeps_the_database(
    hass: HomeAssistant, loaded: MockConfigEntry, path: Path
) -> None:
    await hass.config_entries.async_remove(loaded.entry_id)
    assert path.exists()


async def test_shutting_home_assistant_down_closes_the_file(
    hass: HomeAssistant, loaded: MockConfigEntry, path: Path
) -> None:
    await loaded.runtime_data.manager.add(
        AUTOMATION, NewMemory(content="The ladder is in the shed")
    )
    hass.bus.async_fire(EVENT_HOMEASSISTANT_CLOSE)
    await hass.async_block_till_done()
    assert not path.with_name("ai_memory.db-wal").exists()


@pytest.mark.parametrize("engine", ["remote", "nonsense", None])
async def test_an_engine_that_is_not_there_never_keeps_the_memory_closed(
    hass: HomeAssistant, engine: str | None
) -> None:
    entry = MockConfigEntry(domain=DOMAIN, version=4, data={"embedding_engine": engine})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert entry.runtime_data.manager.engine_name == "tfidf"


@pytest.mark.parametrize(
    ("key", "content"),
    [("database_not_a_database", b"scribble" * 1000), ("database_foreign", None)],
    ids=["not_a_database", "foreign"],
)
async def test_an_unusable_database_raises_an_issue_that_clears_itself(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    path: Path,
    issue_registry: ir.IssueRegistry,
    key: str,
    content: bytes | None,
) -> None:
    if content is not None:
        path.write_bytes(content)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE memories (id TEXT)")
        connection.close()
    before = path.read_bytes()
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert entry.error_reason_translation_key == key
    issue = issue_registry.async_get_issue(DOMAIN, "database")
    assert issue is not None
    assert (issue.translation_key, issue.severity) == (key, ir.IssueSeverity.ERROR)
    assert issue.translation_placeholders == {"path": str(path)}
    assert path.read_bytes() == before

    path.unlink()
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert issue_registry.async_get_issue(DOMAIN, "database") is None


async def test_a_locked_database_is_tried_again(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    path: Path,
    issue_registry: ir.IssueRegistry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.database.BUSY_TIMEOUT_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY
    issue = issue_registry.async_get_issue(DOMAIN, "database")
    assert issue is not None
    assert issue.translation_key == "database_locked"
    other.execute("ROLLBACK")
    other.close()
    await hass.config_entries.async_reload(entry.entry_id)
    reloaded = hass.config_entries.async_get_entry(entry.entry_id)
    assert reloaded is not None
    assert reloaded.state is ConfigEntryState.LOADED
    assert issue_registry.async_get_issue(DOMAIN, "database") is None


@pytest.mark.parametrize(
    ("version", "data", "options", "expected"),
    [
        (
            1,
            {
                "max_entries": 250,
                "embedding_engine": "remote",
                "remote_url": "http://10.0.0.5:11434",
                "model": "all-minilm",
                "storage_location": "/config",
            },
            {},
            {
                "max_entries": 250,
                "embedding_engine": "ollama",
                "remote_url": "http://10.0.0.5:11434",
                "model_name": "all-minilm",
            },
        ),
        (
            2,
            {"max_entries": 500.0, "embedding_engine": "remote", "remote_model": " bge-m3 "},
            {"remote_url": "http://10.0.0.6:11434", "api_key": "made-up-key", "max_entries": 75},
            {
                "max_entries": 75,
                "embedding_engine": "ollama",
                "remote_url": "http://10.0.0.6:11434",
                "api_key": "made-up-key",
                "model_name": "bge-m3",
            },
        ),
        (
            3,
            {
                "max_entries": 1000,
                "embedding_engine": "openai_compatible",
                "remote_url": "http://10.0.0.7:8080",
                "api_key": "",
                "embedding_model": "qwen3",
                "model_name": "",
            },
            {},
            {
                "max_entries": 1000,
                "embedding_engine": "openai_compatible",
                "remote_url": "http://10.0.0.7:8080",
                "model_name": "qwen3",
            },
        ),
        (
            3,
            {"embedding_engine": "remote"},
            {},
            {
                "max_entries": 1000,
                "embedding_engine": "ollama",
                "remote_url": "http://127.0.0.1:11434",
                "model_name": "bge-m3",
            },
        ),
        (
            3,
            {"embedding_engine": "tfidf", "remote_url": "http://10.0.0.7", "api_key": "k"},
            {},
            {"max_entries": 1000, "embedding_engine": "tfidf"},
        ),
        (
            2,
            {"embedding_engine": "word2vec", "max_entries": "many", "model": "x"},
            {},
            {"max_entries": 1000, "embedding_engine": "tfidf"},
        ),
    ],
    ids=["1", "2", "3", "3 without a server", "3 with tfidf", "2 with an unknown engine"],
)
async def test_an_entry_of_the_system_before_is_taken_over(
    hass: HomeAssistant,
    version: int,
    data: dict[str, object],
    options: dict[str, object],
    expected: dict[str, object],
) -> None:
    entry = MockConfigEntry(domain=DOMAIN, version=version, data=data, options=options)
    entry.add_to_hass(hass)
    assert await async_migrate_entry(hass, entry)
    assert (entry.version, entry.minor_version) == (4, 1)
    assert dict(entry.data) == expected | {"previous_api": True}
    assert dict(entry.options) == {}


async def test_set_up_migrates_and_opens(hass: HomeAssistant) -> None:
    entry = MockConfigEntry(
        domain=DOMAIN, version=2, data={"max_entries": 9, "embedding_engine": "tfidf", "old": 1}
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    expected = {"max_entries": 9, "embedding_engine": "tfidf", "previous_api": True}
    assert (entry.version, dict(entry.data)) == (4, expected)


@pytest.mark.parametrize(
    ("version", "minor", "state"),
    [(4, 7, ConfigEntryState.LOADED), (5, 1, ConfigEntryState.MIGRATION_ERROR)],
)
async def test_only_an_entry_of_a_newer_kind_is_refused(
    hass: HomeAssistant, version: int, minor: int, state: ConfigEntryState
) -> None:
    data = {"max_entries": 9, "embedding_engine": "tfidf", "new": 1}
    entry = MockConfigEntry(domain=DOMAIN, version=version, minor_version=minor, data=data)
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is state
    assert (entry.version, entry.minor_version, dict(entry.data)) == (version, minor, data)


async def test_an_option_saved_while_the_memory_opens_is_not_lost(
    hass: HomeAssistant, entry: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, go_on = asyncio.Event(), asyncio.Event()
    really_open = MemoryManager.open

    async def slow_open(manager: MemoryManager) -> None:
        opening.set()
        await go_on.wait()
        await really_open(manager)

    monkeypatch.setattr(MemoryManager, "open", slow_open)
    entry.add_to_hass(hass)
    setting_up = hass.async_create_task(hass.config_entries.async_setup(entry.entry_id))
    await opening.wait()
    hass.config_entries.async_update_entry(entry, options={"max_entries": 5000})
    go_on.set()
    await setting_up
    await hass.async_block_till_done()
    assert entry.runtime_data.manager.max_entries == 5000


async def test_a_set_up_that_fails_in_the_middle_leaves_nothing_open(
    hass: HomeAssistant, entry: MockConfigEntry, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def explode(_engine: object) -> None:
        raise OSError

    monkeypatch.setattr("custom_components.ai_memory.embedding.tfidf.TfidfEngine.start", explode)
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert not path.with_name("ai_memory.db-wal").exists()


async def test_no_text_reaches_the_log_even_when_everything_is_logged(
    hass: HomeAssistant, loaded: MockConfigEntry, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    manager = loaded.runtime_data.manager
    await manager.add(AUTOMATION, NewMemory(content="Xylophone quagmire", scope=Scope.COMMON))
    await manager.search(AUTOMATION, Filters(), "xylophone", 5)
    assert "xylophone" not in caplog.text.lower()


@pytest.mark.parametrize("max_entries", [None, "5", 2.5, 0, -5])
async def test_damaged_settings_fall_back_to_the_default(
    hass: HomeAssistant, max_entries: object
) -> None:
    entry = MockConfigEntry(domain=DOMAIN, version=4, data={"max_entries": max_entries})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert entry.runtime_data.manager.max_entries == 1000
