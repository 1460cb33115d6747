"""What every entity of the memory shares: the one service device and the manager behind it."""

from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity import Entity

from .const import DOMAIN, NAME
from .runtime import AiMemoryConfigEntry


class AiMemoryEntity(Entity):
    """An entity that is told of every change instead of asking for it."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, entry: AiMemoryConfigEntry) -> None:
        """Belong to the device of the config entry."""
        self._entry = entry
        self._manager = entry.runtime_data.manager
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, entry.entry_id)},
            entry_type=DeviceEntryType.SERVICE,
            name=NAME,
            manufacturer=NAME,
        )
