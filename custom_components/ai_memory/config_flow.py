"""The flows of the one config entry: set-up, reconfiguration, a new key, and the options.

All of them ask for the engine with the same steps: engine, connection, model, and a download where
an Ollama server does not have the model yet. The built-in model is installed and tried instead;
where it can't be had, set-up goes on with word statistics, and the other flows keep the engine in
force and say why. Which server and model is in the entry's data; what may be tuned is in its
options. An update listener reloads the entry, so no flow does.
"""

from abc import ABC, abstractmethod
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import aiohttp
from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigEntry,
    ConfigEntryBaseFlow,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryFlow,
    OptionsFlow,
)
from homeassistant.core import callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
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
    TextSelectorType,
)
from yarl import URL

from .client_flow import ClientFlow
from .const import (
    ANCHOR_SWEEP_HOURS_MAXIMUM,
    ARCHIVE_DAYS_MAXIMUM,
    CONF_ADMINISTRATOR_ACCESS,
    CONF_ANCHOR_SWEEP_HOURS,
    CONF_API_KEY,
    CONF_ARCHIVE_DAYS,
    CONF_ASSIST_TOOLS,
    CONF_DOCUMENT_INSTRUCTION,
    CONF_EMBED_TIMEOUT,
    CONF_EMBEDDING_ENGINE,
    CONF_IDENTITY,
    CONF_MAX_ENTRIES,
    CONF_MODEL_NAME,
    CONF_PROMOTION_USES,
    CONF_QUERY_INSTRUCTION,
    CONF_RECALL,
    CONF_REMOTE_URL,
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
    DOMAIN,
    EMBED_TIMEOUT_MAXIMUM_SECONDS,
    EMBED_TIMEOUT_MINIMUM_SECONDS,
    ENTRY_VERSION,
    IDENTITY_LIMIT_CHARACTERS,
    MAX_ENTRIES_MAXIMUM,
    MAX_ENTRIES_MINIMUM,
    NAME,
    PROMOTION_USES_MAXIMUM,
    REMOTE_KEYS,
    RETENTION_DAYS_MAXIMUM,
    STANDING_TOKENS_MAXIMUM,
    SUBENTRY_PROFILE,
    SUBENTRY_VOICE,
)
from .core import DEFAULT_QUERY_TIMEOUT_SECONDS, Access, Strictness
from .core.forgetting import DEFAULT_RETENTION_DAYS
from .core.layers import DEFAULT_ARCHIVE_DAYS, DEFAULT_PROMOTION_USES
from .core.screen import HOME
from .embedding import DEFAULT_ENGINE, ENGINE_NAMES, EngineError, TextKind
from .embedding.builtin import ENGINE_NAME as BUILTIN
from .embedding.errors import EngineReason, EngineUnavailableError
from .embedding.ollama import (
    DEFAULT_MODEL,
    ENGINE_NAME as OLLAMA,
    list_models as list_ollama_models,
    pull_model,
    short_name,
)
from .embedding.openai_compatible import (
    ENGINE_NAME as OPENAI_COMPATIBLE,
    list_models as list_openai_models,
)
from .engine_setup import (
    DEFAULT_URLS,
    builtin_text,
    make_engine,
    tell_builtin_refused,
    try_engine,
    without_userinfo,
)
from .ha_compat import HAS_LLM_PLATFORM, vol
from .mcp.client_tokens import SUBENTRY_TYPE as CLIENT
from .mcp.clients import DEFAULT_ADMINISTRATOR_ACCESS, DEFAULT_USER_ACCESS
from .profile_flow import AgentProfileFlow, wrong_identity
from .runtime import settings_of
from .voice_flow import VoicePersonFlow
from .workshop_options import CONF_WORKSHOP, checked_workshop, token_limits, workshop_field

CONF_EDIT_CONNECTION: Final = "edit_connection"
CONNECTION_TIMEOUT_SECONDS: Final = 10.0
UNCHANGED_KEY: Final = "__unchanged__"
"""Stands in the form for the key that is stored, which never leaves the server."""

type ModelLister = Callable[[aiohttp.ClientSession, str, str | None, float], Awaitable[list[str]]]

_LIST_MODELS: Final[Mapping[str, ModelLister]] = MappingProxyType(
    {OLLAMA: list_ollama_models, OPENAI_COMPATIBLE: list_openai_models}
)
_PULL_ERRORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        EngineReason.MODEL_MISSING: "model_unknown",
        EngineReason.TIMEOUT: "pull_timeout",
        EngineReason.UNAUTHORIZED: "invalid_auth",
    }
)
_INSTRUCTIONS: Final = (CONF_QUERY_INSTRUCTION, CONF_DOCUMENT_INSTRUCTION)
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
_OF_THE_MODEL: Final = (*_INSTRUCTIONS, CONF_SIMILARITY_FLOOR)

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
_ADDRESS: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.URL))
_SECRET: Final = TextSelector(
    TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off")
)
_LINES: Final = TextSelector(TextSelectorConfig(multiline=True))


class _EngineSteps(ConfigEntryBaseFlow, ABC):
    """The steps from an engine's name to a model that its server has."""

    _chosen: dict[str, Any]
    _models: list[str] | None = None
    _pull: asyncio.Task[None] | None = None
    _pull_error: str | None = None
    _typed: Mapping[str, Any] = MappingProxyType({})
    _trial: asyncio.Task[None] | None = None
    _refusal: str | None = None

    @property
    @abstractmethod
    def _step_after_refusal(self) -> str:
        """Return the step that goes on where the built-in model can't be had."""

    @abstractmethod
    def _settings(self) -> Mapping[str, Any]:
        """Return the settings in force, or none before there are any."""

    @abstractmethod
    def _finish(self) -> ConfigFlowResult:
        """Save what was chosen."""

    async def _choose(self, chosen: dict[str, Any]) -> ConfigFlowResult:
        """Go on with what the chosen engine needs: a server, a package or nothing."""
        self._chosen = chosen
        if self._engine == BUILTIN:
            return await self.async_step_builtin()
        if self._engine not in DEFAULT_URLS:
            return self._finish()
        return await self.async_step_connection()

    async def async_step_builtin(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Install the built-in model and find out whether this machine can run it."""
        if self._trial is None:
            self._trial = self.hass.async_create_background_task(
                try_engine(self.hass, self._chosen), "ai_memory trial"
            )
        if not self._trial.done():
            return self.async_show_progress(
                step_id="builtin", progress_action="install", progress_task=self._trial
            )
        trial, self._trial = self._trial, None
        try:
            trial.result()
        except EngineError as err:
            self._refusal = err.reason
            return self.async_show_progress_done(next_step_id=self._step_after_refusal)
        return self.async_show_progress_done(next_step_id="tried")

    async def async_step_tried(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Go on once the built-in model has shown that it works."""
        return self._finish()

    async def async_step_connection(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask where the server is."""
        if user_input is None:
            return self._show_connection(self._known_connection())
        if error := await self._connect(user_input):
            return self._show_connection(user_input, error)
        return await self.async_step_model()

    async def async_step_model(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the model."""
        error, self._pull_error = self._pull_error, None
        # A client may answer the end of a download with an empty form.
        if not user_input:
            return self._show_model(error)
        model = self._chosen[CONF_MODEL_NAME] = user_input[CONF_MODEL_NAME].strip()
        if not model:
            return self._show_model("model_required")
        if self._engine == OLLAMA:
            if self._models is not None and short_name(model) not in self._models:
                return await self.async_step_pull()
        elif await self._try_out(self._chosen) == "invalid_auth":
            # Some servers show their list to everybody.
            return self._show_connection(
                {CONF_REMOTE_URL: self._chosen[CONF_REMOTE_URL]}, "invalid_auth"
            )
        return self._finish()

    async def async_step_pull(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Let the server download the model, and show how far it is."""
        if self._pull is None:
            self._pull = self.hass.async_create_background_task(
                pull_model(
                    async_get_clientsession(self.hass),
                    self._chosen[CONF_REMOTE_URL],
                    self._chosen[CONF_MODEL_NAME],
                    self.async_update_progress,
                    api_key=self._chosen.get(CONF_API_KEY),
                ),
                "ai_memory pull",
            )
        if not self._pull.done():
            return self.async_show_progress(
                step_id="pull",
                progress_action="pull",
                description_placeholders={"model": self._chosen[CONF_MODEL_NAME]},
                progress_task=self._pull,
            )
        pull, self._pull = self._pull, None
        try:
            pull.result()
        except EngineError as err:
            self._pull_error = _PULL_ERRORS.get(err.reason, "pull_failed")
            return self.async_show_progress_done(next_step_id="model")
        return self.async_show_progress_done(next_step_id="pulled")

    async def async_step_pulled(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Go on once the model is there."""
        return self._finish()

    def _take_refusal(self) -> tuple[dict[str, str], dict[str, Any]]:
        """Return why the built-in model was refused, by field, and what to show in the form."""
        refusal, self._refusal = self._refusal, None
        shown = _suggestions(self._settings())
        if refusal is None:
            return {}, shown
        typed = {
            name: value for name, value in self._typed.items() if name != CONF_EMBEDDING_ENGINE
        }
        return {CONF_EMBEDDING_ENGINE: builtin_text(refusal)}, shown | typed

    @property
    def _engine(self) -> str:
        return str(self._chosen[CONF_EMBEDDING_ENGINE])

    def _known(self, key: str) -> str:
        """Return what is stored about the server of the chosen engine."""
        settings = self._settings()
        return settings.get(key) or "" if _engine_of(settings) == self._engine else ""

    def _known_connection(self) -> dict[str, Any]:
        known = {CONF_REMOTE_URL: self._known(CONF_REMOTE_URL) or DEFAULT_URLS[self._engine]}
        return known | ({CONF_API_KEY: UNCHANGED_KEY} if self._known(CONF_API_KEY) else {})

    async def _connect(self, wanted: Mapping[str, Any]) -> str | None:
        """Ask the server for its models; returns what is wrong with the connection, if anything."""
        url, key = _address(wanted[CONF_REMOTE_URL]), wanted.get(CONF_API_KEY, "").strip()
        if url is None:
            return "invalid_url"
        if key == UNCHANGED_KEY:
            key = self._known(CONF_API_KEY)
        self._chosen[CONF_REMOTE_URL] = url
        self._chosen.pop(CONF_API_KEY, None)
        if key:
            self._chosen[CONF_API_KEY] = key
        session = async_get_clientsession(self.hass)
        try:
            self._models = await _LIST_MODELS[self._engine](
                session, url, key or None, CONNECTION_TIMEOUT_SECONDS
            )
        except EngineError as err:
            self._models = None
            return _connection_error(err)
        return None

    async def _try_out(self, settings: Mapping[str, Any]) -> str | None:
        """Embed a word; returns what is wrong with the connection, if anything."""
        engine = make_engine(self.hass, settings, CONNECTION_TIMEOUT_SECONDS)
        try:
            await engine.embed([NAME], TextKind.QUERY)
        except EngineError as err:
            return _connection_error(err)
        return None

    def _show_connection(
        self, suggested: Mapping[str, Any], error: str | None = None
    ) -> ConfigFlowResult:
        schema = vol.Schema(
            {
                vol.Required(CONF_REMOTE_URL, default=DEFAULT_URLS[self._engine]): _ADDRESS,
                vol.Optional(CONF_API_KEY): _SECRET,
            }
        )
        return self.async_show_form(
            step_id="connection",
            data_schema=self.add_suggested_values_to_schema(schema, suggested),
            errors=_base(error),
        )

    def _show_model(self, error: str | None) -> ConfigFlowResult:
        offered = self._models
        if offered is not None and self._engine == OLLAMA:
            # What the server does not have yet, it can download.
            offered = list(dict.fromkeys([*offered, DEFAULT_MODEL]))
        best = DEFAULT_MODEL if not offered or DEFAULT_MODEL in offered else offered[0]
        suggested = self._chosen.get(CONF_MODEL_NAME) or self._known(CONF_MODEL_NAME) or best
        return self.async_show_form(
            step_id="model",
            data_schema=vol.Schema(
                {vol.Required(CONF_MODEL_NAME, default=suggested): _model_selector(offered)}
            ),
            errors=_base(error),
        )


class AiMemoryConfigFlow(_EngineSteps, ConfigFlow, domain=DOMAIN):
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
            data_schema=vol.Schema({vol.Required(CONF_API_KEY): _SECRET}),
            errors=_base(error),
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
            chosen, errors = _checked(user_input)
            if not errors:
                self._typed = user_input
                return await self._choose(chosen)
            shown = user_input
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(vol.Schema(_main_fields()), shown),
            errors=errors,
            description_placeholders=_limits(),
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
            entry, data=self._chosen, options=_fitting(options, entry, self._chosen)
        )


class AiMemoryOptionsFlow(_EngineSteps, OptionsFlow):
    """Tune the memory, and change its engine like reconfiguration does."""

    _options: dict[str, Any]
    _step_after_refusal = "init"

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show and take every option."""
        errors, shown = self._take_refusal()
        fields = _option_fields(_engine_of(self._settings()))
        # A client may answer the end of the trial with an empty form.
        if user_input and not errors:
            wanted, errors = _checked(user_input)
            if not errors:
                self._typed = user_input
                return await self._take({**wanted}, hidden=self._options_beside(fields))
            shown = user_input
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(vol.Schema(fields), shown),
            errors=errors,
            description_placeholders=_limits() | _time_limits() | token_limits(),
        )

    async def _take(self, wanted: dict[str, Any], hidden: Mapping[str, Any]) -> ConfigFlowResult:
        engine = wanted.pop(CONF_EMBEDDING_ENGINE)
        ask_again = wanted.pop(CONF_EDIT_CONNECTION, True) and engine != BUILTIN
        self._options = {**hidden, **wanted}
        if ask_again or engine != _engine_of(self._settings()):
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
        options = _fitting(self._options, entry, self._chosen)
        # Both at once, so that the entry is reloaded once.
        self.hass.config_entries.async_update_entry(
            entry, data=kept | self._chosen, options=options
        )
        return self.async_create_entry(data=options)


def _main_fields() -> dict[vol.Marker, object]:
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
        fields |= {vol.Optional(name): _LINES for name in _INSTRUCTIONS}
    fields[vol.Optional(CONF_SIMILARITY_FLOOR)] = _SIMILARITY
    return fields | workshop_field()


def _model_selector(offered: list[str] | None) -> TextSelector | SelectSelector:
    if not offered:
        return TextSelector()
    return SelectSelector(
        SelectSelectorConfig(options=offered, custom_value=True, mode=SelectSelectorMode.DROPDOWN)
    )


def _suggestions(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {**settings, CONF_EMBEDDING_ENGINE: _engine_of(settings)}


def _engine_of(settings: Mapping[str, Any]) -> str:
    """Return the engine in force: an entry may name one that does not exist."""
    engine = settings.get(CONF_EMBEDDING_ENGINE)
    return engine if engine in ENGINE_NAMES else DEFAULT_ENGINE


def _fitting(
    options: Mapping[str, Any], entry: ConfigEntry, chosen: Mapping[str, Any]
) -> dict[str, Any]:
    """Return options without those that were meant for the model before."""
    model = (CONF_EMBEDDING_ENGINE, CONF_MODEL_NAME)
    if all(chosen.get(name) == entry.data.get(name) for name in model):
        return dict(options)
    return {
        name: value
        for name, value in options.items()
        if name not in _OF_THE_MODEL or value != entry.options.get(name)
    }


def _checked(user_input: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
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
    sections = {}
    if CONF_WORKSHOP in user_input:
        sections[CONF_WORKSHOP], wrong = checked_workshop(user_input[CONF_WORKSHOP])
        errors |= _base(wrong)
    if errors:
        return user_input, errors
    whole = {
        name: int(user_input[name])
        for name in (CONF_MAX_ENTRIES, CONF_STANDING_TOKENS, CONF_RETENTION_DAYS, *_COUNTED)
        if name in user_input
    }
    return user_input | whole | sections, {}


def _address(text: str) -> str | None:
    """Return an address that requests can be sent to, or None."""
    address = text.strip()
    if "://" not in address:
        address = f"http://{address}"
    try:
        url = URL(address)
        usable = url.scheme in {"http", "https"} and url.host and url.port is not None
    except ValueError:
        return None
    if not usable or url.query_string or url.fragment or any(map(str.isspace, address)):
        return None
    return address.rstrip("/")


def _connection_error(error: EngineError) -> str | None:
    """Return what is wrong with the connection; None where somebody answers and lets us in."""
    if error.reason == EngineReason.UNAUTHORIZED:
        return "invalid_auth"
    nobody_answered = isinstance(error, EngineUnavailableError) and error.status is None
    return "cannot_connect" if nobody_answered else None


def _base(error: str | None) -> dict[str, str]:
    return {"base": error} if error else {}


def _limits() -> dict[str, str]:
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
