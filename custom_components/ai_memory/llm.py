"""The ``llm`` platform: the memory's tools for every Assist agent, without any selecting.

Only Home Assistant versions with this platform import the module. An option turns it off.
"""

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext

from .assist.prompt import prompt_for
from .assist.tools import create_tools
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
    manager = entry.runtime_data.manager
    tools = create_tools(manager, prefix=f"{DOMAIN}__")
    return LLMTools(tools=tools, prompt=prompt_for(manager, settings_of(entry), llm_context))
