"""A hub with hundreds of repositories: what it reaches, and that its replies stay small."""

import json
from typing import Final

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Access, Caller, MemoryManager, NewMemory
from custom_components.ai_memory.core.models import WORKSHOP_REACH

from .conftest import Agent, Json

HUB: Final = "github/acme/hub"
REPOSITORIES: Final = 300
CODER: Final = Caller(
    source="mcp:tests", agent="client:tests", access=frozenset(Access), reach=WORKSHOP_REACH
)


@pytest.fixture
async def hub(loaded: MockConfigEntry) -> MemoryManager:
    """Return a memory with a record in a hub and in each of very many other repositories."""
    manager: MemoryManager = loaded.runtime_data.manager
    for number in range(REPOSITORIES):
        await _add(manager, f"github/acme/repository-{number}", f"Retries end after {number}.")
    await _add(manager, HUB, "Retries have one policy.")
    await _add(manager, "global", "Retries are logged.")
    await manager.places.link(CODER, HUB, None)
    return manager


async def _add(manager: MemoryManager, wing: str, content: str) -> None:
    new = NewMemory(content=content, wing=wing, room="decision", type="decision")
    await manager.add(CODER, new)


def _text(result: Json) -> Json:
    told: Json = json.loads(result["content"][0]["text"])
    return told


@pytest.mark.usefixtures("hub")
async def test_a_hub_is_searched_with_every_repository_and_told_alone(agent: Agent) -> None:
    await _check_index(agent)
    await _check_search(agent)


async def _check_index(agent: Agent) -> None:
    call: Json = {"name": "memory_bootstrap", "arguments": {"namespace": HUB}}
    result = await agent.result("tools/call", call)
    assert not result["isError"]
    index = _text(result)
    assert index["scope"] == [HUB, "global"]
    assert {one["title"] for one in index["records"]} == {
        "Retries have one policy.",
        "Retries are logged.",
    }
    assert (index["left_out"], index["truncated"]) == (0, False)
    read = await agent.result("resources/read", {"uri": f"memory://index/{HUB}"})
    assert json.loads(read["contents"][0]["text"]) == index
    timeline = await agent.tool("memory_timeline", namespace=HUB)
    assert [one["namespace"] for one in timeline["records"]] == ["global", HUB]
    assert timeline["left_out"] == 0


async def _check_search(agent: Agent) -> None:
    found = await agent.tool("memory_search", query="retries end after 217", namespace=HUB)
    assert found["records"][0]["namespace"] == "github/acme/repository-217"
    assert found["estimated_tokens"] <= 750
    packet = await agent.tool("memory_project_context", namespace=HUB, task="retries end after 217")
    assert packet["records"][0]["namespace"] == "github/acme/repository-217"
    assert "decision of the namespace" in [one["reason"] for one in packet["records"]]
    elsewhere = await agent.tool(
        "memory_search", query="retries end after 217", namespace="github/acme/repository-3"
    )
    assert {one["namespace"] for one in elsewhere["records"]} == {
        "github/acme/repository-3",
        "global",
    }
