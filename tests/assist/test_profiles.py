"""Agent profiles as conversation agents meet them: their own memory, tools, wings and prompt."""

from types import MappingProxyType
from typing import Any

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir, llm
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.assist.api import AiMemoryAPI
from custom_components.ai_memory.assist.door import ProfileDoor
from custom_components.ai_memory.assist.prompt import PROMPT
from custom_components.ai_memory.const import DOMAIN, SUBENTRY_PROFILE
from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM
from custom_components.ai_memory.previous_api import PREVIOUS_API_ID
from tests.assist.agent import call, contents, context
from tests.tokens import token_count


@pytest.fixture(autouse=True)
async def _conversation(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})


async def _profile(
    hass: HomeAssistant, entry: MockConfigEntry, name: str, **data: Any
) -> ConfigSubentry:
    """Add a profile and return it."""
    subentry = ConfigSubentry(
        data=MappingProxyType(data), subentry_type=SUBENTRY_PROFILE, title=name, unique_id=None
    )
    hass.config_entries.async_add_subentry(entry, subentry)
    await hass.async_block_till_done()
    return subentry


def _api(profile: ConfigSubentry) -> str:
    return f"ai_memory_{profile.subentry_id.lower()}"


async def _instance(
    hass: HomeAssistant, api: str = "ai_memory", asking: llm.LLMContext | None = None
) -> llm.APIInstance:
    return await llm.async_get_api(hass, api, asking or context())


async def _store(instance: llm.APIInstance, content: str, **more: Any) -> dict[str, Any]:
    args = {"scope": "private"} | more
    data, error = await call(instance, "add_memory", content=content, **args)
    assert not error, data
    return dict(data["memory"])


async def test_profiles_of_one_provider_keep_their_private_memories_apart(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    first, second = [_api(await _profile(hass, loaded, name)) for name in ("Kitchen", "Study")]
    for api, content in (
        (first, "Kitchen's"),
        (second, "Study's"),
        ("ai_memory", "The provider's"),
    ):
        await _store(await _instance(hass, api), content)
    await _store(await _instance(hass), "Everyone's", scope="common")
    for api, own in (
        (first, "Kitchen's"),
        (second, "Study's"),
        ("ai_memory", "The provider's"),
    ):
        assert await contents(await _instance(hass, api)) == {own, "Everyone's"}
    # Whichever provider asks through it, a profile is one agent.
    elsewhere = await _instance(hass, first, context("openai_conversation"))
    assert await contents(elsewhere) == {"Kitchen's", "Everyone's"}


async def test_persons_are_apart_within_a_profile_too(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    api = _api(await _profile(hass, loaded, "Kitchen"))
    await _store(await _instance(hass, api, context(user="anna")), "Anna's")
    await _store(await _instance(hass, api), "The satellite's")
    assert await contents(await _instance(hass, api, context(user="anna"))) == {
        "Anna's",
        "The satellite's",
    }
    assert await contents(await _instance(hass, api, context(user="ben"))) == {"The satellite's"}


async def test_a_read_only_profile_can_only_look(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    api = _api(await _profile(hass, loaded, "Guests", tools="read_only"))
    instance = await _instance(hass, api)
    assert [tool.name for tool in instance.tools] == ["search_memory", "list_memories"]
    assert "never promise to remember" in instance.api_prompt
    assert "Store" not in instance.api_prompt
    # A conversation keeps its tools; what the profile may do is asked at each call.
    profile = await _profile(hass, loaded, "Family", tools="full")
    before = await _instance(hass, _api(profile))
    hass.config_entries.async_update_subentry(loaded, profile, data={"tools": "read_only"})
    data, error = await call(before, "add_memory", content="x", scope="common")
    assert (error, data["error_key"]) == (True, "access_denied")


async def test_a_profile_knows_its_wings_only(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    everywhere = await _instance(hass)
    await _store(everywhere, "The boiler is in the cellar", scope="common", wing="household")
    hidden = await _store(everywhere, "Party for Max on Friday", scope="common", wing="secret")
    api = _api(await _profile(hass, loaded, "Kids", wings=["kids", "household"]))
    instance = await _instance(hass, api)
    assert "Wings are kids, household, and no others" in instance.api_prompt
    assert "personal (" not in instance.api_prompt
    assert await contents(instance) == {"The boiler is in the cellar"}
    found, _ = await call(instance, "search_memory", query="party for Max on Friday")
    assert found["count"] == 0
    for tool, args in (
        ("add_memory", {"content": "x", "scope": "common", "wing": "secret"}),
        ("update_memory", {"memory_id": hidden["id"], "content": "x"}),
        ("delete_memory", {"memory_id": hidden["id"]}),
    ):
        data, error = await call(instance, tool, **args)
        key = "wing_not_allowed" if tool == "add_memory" else "memory_not_found"
        assert (error, data["error_key"]) == (True, key)
    assert await contents(everywhere) == {"The boiler is in the cellar", "Party for Max on Friday"}


@pytest.mark.parametrize(
    ("profile", "place", "wing"),
    [
        ({"default_wing": "garden"}, {}, "garden"),
        ({"default_wing": "garden"}, {"wing": "", "room": " "}, "garden"),
        ({"default_wing": "garden"}, {"wing": "household"}, "household"),
        ({"default_wing": "garden"}, {"room": "health"}, "personal"),
        ({"wings": ["kids", "household"]}, {}, "kids"),
        ({"wings": ["kids", "household"], "default_wing": "household"}, {}, "household"),
        ({"wings": ["kids", "household"]}, {"room": "devices"}, "household"),
        ({"wings": ["kids", "household"]}, {"room": "health"}, "kids"),
        ({}, {}, "personal"),
    ],
)
async def test_what_has_no_place_goes_to_the_default_wing(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    profile: dict[str, Any],
    place: dict[str, str],
    wing: str,
) -> None:
    api = _api(await _profile(hass, loaded, "Someone", **profile))
    stored = await _store(await _instance(hass, api), "Max is allergic to peanuts", **place)
    assert stored["wing"] == wing


async def test_the_prompt_is_the_profiles_own(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    profile = await _profile(hass, loaded, "Bo", identity="You are Bo.", standing_tokens=50)
    for wing in ("kids", "household"):
        data = {"text": f"Critical for {wing}", "wing": wing, "layer": 1}
        await hass.services.async_call(DOMAIN, "add_memory", data, blocking=True)
    prompt = (await _instance(hass, _api(profile))).api_prompt
    assert prompt.startswith(f"{PROMPT}\nYou are Bo.\n")
    assert '"Critical for kids"' in prompt
    limited = {"wings": ["kids"], "standing_tokens": 0, "identity": ""}
    hass.config_entries.async_update_subentry(loaded, profile, data=limited)
    prompt = (await _instance(hass, _api(profile))).api_prompt
    assert "Bo" not in prompt
    assert "Critical" not in prompt
    hass.config_entries.async_update_subentry(loaded, profile, data={"wings": ["kids"]})
    prompt = (await _instance(hass, _api(profile))).api_prompt
    assert '"Critical for kids"' in prompt
    assert "Critical for household" not in prompt
    assert token_count(prompt) < 300


async def test_a_removed_profile_keeps_its_memories_and_says_how_many(
    hass: HomeAssistant, loaded: MockConfigEntry, issue_registry: ir.IssueRegistry
) -> None:
    profile = await _profile(hass, loaded, "Kitchen")
    agent = _api(profile)
    instance = await _instance(hass, agent)
    await _store(instance, "The kitchen's")
    await _store(await _instance(hass, agent, context(user="anna")), "Anna's")
    await _store(instance, "Everyone's", scope="common")
    hass.config_entries.async_remove_subentry(loaded, profile.subentry_id)
    await hass.async_block_till_done()
    assert agent not in {api.id for api in llm.async_get_apis(hass)}
    issue = issue_registry.async_get_issue(DOMAIN, f"profile_removed_{agent}")
    assert issue is not None
    assert issue.translation_placeholders == {
        "name": "AI Memory: Kitchen",
        "count": "2",
        "agent_id": agent,
    }
    data, error = await call(instance, "search_memory", query="x")
    assert (error, data["error_key"]) == (True, "profile_removed")
    found: Any = await hass.services.async_call(
        DOMAIN, "list_memories", {"agent_id": agent}, blocking=True, return_response=True
    )
    assert {one["content"] for one in found["memories"]} == {"The kitchen's", "Everyone's"}
    await hass.config_entries.async_remove(loaded.entry_id)
    assert issue_registry.async_get_issue(DOMAIN, f"profile_removed_{agent}") is None


async def test_a_removed_profile_without_memories_is_not_spoken_of(
    hass: HomeAssistant, loaded: MockConfigEntry, issue_registry: ir.IssueRegistry
) -> None:
    profile = await _profile(hass, loaded, "Kitchen")
    hass.config_entries.async_remove_subentry(loaded, profile.subentry_id)
    await hass.async_block_till_done()
    assert issue_registry.issues == {}


async def test_a_conversation_outlives_a_reload(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    profile = await _profile(hass, loaded, "Kitchen")
    instance = await _instance(hass, _api(profile))
    await _store(instance, "From before")
    hass.config_entries.async_update_entry(loaded, options={"max_entries": 7})
    await hass.async_block_till_done()
    assert await contents(instance) == {"From before"}
    assert _api(profile) in {api.id for api in llm.async_get_apis(hass)}


async def test_an_unloaded_entry_offers_no_profile(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    profile = await _profile(hass, loaded, "Kitchen")
    await hass.config_entries.async_unload(loaded.entry_id)
    assert not [api for api in llm.async_get_apis(hass) if api.id.startswith("ai_memory")]
    hass.config_entries.async_remove_subentry(loaded, profile.subentry_id)
    assert await hass.config_entries.async_setup(loaded.entry_id)
    ours = [api.id for api in llm.async_get_apis(hass) if api.id.startswith("ai_memory")]
    assert ours == ["ai_memory"]


async def test_an_agent_with_a_profile_gets_no_second_memory_through_assist(
    hass: HomeAssistant, loaded: MockConfigEntry, entity_registry: er.EntityRegistry
) -> None:
    if not HAS_LLM_PLATFORM or "agent_id" not in llm.LLMContext.__slots__:
        pytest.skip("this Home Assistant does not tell which agent asks for the Assist API")
    profile = await _profile(hass, loaded, "Kids", wings=["kids"])
    provider = MockConfigEntry(domain="ollama")
    provider.add_to_hass(hass)

    async def offered(*apis: str) -> list[str]:
        data = MappingProxyType({"llm_hass_api": list(apis)})
        agent = ConfigSubentry(data=data, subentry_type="conversation", title="x", unique_id=None)
        hass.config_entries.async_add_subentry(provider, agent)
        entity = entity_registry.async_get_or_create(
            "conversation",
            "ollama",
            agent.subentry_id,
            config_entry=provider,
            config_subentry_id=agent.subentry_id,
        )
        asking = context(agent_id=entity.entity_id)
        instance = await llm.async_get_api(hass, list(apis), asking)
        return [tool.name for tool in instance.tools if "search_memory" in tool.name]

    assert await offered("assist") == ["ai_memory__search_memory"]
    assert await offered("assist", _api(profile)) == ["search_memory"]
    assert await offered("assist", "ai_memory") == ["search_memory"]
    door = ProfileDoor(hass, loaded)
    llm.async_register_api(hass, AiMemoryAPI(hass, door, PREVIOUS_API_ID, "As before"))
    assert await offered("assist", PREVIOUS_API_ID) == ["search_memory"]
    unknown = context(agent_id="conversation.unknown")
    assert "ai_memory__search_memory" in {
        tool.name for tool in (await llm.async_get_api(hass, "assist", unknown)).tools
    }


async def test_a_profile_takes_no_reload(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    opened = loaded.runtime_data.manager
    profile = await _profile(hass, loaded, "Kitchen")
    hass.config_entries.async_remove_subentry(loaded, profile.subentry_id)
    await hass.async_block_till_done()
    assert loaded.runtime_data.manager is opened


async def _rename(hass: HomeAssistant, wing: str, new_wing: str, *, merge: bool = False) -> str:
    told = await hass.services.async_call(
        DOMAIN,
        "rename_place",
        {"wing": wing, "new_wing": new_wing, "merge": merge},
        blocking=True,
        return_response=True,
    )
    await hass.async_block_till_done()
    assert told is not None
    return str(told["result"])


async def test_a_profile_follows_its_wings_to_their_new_names(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    bounded = await _profile(hass, loaded, "Gardener", wings=["garden", "household"])
    unbounded = await _profile(hass, loaded, "Florist", default_wing="garden")
    other = await _profile(hass, loaded, "Cook", wings=["kitchen"])
    before = await _instance(hass, _api(bounded))
    await _store(before, "The roses are red", scope="common")
    assert await _rename(hass, "garden", "yard") == "renamed"
    subentries = loaded.subentries
    assert subentries[bounded.subentry_id].data == {"wings": ["yard", "household"]}
    assert subentries[unbounded.subentry_id].data == {"default_wing": "yard"}
    assert subentries[other.subentry_id].data == {"wings": ["kitchen"]}
    assert await contents(before) == {"The roses are red"}
    assert (await _store(before, "The lilies are white", scope="common"))["wing"] == "yard"
    told = await _store(await _instance(hass, _api(unbounded)), "Xyzzy", scope="common")
    assert told["wing"] == "yard"


async def test_a_merge_widens_no_profile(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    bounded = await _profile(hass, loaded, "Kids", wings=["toys"])
    kids = await _instance(hass, _api(bounded))
    await _store(kids, "The ball is red", scope="common")
    await _store(await _instance(hass), "The safe is open", scope="common", wing="office")
    assert await _rename(hass, "toys", "office", merge=True) == "merged"
    assert loaded.subentries[bounded.subentry_id].data == {"wings": ["toys"]}
    assert await contents(kids) == set()
