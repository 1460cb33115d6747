"""Recall of the sentence that was just said, through a conversation of Home Assistant."""

from inspect import signature
from types import MappingProxyType
from typing import Any

from homeassistant.components.conversation import ConversationInput
from homeassistant.components.conversation.chat_log import async_get_chat_log
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, llm
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.assist.prompt import PROMPT
from custom_components.ai_memory.const import DOMAIN, SUBENTRY_PROFILE
from custom_components.ai_memory.core.recall import RECALL_HEADING
from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM, spoken_sentence
from tests.assist.agent import context

FACT = "The garage code is 1234"
SENTENCE = "What is the garage code?"


@pytest.fixture(autouse=True)
async def _conversation(
    hass: HomeAssistant, loaded: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may take longer than a person should have to wait.
    monkeypatch.setattr("custom_components.ai_memory.core.recall.RECALL_SECONDS", 20)
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    await hass.services.async_call(DOMAIN, "add_memory", {"text": FACT}, blocking=True)


async def _prompt_after(hass: HomeAssistant, sentence: str, api: str | list[str]) -> str:
    """Return the prompt that an agent is given when somebody says a sentence."""
    manager = hass.config_entries.async_loaded_entries(DOMAIN)[0].runtime_data.manager
    await manager.wait_for_vectors()
    # Newer versions want to know whose conversation it is.
    knows_owner = "context" in signature(chat_session.async_get_chat_session).parameters
    owned: Any = {"context": None} if knows_owner else {}
    said: dict[str, Any] = {
        "text": sentence,
        "context": Context(),
        "conversation_id": None,
        "device_id": None,
        "language": "en",
        "agent_id": "conversation.test",
    }
    if "satellite_id" in ConversationInput.__annotations__:
        said["satellite_id"] = None
    with (
        chat_session.async_get_chat_session(hass, **owned) as session,
        async_get_chat_log(hass, session, ConversationInput(**said)) as log,
    ):
        await log.async_provide_llm_data(context(), api)
        return str(getattr(log.content[0], "content", ""))


async def test_recall_is_off_until_it_is_wanted_and_stands_last(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    assert FACT not in await _prompt_after(hass, SENTENCE, "ai_memory")
    hass.config_entries.async_update_entry(
        loaded, options={"recall": True, "identity": "You are Walter."}
    )
    await hass.async_block_till_done()
    prompt = await _prompt_after(hass, SENTENCE, "ai_memory")
    expected = f'{PROMPT}\nYou are Walter.\n{RECALL_HEADING}\n"{FACT}"'
    assert expected in prompt
    # The beginning is the same whatever is said.
    other = await _prompt_after(hass, "Good morning", "ai_memory")
    assert f"{PROMPT}\nYou are Walter." in other
    assert RECALL_HEADING not in other


async def test_a_profile_decides_for_itself(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    ids = []
    for name, recall in (("With", True), ("Without", False)):
        subentry = ConfigSubentry(
            data=MappingProxyType({"recall": recall}),
            subentry_type=SUBENTRY_PROFILE,
            title=name,
            unique_id=None,
        )
        hass.config_entries.async_add_subentry(loaded, subentry)
        ids.append(f"ai_memory_{subentry.subentry_id.lower()}")
    await hass.async_block_till_done()
    assert FACT in await _prompt_after(hass, SENTENCE, ids[0])
    assert FACT not in await _prompt_after(hass, SENTENCE, ids[1])
    assert FACT in await _prompt_after(hass, SENTENCE, ["assist", ids[0]])


async def test_where_no_conversation_runs_there_is_nothing_to_recall(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    hass.config_entries.async_update_entry(loaded, options={"recall": True})
    await hass.async_block_till_done()
    assert spoken_sentence() is None
    # So it is for AI tasks without a log and clients of the MCP server.
    assert (await llm.async_get_api(hass, "ai_memory", context())).api_prompt == PROMPT
    if HAS_LLM_PLATFORM:
        # The platform for the Assist API may not wait for a search.
        assert FACT not in await _prompt_after(hass, SENTENCE, "assist")
