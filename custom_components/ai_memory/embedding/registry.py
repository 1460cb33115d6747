"""The embedding engines by name.

The config flow offers the names and ``__init__.py`` of the integration makes the chosen engine.
A further engine is one factory and one line in the table below.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import aiohttp

from .builtin import ENGINE_NAME as BUILTIN, BuiltinEngine
from .ollama import ENGINE_NAME as OLLAMA, OllamaEngine
from .openai_compatible import ENGINE_NAME as OPENAI_COMPATIBLE, OpenAICompatibleEngine
from .protocol import EmbeddingEngine, EngineError
from .tfidf import ENGINE_NAME as TFIDF, TfidfEngine

TFIDF_FILE_NAME: Final = "ai_memory_tfidf_vocab.json"
DEFAULT_ENGINE: Final = TFIDF
REQUEST_TIMEOUT_SECONDS: Final = 60.0
"""How long a server may take for a batch of documents; a query waits less, see ``core.encoder``."""


class UnknownEngineError(EngineError):
    """No engine has this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """What the engines need from the installation they run in and from the config entry.

    ``storage_path`` is a folder in which each engine names its own files. The instructions stand in
    front of queries and documents; None leaves them to the family of the model. ``install`` makes
    sure that a package is there and raises EngineError; without it, what is missing stays missing.
    """

    storage_path: Path
    session: aiohttp.ClientSession | None = None
    url: str = ""
    api_key: str | None = None
    model: str = ""
    timeout_seconds: float = REQUEST_TIMEOUT_SECONDS
    query_instruction: str | None = None
    document_instruction: str | None = None
    install: Callable[[str], Awaitable[None]] | None = None


def create_engine(name: str, settings: EngineSettings) -> EmbeddingEngine:
    """Make an engine, not yet started. Raises UnknownEngineError."""
    try:
        factory = _FACTORIES[name]
    except KeyError:
        raise UnknownEngineError(f"unknown embedding engine {name!r}") from None
    return factory(settings)


def _create_tfidf(settings: EngineSettings) -> EmbeddingEngine:
    return TfidfEngine(settings.storage_path / TFIDF_FILE_NAME)


def _create_builtin(settings: EngineSettings) -> EmbeddingEngine:
    return BuiltinEngine(settings.install)


_FACTORIES: Final[Mapping[str, Callable[[EngineSettings], EmbeddingEngine]]] = MappingProxyType(
    {
        TFIDF: _create_tfidf,
        BUILTIN: _create_builtin,
        OLLAMA: OllamaEngine,
        OPENAI_COMPATIBLE: OpenAICompatibleEngine,
    }
)
ENGINE_NAMES: Final = tuple(_FACTORIES)
