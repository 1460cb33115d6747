"""The set-up and the options of the one config entry.

Set-up never asks an encoder for anything: the default engine is part of the integration.
"""

from typing import Any, Final

from homeassistant.config_entries import ConfigEntry, ConfigFlow, ConfigFlowResult, OptionsFlow
from homeassistant.core import callback
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
)

from .const import (
    CONF_ASSIST_TOOLS,
    CONF_EMBEDDING_ENGINE,
    CONF_MAX_ENTRIES,
    DEFAULT_ASSIST_TOOLS,
    DEFAULT_MAX_ENTRIES,
    DOMAIN,
    MAX_ENTRIES_MAXIMUM,
    MAX_ENTRIES_MINIMUM,
    NAME,
)
from .embedding import DEFAULT_ENGINE
from .ha_compat import HAS_LLM_PLATFORM, vol
from .runtime import settings_of

ENTRY_VERSION: Final = 4
"""One above the last version of the integration whose entries and database this one takes over."""

_MAX_ENTRIES: Final = NumberSelector(NumberSelectorConfig(mode=NumberSelectorMode.BOX, step=1))
_ENGINE: Final = SelectSelector(
    SelectSelectorConfig(options=[DEFAULT_ENGINE], translation_key=CONF_EMBEDDING_ENGINE)
)


class AiMemoryConfigFlow(ConfigFlow, domain=DOMAIN):
    """Set up the memory."""

    VERSION = ENTRY_VERSION

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask how much to keep and how to find it."""
        errors: dict[str, str] = {}
        if user_input is not None:
            data, errors = _checked(user_input)
            if not errors:
                return self.async_create_entry(title=NAME, data=data)
        schema = vol.Schema(
            {
                vol.Required(CONF_MAX_ENTRIES, default=DEFAULT_MAX_ENTRIES): _MAX_ENTRIES,
                vol.Required(CONF_EMBEDDING_ENGINE, default=DEFAULT_ENGINE): _ENGINE,
            }
        )
        return self.async_show_form(
            step_id="user",
            data_schema=self.add_suggested_values_to_schema(schema, user_input),
            errors=errors,
            description_placeholders=_limits(),
        )

    @staticmethod
    @callback
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Return the options."""
        return AiMemoryOptionsFlow()


class AiMemoryOptionsFlow(OptionsFlow):
    """Change what set-up chose."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show and save every option."""
        errors: dict[str, str] = {}
        if user_input is not None:
            data, errors = _checked(user_input)
            if not errors:
                return self.async_create_entry(data=data)
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(
                _options_schema(), user_input or settings_of(self.config_entry)
            ),
            errors=errors,
            description_placeholders=_limits(),
        )


def _options_schema() -> vol.Schema:
    fields: dict[vol.Marker, object] = {
        vol.Required(CONF_MAX_ENTRIES, default=DEFAULT_MAX_ENTRIES): _MAX_ENTRIES
    }
    if HAS_LLM_PLATFORM:
        fields[vol.Required(CONF_ASSIST_TOOLS, default=DEFAULT_ASSIST_TOOLS)] = BooleanSelector()
    return vol.Schema(fields)


def _checked(user_input: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings with whole numbers, and the errors by field."""
    wanted = user_input[CONF_MAX_ENTRIES]
    if wanted != int(wanted) or not MAX_ENTRIES_MINIMUM <= wanted <= MAX_ENTRIES_MAXIMUM:
        return user_input, {CONF_MAX_ENTRIES: "max_entries_out_of_range"}
    return user_input | {CONF_MAX_ENTRIES: int(wanted)}, {}


def _limits() -> dict[str, str]:
    return {"minimum": str(MAX_ENTRIES_MINIMUM), "maximum": str(MAX_ENTRIES_MAXIMUM)}
