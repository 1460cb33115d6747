"""The values that the memory hands out and takes in; all of them immutable.

Used by every module of ``core`` and by the operations. Times are UTC-aware; doors format them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum, IntEnum, StrEnum
from typing import Final


class Scope(StrEnum):
    """Who may see a memory."""

    PRIVATE = "private"
    COMMON = "common"


class Layer(IntEnum):
    """How close to hand a memory is kept; layer 0 is the identity text, which is no memory."""

    CRITICAL = 1
    STANDARD = 2
    ARCHIVE = 3


class Status(StrEnum):
    """Where a memory stands in its life.

    A caller only makes a candidate active and back: what replaced it or who forgot it says the
    rest.
    """

    ACTIVE = "active"
    CANDIDATE = "candidate"
    SUPERSEDED = "superseded"
    DELETED = "deleted"


CURRENT: Final = (Status.ACTIVE,)
WITH_HISTORY: Final = (Status.ACTIVE, Status.SUPERSEDED)
LIVE: Final = (Status.ACTIVE, Status.CANDIDATE)
KEPT: Final = (*LIVE, Status.SUPERSEDED)
EVERY_STATUS: Final = tuple(Status)

DEFAULT_TYPE: Final = "fact"
MEMORY_TYPES: Final = (
    DEFAULT_TYPE,
    "decision",
    "constraint",
    "requirement",
    "procedure",
    "preference",
    "failure",
    "open_work",
    "done_work",
    "observation",
    "session_summary",
)


class Never(Enum):
    """Says that a memory does not lapse, where None leaves that as it is."""

    NEVER = "never"


type Expiry = datetime | date | Never
"""When a memory lapses: a moment, in the home's time where it has no offset, or after a day."""


class Stance(StrEnum):
    """What a witness says of a memory."""

    CORROBORATES = "corroborates"
    CONTRADICTS = "contradicts"


class AnchorState(StrEnum):
    """What is known of the thing that a memory is anchored to."""

    UNCHECKED = "unchecked"
    OK = "ok"
    MISSING = "missing"


LEAST_CONFIDENCE: Final = 0.01
"""Stands for none as soon as there are witnesses: nothing is a multiple of zero."""


class Access(StrEnum):
    """What a caller may do."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    EXPORT = "export"
    ADMIN = "admin"


GLOBAL_WING: Final = "global"


def is_workshop(wing: str) -> bool:
    """Return whether a wing is a namespace of the workshop; the schema says the same in SQL."""
    return wing == GLOBAL_WING or "/" in wing


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Which wings a caller knows of: those of the home, of the workshop, or some of them by name.

    ``wings`` are names, or beginnings of names with a ``*`` at the end; None means all.
    """

    home: bool = True
    workshop: bool = False
    wings: tuple[str, ...] | None = None

    def admits(self, wing: str) -> bool:
        """Return whether the caller may see and write a wing."""
        if not (self.workshop if is_workshop(wing) else self.home):
            return False
        return self.wings is None or any(
            wing.startswith(name[:-1]) if name.endswith("*") else wing == name
            for name in self.wings
        )


HOME_REACH: Final = Reach()
WORKSHOP_REACH: Final = Reach(home=False, workshop=True)

HOME_ACCESS: Final = frozenset({Access.READ, Access.WRITE, Access.DELETE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is asking, as far as the door could tell.

    ``agent`` is the most specific identity of the agent and becomes the owner of what it stores in
    private; ``provider`` is the integration behind it, whose older rows the agent may read too.
    ``user`` is None where nobody is known, as behind a voice satellite. ``reach`` bounds what is
    seen and written; ``default_wing`` takes what is stored without naming a place. ``automation``
    says that the home itself asks, by what its owner set up.
    """

    source: str
    agent: str | None = None
    provider: str | None = None
    user: str | None = None
    language: str | None = None
    access: frozenset[Access] = field(default=HOME_ACCESS)
    reach: Reach = HOME_REACH
    default_wing: str | None = None
    automation: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """How many witnesses speak for a memory and how many against it."""

    proofs: int = 0
    refutations: int = 0


UNWITNESSED: Final = Tally()


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a memory is about, outside the memory: an entity, a path, a host or an address."""

    target: str
    state: AnchorState


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored memory; ``sequence`` is its row number and never leaves the core.

    ``superseded_by`` is the id of the memory that replaced it. ``evidence`` is the effective
    confidence, after what others witnessed, over the asserted one or the least that counts.
    """

    sequence: int
    id: str
    content: str
    summary: str
    wing: str
    room: str
    scope: Scope
    owner_agent: str | None
    owner_user: str | None
    layer: Layer
    type: str
    status: Status
    confidence: float
    revision: int
    language: str | None
    created: datetime
    updated: datetime
    accessed: datetime | None
    access_count: int
    source: str
    pinned: bool = False
    expires: datetime | None = None
    superseded_by: str | None = None
    evidence: float = 1.0
    tally: Tally = UNWITNESSED
    anchors: tuple[Anchor, ...] = ()

    @property
    def embedded_text(self) -> str:
        """What its vector is made of."""
        return embedded_text(self.summary, self.content)

    @property
    def missing_anchors(self) -> list[str]:
        """What it is about and is not there any more."""
        return [one.target for one in self.anchors if one.state is AnchorState.MISSING]

    @property
    def live(self) -> bool:
        """Whether it is neither replaced nor forgotten."""
        return self.status in LIVE

    @property
    def takes_room(self) -> bool:
        """Whether it counts towards the capacity, which is the home's alone."""
        return self.live and not is_workshop(self.wing)

    @property
    def kept(self) -> bool:
        """Whether it is not forgotten."""
        return self.status is not Status.DELETED

    @property
    def effective_confidence(self) -> float:
        """How far it can be relied on, from 0 to 1; as asserted where nobody witnessed."""
        if self.evidence == 1:
            return self.confidence
        return max(self.confidence, LEAST_CONFIDENCE) * self.evidence


def embedded_text(summary: str, content: str) -> str:
    """Return what stands for a memory where meanings are compared: its summary leads.

    Unless the content begins with it.
    """
    return content if content.startswith(summary) else f"{summary}\n{content}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What a caller wants remembered; blank places are chosen by the palace.

    ``supersedes`` is the id of the memory that it replaces: then a blank place, scope or type is
    that one's.
    """

    content: str
    summary: str = ""
    wing: str | None = None
    room: str | None = None
    scope: Scope | None = None
    layer: Layer = Layer.STANDARD
    type: str | None = None
    pinned: bool = False
    status: Status = Status.ACTIVE
    confidence: float = 1.0
    expires: Expiry | None = None
    supersedes: str | None = None
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanges:
    """What to change about a memory; None leaves a field as it is."""

    content: str | None = None
    summary: str | None = None
    wing: str | None = None
    room: str | None = None
    scope: Scope | None = None
    layer: Layer | None = None
    pinned: bool | None = None
    type: str | None = None
    status: Status | None = None
    confidence: float | None = None
    expires: Expiry | None = None
    anchors: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Narrow a read or a deletion to a place, a scope or a layer; None means any.

    ``archived`` is False to leave the archive out. ``rooms`` are rows, as tunnels lead to them; no
    caller ever names them. ``statuses`` and ``types`` are those that are wanted.
    """

    wing: str | None = None
    room: str | None = None
    scope: Scope | None = None
    layer: Layer | None = None
    archived: bool = True
    rooms: tuple[int, ...] | None = None
    statuses: tuple[Status, ...] = CURRENT
    types: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is narrowed."""
        return (self.wing, self.room, self.scope, self.layer) == (None, None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReference:
    """A memory that is gone, named without its text."""

    id: str
    wing: str
    room: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult:
    """What became of a new memory and what had to make room for it.

    ``evicted`` names only the memories that the caller could see; ``evicted_count`` counts all.
    ``superseded`` is the memory that the new one replaced, ``similar`` the one it is most like,
    where one is and the caller may see it.
    """

    memory: Memory
    refreshed: bool
    evicted: tuple[MemoryReference, ...] = ()
    evicted_count: int = 0
    superseded: Memory | None = None
    similar: Memory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateResult:
    """The memory as it stands now, and whether the update changed anything."""

    memory: Memory
    changed: bool


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A memory as it stands after a witness, with the tally of all."""

    memory: Memory
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a memory said for a time; ``until`` is None where it says so now."""

    memory_id: str
    content: str
    summary: str
    status: Status
    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """What a memory said for a time, with where the memory is now."""

    version: Version
    wing: str
    room: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListResult:
    """One page of memories, newest first, and how many match in all."""

    memories: tuple[Memory, ...]
    total: int


class MatchType(StrEnum):
    """How a memory was found."""

    SEMANTIC = "semantic"
    TEXT = "text"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A memory that answers a query.

    ``score`` is its cosine similarity, 0.0 where words alone found it; ``why`` says what it shares
    with the query. ``earlier`` is what it said before, newest first, where that was asked for.
    ``via`` is the place whose tunnel led to it, None where it lies where the caller looked.
    """

    memory: Memory
    score: float
    match_type: MatchType
    why: str
    via: str | None = None
    earlier: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first; ``ranking`` names what ordered them: one match type, or hybrid."""

    hits: tuple[SearchHit, ...]
    ranking: str


class Action(StrEnum):
    """What a write did to memories."""

    ADDED = "added"
    REFRESHED = "refreshed"
    UPDATED = "updated"
    DELETED = "deleted"
    EVICTED = "evicted"
    MOVED = "moved"
    SUPERSEDED = "superseded"
    CORROBORATED = "corroborated"
    CONTRADICTED = "contradicted"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    LAPSED = "lapsed"
    PURGED = "purged"
    CHECKED = "checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many memories there are, by scope, layer and wing, and how large the palace is."""

    common: int
    private: int
    layers: dict[int, int]
    wings: dict[str, int]
    wing_total: int
    room_total: int

    @property
    def total(self) -> int:
        """All memories."""
        return self.common + self.private

    @property
    def by_scope(self) -> dict[str, int]:
        """The figures by scope, as doors show them."""
        return {"common": self.common, "private": self.private, "total": self.total}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One committed write, told to whoever listens; ids and places, never text.

    Place and scope are None where the memories do not share one. ``versions`` are the memories
    before and after, by which ``visibility`` tells who may hear of them; no listener shows them.
    """

    action: Action
    memory_ids: tuple[str, ...]
    scope: Scope | None
    wing: str | None
    room: str | None
    counts: Counts
    at: datetime
    versions: Sequence[tuple[Memory | None, Memory | None]] = field(default=(), repr=False)
