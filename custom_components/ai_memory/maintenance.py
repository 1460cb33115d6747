"""The daily maintenance, owned by the config entry: layers, empty places, tunnels to propose."""

from datetime import datetime
import logging
from typing import Final
from zlib import crc32

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.event import async_track_time_change

from .core import MemoryManager, StorageError
from .runtime import AiMemoryConfigEntry

HOUR: Final = 4
"""In the small hours of the home, when hardly anybody asks for anything."""

_LOGGER: Final = logging.getLogger(__name__)


@callback
def maintain_daily(hass: HomeAssistant, entry: AiMemoryConfigEntry, manager: MemoryManager) -> None:
    """Move memories between the layers and look after the palace once a day.

    It happens at a minute of the entry's own.
    """

    async def maintain(_now: datetime) -> None:
        try:
            moves = await manager.maintain()
            await manager.places.tidy()
            proposed = await manager.places.propose_tunnels(_people(hass))
        except StorageError as err:
            _LOGGER.warning("The daily maintenance could not be finished: %s", err)
        else:
            _LOGGER.debug("%d memories moved, %d tunnels proposed", len(moves), proposed)

    minute = crc32(entry.entry_id.encode()) % 60
    entry.async_on_unload(
        async_track_time_change(hass, maintain, hour=HOUR, minute=minute, second=0)
    )


def _people(hass: HomeAssistant) -> list[str]:
    """Return the names of the people of the home, who may be what two rooms have in common."""
    return [state.name for state in hass.states.async_all("person")]
