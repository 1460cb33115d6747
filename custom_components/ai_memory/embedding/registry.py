"""The embedding engines by name.

The config flow offers the names and ``__init__.py`` of the integration makes the chosen engine.
A further engine is one factory and one line in the table below.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from .protocol import EmbeddingEngine, EngineError
from .tfidf import ENGINE_NAME as TFIDF, TfidfEngine

TFIDF_FILE_NAME: Final = "ai_memory_tfidf_vocab.json"


class UnknownEngineError(EngineError):
    """No engine has this name."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What the engines need from the installation they run in."""

    storage_path: Path
    """Folder for whatever an engine keeps; each engine names its own files in it."""


def create_engine(name: str, settings: EngineSettings) -> EmbeddingEngine:
    """Make an engine, not yet started. Raises UnknownEngineError."""
    try:
        factory = _FACTORIES[name]
    except KeyError:
        raise UnknownEngineError(f"unknown embedding engine {name!r}") from None
    return factory(settings)


def _create_tfidf(settings: EngineSettings) -> EmbeddingEngine:
    return TfidfEngine(settings.storage_path / TFIDF_FILE_NAME)


_FACTORIES: Final[Mapping[str, Callable[[EngineSettings], EmbeddingEngine]]] = MappingProxyType(
    {TFIDF: _create_tfidf}
)
ENGINE_NAMES: Final = tuple(_FACTORIES)
DEFAULT_ENGINE: Final = TFIDF
