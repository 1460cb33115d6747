"""Letting a coding agent in: the flow, the token it shows once, and what is kept of it."""

from collections.abc import Mapping
from hashlib import sha256
import json
import re
from types import MappingProxyType
from typing import Any, Final, cast

from aiohttp.test_utils import make_mocked_request
from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    SOURCE_USER,
    ConfigEntryState,
    SubentryFlowContext,
    SubentryFlowResult,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.http import current_request
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from yarl import URL

from custom_components.ai_memory.const import DOMAIN, ENTRY_VERSION
from custom_components.ai_memory.core import Access, Reach
from custom_components.ai_memory.mcp.client_tokens import (
    client_at_address,
    client_with_token,
)
from custom_components.ai_memory.mcp.connecting import as_markdown, instructions

from .test_translations import LANGUAGES, PACKAGE

BY_ITSELF: Final = "http://10.10.10.10:8123"
"""Where Home Assistant finds itself in these tests."""
PROGRAMS: Final = ("Claude Code", "Codex", "OpenCode", "Cursor", "VS Code", "Gemini CLI")

ASKED: Mapping[str, Any] = MappingProxyType(
    {"name": "laptop", "access": ["read", "write"], "home": False}
)


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    entry = MockConfigEntry(domain=DOMAIN, data={}, version=ENTRY_VERSION)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    return entry


async def _start(hass: HomeAssistant, entry: MockConfigEntry, **context: Any) -> SubentryFlowResult:
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, "client"),
        context=cast("SubentryFlowContext", {"source": SOURCE_USER} | context),
    )


async def _go_on(
    hass: HomeAssistant, flow: SubentryFlowResult, answers: dict[str, Any]
) -> SubentryFlowResult:
    result = await hass.config_entries.subentries.async_configure(flow["flow_id"], answers)
    await hass.async_block_till_done()
    return result


def _shown(flow: SubentryFlowResult, name: str) -> str:
    placeholders = flow["description_placeholders"]
    assert placeholders is not None
    return placeholders[name]


async def _added(hass: HomeAssistant, entry: MockConfigEntry, **asked: Any) -> str:
    """Add a client and return the token that was shown."""
    shown = await _go_on(hass, await _start(hass, entry), dict(ASKED) | asked)
    assert shown["step_id"] == "token"
    token: str = _shown(shown, "token")
    created = await _go_on(hass, shown, {})
    assert created["type"] is FlowResultType.CREATE_ENTRY
    return token


async def test_a_token_is_shown_once_and_kept_as_a_digest(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    shown = await _go_on(hass, await _start(hass, entry), dict(ASKED))
    assert not entry.subentries
    token = _shown(shown, "token")
    for one in instructions(f"{BY_ITSELF}/api/ai_memory/mcp", token):
        assert one.client in PROGRAMS
        assert _shown(shown, one.key) == as_markdown(one)
    command = _shown(shown, "claude_code")
    assert re.search(r"\nclaude mcp add .* http\S+/api/ai_memory/mcp .*Bearer " + token, command)
    assert "mcp remove" not in command
    await _go_on(hass, shown, {})
    (subentry,) = entry.subentries.values()
    assert subentry.title == "laptop"
    assert subentry.data["token_sha256"] == sha256(token.encode()).hexdigest()
    assert token not in str(subentry.as_dict())
    client = client_with_token(entry.subentries.values(), token)
    assert client is not None
    assert client.name == "laptop"
    assert client.access == {Access.READ, Access.WRITE}
    assert client.reach == Reach(home=False, workshop=True)
    assert client_with_token(entry.subentries.values(), token + "x") is None
    assert entry.state is ConfigEntryState.LOADED


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_a_token_shows_every_client_and_what_it_needs(language: str) -> None:
    file = PACKAGE / "translations" / f"{language}.json"
    steps = json.loads(file.read_text(encoding="utf-8"))["config_subentries"]["client"]["step"]
    text: str = steps["token"]["description"]
    assert steps["rotate"]["description"] == text
    assert steps["change"]["description"] != steps["user"]["description"]
    parts = {one.key: one for one in instructions("http://home/mcp", "aim_token")}
    shown = [part.strip("{}") for part in text.split("\n\n") if part.strip("{}") in parts]
    assert shown == [*parts]
    notes = {
        name: text.split(f"{{{name}}}")[1].split("\n\n{", maxsplit=1)[0].strip() for name in parts
    }
    assert {name for name, note in notes.items() if note} == parts.keys() - {"claude_code"}
    for name in ("codex", "cursor"):
        assert "AI_MEMORY_TOKEN" in notes[name]
    assert "({guide})" in text


@pytest.mark.parametrize(
    ("settings", "reached", "told"),
    [
        ({"internal_url": "http://192.0.2.5:8123"}, None, "http://192.0.2.5:8123"),
        ({"external_url": "https://home.example"}, None, BY_ITSELF),
        (
            {"external_url": "https://home.example"},
            "https://home.example/config",
            "https://home.example",
        ),
        (
            {"internal_url": "http://192.0.2.5:8123", "external_url": "https://home.example"},
            "https://home.example/config",
            "https://home.example",
        ),
        (
            {"internal_url": "http://192.0.2.5:8123", "external_url": "https://home.example"},
            "http://192.0.2.5:8123/config",
            "http://192.0.2.5:8123",
        ),
        (
            {"internal_url": "http://192.0.2.5:8123"},
            "http://elsewhere.example:8123/config",
            "http://192.0.2.5:8123",
        ),
        ({}, None, BY_ITSELF),
    ],
)
async def test_a_command_holds_the_address_by_which_the_home_was_reached(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    settings: dict[str, str],
    reached: str | None,
    told: str,
) -> None:
    await hass.config.async_update(**settings)
    request = None
    if reached is not None:
        url = URL(reached)
        request = make_mocked_request("POST", url.path, headers={"Host": url.raw_authority})
        request = request.clone(scheme=url.scheme)
    before = current_request.set(request)
    shown = await _go_on(hass, await _start(hass, entry), dict(ASKED))
    current_request.reset(before)
    assert f"ai-memory {told}/api/ai_memory/mcp --header" in _shown(shown, "claude_code")


async def test_a_home_that_knows_no_address_of_itself_shows_the_usual_one(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config.api = None
    shown = await _go_on(hass, await _start(hass, entry), dict(ASKED))
    assert "ai-memory http://homeassistant.local:8123/api/" in _shown(shown, "claude_code")


async def test_two_clients_have_different_tokens(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    first = await _added(hass, entry)
    second = await _added(hass, entry, name="desktop", wings=["GitHub/acme/*"], home=True)
    assert first != second
    subentries = entry.subentries.values()
    client = client_with_token(subentries, second)
    assert client is not None
    assert client.reach == Reach(home=True, workshop=True, wings=("github/acme/*",))


@pytest.mark.parametrize(
    ("asked", "errors"),
    [
        ({"name": "  "}, {"name": "client_name_invalid"}),
        ({"name": "x" * 65}, {"name": "client_name_invalid"}),
        ({"name": "a\u202eb"}, {"name": "client_name_invalid"}),
        ({"access": []}, {"access": "client_access_missing"}),
        ({"wings": ["a b"]}, {"wings": "client_wings_invalid"}),
        ({"wings": ["x*y"]}, {"wings": "client_wings_invalid"}),
        ({"wings": ["x" * 161]}, {"wings": "client_wings_invalid"}),
        ({"token_sha256": "abc"}, {"token_sha256": "client_digest_invalid"}),
        ({"ip": "nowhere"}, {"ip": "client_address_invalid"}),
        ({"ip": "192.0.2.1"}, {"access": "client_address_reads_only"}),
        ({"ip": "192.0.2.1", "token_sha256": "a" * 64}, {"ip": "client_proof_twice"}),
    ],
)
async def test_what_is_wrong_is_explained_and_nothing_is_saved(
    hass: HomeAssistant, entry: MockConfigEntry, asked: dict[str, Any], errors: dict[str, str]
) -> None:
    result = await _go_on(hass, await _start(hass, entry), dict(ASKED) | asked)
    assert result["type"] is FlowResultType.FORM
    assert result["errors"] == errors
    assert not entry.subentries


async def test_a_name_is_taken_whatever_its_case(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await _added(hass, entry)
    result = await _go_on(hass, await _start(hass, entry), dict(ASKED) | {"name": "LAPTOP"})
    assert result["errors"] == {"name": "client_name_taken"}


async def test_a_digest_from_elsewhere_needs_no_token_of_ours(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    digest = sha256(b"my own").hexdigest().upper()
    created = await _go_on(hass, await _start(hass, entry), dict(ASKED) | {"token_sha256": digest})
    assert created["type"] is FlowResultType.CREATE_ENTRY
    assert client_with_token(entry.subentries.values(), "my own") is not None


async def test_a_digest_may_stand_as_the_tool_prints_it(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    printed = f"{sha256(b'my own').hexdigest()}  -\n"
    created = await _go_on(hass, await _start(hass, entry), dict(ASKED) | {"token_sha256": printed})
    assert created["type"] is FlowResultType.CREATE_ENTRY
    (subentry,) = entry.subentries.values()
    assert subentry.data["token_sha256"] == sha256(b"my own").hexdigest()
    assert client_with_token(entry.subentries.values(), "my own") is not None


@pytest.mark.parametrize(
    ("network", "address", "known"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.0/24", "192.0.2.77", True),
        ("192.0.2.0/24", "::ffff:192.0.2.77", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::/32", "2001:db8::5", True),
        ("192.0.2.1", "not an address", False),
    ],
)
async def test_an_address_reads_and_nothing_more(
    hass: HomeAssistant, entry: MockConfigEntry, network: str, address: str, *, known: bool
) -> None:
    asked = dict(ASKED) | {"ip": network, "access": ["read"]}
    created = await _go_on(hass, await _start(hass, entry), asked)
    assert created["type"] is FlowResultType.CREATE_ENTRY
    client = client_at_address(entry.subentries.values(), address)
    assert (client is not None) == known
    assert client is None or client.access == {Access.READ}


async def test_a_new_token_ends_the_one_before(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    before = await _added(hass, entry)
    (subentry_id,) = entry.subentries
    menu = await _start(hass, entry, source=SOURCE_RECONFIGURE, subentry_id=subentry_id)
    assert menu["menu_options"] == ["change", "rotate"]
    shown = await _go_on(hass, menu, {"next_step_id": "rotate"})
    after = _shown(shown, "token")
    first, second = _shown(shown, "claude_code").splitlines()[2:4]
    assert first == "claude mcp remove --scope user ai-memory"
    assert second.startswith("claude mcp add --scope user ")
    assert second.endswith(f"Bearer {after}'")
    assert client_with_token(entry.subentries.values(), before) is not None
    done = await _go_on(hass, shown, {})
    assert done["reason"] == "reconfigure_successful"
    assert client_with_token(entry.subentries.values(), before) is None
    assert client_with_token(entry.subentries.values(), after) is not None
    assert list(entry.subentries) == [subentry_id]


async def test_a_client_that_is_changed_keeps_its_token(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    token = await _added(hass, entry)
    (subentry_id,) = entry.subentries
    menu = await _start(hass, entry, source=SOURCE_RECONFIGURE, subentry_id=subentry_id)
    form = await _go_on(hass, menu, {"next_step_id": "change"})
    schema = form["data_schema"]
    assert schema is not None
    suggested = {str(key): key.description for key in schema.schema if key.description}
    assert suggested["name"] == {"suggested_value": "laptop"}
    assert suggested.get("token_sha256", {}).get("suggested_value") is None
    done = await _go_on(hass, form, {"name": "tablet", "access": ["read"], "home": True})
    assert done["reason"] == "reconfigure_successful"
    client = client_with_token(entry.subentries.values(), token)
    assert client is not None
    assert client.name == "tablet"
    assert client.access == {Access.READ}


async def test_a_removed_client_is_out_at_once(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    token = await _added(hass, entry)
    (subentry_id,) = entry.subentries
    hass.config_entries.async_remove_subentry(entry, subentry_id)
    assert client_with_token(entry.subentries.values(), token) is None
    await hass.async_block_till_done()
