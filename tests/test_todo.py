"""Open work as a to-do list, used as a person uses it."""

from datetime import timedelta
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
)

from custom_components.ai_memory.core import (
    Caller,
    Memory,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Reach,
    Scope,
)

LIST = "todo.ai_memory_open_work"
ANNA = Caller(source="assist", agent="conversation.home", user="anna")
CODER = Caller(source="mcp", agent="coder", reach=Reach(home=False, workshop=True))


@pytest.fixture
async def memory(
    hass: HomeAssistant, loaded: MockConfigEntry, entity_registry: er.EntityRegistry
) -> MemoryManager:
    """Return the memory behind a list that somebody enabled."""
    assert hass.states.get(LIST) is None
    entity_registry.async_update_entity(LIST, disabled_by=None)
    assert await hass.config_entries.async_reload(loaded.entry_id)
    await hass.async_block_till_done()
    manager: MemoryManager = loaded.runtime_data.manager
    return manager


async def _do(
    hass: HomeAssistant, service: str, context: Context | None = None, **data: Any
) -> None:
    await hass.services.async_call(
        "todo", service, {"entity_id": LIST} | data, blocking=True, context=context
    )


async def _items(hass: HomeAssistant) -> list[tuple[str, str]]:
    told = await hass.services.async_call(
        "todo",
        "get_items",
        {"entity_id": LIST, "status": ["needs_action", "completed"]},
        blocking=True,
        return_response=True,
    )
    assert told is not None
    listed: Any = told[LIST]
    return [(item["summary"], item["status"]) for item in listed["items"]]


async def _later(hass: HomeAssistant) -> None:
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=2))
    await hass.async_block_till_done()


async def test_the_list_is_off_until_somebody_wants_it(
    hass: HomeAssistant, loaded: MockConfigEntry, entity_registry: er.EntityRegistry
) -> None:
    registered = entity_registry.async_get(LIST)
    assert registered is not None
    assert registered.unique_id == "ai_memory_work"
    assert registered.disabled_by is er.RegistryEntryDisabler.INTEGRATION


async def test_an_item_is_added_completed_renamed_and_deleted(
    hass: HomeAssistant, memory: MemoryManager, hass_admin_user: MockUser
) -> None:
    context = Context(user_id=hass_admin_user.id)
    await _do(hass, "add_item", context, item="Xyzzy the plugh")
    assert await _items(hass) == [("Xyzzy the plugh", "needs_action")]
    (stored,) = await memory.work(ANNA, 10)
    assert (stored.type, stored.scope, stored.wing, stored.room, stored.source) == (
        "open_work",
        Scope.COMMON,
        "household",
        "maintenance",
        "todo",
    )
    await _do(hass, "update_item", item="Xyzzy the plugh", status="completed")
    assert (await memory.get(ANNA, stored.id)).type == "done_work"
    assert hass.states.get(LIST).state == "0"  # type: ignore[union-attr]
    await _do(hass, "update_item", item=stored.id, rename="Xyzzy twice", status="needs_action")
    assert await _items(hass) == [("Xyzzy twice", "needs_action")]
    changed = await memory.get(ANNA, stored.id)
    assert (changed.content, changed.type) == ("Xyzzy twice", "open_work")
    await _do(hass, "remove_item", item="Xyzzy twice")
    assert await _items(hass) == []
    with pytest.raises(NotFoundError):
        await memory.get(ANNA, stored.id)


async def test_the_text_tells_the_room(hass: HomeAssistant, memory: MemoryManager) -> None:
    await _do(hass, "add_item", item="Renew the schedule of the heating routine")
    (stored,) = await memory.work(ANNA, 10)
    assert stored.wing == "automation"


async def test_what_was_done_can_be_done_again(hass: HomeAssistant, memory: MemoryManager) -> None:
    await _do(hass, "add_item", item="Clean the gutter")
    await _do(hass, "update_item", item="Clean the gutter", status="completed")
    await _do(hass, "add_item", item="clean the gutter.")
    assert await _items(hass) == [("Clean the gutter", "needs_action")]


async def test_only_common_work_of_the_home_is_on_the_list(
    hass: HomeAssistant, memory: MemoryManager
) -> None:
    for caller, content, fields in (
        (ANNA, "Common work", {"type": "open_work", "scope": Scope.COMMON}),
        (ANNA, "Hidden work", {"type": "open_work", "scope": Scope.PRIVATE}),
        (CODER, "Workshop", {"type": "open_work", "wing": "github/acme/tool"}),
        (ANNA, "A fact", {"scope": Scope.COMMON}),
        (ANNA, "Done work", {"type": "done_work", "scope": Scope.COMMON}),
    ):
        await memory.add(caller, NewMemory(content=content, **fields))
    await _later(hass)
    assert await _items(hass) == [("Common work", "needs_action"), ("Done work", "completed")]
    state = hass.states.get(LIST)
    assert state is not None
    assert state.state == "1"
    assert "Common work" not in str(state.attributes)


async def test_changes_of_others_are_followed(hass: HomeAssistant, memory: MemoryManager) -> None:
    for number in range(5):
        new = NewMemory(content=f"Task {number}", type="open_work", wing="household")
        await memory.add(ANNA, new)
    await _later(hass)
    assert [summary for summary, _ in await _items(hass)] == [f"Task {n}" for n in range(5)]
    state = hass.states.get(LIST)
    assert state is not None
    assert state.state == "5"


async def test_what_is_common_no_longer_leaves_the_list(
    hass: HomeAssistant, memory: MemoryManager
) -> None:
    new = NewMemory(content="Buy a present for Ben", type="open_work", scope=Scope.COMMON)
    told = (await memory.add(ANNA, new)).memory
    await _later(hass)
    assert await _items(hass) == [("Buy a present for Ben", "needs_action")]
    await memory.update(ANNA, told.id, MemoryChanges(scope=Scope.PRIVATE))
    await _later(hass)
    assert await _items(hass) == []
    await memory.update(ANNA, told.id, MemoryChanges(scope=Scope.COMMON))
    await _later(hass)
    assert await _items(hass) == [("Buy a present for Ben", "needs_action")]


async def test_private_changes_move_nothing(
    hass: HomeAssistant, memory: MemoryManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _later(hass)
    read: list[object] = []
    work = MemoryManager.work

    async def counted(manager: MemoryManager, caller: Caller, limit: int) -> list[Memory]:
        read.append(caller)
        return await work(manager, caller, limit)

    monkeypatch.setattr(MemoryManager, "work", counted)
    new = NewMemory(content="Buy a present for Ben", type="open_work", scope=Scope.PRIVATE)
    await memory.add(ANNA, new)
    await _later(hass)
    assert read == []
    await memory.add(ANNA, NewMemory(content="Buy milk", type="open_work", scope=Scope.COMMON))
    await _later(hass)
    assert read


async def test_a_refusal_is_told(hass: HomeAssistant, memory: MemoryManager) -> None:
    for item in ("One", "Two"):
        await _do(hass, "add_item", item=item)
    with pytest.raises(ServiceValidationError) as refused:
        await _do(hass, "update_item", item="Two", rename="one")
    assert refused.value.translation_key == "already_known"
    with pytest.raises(ServiceValidationError) as refused:
        await _do(hass, "add_item", item="x" * 10_001)
    assert refused.value.translation_key == "too_long"
    assert [summary for summary, _ in await _items(hass)] == ["One", "Two"]
