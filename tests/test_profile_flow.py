"""The flow of a subentry *agent profile*."""

from typing import Any

from homeassistant.config_entries import SOURCE_RECONFIGURE, SOURCE_USER
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import llm
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import SUBENTRY_PROFILE
from custom_components.ai_memory.core import Caller, NewMemory

TAKEN_AS_GIVEN = {"tools": "full", "standing_tokens": 400, "recall": False}


async def _submit(hass: HomeAssistant, entry: MockConfigEntry, **wanted: Any) -> Any:
    """Answer the form of a new profile."""
    form: Any = await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_PROFILE), context={"source": SOURCE_USER}
    )
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "user")
    result = await hass.config_entries.subentries.async_configure(
        form["flow_id"], TAKEN_AS_GIVEN | wanted
    )
    await hass.async_block_till_done()
    return result


def _apis(hass: HomeAssistant) -> dict[str, str]:
    return {api.id: api.name for api in llm.async_get_apis(hass) if api.id.startswith("ai_memory")}


async def test_a_new_profile_has_an_api_at_once_and_keeps_its_id(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    manager = loaded.runtime_data.manager
    created = await _submit(hass, loaded, name="  Kids\n ", identity=" You are Bo. ")
    assert created["type"] is FlowResultType.CREATE_ENTRY
    (subentry,) = loaded.subentries.values()
    assert subentry.title == "Kids"
    assert subentry.data == TAKEN_AS_GIVEN | {"identity": "You are Bo.", "wings": []}
    api_id = f"ai_memory_{subentry.subentry_id.lower()}"
    assert _apis(hass) == {"ai_memory": "AI Memory", api_id: "AI Memory: Kids"}

    form: Any = await hass.config_entries.subentries.async_init(
        (loaded.entry_id, SUBENTRY_PROFILE),
        context={"source": SOURCE_RECONFIGURE, "subentry_id": subentry.subentry_id},
    )
    assert form["description_placeholders"]["agent_id"] == api_id
    changed = await hass.config_entries.subentries.async_configure(
        form["flow_id"], TAKEN_AS_GIVEN | {"name": "Children", "tools": "read_only"}
    )
    await hass.async_block_till_done()
    assert (changed["type"], changed["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert _apis(hass) == {"ai_memory": "AI Memory", api_id: "AI Memory: Children"}
    # Nothing was closed for it.
    assert loaded.runtime_data.manager is manager


@pytest.mark.parametrize(
    ("wanted", "field", "error"),
    [
        ({"name": " "}, "name", "name_unusable"),
        ({"name": "🍕"}, "name", "name_unusable"),
        ({"name": "a\x00b"}, "name", "name_unusable"),
        ({"name": "a\u202eb"}, "name", "name_unusable"),
        ({"name": "\ud800"}, "name", "name_unusable"),
        ({"name": "x" * 33}, "name", "name_too_long"),
        ({"name": "牛" * 20}, "name", "name_too_long"),
        ({"name": "küche"}, "name", "name_taken"),
        ({"name": "Kuche!"}, "name", "name_taken"),
        ({"name": "x", "identity": "y" * 100_000}, "identity", "identity_too_long"),
        ({"name": "x", "identity": "y\x00z"}, "identity", "identity_unusable"),
        ({"name": "x", "standing_tokens": 4001}, "standing_tokens", "standing_tokens_out_of_range"),
        ({"name": "x", "wings": ["🍕"]}, "wings", "wing_invalid"),
        ({"name": "x", "wings": ["household", "Global"]}, "wings", "wing_invalid"),
        ({"name": "x", "default_wing": "global"}, "default_wing", "wing_invalid"),
        ({"name": "x", "wings": [str(one) for one in range(51)]}, "wings", "too_many_wings"),
        ({"name": "x", "default_wing": "w" * 65}, "default_wing", "wing_invalid"),
        (
            {"name": "x", "default_wing": "kids", "wings": ["household"]},
            "default_wing",
            "default_wing_not_allowed",
        ),
    ],
)
async def test_what_cannot_be_is_explained_by_its_field(
    hass: HomeAssistant, loaded: MockConfigEntry, wanted: dict[str, Any], field: str, error: str
) -> None:
    assert (await _submit(hass, loaded, name="Küche"))["type"] is FlowResultType.CREATE_ENTRY
    refused = await _submit(hass, loaded, **wanted)
    assert (refused["type"], refused["errors"]) == (FlowResultType.FORM, {field: error})
    corrected = await hass.config_entries.subentries.async_configure(
        refused["flow_id"], TAKEN_AS_GIVEN | {"name": "Großmutter’s 1. Agent"}
    )
    assert corrected["type"] is FlowResultType.CREATE_ENTRY


async def test_wings_are_named_as_in_the_palace(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    wings = ["Haushalt", "Küche oben", "kuche_oben"]
    await _submit(hass, loaded, name="x", wings=wings, default_wing="KÜCHE OBEN")
    (subentry,) = loaded.subentries.values()
    assert subentry.data["wings"] == ["household", "kuche_oben"]
    assert subentry.data["default_wing"] == "kuche_oben"


async def test_a_profile_keeps_its_own_name(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    await _submit(hass, loaded, name="Kids")
    (subentry,) = loaded.subentries.values()
    form: Any = await hass.config_entries.subentries.async_init(
        (loaded.entry_id, SUBENTRY_PROFILE),
        context={"source": SOURCE_RECONFIGURE, "subentry_id": subentry.subentry_id},
    )
    changed = await hass.config_entries.subentries.async_configure(
        form["flow_id"], TAKEN_AS_GIVEN | {"name": "kids"}
    )
    assert (changed["type"], subentry.title) == (FlowResultType.ABORT, "kids")


async def test_the_form_offers_the_wings_there_are(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    await loaded.runtime_data.manager.add(
        Caller(source="service"), NewMemory(content="The hens like corn", wing="garden")
    )
    form: Any = await hass.config_entries.subentries.async_init(
        (loaded.entry_id, SUBENTRY_PROFILE), context={"source": SOURCE_USER}
    )
    options = {
        str(marker): selector.config["options"]
        for marker, selector in form["data_schema"].schema.items()
        if str(marker) in {"wings", "default_wing"}
    }
    expected = ["household", "personal", "automation", "general", "garden"]
    assert options == {"wings": expected, "default_wing": expected}
