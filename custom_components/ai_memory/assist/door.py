"""One profile's way into the memory: who asks, and which memory answers, at this moment.

Home Assistant keeps an agent's tools for as long as a conversation lasts, even while the entry is
reloaded or the profile changed. So tools and prompts ask here for each call and keep nothing.
"""

from typing import Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..core import AccessDeniedError, Caller, MemoryManager, Reach
from ..core.models import HOME_ACCESS, Access
from ..ha_compat import agent_of
from ..profiles import DEFAULT_PROFILE, AgentProfile, profile_of
from ..runtime import AiMemoryConfigEntry
from ..voice_persons import speaker

ANY_LANGUAGE: Final = "*"


class ProfileDoor:
    """What tools and prompt of one profile need to know of the entry."""

    def __init__(
        self, hass: HomeAssistant, entry: AiMemoryConfigEntry, profile_id: str = DEFAULT_PROFILE
    ) -> None:
        """Open the door of a profile of a loaded entry."""
        self._hass = hass
        self._entry = entry
        self._profile_id = profile_id
        self._opened = entry.runtime_data.manager

    @property
    def manager(self) -> MemoryManager:
        """The memory that is open now, or the one that was, which says that it is closed."""
        if self._entry.state is ConfigEntryState.LOADED:
            return self._entry.runtime_data.manager
        return self._opened

    def profile(self) -> AgentProfile:
        """Return the profile as it is set now. Raises AccessDeniedError once it was removed."""
        profile = profile_of(self._entry, self._profile_id)
        if profile is None:
            raise AccessDeniedError("profile_removed")
        return profile

    def caller(self, context: llm.LLMContext) -> Caller:
        """Return who asks in a request. Raises AccessDeniedError once the profile was removed."""
        user = speaker(self._hass, self._entry, context)
        return caller_of(context, self.profile(), user)


def caller_of(context: llm.LLMContext, profile: AgentProfile, user: str | None) -> Caller:
    """Return who asks through a profile, as far as Home Assistant knows.

    A profile with an identity of its own hides the provider: what other agents of the provider
    keep in private is not its business.
    """
    agent, provider = profile.agent, None
    if agent is None:
        agent, provider = agent_of(context) or context.platform, context.platform
    return Caller(
        source="assist",
        agent=agent,
        provider=provider,
        user=user,
        language=None if context.language == ANY_LANGUAGE else context.language,
        access=frozenset({Access.READ}) if profile.read_only else HOME_ACCESS,
        reach=Reach(wings=profile.wings),
        default_wing=profile.default_wing,
    )
