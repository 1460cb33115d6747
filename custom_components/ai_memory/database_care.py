"""Looking after the database: a check every night, and what a person is told after a repair.

Set-up calls this once the memory is open. The check and the repair are the core's; a file that the
check finds damaged is repaired by setting the entry up again, when nothing else has it open.
"""

from datetime import datetime, timedelta
import logging
from typing import Final
from zlib import crc32

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.event import async_track_time_change
from homeassistant.util.hass_dict import HassKey

from .backup import backup_is_running
from .const import DOMAIN
from .core import MemoryManager, StorageError
from .runtime import AiMemoryConfigEntry

FIRST_CHECK: Final = timedelta(hours=3, minutes=15)
LATEST_AFTER_SECONDS: Final = 30 * 60
"""Every home has a moment of its own within this time: disks are often shared."""

SALVAGED_ISSUE: Final = "database_salvaged"
"""Says how many memories came back and where the damaged database is; it outlives a restart."""

UNKNOWN: Final = "?"

_DISTRUSTED: Final[HassKey[bool]] = HassKey(f"{DOMAIN}_distrusted")

_LOGGER: Final = logging.getLogger(__name__)


@callback
def check_nightly(hass: HomeAssistant, entry: AiMemoryConfigEntry, manager: MemoryManager) -> None:
    """Look every night whether the database is whole, and have it repaired if it is not."""

    async def check(_now: datetime) -> None:
        if backup_is_running(hass):
            return
        try:
            damage = await manager.find_damage()
        except StorageError as err:
            _LOGGER.warning("The database could not be checked: %s", err)
            return
        if damage is not None:
            _LOGGER.error("The database is damaged: %s", damage)
            hass.data[_DISTRUSTED] = True
            hass.config_entries.async_schedule_reload(entry.entry_id)

    @callback
    def begin(now: datetime) -> None:
        entry.async_create_background_task(hass, check(now), "ai_memory integrity check")

    hour, minute, second = check_time(entry.entry_id)
    entry.async_on_unload(
        async_track_time_change(hass, begin, hour=hour, minute=minute, second=second)
    )


def check_time(entry_id: str) -> tuple[int, int, int]:
    """Return hour, minute and second, in local time, of the nightly check."""
    seconds = crc32(entry_id.encode()) % LATEST_AFTER_SECONDS + int(FIRST_CHECK.total_seconds())
    return seconds // 3600, seconds // 60 % 60, seconds % 60


@callback
def is_distrusted(hass: HomeAssistant) -> bool:
    """Return, once, whether the last check found the database damaged."""
    return hass.data.pop(_DISTRUSTED, False)


@callback
def tell_salvaged(hass: HomeAssistant, manager: MemoryManager) -> None:
    """Show what came back from a damaged database."""
    salvaged = manager.salvaged
    if salvaged is None:
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        SALVAGED_ISSUE,
        is_fixable=False,
        is_persistent=True,
        severity=ir.IssueSeverity.ERROR,
        translation_key=SALVAGED_ISSUE,
        translation_placeholders={
            "restored": str(salvaged.restored),
            "lost": UNKNOWN if salvaged.lost is None else str(salvaged.lost),
            "aside": str(salvaged.aside),
        },
    )


@callback
def forget_salvaged(hass: HomeAssistant) -> None:
    """Take the notice back."""
    ir.async_delete_issue(hass, DOMAIN, SALVAGED_ISSUE)
