"""Whether an agent was given one of our own APIs, so that it needs no second memory beside it.

The door for the Assist API asks. An agent with a profile of bounded wings must not get the default
profile's tools through Assist as well. Only newer versions say which agent asks; what it selected
is in the settings of its own integration, under the key that Home Assistant made for that.
"""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, llm

from ..const import DOMAIN
from ..ha_compat import agent_of
from ..previous_api import PREVIOUS_API_ID
from ..profiles import api_id_of


def has_own_api(hass: HomeAssistant, context: llm.LLMContext) -> bool:
    """Return whether the agent that asks selected the API of a profile, the default among them."""
    agent = agent_of(context)
    entity = er.async_get(hass).async_get(agent) if agent else None
    if entity is None:
        return False
    chosen = _settings(hass, entity).get(CONF_LLM_HASS_API) or ()
    apis = [chosen] if isinstance(chosen, str) else chosen
    own = {DOMAIN, PREVIOUS_API_ID}
    return any(api in own or api.startswith(api_id_of("")) for api in apis)


def _settings(hass: HomeAssistant, entity: er.RegistryEntry) -> Mapping[str, Any]:
    entry = hass.config_entries.async_get_entry(entity.config_entry_id or "")
    if entry is None:
        return {}
    subentry = entry.subentries.get(entity.config_subentry_id or "")
    return entry.options if subentry is None else subentry.data
