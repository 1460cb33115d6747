"""The set-up and options flows."""

from typing import Final

from homeassistant import config_entries
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.exceptions import ServiceValidationError
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
    outside |= {
        "retention_deleted_days": -1,
        "promotion_uses": 0,
        "archive_days": 3651,
        "anchor_sweep_hours": 169,
    }
    refused = await hass.config_entries.options.async_configure(form["flow_id"], wanted | outside)
    assert refused["errors"] == {
        "max_entries": "max_entries_out_of_range",
        "standing_tokens": "standing_tokens_out_of_range",
        "identity": "identity_too_long",
        "promotion_uses": "layer_rule_out_of_range",
        "archive_days": "layer_rule_out_of_range",
        "retention_deleted_days": "retention_out_of_range",
        "anchor_sweep_hours": "layer_rule_out_of_range",
    }
    saved = await hass.config_entries.options.async_configure(form["flow_id"], wanted)
    await hass.async_block_till_done()
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    assert loaded.options == wanted | {
        "standing_tokens": 400,
        "recall": False,
        "promotion_uses": 10,
        "secret_screen": "keys",
        "archive_days": 90,
        "retention_deleted_days": 30,
        "administrator_access": ["read", "write", "delete", "export", "admin"],
        "user_access": [],
        "anchor_sweep_hours": 6,
        "workshop": {
            "context_budget_tokens": 4000,
            "hard_context_limit_tokens": 8000,
            "summary_candidates": False,
        },
    }
    assert loaded.data == {"max_entries": 1000, "embedding_engine": "tfidf"}
    state = hass.states.get("sensor.ai_memory")
    assert state is not None
    assert state.attributes["max_entries"] == 7


MACHINE_KEY: Final = "-".join(("sk", "ant", "api03", "a1B2c3D4" * 8))
GARAGE: Final = "The garage code is 1234"


@pytest.mark.parametrize(
    ("chosen", "refused"),
    [("off", []), ("keys", [MACHINE_KEY]), ("strict", [MACHINE_KEY, GARAGE])],
)
async def test_the_owner_chooses_which_secrets_the_home_refuses(
    hass: HomeAssistant, loaded: MockConfigEntry, chosen: str, refused: list[str]
) -> None:
    form = await hass.config_entries.options.async_init(loaded.entry_id)
    await hass.config_entries.options.async_configure(form["flow_id"], {"secret_screen": chosen})
    await hass.async_block_till_done()
    assert loaded.options["secret_screen"] == chosen
    for text in {MACHINE_KEY, GARAGE} - set(refused):
        await hass.services.async_call(DOMAIN, "add_memory", {"text": text}, blocking=True)
    for text in refused:
        with pytest.raises(ServiceValidationError) as refusal:
            await hass.services.async_call(DOMAIN, "add_memory", {"text": text}, blocking=True)
        assert refusal.value.translation_key == "screened"
        assert (refusal.value.translation_placeholders or {})["field"] == "text"


async def test_a_damaged_setting_of_the_screen_is_the_usual_one(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    entry.add_to_hass(hass)
    hass.config_entries.async_update_entry(entry, options={"secret_screen": "sometimes"})
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    with pytest.raises(ServiceValidationError):
        await hass.services.async_call(DOMAIN, "add_memory", {"text": MACHINE_KEY}, blocking=True)
