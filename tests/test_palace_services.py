"""The palace as automations and people arrange it."""

import asyncio
from datetime import timedelta
from typing import Any
from zlib import crc32

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
)

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Caller, NewMemory, Scope
from custom_components.ai_memory.maintenance import HOUR


async def _call(
    hass: HomeAssistant, service: str, context: Context | None = None, **data: Any
) -> dict[str, Any]:
    response = await hass.services.async_call(
        DOMAIN, service, data, blocking=True, return_response=True, context=context
    )
    assert isinstance(response, dict)
    return response


async def _add(hass: HomeAssistant, text: str, place: str) -> str:
    wing, room = place.split("/")
    added = await _call(hass, "add_memory", text=text, wing=wing, room=room)
    memory_id: str = added["memory"]["id"]
    return memory_id


@pytest.mark.usefixtures("loaded")
async def test_an_automation_arranges_the_palace(hass: HomeAssistant) -> None:
    await _add(hass, "The boiler is a Vaillant.", "cellar/heating")
    described = await _call(
        hass, "describe_place", wing="cellar", description="Below", default_scope="private"
    )
    assert described == {"result": "described", "wing": "cellar", "room": None}
    renamed = await _call(hass, "rename_place", wing="cellar", new_wing="basement")
    assert renamed == {"result": "renamed", "wing": "basement", "room": None, "count": 1}
    listed = await _call(hass, "list_places", wing="basement")
    assert listed["wings"] == [
        {
            "wing": "basement",
            "description": "Below",
            "default_scope": "private",
            "count": 1,
            "rooms": [{"room": "heating", "description": "", "count": 1}],
        }
    ]
    for blank in ("", " ", None):
        await _call(hass, "describe_place", wing="basement", description="Below")
        await _call(hass, "describe_place", wing="basement", default_scope="common")
        (wing,) = (await _call(hass, "list_places", wing="basement"))["wings"]
        assert (wing["description"], wing["default_scope"]) == ("Below", "common")
        await _call(hass, "describe_place", wing="basement", description=blank)
        (wing,) = (await _call(hass, "list_places", wing="basement"))["wings"]
        assert wing["description"] == ""
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "describe_place", wing="basement")
    assert refused.value.translation_placeholders == {"field": "description"}
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "delete_place", wing="basement")
    assert refused.value.translation_key == "place_in_use"
    deleted = await _call(hass, "delete_place", wing="basement", move_to_wing="general")
    assert deleted == {"result": "deleted", "moved": 1}
    found = await _call(hass, "list_memories", wing="general", room="heating")
    assert found["total"] == 1


@pytest.mark.usefixtures("loaded")
async def test_a_search_goes_through_an_accepted_tunnel(hass: HomeAssistant) -> None:
    ids = {}
    for place in ("cellar/heating", "garden/pond"):
        for number in range(2):
            ids[place] = await _add(hass, f"switch.pump hums, {place} {number}.", place)
    proposed = await _call(hass, "propose_tunnels")
    assert [one["reason"] for one in proposed["tunnels"]] == ["switch.pump, hums"]
    (tunnel,) = proposed["tunnels"]
    accepted = await _call(hass, "accept_tunnel", tunnel_id=tunnel["id"])
    assert (accepted["result"], accepted["tunnel"]["state"]) == ("accepted", "open")
    found = await _call(hass, "search_memory", query="pump", wing="garden")
    assert [hit.get("via") for hit in found["results"]] == [None, None, *["garden/pond"] * 2]
    closed = await _call(hass, "disconnect_places", tunnel_id=tunnel["id"])
    assert closed == {"result": "disconnected", "tunnel": accepted["tunnel"] | {"state": "closed"}}
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "disconnect_places", tunnel_id=tunnel["id"])
    assert refused.value.translation_key == "tunnel_not_found"
    assert (await _call(hass, "list_tunnels"))["tunnels"] == []
    joined = await _call(
        hass, "connect_places", wing="cellar", to_wing="garden", reason="Both have pumps"
    )
    assert (joined["result"], joined["tunnel"]["reason"]) == ("connected", "Both have pumps")
    dismissed = await _call(hass, "dismiss_tunnel", tunnel_id=joined["tunnel"]["id"])
    assert dismissed["result"] == "dismissed"


@pytest.mark.usefixtures("loaded")
async def test_only_administrators_rename_and_delete(
    hass: HomeAssistant, hass_admin_user: MockUser, hass_read_only_user: MockUser
) -> None:
    await _add(hass, "The boiler is a Vaillant.", "cellar/heating")
    guest, owner = (Context(user_id=one.id) for one in (hass_read_only_user, hass_admin_user))
    for service, data in (
        ("rename_place", {"new_wing": "basement"}),
        ("delete_place", {"move_to_wing": "general"}),
        ("describe_place", {"default_scope": "private"}),
    ):
        with pytest.raises(HomeAssistantError) as refused:
            await _call(hass, service, guest, wing="cellar", **data)
        assert refused.value.translation_key == "administrators_only"
    await _call(hass, "describe_place", guest, wing="cellar", description="Below")
    renamed = await _call(hass, "rename_place", owner, wing="cellar", new_wing="basement")
    assert renamed["result"] == "renamed"


async def test_private_places_show_only_on_behalf_of_their_agent(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    agent = Caller(source="test", agent="conversation.home")
    new = NewMemory(content="Dear diary.", wing="diary", room="days", scope=Scope.PRIVATE)
    await loaded.runtime_data.manager.add(agent, new)
    listed = await _call(hass, "list_places")
    assert "diary" not in {wing["wing"] for wing in listed["wings"]}
    listed = await _call(hass, "list_places", wing="diary", agent_id="conversation.home")
    assert listed["wings"][0]["rooms"] == [{"room": "days", "description": "", "count": 1}]


@pytest.mark.usefixtures("loaded")
async def test_secrets_are_no_descriptions(hass: HomeAssistant) -> None:
    key = "ghp_" + "x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8"
    await _add(hass, "The boiler is a Vaillant.", "cellar/heating")
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "describe_place", wing="cellar", description=f"token {key}")
    assert refused.value.translation_key == "screened"
    with pytest.raises(ServiceValidationError):
        await _call(hass, "connect_places", wing="cellar", to_wing="general", reason=f"token {key}")


async def test_the_daily_maintenance_proposes_tunnels_and_tidies(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    hass.states.async_set("person.o", "home", {"friendly_name": "Ottilie"})
    for number in range(2):
        await _add(hass, f"Ottilie bakes with walnuts {number}.", "kitchen/recipes")
        await _add(hass, f"Walnuts for Ottilie {number}.", "shopping/lists")
    gone = await _add(hass, "The tap drips.", "cellar/water")
    await _call(hass, "delete_memory", memory_id=gone)
    minute = crc32(loaded.entry_id.encode()) % 60
    tomorrow = dt_util.now() + timedelta(days=1)
    async_fire_time_changed(hass, tomorrow.replace(hour=HOUR, minute=minute, second=1))
    # It runs behind whatever else happens in the home.
    while not (proposed := await _call(hass, "list_tunnels", state="proposed"))["tunnels"]:
        await asyncio.sleep(0.01)
    assert [one["reason"] for one in proposed["tunnels"]] == ["ottilie, walnuts"]
    assert loaded.runtime_data.manager.counts().wing_total == 6
