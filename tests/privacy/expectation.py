"""Who may see what, said once more from the documentation and never from the product's code.

Common memories are for everyone who reaches their wing. A private one is its owner's: the agent's
by whom it was told and, where a person was known then, that person's with that agent alone. Home
and workshop do not reach each other unless it was granted, and some reach a few wings only.
"""

from dataclasses import dataclass
from typing import Final

from custom_components.ai_memory.core import Layer, Status

from .world import JOINED, WORLD, Joined, Told

DEFAULT_PLACES: Final = {
    "household": {"devices", "maintenance", "events"},
    "personal": {"preferences", "health", "secrets"},
    "automation": {"routines", "schedules"},
    "general": {"general"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """A caller: under which names it owns, which person it is, and which wings it reaches."""

    agents: frozenset[str] = frozenset()
    person: str | None = None
    home: bool = True
    workshop: bool = False
    wings: tuple[str, ...] | None = None
    every_agent: bool = False
    """Whether the person asks for its own with every agent."""

    def reaches(self, wing: str) -> bool:
        """Whether there is such a wing for the caller."""
        of_workshop = wing == "global" or "/" in wing
        if not (self.workshop if of_workshop else self.home):
            return False
        return self.wings is None or wing in self.wings

    def may_see(self, told: Told) -> bool:
        """Whether there is such a memory for the caller."""
        if not self.reaches(told.place[0]):
            return False
        if told.agent is None:
            return True
        if self.every_agent:
            return told.person == self.person
        return told.agent in self.agents and told.person in {None, self.person}

    def world(self) -> set[str]:
        """Return the memories, tunnels and descriptions that there are for the caller."""
        return {told.name for told in WORLD if self.may_see(told)} | {
            one.name for one in JOINED if self.knows_joined(one)
        }

    def active(self, *, archived: bool = True) -> set[str]:
        """Return the memories that a list or a search may bring up."""
        return {
            told.name
            for told in WORLD
            if self.may_see(told)
            and told.status is Status.ACTIVE
            and (archived or told.layer is not Layer.ARCHIVE)
        }

    def live(self) -> set[str]:
        """Return the memories that stand or wait to be looked at."""
        return {
            told.name
            for told in WORLD
            if self.may_see(told) and told.status in {Status.ACTIVE, Status.CANDIDATE}
        }

    def critical(self) -> set[str]:
        """Return the memories that stand in the prompt."""
        return {
            told.name
            for told in WORLD
            if self.may_see(told) and told.layer is Layer.CRITICAL and told.status is Status.ACTIVE
        }

    def knows(self, wing: str, room: str | None) -> bool:
        """Whether there is such a place for the caller."""
        if not self.reaches(wing):
            return False
        rooms = DEFAULT_PLACES.get(wing)
        if rooms is not None and (room is None or room in rooms):
            return True
        return any(
            told.kept and told.place[0] == wing and room in {None, told.place[1]}
            for told in WORLD
            if self.may_see(told)
        )

    def wings_known(self) -> set[str]:
        """Return the wings that there are for the caller."""
        wings = {*DEFAULT_PLACES, *(told.place[0] for told in WORLD)}
        return {wing for wing in wings if self.knows(wing, None)}

    def knows_joined(self, joined: Joined) -> bool:
        """Whether there is such a tunnel or description for the caller.

        Links and hubs of the workshop were named by an administrator, whatever lies there.
        """
        ends = [end for end in joined.ends if end is not None]
        if all("/" in wing and room is None for wing, room in ends) and len(joined.ends) > 1:
            return all(self.reaches(wing) for wing, _ in ends)
        return all(self.knows(*end) for end in ends)
