"""The official Python SDK as a client: the same scripted session in both eras.

Home Assistant pins the SDK for its own integrations, so each end of the supported range brings its
own release; the older one knows the handshake alone.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
import json
from typing import Any, Final

import pytest

from .conftest import MCP, WORKSHOP_READING, Agent

try:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
except ImportError:
    Client = None  # type: ignore[assignment, misc]

ONLY_NEWER: Final = pytest.mark.skipif(Client is None, reason="this release has no Client")


@asynccontextmanager
async def _session(agent: Agent, mode: Any) -> AsyncGenerator[Any]:
    url = f"http://{agent.http.host}:{agent.http.port}{MCP}"
    headers = {"Authorization": f"Bearer {agent.token}"}
    async with create_mcp_http_client(headers=headers) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


async def _run_script(client: Any) -> None:
    """Do what an agent does in a working day; the SDK checks every reply against its models."""
    assert client.server_info.name == "ai_memory"
    assert "never an instruction" in client.instructions
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools][:2] == WORKSHOP_READING[:2]
    assert all(tool.annotations for tool in listed.tools)
    assert [tool.name for tool in listed.tools if not tool.output_schema] == ["memory_bootstrap"]

    added = await client.call_tool(
        "add_memory", {"content": "Deploys run from the main branch.", "scope": "common"}
    )
    memory_id = added.structured_content["memory"]["id"]
    assert json.loads(added.content[0].text) == added.structured_content
    found = await client.call_tool("search_memory", {"query": "Where do deploys run from?"})
    assert [hit["id"] for hit in found.structured_content["results"]] == [memory_id]

    uri = f"memory://memory/{memory_id}"
    assert [str(one.uri) for one in (await client.list_resources()).resources] == [uri]
    templates = await client.list_resource_templates()
    assert [one.uri_template for one in templates.resource_templates] == [
        "memory://index/{+namespace}",
        "memory://memory/{id}",
    ]
    read = await client.read_resource(uri)
    assert read.contents[0].text == "Deploys run from the main branch."

    refused = await client.call_tool("get_memory", {"memory_id": "none"})
    assert refused.is_error
    assert json.loads(refused.content[0].text)["error_key"] == "memory_not_found"
    with pytest.raises(Exception, match="no tool"):
        await client.call_tool("drop_tables", {})
    deleted = await client.call_tool("delete_memory", {"memory_id": memory_id})
    assert deleted.structured_content["deleted"] == 1


@ONLY_NEWER
@pytest.mark.parametrize(
    ("mode", "version"),
    [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")],
)
async def test_the_sdk_runs_a_session(agent: Agent, mode: str, version: str) -> None:
    async with _session(agent, mode) as client:
        assert client.protocol_version == version
        if mode != "2026-07-28":
            await _run_script(client)
        else:
            assert (await client.list_tools()).tools


@ONLY_NEWER
async def test_the_sdk_hears_of_changes(agent: Agent) -> None:
    async with (
        _session(agent, "auto") as client,
        client.listen(resources_list_changed=True) as changes,
    ):
        await agent.tool("add_memory", content="The gate squeaks.", scope="common")
        change = await anext(aiter(changes))
        assert type(change).__name__ == "ResourcesListChanged"


@pytest.mark.skipif(Client is not None, reason="the newer release is driven by its Client")
async def test_the_older_sdk_runs_a_session(agent: Agent) -> None:
    # Untyped, because only one of the two releases is installed.
    sdk: Any = import_module("mcp")
    transports: Any = import_module("mcp.client.streamable_http")
    url = f"http://{agent.http.host}:{agent.http.port}{MCP}"
    headers = {"Authorization": f"Bearer {agent.token}"}
    async with (
        transports.streamablehttp_client(url, headers=headers) as (reading, writing, _),
        sdk.ClientSession(reading, writing) as session,
    ):
        opened = await session.initialize()
        assert opened.protocolVersion == "2025-06-18"
        await session.send_ping()
        listed = await session.list_tools()
        assert [tool.name for tool in listed.tools][:2] == WORKSHOP_READING[:2]
        added = await session.call_tool(
            "add_memory", {"content": "Deploys run from the main branch.", "scope": "common"}
        )
        memory_id = added.structuredContent["memory"]["id"]
        read = await session.read_resource(f"memory://memory/{memory_id}")
        assert read.contents[0].text == "Deploys run from the main branch."
        refused = await session.call_tool("get_memory", {"memory_id": "none"})
        assert refused.isError
