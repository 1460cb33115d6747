"""The memory: what the operations and the set-up use of it, and nothing else.

Nothing below this package imports Home Assistant.
"""

from .database import Database
from .encoder import DEFAULT_QUERY_TIMEOUT_SECONDS
from .errors import (
    AccessDeniedError,
    AiMemoryError,
    ConflictError,
    DatabaseLockedError,
    DatabaseUnusableError,
    InvalidInputError,
    NotFoundError,
    StorageError,
)
from .integrity import Salvaged
from .layers import LayerMove, LayerRules, MoveReason
from .manager import MemoryManager
from .models import (
    Access,
    Action,
    AddResult,
    Caller,
    Change,
    Counts,
    Filters,
    Layer,
    ListResult,
    MatchType,
    Memory,
    MemoryChanges,
    NewMemory,
    Reach,
    Scope,
    SearchResult,
    UpdateResult,
)
from .previous_database import TakenOver
from .schema import SCHEMA_VERSION
from .standing_context import Profile
from .text_input import clean_text
from .visibility import sees

__all__ = [
    "DEFAULT_QUERY_TIMEOUT_SECONDS",
    "SCHEMA_VERSION",
    "Access",
    "AccessDeniedError",
    "Action",
    "AddResult",
    "AiMemoryError",
    "Caller",
    "Change",
    "ConflictError",
    "Counts",
    "Database",
    "DatabaseLockedError",
    "DatabaseUnusableError",
    "Filters",
    "InvalidInputError",
    "Layer",
    "LayerMove",
    "LayerRules",
    "ListResult",
    "MatchType",
    "Memory",
    "MemoryChanges",
    "MemoryManager",
    "MoveReason",
    "NewMemory",
    "NotFoundError",
    "Profile",
    "Reach",
    "Salvaged",
    "Scope",
    "SearchResult",
    "StorageError",
    "TakenOver",
    "UpdateResult",
    "clean_text",
    "sees",
]
