"""What a model deletes can be brought back, until the maintenance purges it."""

import sqlite3
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import (
    Caller,
    Filters,
    InvalidInputError,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Scope,
)
from tests.assist.agent import call, contents, context
from tests.conftest import SteppingClock

AGENT = Caller(source="assist", agent="ollama", provider="ollama")


async def _service(
    hass: HomeAssistant, name: str, asking: Context | None = None, **data: Any
) -> Any:
    return await hass.services.async_call(
        DOMAIN, name, data, blocking=True, return_response=True, context=asking
    )


def _texts(memory: MemoryManager) -> set[str]:
    """Return what the file holds, whoever may see it."""
    with sqlite3.connect(memory._database.path) as connection:
        return {content for (content,) in connection.execute("SELECT content FROM memories")}


async def _fill(memory: MemoryManager, count: int, **more: Any) -> list[str]:
    texts = [f"Jar number {number} holds plums" for number in range(count)]
    new = [NewMemory(content=text, wing="cellar", room="shelf", **more) for text in texts]
    return [(await memory.add(AGENT, one)).memory.id for one in new]


@pytest.mark.usefixtures("loaded")
async def test_a_models_mistake_can_be_undone(
    hass: HomeAssistant, hass_admin_user: MockUser
) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    asking = context(user=hass_admin_user.id)
    instance = await llm.async_get_api(hass, "ai_memory", asking)
    ids = []
    for content, scope in (("Bins go out on Monday", "common"), ("I am allergic", "private")):
        told = {"content": content, "scope": scope, "wing": "notes"}
        data, _ = await call(instance, "add_memory", **told)
        ids.append(data["memory"]["id"])
    gone, error = await call(instance, "delete_memory", memory_id=ids[0])
    assert (error, gone) == (False, {"result": "deleted", "deleted": 1, "memory_ids": ids[:1]})
    again, error = await call(instance, "delete_memory", memory_id=ids[0])
    assert (error, again["error_key"]) == (True, "memory_not_found")
    gone, error = await call(instance, "delete_memory", wing="notes")
    assert (error, gone) == (False, {"result": "deleted", "deleted": 1, "memory_ids": ids[1:]})
    nothing, _ = await call(instance, "delete_memory", wing="notes")
    assert nothing == {"result": "deleted", "deleted": 0, "memory_ids": []}
    assert await contents(instance) == set()
    assert (await _service(hass, "list_memories"))["total"] == 0
    state = hass.states.get("sensor.ai_memory")
    assert state is not None
    assert state.attributes["memory_counts"]["total"] == 0

    await _service(hass, "restore_memory", memory_id=ids[0])
    own = Context(user_id=hass_admin_user.id)
    await _service(hass, "restore_memory", own, memory_id=ids[1], agent_id="ollama")
    assert await contents(instance) == {"Bins go out on Monday", "I am allergic"}


@pytest.mark.usefixtures("loaded")
async def test_what_an_action_deletes_is_gone_for_good(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    added = await _service(hass, "add_memory", text="Bins go out on Monday")
    await _service(hass, "delete_memory", memory_id=added["memory"]["id"])
    assert _texts(loaded.runtime_data.manager) == set()


async def test_a_wing_goes_and_comes_back_with_its_history(memory: MemoryManager) -> None:
    ids = await _fill(memory, 450, scope=Scope.COMMON)
    newer = NewMemory(content="The jars went to Ben", supersedes=ids[0])
    newest = (await memory.add(AGENT, newer)).memory.id
    other = Caller(source="assist", agent="openai", provider="openai")
    theirs = NewMemory(content="Hidden in a jar", wing="cellar", scope=Scope.PRIVATE)
    await memory.add(other, theirs)
    gone = await memory.delete(AGENT, None, Filters(wing="cellar"), restorable=True)
    assert sorted(gone) == sorted([*ids[1:], newest])
    assert (memory.counts().common, memory.counts().private) == (0, 1)
    assert (await memory.latest(other, Filters(), 10)).total == 1
    await memory.lifecycle.restore(AGENT, newest)
    assert memory.counts().common == 1
    versions = await memory.lifecycle.history(AGENT, newest, 10)
    assert [one.content for one in versions] == [
        "The jars went to Ben",
        "Jar number 0 holds plums",
    ]
    with pytest.raises(InvalidInputError):
        await memory.delete(AGENT, None, Filters(), restorable=True)


async def test_it_is_purged_when_its_days_are_over(
    memory: MemoryManager, clock: SteppingClock
) -> None:
    ids = await _fill(memory, 2, scope=Scope.COMMON)
    await memory.delete(AGENT, ids[0], Filters(), restorable=True)
    clock.advance(days=29)
    await memory.maintain()
    assert len(_texts(memory)) == 2
    clock.advance(days=2)
    await memory.maintain()
    assert _texts(memory) == {"Jar number 1 holds plums"}
    with pytest.raises(NotFoundError):
        await memory.lifecycle.restore(AGENT, ids[0])


async def test_who_asks_to_be_forgotten_is_forgotten_for_good(
    memory: MemoryManager, anna: Caller
) -> None:
    added = await memory.add(anna, NewMemory(content="Anna is deaf", scope=Scope.PRIVATE))
    await memory.delete(anna, added.memory.id, Filters(), restorable=True)
    asked = await memory.personal.forget(anna)
    assert (asked.count, len(_texts(memory))) == (1, 1)
    await memory.personal.forget(anna, confirmation=asked.confirmation)
    assert _texts(memory) == set()
