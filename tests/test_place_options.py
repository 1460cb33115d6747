"""Links, hubs and owner renames in the options: what the form takes and what the palace becomes."""

import asyncio
from dataclasses import replace
import logging
import sqlite3
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
)

from custom_components.ai_memory.core import Access, Caller, MemoryManager, NewMemory, Reach
from custom_components.ai_memory.core.models import HOME_ACCESS, WORKSHOP_REACH
from custom_components.ai_memory.core.workshop_places import (
    OwnerRename,
    ProjectLink,
    WorkshopPlaces,
)
from custom_components.ai_memory.workshop_options import workshop_places

CODER: Final = Caller(
    source="mcp:a", agent="client:a", reach=WORKSHOP_REACH, access=HOME_ACCESS | {Access.ADMIN}
)
LINK: Final = {"repository": "github/acme/tool", "project": "projects/suite"}
RENAME: Final = {"from": "github/old/", "to": "github/new/"}


async def _settled() -> None:
    """Wait until set-up has done as the options say."""
    for task in asyncio.all_tasks():
        if task.get_name() == "ai_memory places":
            await task


async def _sent(hass: HomeAssistant, entry: MockConfigEntry, **workshop: Any) -> dict[str, Any]:
    form = await hass.config_entries.options.async_init(entry.entry_id)
    result = await hass.config_entries.options.async_configure(
        form["flow_id"], {"workshop": workshop}
    )
    await hass.async_block_till_done()
    await _settled()
    return dict(result)


async def _restart(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    await _settled()


def _manager(entry: MockConfigEntry) -> MemoryManager:
    manager: MemoryManager = entry.runtime_data.manager
    return manager


async def _joined(entry: MockConfigEntry) -> dict[tuple[str, str | None], tuple[str, str]]:
    """Return what is joined: the id and the source by both ends."""
    return {
        (one.start.wing, one.end.wing if one.end else None): (one.id, one.source)
        for one in await _manager(entry).places.tunnels(CODER, None, None, None)
    }


async def _reach(entry: MockConfigEntry, wing: str) -> list[str]:
    return await _manager(entry).places.reachable(CODER, wing)


def _audited(hass: HomeAssistant) -> list[tuple[str, str, str]]:
    connection = sqlite3.connect(hass.config.path("ai_memory.db"))
    rows = connection.execute(
        "SELECT action, source, subject FROM audit WHERE subject IS NOT NULL ORDER BY id"
    ).fetchall()
    connection.close()
    return rows


async def _add(entry: MockConfigEntry, content: str, wing: str) -> None:
    await _manager(entry).add(CODER, NewMemory(content=content, wing=wing, room="decisions"))


async def test_links_and_hubs_of_the_options_are_opened_and_closed_with_them(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    saved = await _sent(
        hass,
        loaded,
        project_links=[
            {"repository": " GitHub/Acme/Tool ", "project": "projects/Suite"},
            LINK,
            {"repository": "gitea/acme/site", "project": "projects/suite"},
        ],
        hubs=["github/Acme/notes", " ", "github/acme/notes"],
    )
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    section = loaded.options["workshop"]
    assert section["project_links"] == [
        LINK,
        {"repository": "gitea/acme/site", "project": "projects/suite"},
    ]
    assert section["hubs"] == ["github/acme/notes"]
    assert "namespace_renames" not in section
    first = await _joined(loaded)
    assert {ends: source for ends, (_, source) in first.items()} == {
        ("github/acme/tool", "projects/suite"): "options",
        ("gitea/acme/site", "projects/suite"): "options",
        ("github/acme/notes", None): "options",
    }
    assert await _reach(loaded, "github/acme/tool") == [
        "github/acme/tool",
        "projects/suite",
        "global",
    ]
    audited = _audited(hass)
    assert sorted(audited) == sorted(
        ("tunnel_opened", "options", f"tunnel:{id_}") for id_, _ in first.values()
    )

    # A restart changes nothing and writes nothing.
    await _restart(hass, loaded)
    assert await _joined(loaded) == first
    assert _audited(hass) == audited

    # What the options no longer name is closed, the rest stays what it is.
    await _sent(hass, loaded, project_links=[LINK])
    kept = ("github/acme/tool", "projects/suite")
    assert await _joined(loaded) == {kept: first[kept]}
    gone = [id_ for ends, (id_, _) in first.items() if ends != kept]
    assert sorted(_audited(hass)[len(audited) :]) == sorted(
        ("tunnel_closed", "options", f"tunnel:{id_}") for id_ in gone
    )
    await _sent(hass, loaded)
    assert await _joined(loaded) == {}
    assert "project_links" not in loaded.options["workshop"]


async def test_a_link_that_a_person_made_outlives_the_options(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    by_hand = await _manager(loaded).places.link(CODER, "github/acme/tool", "projects/suite")
    hub = await _manager(loaded).places.link(CODER, "github/acme/notes", None)
    made = {
        ("github/acme/tool", "projects/suite"): (by_hand.id, "mcp:a"),
        ("github/acme/notes", None): (hub.id, "mcp:a"),
    }
    await _sent(hass, loaded, project_links=[LINK], hubs=["github/acme/notes"])
    assert await _joined(loaded) == made
    await _sent(hass, loaded)
    assert await _joined(loaded) == made
    # One that a person closed opens again while the options name it.
    await _manager(loaded).places.disconnect(CODER, hub.id)
    await _sent(hass, loaded, hubs=["github/acme/notes"])
    assert (await _joined(loaded))["github/acme/notes", None][1] == "options"


async def test_an_owner_is_renamed_at_each_start_and_links_follow(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    old_link = {"repository": "github/old/tool", "project": "projects/suite"}
    await _sent(hass, loaded, project_links=[old_link], hubs=["github/old/notes"])
    before = await _joined(loaded)
    await _add(loaded, "The parser is generated.", "github/old/tool")
    # The same link under the new name was made by a person, and stays that person's.
    await _manager(loaded).places.link(CODER, "github/new/notes", None)
    await _sent(
        hass,
        loaded,
        project_links=[old_link],
        hubs=["github/old/notes"],
        # Written in the wrong order and without slash.
        namespace_renames=[
            {"from": "github/new", "to": "gitea/Newest"},
            {"from": "github/OLD", "to": "github/new"},
        ],
    )
    assert loaded.options["workshop"]["namespace_renames"] == [
        {"from": "github/new/", "to": "gitea/newest/"},
        {"from": "github/old/", "to": "github/new/"},
    ]
    after = await _joined(loaded)
    link = ("gitea/newest/tool", "projects/suite")
    assert after[link] == before["github/old/tool", "projects/suite"]
    assert after["gitea/newest/notes", None][1] == "mcp:a"
    assert len(after) == 2
    wings = await _manager(loaded).places.wings(CODER, None)
    assert [wing.name for wing in wings if wing.count] == ["gitea/newest/tool"]
    audited = _audited(hass)
    assert ("place_renamed", "options", "wing:github/old/tool") in audited

    await _restart(hass, loaded)
    assert await _joined(loaded) == after
    assert _audited(hass) == audited

    # Somebody whose remote is the old one still stores something: it follows at the next start.
    await _add(loaded, "The lexer is written by hand.", "github/old/tool")
    await _restart(hass, loaded)
    wings = await _manager(loaded).places.wings(CODER, None)
    assert {wing.name: wing.count for wing in wings if wing.count} == {"gitea/newest/tool": 2}
    assert await _joined(loaded) == after


@pytest.mark.parametrize(
    ("wrong", "error", "named"),
    [
        (
            {"project_links": [LINK, {"repository": "github/acme/x", "project": "topics/sql"}]},
            "project_links_invalid",
            "github/acme/x → topics/sql",
        ),
        (
            {"project_links": [{"repository": "kitchen", "project": "projects/suite"}]},
            "project_links_invalid",
            "kitchen → projects/suite",
        ),
        ({"hubs": ["github/acme/notes", "projects/suite"]}, "hubs_invalid", "projects/suite"),
        ({"hubs": ["github/größe/notes"]}, "hubs_invalid", "github/größe/notes"),
        ({"hubs": ["x" * 200]}, "hubs_invalid", "x" * 120),
        (
            {"namespace_renames": [RENAME, {"from": "household", "to": "github/new"}]},
            "namespace_renames_invalid",
            "household → github/new",
        ),
        (
            {"namespace_renames": [{"from": "github/old/tool", "to": "github/new/tool"}]},
            "namespace_renames_invalid",
            "github/old/tool → github/new/tool",
        ),
        (
            {"namespace_renames": [{"from": "github/old", "to": "github/Old/"}]},
            "namespace_renames_invalid",
            "github/old → github/Old/",
        ),
        (
            {"namespace_renames": [RENAME, {"from": "github/new", "to": "github/old"}]},
            "namespace_renames_invalid",
            "github/new → github/old",
        ),
        (
            {"namespace_renames": [RENAME, {"from": "github/old", "to": "github/other"}]},
            "namespace_renames_invalid",
            "github/old → github/other",
        ),
        ({"hubs": [f"github/acme/n{number}" for number in range(201)]}, "places_too_many", ""),
    ],
)
async def test_a_wrong_entry_is_named_and_nothing_changes(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    wrong: dict[str, Any],
    error: str,
    named: str,
) -> None:
    await _sent(hass, loaded, hubs=["github/old/notes"])
    before, options = await _joined(loaded), dict(loaded.options)
    audited = _audited(hass)
    refused = await _sent(hass, loaded, **wrong)
    assert refused["errors"] == {"base": error}
    assert refused["description_placeholders"]["entry"] == named
    assert refused["description_placeholders"]["most_places"] == "200"
    assert dict(loaded.options) == options
    assert await _joined(loaded) == before
    assert _audited(hass) == audited


async def test_as_many_as_allowed_are_taken(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    hubs = [f"github/acme/n{number}" for number in range(200)]
    saved = await _sent(hass, loaded, hubs=hubs)
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    assert set(await _joined(loaded)) == {(hub, None) for hub in hubs}


async def test_damaged_entries_are_passed_over_and_told_without_their_names(
    hass: HomeAssistant, entry: MockConfigEntry, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="custom_components.ai_memory")
    damaged = {
        "project_links": [LINK, {"repository": "hidden"}, 5, {"repository": 1, "project": 2}],
        "hubs": ["household-secret", "github/acme/notes"],
        "namespace_renames": "github/hidden",
        "context_budget_tokens": 600,
    }
    entry.add_to_hass(hass)
    hass.config_entries.async_update_entry(entry, options={"workshop": damaged})
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    await _settled()
    assert set(await _joined(entry)) == {
        ("github/acme/tool", "projects/suite"),
        ("github/acme/notes", None),
    }
    # The rules beside them hold nevertheless.
    assert _manager(entry).workshop.context_budget_tokens == 600
    assert "5 entries of the options are damaged" in caplog.text
    assert "hidden" not in caplog.text
    assert "secret" not in caplog.text


async def test_a_section_that_nobody_can_read_closes_nothing(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    await _sent(hass, loaded, hubs=["github/acme/notes"])
    before = await _joined(loaded)
    hass.config_entries.async_update_entry(loaded, options={"workshop": "lost"})
    await hass.async_block_till_done()
    await _settled()
    assert _manager(loaded).workshop.context_budget_tokens == 4000
    assert await _joined(loaded) == before
    assert workshop_places({"workshop": None}) is None
    assert workshop_places({}) == WorkshopPlaces()
    assert workshop_places(
        {"workshop": {"project_links": LINK, "namespace_renames": [RENAME]}}
    ) == WorkshopPlaces(
        links=(ProjectLink("github/acme/tool", "projects/suite"),),
        renames=(OwnerRename("github/old/", "github/new/"),),
    )


async def test_the_form_shows_them_again_and_a_download_does_not(
    hass: HomeAssistant, loaded: MockConfigEntry, hass_client: Any
) -> None:
    await _sent(
        hass,
        loaded,
        project_links=[LINK],
        hubs=["github/acme/notes"],
        namespace_renames=[RENAME],
    )
    form = await hass.config_entries.options.async_init(loaded.entry_id)
    sections = {str(key): value for key, value in form["data_schema"].schema.items()}  # type: ignore[union-attr]
    inner = {str(key): key.description for key in sections["workshop"].schema.schema}
    assert inner["project_links"] == {"suggested_value": [LINK]}
    assert inner["hubs"] == {"suggested_value": ["github/acme/notes"]}
    assert inner["namespace_renames"] == {"suggested_value": [RENAME]}
    assert await async_setup_component(hass, "diagnostics", {})
    told = await get_diagnostics_for_config_entry(hass, hass_client, loaded)
    assert "acme" not in str(told)
    assert "github/old" not in str(told)


async def test_who_sees_one_half_learns_nothing_of_the_other(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    await _sent(hass, loaded, project_links=[LINK])
    narrow = replace(CODER, reach=Reach(home=False, workshop=True, wings=("github/other/*",)))
    assert await _manager(loaded).places.tunnels(narrow, None, None, None) == []


async def test_a_browser_gets_fields_that_it_can_show(
    hass: HomeAssistant, loaded: MockConfigEntry, hass_client: Any
) -> None:
    assert await async_setup_component(hass, "config", {})
    browser = await hass_client()
    reply = await browser.post(
        "/api/config/config_entries/options/flow", json={"handler": loaded.entry_id}
    )
    form = await reply.json()
    (section,) = (field for field in form["data_schema"] if field["name"] == "workshop")
    fields = {field["name"]: field for field in section["schema"]}
    shown = fields["namespace_renames"]["selector"]["object"]
    asked = shown.pop("fields")
    assert {name: list(field["selector"]) for name, field in asked.items()} == {
        "from": ["text"],
        "to": ["text"],
    }
    assert all(field["required"] for field in asked.values())
    assert shown == {
        "multiple": True,
        "label_field": "from",
        "description_field": "to",
        "translation_key": "namespace_renames",
    }
    assert list(fields["project_links"]["selector"]["object"]["fields"]) == [
        "repository",
        "project",
    ]
    assert fields["hubs"]["selector"]["select"]["custom_value"] is True
    sent = {"workshop": {"project_links": [LINK], "namespace_renames": [RENAME]}}
    await browser.post(f"/api/config/config_entries/options/flow/{form['flow_id']}", json=sent)
    await hass.async_block_till_done()
    await _settled()
    assert set(await _joined(loaded)) == {("github/acme/tool", "projects/suite")}
