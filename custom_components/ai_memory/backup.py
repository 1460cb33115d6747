"""Home Assistant's backup platform: the database is complete and still while it is copied.

The backup integration calls both functions, for its own backups and for the Supervisor's. An error
in one of them would fail the whole backup, so none leaves this module. Set-up and unloading wait
here too, because they write to the file. How the file is held is the core's (``file_hold``).
"""

import asyncio
from dataclasses import dataclass, field
import logging
from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN
from .core import MemoryManager, StorageError
from .runtime import loaded_entry

READY_SECONDS: Final = 60.0
"""How long a backup waits for writes that were begun before it."""

SETUP_WAITS_SECONDS: Final = 600.0
"""How long setting up or unloading waits for a backup, which may never be said to be over."""


@dataclass(slots=True)
class _Backup:
    """A backup under way, and the memory that it holds still, if one was open."""

    manager: MemoryManager | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)


_RUNNING: Final[HassKey[_Backup]] = HassKey(f"{DOMAIN}_backup")

_LOGGER: Final = logging.getLogger(__name__)


async def async_pre_backup(hass: HomeAssistant) -> None:
    """Fold everything into the file and let writers wait."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            await _begin(hass)
    except (TimeoutError, StorageError) as err:
        _LOGGER.error(  # noqa: TRY400 - a backup of everything else is still worth having
            "The memory could not be held still for the backup, which may lack what was written"
            " last: %s",
            err or "it is too busy",
        )


async def async_post_backup(hass: HomeAssistant) -> None:
    """Let the writers go on."""
    backup = hass.data.pop(_RUNNING, None)
    if backup is None:
        return
    backup.over.set()
    if backup.manager is not None:
        await backup.manager.release_file()


async def wait_for_backup(hass: HomeAssistant) -> None:
    """Wait until no backup copies the file, or until it took too long to be true."""
    backup = hass.data.get(_RUNNING)
    if backup is None:
        return
    try:
        async with asyncio.timeout(SETUP_WAITS_SECONDS):
            await backup.over.wait()
    except TimeoutError:
        _LOGGER.warning("Nobody said that the backup is over: going on without waiting")


def backup_is_running(hass: HomeAssistant) -> bool:
    """Return whether the file is being copied."""
    return _RUNNING in hass.data


async def _begin(hass: HomeAssistant) -> None:
    # The end of a backup before this one may never have been told.
    await async_post_backup(hass)
    entry = next(iter(hass.config_entries.async_entries(DOMAIN)), None)
    if entry is None:
        return
    # A memory that is just being opened or closed writes: first it must be one or the other.
    async with entry.setup_lock:
        backup = hass.data[_RUNNING] = _Backup()
        if (loaded := loaded_entry(hass)) is not None:
            backup.manager = loaded.runtime_data.manager
            await backup.manager.hold_file()
