"""The set-up and options flows."""

from homeassistant import config_entries
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM


async def test_set_up_creates_the_entry_and_opens_the_memory(hass: HomeAssistant) -> None:
    form = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": config_entries.SOURCE_USER}
    )
    assert (form["type"], form["step_id"], form["errors"]) == (FlowResultType.FORM, "user", {})
    created = await hass.config_entries.flow.async_configure(
        form["flow_id"], {"max_entries": 500.0, "embedding_engine": "tfidf"}
    )
    await hass.async_block_till_done()
    assert created["type"] is FlowResultType.CREATE_ENTRY
    assert (created["title"], created["data"]) == (
        "AI Memory",
        {"max_entries": 500, "embedding_engine": "tfidf"},
    )
    assert created["result"].state is config_entries.ConfigEntryState.LOADED


@pytest.mark.parametrize("wanted", [0, -1, 1_000_001, 2.5])
async def test_a_wrong_capacity_is_explained_and_can_be_corrected(
    hass: HomeAssistant, wanted: float
) -> None:
    form = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": config_entries.SOURCE_USER}
    )
    refused = await hass.config_entries.flow.async_configure(
        form["flow_id"], {"max_entries": wanted, "embedding_engine": "tfidf"}
    )
    assert refused["errors"] == {"max_entries": "max_entries_out_of_range"}
    assert refused["description_placeholders"] == {"minimum": "1", "maximum": "1000000"}
    created = await hass.config_entries.flow.async_configure(
        form["flow_id"], {"max_entries": 1, "embedding_engine": "tfidf"}
    )
    assert created["type"] is FlowResultType.CREATE_ENTRY


async def test_there_is_only_one_memory(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    entry.add_to_hass(hass)
    aborted = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": config_entries.SOURCE_USER}
    )
    assert (aborted["type"], aborted["reason"]) == (
        FlowResultType.ABORT,
        "single_instance_allowed",
    )


async def test_options_take_effect_at_once(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    form = await hass.config_entries.options.async_init(loaded.entry_id)
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "init")
    wanted = {"max_entries": 7} | ({"assist_tools": False} if HAS_LLM_PLATFORM else {})
    outside = {"max_entries": 0, "standing_tokens": 4001, "identity": "x" * 100_000}
    outside |= {"promotion_uses": 0, "archive_days": 3651}
    refused = await hass.config_entries.options.async_configure(form["flow_id"], wanted | outside)
    assert refused["errors"] == {
        "max_entries": "max_entries_out_of_range",
        "standing_tokens": "standing_tokens_out_of_range",
        "identity": "identity_too_long",
        "promotion_uses": "layer_rule_out_of_range",
        "archive_days": "layer_rule_out_of_range",
    }
    saved = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
    await hass.async_block_till_done()
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    assert loaded.options == wanted | {
        "standing_tokens": 400,
        "promotion_uses": 10,
        "archive_days": 90,
        "administrator_access": ["read", "write", "delete", "export", "admin"],
        "user_access": [],
    }
    assert loaded.data == {"max_entries": 1000, "embedding_engine": "tfidf"}
    state = hass.states.get("sensor.ai_memory")
    assert state is not None
    assert state.attributes["max_entries"] == 7
