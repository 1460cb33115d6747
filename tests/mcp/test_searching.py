"""What a search of coding agents keeps and leaves out, and what it counts as used."""

from typing import Final

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Caller, Filters
from custom_components.ai_memory.core.models import WORKSHOP_REACH
from custom_components.ai_memory.mcp.engine import JsonValue

from .conftest import Agent, Json

REPOSITORY: Final = "github/acme/tool"
CODER: Final = Caller(source="mcp:tests", agent="client:tests", reach=WORKSHOP_REACH)


async def _store(agent: Agent, content: str, **arguments: str) -> Json:
    place: Json = {"namespace": REPOSITORY, "type": "decision", "title": content, **arguments}
    stored = await agent.tool("memory_store", content=content, **place)
    record: Json = stored["record"]
    return record


async def test_a_least_cosine_keeps_nothing_that_only_words_have_found(
    agent: Agent, loaded: MockConfigEntry
) -> None:
    await _store(agent, "Retries end after five.")
    await _store(agent, "Timeouts grow with every attempt.")
    await loaded.runtime_data.manager.wait_for_vectors()
    for query, least, count in (
        # Words of the place alone, which no vector knows of.
        ("tool acme", None, 2),
        ("tool acme", 0, 0),
        ("timeouts", 0.5, 1),
        ("timeouts", 0.99, 0),
    ):
        narrowed: Json = {} if least is None else {"min_cosine": least}
        found = await agent.tool("memory_search", query=query, **narrowed)
        assert len(found["records"]) == count, (query, least)
        assert all(one["cosine"] >= least for one in found["records"] if least is not None)


async def _used(loaded: MockConfigEntry, query: str) -> dict[str, int]:
    """Return how often each record was returned, by its title."""
    manager = loaded.runtime_data.manager
    await manager._flush_usage()
    found = await manager.search(CODER, Filters(), query, 100, counted=False)
    return {hit.memory.content: hit.memory.access_count for hit in found.hits}


@pytest.mark.parametrize("beginning", ["01KBM", " 01KBMRC ", "", "x" * 7])
async def test_what_is_too_short_to_leave_anything_out_is_refused(
    agent: Agent, beginning: str
) -> None:
    await _store(agent, "The queue is durable.")
    left_out: list[JsonValue] = ["01KBMRC8AA", beginning]
    refusal = await agent.refusal("memory_search", query="queue", exclude=left_out)
    assert refusal["error_key"] == "ids_too_short"
    assert refusal["error"] == "Every id in exclude needs at least 8 characters"


async def test_a_page_is_filled_past_all_that_one_beginning_leaves_out(
    agent: Agent, freezer: FrozenDateTimeFactory
) -> None:
    # Ids of one moment begin alike, and all of these are better matches than the later ones.
    shared = [await _store(agent, f"Retry queue {number}.") for number in range(60)]
    freezer.tick(5)
    for number in range(3):
        await _store(agent, f"Among much else that is told here, retry once, number {number}.")
    beginning = shared[0]["id"][:8]
    assert all(one["id"].startswith(beginning) for one in shared)
    left = await agent.tool("memory_search", query="retry queue", exclude=[beginning])
    assert len(left["records"]) == 3
    assert all(one["title"].startswith("Among much else") for one in left["records"])
    two = await agent.tool("memory_search", query="retry queue", exclude=[beginning], limit=2)
    assert len(two["records"]) == 2


async def test_only_what_a_reply_holds_counts_as_used(
    agent: Agent, loaded: MockConfigEntry
) -> None:
    titles = [f"The queue keeps letter {number} of the alphabet." for number in range(6)]
    ids = [(await _store(agent, title))["id"] for title in titles]
    assert await _used(loaded, "queue") == dict.fromkeys(titles, 0)
    told = await agent.tool("memory_search", query="queue", exclude=[ids[0]], budget_tokens=250)
    returned = {one["title"] for one in told["records"]}
    assert 0 < len(returned) < 5
    assert told["left_out"] == 5 - len(returned)
    assert await _used(loaded, "queue") == {title: int(title in returned) for title in titles}
    await agent.tool("memory_search", query="queue", min_cosine=1)
    await agent.tool("memory_search", query="queue", recall=True)
    assert sum((await _used(loaded, "queue")).values()) == len(returned)
