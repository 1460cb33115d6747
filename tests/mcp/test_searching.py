"""What a search of coding agents keeps and leaves out, and what it counts as used."""

from typing import Final

from pytest_homeassistant_custom_component.common import MockConfigEntry

from .conftest import Agent, Json

REPOSITORY: Final = "github/acme/tool"


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
