"""Who asks: one table of callers as the operations meet them, each with what it may see."""

from dataclasses import dataclass
from typing import Final

from custom_components.ai_memory.core import Caller, Reach

from .expectation import Who
from .world import (
    ANNA,
    BEN,
    BOTH_HALVES,
    CLOUD,
    EVERYTHING,
    KITCHEN,
    LAPTOP,
    ONE,
    PROVIDER,
    TOWER,
    TWO,
)

ONE_WING: Final = "github/acme/tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A caller, and who that is."""

    name: str
    caller: Caller
    who: Who
    about_itself: bool = False
    """Whether it only asks what is kept of itself, wherever that is."""


def _agent(name: str, agent: str, person: str | None, provider: str | None = PROVIDER) -> Guest:
    return Guest(
        name=name,
        caller=Caller(
            source="assist", agent=agent, provider=provider, user=person, access=EVERYTHING
        ),
        who=Who(agents=frozenset(filter(None, (agent, provider))), person=person),
    )


def _client(name: str, owner: str, reach: Reach) -> Guest:
    return Guest(
        name=name,
        caller=Caller(source="mcp", agent=owner, access=EVERYTHING, reach=reach),
        who=Who(
            agents=frozenset({owner}), home=reach.home, workshop=reach.workshop, wings=reach.wings
        ),
    )


GUESTS: Final = (
    _agent("same agent", ONE, ANNA),
    _agent("other agent of the same provider", TWO, ANNA),
    _agent("other provider", CLOUD, ANNA, "openai_conversation"),
    _agent("same agent, other person", ONE, BEN),
    _agent("unknown voice", ONE, None),
    _agent("agent of an older version", PROVIDER, ANNA),
    _agent("profile", KITCHEN, ANNA, None),
    Guest(
        name="profile of two wings",
        caller=Caller(
            source="assist",
            agent=KITCHEN,
            user=ANNA,
            access=EVERYTHING,
            reach=Reach(wings=("household", "larder")),
        ),
        who=Who(agents=frozenset({KITCHEN}), person=ANNA, wings=("household", "larder")),
    ),
    Guest(
        name="automation",
        caller=Caller(source="service", access=EVERYTHING, automation=True),
        who=Who(),
    ),
    Guest(
        name="administrator",
        caller=Caller(source="service", user="admin", access=EVERYTHING, reach=BOTH_HALVES),
        who=Who(person="admin", workshop=True),
    ),
    Guest(
        name="person about itself",
        caller=Caller(source="service", user=ANNA, access=EVERYTHING, reach=BOTH_HALVES),
        who=Who(person=ANNA, workshop=True, every_agent=True),
        about_itself=True,
    ),
    _client("client without the home", LAPTOP, Reach(home=False, workshop=True)),
    _client("client with the home", LAPTOP, BOTH_HALVES),
    _client("client of one wing", LAPTOP, Reach(home=False, workshop=True, wings=(ONE_WING,))),
    _client("other client", TOWER, Reach(home=False, workshop=True)),
)
ABOUT_ITSELF: Final = frozenset({"about_me", "forget_me"})
