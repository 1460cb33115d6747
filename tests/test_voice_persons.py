"""Who speaks through a satellite: the assignments, their flow, and the order of who is believed."""

from types import MappingProxyType
from typing import Any

from homeassistant.config_entries import SOURCE_RECONFIGURE, SOURCE_USER, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    llm,
)
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import SUBENTRY_VOICE
from custom_components.ai_memory.voice_persons import VoicePerson, person_behind
from tests.assist.agent import call, contents, context

ANNA = VoicePerson(
    person="anna", satellites=frozenset({"desk"}), areas=frozenset({"study", "attic"})
)
BEN = VoicePerson(person="ben", satellites=frozenset({"bed"}), areas=frozenset({"bedroom"}))


@pytest.mark.parametrize(
    ("device", "area", "expected"),
    [
        ("desk", None, "anna"),
        ("bed", None, "ben"),
        ("other", "study", "anna"),
        ("other", "bedroom", "ben"),
        ("other", None, None),
        ("other", "kitchen", None),
        # A satellite of its own goes before the area in which it stands.
        ("bed", "study", "ben"),
        ("desk", "bedroom", "anna"),
        (None, None, None),
    ],
)
def test_a_satellite_goes_before_its_area(
    device: str | None, area: str | None, expected: str | None
) -> None:
    assert person_behind([ANNA, BEN], device, area) == expected
    assert person_behind([BEN, ANNA], device, area) == expected


def test_nobody_is_believed_where_two_are_assigned() -> None:
    both = VoicePerson(person="ben", satellites=frozenset({"desk"}), areas=frozenset({"study"}))
    assert person_behind([ANNA, both], "desk", None) is None
    assert person_behind([ANNA, both], "desk", "attic") is None
    assert person_behind([ANNA, both], "other", "study") is None
    assert person_behind([], "desk", "study") is None


@pytest.fixture
async def persons(hass: HomeAssistant) -> dict[str, str]:
    """Return the users of Anna and Ben; Cleo is a person without one."""
    users = {name: (await hass.auth.async_create_user(name)).id for name in ("Anna", "Ben")}
    config = [{"id": name.lower(), "name": name, "user_id": users[name]} for name in users]
    config.append({"id": "cleo", "name": "Cleo"})
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    assert await async_setup_component(hass, "person", {"person": config})
    await hass.async_block_till_done()
    return users


@pytest.fixture
def satellite(
    hass: HomeAssistant, device_registry: dr.DeviceRegistry, area_registry: ar.AreaRegistry
) -> dr.DeviceEntry:
    """Return a voice satellite in the study."""
    other = MockConfigEntry(domain="esphome")
    other.add_to_hass(hass)
    device = device_registry.async_get_or_create(
        config_entry_id=other.entry_id, identifiers={("esphome", "desk")}
    )
    study = area_registry.async_create("Study")
    placed = device_registry.async_update_device(device.id, area_id=study.id)
    assert isinstance(placed, dr.DeviceEntry)
    return placed


def _assign(hass: HomeAssistant, entry: MockConfigEntry, **data: Any) -> ConfigSubentry:
    subentry = ConfigSubentry(
        data=MappingProxyType(data), subentry_type=SUBENTRY_VOICE, title="x", unique_id=None
    )
    hass.config_entries.async_add_subentry(entry, subentry)
    return subentry


async def _submit(hass: HomeAssistant, entry: MockConfigEntry, **wanted: Any) -> Any:
    form: Any = await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_VOICE), context={"source": SOURCE_USER}
    )
    return await hass.config_entries.subentries.async_configure(form["flow_id"], wanted)


async def test_voice_and_chat_are_one_person_with_one_memory(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    persons: dict[str, str],
    satellite: dr.DeviceEntry,
) -> None:
    async def instance(**asking: Any) -> llm.APIInstance:
        return await llm.async_get_api(hass, "ai_memory", context(**asking))

    heard = await instance(device_id=satellite.id)
    await call(heard, "add_memory", content="Said before", scope="private")
    _assign(hass, loaded, person="person.anna", areas=[satellite.area_id])
    await call(heard, "add_memory", content="Anna's", scope="private")
    # What a known person says at somebody else's satellite is that person's.
    by_ben = await instance(device_id=satellite.id, user=persons["Ben"])
    await call(by_ben, "add_memory", content="Ben's", scope="private")
    assert await contents(heard) == {"Said before", "Anna's"}
    assert await contents(await instance(user=persons["Anna"])) == {"Said before", "Anna's"}
    assert await contents(by_ben) == {"Said before", "Ben's"}
    assert await contents(await instance()) == {"Said before"}
    assert await contents(await instance(device_id="gone")) == {"Said before"}
    # The satellite itself goes before its area.
    _assign(hass, loaded, person="person.ben", satellites=[satellite.id])
    assert await contents(heard) == {"Said before", "Ben's"}


async def test_a_person_without_a_user_is_nobody(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    persons: dict[str, str],
    satellite: dr.DeviceEntry,
) -> None:
    _assign(hass, loaded, person="person.cleo", satellites=[satellite.id])
    _assign(hass, loaded, person="person.gone", areas=[satellite.area_id])
    instance = await llm.async_get_api(hass, "ai_memory", context(device_id=satellite.id))
    await call(instance, "add_memory", content="The agent's", scope="private")
    unknown = await llm.async_get_api(hass, "ai_memory", context())
    assert await contents(unknown) == {"The agent's"}


async def test_the_flow_assigns_and_a_renamed_person_keeps_the_satellite(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    persons: dict[str, str],
    satellite: dr.DeviceEntry,
    entity_registry: er.EntityRegistry,
) -> None:
    created = await _submit(hass, loaded, person="person.anna", satellites=[satellite.id], areas=[])
    assert (created["type"], created["title"]) == (FlowResultType.CREATE_ENTRY, "Anna")
    (subentry,) = loaded.subentries.values()
    entity_registry.async_update_entity("person.anna", new_entity_id="person.anna_b")
    await hass.async_block_till_done()
    instance = await llm.async_get_api(hass, "ai_memory", context(device_id=satellite.id))
    await call(instance, "add_memory", content="Anna's", scope="private")
    chat = await llm.async_get_api(hass, "ai_memory", context(user=persons["Anna"]))
    assert await contents(chat) == {"Anna's"}

    form: Any = await hass.config_entries.subentries.async_init(
        (loaded.entry_id, SUBENTRY_VOICE),
        context={"source": SOURCE_RECONFIGURE, "subentry_id": subentry.subentry_id},
    )
    suggested = {
        str(marker): (marker.description or {}).get("suggested_value")
        for marker in form["data_schema"].schema
    }
    assert suggested == {"person": "person.anna_b", "satellites": [satellite.id], "areas": []}
    changed = await hass.config_entries.subentries.async_configure(
        form["flow_id"], {"person": "person.ben", "satellites": [satellite.id], "areas": []}
    )
    assert (changed["type"], changed["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert subentry.title == "Ben"
    chat = await llm.async_get_api(hass, "ai_memory", context(user=persons["Ben"]))
    await call(chat, "add_memory", content="Ben's", scope="private")
    assert await contents(instance) == {"Ben's"}


async def test_what_cannot_be_assigned_is_explained(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    persons: dict[str, str],
    satellite: dr.DeviceEntry,
) -> None:
    area = satellite.area_id
    taken = {"person": "person.anna", "satellites": [satellite.id], "areas": [area]}
    assert (await _submit(hass, loaded, **taken))["type"] is FlowResultType.CREATE_ENTRY
    for wanted, errors in (
        (
            {"person": "person.ben", "satellites": [satellite.id], "areas": [area]},
            {"satellites": "satellite_taken", "areas": "area_taken"},
        ),
        ({"person": "person.anna", "areas": ["attic"]}, {"person": "person_taken"}),
        ({"person": "person.cleo", "areas": ["attic"]}, {"person": "person_without_user"}),
        ({"person": "person.gone", "areas": ["attic"]}, {"person": "person_without_user"}),
        ({"person": "person.ben"}, {"base": "nothing_assigned"}),
    ):
        refused = await _submit(hass, loaded, **wanted)
        assert (refused["type"], refused["errors"]) == (FlowResultType.FORM, errors)
