"""What a person is told, and what the entry needs, after the memory took over an old database.

Set-up calls this once the memory is open; the taking over itself is the core's.
"""

from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import CONF_MAX_ENTRIES, CONF_PREVIOUS_API, DOMAIN, MAX_ENTRIES_MAXIMUM
from .core import MemoryManager
from .runtime import AiMemoryConfigEntry

TAKEN_OVER_ISSUE: Final = "previous_database_taken_over"
"""Says how many memories came over and where the old database is; it outlives a restart."""


@callback
def tell_taken_over(
    hass: HomeAssistant, entry: AiMemoryConfigEntry, manager: MemoryManager
) -> None:
    """Show what came over from the integration before, make room for it and mark the entry."""
    taken = manager.taken_over
    if taken is None:
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        TAKEN_OVER_ISSUE,
        is_fixable=False,
        is_persistent=True,
        severity=ir.IssueSeverity.WARNING,
        translation_key=TAKEN_OVER_ISSUE,
        translation_placeholders={
            "memories": str(taken.total),
            "private": str(taken.private),
            "version": taken.version,
            "backup": str(taken.backup),
        },
    )
    data, options = {**entry.data, CONF_PREVIOUS_API: True}, dict(entry.options)
    if taken.total >= manager.max_entries:
        # Memories beyond the capacity would have to make room for the next one.
        place = options if CONF_MAX_ENTRIES in options else data
        place[CONF_MAX_ENTRIES] = min(taken.total, MAX_ENTRIES_MAXIMUM)
    hass.config_entries.async_update_entry(entry, data=data, options=options)


@callback
def forget_taken_over(hass: HomeAssistant) -> None:
    """Take the notice back."""
    ir.async_delete_issue(hass, DOMAIN, TAKEN_OVER_ISSUE)
