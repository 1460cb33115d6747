"""Switching from the integration before: its entry and its database, through set-up."""

from contextlib import closing
import json
from pathlib import Path
import shutil
import sqlite3

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.takeover import TAKEN_OVER_ISSUE
from tests.core.previous_files import SAMPLES, rows_of, sample


@pytest.fixture
def path(hass_config_dir: str) -> Path:
    return Path(hass_config_dir) / "ai_memory.db"


@pytest.fixture
def old_entry(path: Path) -> MockConfigEntry:
    """Return an entry as that integration left it, with its files."""
    shutil.copyfile(
        SAMPLES / "ai_memory_tfidf_vocab-0.2.0.json",
        path.parent / ".storage" / "ai_memory_tfidf_vocab.json",
    )
    data = {"max_entries": 1000, "embedding_engine": "tfidf"}
    return MockConfigEntry(domain=DOMAIN, title="AI Memory", version=3, data=data)


@pytest.mark.parametrize(("version", "named"), [("0.0.3", "0.0"), ("0.2.0", "0.2.0")])
async def test_whoever_switches_finds_everything_and_is_told(
    hass: HomeAssistant,
    old_entry: MockConfigEntry,
    path: Path,
    issue_registry: ir.IssueRegistry,
    version: str,
    named: str,
) -> None:
    old = rows_of(sample(version, path))
    old_entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(old_entry.entry_id)
    await hass.async_block_till_done()
    assert (old_entry.state, old_entry.version) == (ConfigEntryState.LOADED, 4)
    issue = issue_registry.async_get_issue(DOMAIN, TAKEN_OVER_ISSUE)
    assert issue is not None
    assert (issue.is_persistent, issue.translation_key) == (True, TAKEN_OVER_ISSUE)
    told = issue.translation_placeholders or {}
    assert (told["memories"], told["private"], told["version"]) == ("10", "3", named)
    assert rows_of(Path(told["backup"])) == old

    async def listed(**data: str) -> set[str]:
        answer = await hass.services.async_call(
            DOMAIN, "list_memories", data, blocking=True, return_response=True
        )
        assert answer is not None
        return {memory["content"] for memory in json.loads(json.dumps(answer))["memories"]}

    common = {row["content"] for row in old if row["scope"] == "common"}
    assert await listed() == common
    assert await listed(agent_id="ollama") == {row["content"] for row in old}
    assert await listed(agent_id="openai") == common
    state = hass.states.get("sensor.ai_memory")
    assert state is not None
    assert state.attributes["memory_counts"] == {"common": 7, "private": 3, "total": 10}

    assert await hass.config_entries.async_reload(old_entry.entry_id)
    assert await listed() == common
    assert len(list(path.parent.glob("*.bak.db"))) == 1
    assert issue_registry.async_get_issue(DOMAIN, TAKEN_OVER_ISSUE) is not None
    await hass.config_entries.async_remove(old_entry.entry_id)
    assert issue_registry.async_get_issue(DOMAIN, TAKEN_OVER_ISSUE) is None


@pytest.mark.parametrize("place", ["data", "options"])
async def test_what_came_over_stays_although_fewer_were_to_be_kept(
    hass: HomeAssistant, path: Path, place: str
) -> None:
    sample("0.2.0", path)
    data = {"max_entries": 3 if place == "data" else 1000, "embedding_engine": "tfidf"}
    options = {"max_entries": 3} if place == "options" else {}
    entry = MockConfigEntry(domain=DOMAIN, version=4, data=data, options=options)
    entry.add_to_hass(hass)
    # The entry changes while it is set up, and is then set up again.
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.LOADED
    changed = entry.options if place == "options" else entry.data
    assert changed["max_entries"] == 10
    manager = entry.runtime_data.manager
    assert (manager.max_entries, manager.counts().total) == (10, 10)


async def test_a_database_of_which_not_every_part_is_known_is_refused_as_before(
    hass: HomeAssistant, old_entry: MockConfigEntry, path: Path, issue_registry: ir.IssueRegistry
) -> None:
    sample("0.2.0", path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER)")
    before = path.read_bytes()
    old_entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(old_entry.entry_id)
    issue = issue_registry.async_get_issue(DOMAIN, "database")
    assert issue is not None
    assert issue.translation_key == "database_foreign"
    assert issue_registry.async_get_issue(DOMAIN, TAKEN_OVER_ISSUE) is None
    assert path.read_bytes() == before
