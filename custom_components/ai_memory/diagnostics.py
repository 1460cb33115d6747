"""The download that helps with a bug report: figures and settings, no text and no secret."""

from dataclasses import asdict
import sqlite3
from typing import Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.core import HomeAssistant

from .const import SECRET_KEYS
from .core import SCHEMA_VERSION
from .engine_setup import showable
from .place_options import PLACE_KEYS
from .runtime import AiMemoryConfigEntry


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: AiMemoryConfigEntry
) -> dict[str, Any]:
    """Return what the memory is made of."""
    manager = entry.runtime_data.manager
    counts, last_sweep = manager.counts(), manager.anchors.last_sweep
    return {
        "data": async_redact_data(showable(entry.data), SECRET_KEYS),
        "options": async_redact_data(showable(entry.options), SECRET_KEYS | PLACE_KEYS),
        "storage": {
            "schema_version": SCHEMA_VERSION,
            "sqlite_version": sqlite3.sqlite_version,
            "database_bytes": await manager.database_bytes(),
        },
        "engine": {
            "name": manager.engine_name,
            "fingerprint": manager.engine_fingerprint,
            "vectors": manager.vector_count,
            "similarity_floor": manager.floor.value,
            "calibrated_on": manager.floor.calibration and manager.floor.calibration.sample,
        },
        "anchors": {"last_sweep": asdict(last_sweep) if last_sweep else None},
        "memories": {
            **counts.by_scope,
            "layers": counts.layers,
            "wings": counts.wing_total,
            "rooms": counts.room_total,
        },
    }
