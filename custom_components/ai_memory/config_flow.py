"""The config flow of the one entry: set-up, reconfiguration and a new key.

The steps that ask for the engine are in ``engine_flow``, the options in ``options_flow``. Where the
built-in model can't be had, set-up goes on with word statistics, and reconfiguration keeps the
engine in force and says why. An update listener reloads the entry, so no flow does.
"""

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigEntry,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryFlow,
    OptionsFlow,
)
from homeassistant.core import callback

from .client_flow import ClientFlow
from .const import (
    CONF_API_KEY,
    CONF_EMBEDDING_ENGINE,
    CONF_REMOTE_URL,
    DOMAIN,
    ENTRY_VERSION,
    NAME,
    SUBENTRY_PROFILE,
    SUBENTRY_VOICE,
)
from .embedding import DEFAULT_ENGINE
from .engine_flow import SECRET, EngineSteps, base_error, fitting
from .engine_setup import tell_builtin_refused, without_userinfo
from .ha_compat import vol
from .mcp.client_tokens import SUBENTRY_TYPE as CLIENT
from .options_flow import AiMemoryOptionsFlow, checked, limits, main_fields
from .previous_api import mark_of
from .profile_flow import AgentProfileFlow
from .runtime import settings_of
from .voice_flow import VoicePersonFlow


class AiMemoryConfigFlow(EngineSteps, ConfigFlow, domain=DOMAIN):
    """Set up the memory, change what set-up chose, or replace a key that no longer works."""

    VERSION = ENTRY_VERSION

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask how much to keep and how to find it."""
        return await self._first_step("user", user_input)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask the same again."""
        return await self._first_step("reconfigure", user_input)

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:
        """Ask for a key that the server accepts."""
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Take the new key once the server accepts it."""
        entry, error = self._get_reauth_entry(), None
        if user_input is not None:
            key = {CONF_API_KEY: user_input[CONF_API_KEY].strip()}
            error = await self._try_out({**entry.data, **key})
            if error is None:
                return self.async_update_and_abort(entry, data_updates=key)
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=vol.Schema({vol.Required(CONF_API_KEY): SECRET}),
            errors=base_error(error),
            description_placeholders={"url": without_userinfo(entry.data.get(CONF_REMOTE_URL, ""))},
        )

    @staticmethod
    @callback
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Return the options."""
        return AiMemoryOptionsFlow()

    @classmethod
    @callback
    def async_get_supported_subentry_types(
        cls, config_entry: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        """Return what can be added to the entry."""
        return {
            CLIENT: ClientFlow,
            SUBENTRY_PROFILE: AgentProfileFlow,
            SUBENTRY_VOICE: VoicePersonFlow,
        }

    async def async_step_builtin_refused(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Go on with word statistics, and leave a repair issue that says why."""
        if self._refusal is not None:
            tell_builtin_refused(self.hass, self._refusal)
        self._chosen[CONF_EMBEDDING_ENGINE] = DEFAULT_ENGINE
        return self._finish()

    @property
    def _step_after_refusal(self) -> str:
        return "reconfigure" if self.source == SOURCE_RECONFIGURE else "builtin_refused"

    async def _first_step(
        self, step_id: str, user_input: dict[str, Any] | None
    ) -> ConfigFlowResult:
        errors, shown = self._take_refusal()
        # A client may answer the end of the trial with an empty form.
        if user_input and not errors:
            chosen, errors = checked(user_input)
            if not errors:
                self._typed = user_input
                return await self._choose(chosen)
            shown = user_input
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(vol.Schema(main_fields()), shown),
            errors=errors,
            description_placeholders=limits(),
        )

    def _settings(self) -> Mapping[str, Any]:
        if self.source != SOURCE_RECONFIGURE:
            return {}
        return settings_of(self._get_reconfigure_entry())

    def _finish(self) -> ConfigFlowResult:
        if self.source != SOURCE_RECONFIGURE:
            return self.async_create_entry(title=NAME, data=self._chosen)
        entry = self._get_reconfigure_entry()
        options = {name: value for name, value in entry.options.items() if name not in self._chosen}
        return self.async_update_and_abort(
            entry,
            data={**mark_of(entry), **self._chosen},
            options=fitting(options, entry, self._chosen),
        )
