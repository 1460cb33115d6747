"""Offering the agent profiles while the entry is loaded, and what a person is told of removed ones.

Set-up calls this once the memory is open. Adding, changing or removing a profile needs no reload,
and a profile follows the wings that it names when they are renamed.
A removed profile's memories stay: a repair notice says how many, and a call of an action with the
profile's agent ID still reaches them.
"""

import logging
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .assist import ProfileApis
from .const import CONF_DEFAULT_WING, CONF_WINGS, DOMAIN
from .core import StorageError
from .profiles import api_id_of, is_profile
from .runtime import AiMemoryConfigEntry

REMOVED_ISSUE: Final = "profile_removed"
"""Says how many memories a profile left behind; it outlives a restart."""

_LOGGER: Final = logging.getLogger(__name__)


@callback
def offer_profiles(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> None:
    """Offer every profile, and follow what is changed about them."""
    apis = ProfileApis(hass, entry)
    entry.async_on_unload(apis.withdraw)

    async def follow(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> None:
        for profile_id, name in apis.follow().items():
            await _tell_removed(hass, entry, api_id_of(profile_id), name)

    @callback
    def renamed(old: str, new: str) -> None:
        _follow_wing(hass, entry, old, new)

    entry.async_on_unload(entry.add_update_listener(follow))
    entry.async_on_unload(entry.runtime_data.manager.places.on_renamed(renamed))


@callback
def _follow_wing(hass: HomeAssistant, entry: AiMemoryConfigEntry, old: str, new: str) -> None:
    """Let profiles know a wing by its new name, or their agents would look for one that is gone."""
    for subentry in list(entry.subentries.values()):
        if not is_profile(subentry.subentry_type):
            continue
        data = {**subentry.data}
        if old in (data.get(CONF_WINGS) or ()):
            named = (new if wing == old else wing for wing in data[CONF_WINGS])
            data[CONF_WINGS] = list(dict.fromkeys(named))
        if data.get(CONF_DEFAULT_WING) == old:
            data[CONF_DEFAULT_WING] = new
        hass.config_entries.async_update_subentry(entry, subentry, data=data)


async def _tell_removed(
    hass: HomeAssistant, entry: AiMemoryConfigEntry, agent: str, name: str
) -> None:
    """Say how many memories stay behind, where there are any."""
    try:
        left = await entry.runtime_data.manager.count_private(agent)
    except StorageError as err:
        _LOGGER.warning(
            "The memories of the removed profile %s could not be counted: %s", name, err
        )
        return
    _LOGGER.info("The profile %s (%s) was removed; it leaves %d memories", name, agent, left)
    if not left:
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        f"{REMOVED_ISSUE}_{agent}",
        is_fixable=False,
        is_persistent=True,
        severity=ir.IssueSeverity.WARNING,
        translation_key=REMOVED_ISSUE,
        translation_placeholders={"name": name, "count": str(left), "agent_id": agent},
    )


@callback
def forget_removed(hass: HomeAssistant) -> None:
    """Take the notices back."""
    for domain, issue_id in list(ir.async_get(hass).issues):
        if domain == DOMAIN and issue_id.startswith(REMOVED_ISSUE):
            ir.async_delete_issue(hass, DOMAIN, issue_id)
