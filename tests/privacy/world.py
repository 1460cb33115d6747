"""The fixed world of the matrix: memories of every owner, and the places and tunnels around them.

Each memory is called by an animal that stands in its text and nowhere else, so that an answer
betrays by one word what it tells of. All of them speak of the blue lantern, so that one question
asks for all. ``build`` stores as much of the world as it is told to, by the product's own means.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from custom_components.ai_memory.core import (
    Access,
    Caller,
    Layer,
    MemoryManager,
    NewMemory,
    Reach,
    Scope,
    Status,
)

ONE: Final = "conversation.one"
TWO: Final = "conversation.two"
CLOUD: Final = "conversation.cloud"
PROVIDER: Final = "ollama"
KITCHEN: Final = "ai_memory_kitchen"
STUDY: Final = "ai_memory_study"
LAPTOP: Final = "client:laptop"
TOWER: Final = "client:tower"
ANNA: Final = "anna"
BEN: Final = "ben"

EVERYTHING: Final = frozenset(Access)
BOTH_HALVES: Final = Reach(workshop=True)
USED_OFTEN: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One memory of the world: where it is, and whose; common where it has no agent."""

    name: str
    place: tuple[str, str]
    agent: str | None = None
    person: str | None = None
    layer: Layer = Layer.STANDARD
    status: Status = Status.ACTIVE
    anchors: tuple[str, ...] = ()
    replaces: str | None = None
    type: str | None = None
    used: int = 0

    @property
    def text(self) -> str:
        """What it says."""
        return f"The {self.name} keeps the key of the blue lantern."

    @property
    def scope(self) -> Scope:
        """Whether it is everybody's."""
        return Scope.PRIVATE if self.agent else Scope.COMMON

    @property
    def kept(self) -> bool:
        """Whether it can be read by its id."""
        return self.status is not Status.DELETED


HEALTH: Final = ("personal", "health")
DEVICES: Final = ("household", "devices")
NOOK: Final = ("nook", "alcove")
DEN: Final = ("den", "corner")
TOOL: Final = ("github/acme/tool", "decision")

WORLD: Final = (
    # Everybody's.
    Told(name="okapi", place=DEVICES, anchors=("entity:light.hall",), used=USED_OFTEN),
    Told(name="lynx", place=("household", "events"), layer=Layer.CRITICAL),
    Told(name="heron", place=("automation", "routines"), status=Status.SUPERSEDED),
    Told(name="crane", place=("automation", "routines"), replaces="heron"),
    Told(name="toad", place=DEVICES, layer=Layer.ARCHIVE),
    Told(name="newt", place=DEVICES, status=Status.CANDIDATE),
    Told(name="finch", place=("garden", "shed")),
    Told(name="robin", place=("general", "general"), status=Status.DELETED),
    # Private to a person with an agent.
    Told(
        name="zebra",
        place=HEALTH,
        agent=ONE,
        person=ANNA,
        layer=Layer.CRITICAL,
        anchors=("entity:lock.safe",),
    ),
    Told(name="tapir", place=NOOK, agent=ONE, person=ANNA, anchors=("host:nas",), used=USED_OFTEN),
    Told(name="otter", place=DEVICES, agent=ONE, person=BEN),
    Told(name="moose", place=HEALTH, agent=TWO, person=ANNA, layer=Layer.CRITICAL),
    Told(name="camel", place=DEN, agent=CLOUD, person=ANNA, anchors=("host:nas", "path:a.txt")),
    Told(name="puma", place=HEALTH, agent=ONE, person=ANNA, status=Status.SUPERSEDED),
    Told(name="jaguar", place=HEALTH, agent=ONE, person=ANNA, replaces="puma"),
    Told(name="dingo", place=HEALTH, agent=ONE, person=ANNA, status=Status.DELETED),
    Told(name="eland", place=DEVICES, agent=ONE, person=ANNA, status=Status.CANDIDATE),
    Told(name="civet", place=DEVICES, agent=ONE, person=BEN, layer=Layer.ARCHIVE),
    # Told by an unknown voice: the agent's.
    Told(name="gecko", place=("personal", "preferences"), agent=ONE, layer=Layer.CRITICAL),
    # Told before agents were known apart: those of the provider.
    Told(name="bison", place=("personal", "secrets"), agent=PROVIDER),
    Told(name="hyena", place=HEALTH, agent=PROVIDER, person=ANNA),
    # Told through a profile.
    Told(name="koala", place=HEALTH, agent=KITCHEN, person=ANNA, layer=Layer.CRITICAL),
    Told(name="rhino", place=("larder", "shelf"), agent=KITCHEN),
    Told(name="sloth", place=HEALTH, agent=STUDY, person=BEN, layer=Layer.CRITICAL),
    # The workshop's.
    Told(name="panda", place=TOOL, type="decision"),
    Told(name="skunk", place=("github/other/thing", "decision"), type="decision"),
    Told(name="moth", place=("global", "procedure"), type="procedure"),
    Told(name="beetle", place=("projects/garden", "constraint"), type="constraint"),
    Told(name="wasp", place=TOOL, agent=LAPTOP, type="decision", status=Status.CANDIDATE),
    Told(name="cicada", place=TOOL, agent=LAPTOP),
    Told(name="hornet", place=("github/hidden/repo", "decision"), agent=TOWER, type="decision"),
    Told(name="mantis", place=TOOL, agent=TOWER, anchors=("path:src/secret.py",)),
)
BY_NAME: Final = {told.name: told for told in WORLD}


@dataclass(frozen=True, slots=True)
class Joined:
    """A tunnel of the world, a hub where its other end is None, a description where it has one."""

    name: str
    ends: tuple[tuple[str, str | None] | None, ...]

    @property
    def reason(self) -> str:
        """What somebody wrote of it, found nowhere else."""
        return f"Because of the {self.name}."


JOINED: Final = (
    Joined("walrus", (NOOK, DEVICES)),
    Joined("badger", (DEVICES, ("household", "events"))),
    Joined("weasel", (("larder", "shelf"), ("garden", "shed"))),
    Joined("marten", (("nook", None), ("household", None))),
    Joined("ermine", (("garden", "shed"),)),
    Joined("ferret", (NOOK,)),
    Joined("polecat", (("nook", None),)),
    Joined("sable", (("github/acme/tool", None), ("projects/garden", None))),
    Joined("genet", (("github/hub/center", None), None)),
)

NAMES: Final = (*BY_NAME, *(one.name for one in JOINED))


def id_of(name: str) -> str:
    """Return the id of a memory or a tunnel: neighbours share long beginnings."""
    return _id("W0R1D", NAMES.index(name))


class Ulids:
    """Makes ids in place of chance, so that two worlds have the same."""

    def __init__(self) -> None:
        """Start with the first."""
        self._made = 0
        self.wanted: str | None = None

    def __call__(self, _timestamp: float) -> str:
        """Return the id that is wanted, or the next one."""
        if (wanted := self.wanted) is not None:
            self.wanted = None
            return wanted
        self._made += 1
        return _id("NEW00", self._made)

    def start_again(self) -> None:
        """Make for another world what was made for one."""
        self._made = 0


def _id(kind: str, number: int) -> str:
    return f"01KBM{kind}{number:04d}ZZZZZZZZZZZZ"


def identity(name: str) -> str:
    """Return a person or an owner as it is called."""
    return name


async def build(
    manager: MemoryManager,
    ulids: Ulids,
    names: Collection[str],
    called: Callable[[str], str] = identity,
) -> None:
    """Store what is named of the world; ``called`` tells the names of owners and persons."""
    for one in JOINED:
        if one.name in names:
            await _join(manager, ulids, one)
    for told in WORLD:
        if told.name in names:
            await _tell(manager, ulids, told, called)
    for told in WORLD:
        if told.name in names and told.status is Status.DELETED:
            await manager.lifecycle.forget(owner(told, called), id_of(told.name))
    await manager.wait_for_vectors()
    # Uses are written behind: whoever compares must find them written.
    await manager.maintain(dry_run=True)
    ulids.start_again()


def owner(told: Told, called: Callable[[str], str] = identity) -> Caller:
    """Return who told a memory."""
    return Caller(
        source="world",
        agent=called(told.agent) if told.agent else None,
        user=called(told.person) if told.person else None,
        access=EVERYTHING,
        reach=BOTH_HALVES,
    )


async def _tell(
    manager: MemoryManager, ulids: Ulids, told: Told, called: Callable[[str], str]
) -> None:
    caller = owner(told, called)
    candidate = told.status is Status.CANDIDATE
    new = NewMemory(
        content=told.text,
        wing=told.place[0],
        room=told.place[1],
        scope=told.scope,
        layer=told.layer,
        type=told.type,
        anchors=told.anchors,
        status=Status.CANDIDATE if candidate else Status.ACTIVE,
        supersedes=id_of(told.replaces) if told.replaces else None,
    )
    ulids.wanted = id_of(told.name)
    await manager.add(caller, new)
    for _ in range(told.used):
        await manager.get(caller, id_of(told.name))


async def _join(manager: MemoryManager, ulids: Ulids, one: Joined) -> None:
    """Join or describe places while everybody knows them, then take away what made them known."""
    builder = Caller(source="world", access=EVERYTHING, reach=BOTH_HALVES)
    scaffold = []
    ends = [end for end in one.ends if end is not None]
    for end in ends:
        new = NewMemory(content="Scaffold.", wing=end[0], room=end[1] or "scaffold")
        scaffold.append((await manager.add(builder, new)).memory.id)
    if len(one.ends) == 1:
        await manager.places.describe(builder, *ends[0], one.reason, None)
    else:
        ulids.wanted = id_of(one.name)
        if None in one.ends:
            await manager.places.link(builder, ends[0][0], None)
        else:
            await manager.places.connect(builder, ends[0], ends[1], one.reason)
    for memory_id in dict.fromkeys(scaffold):
        await manager.lifecycle.forget(builder, memory_id, hard=True)
