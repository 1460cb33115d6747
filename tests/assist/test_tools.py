"""The LLM API, its tools and prompt, as a conversation agent uses them."""

import json
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.assist.prompt import PROMPT
from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM
from tests.assist.agent import call, contents, context
from tests.tokens import token_count
from tests.tool_schemas import json_schema

TOOL_NAMES = [
    "add_memory",
    "search_memory",
    "list_memories",
    "update_memory",
    "delete_memory",
    "forget_me",
]


@pytest.fixture(autouse=True)
async def _conversation(hass: HomeAssistant) -> None:
    """Set up what tool calls are traced by."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})


async def _instance(
    hass: HomeAssistant, asking: llm.LLMContext | None = None, api: str = "ai_memory"
) -> llm.APIInstance:
    return await llm.async_get_api(hass, api, asking or context())


@pytest.mark.usefixtures("loaded")
async def test_a_fact_of_one_conversation_is_found_in_another(hass: HomeAssistant) -> None:
    added, error = await call(
        await _instance(hass),
        "add_memory",
        content="User is allergic to peanuts",
        scope="private",
        wing="personal",
        room="health",
    )
    assert (error, added["result"]) == (False, "added")
    found, error = await call(
        await _instance(hass), "search_memory", query="allergies food restrictions", wing="personal"
    )
    assert (error, found["count"]) == (False, 1)
    hit = found["results"][0]
    assert (hit["content"], hit["match_type"], hit["score"]) == (
        "User is allergic to peanuts",
        "text",
        0.0,
    )
    places = {"wing", "room", "scope"}
    assert set(hit) == {"id", "content", *places, "updated", "match_type", "score", "why"}


@pytest.mark.usefixtures("loaded")
async def test_the_tools_take_what_the_contract_says(hass: HomeAssistant) -> None:
    instance = await _instance(hass)
    assert [tool.name for tool in instance.tools] == TOOL_NAMES
    schemas = {tool.name: json_schema(tool.parameters) for tool in instance.tools}
    required = {name: schema.get("required", []) for name, schema in schemas.items()}
    assert {name: (list(schemas[name]["properties"]), required[name]) for name in TOOL_NAMES} == {
        "add_memory": (
            ["content", "scope", "summary", "wing", "room", "expires", "supersedes"],
            ["content", "scope"],
        ),
        "search_memory": (["query", "wing", "room", "limit"], ["query"]),
        "list_memories": (["wing", "room", "scope", "limit"], []),
        "update_memory": (
            ["memory_id", "content", "summary", "wing", "room", "scope"],
            ["memory_id"],
        ),
        "delete_memory": (["memory_id", "room", "wing", "scope"], []),
        "forget_me": (["confirm"], []),
    }
    scope = schemas["add_memory"]["properties"]["scope"]
    assert (scope["type"], scope["enum"]) == ("string", ["private", "common"])
    limit = schemas["search_memory"]["properties"]["limit"]
    assert (limit["type"], limit["minimum"], limit["maximum"]) == ("integer", 1, 20)
    assert all(
        "type" in parameter
        for schema in schemas.values()
        for parameter in schema["properties"].values()
    )


@pytest.mark.usefixtures("loaded")
async def test_the_budget_of_prompt_and_tools_is_kept(hass: HomeAssistant) -> None:
    instance = await _instance(hass)
    assert instance.api_prompt == PROMPT
    specifications = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": json_schema(tool.parameters),
        }
        for tool in instance.tools
    ]
    prompt, tools = token_count(PROMPT), token_count(json.dumps(specifications))
    assert prompt <= 250
    assert prompt + tools < 700
    assert not [name for name in TOOL_NAMES if name in PROMPT]


@pytest.mark.usefixtures("loaded")
async def test_every_tool_says_what_it_does_to_the_world(hass: HomeAssistant) -> None:
    instance = await _instance(hass)
    if not hasattr(llm, "ToolAnnotations"):
        pytest.skip("this Home Assistant knows no annotations")
    told = {
        tool.name: (
            tool.integration,
            bool(tool.title),
            tool.annotations.read_only,
            tool.annotations.destructive,
            tool.annotations.open_world,
        )
        for tool in instance.tools
    }
    assert told == {
        "add_memory": ("ai_memory", True, False, False, False),
        "search_memory": ("ai_memory", True, True, False, False),
        "list_memories": ("ai_memory", True, True, False, False),
        "update_memory": ("ai_memory", True, False, True, False),
        "delete_memory": ("ai_memory", True, False, True, False),
        "forget_me": ("ai_memory", True, False, True, False),
    }


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize(
    ("tool", "args", "key"),
    [
        ("add_memory", {}, "missing"),
        ("add_memory", {"content": "", "scope": "private"}, "missing"),
        ("add_memory", {"content": "x", "scope": "shared"}, "unknown_choice"),
        ("add_memory", {"content": "x" * 1_000_000, "scope": "common"}, "too_long"),
        ("add_memory", {"content": "\ud800", "scope": "common"}, "invalid_characters"),
        ("add_memory", {"content": "x", "scope": "common", "wing": "🏠"}, "invalid_name"),
        ("add_memory", {"content": ["x"], "scope": "common"}, "not_text"),
        ("search_memory", {"query": "x", "limit": 21}, "out_of_range"),
        ("search_memory", {"query": "x", "limit": "lots"}, "not_a_whole_number"),
        ("update_memory", {"memory_id": "nope", "content": "x"}, "memory_not_found"),
        ("delete_memory", {}, "filter_required"),
        ("delete_memory", {"memory_id": "nope"}, "memory_not_found"),
    ],
)
async def test_a_failure_is_a_result_that_the_model_can_act_on(
    hass: HomeAssistant, tool: str, args: dict[str, object], key: str
) -> None:
    data, error = await call(await _instance(hass), tool, **args)
    assert (error, data["error_key"]) == (True, key)
    assert " " in data["error"]


async def test_even_a_bug_does_not_end_the_conversation(
    hass: HomeAssistant, loaded: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_args: object) -> None:
        raise KeyError

    monkeypatch.setattr(loaded.runtime_data.manager._search, "find", explode)
    data, error = await call(await _instance(hass), "search_memory", query="x")
    assert (error, data["error_key"]) == (True, "unexpected")


async def test_a_closed_memory_does_not_end_the_conversation(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    instance = await _instance(hass)
    await hass.config_entries.async_unload(loaded.entry_id)
    data, error = await call(instance, "search_memory", query="x")
    assert (error, data["error_key"]) == (True, "database_closed")


@pytest.mark.usefixtures("loaded")
async def test_blank_and_unknown_arguments_of_small_models_do_no_harm(hass: HomeAssistant) -> None:
    instance = await _instance(hass)
    added, error = await call(
        instance,
        "add_memory",
        content="Bins go out on Monday",
        scope="COMMON",
        summary="",
        wing="",
        room=None,
        mood="good",
    )
    assert (error, added["memory"]["room"]) == (False, "maintenance")
    found, error = await call(instance, "search_memory", query="bins monday", limit="3", wing="")
    assert (error, found["count"]) == (False, 1)


@pytest.mark.usefixtures("loaded")
async def test_a_list_tells_the_beginning_of_long_memories_and_a_search_all(
    hass: HomeAssistant,
) -> None:
    instance = await _instance(hass)
    long = "The plum jam recipe. " + "Stir and wait. " * 600
    for content in (long.strip(), "A short one"):
        await call(instance, "add_memory", content=content, scope="common")
    listed, _ = await call(instance, "list_memories")
    short, cut = listed["memories"]
    assert (short["content"], "truncated" in short) == ("A short one", False)
    assert cut["truncated"] is True
    assert long.startswith(cut["content"])
    assert 450 < len(cut["content"]) <= 500
    found, _ = await call(instance, "search_memory", query="plum jam recipe")
    assert (found["results"][0]["content"], "truncated" in found["results"][0]) == (
        long.strip(),
        False,
    )
    response: Any = await hass.services.async_call(
        "ai_memory", "list_memories", {}, blocking=True, return_response=True
    )
    assert {memory["content"] for memory in response["memories"]} == {long.strip(), "A short one"}


@pytest.mark.usefixtures("loaded")
async def test_private_memories_are_of_agent_and_person(hass: HomeAssistant) -> None:
    async def seen(asking: llm.LLMContext) -> set[str]:
        return await contents(await _instance(hass, asking))

    for asking, content in (
        (context(user="anna"), "Anna's"),
        (context(), "Satellite's"),
        (context("openai_conversation", user="anna"), "Elsewhere"),
    ):
        await call(await _instance(hass, asking), "add_memory", content=content, scope="private")
    assert await seen(context(user="anna")) == {"Anna's", "Satellite's"}
    assert await seen(context(user="ben")) == {"Satellite's"}
    assert await seen(context()) == {"Satellite's"}
    assert await seen(context("openai_conversation", user="anna")) == {"Elsewhere"}
    unknown = llm.LLMContext("ollama", None, None, "ai_task", None)
    assert await seen(unknown) == {"Satellite's"}


@pytest.mark.usefixtures("loaded")
async def test_two_agents_of_one_provider_are_apart_where_home_assistant_tells_them_apart(
    hass: HomeAssistant,
) -> None:
    if "agent_id" not in llm.LLMContext.__slots__:
        pytest.skip("this Home Assistant does not tell which agent asks")
    kitchen, study = (context(agent_id=f"conversation.{name}") for name in ("kitchen", "study"))
    for asking, content in ((kitchen, "Kitchen's"), (context(), "From before")):
        await call(await _instance(hass, asking), "add_memory", content=content, scope="private")
    for asking, expected in ((kitchen, {"Kitchen's", "From before"}), (study, {"From before"})):
        assert await contents(await _instance(hass, asking)) == expected


@pytest.mark.usefixtures("loaded")
async def test_any_language_is_no_language(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    for language, content in (("de", "Brot"), ("*", "Bread")):
        instance = await _instance(hass, context(language=language))
        await call(instance, "add_memory", content=content, scope="common")
    response = await hass.services.async_call(
        "ai_memory", "list_memories", {}, blocking=True, return_response=True
    )
    assert isinstance(response, dict)
    told: Any = response["memories"]
    assert {memory["content"]: memory["language"] for memory in told} == {
        "Brot": "de",
        "Bread": None,
    }


async def test_assist_agents_have_the_tools_unless_the_option_is_off(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    if not HAS_LLM_PLATFORM:
        pytest.skip("this Home Assistant has no llm platform")

    async def offered() -> tuple[list[str], bool]:
        instance = await _instance(hass, api="assist")
        ours = [tool.name for tool in instance.tools if tool.name.startswith("ai_memory__")]
        return ours, PROMPT in instance.api_prompt

    assert await offered() == ([f"ai_memory__{name}" for name in TOOL_NAMES], True)
    instance = await _instance(hass, api="assist")
    added, error = await call(
        instance, "ai_memory__add_memory", content="Bins go out on Monday", scope="common"
    )
    assert (error, added["result"]) == (False, "added")
    hass.config_entries.async_update_entry(loaded, options={"assist_tools": False})
    await hass.async_block_till_done()
    assert await offered() == ([], False)


@pytest.mark.usefixtures("loaded")
async def test_nothing_of_ours_is_deprecated(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    for api in ("ai_memory", "assist"):
        instance = await _instance(hass, api=api)
        for tool in instance.tools:
            if tool.name.endswith("_memory") or tool.name.endswith("_memories"):
                await call(instance, tool.name, content="x", query="x", scope="common")
    warned = [
        record.getMessage()
        for record in caplog.records
        if "ai_memory" in record.getMessage()
        and any(word in record.getMessage() for word in ("deprecated", "will stop", "report it"))
    ]
    assert warned == []


@pytest.mark.usefixtures("loaded")
async def test_critical_memories_and_the_identity_stand_in_the_prompt(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    identity = {"identity": "You are Walter.", "standing_tokens": 100}
    hass.config_entries.async_update_entry(loaded, options=identity)
    await hass.async_block_till_done()
    critical = {"text": "The gas valve is in the cellar", "layer": 1}
    await hass.services.async_call("ai_memory", "add_memory", critical, blocking=True)
    for api in ("ai_memory", "assist") if HAS_LLM_PLATFORM else ("ai_memory",):
        prompt = (await _instance(hass, api=api)).api_prompt
        _, found, known = prompt.partition(PROMPT)
        assert found
        assert "You are Walter.\n" in known
        assert '"The gas valve is in the cellar"' in known
    state = hass.states.get("sensor.ai_memory")
    assert state is not None
    assert state.attributes["layer_distribution"]["L0"] == 1
    assert "identity" not in state.attributes


@pytest.mark.usefixtures("loaded")
async def test_what_is_alike_what_is_replaced_and_what_lapses_is_told(hass: HomeAssistant) -> None:
    instance = await _instance(hass, context(user="anna"))
    place = {"scope": "common", "wing": "household", "room": "events"}
    first, _ = await call(
        instance, "add_memory", content="The summer street party is in June", **place
    )
    assert "status" not in first["memory"]
    moved, _ = await call(
        instance, "add_memory", content="The summer street party has moved to July", **place
    )
    assert moved["similar"] == {
        "id": first["memory"]["id"],
        "content": "The summer street party is in June",
    }
    settled, error = await call(
        instance,
        "add_memory",
        content="The summer street party is on 8 August",
        scope="common",
        supersedes=first["memory"]["id"],
        expires="2099-08-08",
    )
    assert (error, settled["superseded"]) == (False, first["memory"]["id"])
    assert settled["memory"]["expires"].startswith("2099-08-")
    was, _ = await call(
        instance, "search_memory", query="When was the street party originally planned?"
    )
    told = {hit["content"]: hit.get("status") for hit in was["results"]}
    assert told == {
        "The summer street party is in June": "superseded",
        "The summer street party has moved to July": None,
        "The summer street party is on 8 August": None,
    }
    await call(instance, "update_memory", memory_id=moved["memory"]["id"], content="No party")
    was, _ = await call(instance, "search_memory", query="what was the old party plan, no party")
    (hit,) = [hit for hit in was["results"] if hit["content"] == "No party"]
    assert [one["content"] for one in hit["earlier"]] == [
        "The summer street party has moved to July"
    ]
