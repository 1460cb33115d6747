"""The embedding engine of the config entry: made from its settings, and watched while it is used.

Set-up and the flows make engines here. What the engine's circuit says becomes a repair issue, and a
refused key a request for a new one; neither ever keeps the memory from opening. What an engine
needs from the package index, Home Assistant's own requirements machinery installs.
"""

from collections.abc import Awaitable, Callable, Mapping
import logging
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.requirements import (
    RequirementsNotFound,
    async_clear_install_history,
    async_process_requirements,
)

from .const import (
    CONF_API_KEY,
    CONF_DOCUMENT_INSTRUCTION,
    CONF_EMBEDDING_ENGINE,
    CONF_MODEL_NAME,
    CONF_QUERY_INSTRUCTION,
    CONF_REMOTE_URL,
    DOMAIN,
)
from .core import MemoryManager
from .embedding import (
    DEFAULT_ENGINE,
    EmbeddingEngine,
    EngineSettings,
    UnknownEngineError,
    create_engine,
)
from .embedding.builtin import ENGINE_NAME as BUILTIN
from .embedding.errors import EngineReason, EngineUnusableError
from .embedding.ollama import DEFAULT_MODEL, DEFAULT_URL, ENGINE_NAME as OLLAMA
from .embedding.openai_compatible import ENGINE_NAME as OPENAI_COMPATIBLE
from .embedding.registry import REQUEST_TIMEOUT_SECONDS
from .runtime import AiMemoryConfigEntry, settings_of

ENGINE_ISSUE: Final = "engine_unavailable"
BUILTIN_ISSUE: Final = "builtin_refused"
"""Says why set-up went on without the built-in model; it outlives a restart."""

FIRST_INSTALL_PAUSE_SECONDS: Final = 60.0
LONGEST_INSTALL_PAUSE_SECONDS: Final = 3600.0
DEFAULT_URLS: Final[Mapping[str, str]] = MappingProxyType(
    {OLLAMA: DEFAULT_URL, OPENAI_COMPATIBLE: "http://127.0.0.1:8080"}
)
"""Where each engine that has a server finds it, unless told otherwise."""

BUILTIN_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        EngineReason.NOT_INSTALLED: "builtin_not_installed",
        EngineReason.IMPORT_FAILED: "builtin_import_failed",
        EngineReason.UNSUPPORTED: "builtin_unsupported",
        EngineReason.OUT_OF_MEMORY: "builtin_out_of_memory",
        EngineReason.TOO_SLOW: "builtin_too_slow",
        EngineReason.TIMEOUT: "builtin_too_slow",
    }
)
"""Why the built-in model is not used: in the flows an error, in the repairs an issue."""

# A text cannot be put together from translated parts, so each reason has a text of its own.
ISSUE_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **BUILTIN_TEXTS,
        EngineReason.UNREACHABLE: "engine_unreachable",
        EngineReason.TIMEOUT: "engine_unreachable",
        EngineReason.UNAUTHORIZED: "engine_unauthorized",
        EngineReason.RATE_LIMITED: "engine_rate_limited",
        EngineReason.BAD_RESPONSE: "engine_bad_response",
        EngineReason.MODEL_MISSING: "engine_model_missing",
    }
)
_OTHER_ISSUE_TEXT: Final = "engine_bad_response"
_OTHER_BUILTIN_TEXT: Final = "builtin_import_failed"

_LOGGER: Final = logging.getLogger(__name__)


def make_engine(
    hass: HomeAssistant,
    settings: Mapping[str, Any],
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
) -> EmbeddingEngine:
    """Return the chosen engine; an unknown one never keeps the memory from opening."""
    name = settings.get(CONF_EMBEDDING_ENGINE, DEFAULT_ENGINE)
    engine_settings = EngineSettings(
        storage_path=Path(hass.config.path(".storage")),
        session=async_get_clientsession(hass),
        url=settings.get(CONF_REMOTE_URL) or DEFAULT_URLS.get(name, ""),
        api_key=settings.get(CONF_API_KEY),
        model=settings.get(CONF_MODEL_NAME) or DEFAULT_MODEL,
        timeout_seconds=timeout_seconds,
        query_instruction=settings.get(CONF_QUERY_INSTRUCTION) or None,
        document_instruction=settings.get(CONF_DOCUMENT_INSTRUCTION) or None,
        install=_installer(hass),
    )
    try:
        return create_engine(name, engine_settings)
    except UnknownEngineError:
        _LOGGER.warning("Embedding engine %s is not available, using %s", name, DEFAULT_ENGINE)
        return create_engine(DEFAULT_ENGINE, engine_settings)


async def try_engine(hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
    """Install and probe the chosen engine, and keep nothing of it running. Raises EngineError."""
    engine = make_engine(hass, settings)
    try:
        await engine.start()
        await engine.probe()
    finally:
        await engine.stop()


def builtin_text(reason: str) -> str:
    """Return the key of the text that says why the built-in model is not used."""
    return BUILTIN_TEXTS.get(reason, _OTHER_BUILTIN_TEXT)


@callback
def tell_builtin_refused(hass: HomeAssistant, reason: str) -> None:
    """Show why set-up went on without the built-in model, until a better engine is chosen."""
    ir.async_create_issue(
        hass,
        DOMAIN,
        BUILTIN_ISSUE,
        is_fixable=False,
        is_persistent=True,
        severity=ir.IssueSeverity.WARNING,
        translation_key=builtin_text(reason),
    )


@callback
def forget_builtin_refused(hass: HomeAssistant) -> None:
    """Take the issue back."""
    ir.async_delete_issue(hass, DOMAIN, BUILTIN_ISSUE)


@callback
def watch_engine(hass: HomeAssistant, entry: AiMemoryConfigEntry, manager: MemoryManager) -> None:
    """Show a repair issue as long as the engine is away, and ask for a new key where one is due."""

    @callback
    def tell() -> None:
        reason = manager.encoder.failure
        if reason is None:
            forget()
            return
        settings = settings_of(entry)
        ir.async_create_issue(
            hass,
            DOMAIN,
            ENGINE_ISSUE,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key=_issue_text(manager.engine_name, reason),
            translation_placeholders={
                "engine": manager.engine_name,
                "reason": reason,
                "model": settings.get(CONF_MODEL_NAME) or DEFAULT_MODEL,
                "url": without_userinfo(
                    settings.get(CONF_REMOTE_URL) or DEFAULT_URLS.get(manager.engine_name, "")
                ),
            },
        )
        if reason == EngineReason.UNAUTHORIZED:
            entry.async_start_reauth(hass)

    @callback
    def forget() -> None:
        ir.async_delete_issue(hass, DOMAIN, ENGINE_ISSUE)

    if manager.engine_name != DEFAULT_ENGINE:
        forget_builtin_refused(hass)
    entry.async_on_unload(manager.encoder.subscribe(tell))
    entry.async_on_unload(forget)
    tell()


def _installer(hass: HomeAssistant) -> Callable[[str], Awaitable[None]]:
    """Return what installs a package, less and less often where that keeps failing."""
    pause = FIRST_INSTALL_PAUSE_SECONDS

    async def install(requirement: str) -> None:
        nonlocal pause
        if hass.config.skip_pip:
            return  # Whoever starts Home Assistant so installs packages themselves.
        try:
            await async_process_requirements(hass, DOMAIN, [requirement])
        except (RequirementsNotFound, OSError) as err:
            # Home Assistant would not try again before its next start.
            async_clear_install_history(hass)
            wait, pause = pause, min(2 * pause, LONGEST_INSTALL_PAUSE_SECONDS)
            raise EngineUnusableError(
                f"{requirement} could not be installed",
                reason=EngineReason.NOT_INSTALLED,
                retry_after_seconds=wait,
            ) from err
        pause = FIRST_INSTALL_PAUSE_SECONDS

    return install


def _issue_text(engine: str, reason: str) -> str:
    if engine == BUILTIN:
        return builtin_text(reason)
    return ISSUE_TEXTS.get(reason, _OTHER_ISSUE_TEXT)


def showable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with an address that no longer holds a name or a password."""
    shown = dict(settings)
    if CONF_REMOTE_URL in shown:
        shown[CONF_REMOTE_URL] = without_userinfo(str(shown[CONF_REMOTE_URL]))
    return shown


def without_userinfo(url: str) -> str:
    """Return an address without ``user:password@``, however badly it is written."""
    scheme, separator, rest = url.rpartition("://") if url.count("://") == 1 else ("", "", url)
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
