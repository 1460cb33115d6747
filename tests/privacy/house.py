"""A Home Assistant with all doors of the memory, which can be filled with a world again and again.

Two profiles and one of two wings, a satellite that is assigned to Anna, three coding clients and
three users. ``door_of`` says how each caller of ``visitors`` asks.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from homeassistant.config_entries import ConfigSubentryDataWithId
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, llm
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import DATABASE_FILE_NAME, DOMAIN
from custom_components.ai_memory.core import MemoryManager
from custom_components.ai_memory.mcp.client_tokens import token_digest
from custom_components.ai_memory.mcp.engine import JsonObject
from custom_components.ai_memory.operations import Publication
from tests.assist.agent import call
from tests.mcp.conftest import Agent, request_body

from .probes import Probe
from .world import ANNA, BEN, Ulids, build

ADMIN: Final = "admin"
ALL_ACCESS: Final = ["read", "write", "delete", "export"]
FORGOTTEN_FILES: Final = ("", "-wal", "-shm")


def entry() -> MockConfigEntry:
    """Return the config entry with everything that a person can add to it."""
    profile = ("agent_profile", "Profile")
    client = {"access": ALL_ACCESS, "wings": [], "home": False}
    return MockConfigEntry(
        domain=DOMAIN,
        title="AI Memory",
        version=4,
        # However busy the machine is: who waits for no meaning gets words alone.
        data={"max_entries": 1000, "embedding_engine": "tfidf", "embed_timeout_s": 30.0},
        subentries_data=[
            _subentry("kitchen", *profile, {}),
            _subentry("study", *profile, {}),
            _subentry("two_wings", *profile, {"wings": ["household", "larder"]}),
            _subentry("voice", "voice_person", "Voice", {"person": "person.anna"}),
            *(
                _subentry(name, "client", name, {**client, **more, "name": name} | _token(name))
                for name, more in (
                    ("laptop", {}),
                    ("tower", {"home": True}),
                    ("narrow", {"wings": ["github/acme/tool"]}),
                )
            ),
        ],
    )


def _subentry(
    subentry_id: str, kind: str, title: str, data: Mapping[str, Any]
) -> ConfigSubentryDataWithId:
    return ConfigSubentryDataWithId(
        data=data, subentry_id=subentry_id, subentry_type=kind, title=title, unique_id=None
    )


def _token(name: str) -> dict[str, str]:
    return {"token_sha256": token_digest(f"aim_{name}")}


@dataclass(slots=True)
class House:
    """The home: its people and the memory in it."""

    hass: HomeAssistant
    entry: MockConfigEntry
    ulids: Ulids
    users: dict[str, str]
    satellite: str

    @property
    def manager(self) -> MemoryManager:
        """The memory that is open now."""
        manager: MemoryManager = self.entry.runtime_data.manager
        return manager

    def called(self, name: str) -> str:
        """Return a person by its user, anything else as it is."""
        return self.users.get(name, name)

    async def fill(self, names: Collection[str]) -> None:
        """Begin anew with this much of the world."""
        config = self.hass.config_entries
        assert await config.async_unload(self.entry.entry_id)
        for ending in FORGOTTEN_FILES:
            Path(self.hass.config.path(f"{DATABASE_FILE_NAME}{ending}")).unlink(missing_ok=True)
        for file in Path(self.hass.config.path(".storage")).glob("ai_memory*"):
            file.unlink()
        assert await config.async_setup(self.entry.entry_id)
        await self.hass.async_block_till_done()
        await build(self.manager, self.ulids, names, self.called)


async def settle_in(hass: HomeAssistant, ulids: Ulids) -> House:
    """Set the home up."""
    users = {}
    # The first user owns the home.
    for name in (ADMIN, ANNA, BEN):
        groups = ["system-admin" if name == ADMIN else "system-users"]
        users[name] = (await hass.auth.async_create_user(name, group_ids=groups)).id
    people = [{"id": name, "name": name.title(), "user_id": users[name]} for name in (ANNA, BEN)]
    for component, config in (
        ("homeassistant", {}),
        ("conversation", {}),
        ("auth", {}),
        ("person", {"person": people}),
    ):
        assert await async_setup_component(hass, component, {component: config} | config)
    speaker = MockConfigEntry(domain="esphome")
    speaker.add_to_hass(hass)
    satellite = dr.async_get(hass).async_get_or_create(
        config_entry_id=speaker.entry_id, identifiers={("esphome", "kitchen")}
    )
    home = entry()
    home.add_to_hass(hass)
    voice = home.subentries["voice"]
    hass.config_entries.async_update_subentry(
        home, voice, data={**voice.data, "satellites": [satellite.id]}
    )
    assert await hass.config_entries.async_setup(home.entry_id)
    await hass.async_block_till_done()
    return House(hass, home, ulids, users, satellite.id)


async def over_llm(
    house: House, api: str, asking: llm.LLMContext, tool: str, arguments: Mapping[str, Any]
) -> object:
    """Call a tool as a conversation agent does."""
    instance = await llm.async_get_api(house.hass, api, asking)
    return (await call(instance, tool, **arguments))[0]


async def over_service(
    house: House, user: str | None, service: str, arguments: Mapping[str, Any]
) -> object:
    """Call an action as somebody."""
    try:
        return await house.hass.services.async_call(
            DOMAIN,
            service,
            dict(arguments),
            blocking=True,
            return_response=True,
            context=Context(user_id=user),
        )
    except HomeAssistantError as err:
        return {"error_key": err.translation_key, "error": str(err)}


async def over_mcp(agent: Agent, tool: str, arguments: Mapping[str, Any]) -> object:
    """Call a tool of the MCP server."""
    return await asked(agent, "tools/call", {"name": tool, "arguments": dict(arguments)})


async def asked(agent: Agent, method: str, params: JsonObject) -> object:
    """Send a request to the MCP server and return what it answers."""
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    response = await agent.send(request_body(method, params), headers=headers)
    return {"status": response.status, **await response.json()}


async def over_rest(agent: Agent, tool: str, arguments: Mapping[str, Any]) -> object:
    """Call a tool over REST."""
    response = await agent.send(dict(arguments), path=f"/api/ai_memory/tools/{tool}")
    return {"status": response.status, **await response.json()}


def published(publication: Publication, probe: Probe) -> dict[str, object] | None:
    """Return the arguments of a probe as a door takes them, None for what it does not offer."""
    if probe.operation != publication.operation_name:
        return None
    fixed = {name for name in probe.arguments if name in publication.fixed}
    if not probe.arguments.keys() - fixed <= {*publication.offered}:
        return None
    return {
        publication.renamed.get(name, name): value
        for name, value in probe.arguments.items()
        if name not in fixed
    }
