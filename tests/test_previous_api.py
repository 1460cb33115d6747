"""Agents of the integration before go on with the API that they have selected."""

from inspect import signature
from pathlib import Path
from typing import Any

from homeassistant.components.conversation import ConversationInput
from homeassistant.components.conversation.chat_log import ChatLog, async_get_chat_log
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session, llm
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.assist.prompt import PROMPT
from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.previous_api import PREVIOUS_API_ID, PREVIOUS_API_NAME
from tests.assist.agent import call, contents, context
from tests.core.previous_files import sample

DATA = {"max_entries": 1000, "embedding_engine": "tfidf"}


@pytest.fixture(autouse=True)
async def _conversation(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})


async def _switched(hass: HomeAssistant, version: int = 3) -> MockConfigEntry:
    entry = MockConfigEntry(domain=DOMAIN, title="AI Memory", version=version, data=DATA)
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.LOADED
    return entry


def _offered(hass: HomeAssistant) -> dict[str, str]:
    apis = {api.id: api.name for api in llm.async_get_apis(hass)}
    return {one: name for one, name in apis.items() if one in {"ai_memory", PREVIOUS_API_ID}}


async def _turn(hass: HomeAssistant, api: str, asking: llm.LLMContext) -> ChatLog:
    """Return the log of a turn that an agent with an API begins, as its integration does."""
    knows_owner = "context" in signature(chat_session.async_get_chat_session).parameters
    owned: Any = {"context": None} if knows_owner else {}
    said: dict[str, Any] = {
        "text": "What should I avoid?",
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
        await log.async_provide_llm_data(asking, api)
        return log


@pytest.mark.parametrize("version", [1, 2, 3])
async def test_an_agent_of_before_talks_on_and_owns_what_it_stores(
    hass: HomeAssistant, version: int
) -> None:
    entry = await _switched(hass, version)
    assert _offered(hass) == {"ai_memory": "AI Memory", PREVIOUS_API_ID: PREVIOUS_API_NAME}
    told: dict[str, Any] = {"scope": "private", "wing": "personal"}
    for user in ("anna", None):
        log = await _turn(hass, PREVIOUS_API_ID, context(user=user))
        assert PROMPT in str(getattr(log.content[0], "content", ""))
        assert log.llm_api is not None
        data, error = await call(log.llm_api, "add_memory", content=f"Peanuts: {user}", **told)
        assert not error, data
    anna, nobody = context(user="anna"), context()
    for asking, seen in ((anna, {"Peanuts: anna", "Peanuts: None"}), (nobody, {"Peanuts: None"})):
        by_both = [await llm.async_get_api(hass, api, asking) for api in _offered(hass)]
        assert [await contents(one) for one in by_both] == [seen, seen]
    assert await entry.runtime_data.manager.count_private("ollama") == 2
    # The one that stores it and the one that asks may have different ids.
    data, error = await call(
        await llm.async_get_api(hass, "ai_memory", context("openai", user="anna")), "list_memories"
    )
    assert (error, data["total"]) == (False, 0)


async def test_it_stays_over_restarts_and_goes_with_the_memory(hass: HomeAssistant) -> None:
    entry = await _switched(hass)
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert PREVIOUS_API_ID in _offered(hass)
    await hass.config_entries.async_unload(entry.entry_id)
    assert _offered(hass) == {}


async def test_an_old_database_is_enough(hass: HomeAssistant, hass_config_dir: str) -> None:
    sample("0.2.0", Path(hass_config_dir) / "ai_memory.db")
    entry = await _switched(hass, 4)
    assert PREVIOUS_API_ID in _offered(hass)
    assert entry.data == DATA | {"previous_api": True}
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert entry.runtime_data.manager.taken_over is None
    assert PREVIOUS_API_ID in _offered(hass)


async def test_whoever_reconfigures_keeps_it(hass: HomeAssistant) -> None:
    entry = await _switched(hass)
    form = await entry.start_reconfigure_flow(hass)
    answers = {"max_entries": 700, "embedding_engine": "tfidf"}
    await hass.config_entries.flow.async_configure(form["flow_id"], answers)
    await hass.async_block_till_done()
    assert entry.data == answers | {"previous_api": True}
    assert PREVIOUS_API_ID in _offered(hass)


async def test_a_new_home_sees_one_api(hass: HomeAssistant) -> None:
    await _switched(hass, 4)
    assert _offered(hass) == {"ai_memory": "AI Memory"}


async def test_an_id_that_somebody_else_has_is_left_to_them(hass: HomeAssistant) -> None:
    class Another(llm.API):
        async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
            return llm.APIInstance(self, "", llm_context, [])

    unregister = llm.async_register_api(
        hass, Another(hass=hass, id=PREVIOUS_API_ID, name="Another memory")
    )
    entry = await _switched(hass)
    assert _offered(hass)[PREVIOUS_API_ID] == "Another memory"
    await hass.config_entries.async_unload(entry.entry_id)
    assert _offered(hass) == {PREVIOUS_API_ID: "Another memory"}
    unregister()
