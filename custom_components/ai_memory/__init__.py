"""AI Memory: one long-term memory for the home, its voice agents and its automations.

Sets up and tears down: services once, then for the one config entry the database, the LLM API and
the entities. The memory itself lives in ``core`` and the doors in their own modules.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from homeassistant.config_entries import UpdateListenerType
from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE, Platform
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryError, ConfigEntryNotReady
from homeassistant.helpers import config_validation as cv, issue_registry as ir
from homeassistant.helpers.typing import ConfigType
from homeassistant.loader import async_get_integration
from homeassistant.util import dt as dt_util

from .anchor_watch import entity_check, watch_anchors
from .backup import wait_for_backup
from .const import (
    CONF_ARCHIVE_DAYS,
    CONF_EMBED_TIMEOUT,
    CONF_MAX_ENTRIES,
    CONF_PROMOTION_USES,
    CONF_RETENTION_DAYS,
    CONF_SECRET_SCREEN,
    CONF_SIMILARITY_FLOOR,
    DATABASE_FILE_NAME,
    DEFAULT_MAX_ENTRIES,
    DOMAIN,
    EVENT_UPDATED,
    IDS_TOLD,
    MAX_ENTRIES_MAXIMUM,
    MAX_ENTRIES_MINIMUM,
)
from .core import (
    DEFAULT_QUERY_TIMEOUT_SECONDS,
    Change,
    Database,
    DatabaseLockedError,
    LayerRules,
    MemoryManager,
    StorageError,
    Strictness,
)
from .core.forgetting import DEFAULT_RETENTION_DAYS
from .core.layers import DEFAULT_ARCHIVE_DAYS, DEFAULT_PROMOTION_USES
from .core.screen import HOME
from .database_care import check_nightly, forget_salvaged, is_distrusted, tell_salvaged
from .engine_setup import forget_builtin_refused, make_engine, watch_engine
from .maintenance import maintain_daily
from .mcp.door import open_door
from .mcp.views import async_register_views
from .migration import async_migrate_entry
from .profile_setup import forget_removed, offer_profiles
from .runtime import AiMemoryConfigEntry, AiMemoryRuntime, settings_of
from .services import async_setup_services
from .takeover import forget_taken_over, tell_taken_over
from .workshop_options import workshop_places, workshop_rules

__all__ = [
    "async_migrate_entry",
    "async_remove_entry",
    "async_setup",
    "async_setup_entry",
    "async_unload_entry",
]

CONFIG_SCHEMA: Final = cv.config_entry_only_config_schema(DOMAIN)
PLATFORMS: Final = [Platform.EVENT, Platform.SENSOR, Platform.TODO]
DATABASE_ISSUE: Final = "database"


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Register the services and the views, which exist whether or not an entry is loaded."""
    async_setup_services(hass)
    async_register_views(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> bool:
    """Open the memory and everything that offers it."""
    # First of all: what is changed while the memory opens must not be missed.
    entry.async_on_unload(entry.add_update_listener(_reloader(settings_of(entry))))
    await wait_for_backup(hass)
    manager = _create_manager(hass, entry)
    await _open(hass, manager)
    version = (await async_get_integration(hass, DOMAIN)).version
    door = open_door(entry, manager, str(version))
    entry.runtime_data = AiMemoryRuntime(manager, door)
    entry.async_on_unload(entry.add_update_listener(door.follow))
    entry.async_on_unload(door.close)
    tell_taken_over(hass, entry, manager)
    tell_salvaged(hass, manager)

    async def close_at_shutdown(_event: Event) -> None:
        await manager.close()

    try:
        entry.async_on_unload(
            hass.bus.async_listen_once(EVENT_HOMEASSISTANT_CLOSE, close_at_shutdown)
        )
        entry.async_on_unload(manager.subscribe(_event_firer(hass)))
        watch_engine(hass, entry, manager)
        maintain_daily(hass, entry, manager)
        check_nightly(hass, entry, manager)
        watch_anchors(hass, entry, manager)
        offer_profiles(hass, entry)
        await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    except BaseException:
        await manager.close()
        raise
    return True


async def async_unload_entry(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> bool:
    """Remove the entities, then close the memory."""
    await wait_for_backup(hass)
    unloaded = await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
    if unloaded:
        await entry.runtime_data.manager.close()
    return unloaded


async def async_remove_entry(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> None:
    """Keep the database, which is the user's, and drop what was said about it."""
    ir.async_delete_issue(hass, DOMAIN, DATABASE_ISSUE)
    forget_builtin_refused(hass)
    forget_removed(hass)
    forget_salvaged(hass)
    forget_taken_over(hass)


def _create_manager(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> MemoryManager:
    settings = settings_of(entry)
    return MemoryManager(
        Database(Path(hass.config.path(DATABASE_FILE_NAME))),
        make_engine(hass, settings),
        max_entries=_max_entries(settings),
        local_now=dt_util.now,
        layer_rules=LayerRules(
            settings.get(CONF_PROMOTION_USES, DEFAULT_PROMOTION_USES),
            settings.get(CONF_ARCHIVE_DAYS, DEFAULT_ARCHIVE_DAYS),
        ),
        similarity_floor=settings.get(CONF_SIMILARITY_FLOOR),
        retention_deleted_days=settings.get(CONF_RETENTION_DAYS, DEFAULT_RETENTION_DAYS),
        query_timeout_seconds=settings.get(CONF_EMBED_TIMEOUT, DEFAULT_QUERY_TIMEOUT_SECONDS),
        home_screen=_home_screen(settings),
        distrusted=is_distrusted(hass),
        check_entity=entity_check(hass),
        workshop=workshop_rules(settings),
        workshop_places=workshop_places(settings),
        spawn=lambda work, name: entry.async_create_background_task(hass, work, name),
    )


def _max_entries(settings: Mapping[str, Any]) -> int:
    """Return the capacity, or the default where damaged settings hold none."""
    wanted = settings.get(CONF_MAX_ENTRIES)
    if isinstance(wanted, int) and MAX_ENTRIES_MINIMUM <= wanted <= MAX_ENTRIES_MAXIMUM:
        return wanted
    return DEFAULT_MAX_ENTRIES


def _home_screen(settings: Mapping[str, Any]) -> Strictness:
    """Return how strict the home's doors are, or the default where damaged settings say nothing."""
    wanted = settings.get(CONF_SECRET_SCREEN)
    return Strictness(wanted) if wanted in set(Strictness) else HOME


async def _open(hass: HomeAssistant, manager: MemoryManager) -> None:
    """Open the database, or raise a repair issue that says what a person can do."""
    try:
        await manager.open()
    except StorageError as err:
        await manager.close()
        ir.async_create_issue(
            hass,
            DOMAIN,
            DATABASE_ISSUE,
            is_fixable=False,
            severity=ir.IssueSeverity.ERROR,
            translation_key=err.key,
            translation_placeholders=err.placeholders,
        )
        kind = ConfigEntryNotReady if isinstance(err, DatabaseLockedError) else ConfigEntryError
        raise kind(
            translation_domain=DOMAIN,
            translation_key=err.key,
            translation_placeholders=err.placeholders,
        ) from err
    except BaseException:
        await manager.close()
        raise
    ir.async_delete_issue(hass, DOMAIN, DATABASE_ISSUE)


def _event_firer(hass: HomeAssistant) -> Callable[[Change], None]:
    @callback
    def fire(change: Change) -> None:
        """Tell the bus what changed: ids, places and counts, never text."""
        hass.bus.async_fire(
            EVENT_UPDATED,
            {
                "action": change.action.value,
                "memory_ids": list(change.memory_ids[:IDS_TOLD]),
                "count": len(change.memory_ids),
                "scope": change.scope.value if change.scope else None,
                "wing": change.wing,
                "room": change.room,
                "counts": change.counts.by_scope,
            },
        )

    return fire


def _reloader(opened_with: Mapping[str, Any]) -> UpdateListenerType:
    async def reload(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> None:
        """Apply changed settings; clients, profiles and assignments need no reload."""
        if settings_of(entry) != opened_with:
            await hass.config_entries.async_reload(entry.entry_id)

    return reload
