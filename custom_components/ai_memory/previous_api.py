"""The id under which agents of the integration before this one have selected the memory.

Agents store it and fail at every turn where nobody offers it. So a home that came from that
integration is offered the default profile under that id as well (``assist.api``); nobody else finds
the memory in the list twice.
"""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from .const import CONF_PREVIOUS_API, NAME

PREVIOUS_API_ID: Final = "memory_api"
PREVIOUS_API_NAME: Final = f"{NAME} (selected before the switch)"


@callback
def needs_previous_api(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Return whether agents here may know the old id, which nobody else has taken meanwhile."""
    taken = any(api.id == PREVIOUS_API_ID for api in llm.async_get_apis(hass))
    return bool(entry.data.get(CONF_PREVIOUS_API)) and not taken


def mark_of(entry: ConfigEntry) -> Mapping[str, Any]:
    """Return what marks an entry that came from the integration before, to keep it."""
    return {name: value for name, value in entry.data.items() if name == CONF_PREVIOUS_API}
