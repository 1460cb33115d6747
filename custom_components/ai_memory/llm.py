"""The ``llm`` platform: the memory's tools for every Assist agent, without any selecting.

Only Home Assistant versions with this platform import the module. An option turns it off.
"""

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext

from .assist.door import ProfileDoor
from .assist.prompt import prompt_for
from .assist.selection import has_own_api
from .assist.tools import create_tools, offered
from .const import CONF_ASSIST_TOOLS, DEFAULT_ASSIST_TOOLS, DOMAIN
from .runtime import loaded_entry, settings_of


@callback
def async_get_tools(hass: HomeAssistant, llm_context: LLMContext, api_id: str) -> LLMTools | None:
    """Return the tools for the Assist API, or None for others and where they are turned off."""
    entry = loaded_entry(hass)
    if api_id != LLM_API_ASSIST or entry is None:
        return None
    if not settings_of(entry).get(CONF_ASSIST_TOOLS, DEFAULT_ASSIST_TOOLS):
        return None
    if has_own_api(hass, llm_context):
        return None
    door = ProfileDoor(hass, entry)
    profile = door.profile()
    return LLMTools(
        tools=offered(create_tools(door, prefix=f"{DOMAIN}__"), profile),
        # The platform is asked without waiting, so nothing can be recalled for the sentence.
        prompt=prompt_for(door.manager, profile, door.caller(llm_context)),
    )
