"""Every door, as those come to it who come to it: what is hidden might as well not be there."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from aiohttp.test_utils import TestClient
from homeassistant.helpers import llm
import pytest

from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM
from custom_components.ai_memory.operations import Publication
from tests.mcp.conftest import Agent

from .house import House, asked, published
from .probes import ASKED, SIGHTS, Probe
from .twins import Answers, answers, assert_alike, assert_told
from .visitors import DOORS, VISITORS, Call, Visitor
from .world import NAMES

type Http = TestClient[Any, Any]


@pytest.mark.parametrize("door", DOORS)
async def test_what_is_hidden_might_as_well_not_be_there(
    house: House, hass_client_no_auth: Callable[[], Awaitable[Http]], door: str
) -> None:
    if door == "assist" and not HAS_LLM_PLATFORM:
        pytest.skip("this version has no platform for tools of the Assist API")
    http = await hass_client_no_auth()
    for visitor in VISITORS:
        if visitor.door == door:
            told = []
            for world in (NAMES, visitor.who.world()):
                await house.fill(world)
                told.append(await _told(house, http, visitor))
            assert_told(told[0], visitor.who)
            assert_alike(*told)


async def _told(house: House, http: Http, visitor: Visitor) -> Answers:
    """Ask everything that is offered at the door."""
    said = await answers(SIGHTS[visitor.door], _see(house, http, visitor))
    call = visitor.arrive(house, http)
    for probe in ASKED:
        for publication in visitor.publications:
            if visitor.asks(probe.operation) and published(publication, probe) is not None:
                said += await answers([probe], partial(_call, call, publication))
    return said + await answers(SIGHTS[visitor.door], _see(house, http, visitor))


async def _call(call: Call, publication: Publication, probe: Probe) -> object:
    return await call(publication.name, published(publication, probe) or {})


def _see(house: House, http: Http, visitor: Visitor) -> Callable[[Probe], Awaitable[object]]:
    async def see(probe: Probe) -> object:
        agent = Agent(http, visitor.token)
        if probe.operation == "prompt":
            assert visitor.asking is not None
            return (
                await llm.async_get_api(house.hass, visitor.api, visitor.asking(house))
            ).api_prompt
        if probe.operation == "get":
            path = f"/api/ai_memory/{probe.arguments['path']}"
            response = await agent.send(None, path=path, method="GET")
            return {"status": response.status, "body": await response.json()}
        params: Any = dict(probe.arguments)
        return await asked(agent, probe.operation, params)

    return see
