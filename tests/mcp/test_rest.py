"""The tools as REST, the document that describes them, and the health of the door."""

from http import HTTPStatus
import json
from typing import Any

from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import CONF_USER_ACCESS
from custom_components.ai_memory.core import (
    AccessDeniedError,
    AiMemoryError,
    Caller,
    ConflictError,
    InvalidInputError,
    NewMemory,
    NotFoundError,
    ReceiptError,
    StorageError,
)
from custom_components.ai_memory.mcp.refusals import refusal_body, refusal_status

from .conftest import Agent

BASE = "/api/ai_memory"


async def _run(agent: Agent, name: str, status: int, arguments: object) -> dict[str, Any]:
    response = await agent.send(arguments, path=f"{BASE}/tools/{name}")
    assert response.status == status, await response.text()
    said: dict[str, Any] = await response.json()
    return said


async def test_the_tools_answer_with_the_bare_reply(agent: Agent) -> None:
    new = {"content": "The server rack is in the cellar.", "scope": "common"}
    added = await _run(agent, "add_memory", HTTPStatus.OK, new)
    assert added["result"] == "added"
    found = await _run(agent, "search_memory", HTTPStatus.OK, {"query": "server rack"})
    assert [hit["id"] for hit in found["results"]] == [added["memory"]["id"]]
    over_mcp = await agent.tool("get_memory", memory_id=added["memory"]["id"])
    one = {"memory_id": added["memory"]["id"]}
    assert (await _run(agent, "get_memory", HTTPStatus.OK, one))["memory"]["content"] == (
        over_mcp["memory"]["content"]
    )


@pytest.mark.parametrize(
    ("name", "arguments", "status", "key"),
    [
        ("search_memory", {}, 400, "missing"),
        ("search_memory", {"query": "x", "limit": 0}, 400, "out_of_range"),
        ("get_memory", {"memory_id": "none"}, 404, "memory_not_found"),
        ("drop_tables", {}, 404, "unknown_tool"),
        ("search_memory", [], 400, "malformed"),
        ("search_memory", b"{", 400, "malformed"),
        ("search_memory", b'{"query":"a","query":"b"}', 400, "malformed"),
        ("search_memory", b'{"query":NaN}', 400, "malformed"),
        ("search_memory", b"\xff", 400, "malformed"),
    ],
)
async def test_a_refusal_has_the_status_that_fits_it(
    agent: Agent, name: str, arguments: object, status: int, key: str
) -> None:
    said = await _run(agent, name, status, arguments)
    assert said["error_key"] == key
    assert len(said["error"].split()) >= 2


async def test_the_rules_of_the_endpoint_hold_here_too(
    hass: HomeAssistant, loaded: MockConfigEntry, agent: Agent, stranger: Agent, member: Agent
) -> None:
    path = f"{BASE}/tools/list_memories"
    long = b" " * (1024 * 1024 + 1)
    assert (await agent.send(long, path=path)).status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert (await stranger.send({}, path=path)).status == HTTPStatus.UNAUTHORIZED
    assert (await member.send({}, path=path)).status == HTTPStatus.FORBIDDEN
    for headers, status in (
        ({"Origin": "http://localhost"}, HTTPStatus.FORBIDDEN),
        ({"Content-Type": "text/plain"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
    ):
        assert (await agent.send({}, path=path, headers=headers)).status == status
    hass.config_entries.async_update_entry(loaded, options={CONF_USER_ACCESS: ["read"]})
    await hass.async_block_till_done()
    assert (await member.send({}, path=path)).status == HTTPStatus.OK
    denied = await _run(member, "delete_memory", HTTPStatus.FORBIDDEN, {"wing": "general"})
    assert denied["error_key"] == "access_denied"
    assert await hass.config_entries.async_unload(loaded.entry_id)
    assert (await agent.send({}, path=path)).status == HTTPStatus.SERVICE_UNAVAILABLE


async def test_every_error_of_the_memory_has_a_status(loaded: MockConfigEntry) -> None:
    added = await loaded.runtime_data.manager.add(
        Caller(source="service"), NewMemory(content="Blinds close at nine.")
    )
    conflict = ConflictError("revision_conflict", added.memory, id=added.memory.id)
    for error, status in (
        (InvalidInputError("missing", field="x"), 400),
        (AccessDeniedError("access_denied", access="write"), 403),
        (NotFoundError("memory_not_found", id="x"), 404),
        (conflict, 409),
        (ReceiptError("receipt_mismatch", id="x"), 409),
        (ReceiptError("receipt_expired", id="x"), 410),
        (StorageError("disk_full"), 503),
        (AiMemoryError("unheard_of"), 500),
    ):
        assert refusal_status(error) == status
    body = refusal_body(conflict)
    assert body["revision"] == added.memory.revision
    assert body["current"]["content"] == "Blinds close at nine."  # type: ignore[call-overload, index]


async def test_of_two_updates_at_one_revision_one_wins(agent: Agent) -> None:
    added = await agent.tool("add_memory", content="Port 80 is open.", scope="common")
    at_first = {"memory_id": added["memory"]["id"], "revision": added["memory"]["revision"]}
    one = {**at_first, "content": "Port 443 is open."}
    two = {**at_first, "content": "Port 8123 is open."}
    won = await _run(agent, "update_memory", HTTPStatus.OK, one)
    lost = await _run(agent, "update_memory", HTTPStatus.CONFLICT, two)
    assert lost["error_key"] == "revision_conflict"
    assert lost["revision"] == won["memory"]["revision"]
    assert lost["current"]["content"] == "Port 443 is open."
    over_mcp = await agent.result("tools/call", {"name": "update_memory", "arguments": two})
    assert over_mcp["isError"]
    assert json.loads(over_mcp["content"][0]["text"]) == lost


async def test_the_document_describes_every_tool(agent: Agent, stranger: Agent) -> None:
    path = f"{BASE}/openapi.json"
    assert (await stranger.send(None, path=path, method="GET")).status == HTTPStatus.UNAUTHORIZED
    document = await (await agent.send(None, path=path, method="GET")).json()
    assert document["openapi"] == "3.1.0"
    tools = {tool["name"]: tool for tool in (await agent.result("tools/list"))["tools"]}
    assert set(document["paths"]) == {f"/tools/{name}" for name in tools}
    for name, tool in tools.items():
        operation = document["paths"][f"/tools/{name}"]["post"]
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        assert body == tool["inputSchema"]
        reply = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert reply == tool.get("outputSchema", {"type": "object"})
        assert {"400", "401", "403", "404", "409", "410", "413", "415", "429"} <= set(
            operation["responses"]
        )


async def test_health_tells_strangers_that_it_is_there_and_no_more(
    hass: HomeAssistant, loaded: MockConfigEntry, agent: Agent, stranger: Agent
) -> None:
    path = f"{BASE}/health"
    await agent.tool("add_memory", content="A secret place.", scope="common")
    assert await (await stranger.send(None, path=path, method="GET")).json() == {"status": "ok"}
    told = await (await agent.send(None, path=path, method="GET")).json()
    assert told["status"] == "ok"
    assert told["version"] == "0.1.0"
    assert told["memories"] == 1
    swept = await agent.tool("memory_anchor_sweep")
    told = await (await agent.send(None, path=path, method="GET")).json()
    assert told["anchor_sweep"] == swept["at"]
    assert "secret" not in str(told)
    wrong = {"Authorization": "Bearer wrong"}
    response = await stranger.send(None, path=path, method="GET", headers=wrong)
    assert response.status == HTTPStatus.UNAUTHORIZED
    origin = await stranger.send(None, path=path, method="GET", headers={"Origin": "null"})
    assert origin.status == HTTPStatus.FORBIDDEN
    assert await hass.config_entries.async_unload(loaded.entry_id)
    gone = await stranger.send(None, path=path, method="GET")
    assert gone.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert await gone.json() == {"status": "unavailable"}
