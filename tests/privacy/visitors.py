"""Who comes to which door, as Home Assistant and the web know them: one table for the doors.

What each may see is written down beside it, for the version of Home Assistant at hand: older ones
do not tell which agent of a provider asks.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from typing import Any, Final

from homeassistant.helpers.llm import LLMContext

from custom_components.ai_memory.assist.tools import TOOLS as ASSIST_TOOLS
from custom_components.ai_memory.mcp.tools import ADMINISTRATION_TOOLS, HOME_TOOLS, WORKSHOP_TOOLS
from custom_components.ai_memory.operations import Publication
from custom_components.ai_memory.services import SERVICES, takes_agent
from tests.assist.agent import context
from tests.mcp.conftest import Agent

from .callers import ABOUT_ITSELF
from .expectation import Who
from .house import ADMIN, House, over_llm, over_mcp, over_rest, over_service
from .world import ANNA, BEN, CLOUD, KITCHEN, LAPTOP, ONE, PROVIDER, TOWER, TWO

KNOWS_AGENTS: Final = any(field.name == "agent_id" for field in fields(LLMContext))
OTHER_PROVIDER: Final = "openai_conversation"
WHOLE: Final = frozenset({"export", "import"})
"""What an administrator does with both halves of the memory."""
FOR_AN_AGENT: Final = {one.name for one in SERVICES if takes_agent(one)}
CLIENT_TOOLS: Final = (*WORKSHOP_TOOLS, *ADMINISTRATION_TOOLS, *HOME_TOOLS)

type Call = Callable[[str, dict[str, object]], Awaitable[object]]
type Arrive = Callable[[House, Any], Call]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A caller at a door: what it may see, what is published there, and how it calls that."""

    name: str
    door: str
    who: Who
    publications: tuple[Publication, ...]
    arrive: Arrive
    asking: Callable[[House], LLMContext] | None = None
    api: str = ""
    token: str = ""
    only: frozenset[str] | None = None
    """The operations that it asks, where those are not all."""
    but: frozenset[str] = frozenset()
    """The operations in which it is somebody who sees more."""

    def asks(self, operation: str) -> bool:
        """Whether it asks an operation."""
        return operation not in self.but and (self.only is None or operation in self.only)


def _asking(agent: str, platform: str, person: str | None, *, satellite: bool) -> Any:
    def asking(house: House) -> LLMContext:
        more: dict[str, Any] = {"agent_id": agent} if KNOWS_AGENTS else {}
        if satellite:
            more["device_id"] = house.satellite
        return context(platform, house.users[person] if person else None, **more)

    return asking


def _conversation(
    name: str,
    api: str,
    agent: str,
    person: str | None,
    *,
    platform: str = PROVIDER,
    satellite: bool = False,
    owner: str | None = None,
    wings: tuple[str, ...] | None = None,
) -> Visitor:
    agents = {owner} if owner else {platform, *({agent} if KNOWS_AGENTS else ())}
    asking = _asking(agent, platform, person, satellite=satellite)
    prefix = "ai_memory__" if api == "assist" else ""

    def arrive(house: House, _client: Any) -> Call:
        return lambda tool, arguments: over_llm(house, api, asking(house), prefix + tool, arguments)

    return Visitor(
        name=name,
        door="assist" if api == "assist" else "llm",
        who=Who(agents=frozenset(agents), person=ANNA if satellite else person, wings=wings),
        publications=ASSIST_TOOLS,
        arrive=arrive,
        asking=asking,
        api=api,
    )


def _action(
    name: str,
    person: str | None,
    agent_id: str | None = None,
    *,
    only: frozenset[str] | None = None,
    but: frozenset[str] = frozenset(),
    **sees: Any,
) -> Visitor:
    def arrive(house: House, _client: Any) -> Call:
        user = house.users[person] if person else None

        async def call(service: str, arguments: dict[str, object]) -> object:
            named = {"agent_id": agent_id} if agent_id and service in FOR_AN_AGENT else {}
            return await over_service(house, user, service, arguments | named)

        return call

    return Visitor(
        name=name,
        door="service",
        who=Who(agents=frozenset({agent_id} if agent_id else ()), person=person, **sees),
        publications=SERVICES,
        arrive=arrive,
        only=only,
        but=but,
    )


def _client(door: str, name: str, who: Who) -> Visitor:
    over = over_mcp if door == "mcp" else over_rest

    def arrive(_house: House, client: Any) -> Call:
        agent = Agent(client, f"aim_{name}")
        return lambda tool, arguments: over(agent, tool, arguments)

    return Visitor(
        name=name,
        door=door,
        who=who,
        publications=CLIENT_TOOLS,
        arrive=arrive,
        token=f"aim_{name}",
    )


_AT_THE_DEFAULT: Final[tuple[tuple[str, str, str | None, dict[str, Any]], ...]] = (
    ("same agent", ONE, ANNA, {}),
    ("other agent of the same provider", TWO, ANNA, {}),
    ("other provider", CLOUD, ANNA, {"platform": OTHER_PROVIDER}),
    ("same agent, other person", ONE, BEN, {}),
    ("unknown voice", ONE, None, {}),
    ("satellite of a person", ONE, None, {"satellite": True}),
)
_CLIENTS: Final = (
    ("laptop", Who(agents=frozenset({LAPTOP}), home=False, workshop=True)),
    ("tower", Who(agents=frozenset({TOWER}), workshop=True)),
    ("narrow", Who(home=False, workshop=True, wings=("github/acme/tool",))),
)

VISITORS: Final = (
    *(
        _conversation(name, api, agent, person, **more)
        for api in ("ai_memory", "assist")
        for name, agent, person, more in _AT_THE_DEFAULT
    ),
    _conversation("profile", "ai_memory_kitchen", ONE, ANNA, owner=KITCHEN),
    _conversation("profile, unknown voice", "ai_memory_kitchen", ONE, None, owner=KITCHEN),
    _conversation("other profile", "ai_memory_study", ONE, ANNA, owner="ai_memory_study"),
    _conversation(
        "profile of two wings",
        "ai_memory_two_wings",
        ONE,
        ANNA,
        owner="ai_memory_two_wings",
        wings=("household", "larder"),
    ),
    _action("automation", None),
    _action("automation for an agent", None, ONE),
    _action("person", ANNA, but=ABOUT_ITSELF),
    _action("person about itself", ANNA, only=ABOUT_ITSELF, workshop=True, every_agent=True),
    _action("person with an agent", ANNA, ONE),
    _action("other person with that agent", BEN, ONE),
    _action("administrator", ADMIN, but=ABOUT_ITSELF | WHOLE),
    _action("administrator with an agent", ADMIN, ONE, but=WHOLE),
    _action("administrator, the whole memory", ADMIN, only=WHOLE, workshop=True),
    *(_client(door, name, who) for door in ("mcp", "rest") for name, who in _CLIENTS),
)
DOORS: Final = tuple(dict.fromkeys(visitor.door for visitor in VISITORS))
