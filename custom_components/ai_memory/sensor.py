"""The sensor that dashboards read: how many memories there are, where and in which layer.

Never any text of a memory and never a secret of the config entry: states are visible to every user
and are recorded.
"""

from typing import Any, Final

from homeassistant.components.sensor import SensorEntity
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import (
    CONF_EMBEDDING_ENGINE,
    CONF_IDENTITY,
    CONF_MAX_ENTRIES,
    SECRET_KEYS,
)
from .core import Change
from .engine_setup import showable
from .entity import AiMemoryEntity
from .runtime import AiMemoryConfigEntry, settings_of

PARALLEL_UPDATES: Final = 0
UNIQUE_ID: Final = "ai_memory_store"
ACTIVE: Final = "Active"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AiMemoryConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensor."""
    async_add_entities([MemorySensor(entry)])


class MemorySensor(AiMemoryEntity, SensorEntity):
    """The state of the memory and its figures."""

    _attr_name = None
    _attr_translation_key = "store"
    _attr_unique_id = UNIQUE_ID
    _attr_native_value = ACTIVE
    _unrecorded_attributes = frozenset(
        {
            "embedding_progress",
            "last_updated",
            "layer_distribution",
            "palace_structure",
            "wing_distribution",
        }
    )

    async def async_added_to_hass(self) -> None:
        """Follow the memory, its engine and the making of its vectors."""
        self.async_on_remove(self._manager.subscribe(self._changed))
        self.async_on_remove(self._manager.encoder.subscribe(self.async_write_ha_state))

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """Return the figures, and the settings in force without their secrets."""
        counts, settings = self._manager.counts(), settings_of(self._entry)
        last_change = self._manager.last_change
        shown = {name: value for name, value in settings.items() if name not in SECRET_KEYS}
        return showable(shown) | {
            CONF_EMBEDDING_ENGINE: self._manager.engine_name,
            CONF_MAX_ENTRIES: self._manager.max_entries,
            "embedding_progress": self._progress,
            "last_updated": last_change.isoformat() if last_change else None,
            "memory_counts": counts.by_scope,
            # Layer 0 is the identity text, which is no memory: it is there or not.
            "layer_distribution": {"L0": int(bool(settings.get(CONF_IDENTITY)))}
            | {f"L{layer}": count for layer, count in counts.layers.items()},
            "wing_distribution": counts.wings,
            "palace_structure": {"wings": counts.wing_total, "rooms": counts.room_total},
        }

    @property
    def _progress(self) -> dict[str, int] | None:
        """How far the vectors are, None while that is not known: it would look as if done."""
        pending = self._manager.pending_vectors
        if pending is None:
            return None
        return {"pending": pending, "vectors": self._manager.vector_count}

    @callback
    def _changed(self, _change: Change) -> None:
        self.async_write_ha_state()
