"""The LLM APIs that a person selects for a conversation agent: one for each profile.

The id of an API never changes, and that of the default keeps its name too: agents store the id,
and Home Assistant may derive tool names from either. They stay registered while the memory is
open, whatever state its engine is in. Where agents still know it by its id of before, the default
is there under that one as well (``previous_api``).
"""

from collections.abc import Callable

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..core import AiMemoryError
from ..failures import home_assistant_error
from ..ha_compat import spoken_sentence
from ..previous_api import PREVIOUS_API_ID, PREVIOUS_API_NAME, needs_previous_api
from ..profiles import profile_ids, profile_of
from ..runtime import AiMemoryConfigEntry
from .door import ProfileDoor
from .prompt import prompt_with_recall
from .tools import create_tools, offered


class AiMemoryAPI(llm.API):
    """The memory as tools and a prompt, in the way of one profile."""

    def __init__(self, hass: HomeAssistant, door: ProfileDoor, api_id: str, name: str) -> None:
        """Offer a profile under an id and a name."""
        super().__init__(hass=hass, id=api_id, name=name)
        self._door = door
        self._tools = create_tools(door)

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return prompt and tools for one request."""
        try:
            profile, caller = self._door.profile(), self._door.caller(llm_context)
        except AiMemoryError as err:
            raise home_assistant_error(err) from err
        return llm.APIInstance(
            api=self,
            api_prompt=await prompt_with_recall(
                self._door.manager, profile, caller, spoken_sentence()
            ),
            llm_context=llm_context,
            tools=offered(self._tools, profile),
        )


class ProfileApis:
    """The APIs that are registered at the moment, kept in step with the profiles."""

    def __init__(self, hass: HomeAssistant, entry: AiMemoryConfigEntry) -> None:
        """Register an API for each profile of a loaded entry."""
        self._hass = hass
        self._entry = entry
        self._offered: dict[str, tuple[str, Callable[[], None]]] = {}
        self._open = True
        self._withdraw_previous = self._offer_previous()
        self.follow()

    @callback
    def follow(self) -> dict[str, str]:
        """Register and withdraw what the profiles ask for; returns those removed, with names."""
        if not self._open:
            return {}
        wanted = profile_ids(self._entry)
        removed = [profile_id for profile_id in self._offered if profile_id not in wanted]
        names = {profile_id: self._withdraw(profile_id) for profile_id in removed}
        for profile_id in wanted:
            self._offer(profile_id)
        return names

    @callback
    def withdraw(self) -> None:
        """Withdraw every API, for good."""
        self._open = False
        for profile_id in list(self._offered):
            self._withdraw(profile_id)
        self._withdraw_previous()

    def _offer_previous(self) -> Callable[[], None]:
        """Offer the default under its id of before where that is needed; returns how to end it."""
        if not needs_previous_api(self._hass, self._entry):
            return _nothing_to_withdraw
        door = ProfileDoor(self._hass, self._entry)
        api = AiMemoryAPI(self._hass, door, PREVIOUS_API_ID, PREVIOUS_API_NAME)
        return llm.async_register_api(self._hass, api)

    def _offer(self, profile_id: str) -> None:
        profile = profile_of(self._entry, profile_id)
        if profile is None:
            return
        if profile_id in self._offered:
            if self._offered[profile_id][0] == profile.name:
                # Whatever else changed, the API asks for it anew each time.
                return
            self._withdraw(profile_id)
        door = ProfileDoor(self._hass, self._entry, profile_id)
        api = AiMemoryAPI(self._hass, door, profile.api_id, profile.name)
        self._offered[profile_id] = profile.name, llm.async_register_api(self._hass, api)

    def _withdraw(self, profile_id: str) -> str:
        name, unregister = self._offered.pop(profile_id)
        unregister()
        return name


def _nothing_to_withdraw() -> None:
    """Stand for an API that was never offered."""
