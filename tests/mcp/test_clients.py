"""Clients that a person added: let in by their token or address, within their access and reach."""

from http import HTTPStatus
from ipaddress import ip_network
from typing import Any, Final

from aiohttp.test_utils import TestClient, make_mocked_request
from hass_nabucasa import remote
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Caller, NewMemory, NotFoundError, Reach, Scope
from custom_components.ai_memory.mcp.client_tokens import new_token, token_digest
from custom_components.ai_memory.mcp.clients import Client, Refusal

from .conftest import WORKSHOP_READING, Agent, Json, add_client, request_body

ANYWHERE: Final = Caller(source="test", reach=Reach(workshop=True))


async def _store(client: Agent, text: str) -> Json:
    stored = await client.tool(
        "memory_store", namespace="github/ann/tool", type="fact", title=text, content=text
    )
    record: Json = stored["record"]
    return record


async def test_a_token_opens_until_it_is_revoked(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    token = new_token()
    laptop = Agent(http, token)
    assert (await laptop.send(request_body("ping"))).status == HTTPStatus.UNAUTHORIZED
    subentry = await add_client(hass, loaded, "laptop", token_sha256=token_digest(token))
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
    await add_client(hass, loaded, "laptop", token_sha256=token_digest(token))
    home = NewMemory(content="The key is under the pot.", wing="household", scope=Scope.COMMON)
    stored = await loaded.runtime_data.manager.add(Caller(source="service"), home)
    laptop = Agent(http, token)
    assert (await laptop.tool("memory_timeline"))["records"] == []
    assert (await laptop.tool("memory_search", query="key under the pot"))["records"] == []
    read = await laptop.ask("resources/read", {"uri": f"memory://memory/{stored.memory.id}"})
    assert read["error"]["code"] == -32002
    added = await _store(laptop, "Tests run in CI.")
    assert (added["namespace"], added["agent"]) == ("github/ann/tool", "laptop")
    kept = await loaded.runtime_data.manager.get(ANYWHERE, added["id"])
    assert kept.source == "mcp:laptop"
    assert len((await laptop.tool("memory_timeline"))["records"]) == 1


async def test_what_a_client_keeps_private_is_its_own_by_identity(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    token = new_token()
    # The name of a conversation agent opens nothing of that agent's.
    subentry = await add_client(
        hass, loaded, "conversation.home", token_sha256=token_digest(token), home=True
    )
    manager = loaded.runtime_data.manager
    voice = Caller(source="assist", agent="conversation.home")
    secret = NewMemory(content="The gift is in the attic.", scope=Scope.PRIVATE)
    of_the_voice = (await manager.add(voice, secret)).memory
    agent = Agent(http, token)
    assert (await agent.tool("list_memories"))["total"] == 0
    added = await agent.tool("add_memory", content="Mind the step.", scope="private")
    own = Caller(source="test", agent=f"client:{subentry.subentry_id}")
    assert (await manager.get(own, added["memory"]["id"])).owner_agent == own.agent
    assert (await manager.get(voice, of_the_voice.id)).content == "The gift is in the attic."
    with pytest.raises(NotFoundError):
        await manager.get(voice, added["memory"]["id"])


async def test_an_address_reads_and_does_nothing_else(
    hass: HomeAssistant, loaded: MockConfigEntry, stranger: Agent
) -> None:
    await add_client(hass, loaded, "shelf", ip="127.0.0.0/8", access=["read", "write"])
    assert await stranger.result("ping") == {}
    names = [tool["name"] for tool in (await stranger.result("tools/list"))["tools"]]
    assert names == WORKSHOP_READING
    call = request_body("tools/call", {"name": "memory_forget", "arguments": {"id": "01ARZ3ND"}})
    assert (await stranger.send(call)).status == HTTPStatus.FORBIDDEN
    # A wrong token is wrong wherever it comes from.
    wrong = {"Authorization": "Bearer aim_wrong"}
    response = await stranger.send(request_body("ping"), headers=wrong)
    assert response.status == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address", "expected"),
    [
        ([], None, "127.0.0.1", Client),
        (["10.0.0.0/8"], None, "127.0.0.1", Client),
        (["127.0.0.1"], None, "127.0.0.1", Refusal),
        (["127.0.0.0/8", "::1"], None, "::ffff:127.0.0.1", Refusal),
        (["192.168.1.0/24"], None, "192.168.1.2", Refusal),
        (["127.0.0.1"], "192.168.1.7", "192.168.1.7", Client),
        (["192.168.1.0/24"], "192.168.1.7", "192.168.1.7", Client),
        (["127.0.0.1"], "192.168.1.7, 8.8.8.8", "8.8.8.8", Refusal),
    ],
)
async def test_the_address_of_a_proxy_opens_nothing(
    hass: HomeAssistant,
    loaded: MockConfigEntry,
    http: TestClient[Any, Any],
    proxies: list[str],
    forwarded: str | None,
    address: str,
    expected: type[object],
) -> None:
    hass.http.trusted_proxies = [ip_network(one) for one in proxies]
    await add_client(hass, loaded, "house", ip="127.0.0.0/8", access=["read"])
    await add_client(hass, loaded, "shelf", ip="192.168.1.0/24", access=["read"])
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    request = make_mocked_request("POST", "/api/ai_memory/mcp", headers, app=hass.http.app)
    # As Home Assistant hands the request on: with the address that the proxy tells.
    outcome = await loaded.runtime_data.door.authenticate(request.clone(remote=address))
    assert isinstance(outcome, expected)


async def test_what_comes_through_the_cloud_has_no_address(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    await add_client(hass, loaded, "house", ip="127.0.0.1", access=["read"])
    door = loaded.runtime_data.door
    request = make_mocked_request("POST", "/api/ai_memory/mcp", app=hass.http.app)
    request = request.clone(remote="127.0.0.1")
    assert isinstance(await door.authenticate(request), Client)
    # So does everything that Home Assistant Cloud forwards, from anywhere in the world.
    hass.config.components.add("cloud")
    came_by_cloud = remote.is_cloud_request.set(True)
    try:
        refused = await door.authenticate(request)
        assert isinstance(refused, Refusal)
        assert refused.status == HTTPStatus.UNAUTHORIZED
    finally:
        remote.is_cloud_request.reset(came_by_cloud)


async def test_a_client_that_listens_hears_nothing_of_the_home(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    token = new_token()
    await add_client(hass, loaded, "laptop", token_sha256=token_digest(token))
    door = loaded.runtime_data.door
    heard: list[object] = []
    manager = loaded.runtime_data.manager
    found = await door.authenticate(_Request(token))
    end = door.offer.subscribe(found, heard.append)
    await manager.add(Caller(source="service"), NewMemory(content="Milk is out.", wing="household"))
    assert heard == []
    laptop = Agent(http, token)
    await _store(laptop, "Lint first.")
    assert heard
    end()


class _Request(dict[str, object]):
    """As much of a request as letting in looks at."""

    remote = "10.0.0.9"

    def __init__(self, token: str) -> None:
        super().__init__()
        self.headers = {"Authorization": f"Bearer {token}"}
