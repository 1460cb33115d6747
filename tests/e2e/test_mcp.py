"""Every tool through core's MCP server, as a coding agent or a desktop client reaches it."""

from collections.abc import Iterator
import json
from typing import Any, Final

import pytest

from custom_components.ai_memory.assist.prompt import PROMPT
from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM

from .home import TOOLS, Home

pytestmark = pytest.mark.e2e

BIN_DAY: Final = "Paper is collected every second Tuesday."
UNKNOWN_ID: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

# Parameters of each tool with their JSON types; those that a model must give come first.
PARAMETERS: Final[dict[str, tuple[int, dict[str, str]]]] = {
    "add_memory": (
        2,
        {
            "content": "string",
            "scope": "string",
            "summary": "string",
            "wing": "string",
            "room": "string",
            "expires": "string",
            "supersedes": "string",
        },
    ),
    "search_memory": (
        1,
        {"query": "string", "wing": "string", "room": "string", "limit": "integer"},
    ),
    "list_memories": (
        0,
        {"wing": "string", "room": "string", "scope": "string", "limit": "integer"},
    ),
    "update_memory": (
        1,
        {
            "memory_id": "string",
            "content": "string",
            "summary": "string",
            "wing": "string",
            "room": "string",
            "scope": "string",
        },
    ),
    "delete_memory": (
        0,
        {"memory_id": "string", "room": "string", "wing": "string", "scope": "string"},
    ),
    "forget_me": (0, {"confirm": "string"}),
}
READ_ONLY: Final = {"search_memory", "list_memories"}


@pytest.fixture(autouse=True)
def _empty(home: Home) -> Iterator[None]:
    """Leave nothing in the memory for the next test."""
    yield
    home.tool("delete_memory", scope="common")
    home.tool("delete_memory", scope="private")


def add(home: Home, content: str, **more: str) -> dict[str, Any]:
    """Store a common memory and return it."""
    memory: dict[str, Any] = home.tool("add_memory", content=content, scope="common", **more)[
        "memory"
    ]
    return memory


def test_the_api_has_an_address_of_its_own_where_core_gives_one(home: Home) -> None:
    home.mcp("ping")

    assert home.mcp_path == ("/api/mcp/ai_memory" if HAS_LLM_PLATFORM else "/api/mcp")


def test_all_tools_are_listed_with_descriptions_and_schemas(home: Home) -> None:
    tools = {tool["name"]: tool for tool in home.mcp("tools/list")["result"]["tools"]}

    assert tuple(tools) == tuple(PARAMETERS) == TOOLS
    for name, (required_count, types) in PARAMETERS.items():
        schema = tools[name]["inputSchema"]
        assert tools[name]["description"].endswith(".")
        assert schema["type"] == "object"
        assert {key: field["type"] for key, field in schema["properties"].items()} == types
        # Older versions leave out what is required, whoever the tool is from.
        if HAS_LLM_PLATFORM:
            assert schema.get("required", []) == list(types)[:required_count]
    properties = tools["list_memories"]["inputSchema"]["properties"]
    assert properties["scope"]["enum"] == ["private", "common"]
    assert properties["limit"]["minimum"] == 1
    assert properties["limit"]["maximum"] == 50


@pytest.mark.skipif(not HAS_LLM_PLATFORM, reason="older versions tell no annotations")
def test_tools_tell_what_they_may_do(home: Home) -> None:
    tools = {
        tool["name"]: tool["annotations"] for tool in home.mcp("tools/list")["result"]["tools"]
    }

    assert {name for name, told in tools.items() if told["readOnlyHint"]} == READ_ONLY
    assert {name for name, told in tools.items() if told["destructiveHint"]} == {
        "update_memory",
        "delete_memory",
        "forget_me",
    }
    assert not any(told["openWorldHint"] for told in tools.values())


def test_the_prompt_is_served(home: Home) -> None:
    reply = home.mcp("prompts/get", name="AI Memory")

    assert PROMPT in reply["result"]["messages"][0]["content"]["text"]


def test_add_tells_what_was_stored(home: Home) -> None:
    added = home.tool(
        "add_memory", content=BIN_DAY, scope="common", wing="automation", room="schedules"
    )

    assert (added["result"], added["evicted"], added["evicted_count"]) == ("added", [], 0)
    read = home.call("get_memory", memory_id=added["memory"]["id"])["memory"]
    assert added["memory"].items() <= read.items()
    assert read["content"] == BIN_DAY
    assert (read["wing"], read["room"], read["scope"]) == ("automation", "schedules", "common")
    assert read["source"] == "assist"


def test_search_finds_what_a_service_stored(home: Home) -> None:
    stored = home.call("add_memory", text=BIN_DAY)["memory"]

    found = home.tool("search_memory", query="When is paper collected?", limit=3)

    assert [hit["id"] for hit in found["results"]] == [stored["id"]]
    assert found["results"][0]["content"] == BIN_DAY
    assert found["count"] == 1
    assert {"score", "match_type"} <= set(found["results"][0])


def test_list_and_update(home: Home) -> None:
    first = add(home, BIN_DAY, wing="automation", room="schedules")
    second = add(home, "The chimney sweep rings twice.", wing="household", room="events")

    listed = home.tool("list_memories")
    filtered = home.tool("list_memories", wing="household", limit=1)
    updated = home.tool("update_memory", memory_id=first["id"], content="Paper goes out on Friday.")

    assert [memory["id"] for memory in listed["memories"]] == [second["id"], first["id"]]
    assert (filtered["count"], filtered["total"]) == (1, 1)
    assert updated["result"] == "updated"
    assert updated["memory"]["content"] == "Paper goes out on Friday."
    assert updated["memory"]["room"] == "schedules"
    read = home.call("get_memory", memory_id=first["id"])["memory"]
    assert (read["content"], read["revision"]) == ("Paper goes out on Friday.", 2)


def test_delete_by_id_and_by_filter(home: Home) -> None:
    first = add(home, BIN_DAY, wing="automation", room="schedules")
    second = add(home, "The chimney sweep rings twice.", wing="household", room="events")

    by_id = home.tool("delete_memory", memory_id=first["id"])
    by_filter = home.tool("delete_memory", room="events")

    assert by_id["memory_ids"] == [first["id"]]
    assert by_filter["memory_ids"] == [second["id"]]
    assert home.tool("list_memories")["total"] == 0


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("delete_memory", {"memory_id": UNKNOWN_ID}, "memory_not_found"),
        ("delete_memory", {}, "filter_required"),
        ("add_memory", {"content": " ", "scope": "common"}, "missing"),
        ("update_memory", {"memory_id": UNKNOWN_ID, "content": "x" * 10_001}, "too_long"),
    ],
)
def test_a_failing_call_is_a_result_to_act_on(
    home: Home, name: str, arguments: dict[str, Any], key: str
) -> None:
    result = home.call_tool(name, **arguments)

    said = json.loads(result["content"][0]["text"])
    assert said["error_key"] == key
    assert len(said["error"].split()) >= 3
    # Older versions know no failed results, only their content.
    assert result.get("isError", False) is HAS_LLM_PLATFORM


def test_arguments_out_of_bounds_never_break_the_protocol(home: Home) -> None:
    # Core or the memory refuses these, depending on the version: a result with a text either way.
    for name, arguments in (
        ("search_memory", {"query": "paper", "limit": 0}),
        ("list_memories", {"scope": "secret"}),
        ("add_memory", {"scope": "common"}),
        ("search_memory", {}),
    ):
        result = home.call_tool(name, **arguments)
        text = result["content"][0]["text"]
        assert result.get("isError") or "error" in json.loads(text)
        assert text


def test_what_an_mcp_client_keeps_private_is_its_own(home: Home) -> None:
    home.tool("add_memory", content="The diary is under the mattress.", scope="private")

    assert home.tool("search_memory", query="diary")["count"] == 1
    assert home.call("search_memory", query="diary")["count"] == 0
    assert home.call("list_memories")["total"] == 0
    assert home.call("list_memories", agent_id="mcp_server")["total"] == 1
    assert home.call("list_memories", agent_id="conversation.other")["total"] == 0
