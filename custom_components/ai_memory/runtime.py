"""What lives as long as the config entry is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from .const import DOMAIN, SUBENTRY_PROFILE, SUBENTRY_VOICE
from .core import MemoryManager
from .mcp.door import Door


@dataclass(frozen=True, slots=True)
class AiMemoryRuntime:
    """The memory behind a loaded config entry, and the door through which agents reach it.

    ``opened_with`` is what would take a reload to change.
    """

    manager: MemoryManager
    door: Door
    opened_with: Mapping[str, Any]


type AiMemoryConfigEntry = ConfigEntry[AiMemoryRuntime]


def settings_of(entry: AiMemoryConfigEntry) -> Mapping[str, Any]:
    """Return the settings in force: what set-up chose, as the options changed it."""
    return {**entry.data, **entry.options}


def opened_with(entry: AiMemoryConfigEntry) -> Mapping[str, Any]:
    """Return what takes a reload to change: the settings, and the clients that are let in.

    A client that was removed must not go on listening. Profiles and assignments are asked for anew
    each time.
    """
    clients = {
        one.subentry_id: one.data
        for one in entry.subentries.values()
        if one.subentry_type not in {SUBENTRY_PROFILE, SUBENTRY_VOICE}
    }
    return {**settings_of(entry), "clients": clients}


def loaded_entry(hass: HomeAssistant) -> AiMemoryConfigEntry | None:
    """Return the one config entry if the memory is open."""
    return next(iter(hass.config_entries.async_loaded_entries(DOMAIN)), None)
