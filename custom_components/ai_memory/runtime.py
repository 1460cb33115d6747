"""What lives as long as the config entry is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from .const import DOMAIN
from .core import MemoryManager
from .mcp.door import Door


@dataclass(frozen=True, slots=True)
class AiMemoryRuntime:
    """The memory behind a loaded config entry, and the door through which agents reach it."""

    manager: MemoryManager
    door: Door


type AiMemoryConfigEntry = ConfigEntry[AiMemoryRuntime]


def settings_of(entry: AiMemoryConfigEntry) -> Mapping[str, Any]:
    """Return the settings in force: what set-up chose, as the options changed it."""
    return {**entry.data, **entry.options}


def loaded_entry(hass: HomeAssistant) -> AiMemoryConfigEntry | None:
    """Return the one config entry if the memory is open."""
    return next(iter(hass.config_entries.async_loaded_entries(DOMAIN)), None)
