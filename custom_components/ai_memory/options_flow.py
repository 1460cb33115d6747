"""The options flow: what can be tuned in the memory, and its engine again.

Shown by Home Assistant for the one entry. What may be tuned is in the entry's options, which server
and model in its data. An update listener reloads the entry, so the flow does not.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from homeassistant.config_entries import (
    ConfigFlowResult,
    OptionsFlow,
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

from .const import (
    ANCHOR_SWEEP_HOURS_MAXIMUM,
    ARCHIVE_DAYS_MAXIMUM,
    CONF_ADMINISTRATOR_ACCESS,
    CONF_ANCHOR_SWEEP_HOURS,
    CONF_ARCHIVE_DAYS,
    CONF_ASSIST_TOOLS,
    CONF_EMBED_TIMEOUT,
    CONF_EMBEDDING_ENGINE,
    CONF_IDENTITY,
    CONF_MAX_ENTRIES,
    CONF_PROMOTION_USES,
    CONF_RECALL,
    CONF_RETENTION_DAYS,
    CONF_SECRET_SCREEN,
    CONF_SIMILARITY_FLOOR,
    CONF_STANDING_TOKENS,
    CONF_USER_ACCESS,
    DEFAULT_ANCHOR_SWEEP_HOURS,
    DEFAULT_ASSIST_TOOLS,
    DEFAULT_MAX_ENTRIES,
    DEFAULT_RECALL,
    DEFAULT_STANDING_TOKENS,
    EMBED_TIMEOUT_MAXIMUM_SECONDS,
    EMBED_TIMEOUT_MINIMUM_SECONDS,
    IDENTITY_LIMIT_CHARACTERS,
    MAX_ENTRIES_MAXIMUM,
    MAX_ENTRIES_MINIMUM,
    PROMOTION_USES_MAXIMUM,
    REMOTE_KEYS,
    RETENTION_DAYS_MAXIMUM,
    STANDING_TOKENS_MAXIMUM,
)
from .core import DEFAULT_QUERY_TIMEOUT_SECONDS, Access, Strictness
from .core.forgetting import DEFAULT_RETENTION_DAYS
from .core.layers import DEFAULT_ARCHIVE_DAYS, DEFAULT_PROMOTION_USES
from .core.screen import HOME
from .embedding import DEFAULT_ENGINE, ENGINE_NAMES
from .embedding.builtin import ENGINE_NAME as BUILTIN
from .engine_flow import INSTRUCTIONS, EngineSteps, base_error, engine_of, fitting
from .engine_setup import (
    DEFAULT_URLS,
)
from .ha_compat import HAS_LLM_PLATFORM, vol
from .mcp.clients import DEFAULT_ADMINISTRATOR_ACCESS, DEFAULT_USER_ACCESS
from .profile_flow import wrong_identity
from .runtime import settings_of
from .workshop_options import CONF_WORKSHOP, checked_workshop, workshop_field, workshop_limits

CONF_EDIT_CONNECTION: Final = "edit_connection"

_COUNTED: Final[Mapping[str, int]] = MappingProxyType(
    {
        CONF_PROMOTION_USES: PROMOTION_USES_MAXIMUM,
        CONF_ARCHIVE_DAYS: ARCHIVE_DAYS_MAXIMUM,
        CONF_ANCHOR_SWEEP_HOURS: ANCHOR_SWEEP_HOURS_MAXIMUM,
    }
)
"""Options that are a whole number from 1 on, with their maximums."""
_RANGES: Final[Mapping[str, tuple[float, float, str]]] = MappingProxyType(
    {
        CONF_EMBED_TIMEOUT: (
            EMBED_TIMEOUT_MINIMUM_SECONDS,
            EMBED_TIMEOUT_MAXIMUM_SECONDS,
            "embed_timeout_out_of_range",
        ),
        CONF_SIMILARITY_FLOOR: (0, 1, "similarity_floor_out_of_range"),
        CONF_STANDING_TOKENS: (0, STANDING_TOKENS_MAXIMUM, "standing_tokens_out_of_range"),
        CONF_RETENTION_DAYS: (0, RETENTION_DAYS_MAXIMUM, "retention_out_of_range"),
        **{name: (1, most, "layer_rule_out_of_range") for name, most in _COUNTED.items()},
    }
)
"""The least and the most of each number in the options, and what is said otherwise."""

_MAX_ENTRIES: Final = NumberSelector(NumberSelectorConfig(mode=NumberSelectorMode.BOX, step=1))
_ENGINE: Final = SelectSelector(
    SelectSelectorConfig(options=list(ENGINE_NAMES), translation_key=CONF_EMBEDDING_ENGINE)
)
_SCREEN: Final = SelectSelector(
    SelectSelectorConfig(options=list(Strictness), translation_key=CONF_SECRET_SCREEN)
)
_SECONDS: Final = NumberSelector(
    NumberSelectorConfig(mode=NumberSelectorMode.BOX, step=0.1, unit_of_measurement="s")
)
_ACCESS: Final = SelectSelector(
    SelectSelectorConfig(
        options=[one.value for one in Access],
        multiple=True,
        mode=SelectSelectorMode.LIST,
        translation_key="client_access",
    )
)
_SIMILARITY: Final = NumberSelector(NumberSelectorConfig(mode=NumberSelectorMode.BOX, step=0.01))
_WHOLE: Final = NumberSelector(NumberSelectorConfig(mode=NumberSelectorMode.BOX, step=1))
_LINES: Final = TextSelector(TextSelectorConfig(multiline=True))


class AiMemoryOptionsFlow(EngineSteps, OptionsFlow):
    """Tune the memory, and change its engine like reconfiguration does."""

    _options: dict[str, Any]
    _step_after_refusal = "init"

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show and take every option."""
        errors, shown = self._take_refusal()
        told: Mapping[str, str] = {}
        fields = _option_fields(engine_of(self._settings()))
        # A client may answer the end of the trial with an empty form.
        if user_input and not errors:
            wanted, errors, told = _checked_options(user_input)
            if not errors:
                self._typed = user_input
                return await self._take({**wanted}, hidden=self._options_beside(fields))
            shown = user_input
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(vol.Schema(fields), shown),
            errors=errors,
            description_placeholders={**limits(), **_time_limits(), **workshop_limits(), **told},
        )

    async def _take(self, wanted: dict[str, Any], hidden: Mapping[str, Any]) -> ConfigFlowResult:
        engine = wanted.pop(CONF_EMBEDDING_ENGINE)
        ask_again = wanted.pop(CONF_EDIT_CONNECTION, True) and engine != BUILTIN
        self._options = {**hidden, **wanted}
        if ask_again or engine != engine_of(self._settings()):
            return await self._choose({CONF_EMBEDDING_ENGINE: engine})
        # An engine that is away must not keep anybody from the other options.
        self._chosen = dict(self.config_entry.data)
        return self._finish()

    def _options_beside(self, fields: Mapping[vol.Marker, object]) -> dict[str, Any]:
        """Return the options in force that the form does not show."""
        shown = {str(marker.schema) for marker in fields}
        return {
            name: value for name, value in self.config_entry.options.items() if name not in shown
        }

    def _settings(self) -> Mapping[str, Any]:
        return settings_of(self.config_entry)

    def _finish(self) -> ConfigFlowResult:
        entry = self.config_entry
        kept = {name: value for name, value in entry.data.items() if name not in REMOTE_KEYS}
        options = fitting(self._options, entry, self._chosen)
        # Both at once, so that the entry is reloaded once.
        self.hass.config_entries.async_update_entry(
            entry, data=kept | self._chosen, options=options
        )
        return self.async_create_entry(data=options)


def main_fields() -> dict[vol.Marker, object]:
    """Return what set-up asks first: how much to keep and how to find it."""
    return {
        vol.Required(CONF_MAX_ENTRIES, default=DEFAULT_MAX_ENTRIES): _MAX_ENTRIES,
        vol.Required(CONF_EMBEDDING_ENGINE, default=DEFAULT_ENGINE): _ENGINE,
    }


def _option_fields(engine: str) -> dict[vol.Marker, object]:
    """Return what can be tuned with the engine in force."""
    fields: dict[vol.Marker, object] = {
        vol.Required(CONF_MAX_ENTRIES, default=DEFAULT_MAX_ENTRIES): _MAX_ENTRIES,
        vol.Required(CONF_EMBEDDING_ENGINE, default=engine): _ENGINE,
    }
    if engine in DEFAULT_URLS:
        fields[vol.Required(CONF_EDIT_CONNECTION, default=True)] = BooleanSelector()
    if HAS_LLM_PLATFORM:
        fields[vol.Required(CONF_ASSIST_TOOLS, default=DEFAULT_ASSIST_TOOLS)] = BooleanSelector()
    given = {
        CONF_ADMINISTRATOR_ACCESS: DEFAULT_ADMINISTRATOR_ACCESS,
        CONF_USER_ACCESS: DEFAULT_USER_ACCESS,
    }
    for name, default in given.items():
        fields[vol.Required(name, default=list(default))] = _ACCESS
    fields[vol.Required(CONF_SECRET_SCREEN, default=HOME.value)] = _SCREEN
    fields[vol.Optional(CONF_IDENTITY)] = _LINES
    tokens = vol.Required(CONF_STANDING_TOKENS, default=DEFAULT_STANDING_TOKENS)
    fields[tokens] = _WHOLE
    fields[vol.Required(CONF_RECALL, default=DEFAULT_RECALL)] = BooleanSelector()
    fields |= {
        vol.Required(CONF_PROMOTION_USES, default=DEFAULT_PROMOTION_USES): _WHOLE,
        vol.Required(CONF_ARCHIVE_DAYS, default=DEFAULT_ARCHIVE_DAYS): _WHOLE,
        vol.Required(CONF_ANCHOR_SWEEP_HOURS, default=DEFAULT_ANCHOR_SWEEP_HOURS): _WHOLE,
        vol.Required(CONF_RETENTION_DAYS, default=DEFAULT_RETENTION_DAYS): _WHOLE,
    }
    if engine in DEFAULT_URLS:
        seconds = vol.Required(CONF_EMBED_TIMEOUT, default=DEFAULT_QUERY_TIMEOUT_SECONDS)
        fields[seconds] = _SECONDS
        fields |= {vol.Optional(name): _LINES for name in INSTRUCTIONS}
    fields[vol.Optional(CONF_SIMILARITY_FLOOR)] = _SIMILARITY
    return fields | workshop_field()


def checked(user_input: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings with whole numbers, and the errors by field."""
    errors: dict[str, str] = {}
    wanted = user_input[CONF_MAX_ENTRIES]
    if not MAX_ENTRIES_MINIMUM <= wanted <= MAX_ENTRIES_MAXIMUM or wanted != int(wanted):
        errors[CONF_MAX_ENTRIES] = "max_entries_out_of_range"
    for name, (least, most, error) in _RANGES.items():
        if not least <= user_input.get(name, least) <= most:
            errors[name] = error
    if identity_error := wrong_identity(user_input.get(CONF_IDENTITY, "")):
        errors[CONF_IDENTITY] = identity_error
    if errors:
        return user_input, errors
    whole = {
        name: int(user_input[name])
        for name in (CONF_MAX_ENTRIES, CONF_STANDING_TOKENS, CONF_RETENTION_DAYS, *_COUNTED)
        if name in user_input
    }
    return user_input | whole, {}


def _checked_options(
    user_input: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, str], Mapping[str, str]]:
    """Return the same with the section for coding agents, and what the texts of errors fill in."""
    wanted, errors = checked(user_input)
    section, wrong = checked_workshop(user_input[CONF_WORKSHOP])
    if wrong is not None:
        return wanted, errors | base_error(wrong.key), wrong.placeholders
    return wanted | {CONF_WORKSHOP: section}, errors, {}


def limits() -> dict[str, str]:
    """Return what the texts of these fields say of their bounds."""
    return {"minimum": str(MAX_ENTRIES_MINIMUM), "maximum": str(MAX_ENTRIES_MAXIMUM)}


def _time_limits() -> dict[str, str]:
    return {
        "most_uses": str(PROMOTION_USES_MAXIMUM),
        "most_days": str(ARCHIVE_DAYS_MAXIMUM),
        "most_hours": str(ANCHOR_SWEEP_HOURS_MAXIMUM),
        "most_tokens": str(STANDING_TOKENS_MAXIMUM),
        "most_characters": str(IDENTITY_LIMIT_CHARACTERS),
        "shortest": f"{EMBED_TIMEOUT_MINIMUM_SECONDS:g}",
        "longest": f"{EMBED_TIMEOUT_MAXIMUM_SECONDS:g}",
    }
