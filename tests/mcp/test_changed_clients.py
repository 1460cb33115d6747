"""Clients that a person adds, changes and removes: at once, and nobody else notices."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
import json
import sqlite3
from types import MappingProxyType
from typing import Any, Final

from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Access, Caller, NewMemory, Reach
from custom_components.ai_memory.mcp.client_tokens import new_token, token_digest
from custom_components.ai_memory.mcp.engine.jsonrpc import ErrorCode

from .conftest import (
    STATELESS,
    WORKSHOP_READING,
    Agent,
    Json,
    add_client,
    envelope,
    request_body,
)

PLACE: Final = "github/ann/tool"
STORE_PATH: Final = "/api/ai_memory/tools/memory_store"
ANYWHERE: Final = Caller(source="test", access=frozenset(Access), reach=Reach(workshop=True))


@dataclass(frozen=True, slots=True)
class House:
    """The memory with two clients in it, of which one gets changed."""

    hass: HomeAssistant
    entry: MockConfigEntry
    changed: Agent
    subentry: ConfigSubentry
    other: Agent

    def update(self, **settings: object) -> None:
        """Change the one client, as its flow does."""
        self.hass.config_entries.async_update_subentry(
            self.entry, self.subentry, data={**self.subentry.data, **settings}
        )

    def remove(self) -> None:
        """Remove the one client."""
        self.hass.config_entries.async_remove_subentry(self.entry, self.subentry.subentry_id)

    def change(self, how: Mapping[str, object] | None) -> None:
        """Change it, or remove it where no change is given."""
        if how is None:
            self.remove()
        else:
            self.update(**how)

    async def present(self, count: int) -> None:
        """Return when so many requests are under way."""
        shares = self.entry.runtime_data.door.limits._shares
        async with asyncio.timeout(5):
            while sum(share.present for share in shares.values()) != count:
                await asyncio.sleep(0.005)

    @contextmanager
    def busy(self) -> Generator[None]:
        """Keep the database from being written, so that storing takes as long as this lasts."""
        path = self.hass.config.path("ai_memory.db")
        other = sqlite3.connect(path, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            yield
        finally:
            other.close()


@pytest.fixture
async def house(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> AsyncGenerator[House]:
    """Return the house; whatever happens in it, its memory stays open."""
    opened = loaded.runtime_data.manager
    tokens = new_token(), new_token()
    subentry = await add_client(hass, loaded, "laptop", token_sha256=token_digest(tokens[0]))
    await add_client(hass, loaded, "desktop", token_sha256=token_digest(tokens[1]))
    yield House(hass, loaded, Agent(http, tokens[0]), subentry, Agent(http, tokens[1]))
    await hass.async_block_till_done()
    assert loaded.state is ConfigEntryState.LOADED
    assert loaded.runtime_data.manager is opened


def _fact(text: str) -> Json:
    return {"namespace": PLACE, "type": "fact", "title": text, "content": text}


async def _listen(agent: Agent) -> ClientResponse:
    """Listen for changes and return the stream, acknowledged."""
    params = {"_meta": envelope(), "notifications": {"resourcesListChanged": True}}
    response = await agent.send(
        request_body("subscriptions/listen", params, "sub"),  # type: ignore[arg-type]
        headers={"MCP-Protocol-Version": STATELESS, "Mcp-Method": "subscriptions/listen"},
    )
    acknowledged = await _event(response)
    assert acknowledged is not None
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    return response


async def _event(response: ClientResponse) -> Json | None:
    """Return the next event of a stream, or None where it has ended."""
    async with asyncio.timeout(5):
        while line := (await response.content.readline()).decode():
            if line.startswith("data: "):
                said: Json = json.loads(line.removeprefix("data: "))
                return said
    return None


CHANGES: Final = pytest.mark.parametrize(
    "how",
    [
        None,
        {"token_sha256": token_digest("aim_another")},
        {"access": ["read"]},
        {"wings": ["github/acme/*"]},
        {"home": True},
    ],
    ids=["removed", "rotated", "access", "wings", "home"],
)


@CHANGES
async def test_what_a_client_has_running_ends_with_it_and_what_others_have_goes_on(
    house: House, how: Mapping[str, object] | None
) -> None:
    with house.busy():
        call: Json = {"name": "memory_store", "arguments": _fact("Lint first.")}
        mine = [
            asyncio.ensure_future(house.changed.send(request_body("tools/call", call))),
            asyncio.ensure_future(house.changed.send(_fact("Test first."), path=STORE_PATH)),
        ]
        tool = asyncio.ensure_future(house.other.tool("memory_store", **_fact("Tests run in CI.")))
        rest = asyncio.ensure_future(house.other.send(_fact("Ship on Friday."), path=STORE_PATH))
        await house.present(4)
        house.change(how)
        async with asyncio.timeout(2):
            called, refused = [await one for one in mine]
        assert called.status == HTTPStatus.OK
        said = await called.json()
        assert (said["id"], said["error"]["code"]) == (1, ErrorCode.CANCELLED)
        assert refused.status == HTTPStatus.SERVICE_UNAVAILABLE
        assert refused.headers["Retry-After"] == "1"
        assert (await refused.json())["error_key"] == "service_unavailable"
        await house.present(2)
        assert not tool.done()
        assert not rest.done()
    assert (await tool)["record"]["content"] == "Tests run in CI."
    assert (await rest).status == HTTPStatus.OK


@CHANGES
async def test_a_client_that_is_changed_stops_listening_at_once_and_others_do_not(
    house: House, how: Mapping[str, object] | None
) -> None:
    mine, others = await _listen(house.changed), await _listen(house.other)
    house.change(how)
    last = await _event(mine)
    assert last is not None
    assert (last["id"], last["error"]["code"]) == ("sub", ErrorCode.CANCELLED)
    assert await _event(mine) is None
    await house.other.tool("memory_store", **_fact("Lint first."))
    heard = await _event(others)
    assert heard is not None
    assert heard["method"] == "notifications/resources/list_changed"
    others.close()


async def test_a_client_that_was_removed_hears_of_nothing_more(house: House) -> None:
    mine = await _listen(house.changed)
    house.remove()
    new = NewMemory(content="Lint first.", wing=PLACE)
    await house.entry.runtime_data.manager.add(ANYWHERE, new)
    last = await _event(mine)
    assert last is not None
    assert "error" in last
    assert await _event(mine) is None


async def test_a_request_that_was_let_in_before_is_not_read_on_after(house: House) -> None:
    body = json.dumps(request_body("tools/list")).encode()
    sent = asyncio.Event()

    async def slowly() -> AsyncGenerator[bytes]:
        yield body[:10]
        await sent.wait()
        yield body[10:]

    headers = {
        "Authorization": f"Bearer {house.changed.token}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    coming = asyncio.ensure_future(
        house.changed.http.post("/api/ai_memory/mcp", data=slowly(), headers=headers)
    )
    await house.present(1)
    house.update(access=["read"])
    response = await coming
    sent.set()
    assert response.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert response.headers["Retry-After"] == "1"
    assert (await response.json())["error"]["code"] == ErrorCode.REFUSED


async def test_a_new_token_is_the_only_one_at_once(house: House) -> None:
    token = new_token()
    assert await house.changed.result("ping") == {}
    house.update(token_sha256=token_digest(token))
    refused = await house.changed.send(request_body("ping"))
    assert refused.status == HTTPStatus.UNAUTHORIZED
    assert await Agent(house.changed.http, token).result("ping") == {}
    house.remove()
    refused = await Agent(house.changed.http, token).send(request_body("ping"))
    assert refused.status == HTTPStatus.UNAUTHORIZED
    assert await house.other.result("ping") == {}


async def test_an_address_that_moves_takes_its_listener_along(house: House) -> None:
    shelf = await add_client(house.hass, house.entry, "shelf", ip="127.0.0.0/8", access=["read"])
    stranger = Agent(house.changed.http, None)
    mine, others = await _listen(stranger), await _listen(house.other)
    data = {**shelf.data, "ip": "192.0.2.1"}
    house.hass.config_entries.async_update_subentry(house.entry, shelf, data=data)
    last = await _event(mine)
    assert last is not None
    assert last["error"]["code"] == ErrorCode.CANCELLED
    assert (await stranger.send(request_body("ping"))).status == HTTPStatus.UNAUTHORIZED
    await house.other.tool("memory_store", **_fact("Lint first."))
    assert await _event(others) is not None
    others.close()


async def test_tools_and_memories_follow_access_and_reach_at_once(house: House) -> None:
    assert "memory_store" in await house.changed.tools()
    await house.changed.tool("memory_store", **_fact("Lint first."))
    assert len((await house.changed.tool("memory_search", query="lint"))["records"]) == 1
    house.update(access=["read"])
    assert await house.changed.tools() == set(WORKSHOP_READING)
    assert len((await house.changed.tool("memory_search", query="lint"))["records"]) == 1
    house.update(wings=["github/acme/*"])
    assert (await house.changed.tool("memory_search", query="lint"))["records"] == []
    assert (await house.changed.tool("memory_timeline"))["records"] == []
    house.update(wings=[], home=True, access=["read", "write"])
    assert {"memory_store", "add_memory"} <= await house.changed.tools()
    assert len((await house.changed.tool("memory_search", query="lint"))["records"]) == 1


async def test_what_its_sessions_wanted_is_forgotten(house: House) -> None:
    level = request_body("logging/setLevel", {"level": "debug"})
    call = request_body("tools/call", {"name": "memory_timeline", "arguments": {}})
    session = {"Mcp-Session-Id": "one", "MCP-Protocol-Version": "2025-11-25"}

    async def streams(agent: Agent) -> bool:
        response = await agent.send(call, headers=session)
        await response.read()
        return response.content_type == "text/event-stream"

    for agent in (house.changed, house.other):
        assert (await agent.send(level, headers=session)).status == HTTPStatus.OK
        assert await streams(agent)
    house.update(name="tablet")
    assert not await streams(house.changed)
    assert await streams(house.other)


async def test_a_title_or_no_change_at_all_ends_nothing(house: House) -> None:
    listening = await _listen(house.changed)
    entries = house.hass.config_entries
    entries.async_update_entry(house.entry, title="The memory")
    entries.async_update_entry(
        house.entry, data={**house.entry.data}, options={**house.entry.options}
    )
    entries.async_update_subentry(house.entry, house.subentry, title="Ann's laptop")
    house.update(**house.subentry.data)
    await house.hass.async_block_till_done()
    await house.other.tool("memory_store", **_fact("Lint first."))
    heard = await _event(listening)
    assert heard is not None
    assert heard["method"] == "notifications/resources/list_changed"
    listening.close()


async def test_a_client_that_is_added_while_the_memory_opens_is_let_in(
    hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]
) -> None:
    assert await hass.config_entries.async_unload(loaded.entry_id)
    opening = asyncio.ensure_future(hass.config_entries.async_setup(loaded.entry_id))
    while not loaded.update_listeners:
        await asyncio.sleep(0)
    assert loaded.state is ConfigEntryState.SETUP_IN_PROGRESS
    token = new_token()
    data = {"name": "laptop", "access": ["read"], "token_sha256": token_digest(token)}
    laptop = ConfigSubentry(
        data=MappingProxyType(data), subentry_type="client", title="laptop", unique_id=None
    )
    hass.config_entries.async_add_subentry(loaded, laptop)
    assert await opening
    opened = loaded.runtime_data.manager
    await hass.async_block_till_done()
    assert loaded.runtime_data.manager is opened
    assert await Agent(http, token).result("ping") == {}


async def test_a_setting_that_changes_while_the_memory_opens_is_not_missed(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    assert await hass.config_entries.async_unload(loaded.entry_id)
    opening = asyncio.ensure_future(hass.config_entries.async_setup(loaded.entry_id))
    while not loaded.update_listeners:
        await asyncio.sleep(0)
    hass.config_entries.async_update_entry(loaded, options={"max_entries": 7})
    assert await opening
    await hass.async_block_till_done()
    assert loaded.runtime_data.manager.max_entries == 7
