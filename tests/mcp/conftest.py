"""A coding agent's way in: an HTTP client with a token, and messages in both eras."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
import json
from types import MappingProxyType
from typing import Any, Final

from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient
from homeassistant.auth.models import Credentials
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.ai_memory.mcp.client_tokens import new_token, token_digest
from custom_components.ai_memory.mcp.engine import JsonObject, JsonValue

MCP: Final = "/api/ai_memory/mcp"
BOTH_TYPES: Final = "application/json, text/event-stream"
WORKSHOP_READING: Final = [
    "memory_namespace",
    "memory_bootstrap",
    "memory_search",
    "memory_get",
    "memory_timeline",
    "memory_project_context",
    "memory_anchors",
]
HOME_READING: Final = ["get_memory", "list_memories", "search_memory"]
STATELESS: Final = "2026-07-28"

type Json = dict[str, Any]
type LetIn = Callable[..., Awaitable[Agent]]


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent with a token of its own."""

    http: TestClient[Any, Any]
    token: str | None

    async def send(
        self,
        body: object,
        *,
        path: str = MCP,
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
    ) -> ClientResponse:
        """Send a body: bytes as they are, anything else as JSON."""
        sent = {"Accept": BOTH_TYPES, "Content-Type": "application/json", **(headers or {})}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        return await self.http.request(method, path, data=data, headers=sent)

    async def ask(
        self, method: str, params: JsonObject | None = None, *, version: str | None = "2025-11-25"
    ) -> Json:
        """Ask in the era of the handshake and return the response."""
        headers = {} if version is None else {"MCP-Protocol-Version": version}
        response = await self.send(request_body(method, params), headers=headers)
        assert response.status == HTTPStatus.OK, await response.text()
        said: Json = await response.json()
        assert said["jsonrpc"] == "2.0"
        assert said["id"] == 1
        return said

    async def result(self, method: str, params: JsonObject | None = None) -> Json:
        """Ask in the era of the handshake and return the result."""
        result: Json = (await self.ask(method, params))["result"]
        return result

    async def ask_stateless(
        self, method: str, params: JsonObject | None = None, **headers: str
    ) -> tuple[int, Json]:
        """Ask in the era without one; returns the status and the response."""
        params = {**(params or {}), "_meta": {**envelope(), **_meta_of(params)}}
        sent = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
        name = params.get("uri" if method == "resources/read" else "name")
        if isinstance(name, str):
            sent["Mcp-Name"] = name
        response = await self.send(
            request_body(method, params),
            headers=sent | {key.replace("_", "-"): value for key, value in headers.items()},
        )
        said: Json = await response.json()
        return response.status, said

    async def tool(self, name: str, **arguments: JsonValue) -> Json:
        """Call a tool and return its structured reply."""
        result = await self.result("tools/call", {"name": name, "arguments": arguments})
        assert not result["isError"], result
        reply: Json = result["structuredContent"]
        assert json.loads(result["content"][0]["text"]) == reply
        return reply

    async def refusal(self, name: str, **arguments: JsonValue) -> Json:
        """Call a tool that must refuse, and return what it says."""
        result = await self.result("tools/call", {"name": name, "arguments": arguments})
        assert result["isError"], result
        said: Json = json.loads(result["content"][0]["text"])
        return said

    async def tools(self) -> set[str]:
        """Return the names of the tools that it is offered."""
        return {tool["name"] for tool in (await self.result("tools/list"))["tools"]}


def request_body(method: str, params: JsonObject | None = None, request_id: object = 1) -> Json:
    """Return a request."""
    body: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return body if params is None else body | {"params": params}


def envelope(version: str = STATELESS) -> JsonObject:
    """Return what every request without a handshake carries."""
    return {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    }


def _meta_of(params: JsonObject | None) -> JsonObject:
    meta = (params or {}).get("_meta", {})
    return meta if isinstance(meta, dict) else {}


async def add_client(
    hass: HomeAssistant, entry: MockConfigEntry, name: str, **settings: object
) -> ConfigSubentry:
    """Let a client in, as the flow does: to the workshop, without a proof unless one is given."""
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


@pytest.fixture
def let_in(hass: HomeAssistant, loaded: MockConfigEntry, http: TestClient[Any, Any]) -> LetIn:
    """Return how a test lets a client in with a token, and gets it as an agent."""

    async def client(name: str, **settings: object) -> Agent:
        token = new_token()
        await add_client(hass, loaded, name, token_sha256=token_digest(token), **settings)
        return Agent(http, token)

    return client


async def token_of(hass: HomeAssistant, user: MockUser) -> str:
    """Return an access token of a user."""
    credentials = Credentials(
        auth_provider_type="homeassistant", auth_provider_id=None, data={}, is_new=False
    )
    await hass.auth.async_link_user(user, credentials)
    refresh = await hass.auth.async_create_refresh_token(
        user, "https://agent.example/", credential=credentials
    )
    return hass.auth.async_create_access_token(refresh)


@pytest.fixture
async def http(
    hass: HomeAssistant,
    hass_client_no_auth: Callable[[], Awaitable[TestClient[Any, Any]]],
    loaded: MockConfigEntry,
) -> TestClient[Any, Any]:
    """Return an HTTP client without a token, with the memory loaded."""
    assert await async_setup_component(hass, "auth", {})
    return await hass_client_no_auth()


@pytest.fixture
def agent(http: TestClient[Any, Any], hass_access_token: str) -> Agent:
    """Return an agent with an administrator's token."""
    return Agent(http, hass_access_token)


@pytest.fixture
def stranger(http: TestClient[Any, Any]) -> Agent:
    """Return an agent without a token."""
    return Agent(http, None)


@pytest.fixture
async def member(
    hass: HomeAssistant, http: TestClient[Any, Any], hass_read_only_user: MockUser
) -> Agent:
    """Return an agent with the token of a person who is no administrator."""
    return Agent(http, await token_of(hass, hass_read_only_user))
