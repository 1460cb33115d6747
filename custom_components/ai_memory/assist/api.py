"""The LLM API that a person selects for a conversation agent.

Its id and name never change: agents store the id, and Home Assistant derives tool names from them.
It stays registered while the memory is open, whatever state its engine is in.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..const import DOMAIN, NAME
from ..core import MemoryManager
from .prompt import prompt_for
from .tools import create_tools

API_ID: Final = DOMAIN


class AiMemoryAPI(llm.API):
    """The memory as tools and a prompt."""

    def __init__(
        self, hass: HomeAssistant, manager: MemoryManager, settings: Mapping[str, Any]
    ) -> None:
        """Create the tools once; they hold no state of a conversation."""
        super().__init__(hass=hass, id=API_ID, name=NAME)
        self._manager = manager
        self._settings = settings
        self._tools = create_tools(manager)

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the tools for one request."""
        return llm.APIInstance(
            api=self,
            api_prompt=prompt_for(self._manager, self._settings, llm_context),
            llm_context=llm_context,
            tools=list(self._tools),
        )


def register_api(
    hass: HomeAssistant, manager: MemoryManager, settings: Mapping[str, Any]
) -> Callable[[], None]:
    """Offer the API to conversation agents; returns how to withdraw it."""
    return llm.async_register_api(hass, AiMemoryAPI(hass, manager, settings))
