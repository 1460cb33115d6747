"""Config entries of the system that this one takes over, versions 1 to 3, brought to version 4.

Home Assistant calls this before set-up. Only the entry changes here; the database has its own way.
"""

from collections.abc import Mapping
import logging
from typing import Any, Final

from homeassistant.core import HomeAssistant

from .const import (
    CONF_API_KEY,
    CONF_EMBEDDING_ENGINE,
    CONF_IDENTITY,
    CONF_MAX_ENTRIES,
    CONF_MODEL_NAME,
    CONF_PREVIOUS_API,
    CONF_REMOTE_URL,
    DEFAULT_MAX_ENTRIES,
    ENTRY_VERSION,
    IDENTITY_LIMIT_CHARACTERS,
    MAX_ENTRIES_MAXIMUM,
    MAX_ENTRIES_MINIMUM,
)
from .embedding import DEFAULT_ENGINE, ENGINE_NAMES
from .embedding.ollama import DEFAULT_MODEL, ENGINE_NAME as OLLAMA
from .engine_setup import DEFAULT_URLS
from .runtime import AiMemoryConfigEntry

_OLD_OLLAMA: Final = "remote"
_OLD_MODEL_KEYS: Final = (CONF_MODEL_NAME, "model", "remote_model", "embedding_model")
_OLD_IDENTITY: Final = "identity_text"

_LOGGER: Final = logging.getLogger(__name__)


async def async_migrate_entry(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> bool:
    """Bring an entry to the present version; a newer one is left as it is."""
    if entry.version >= ENTRY_VERSION:
        return entry.version == ENTRY_VERSION
    old = {**entry.data, **entry.options}
    hass.config_entries.async_update_entry(
        entry,
        data={**_migrated(old), CONF_PREVIOUS_API: True},
        options=_identity(old),
        version=ENTRY_VERSION,
        minor_version=1,
    )
    return True


def _migrated(old: Mapping[str, Any]) -> dict[str, Any]:
    """Return what set-up chose by today's names; everything else is dropped."""
    engine = old.get(CONF_EMBEDDING_ENGINE)
    engine = OLLAMA if engine == _OLD_OLLAMA else engine
    engine = engine if engine in ENGINE_NAMES else DEFAULT_ENGINE
    data = {CONF_MAX_ENTRIES: _capacity(old), CONF_EMBEDDING_ENGINE: engine}
    if engine not in DEFAULT_URLS:
        return data
    data[CONF_REMOTE_URL] = _text(old, CONF_REMOTE_URL) or DEFAULT_URLS[engine]
    if key := _text(old, CONF_API_KEY):
        data[CONF_API_KEY] = key
    data[CONF_MODEL_NAME] = _text(old, *_OLD_MODEL_KEYS) or DEFAULT_MODEL
    return data


def _identity(old: Mapping[str, Any]) -> dict[str, str]:
    """Return the identity text as the option that holds it today, however long it is.

    What stands in a prompt is cut to the budget anyway, and the options ask for a shorter text when
    they are saved next; so nothing of it is lost before its author has seen that.
    """
    # NUL could be stored, but not be saved again.
    identity = _text(old, _OLD_IDENTITY, CONF_IDENTITY).replace("\0", "")
    if not identity:
        return {}
    if len(identity) > IDENTITY_LIMIT_CHARACTERS:
        _LOGGER.warning(
            "The identity of the agents came over with %d characters; a prompt holds its beginning,"
            " and the options take %d when they are saved next",
            len(identity),
            IDENTITY_LIMIT_CHARACTERS,
        )
    return {CONF_IDENTITY: identity}


def _capacity(old: Mapping[str, Any]) -> int:
    wanted = old.get(CONF_MAX_ENTRIES)
    if isinstance(wanted, int | float) and MAX_ENTRIES_MINIMUM <= wanted <= MAX_ENTRIES_MAXIMUM:
        return int(wanted)
    return DEFAULT_MAX_ENTRIES


def _text(old: Mapping[str, Any], *keys: str) -> str:
    """Return the first of these settings that says something."""
    texts = (value.strip() for key in keys if isinstance(value := old.get(key), str))
    return next(filter(None, texts), "")
