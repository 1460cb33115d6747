"""The matrix covers everything that there is: what comes new fails here until it is asked for."""

from dataclasses import fields

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
import pytest

from custom_components.ai_memory import PLATFORMS
from custom_components.ai_memory.assist.tools import TOOLS as ASSIST_TOOLS
from custom_components.ai_memory.config_flow import AiMemoryConfigFlow
from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Access, Caller, Layer, Reach, Scope, Status
from custom_components.ai_memory.mcp.clients import Source
from custom_components.ai_memory.mcp.engine.methods import METHODS
from custom_components.ai_memory.mcp.offer import MemoryOffer
from custom_components.ai_memory.operations import CATALOGUE, Publication
from custom_components.ai_memory.services import SERVICES
from tests.assist.agent import context

from .callers import GUESTS
from .house import House, published
from .probes import ASKED, EVERY, MCP_SIGHTS, PROBED, SIGHTS
from .visitors import CLIENT_TOOLS, DOORS, VISITORS
from .world import WORLD

NO_MEMORY_IN_IT = {
    # Shake hands, set what is logged, or fill in a text that is the same for everybody.
    *("initialize", "ping", "logging/setLevel", "server/discover", "prompts/get"),
    # A tool call is what the probes are; what is listened to is asked in ``test_traces``.
    *("tools/call", "subscriptions/listen"),
}


def test_every_operation_is_probed() -> None:
    assert frozenset(CATALOGUE) == PROBED


def test_every_parameter_is_probed() -> None:
    given = {(probe.operation, name) for probe in EVERY for name in probe.arguments}
    there = {
        (operation.name, parameter.name)
        for operation in CATALOGUE.values()
        for parameter in operation.parameters
    }
    assert given <= there
    # What says only how a memory is stored, or how much of an answer is wanted.
    harmless = {
        *("pin", "expires", "type", "status", "confidence", "anchors", "layer", "limit", "summary"),
        *("budget_tokens", "format", "topics", "notes", "hard", "reason", "recall"),
        *("scope", "revision", "stance", "move_to_room"),
        *("room", "wing", "all_owners", "user", "min_cosine", "remote", "default_scope", "state"),
    }
    assert {name for _, name in there - given} <= harmless


@pytest.mark.parametrize(
    "publication",
    [*ASSIST_TOOLS, *SERVICES, *CLIENT_TOOLS],
    ids=lambda publication: publication.name,
)
def test_every_publication_is_asked_at_its_door(publication: Publication) -> None:
    assert any(published(publication, probe) is not None for probe in ASKED)
    assert any(publication in visitor.publications for visitor in VISITORS)


async def test_every_door_publishes_what_the_matrix_knows(
    house: House, hass: HomeAssistant
) -> None:
    assert set(hass.services.async_services()[DOMAIN]) == {one.name for one in SERVICES}
    instance = await llm.async_get_api(hass, DOMAIN, context())
    assert {tool.name for tool in instance.tools} == {one.name for one in ASSIST_TOOLS}
    offer: MemoryOffer = house.entry.runtime_data.door.offer
    assert set(offer._publications) == {one.name for one in CLIENT_TOOLS}
    assert set(METHODS) == {probe.operation for probe in MCP_SIGHTS} | NO_MEMORY_IN_IT
    assert set(DOORS) == set(SIGHTS)
    apis = {visitor.api for visitor in VISITORS if visitor.api} - {"assist"}
    assert {api.id for api in llm.async_get_apis(hass) if api.id.startswith(DOMAIN)} == apis
    # Sensor, event and list are looked at in ``test_public``.
    assert set(PLATFORMS) == {Platform.EVENT, Platform.SENSOR, Platform.TODO}
    views = {
        str(resource.canonical)
        for resource in hass.http.app.router.resources()
        if DOMAIN in str(resource.canonical)
    }
    assert views == {
        f"/api/{DOMAIN}/mcp",
        f"/.well-known/oauth-protected-resource/api/{DOMAIN}/mcp",
        f"/api/{DOMAIN}/tools/{{name}}",
        f"/api/{DOMAIN}/openapi.json",
        f"/api/{DOMAIN}/health",
    }


def test_every_kind_of_caller_asks() -> None:
    assert {field.name for field in fields(Caller)} == {
        *("source", "agent", "provider", "user", "language", "access", "reach", "default_wing"),
        "automation",
    }
    assert {field.name for field in fields(Reach)} == {"home", "workshop", "wings"}
    assert set(Access) == {"read", "write", "delete", "export", "admin"}
    assert set(Source) == {"token", "address", "user"}
    subentries = AiMemoryConfigFlow.async_get_supported_subentry_types(None)  # type: ignore[arg-type]
    assert set(subentries) == {"agent_profile", "client", "voice_person"}
    names = {guest.name for guest in GUESTS}
    assert len(names) == len(GUESTS) >= 15
    assert len({(visitor.door, visitor.name) for visitor in VISITORS}) == len(VISITORS)


def test_the_world_holds_every_kind_of_memory() -> None:
    assert {told.scope for told in WORLD} == set(Scope)
    assert {told.layer for told in WORLD} == set(Layer)
    assert {told.status for told in WORLD} == set(Status)
    for agentless in (True, False):
        owned = [told for told in WORLD if (told.agent is None) is agentless]
        assert {told.status for told in owned} == set(Status)
        assert {told.layer for told in owned} == set(Layer)
