"""Two agents and two persons of one home: what one keeps private no other knows, the common all do.

The model speaks only of what it was told or looked up, so what an agent says is what it knows.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Final

import pytest

from .fake_ollama import MODEL, ChatRequest, FakeOllama, ToolCall
from .home import Home
from .test_conversation import answer_from, owner, spoken

pytestmark = pytest.mark.e2e

COMMON: Final = "The fuse box is behind the coats."
SECRET: Final = "The user wears hearing aids."
TELLING: Final = "Keep to yourself that I wear hearing aids"
ASKING: Final = "What do you know of hearing aids?"
GREETING: Final = "Where is the fuse box?"


def model(request: ChatRequest) -> ToolCall | str:
    """Store what is told, answer from the instructions, and look up only what they do not say."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return answer_from(request.tool_result())
    if last["content"] == TELLING:
        add = request.tool_named("add_memory")
        return ToolCall(add, {"content": SECRET, "scope": "private"})
    wanted = COMMON if last["content"] == GREETING else SECRET
    if wanted in request.instructions:
        return wanted
    return ToolCall(request.tool_named("search_memory"), {"query": "hearing aids", "limit": 20})


@pytest.fixture(scope="module")
def agents(home: Home, ollama: FakeOllama) -> dict[str, str]:
    """Return two agents of one provider: one with the memory itself, one with a profile of it."""
    home.set_up("ollama", {"url": ollama.url})
    apis = {"Butler": "ai_memory", "Nurse": home.add_profile("Nurse")}
    return {name: home.add_agent(name, MODEL, [api]) for name, api in apis.items()}


@pytest.fixture(scope="module")
def guest(home: Home) -> str:
    """Return the token of a second person."""
    return home.add_person("Guest")


def test_a_second_agent_and_a_second_person_know_the_common_and_nothing_private(
    home: Home, ollama: FakeOllama, agents: dict[str, str], guest: str
) -> None:
    ollama.model = model
    home.call("add_memory", text=COMMON, layer=1)
    assert spoken(home.say(TELLING, agents["Butler"])) == "It was added."
    stored = ollama.take_requests()[-1].tool_result()["memory"]
    critical = home.call(
        "update_memory", memory_id=stored["id"], layer=1, agent_id=owner(agents["Butler"])
    )
    assert critical["memory"]["layer"] == 1

    # Who told it is known by it at once, without a look into the memory.
    assert spoken(home.say(ASKING, agents["Butler"])) == SECRET
    assert [SECRET in request.instructions for request in ollama.take_requests()] == [True]

    somebody: list[tuple[str, AbstractContextManager[None]]] = [
        ("Nurse", nullcontext()),
        ("Butler", home.as_person(guest)),
        ("Nurse", home.as_person(guest)),
    ]
    for agent, speaking in somebody:
        with speaking:
            common = spoken(home.say(GREETING, agents[agent]))
            without_tools = ollama.take_requests()
            private = spoken(home.say(ASKING, agents[agent]))
        assert (common, private) == (COMMON, "I do not know.")
        assert len(without_tools) == 1
        requests = [*without_tools, *ollama.take_requests()]
        assert len(requests) == 3
        assert all(COMMON in request.instructions for request in requests)
        assert SECRET not in str([request.body for request in requests])
        assert stored["id"] not in str([request.body for request in requests])

    # Nor do the actions of the second person, who names the agent, tell of it.
    with home.as_person(guest):
        for name in (None, owner(agents["Butler"])):
            asked = {"agent_id": name} if name else {}
            assert home.call("list_memories", **asked)["total"] == 1
            refused = home.refusal("get_memory", memory_id=stored["id"], **asked)
            unknown = home.refusal("get_memory", memory_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", **asked)
            assert refused.status == unknown.status
            told = (refused.message or "").replace(stored["id"], "01ARZ3NDEKTSV4RRFFQ69G5FAV")
            assert told == (unknown.message or "")
    mine = home.call("list_memories", agent_id=owner(agents["Butler"]))
    assert mine["total"] == 2
    assert SECRET not in str(home.state("sensor.ai_memory"))
