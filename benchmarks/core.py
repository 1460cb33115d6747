"""What is measured: the parts of the core that the benchmarks use.

The memory needs no Home Assistant, and importing the integration would load it and hide the
memory's own megabytes and seconds among Home Assistant's. So an empty package stands in for the
integration's here, unless the process has Home Assistant anyway, as the tests and the set-up
benchmark do. Every module of the benchmarks takes the core from here, so that this comes first.
"""

from pathlib import Path
import sys
from types import ModuleType

if "homeassistant" not in sys.modules:
    _INTEGRATION = ModuleType("custom_components.ai_memory")
    _INTEGRATION.__path__ = [
        str(Path(__file__).resolve().parent.parent / "custom_components" / "ai_memory")
    ]
    sys.modules.setdefault(_INTEGRATION.__name__, _INTEGRATION)

from custom_components.ai_memory.const import DATABASE_FILE_NAME
from custom_components.ai_memory.core import (
    Access,
    Action,
    AddResult,
    Caller,
    Database,
    Filters,
    Layer,
    Memory,
    MemoryManager,
    NewMemory,
    Reach,
    Scope,
    SearchResult,
    memories,
    palace,
    similar,
    vectors,
)
from custom_components.ai_memory.core.exact_vectors import ExactVectors
from custom_components.ai_memory.core.fulltext import indexed_text
from custom_components.ai_memory.core.models import embedded_text
from custom_components.ai_memory.core.packed_vectors import PackedVectors
from custom_components.ai_memory.core.restatement import restatement_digest
from custom_components.ai_memory.core.schema import FULL_TEXT_TABLES
from custom_components.ai_memory.core.sign_bits import SignBits
from custom_components.ai_memory.core.text_folding import fold
from custom_components.ai_memory.core.vector_index import Rows, VectorIndex, VisibleSet
from custom_components.ai_memory.core.visibility import SqlValue
from custom_components.ai_memory.core.workshop_rules import WorkshopRules
from custom_components.ai_memory.embedding import (
    DEFAULT_ENGINE,
    EmbeddingEngine,
    EngineSettings,
    FloatMatrix,
    TextKind,
    create_engine,
)
from custom_components.ai_memory.embedding.ranking import RankingProfile, ranking_of
from custom_components.ai_memory.operations import CATALOGUE, run

__all__ = [
    "CATALOGUE",
    "DATABASE_FILE_NAME",
    "DEFAULT_ENGINE",
    "FULL_TEXT_TABLES",
    "Access",
    "Action",
    "AddResult",
    "Caller",
    "Database",
    "EmbeddingEngine",
    "EngineSettings",
    "ExactVectors",
    "Filters",
    "FloatMatrix",
    "Layer",
    "Memory",
    "MemoryManager",
    "NewMemory",
    "PackedVectors",
    "RankingProfile",
    "Reach",
    "Rows",
    "Scope",
    "SearchResult",
    "SignBits",
    "SqlValue",
    "TextKind",
    "VectorIndex",
    "VisibleSet",
    "WorkshopRules",
    "create_engine",
    "embedded_text",
    "fold",
    "indexed_text",
    "memories",
    "palace",
    "ranking_of",
    "restatement_digest",
    "run",
    "similar",
    "vectors",
]
