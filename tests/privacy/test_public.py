"""What everybody in the house can look at: figures of the whole house, and no word of anybody's."""

import json
from typing import Any

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import get_system_health_info

from custom_components.ai_memory.const import DOMAIN, EVENT_UPDATED
from custom_components.ai_memory.core import Caller, Scope
from custom_components.ai_memory.diagnostics import async_get_config_entry_diagnostics

from .house import ADMIN, House, over_service
from .world import ANNA, BEN, NAMES, WORLD, id_of

PRIVATE = [told for told in WORLD if told.agent]
COMMON_PLACES = {name for told in WORLD if told.scope is Scope.COMMON for name in told.place}
DEFAULT_WINGS = {"household", "personal", "automation", "general"}
SECRET_PLACES = {name for told in PRIVATE for name in told.place} - COMMON_PLACES - DEFAULT_WINGS
LIVE = [told for told in WORLD if told.status in {"active", "candidate"}]
LIVE_PRIVATE = sum(told.scope is Scope.PRIVATE for told in LIVE)


def _betrays(shown: object) -> set[str]:
    """Return the private memories and places of which something speaks."""
    text = json.dumps(shown, default=str)
    quoted = text.replace("/", '"').replace(" ", '"')
    return {told.name for told in PRIVATE if told.name in text} | {
        place for place in SECRET_PLACES if f'"{place}"' in quoted
    }


async def test_what_everybody_can_look_at_betrays_nothing(
    house: House, hass: HomeAssistant, entity_registry: er.EntityRegistry
) -> None:
    assert {"nook", "alcove", "den", "larder", "shelf"} < SECRET_PLACES
    entity_registry.async_update_entity("todo.ai_memory_open_work", disabled_by=None)
    assert await async_setup_component(hass, "system_health", {})
    events: list[dict[str, Any]] = []
    states: list[dict[str, Any]] = []

    @callback
    def heard(event: Event[Any]) -> None:
        events.append(dict(event.data))

    @callback
    def changed(event: Event[Any]) -> None:
        if (state := event.data["new_state"]) is not None and DOMAIN in state.entity_id:
            states.append(dict(state.attributes))

    hass.bus.async_listen(EVENT_UPDATED, heard)
    hass.bus.async_listen("state_changed", changed)
    # Without the tunnels: to dig them, the places were everybody's for a moment.
    await house.fill([told.name for told in WORLD])
    await hass.async_block_till_done()
    manager = house.manager
    await manager.anchors.sweep(Caller(source="test"))
    await manager.maintain()
    await manager.places.tidy()
    await hass.async_block_till_done()
    assert len(events) > len(WORLD)
    assert len(states) > len(WORLD)
    figures = await get_system_health_info(hass, DOMAIN)
    shown = [*events, *states, figures, await async_get_config_entry_diagnostics(hass, house.entry)]
    # A path or a name of the test itself is no memory.
    assert [one for one in shown if _betrays(one)] == []
    assert len(hass.states.async_entity_ids("todo")) == 1
    sensor = hass.states.get("sensor.ai_memory")
    assert sensor is not None
    assert sensor.attributes["memory_counts"] == {
        "common": len(LIVE) - LIVE_PRIVATE,
        "private": LIVE_PRIVATE,
        "total": len(LIVE),
    }
    wings = sensor.attributes["wing_distribution"]
    assert wings["private"] == sum(
        told.scope is Scope.PRIVATE and told.place[0] not in DEFAULT_WINGS for told in LIVE
    )
    # Of somebody's private memory an event says that there is one, and its id.
    of_zebra = [one for one in events if one["memory_ids"] == [id_of("zebra")]]
    assert {one["scope"] for one in of_zebra} == {"private"}
    assert {(one["wing"], one["room"]) for one in of_zebra} == {(None, None)}


@pytest.mark.parametrize(
    ("who", "refused"), [(ADMIN, False), (ANNA, True), (BEN, True), (None, True)]
)
async def test_only_an_administrator_takes_everything_out(
    house: House, who: str | None, *, refused: bool
) -> None:
    await house.fill(NAMES)
    user = house.users[who] if who else None
    told = str(await over_service(house, user, "export_memories", {"all_owners": True}))
    if refused:
        assert "administrators_only" in told
        assert not any(one.name in told for one in WORLD)
    else:
        assert all((one.name in told) is one.kept for one in WORLD)


async def test_nobody_is_forgotten_by_others_and_an_administrator_learns_no_more_than_a_number(
    house: House,
) -> None:
    await house.fill(NAMES)
    bens = sum(told.person == BEN for told in WORLD)
    for who in (ANNA, None):
        user = house.users[who] if who else None
        for person in ("person.ben", "person.anna"):
            if (who, person) != (ANNA, "person.anna"):
                told = await over_service(house, user, "forget_me", {"person": person})
                assert "administrators_only" in str(told)
    told = await over_service(house, house.users[ADMIN], "forget_me", {"person": "person.ben"})
    assert f"'count': {bens}" in str(told)
    assert _betrays(told) == set()
