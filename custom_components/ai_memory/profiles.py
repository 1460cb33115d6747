"""Agent profiles: what a person set for an agent, read from the config entry.

The options hold the default profile; each subentry *agent profile* is another, with an API of its
own. The Assist door asks here anew for every request, so that a change takes effect at once; the
flows write what is read here. A profile other than the default is an agent by itself: what is
stored through it in private is its own, whichever provider asks.
"""

from dataclasses import dataclass
from typing import Final

from homeassistant.config_entries import ConfigEntry

from .const import (
    CONF_DEFAULT_WING,
    CONF_IDENTITY,
    CONF_RECALL,
    CONF_STANDING_TOKENS,
    CONF_TOOLS,
    CONF_WINGS,
    DEFAULT_RECALL,
    DEFAULT_STANDING_TOKENS,
    DOMAIN,
    NAME,
    SUBENTRY_PROFILE,
    TOOLS_READ_ONLY,
)
from .core import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProfile:
    """How one kind of agent uses the memory.

    ``agent`` owns what is stored in private; None leaves that to who asks. ``wings`` are all it
    knows of, None for every wing of the home.
    """

    api_id: str = DOMAIN
    name: str = NAME
    agent: str | None = None
    standing: Profile
    recall: bool
    read_only: bool = False
    default_wing: str | None = None
    wings: tuple[str, ...] | None = None


DEFAULT_PROFILE: Final = ""
"""Stands for the id of the profile that the options hold."""


def api_id_of(subentry_id: str) -> str:
    """Return the constant id of a profile's API, which is also its name as an owner."""
    return f"{DOMAIN}_{subentry_id.lower()}"


def profile_ids(entry: ConfigEntry) -> list[str]:
    """Return the ids of all profiles, that of the default first."""
    added = (one.subentry_id for one in entry.subentries.values() if is_profile(one.subentry_type))
    return [DEFAULT_PROFILE, *added]


def is_profile(subentry_type: str) -> bool:
    """Return whether subentries of a type are agent profiles."""
    return subentry_type == SUBENTRY_PROFILE


def profile_of(entry: ConfigEntry, profile_id: str) -> AgentProfile | None:
    """Return a profile as it is set now, None once it was removed."""
    if profile_id == DEFAULT_PROFILE:
        settings = {**entry.data, **entry.options}
        return AgentProfile(
            standing=Profile(
                settings.get(CONF_IDENTITY, ""),
                int(settings.get(CONF_STANDING_TOKENS, DEFAULT_STANDING_TOKENS)),
            ),
            recall=settings.get(CONF_RECALL, DEFAULT_RECALL),
        )
    subentry = entry.subentries.get(profile_id)
    if subentry is None or not is_profile(subentry.subentry_type):
        return None
    settings, api_id = {**subentry.data}, api_id_of(profile_id)
    wings = tuple(settings.get(CONF_WINGS, ()))
    return AgentProfile(
        api_id=api_id,
        name=f"{NAME}: {subentry.title}",
        agent=api_id,
        standing=Profile(
            settings.get(CONF_IDENTITY, ""),
            int(settings.get(CONF_STANDING_TOKENS, DEFAULT_STANDING_TOKENS)),
        ),
        recall=settings.get(CONF_RECALL, DEFAULT_RECALL),
        read_only=settings.get(CONF_TOOLS) == TOOLS_READ_ONLY,
        # What has no place must land where the agent finds it again.
        default_wing=settings.get(CONF_DEFAULT_WING) or (wings[0] if wings else None),
        wings=wings or None,
    )
