"""Making a memory of what a file tells: cleaned, with a place, or refused with a reason.

``importing`` calls ``prepare`` in a worker thread, because finding a place for a long text takes
time. The same limits hold as for what a caller sends, and nobody imports where they may not write.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from .. import palace
from ..anchors import clean_anchors, url_of
from ..errors import AiMemoryError, InvalidInputError
from ..models import LIVE, Access, Caller, Memory, Scope, is_workshop
from ..restatement import restatement_digest
from ..screen import WORKSHOP, Strictness, screen, screen_anchor_url
from ..text_input import (
    CONTENT_LIMIT_CHARACTERS,
    SUMMARY_LIMIT_CHARACTERS,
    check_id,
    clean_content,
    clean_text,
    place_name,
    wing_name,
)
from . import attached
from .values import ImportedMemory, Skipped, SkipReason, Usage

_OWNER_LIMIT_CHARACTERS: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What holds for memories that do not say it themselves; blank ones are chosen."""

    wing: str | None = None
    room: str | None = None
    scope: Scope | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A memory as it would be stored; its scope is None where its wing decides.

    ``placed`` says that the file or the caller named the place, not we.
    """

    told: ImportedMemory
    content: str
    summary: str
    wing: str
    room: str
    placed: bool
    scope: Scope | None
    digest: bytes

    @property
    def takes_room(self) -> bool:
        """Whether it would count towards the capacity."""
        return self.told.status in LIVE and not is_workshop(self.wing)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a memory is; nobody's for a common one."""

    agent: str | None = None
    user: str | None = None


def check_wings(told: Sequence[ImportedMemory], caller: Caller, defaults: Defaults) -> None:
    """Refuse memories that no wing is named for, where none could be chosen for them.

    A place is chosen in the home alone. Raises InvalidInputError.
    """
    nowhere = defaults.wing is None and told and not any(one.wing for one in told)
    if nowhere and not caller.reach.home:
        raise InvalidInputError("namespace_needed", field="wing")


def prepare(
    told: ImportedMemory, caller: Caller, defaults: Defaults, home: Strictness
) -> Prepared | Skipped:
    """Return the memory as it would be stored, or why it cannot be.

    ``home`` is how strictly wings of the home are screened; those of the workshop always are.
    """
    try:
        prepared = _prepared(told if believed(caller) else _unproved(told), caller, defaults)
    except AiMemoryError as err:
        known = err.key in set(SkipReason)
        return Skipped(told.line, SkipReason(err.key) if known else SkipReason.INVALID_VALUE)
    if isinstance(prepared, Prepared) and _holds_a_secret(prepared, home):
        return Skipped(told.line, SkipReason.SCREENED)
    return prepared


def believed(caller: Caller) -> bool:
    """Return whether a file is believed what it says of the past: who wrote, and who witnessed.

    For everybody else a memory that comes in is one that the caller writes.
    """
    return caller.automation or Access.ADMIN in caller.access


def owner_of(told: ImportedMemory, scope: Scope, caller: Caller) -> Owner | None:
    """Return whose the memory becomes, None where a private one would be nobody's.

    Only an administrator brings in memories of others; everybody else owns what they import.
    """
    if scope is Scope.COMMON:
        return Owner()
    if Access.ADMIN in caller.access and told.owner_agent:
        return Owner(told.owner_agent, told.owner_user)
    agent = caller.agent or caller.provider
    return Owner(agent, caller.user) if agent else None


def attached_of(one: Prepared, owner: Owner, caller: Caller) -> attached.Attached:
    """Return what belongs to the memory, in the hands of whoever may have it."""
    told = one.told.attached
    if Access.ADMIN in caller.access:
        return told
    agent = owner.agent or caller.agent or caller.provider
    return attached.owned(told, agent, owner.user if owner.agent else caller.user)


def source_of(one: Prepared, caller: Caller) -> str | None:
    """Return who wrote the memory, None where that is the file of another memory.

    In the workshop that is a promise: nobody but an administrator brings in what others wrote, and
    what nobody signed is signed by whoever brings it in.
    """
    told, signed = one.told, is_workshop(one.wing)
    if believed(caller):
        return told.source or (caller.source if signed and not caller.automation else None)
    ours = told.id is not None or told.source is not None or signed
    return caller.source if ours else None


def in_the_same_hands(memory: Memory, scope: Scope, owner: Owner) -> bool:
    """Return whether a stored memory has this scope and owner."""
    return (memory.scope, memory.owner_agent, memory.owner_user) == (
        scope,
        owner.agent,
        owner.user,
    )


def _unproved(told: ImportedMemory) -> ImportedMemory:
    """Return a memory as anybody could have written it."""
    return replace(told, evidence=1.0, usage=Usage(), attached=attached.unproved(told.attached))


def _holds_a_secret(prepared: Prepared, home: Strictness) -> bool:
    told, attached_texts = prepared.told, attached.texts(prepared.told.attached)
    names = (told.id, told.wing, told.room, told.owner_agent, told.owner_user, told.language)
    kept = (prepared.content, prepared.summary, told.source, told.type, *names, *attached_texts)
    strictness = WORKSHOP if is_workshop(prepared.wing) else home
    return any(screen("text", text, strictness) for text in kept if text)


def _prepared(told: ImportedMemory, caller: Caller, defaults: Defaults) -> Prepared | Skipped:
    content = clean_content(told.content)
    summary = clean_text(told.summary, "summary", SUMMARY_LIMIT_CHARACTERS)
    for name in ("owner_agent", "owner_user", "source", "type", "language"):
        clean_text(getattr(told, name) or "", name, _OWNER_LIMIT_CHARACTERS)
    for text in attached.texts(told.attached):
        clean_text(text, "text", CONTENT_LIMIT_CHARACTERS)
    anchors = attached.anchors_of(told.attached)
    opens_a_door = any(screen_anchor_url(url) for anchor in anchors if (url := url_of(anchor)))
    if opens_a_door or clean_anchors(anchors) != anchors:
        raise InvalidInputError("invalid_anchor", field="anchors")
    if told.id is not None:
        check_id(told.id)
        if is_workshop(told.wing or "") and not caller.reach.workshop:
            return Skipped(told.line, SkipReason.WING)
    wing = wing_name(caller, told.wing or defaults.wing)
    room = place_name(told.room or defaults.room, "room")
    chosen = palace.choose_place(wing, room, f"{content} {summary}")
    if not caller.reach.admits(chosen[0]):
        return Skipped(told.line, SkipReason.WING)
    return Prepared(
        told=told,
        content=content,
        summary=summary,
        wing=chosen[0],
        room=chosen[1],
        placed=room is not None,
        scope=told.scope or defaults.scope,
        digest=restatement_digest(content),
    )
