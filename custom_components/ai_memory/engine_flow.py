"""The steps from an engine's name to a model that its server has, shared by the flows.

The config flow and the options flow take them: engine, connection, model, and a download where an
Ollama server does not have the model yet. The built-in model is installed and tried instead. A flow
says what is in force, what to save and where to go on after a refusal; nothing is saved here.
"""

from abc import ABC, abstractmethod
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import aiohttp
from homeassistant.config_entries import (
    ConfigEntry,
    ConfigEntryBaseFlow,
    ConfigFlowResult,
)
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.selector import (
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)
from yarl import URL

from .const import (
    CONF_API_KEY,
    CONF_DOCUMENT_INSTRUCTION,
    CONF_EMBEDDING_ENGINE,
    CONF_MODEL_NAME,
    CONF_QUERY_INSTRUCTION,
    CONF_REMOTE_URL,
    CONF_SIMILARITY_FLOOR,
    NAME,
)
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
    try_engine,
)
from .ha_compat import vol

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
INSTRUCTIONS: Final = (CONF_QUERY_INSTRUCTION, CONF_DOCUMENT_INSTRUCTION)
_OF_THE_MODEL: Final = (*INSTRUCTIONS, CONF_SIMILARITY_FLOOR)

_ADDRESS: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.URL))
SECRET: Final = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off"))


class EngineSteps(ConfigEntryBaseFlow, ABC):
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
            return self._finish()
        # Some servers show their list to everybody.
        wrong = await self._try_out(self._chosen)
        if wrong == "invalid_auth":
            return self._show_connection({CONF_REMOTE_URL: self._chosen[CONF_REMOTE_URL]}, wrong)
        return self._show_model(wrong) if wrong == "model_unknown" else self._finish()

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
        shown = suggestions(self._settings())
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
        return settings.get(key) or "" if engine_of(settings) == self._engine else ""

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
                vol.Optional(CONF_API_KEY): SECRET,
            }
        )
        return self.async_show_form(
            step_id="connection",
            data_schema=self.add_suggested_values_to_schema(schema, suggested),
            errors=base_error(error),
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
            errors=base_error(error),
        )


def _model_selector(offered: list[str] | None) -> TextSelector | SelectSelector:
    if not offered:
        return TextSelector()
    return SelectSelector(
        SelectSelectorConfig(options=offered, custom_value=True, mode=SelectSelectorMode.DROPDOWN)
    )


def suggestions(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a form shows at first: the settings in force."""
    return {**settings, CONF_EMBEDDING_ENGINE: engine_of(settings)}


def engine_of(settings: Mapping[str, Any]) -> str:
    """Return the engine in force: an entry may name one that does not exist."""
    engine = settings.get(CONF_EMBEDDING_ENGINE)
    return engine if engine in ENGINE_NAMES else DEFAULT_ENGINE


def fitting(
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
    if error.reason == EngineReason.MODEL_MISSING:
        return "model_unknown"
    nobody_answered = isinstance(error, EngineUnavailableError) and error.status is None
    return "cannot_connect" if nobody_answered else None


def base_error(error: str | None) -> dict[str, str]:
    """Return an error of the form as a whole, if there is one."""
    return {"base": error} if error else {}
