"""Whose voice a satellite hears: the person to whom it, or its area, was assigned.

Home Assistant knows no person behind a satellite. Without an assignment, what is said there and
kept in private is the agent's; with one it is that person's, as in a chat. The Assist door asks
here for every request; the subentries *person of a satellite* hold the assignments.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.llm import LLMContext

from .const import CONF_AREAS, CONF_PERSON, CONF_SATELLITES, SUBENTRY_VOICE
from .ha_compat import area_of

PERSON_USER: Final = "user_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoicePerson:
    """The satellites and areas of one person; ``person`` is the entity or its registry id."""

    person: str
    satellites: frozenset[str]
    areas: frozenset[str]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "VoicePerson":
        """Return what a subentry holds."""
        return cls(
            person=data[CONF_PERSON],
            satellites=frozenset(data.get(CONF_SATELLITES, ())),
            areas=frozenset(data.get(CONF_AREAS, ())),
        )


def voice_persons(entry: ConfigEntry) -> list[VoicePerson]:
    """Return every assignment of the entry."""
    return [
        VoicePerson.of(one.data)
        for one in entry.subentries.values()
        if one.subentry_type == SUBENTRY_VOICE
    ]


def person_behind(
    assigned: Iterable[VoicePerson], device_id: str | None, area_id: str | None
) -> str | None:
    """Return the person of a satellite: its own before that of its area.

    Nobody where two persons share one: a private memory must not reach the wrong one.
    """
    assigned = list(assigned)
    owners = {one.person for one in assigned if device_id in one.satellites}
    if not owners:
        owners = {one.person for one in assigned if area_id in one.areas}
    return owners.pop() if len(owners) == 1 else None


def speaker(hass: HomeAssistant, entry: ConfigEntry, context: LLMContext) -> str | None:
    """Return the user who speaks: the one that is known, else the person of the satellite."""
    if context.context is not None and context.context.user_id:
        return context.context.user_id
    if not context.device_id or not (assigned := voice_persons(entry)):
        return None
    device = dr.async_get(hass).async_get(context.device_id)
    area_id = None if device is None else area_of(hass, device)
    person = person_behind(assigned, context.device_id, area_id)
    return None if person is None else user_of_person(hass, person)


def user_of_person(hass: HomeAssistant, person: str) -> str | None:
    """Return the user of a person, None for who has none or is not there any more."""
    entity_id = er.async_resolve_entity_id(er.async_get(hass), person)
    state = hass.states.get(entity_id) if entity_id else None
    user: str | None = state.attributes.get(PERSON_USER) if state else None
    return user or None
