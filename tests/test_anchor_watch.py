"""Anchors in a Home Assistant whose entities come, go and are renamed."""

from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
    get_system_health_info,
)

from custom_components.ai_memory.anchor_watch import FIRST_SWEEP_SECONDS, entity_check
from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import (
    Anchor,
    AnchorState,
    Caller,
    Memory,
    MemoryManager,
    NewMemory,
)

ANNA = Caller(source="assist", agent="conversation.home", user="anna")
READS = 20_000
OK, MISSING = AnchorState.OK, AnchorState.MISSING


@pytest.fixture
async def lamp(hass: HomeAssistant, entity_registry: er.EntityRegistry) -> er.RegistryEntry:
    """Return a registered lamp; it has no state."""
    return entity_registry.async_get_or_create("light", "demo", "1", suggested_object_id="hall")


def _manager(entry: MockConfigEntry) -> MemoryManager:
    manager: MemoryManager = entry.runtime_data.manager
    return manager


async def _store(entry: MockConfigEntry, content: str) -> Memory:
    return (await _manager(entry).add(ANNA, NewMemory(content=content))).memory


async def _has(entry: MockConfigEntry, memory: Memory, *anchors: Anchor) -> None:
    """Wait until a memory has these anchors: the registry is followed in the background."""
    # Counted, not timed: where a test owns the clock, it stands still.
    for _ in range(READS):
        if (await _manager(entry).get(ANNA, memory.id)).anchors == anchors:
            return
    assert (await _manager(entry).get(ANNA, memory.id)).anchors == anchors


async def _pass(hass: HomeAssistant, freezer: FrozenDateTimeFactory, seconds: float) -> None:
    freezer.tick(seconds + 1)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()


async def _swept(entry: MockConfigEntry, count: int) -> None:
    """Wait until so many sweeps are on record."""
    for _ in range(READS):
        if await _sweeps(entry) == count:
            return
    assert await _sweeps(entry) == count


async def _sweeps(entry: MockConfigEntry) -> int:
    async with _manager(entry)._database.reading() as connection:
        rows = await connection.execute_fetchall(
            "SELECT count(*) FROM audit WHERE action = 'anchors_swept'"
        )
    return int(next(iter(rows))[0])


async def test_a_renamed_entity_is_followed_and_a_removed_one_is_missing_at_once(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    lamp: er.RegistryEntry,
    entity_registry: er.EntityRegistry,
) -> None:
    stored = await _store(loaded, "light.hall stays on at night")
    assert stored.anchors == (Anchor("entity:light.hall", OK),)
    entity_registry.async_update_entity(lamp.entity_id, new_entity_id="light.corridor")
    await _has(loaded, stored, Anchor("entity:light.corridor", OK))
    entity_registry.async_update_entity("light.corridor", name="Corridor")
    entity_registry.async_remove("light.corridor")
    await _has(loaded, stored, Anchor("entity:light.corridor", MISSING))
    entity_registry.async_get_or_create("light", "demo", "2", suggested_object_id="corridor")
    await _has(loaded, stored, Anchor("entity:light.corridor", OK))
    read = await _manager(loaded).get(ANNA, stored.id)
    assert (read.content, read.revision) == ("light.hall stays on at night", 4)


async def test_renames_in_a_row_end_where_the_entity_is(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    lamp: er.RegistryEntry,
    entity_registry: er.EntityRegistry,
) -> None:
    stored = await _store(loaded, "About light.hall")
    for number in range(5):
        old = "light.hall" if not number else f"light.hall_{number}"
        entity_registry.async_update_entity(old, new_entity_id=f"light.hall_{number + 1}")
    await _has(loaded, stored, Anchor("entity:light.hall_5", OK))


async def test_a_disabled_or_unavailable_entity_is_there(
    hass: HomeAssistant, lamp: er.RegistryEntry, entity_registry: er.EntityRegistry
) -> None:
    assert await async_setup_component(hass, "light", {})
    check = entity_check(hass)
    assert check("light.hall") is True
    entity_registry.async_update_entity("light.hall", disabled_by=er.RegistryEntryDisabler.USER)
    assert check("light.hall") is True
    hass.states.async_set("light.by_hand", "unavailable")
    assert check("light.by_hand") is True
    hass.states.async_remove("light.by_hand")
    assert check("light.by_hand") is False


async def test_nobody_can_tell_while_home_assistant_starts_or_without_the_domain(
    hass: HomeAssistant, lamp: er.RegistryEntry
) -> None:
    check = entity_check(hass)
    assert check("light.other") is None
    assert await async_setup_component(hass, "light", {})
    assert check("light.other") is False
    hass.set_state(CoreState.starting)
    assert (check("light.other"), check("light.hall")) == (None, True)
    hass.set_state(CoreState.running)


async def test_the_sweep_finds_what_has_only_a_state(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, loaded: MockConfigEntry
) -> None:
    assert await async_setup_component(hass, "light", {})
    hass.states.async_set("light.by_hand", "on")
    stored = await _store(loaded, "About light.by_hand")
    hass.states.async_remove("light.by_hand")
    await _pass(hass, freezer, FIRST_SWEEP_SECONDS)
    await _has(loaded, stored, Anchor("entity:light.by_hand", MISSING))
    await _swept(loaded, 1)
    hass.states.async_set("light.by_hand", "on")
    await _pass(hass, freezer, 5 * 3600)
    await _swept(loaded, 1)
    await _pass(hass, freezer, 3600)
    await _has(loaded, stored, Anchor("entity:light.by_hand", OK))
    await _swept(loaded, 2)


async def test_the_interval_is_an_option_and_goes_on_over_a_restart(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, loaded: MockConfigEntry
) -> None:
    hass.config_entries.async_update_entry(loaded, options={"anchor_sweep_hours": 2})
    await hass.async_block_till_done()
    await _pass(hass, freezer, FIRST_SWEEP_SECONDS)
    await _swept(loaded, 1)
    freezer.tick(3600)
    assert await hass.config_entries.async_reload(loaded.entry_id)
    await _pass(hass, freezer, FIRST_SWEEP_SECONDS)
    await hass.async_block_till_done()
    await _swept(loaded, 1)
    await _pass(hass, freezer, 3600)
    await _swept(loaded, 2)


async def test_a_sweep_by_hand_puts_the_next_one_off(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, loaded: MockConfigEntry
) -> None:
    await hass.services.async_call(DOMAIN, "sweep_anchors", {}, blocking=True)
    await _pass(hass, freezer, FIRST_SWEEP_SECONDS)
    await _swept(loaded, 1)
    # Clocks are set back, too: then it is the interval at most.
    freezer.tick(timedelta(days=-400))
    assert await hass.config_entries.async_reload(loaded.entry_id)
    await _pass(hass, freezer, 6 * 3600)
    await _swept(loaded, 2)


async def test_nothing_is_followed_after_the_entry_is_unloaded(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    loaded: MockConfigEntry,
    lamp: er.RegistryEntry,
    entity_registry: er.EntityRegistry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    stored = await _store(loaded, "About light.hall")
    assert await hass.config_entries.async_unload(loaded.entry_id)
    entity_registry.async_remove("light.hall")
    await _pass(hass, freezer, 7 * 3600)
    assert "could not be brought up to date" not in caplog.text
    assert await hass.config_entries.async_setup(loaded.entry_id)
    await _has(loaded, stored, Anchor("entity:light.hall", OK))


async def test_the_services_tell_what_is_missing(
    hass: HomeAssistant, loaded: MockConfigEntry, lamp: er.RegistryEntry
) -> None:
    assert await async_setup_component(hass, "light", {})
    hass.states.async_set("light.by_hand", "on")
    stored = await _store(loaded, "light.by_hand belongs to light.hall")
    hass.states.async_remove("light.by_hand")

    async def call(service: str, **data: object) -> dict[str, Any]:
        told = await hass.services.async_call(
            DOMAIN, service, data, blocking=True, return_response=True
        )
        assert isinstance(told, dict)
        return told

    swept = await call("sweep_anchors")
    at = swept.pop("at")
    assert swept == {"checked": 2, "ok": 1, "missing": 1, "unavailable": 0, "changed": 1}
    listed = await call("list_anchors", state="missing", kind="entity", wing=stored.wing)
    assert listed == {
        "anchors": [
            {
                "anchor": "entity:light.by_hand",
                "state": "missing",
                "checked": at,
                "unavailable_since": None,
                "memory_id": stored.id,
                "wing": stored.wing,
                "room": stored.room,
            }
        ],
        "count": 1,
        "more": False,
    }
    assert (await call("list_anchors", limit=1))["more"] is True
    missing = ["entity:light.by_hand"]
    read = await call("get_memory", memory_id=stored.id)
    assert read["memory"]["missing_anchors"] == missing
    assert read["memory"]["anchors"] == [
        {"anchor": "entity:light.by_hand", "state": "missing"},
        {"anchor": "entity:light.hall", "state": "ok"},
    ]
    for service, name, data in (
        ("search_memory", "results", {"query": "by_hand"}),
        ("list_memories", "memories", {}),
    ):
        told = await call(service, **data)
        assert [one["missing_anchors"] for one in told[name]] == [missing]


async def test_health_and_diagnostics_tell_of_the_last_sweep(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    assert await async_setup_component(hass, "system_health", {})
    await hass.async_block_till_done()
    assert (await get_system_health_info(hass, DOMAIN))["anchor_sweep"] is None
    sweep = await _manager(loaded).anchors.sweep(ANNA)
    figures = await get_system_health_info(hass, DOMAIN)
    assert figures["anchor_sweep"] == sweep.at.isoformat()
