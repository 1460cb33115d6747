"""The era without a handshake, 2026-07-28, with the real memory behind it."""

import asyncio
from base64 import b64encode
from http import HTTPStatus
import json
from typing import Any, Final

import pytest

from custom_components.ai_memory.mcp.engine import JsonValue
from custom_components.ai_memory.mcp.engine.jsonrpc import ErrorCode

from .conftest import STATELESS, Agent, LetIn, envelope, request_body

SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"


async def test_discovering_tells_versions_and_capabilities(agent: Agent) -> None:
    status, said = await agent.ask_stateless("server/discover")
    result = said["result"]
    assert status == HTTPStatus.OK
    assert result["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]
    assert result["capabilities"] == {
        "tools": {},
        "resources": {"listChanged": True, "subscribe": True},
        "prompts": {},
        "completions": {},
        "logging": {},
    }
    assert result["resultType"] == "complete"
    assert result["ttlMs"] > 0
    assert result["cacheScope"] == "private"
    assert result["_meta"][SERVER_INFO]["name"] == "ai_memory"
    assert result["instructions"]


async def test_what_can_be_kept_says_for_how_long(agent: Agent) -> None:
    for method, least in (
        ("tools/list", 1),
        ("resources/templates/list", 1),
        ("resources/list", 0),
    ):
        _, said = await agent.ask_stateless(method)
        assert said["result"]["ttlMs"] >= least
        assert said["result"]["cacheScope"] == "private"
    _, called = await agent.ask_stateless("tools/call", {"name": "list_memories", "arguments": {}})
    assert "ttlMs" not in called["result"]
    assert called["result"]["resultType"] == "complete"
    assert called["result"]["structuredContent"]["total"] == 0


@pytest.mark.parametrize(
    "method",
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "prompts/drop", "no/such"],
)
async def test_a_method_that_the_era_lacks_is_404(agent: Agent, method: str) -> None:
    status, said = await agent.ask_stateless(method)
    assert status == HTTPStatus.NOT_FOUND
    assert (said["id"], said["error"]["code"]) == (1, ErrorCode.METHOD_NOT_FOUND)


async def _send(
    agent: Agent, meta: object, headers: dict[str, str], method: str = "server/discover"
) -> tuple[int, dict[str, Any]]:
    params = {} if meta is None else {"_meta": meta}
    response = await agent.send(request_body(method, params), headers=headers)  # type: ignore[arg-type]
    return response.status, await response.json()


@pytest.mark.parametrize(
    "meta",
    [
        None,
        [],
        {},
        {**envelope(), "io.modelcontextprotocol/protocolVersion": 5},
        {**envelope(), "io.modelcontextprotocol/clientCapabilities": None},
        {"io.modelcontextprotocol/protocolVersion": STATELESS},
        {"io.modelcontextprotocol/clientCapabilities": {}},
    ],
)
async def test_a_request_without_its_envelope_is_refused(agent: Agent, meta: object) -> None:
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "server/discover"}
    status, said = await _send(agent, meta, headers)
    assert (status, said["error"]["code"]) == (HTTPStatus.BAD_REQUEST, ErrorCode.INVALID_PARAMS)
    assert said["id"] == 1


async def test_a_revision_that_nobody_speaks_is_refused_with_the_known_ones(agent: Agent) -> None:
    headers = {"MCP-Protocol-Version": "2027-01-01", "Mcp-Method": "server/discover"}
    status, said = await _send(agent, envelope("2027-01-01"), headers)
    assert status == HTTPStatus.BAD_REQUEST
    assert said["error"]["code"] == ErrorCode.UNSUPPORTED_VERSION
    assert said["error"]["data"]["requested"] == "2027-01-01"
    assert STATELESS in said["error"]["data"]["supported"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Mcp-Method": "tools/list"},
        {"MCP-Protocol-Version": STATELESS},
        {"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/list"},
        {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call"},
        {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "TOOLS/LIST"},
    ],
)
async def test_headers_that_differ_from_the_body_are_refused(
    agent: Agent, headers: dict[str, str]
) -> None:
    status, said = await _send(agent, envelope(), headers, "tools/list")
    assert (status, said["error"]["code"]) == (HTTPStatus.BAD_REQUEST, ErrorCode.HEADER_MISMATCH)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ("list_memories", True),
        (f"=?base64?{b64encode(b'list_memories').decode()}?=", True),
        ("get_memory", False),
        ("LIST_MEMORIES", False),
        ("", False),
        ("=?base64?bGlzdF9tZW1vcmllcw?=", False),
        ("=?base64?!!!?=", False),
        ("=?base64?/w==?=", False),
    ],
)
async def test_the_name_in_the_header_must_be_that_of_the_body(
    agent: Agent, sent: str, *, taken: bool
) -> None:
    params = {"name": "list_memories", "arguments": {}}
    status, said = await agent.ask_stateless("tools/call", params, Mcp_Name=sent)  # type: ignore[arg-type]
    assert status == (HTTPStatus.OK if taken else HTTPStatus.BAD_REQUEST)
    assert taken or said["error"]["code"] == ErrorCode.HEADER_MISMATCH


async def test_a_missing_resource_is_an_invalid_parameter(agent: Agent) -> None:
    status, said = await agent.ask_stateless("resources/read", {"uri": "memory://memory/none"})
    assert status == HTTPStatus.BAD_REQUEST
    assert said["error"]["code"] == ErrorCode.INVALID_PARAMS
    assert said["error"]["data"] == {"uri": "memory://memory/none"}


async def test_a_notification_is_accepted(agent: Agent) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    response = await agent.send(body, headers={"MCP-Protocol-Version": STATELESS})
    assert (response.status, await response.read()) == (HTTPStatus.ACCEPTED, b"")
    response = await agent.send(body, headers={"MCP-Protocol-Version": "2027-01-01"})
    assert response.status == HTTPStatus.BAD_REQUEST


async def _event(response: Any) -> dict[str, Any]:
    async with asyncio.timeout(5):
        while True:
            line = (await response.content.readline()).decode()
            assert line, "the stream ended"
            if line.startswith("data: "):
                said: dict[str, Any] = json.loads(line.removeprefix("data: "))
                return said


async def test_who_listens_hears_of_changes_to_what_it_watches(agent: Agent) -> None:
    added = await agent.tool("add_memory", content="The tap drips.", scope="common")
    uri = f"memory://memory/{added['memory']['id']}"
    params = {
        "_meta": envelope(),
        "notifications": {
            "toolsListChanged": True,
            "resourcesListChanged": True,
            "resourceSubscriptions": [uri],
        },
    }
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "subscriptions/listen"}
    body = request_body("subscriptions/listen", params, "sub")  # type: ignore[arg-type]
    response = await agent.send(body, headers=headers)
    assert response.content_type == "text/event-stream"
    first = await _event(response)
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == {
        "resourcesListChanged": True,
        "resourceSubscriptions": [uri],
    }
    await agent.tool("update_memory", memory_id=added["memory"]["id"], content="The tap is mended.")
    changed = await _event(response)
    assert changed["method"] == "notifications/resources/updated"
    assert changed["params"] == {"uri": uri, "_meta": {SUBSCRIPTION: "sub"}}
    await agent.tool("add_memory", content="The lamp is new.", scope="common")
    listed = await _event(response)
    assert listed["method"] == "notifications/resources/list_changed"
    assert listed["params"]["_meta"] == {SUBSCRIPTION: "sub"}
    response.close()


async def test_who_watches_an_index_hears_of_what_changes_in_it(let_in: LetIn) -> None:
    agent = await let_in("narrow", wings=["github/acme/*"])
    other = await let_in("other")
    index, stored = "memory://index/github/acme/tool", {"type": "decision", "title": "Tabs"}
    never = [
        "memory://index/",
        "memory://index/GitHub/acme/tool",
        "memory://index/github/acme",
        "memory://index/github/other/tool",
        "memory://index/household",
        "memory://memory/no/id",
        "file:///etc/passwd",
    ]
    params = {"_meta": envelope(), "notifications": {"resourceSubscriptions": [index, *never]}}
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "subscriptions/listen"}
    body = request_body("subscriptions/listen", params, "sub")  # type: ignore[arg-type]
    response = await agent.send(body, headers=headers)
    acknowledged = await _event(response)
    assert acknowledged["params"]["notifications"] == {"resourceSubscriptions": [index]}
    for place in ("github/acme/other", "github/acme/tool"):
        await other.tool("memory_store", namespace=place, content="Tabs it is.", **stored)
    changed = await _event(response)
    assert changed["method"] == "notifications/resources/updated"
    assert changed["params"] == {"uri": index, "_meta": {SUBSCRIPTION: "sub"}}
    response.close()


async def test_listening_needs_a_stream_and_a_filter(agent: Agent) -> None:
    status, said = await agent.ask_stateless(
        "subscriptions/listen", {"notifications": {}}, Accept="application/json"
    )
    assert status == HTTPStatus.NOT_ACCEPTABLE
    wrong: tuple[JsonValue, ...] = (None, [], {"resourceSubscriptions": "all"})
    for wanted in wrong:
        status, said = await agent.ask_stateless(
            "subscriptions/listen",
            {"notifications": wanted},
        )
        assert status == HTTPStatus.BAD_REQUEST
        assert said["error"]["code"] == ErrorCode.INVALID_PARAMS


async def test_log_lines_come_to_the_request_that_names_a_level(agent: Agent) -> None:
    params = {"name": "list_memories", "arguments": {}, "_meta": envelope()}
    headers = {
        "MCP-Protocol-Version": STATELESS,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "list_memories",
    }
    quiet = await agent.send(request_body("tools/call", params), headers=headers)  # type: ignore[arg-type]
    assert quiet.content_type == "application/json"
    params["_meta"] = {**envelope(), "io.modelcontextprotocol/logLevel": "debug"}
    told = await agent.send(request_body("tools/call", params), headers=headers)  # type: ignore[arg-type]
    assert told.content_type == "text/event-stream"
    assert (await _event(told))["method"] == "notifications/message"
    assert (await _event(told))["result"]["resultType"] == "complete"
