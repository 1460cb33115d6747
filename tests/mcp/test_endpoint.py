"""Who is let in at the endpoint, what every request must look like, and what is refused how."""

import asyncio
from http import HTTPStatus
import json
from typing import Any, Final

from aiohttp.test_utils import TestClient
from homeassistant.components import persistent_notification
from homeassistant.components.http.ban import NOTIFICATION_ID_LOGIN
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import CONF_USER_ACCESS
from custom_components.ai_memory.mcp import requests as rules
from custom_components.ai_memory.mcp.requests import BODY_LIMIT_BYTES

from .conftest import HOME_READING, MCP, WORKSHOP_READING, Agent, request_body

PING: Final = request_body("ping")


async def _error(response: Any, status: int) -> dict[str, Any]:
    assert response.status == status, await response.text()
    assert response.content_type == "application/json"
    said: dict[str, Any] = await response.json()
    assert said["jsonrpc"] == "2.0"
    error: dict[str, Any] = said["error"]
    assert set(error) <= {"code", "message", "data"}
    assert "Traceback" not in error["message"]
    return error


async def test_an_administrator_is_let_in_and_answered(agent: Agent) -> None:
    assert await agent.result("ping") == {}


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_without_a_token_every_method_is_answered_with_a_challenge(
    stranger: Agent, method: str
) -> None:
    response = await stranger.send(PING if method == "POST" else None, method=method)
    await _error(response, HTTPStatus.UNAUTHORIZED)
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert "invalid_token" not in response.headers["WWW-Authenticate"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_other_methods_are_not_allowed_to_who_is_let_in(agent: Agent, method: str) -> None:
    response = await agent.send(None, method=method)
    await _error(response, HTTPStatus.METHOD_NOT_ALLOWED)
    assert response.headers["Allow"] == "POST"


async def test_wrong_tokens_count_as_failed_logins_and_missing_ones_do_not(
    hass: HomeAssistant, stranger: Agent
) -> None:
    # Home Assistant's ban logic tells of each failed login, whether or not it may ban.
    for header in (None, "Basic dTpw", "Bearer", "Bearer ", "nonsense"):
        response = await stranger.send(PING, headers={"Authorization": header} if header else {})
        await _error(response, HTTPStatus.UNAUTHORIZED)
    assert not _failed_logins(hass)
    for header in ("Bearer wrong", "bearer a.b.c"):
        response = await stranger.send(PING, headers={"Authorization": header})
        await _error(response, HTTPStatus.UNAUTHORIZED)
        assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]
        assert _failed_logins(hass)
        persistent_notification.async_dismiss(hass, NOTIFICATION_ID_LOGIN)


def _failed_logins(hass: HomeAssistant) -> bool:
    return NOTIFICATION_ID_LOGIN in hass.data.get(persistent_notification.DOMAIN, {})


async def test_a_token_in_the_address_opens_nothing(stranger: Agent, agent: Agent) -> None:
    for query in (f"access_token={agent.token}", f"authSig={agent.token}", f"token={agent.token}"):
        response = await stranger.send(PING, path=f"{MCP}?{query}")
        await _error(response, HTTPStatus.UNAUTHORIZED)


async def test_a_member_of_the_household_needs_the_option(
    hass: HomeAssistant, loaded: MockConfigEntry, member: Agent
) -> None:
    response = await member.send(PING)
    await _error(response, HTTPStatus.FORBIDDEN)

    hass.config_entries.async_update_entry(loaded, options={CONF_USER_ACCESS: ["read"]})
    await hass.async_block_till_done()
    tools = await member.result("tools/list")
    assert [tool["name"] for tool in tools["tools"]] == WORKSHOP_READING + HOME_READING
    response = await member.send(
        request_body("tools/call", {"name": "add_memory", "arguments": {"content": "No."}})
    )
    error = await _error(response, HTTPStatus.FORBIDDEN)
    assert "write" in error["message"]
    assert 'error="insufficient_scope", scope="write"' in response.headers["WWW-Authenticate"]


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize("origin", ["http://localhost", "https://claude.ai", "null", ""])
async def test_a_web_page_is_refused_wherever_it_comes_from(
    agent: Agent, method: str, origin: str
) -> None:
    response = await agent.send(
        PING if method == "POST" else None, method=method, headers={"Origin": origin}
    )
    await _error(response, HTTPStatus.FORBIDDEN)


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
async def test_what_is_not_json_is_refused(agent: Agent, content_type: str) -> None:
    response = await agent.send(PING, headers={"Content-Type": content_type})
    await _error(response, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


async def test_json_with_a_charset_is_taken_and_compressed_json_is_not(agent: Agent) -> None:
    plain = {"Content-Type": "application/json; charset=utf-8"}
    assert (await agent.send(PING, headers=plain)).status == HTTPStatus.OK
    response = await agent.send(b"x", headers={"Content-Encoding": "gzip"})
    await _error(response, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


@pytest.mark.parametrize("accept", ["text/html", "image/png, text/html;q=0.9"])
async def test_who_takes_no_json_gets_none(agent: Agent, accept: str) -> None:
    response = await agent.send(PING, headers={"Accept": accept})
    await _error(response, HTTPStatus.NOT_ACCEPTABLE)


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/*;q=0.1, text/html"])
async def test_who_takes_json_in_any_words_gets_it(agent: Agent, accept: str) -> None:
    response = await agent.send(PING, headers={"Accept": accept})
    assert response.status == HTTPStatus.OK


async def test_a_body_of_a_mebibyte_is_taken_and_one_byte_more_is_not(agent: Agent) -> None:
    message = json.dumps(PING | {"params": {"pad": ""}}).encode()
    full = message.replace(b'""', b'"' + b"p" * (BODY_LIMIT_BYTES - len(message)) + b'"')
    assert len(full) == BODY_LIMIT_BYTES
    response = await agent.send(full)
    assert (await response.json())["result"] == {}
    await _error(await agent.send(full + b" "), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


async def _raw(http: TestClient[Any, Any], agent: Agent, head: str, body: bytes = b"") -> str:
    """Send a request as bytes, for what no HTTP client would send; returns the status line."""
    reader, writer = await asyncio.open_connection(http.host, http.port)
    lines = (
        f"POST {MCP} HTTP/1.1",
        f"Host: {http.host}",
        f"Authorization: Bearer {agent.token}",
        "Content-Type: application/json",
        "Connection: close",
        *([head] if head else []),
    )
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
    try:
        async with asyncio.timeout(5):
            return (await reader.readline()).decode()
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        ("", b"", 400),
        ("Content-Length: -1", b"", 400),
        ("Content-Length: +2", b"{}", 400),
        ("Content-Length: 1_0", b"", 400),
        ("Content-Length: ten", b"", 400),
        ("Content-Length: 0", b"", 400),
        ("Transfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n", 400),
        ("Content-Length: 1048577", b"", 413),
        ("Content-Length: 99999999999999", b"", 413),
    ],
)
async def test_the_length_must_be_told_and_be_true(
    http: TestClient[Any, Any], agent: Agent, head: str, body: bytes, status: int
) -> None:
    assert f" {status} " in await _raw(http, agent, head, body)


async def test_a_slow_body_is_given_up(
    http: TestClient[Any, Any], agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "BODY_TIMEOUT_SECONDS", 0.1)
    assert " 408 " in await _raw(http, agent, "Content-Length: 100", b'{"jsonrpc"')
    assert await agent.result("ping") == {}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', -32700),
        (b'{"jsonrpc":"2.0","id":' + b"1" * 5000 + b',"method":"ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32700),
        (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', -32600),
        (b'{"id":1,"method":"ping"}', -32600),
        (b"[]", -32600),
        (b"{}", -32600),
    ],
)
async def test_a_message_that_is_none_gets_an_error(agent: Agent, body: bytes, code: int) -> None:
    assert (await _error(await agent.send(body), HTTPStatus.BAD_REQUEST))["code"] == code
    assert await agent.result("ping") == {}


async def test_while_no_entry_is_loaded_the_endpoint_says_when_to_come_back(
    hass: HomeAssistant, loaded: MockConfigEntry, agent: Agent
) -> None:
    assert await hass.config_entries.async_unload(loaded.entry_id)
    response = await agent.send(PING)
    await _error(response, HTTPStatus.SERVICE_UNAVAILABLE)
    assert int(response.headers["Retry-After"]) > 0
    assert await hass.config_entries.async_setup(loaded.entry_id)
    assert await agent.result("ping") == {}


async def test_the_metadata_leads_to_home_assistants_sign_in(
    hass: HomeAssistant, stranger: Agent
) -> None:
    address = f"http://{stranger.http.host}:{stranger.http.port}"
    path = f"/.well-known/oauth-protected-resource{MCP}"
    # An address that it does not know as its own is not repeated to anyone.
    elsewhere = {"Host": "elsewhere.example"}
    response = await stranger.send(None, path=path, method="GET", headers=elsewhere)
    assert response.status == HTTPStatus.NOT_FOUND
    challenged = await stranger.send(PING, headers=elsewhere)
    assert challenged.headers["WWW-Authenticate"] == "Bearer"

    await hass.config.async_update(internal_url=address)
    response = await stranger.send(None, path=path, method="GET")
    metadata = await response.json()
    assert metadata["resource"] == f"{address}{MCP}"
    assert metadata["authorization_servers"] == [address]
    challenged = await stranger.send(PING)
    assert f'resource_metadata="{address}{path}"' in challenged.headers["WWW-Authenticate"]
    server = await stranger.send(None, path="/.well-known/oauth-authorization-server", method="GET")
    assert (await server.json())["issuer"] == address
