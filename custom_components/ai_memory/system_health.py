"""What the system information page shows of the memory."""

from typing import Any

from homeassistant.components.system_health import SystemHealthRegistration
from homeassistant.core import HomeAssistant, callback

from .core import SCHEMA_VERSION
from .runtime import loaded_entry


@callback
def async_register(hass: HomeAssistant, register: SystemHealthRegistration) -> None:
    """Offer the figures."""
    register.async_register_info(_figures)


async def _figures(hass: HomeAssistant) -> dict[str, Any]:
    entry = loaded_entry(hass)
    if entry is None:
        return {"loaded": False}
    manager = entry.runtime_data.manager
    last_sweep = manager.anchors.last_sweep
    return {
        "loaded": True,
        "memories": manager.counts().total,
        "embedding_engine": manager.engine_name,
        "vectors": manager.vector_count,
        "database_size": f"{await manager.database_bytes() / 1024 / 1024:.1f} MiB",
        "schema_version": SCHEMA_VERSION,
        "anchor_sweep": last_sweep.at.isoformat() if last_sweep else None,
    }
