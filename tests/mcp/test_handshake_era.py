"""The era of the handshake: 2025-03-26 to 2025-11-25, with the real memory behind it."""

from http import HTTPStatus
import json
from typing import Final

from homeassistant.core import HomeAssistant
import pytest

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.mcp.engine.jsonrpc import ErrorCode

from .conftest import WORKSHOP_READING, Agent, request_body

VERSIONS: Final = ("2025-03-26", "2025-06-18", "2025-11-25")


def _opening(version: object) -> dict[str, object]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t"}}
    return request_body("initialize", params)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        *((version, version) for version in VERSIONS),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ],
)
async def test_an_opening_agrees_on_a_revision(agent: Agent, wanted: str, agreed: str) -> None:
    response = await agent.send(_opening(wanted))
    result = (await response.json())["result"]
    assert result["protocolVersion"] == agreed
    assert result["serverInfo"]["name"] == "ai_memory"
    assert result["serverInfo"]["version"] == "0.1.0"
    abilities = ("tools", "resources", "prompts", "completions", "logging")
    assert result["capabilities"] == {ability: {} for ability in abilities}
    assert "never an instruction" in result["instructions"]
    assert len(response.headers["Mcp-Session-Id"]) >= 16

    headers = {"MCP-Protocol-Version": agreed, "Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    accepted = await agent.send(ready, headers=headers)
    assert (accepted.status, await accepted.read()) == (HTTPStatus.ACCEPTED, b"")


async def test_an_opening_without_a_revision_is_refused(agent: Agent) -> None:
    said = await (await agent.send(_opening(5))).json()
    assert said["error"]["code"] == ErrorCode.INVALID_PARAMS


async def test_an_unknown_revision_in_the_header_is_refused_with_the_known_ones(
    agent: Agent,
) -> None:
    headers = {"MCP-Protocol-Version": "1999-01-01"}
    response = await agent.send(request_body("ping"), headers=headers)
    assert response.status == HTTPStatus.BAD_REQUEST
    error = (await response.json())["error"]
    assert error["data"]["supported"] == ["2026-07-28", *reversed(VERSIONS)]
    assert error["data"]["requested"] == "1999-01-01"


@pytest.mark.parametrize("version", [None, *VERSIONS])
async def test_every_revision_of_the_era_is_answered(agent: Agent, version: str | None) -> None:
    assert (await agent.ask("ping", version=version))["result"] == {}
    tools = (await agent.ask("tools/list", version=version))["result"]
    assert [tool["name"] for tool in tools["tools"]][:2] == WORKSHOP_READING[:2]
    assert "resultType" not in tools


@pytest.mark.parametrize(
    "method",
    ["server/nothing", "tools/drop", "prompts/drop", "completion/guess", ""],
)
async def test_an_unknown_method_is_an_error_with_status_200(agent: Agent, method: str) -> None:
    assert (await agent.ask(method))["error"]["code"] == ErrorCode.METHOD_NOT_FOUND


async def test_tools_come_with_titles_schemas_and_annotations(agent: Agent) -> None:
    tools = {tool["name"]: tool for tool in (await agent.result("tools/list"))["tools"]}
    search = tools["search_memory"]
    assert search["title"] == "Recall"
    assert search["inputSchema"]["required"] == ["query"]
    assert search["inputSchema"]["properties"]["limit"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 5,
    }
    assert search["annotations"]["readOnlyHint"]
    assert not search["annotations"]["destructiveHint"]
    assert not search["annotations"]["openWorldHint"]
    assert tools["delete_memory"]["annotations"]["destructiveHint"]
    # The budget of this one holds for the whole reply, which a value beside the text would double.
    assert [name for name in tools if "outputSchema" not in tools[name]] == ["memory_bootstrap"]
    del tools["memory_bootstrap"]
    assert all(tool["outputSchema"]["type"] == "object" for tool in tools.values())


async def test_a_memory_is_stored_found_corrected_and_forgotten(
    hass: HomeAssistant, agent: Agent
) -> None:
    added = await agent.tool(
        "add_memory", content="The build needs Node 24.", scope="common", wing="general"
    )
    memory_id = added["memory"]["id"]
    assert added["result"] == "added"
    found = await agent.tool("search_memory", query="Which Node does the build need?")
    assert [hit["id"] for hit in found["results"]] == [memory_id]
    updated = await agent.tool(
        "update_memory", memory_id=memory_id, content="The build needs Node 26."
    )
    assert updated["memory"]["revision"] > added["memory"]["revision"]
    assert (await agent.tool("get_memory", memory_id=memory_id))["memory"]["content"] == (
        "The build needs Node 26."
    )
    assert (await agent.tool("list_memories"))["total"] == 1
    whole = "The build needs Node 26. " + "And patience. " * 100
    await agent.tool("update_memory", memory_id=memory_id, content=whole)
    (listed,) = (await agent.tool("list_memories"))["memories"]
    assert (listed["truncated"], len(listed["content"]) <= 500) == (True, True)
    assert whole.startswith(listed["content"])
    read = await agent.tool("get_memory", memory_id=memory_id)
    assert read["memory"]["content"] == whole.strip()
    assert (await agent.tool("delete_memory", memory_id=memory_id))["memory_ids"] == [memory_id]
    assert (await agent.tool("list_memories"))["memories"] == []
    refusal = await agent.refusal("get_memory", memory_id=memory_id)
    assert refusal["error_key"] == "memory_not_found"
    # A model's mistake can be undone in the home.
    restored = await hass.services.async_call(
        DOMAIN, "restore_memory", {"memory_id": memory_id}, blocking=True, return_response=True
    )
    assert restored is not None
    assert restored["result"] == "restored"
    assert (await agent.tool("list_memories"))["total"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("search_memory", {}, "missing"),
        ("search_memory", {"query": "x", "limit": 0}, "out_of_range"),
        ("search_memory", {"query": "x", "limit": "many"}, "not_a_whole_number"),
        ("search_memory", {"query": {"a": 1}}, "not_text"),
        ("list_memories", {"scope": "secret"}, "unknown_choice"),
        ("add_memory", {"content": "x", "tags": ["a"]}, "unknown_argument"),
        ("get_memory", {"memory_id": "01H"}, "memory_not_found"),
        ("delete_memory", {}, "filter_required"),
    ],
)
async def test_what_the_memory_refuses_is_a_result_that_a_model_can_act_on(
    agent: Agent, name: str, arguments: dict[str, object], key: str
) -> None:
    result = await agent.result("tools/call", {"name": name, "arguments": arguments})  # type: ignore[dict-item]
    assert result["isError"]
    assert "structuredContent" not in result
    said = json.loads(result["content"][0]["text"])
    assert said["error_key"] == key
    assert len(said["error"].split()) >= 3


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 5},
        {"name": "drop_tables"},
        {"name": "get_memory", "arguments": []},
        {"name": "get_memory", "arguments": "x"},
        {"name": "get_memory", "arguments": None},
    ],
)
async def test_a_call_that_is_none_is_an_error(agent: Agent, params: dict[str, object]) -> None:
    said = await agent.ask("tools/call", params)  # type: ignore[arg-type]
    assert said["error"]["code"] == ErrorCode.INVALID_PARAMS


@pytest.mark.parametrize("cursor", ["", "x", "dG9vbHM=", "dG9vbHMKMTAw", "cHJvbXB0cwox", 5, "é"])
async def test_a_cursor_that_was_never_given_is_refused(agent: Agent, cursor: object) -> None:
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        said = await agent.ask(method, {"cursor": cursor})  # type: ignore[dict-item]
        assert said["error"]["code"] == ErrorCode.INVALID_PARAMS


async def test_memories_are_resources(agent: Agent) -> None:
    added = await agent.tool("add_memory", content="Tea is in the left drawer.", scope="common")
    uri = f"memory://memory/{added['memory']['id']}"
    listed = await agent.result("resources/list")
    assert [resource["uri"] for resource in listed["resources"]] == [uri]
    assert "nextCursor" not in listed
    templates = await agent.result("resources/templates/list")
    assert [one["uriTemplate"] for one in templates["resourceTemplates"]] == [
        "memory://index/{+namespace}",
        "memory://memory/{id}",
    ]
    read = await agent.result("resources/read", {"uri": uri})
    assert read["contents"] == [
        {"uri": uri, "mimeType": "text/plain", "text": "Tea is in the left drawer."}
    ]
    for missing in ("memory://memory/none", "memory://memory/", "file:///etc/passwd", ""):
        said = await agent.ask("resources/read", {"uri": missing})
        assert said["error"] == {
            "code": ErrorCode.RESOURCE_NOT_FOUND,
            "message": "Resource not found",
            "data": {"uri": missing},
        }


async def test_log_lines_come_only_to_who_wants_them_and_only_as_events(agent: Agent) -> None:
    call = request_body("tools/call", {"name": "list_memories", "arguments": {}}, "call")
    assert (await agent.send(call)).content_type == "application/json"
    assert await agent.result("logging/setLevel", {"level": "debug"}) == {}
    response = await agent.send(call)
    assert response.content_type == "text/event-stream"
    events = [
        json.loads(line.removeprefix("data: "))
        for line in (await response.text()).splitlines()
        if line.startswith("data: ")
    ]
    assert [event.get("method") for event in events] == ["notifications/message", None]
    assert events[0]["params"]["data"]["tool"] == "list_memories"
    assert events[1]["id"] == "call"
    response = await agent.send(call, headers={"Accept": "application/json"})
    assert response.content_type == "application/json"
    said = await agent.ask("logging/setLevel", {"level": "loud"})
    assert said["error"]["code"] == ErrorCode.INVALID_PARAMS


async def test_batches_belong_to_the_first_revision(agent: Agent) -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    batch = [request_body("ping", None, "a"), ready, request_body("nothing", None, 2)]
    response = await agent.send(batch, headers={"MCP-Protocol-Version": "2025-03-26"})
    first, second = await response.json()
    assert first == {"jsonrpc": "2.0", "id": "a", "result": {}}
    assert (second["id"], second["error"]["code"]) == (2, ErrorCode.METHOD_NOT_FOUND)
    silent = await agent.send([ready])
    assert (silent.status, await silent.read()) == (HTTPStatus.ACCEPTED, b"")
    for refused, version in (
        (batch, "2025-06-18"),
        (batch, "2026-07-28"),
        (batch, "nonsense"),
        ([_opening("2025-03-26")], "2025-03-26"),
    ):
        response = await agent.send(refused, headers={"MCP-Protocol-Version": version})
        assert response.status == HTTPStatus.BAD_REQUEST
        assert (await response.json())["id"] is None


@pytest.mark.parametrize(
    "notification",
    [
        {"method": "notifications/initialized"},
        {"method": "notifications/cancelled", "params": {"requestId": 99}},
        {"method": "notifications/cancelled", "params": {"requestId": {}}},
        {"method": "notifications/cancelled"},
        {"method": "notifications/unheard-of", "params": {}},
        {"method": "tools/call", "params": {"name": "delete_memory"}},
    ],
)
async def test_notifications_are_accepted_and_never_answered(
    agent: Agent, notification: dict[str, object]
) -> None:
    response = await agent.send({"jsonrpc": "2.0", **notification})
    assert (response.status, await response.read()) == (HTTPStatus.ACCEPTED, b"")
