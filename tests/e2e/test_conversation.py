"""Conversations: a scripted model behind core's ``ollama`` integration remembers and recalls."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from homeassistant.helpers.llm import LLMContext
import pytest

from custom_components.ai_memory.assist.prompt import PROMPT
from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM

from .fake_ollama import MODEL, ChatRequest, FakeOllama, ToolCall
from .home import TOOLS, Home

pytestmark = pytest.mark.e2e

FACT: Final = "The user is allergic to peanuts."
TELLING: Final = "I'm allergic to peanuts"
ASKING: Final = "Is there any food that I must not eat?"

# Where core does not tell which agent is asking, its integration stands for it.
KNOWS_AGENTS: Final = any(field.name == "agent_id" for field in fields(LLMContext))


@pytest.fixture(scope="module")
def agents(home: Home, ollama: FakeOllama) -> dict[str, str]:
    """Return the entity of each agent that a person has set up, by its name."""
    home.set_up("ollama", {"url": ollama.url})
    chosen = {
        "Memory": ["ai_memory"],
        "Other": ["ai_memory"],
        "Plain": ["assist"],
        "Both": ["assist", "ai_memory"],
    }
    return {name: home.add_agent(name, MODEL, apis) for name, apis in chosen.items()}


@pytest.fixture(autouse=True)
def _empty(home: Home, agents: dict[str, str], ollama: FakeOllama) -> Iterator[None]:
    """Leave nothing to the next test: no memories, no requests, no model."""
    yield
    home.call("delete_memory", scope="common")
    for agent in (*agents.values(), "ollama"):
        home.call("delete_memory", scope="private", agent_id=agent)
    ollama.take_requests()


def attentive_model(request: ChatRequest) -> ToolCall | str:
    """Store what is told, look up what is asked, and speak of what the tools answer."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return answer_from(request.tool_result())
    if last["content"] == TELLING:
        add = request.tool_named("add_memory")
        return ToolCall(add, {"content": FACT, "scope": "private"})
    search = request.tool_named("search_memory")
    return ToolCall(search, {"query": "food allergic", "limit": 3})


def answer_from(result: dict[str, Any]) -> str:
    """Return what the model makes of a tool's reply."""
    if "results" in result:
        return " ".join(hit["content"] for hit in result["results"]) or "I do not know."
    return f"It was {result['result']}."


def spoken(reply: dict[str, Any]) -> str:
    """Return what the agent said."""
    assert reply["response"]["response_type"] == "action_done", reply
    speech: str = reply["response"]["speech"]["plain"]["speech"]
    return speech.strip()


def owner(agent: str) -> str:
    """Return under which name the memories of an agent are kept."""
    return agent if KNOWS_AGENTS else "ollama"


def test_a_fact_of_one_conversation_is_found_in_another(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = attentive_model

    told = home.say(TELLING, agents["Memory"])
    asked = home.say(ASKING, agents["Memory"])

    assert told["conversation_id"] != asked["conversation_id"]
    assert spoken(told) == "It was added."
    assert spoken(asked) == FACT
    first, after_storing, second, after_recall = ollama.take_requests()
    assert first.said_by("user") == [TELLING]
    stored = after_storing.tool_result()["memory"]
    assert (stored["content"], stored["scope"]) == (FACT, "private")
    # The second conversation begins knowing nothing: the fact comes from the tool alone.
    assert FACT not in str(second.body)
    assert second.said_by("user") == [ASKING]
    assert [hit["content"] for hit in after_recall.tool_result()["results"]] == [FACT]
    assert len(after_recall.said_by("tool")) == 1


def test_the_model_is_given_the_prompt_and_the_tools(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = attentive_model
    home.say(ASKING, agents["Memory"])

    request = ollama.take_requests()[0]
    assert PROMPT in request.instructions
    assert set(request.tools) == set(TOOLS)
    for tool in request.tools.values():
        assert tool["description"]
        assert tool["parameters"]["type"] == "object"
        assert all(field["type"] for field in tool["parameters"]["properties"].values())
    add = request.tools["add_memory"]["parameters"]
    assert add["required"] == ["content", "scope"]
    assert add["properties"]["scope"]["enum"] == ["private", "common"]


def test_what_one_agent_keeps_private_no_other_door_opens(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = attentive_model
    home.say(TELLING, agents["Memory"])

    assert home.call("search_memory", query="peanuts")["count"] == 0
    assert home.call("list_memories") == {"memories": [], "count": 0, "total": 0}
    assert home.tool("search_memory", query="peanuts")["count"] == 0
    assert home.tool("list_memories")["total"] == 0
    assert home.call("list_memories", agent_id="conversation.stranger")["total"] == 0
    # The agent's own name opens it to the person who told it.
    mine = home.call("search_memory", query="peanuts", agent_id=owner(agents["Memory"]))
    assert [hit["content"] for hit in mine["results"]] == [FACT]


@pytest.mark.skipif(not KNOWS_AGENTS, reason="older versions do not tell agents apart")
def test_two_agents_of_one_provider_do_not_share_what_is_private(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = attentive_model
    home.say(TELLING, agents["Memory"])

    assert spoken(home.say(ASKING, agents["Other"])) == "I do not know."
    assert spoken(home.say(ASKING, agents["Memory"])) == FACT


def test_what_is_common_reaches_every_agent(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = attentive_model
    home.call("add_memory", text="Leo is allergic to strawberries, keep that food away.")

    for agent in ("Memory", "Other"):
        assert "strawberries" in spoken(home.say(ASKING, agents[agent]))


@pytest.mark.parametrize(
    "call",
    [
        ToolCall(
            "update_memory", {"content": "It is rye.", "memory_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}
        ),
        ToolCall("add_memory", {"content": "", "scope": "everyone"}),
        ToolCall("search_memory", {"query": "bread", "limit": "many"}),
        ToolCall("delete_memory", {}),
    ],
    ids=lambda call: call.name,
)
def test_a_failing_tool_does_not_end_the_conversation(
    home: Home, agents: dict[str, str], ollama: FakeOllama, call: ToolCall
) -> None:
    def decide(request: ChatRequest) -> ToolCall | str:
        return "Let us go on." if request.said_by("tool") else call

    ollama.model = decide

    assert spoken(home.say(ASKING, agents["Memory"])) == "Let us go on."
    result = ollama.take_requests()[-1].tool_result()
    assert result["error"]
    assert result["error_key"]


def test_tools_work_beside_another_api(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = attentive_model

    assert spoken(home.say(TELLING, agents["Both"])) == "It was added."
    assert spoken(home.say(ASKING, agents["Both"])) == FACT
    offered = ollama.take_requests()[0]
    assert PROMPT in offered.instructions
    assert len(offered.tools) > len(TOOLS)


@pytest.mark.skipif(HAS_LLM_PLATFORM, reason="newer versions have a platform for such tools")
def test_assist_alone_has_no_memory_without_the_platform(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = lambda _request: "Good morning."
    home.say("Good morning", agents["Plain"])

    assert not any("memory" in name for name in ollama.take_requests()[0].tools)


@pytest.mark.skipif(not HAS_LLM_PLATFORM, reason="older versions have no platform for such tools")
def test_assist_has_the_memory_until_the_option_is_turned_off(
    home: Home, agents: dict[str, str], ollama: FakeOllama
) -> None:
    ollama.model = attentive_model

    assert spoken(home.say(TELLING, agents["Plain"])) == "It was added."
    assert spoken(home.say(ASKING, agents["Plain"])) == FACT
    offered = ollama.take_requests()[0]
    assert PROMPT in offered.instructions
    assert {name for name in offered.tools if name.startswith("ai_memory__")} == {
        f"ai_memory__{name}" for name in TOOLS
    }

    home.change_options(max_entries=1000, assist_tools=False)
    ollama.model = lambda _request: "Good morning."
    home.say("Good morning", agents["Plain"])
    home.say("Good morning", agents["Memory"])
    without, still_chosen = ollama.take_requests()
    home.change_options(max_entries=1000, assist_tools=True)

    assert not any("memory" in name for name in without.tools)
    assert PROMPT not in without.instructions
    assert set(still_chosen.tools) == set(TOOLS)
