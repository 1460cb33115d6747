"""The flow of a subentry *agent profile*: an agent with a name, an identity and bounds of its own.

The config flow registers it. Its title is the profile's name; ``profiles`` reads what it stores.
"""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigEntryState,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
)
from slugify import slugify

from .const import (
    CONF_DEFAULT_WING,
    CONF_IDENTITY,
    CONF_NAME,
    CONF_RECALL,
    CONF_STANDING_TOKENS,
    CONF_TOOLS,
    CONF_WINGS,
    DEFAULT_RECALL,
    DEFAULT_STANDING_TOKENS,
    IDENTITY_LIMIT_CHARACTERS,
    STANDING_TOKENS_MAXIMUM,
    TOOLS_FULL,
    TOOLS_READ_ONLY,
)
from .core import InvalidInputError, clean_text
from .core.models import is_workshop
from .core.palace import DEFAULT_WINGS
from .core.text_input import place_name
from .ha_compat import vol
from .profiles import api_id_of, is_profile

NAME_LIMIT_CHARACTERS: Final = 32
SLUG_LIMIT_CHARACTERS: Final = 36
"""Older versions put the name of an API before that of a tool, and providers take 64 in all."""

WINGS_MAXIMUM: Final = 50

_IDENTITY: Final = TextSelector(TextSelectorConfig(multiline=True))
_TOKENS: Final = NumberSelector(NumberSelectorConfig(mode=NumberSelectorMode.BOX, step=1))
_TOOLS: Final = SelectSelector(
    SelectSelectorConfig(options=[TOOLS_FULL, TOOLS_READ_ONLY], translation_key=CONF_TOOLS)
)


class AgentProfileFlow(ConfigSubentryFlow):
    """Add an agent profile, or change one."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for everything about a new profile."""
        errors: dict[str, str] = {}
        if user_input is not None:
            name, data, errors = self._checked(user_input)
            if not errors:
                return self.async_create_entry(title=name, data=data)
        return self._show("user", user_input or {}, errors)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask the same again."""
        subentry, errors = self._get_reconfigure_subentry(), dict[str, str]()
        if user_input is not None:
            name, data, errors = self._checked(user_input)
            if not errors:
                return self.async_update_and_abort(
                    self._get_entry(), subentry, title=name, data=data
                )
        shown = user_input or {**subentry.data, CONF_NAME: subentry.title}
        return self._show("reconfigure", shown, errors, agent_id=api_id_of(subentry.subentry_id))

    def _show(
        self, step_id: str, shown: Mapping[str, Any], errors: dict[str, str], **told: str
    ) -> SubentryFlowResult:
        schema = vol.Schema(_fields(self._known_wings()))
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, shown),
            errors=errors,
            description_placeholders={
                "most_characters": str(IDENTITY_LIMIT_CHARACTERS),
                "most_tokens": str(STANDING_TOKENS_MAXIMUM),
                **told,
            },
        )

    def _known_wings(self) -> list[str]:
        """Return the wings of the home, as far as they can be told now."""
        entry, wings = self._get_entry(), [wing.name for wing in DEFAULT_WINGS]
        if entry.state is ConfigEntryState.LOADED:
            wings += entry.runtime_data.manager.counts().wings
        return [wing for wing in dict.fromkeys(wings) if not is_workshop(wing)]

    def _checked(self, user_input: Mapping[str, Any]) -> tuple[str, dict[str, Any], dict[str, str]]:
        """Return the name, what is to be stored, and the errors by field."""
        errors: dict[str, str] = {}
        name = " ".join(user_input[CONF_NAME].split())
        if error := self._wrong_name(name):
            errors[CONF_NAME] = error
        data: dict[str, Any] = {
            CONF_IDENTITY: user_input.get(CONF_IDENTITY, "").strip(),
            CONF_TOOLS: user_input[CONF_TOOLS],
            CONF_RECALL: user_input[CONF_RECALL],
        }
        if error := wrong_identity(data[CONF_IDENTITY]):
            errors[CONF_IDENTITY] = error
        tokens = user_input[CONF_STANDING_TOKENS]
        if not 0 <= tokens <= STANDING_TOKENS_MAXIMUM:
            errors[CONF_STANDING_TOKENS] = "standing_tokens_out_of_range"
        else:
            data[CONF_STANDING_TOKENS] = int(tokens)
        return name, data | _checked_wings(user_input, errors), errors

    def _wrong_name(self, name: str) -> str | None:
        try:
            name = clean_text(name, CONF_NAME, NAME_LIMIT_CHARACTERS)
        except InvalidInputError as err:
            return "name_too_long" if err.key == "too_long" else "name_unusable"
        # Tools are told apart by what Home Assistant makes of the names of their APIs.
        slug = slugify(name)
        if not slug or not name.isprintable():
            return "name_unusable"
        if len(slug) > SLUG_LIMIT_CHARACTERS:
            return "name_too_long"
        mine = self._reconfigure_subentry_id if self.source == SOURCE_RECONFIGURE else None
        taken = any(
            is_profile(other.subentry_type)
            and other.subentry_id != mine
            and slugify(other.title) == slug
            for other in self._get_entry().subentries.values()
        )
        return "name_taken" if taken else None


def wrong_identity(identity: str) -> str | None:
    """Return what is wrong with an identity text, if anything."""
    if len(identity) > IDENTITY_LIMIT_CHARACTERS:
        return "identity_too_long"
    try:
        clean_text(identity, CONF_IDENTITY, 2 * IDENTITY_LIMIT_CHARACTERS)
    except InvalidInputError:
        return "identity_unusable"
    return None


def _checked_wings(user_input: Mapping[str, Any], errors: dict[str, str]) -> dict[str, Any]:
    """Return the wings by their names in the palace; what is wrong with them goes to ``errors``."""
    try:
        named = [_wing_of_the_home(wing, CONF_WINGS) for wing in user_input.get(CONF_WINGS, ())]
    except InvalidInputError:
        named = []
        errors[CONF_WINGS] = "wing_invalid"
    wings = list(dict.fromkeys(wing for wing in named if wing))
    if len(wings) > WINGS_MAXIMUM:
        errors[CONF_WINGS] = "too_many_wings"
    try:
        default = _wing_of_the_home(user_input.get(CONF_DEFAULT_WING), CONF_DEFAULT_WING)
    except InvalidInputError:
        errors[CONF_DEFAULT_WING] = "wing_invalid"
        return {}
    if wings and default and default not in wings:
        errors[CONF_DEFAULT_WING] = "default_wing_not_allowed"
    return {CONF_WINGS: wings} | ({CONF_DEFAULT_WING: default} if default else {})


def _wing_of_the_home(raw: str | None, field: str) -> str | None:
    """Return the name of a wing that an agent of the home can see. Raises InvalidInputError."""
    name = place_name(raw, field)
    if name is not None and is_workshop(name):
        raise InvalidInputError("invalid_name", field=field)
    return name


def _fields(wings: list[str]) -> dict[vol.Marker, object]:
    one = SelectSelectorConfig(options=wings, custom_value=True, mode=SelectSelectorMode.DROPDOWN)
    some = SelectSelectorConfig(
        options=wings, custom_value=True, multiple=True, mode=SelectSelectorMode.DROPDOWN
    )
    return {
        vol.Required(CONF_NAME): TextSelector(),
        vol.Optional(CONF_IDENTITY): _IDENTITY,
        vol.Required(CONF_TOOLS, default=TOOLS_FULL): _TOOLS,
        vol.Optional(CONF_DEFAULT_WING): SelectSelector(one),
        vol.Optional(CONF_WINGS, default=list): SelectSelector(some),
        vol.Required(CONF_STANDING_TOKENS, default=DEFAULT_STANDING_TOKENS): _TOKENS,
        vol.Required(CONF_RECALL, default=DEFAULT_RECALL): BooleanSelector(),
    }
