"""What an entry of the integration before keeps beside its settings: who its agents are."""

from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory import async_migrate_entry
from custom_components.ai_memory.const import DOMAIN


@pytest.mark.parametrize("engine", ["tfidf", "remote"])
@pytest.mark.parametrize("place", ["data", "options"])
async def test_the_identity_of_before_stands_in_the_prompt_and_can_be_emptied(
    hass: HomeAssistant, engine: str, place: str
) -> None:
    settings: dict[str, dict[str, Any]] = {
        "data": {"embedding_engine": engine, "max_entries": 9},
        "options": {},
    }
    settings[place]["identity_text"] = " You are Walter.\x00\nBe brief. "
    entry = MockConfigEntry(domain=DOMAIN, version=2, **settings)
    entry.add_to_hass(hass)
    assert await async_migrate_entry(hass, entry)
    assert dict(entry.options) == {"identity": "You are Walter.\nBe brief."}
    assert not {"identity", "identity_text"} & set(entry.data)
    hass.config_entries.async_update_entry(entry, data={**entry.data, "embedding_engine": "tfidf"})
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    assert await hass.config_entries.async_setup(entry.entry_id)
    asking = llm.LLMContext("ollama", Context(), "en", "conversation", None)
    prompt = (await llm.async_get_api(hass, "ai_memory", asking)).api_prompt
    assert prompt.endswith("\nYou are Walter.\nBe brief.")
    form = await hass.config_entries.options.async_init(entry.entry_id)
    answers = {"max_entries": 9, "embedding_engine": "tfidf"}
    await hass.config_entries.options.async_configure(form["flow_id"], answers)
    await hass.async_block_till_done()
    assert "Walter" not in (await llm.async_get_api(hass, "ai_memory", asking)).api_prompt


async def test_an_identity_that_is_too_long_is_kept_until_somebody_shortens_it(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    text = "You are Walter. " * 300 + "End."
    data = {"embedding_engine": "tfidf", "identity_text": text}
    entry = MockConfigEntry(domain=DOMAIN, version=2, data=data)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert entry.options["identity"] == text
    assert f"came over with {len(text)} characters" in caplog.text
    assert "You are Walter" not in caplog.text
    form = await hass.config_entries.options.async_init(entry.entry_id)
    answers = {"max_entries": 9, "embedding_engine": "tfidf"}
    form = await hass.config_entries.options.async_configure(
        form["flow_id"], answers | {"identity": text}
    )
    assert form["errors"] == {"identity": "identity_too_long"}
    await hass.config_entries.options.async_configure(
        form["flow_id"], answers | {"identity": "You are Walter."}
    )
    await hass.async_block_till_done()
    assert entry.options["identity"] == "You are Walter."
