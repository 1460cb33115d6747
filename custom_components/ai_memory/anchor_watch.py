"""Looking after the entities that memories are about, on behalf of the config entry.

An entity is there while it has a state or is registered, so one that is disabled or unavailable is.
While Home Assistant starts, and where nothing of the entity's domain is loaded, nobody can tell,
and an anchor keeps its state. Registered entities are followed as they are renamed, removed and
created; the sweep finds what became of all others, and of what happened while the entry was not
loaded, when a renamed entity can only be missed. The entry owns everything that is started here.
"""

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta
import logging
from typing import Any, Final

from homeassistant.core import (
    CALLBACK_TYPE,
    CoreState,
    Event,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util

from .const import CONF_ANCHOR_SWEEP_HOURS, DEFAULT_ANCHOR_SWEEP_HOURS
from .core import Caller, EntityCheck, MemoryManager, StorageError, Sweep
from .runtime import AiMemoryConfigEntry, settings_of

FIRST_SWEEP_SECONDS: Final = 300.0
"""After the start: by then, what comes late is there."""

_SWEEPER: Final = Caller(source="sweep")

_LOGGER: Final = logging.getLogger(__name__)


@callback
def entity_check(hass: HomeAssistant) -> EntityCheck:
    """Return the function that tells whether the home has an entity."""
    registry = er.async_get(hass)

    def check(entity_id: str) -> bool | None:
        if hass.states.get(entity_id) or registry.async_is_registered(entity_id):
            return True
        domain = entity_id.partition(".")[0]
        if hass.state is not CoreState.running or domain not in hass.config.components:
            return None
        return False

    return check


@callback
def watch_anchors(hass: HomeAssistant, entry: AiMemoryConfigEntry, manager: MemoryManager) -> None:
    """Sweep at intervals, and follow the entity registry meanwhile."""
    followed = _Registry(manager)
    entry.async_create_background_task(hass, followed.keep_up(), "ai_memory anchors")
    entry.async_on_unload(hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, followed.changed))
    sweeps = _Sweeps(hass, entry, manager)
    entry.async_on_unload(async_at_started(hass, sweeps.begin))
    entry.async_on_unload(sweeps.end)


class _Sweeps:
    """The sweep, each time it is due."""

    def __init__(
        self, hass: HomeAssistant, entry: AiMemoryConfigEntry, manager: MemoryManager
    ) -> None:
        """Read the interval."""
        hours = settings_of(entry).get(CONF_ANCHOR_SWEEP_HOURS, DEFAULT_ANCHOR_SWEEP_HOURS)
        self._interval = timedelta(hours=hours)
        self._hass = hass
        self._entry = entry
        self._manager = manager
        self._cancel: CALLBACK_TYPE | None = None
        self._before: Sweep | None = None

    @callback
    def begin(self, _hass: HomeAssistant) -> None:
        """Wait for the first sweep after the start."""
        self._wait(max(FIRST_SWEEP_SECONDS, self._remaining()))

    @callback
    def end(self) -> None:
        """Wait no more."""
        if self._cancel is not None:
            self._cancel()

    @callback
    def _wait(self, seconds: float) -> None:
        self._before = self._manager.anchors.last_sweep
        self._cancel = async_call_later(self._hass, seconds, self._due)

    @callback
    def _due(self, _now: datetime) -> None:
        if self._manager.anchors.last_sweep is not self._before:
            # Somebody had it swept meanwhile.
            self._wait(self._remaining())
            return
        self._entry.async_create_background_task(self._hass, self._sweep(), "ai_memory sweep")
        self._wait(self._interval.total_seconds())

    def _remaining(self) -> float:
        """Return the seconds until the next sweep, of a clock that may have been set back."""
        last = self._manager.anchors.last_sweep
        if last is None:
            return 0
        passed = max(timedelta(), dt_util.utcnow() - last.at)
        return (self._interval - passed).total_seconds()

    async def _sweep(self) -> None:
        await _tried(self._manager.anchors.sweep(_SWEEPER))


class _Registry:
    """What happens to registered entities, written down one after the other."""

    def __init__(self, manager: MemoryManager) -> None:
        """Start with nothing to write down."""
        self._manager = manager
        self._events: asyncio.Queue[er.EventEntityRegistryUpdatedData] = asyncio.Queue()

    @callback
    def changed(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        """Take note of what makes an entity come, go or be named otherwise."""
        if event.data["action"] != "update" or "old_entity_id" in event.data:
            self._events.put_nowait(event.data)

    async def keep_up(self) -> None:
        """Bring the anchors up to date with each change, until the entry ends."""
        while True:
            data = await self._events.get()
            await _tried(self._follow(data))

    async def _follow(self, data: er.EventEntityRegistryUpdatedData) -> None:
        anchors, entity_id = self._manager.anchors, data["entity_id"]
        if data["action"] == "create":
            await anchors.entity_came(entity_id)
        elif data["action"] == "remove":
            await anchors.entity_went(entity_id)
        elif "old_entity_id" in data:
            await anchors.entity_renamed(data["old_entity_id"], entity_id)


async def _tried(work: Coroutine[Any, Any, object]) -> None:
    """Do what the next sweep would do as well if this fails."""
    try:
        await work
    except StorageError as err:
        _LOGGER.warning("The anchors of memories could not be brought up to date: %s", err)
