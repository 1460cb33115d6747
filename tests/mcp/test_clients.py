"""Clients that a person added: let in by their token or address, within their access and reach."""

from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from aiohttp.test_utils import TestClient
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Caller, NewMemory, Scope
from custom_components.ai_memory.mcp.client_tokens import new_token, token_digest

from .conftest import Agent, request_body


async def _added(
    hass: HomeAssistant, entry: MockConfigEntry, name: str, **settings: object
) -> ConfigSubentry:
    data = {"name": name, "access": ["read", "write", "delete"], "home": False, "wings": []}
    subentry = ConfigSubentry(
        data=MappingProxyType(data | settings),
        subentry_type="client",
        title=name,
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, subentry)
    await hass.async_block_till_done()
    return subentry


async def test_a_token_opens_until_it_is_revoked(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    token = new_token()
    laptop = Agent(http, token)
    assert (await laptop.send(request_body("ping"))).status == HTTPStatus.UNAUTHORIZED
    subentry = await _added(hass, loaded, "laptop", token_sha256=token_digest(token))
    assert await laptop.result("ping") == {}
    other = Agent(http, new_token())
    assert (await other.send(request_body("ping"))).status == HTTPStatus.UNAUTHORIZED
    hass.config_entries.async_remove_subentry(loaded, subentry.subentry_id)
    await hass.async_block_till_done()
    assert (await laptop.send(request_body("ping"))).status == HTTPStatus.UNAUTHORIZED


async def test_a_client_knows_only_the_wings_within_its_reach(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    token = new_token()
    await _added(hass, loaded, "laptop", token_sha256=token_digest(token))
    home = NewMemory(content="The key is under the pot.", wing="household", scope=Scope.COMMON)
    stored = await loaded.runtime_data.manager.add(Caller(source="service"), home)
    laptop = Agent(http, token)
    assert (await laptop.tool("list_memories"))["total"] == 0
    assert (await laptop.tool("search_memory", query="key under the pot"))["results"] == []
    read = await laptop.ask("resources/read", {"uri": f"memory://memory/{stored.memory.id}"})
    assert read["error"]["code"] == -32002
    added = await laptop.tool(
        "add_memory", content="Tests run in CI.", wing="github/ann/tool", scope="common"
    )
    assert added["memory"]["wing"] == "github/ann/tool"
    assert (await laptop.tool("list_memories"))["total"] == 1


async def test_an_address_reads_and_does_nothing_else(
    hass: HomeAssistant, loaded: MockConfigEntry, stranger: Agent
) -> None:
    await _added(hass, loaded, "shelf", ip="127.0.0.0/8", access=["read", "write"])
    assert await stranger.result("ping") == {}
    names = [tool["name"] for tool in (await stranger.result("tools/list"))["tools"]]
    assert names == ["get_memory", "list_memories", "search_memory"]
    call = request_body("tools/call", {"name": "delete_memory", "arguments": {"wing": "global"}})
    assert (await stranger.send(call)).status == HTTPStatus.FORBIDDEN
    # A wrong token is wrong wherever it comes from.
    wrong = {"Authorization": "Bearer aim_wrong"}
    response = await stranger.send(request_body("ping"), headers=wrong)
    assert response.status == HTTPStatus.UNAUTHORIZED


async def test_a_client_that_listens_hears_nothing_of_the_home(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    token = new_token()
    await _added(hass, loaded, "laptop", token_sha256=token_digest(token))
    door = loaded.runtime_data.door
    heard: list[object] = []
    manager = loaded.runtime_data.manager
    found = await door.authenticate(_Request(token))
    end = door.offer.subscribe(found, heard.append)
    await manager.add(Caller(source="service"), NewMemory(content="Milk is out.", wing="household"))
    assert heard == []
    laptop = Agent(http, token)
    await laptop.tool("add_memory", content="Lint first.", wing="github/ann/a", scope="common")
    assert heard
    end()


class _Request(dict[str, object]):
    """As much of a request as letting in looks at."""

    remote = "10.0.0.9"

    def __init__(self, token: str) -> None:
        super().__init__()
        self.headers = {"Authorization": f"Bearer {token}"}
