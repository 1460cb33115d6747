"""The daily maintenance of the layers, owned by the config entry."""

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
    """Move memories between the layers once a day, at a minute of the entry's own."""

    async def maintain(_now: datetime) -> None:
        try:
            moves = await manager.maintain()
        except StorageError as err:
            _LOGGER.warning("The layers could not be maintained: %s", err)
        else:
            _LOGGER.debug("%d memories moved to another layer", len(moves))

    minute = crc32(entry.entry_id.encode()) % 60
    entry.async_on_unload(
        async_track_time_change(hass, maintain, hour=HOUR, minute=minute, second=0)
    )
