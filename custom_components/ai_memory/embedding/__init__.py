"""Turning texts into vectors: one protocol, one file an engine, a registry of names.

The doors of the integration pick an engine by name; the manager in ``core`` uses it through the
protocol. Nothing in this package imports Home Assistant or sees a memory.
"""

from .protocol import EmbeddingEngine, EngineError, FloatMatrix, TextKind
from .registry import (
    DEFAULT_ENGINE,
    ENGINE_NAMES,
    EngineSettings,
    UnknownEngineError,
    create_engine,
)

__all__ = [
    "DEFAULT_ENGINE",
    "ENGINE_NAMES",
    "EmbeddingEngine",
    "EngineError",
    "EngineSettings",
    "FloatMatrix",
    "TextKind",
    "UnknownEngineError",
    "create_engine",
]
