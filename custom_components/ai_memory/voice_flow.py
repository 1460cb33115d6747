"""The flow of a subentry *person of a satellite*: whose voice satellites or areas hear.

The config flow registers it; ``voice_persons`` reads what it stores.
"""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.selector import (
    AreaSelector,
    AreaSelectorConfig,
    DeviceSelector,
    DeviceSelectorConfig,
    EntityFilterSelectorConfig,
    EntitySelector,
    EntitySelectorConfig,
)

from .const import CONF_AREAS, CONF_PERSON, CONF_SATELLITES, SUBENTRY_VOICE
from .ha_compat import vol
from .voice_persons import VoicePerson, user_of_person

_FIELDS: Final[dict[vol.Marker, object]] = {
    vol.Required(CONF_PERSON): EntitySelector(EntitySelectorConfig(domain="person")),
    vol.Optional(CONF_SATELLITES, default=list): DeviceSelector(
        DeviceSelectorConfig(
            multiple=True, entity=EntityFilterSelectorConfig(domain="assist_satellite")
        )
    ),
    vol.Optional(CONF_AREAS, default=list): AreaSelector(AreaSelectorConfig(multiple=True)),
}


class VoicePersonFlow(ConfigSubentryFlow):
    """Assign satellites and areas to a person, or change that."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask who speaks where."""
        errors: dict[str, str] = {}
        if user_input is not None:
            data, errors = self._checked(user_input)
            if not errors:
                return self.async_create_entry(title=self._title(user_input), data=data)
        return self._show("user", user_input or {}, errors)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask the same again."""
        subentry, errors = self._get_reconfigure_subentry(), dict[str, str]()
        if user_input is not None:
            data, errors = self._checked(user_input)
            if not errors:
                return self.async_update_and_abort(
                    self._get_entry(), subentry, title=self._title(user_input), data=data
                )
        return self._show("reconfigure", user_input or self._shown(subentry.data), errors)

    def _show(
        self, step_id: str, shown: Mapping[str, Any], errors: dict[str, str]
    ) -> SubentryFlowResult:
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(vol.Schema(_FIELDS), shown),
            errors=errors,
        )

    def _shown(self, data: Mapping[str, Any]) -> dict[str, Any]:
        person = er.async_resolve_entity_id(er.async_get(self.hass), data[CONF_PERSON])
        shown = {name: value for name, value in data.items() if name != CONF_PERSON}
        return shown | ({CONF_PERSON: person} if person else {})

    def _checked(self, user_input: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what is to be stored, and the errors by field."""
        registered = er.async_get(self.hass).async_get(user_input[CONF_PERSON])
        data = {
            # An entity may be renamed.
            CONF_PERSON: registered.id if registered else user_input[CONF_PERSON],
            CONF_SATELLITES: user_input.get(CONF_SATELLITES, []),
            CONF_AREAS: user_input.get(CONF_AREAS, []),
        }
        wanted, errors = VoicePerson.of(data), dict[str, str]()
        if user_of_person(self.hass, wanted.person) is None:
            errors[CONF_PERSON] = "person_without_user"
        if not wanted.satellites and not wanted.areas:
            errors["base"] = "nothing_assigned"
        for other in self._others():
            if other.person == wanted.person:
                errors[CONF_PERSON] = "person_taken"
            if other.satellites & wanted.satellites:
                errors[CONF_SATELLITES] = "satellite_taken"
            if other.areas & wanted.areas:
                errors[CONF_AREAS] = "area_taken"
        return data, errors

    def _others(self) -> list[VoicePerson]:
        mine = self._reconfigure_subentry_id if self.source == SOURCE_RECONFIGURE else None
        return [
            VoicePerson.of(other.data)
            for other in self._get_entry().subentries.values()
            if other.subentry_type == SUBENTRY_VOICE and other.subentry_id != mine
        ]

    def _title(self, user_input: Mapping[str, Any]) -> str:
        person: str = user_input[CONF_PERSON]
        state = self.hass.states.get(person)
        return state.name if state else person
