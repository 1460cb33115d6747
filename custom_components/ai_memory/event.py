"""The event entity that automations use as a trigger when a memory changes.

Carries ids and places, never the text of a memory.
"""

from typing import Final

from homeassistant.components.event import EventEntity
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import IDS_TOLD
from .core import Action, Change
from .entity import AiMemoryEntity
from .runtime import AiMemoryConfigEntry

PARALLEL_UPDATES: Final = 0
UNIQUE_ID: Final = "ai_memory_changes"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AiMemoryConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the event entity."""
    async_add_entities([MemoryChangeEvent(entry)])


class MemoryChangeEvent(AiMemoryEntity, EventEntity):
    """Something was added, refreshed, updated, deleted or evicted."""

    _attr_translation_key = "changes"
    _attr_unique_id = UNIQUE_ID
    _unrecorded_attributes = frozenset({"memory_ids"})

    def __init__(self, entry: AiMemoryConfigEntry) -> None:
        """Announce every action."""
        super().__init__(entry)
        self._attr_event_types = [action.value for action in Action]

    async def async_added_to_hass(self) -> None:
        """Follow the changes of the memory."""
        self.async_on_remove(self._manager.subscribe(self._changed))

    @callback
    def _changed(self, change: Change) -> None:
        self._trigger_event(
            change.action.value,
            {
                "memory_ids": list(change.memory_ids[:IDS_TOLD]),
                "count": len(change.memory_ids),
                "scope": change.scope.value if change.scope else None,
                "wing": change.wing,
                "room": change.room,
            },
        )
        self.async_write_ha_state()
