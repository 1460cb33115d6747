"""What comes in and what is known of it: the values of imports and exports, and their limits.

Used by every module of ``transfer``. Readers make ``ImportedMemory`` and ``Skipped`` values of what
a file holds; whether a memory is new is not theirs to know.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from ..models import Layer, Scope, Status
from ..place_view import PlaceName
from ..tunnel_rows import TunnelKind
from .attached import NOTHING, Attached

INPUT_LIMIT_BYTES: Final = 32 * 1024 * 1024
MEMORIES_LIMIT: Final = 100_000
"""As many memories as one import takes; those after them are skipped."""

PLACES_LIMIT: Final = 10_000
"""As many places, and as many tunnels, as one import takes."""

ITEM_LIMIT_CHARACTERS: Final = 512 * 1024
"""The longest line or JSON object that is looked at; one memory never fills it."""

SKIPPED_KEPT: Final = 1_000
"""Of so many skipped lines the number and the reason are kept; the others are only counted."""


class TransferFormat(StrEnum):
    """The formats that can be read; ``auto`` has the content decide."""

    AUTO = "auto"
    AI_MEMORY = "ai_memory"
    MCP_MEMORY = "mcp_memory"
    MEM0 = "mem0"
    MEMPALACE = "mempalace"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    TEXT = "text"


class ExportFormat(StrEnum):
    """The formats that are written: one to come back from, one to read."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


class SkipReason(StrEnum):
    """Why a line did not become a memory; the same keys as those of refusals where there is one."""

    TOO_LARGE = "too_large"
    TOO_MANY = "too_many_memories"
    TOO_LONG = "too_long"
    NOT_JSON = "not_json"
    NOT_A_ROW = "not_a_row"
    NOT_A_MEMORY = "not_a_memory"
    NEWER_EXPORT = "newer_export"
    INVALID_VALUE = "invalid_value"
    INVALID_CHARACTERS = "invalid_characters"
    INVALID_NAME = "invalid_name"
    EMPTY = "empty"
    NOBODY = "private_needs_agent"
    WING = "wing_not_allowed"
    SCREENED = "screened"
    REVISION = "revision_too_high"
    PLACE = "place_not_found"
    UNKNOWN_KIND = "unknown_kind"
    LINK = "link_needs_admin"
    NOT_RENEWED = "renewal_needs_admin"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that was passed over, and why; never its text."""

    line: int
    reason: SkipReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How often and when a memory was used, as our own export tells it."""

    returned: int = 0
    fetched: int = 0
    used: datetime | None = None
    last_returned: datetime | None = None
    last_fetched: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory:
    """A memory as a file tells it; None where the file does not say.

    ``id`` is one of ours and only our own export has it; ``external_id`` names the memory in the
    file that it came from.
    """

    line: int
    content: str
    summary: str = ""
    wing: str | None = None
    room: str | None = None
    scope: Scope | None = None
    owner_agent: str | None = None
    owner_user: str | None = None
    layer: Layer | None = None
    type: str | None = None
    status: Status = Status.ACTIVE
    confidence: float | None = None
    evidence: float = 1.0
    revision: int = 1
    language: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    layered: datetime | None = None
    expires: datetime | None = None
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded: datetime | None = None
    source: str | None = None
    pinned: bool = False
    usage: Usage = Usage()
    attached: Attached = NOTHING
    id: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPlace:
    """What our own export tells of a wing or a room; only wings have a default scope."""

    line: int
    place: PlaceName
    description: str = ""
    default_scope: Scope | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTunnel:
    """What our own export tells of a tunnel; a hub has no end."""

    line: int
    kind: TunnelKind
    start: PlaceName
    end: PlaceName | None
    reason: str = ""


type Item = ImportedMemory | ImportedPlace | ImportedTunnel | Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a file holds, and the first of the lines that were passed over."""

    format: TransferFormat
    memories: tuple[ImportedMemory, ...]
    places: tuple[ImportedPlace, ...] = ()
    tunnels: tuple[ImportedTunnel, ...] = ()
    skipped: tuple[Skipped, ...]
    skipped_count: int
