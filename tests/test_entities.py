"""The sensor, the event entity, the diagnostics and the system information."""

import json
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, get_system_health_info
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
)

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import (
    SCHEMA_VERSION,
    Caller,
    Layer,
    NewMemory,
    Scope,
)

ANNA = Caller(source="assist", agent="conversation.home", user="anna")


def _attributes(hass: HomeAssistant) -> dict[str, Any]:
    state = hass.states.get("sensor.ai_memory")
    assert state is not None
    assert state.state == "Active"
    return dict(state.attributes)


async def test_the_sensor_counts_what_is_stored(
    hass: HomeAssistant, loaded: MockConfigEntry, entity_registry: er.EntityRegistry
) -> None:
    registered = entity_registry.async_get("sensor.ai_memory")
    assert registered is not None
    assert registered.unique_id == "ai_memory_store"
    before = _attributes(hass)
    assert before["memory_counts"] == {"common": 0, "private": 0, "total": 0}
    assert (before["last_updated"], before["palace_structure"]) == (
        None,
        {"wings": 4, "rooms": 9},
    )
    manager = loaded.runtime_data.manager
    await manager.add(ANNA, NewMemory(content="Zebra", scope=Scope.PRIVATE, wing="personal"))
    await manager.add(ANNA, NewMemory(content="Lion", wing="zoo", layer=Layer.CRITICAL))
    await hass.async_block_till_done()
    after = _attributes(hass)
    assert after["memory_counts"] == {"common": 1, "private": 1, "total": 2}
    assert after["layer_distribution"] == {"L0": 0, "L1": 1, "L2": 1, "L3": 0}
    assert after["wing_distribution"] == {"personal": 1, "zoo": 1}
    assert after["palace_structure"] == {"wings": 5, "rooms": 11}
    assert (after["embedding_engine"], after["max_entries"]) == ("tfidf", 1000)
    assert after["last_updated"] == manager.last_change.isoformat()
    assert "Zebra" not in json.dumps(after)


async def test_no_secret_of_the_entry_is_ever_shown(hass: HomeAssistant) -> None:
    entry = MockConfigEntry(
        domain=DOMAIN, version=4, data={"embedding_engine": "tfidf", "api_key": "s3cret"}
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert "api_key" not in _attributes(hass)
    assert "s3cret" not in json.dumps(_attributes(hass))


async def test_the_event_entity_tells_each_change(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    manager = loaded.runtime_data.manager
    added = await manager.add(ANNA, NewMemory(content="Zebra", wing="zoo", room="stable"))
    await hass.async_block_till_done()
    state = hass.states.get("event.ai_memory_changes")
    assert state is not None
    told = {
        name: state.attributes[name]
        for name in ("event_type", "memory_ids", "count", "scope", "wing", "room")
    }
    assert told == {
        "event_type": "added",
        "memory_ids": [added.memory.id],
        "count": 1,
        "scope": "common",
        "wing": "zoo",
        "room": "stable",
    }
    assert state.attributes["event_types"] == [
        "added",
        "refreshed",
        "updated",
        "deleted",
        "evicted",
        "moved",
        "superseded",
        "corroborated",
        "contradicted",
        "forgotten",
        "restored",
        "lapsed",
        "purged",
        "checked",
    ]


async def test_diagnostics_hold_figures_and_no_text(hass: HomeAssistant, hass_client: Any) -> None:
    entry = MockConfigEntry(
        domain=DOMAIN, version=4, data={"embedding_engine": "tfidf", "api_key": "s3cret"}
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    manager = entry.runtime_data.manager
    await manager.add(ANNA, NewMemory(content="Zebra", wing="zebra house", scope=Scope.PRIVATE))
    assert await async_setup_component(hass, "diagnostics", {})
    told = await get_diagnostics_for_config_entry(hass, hass_client, entry)
    assert told["data"] == {"embedding_engine": "tfidf", "api_key": "**REDACTED**"}
    assert told["engine"] == {
        "name": "tfidf",
        "fingerprint": "tfidf/384/1",
        "vectors": 1,
        "similarity_floor": 0.55,
        "calibrated_on": None,
    }
    assert told["memories"] == {
        "total": 1,
        "common": 0,
        "private": 1,
        "layers": {"1": 0, "2": 1, "3": 0},
        "wings": 5,
        "rooms": 10,
    }
    assert told["storage"]["schema_version"] == SCHEMA_VERSION
    assert told["storage"]["database_bytes"] > 0
    assert "zebra" not in json.dumps(told).lower()


@pytest.mark.usefixtures("loaded")
async def test_system_health_shows_the_state_of_the_memory(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    assert await async_setup_component(hass, "system_health", {})
    await hass.async_block_till_done()
    figures = await get_system_health_info(hass, DOMAIN)
    assert figures["loaded"] is True
    assert (figures["memories"], figures["embedding_engine"]) == (0, "tfidf")
    await hass.config_entries.async_unload(loaded.entry_id)
    assert await get_system_health_info(hass, DOMAIN) == {"loaded": False}
