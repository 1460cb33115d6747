"""The memory: what the operations and the set-up use of it, and nothing else.

Nothing below this package imports Home Assistant.
"""

from .anchor_keeper import AnchorFilters, Report, Reported, Sweep
from .anchor_rows import ListedAnchor
from .anchors import AnchorKind, EntityCheck
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
    ReceiptError,
    ScreenedError,
    StorageError,
)
from .integrity import Salvaged
from .layers import LayerMove, LayerRules, MoveReason
from .manager import MemoryManager
from .models import (
    HOME_ACCESS,
    KEPT,
    LIVE,
    MEMORY_TYPES,
    WITH_HISTORY,
    Access,
    Action,
    AddResult,
    Anchor,
    AnchorState,
    Caller,
    Change,
    Counts,
    Expiry,
    Filters,
    Layer,
    ListResult,
    MatchType,
    Memory,
    MemoryChanges,
    Never,
    NewMemory,
    Reach,
    Scope,
    SearchHit,
    SearchResult,
    Stance,
    Status,
    Tally,
    TimelineEntry,
    UpdateResult,
    Version,
    Witnessed,
)
from .personal import AboutPerson, Forgetting
from .place_changes import Outcome
from .place_view import PlaceName, WingReport
from .places import Places
from .previous_database import TakenOver
from .receipts import Receipt
from .schema import SCHEMA_VERSION
from .screen import Strictness
from .standing_context import Profile
from .text_input import clean_text
from .transaction import Transaction, Written
from .tunnel_rows import TunnelKind, TunnelState
from .tunnels import Tunnel
from .visibility import ids_told, sees, wings_told
from .work import DONE_WORK, OPEN_WORK, work_place

__all__ = [
    "DEFAULT_QUERY_TIMEOUT_SECONDS",
    "DONE_WORK",
    "HOME_ACCESS",
    "KEPT",
    "LIVE",
    "MEMORY_TYPES",
    "OPEN_WORK",
    "SCHEMA_VERSION",
    "WITH_HISTORY",
    "AboutPerson",
    "Access",
    "AccessDeniedError",
    "Action",
    "AddResult",
    "AiMemoryError",
    "Anchor",
    "AnchorFilters",
    "AnchorKind",
    "AnchorState",
    "Caller",
    "Change",
    "ConflictError",
    "Counts",
    "Database",
    "DatabaseLockedError",
    "DatabaseUnusableError",
    "EntityCheck",
    "Expiry",
    "Filters",
    "Forgetting",
    "InvalidInputError",
    "Layer",
    "LayerMove",
    "LayerRules",
    "ListResult",
    "ListedAnchor",
    "MatchType",
    "Memory",
    "MemoryChanges",
    "MemoryManager",
    "MoveReason",
    "Never",
    "NewMemory",
    "NotFoundError",
    "Outcome",
    "PlaceName",
    "Places",
    "Profile",
    "Reach",
    "Receipt",
    "ReceiptError",
    "Report",
    "Reported",
    "Salvaged",
    "Scope",
    "ScreenedError",
    "SearchHit",
    "SearchResult",
    "Stance",
    "Status",
    "StorageError",
    "Strictness",
    "Sweep",
    "TakenOver",
    "Tally",
    "TimelineEntry",
    "Transaction",
    "Tunnel",
    "TunnelKind",
    "TunnelState",
    "UpdateResult",
    "Version",
    "WingReport",
    "Witnessed",
    "Written",
    "clean_text",
    "ids_told",
    "sees",
    "wings_told",
    "work_place",
]
