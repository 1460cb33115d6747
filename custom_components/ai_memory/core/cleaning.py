"""What callers send about memories, cleaned and checked before anything is looked up or written.

Used by the manager; the texts and names themselves are cleaned by ``text_input``.
"""

from dataclasses import replace
from datetime import datetime

from . import palace
from .anchors import FIELD as ANCHORS, clean_anchors
from .errors import InvalidInputError
from .expiry import resolved
from .models import LIVE, MEMORY_TYPES, Caller, Filters, MemoryChanges, NewMemory, Status
from .text_input import (
    SUMMARY_LIMIT_CHARACTERS,
    check_id,
    clean_content,
    clean_text,
    place_name,
    wing_name,
)


def cleaned_new(caller: Caller, new: NewMemory, now: datetime, local: datetime) -> NewMemory:
    """Return a new memory with its place, which is left blank where it replaces another one.

    ``local`` is the home's time. Raises InvalidInputError, and NotFoundError for what can be no id.
    """
    content = clean_content(new.content)
    summary = clean_text(new.summary, "summary", SUMMARY_LIMIT_CHARACTERS)
    wing, room = wing_name(caller, new.wing), place_name(new.room, "room")
    if new.supersedes:
        check_id(new.supersedes)
    else:
        wing, room = _place(caller, wing, room, f"{content} {summary}")
    _check(new.type, new.status, new.confidence)
    expires = resolved(new.expires, now, local.tzinfo)
    return replace(
        new,
        content=content,
        summary=summary,
        wing=wing,
        room=room,
        expires=expires,
        anchors=clean_anchors(new.anchors),
    )


def _place(caller: Caller, wing: str | None, room: str | None, text: str) -> tuple[str, str]:
    """Return wing and room of a new memory, filling in what the caller left blank.

    Its default wing takes what has no place, and what a room alone would put beyond its reach.
    """
    chosen = palace.choose_place(wing, room, text)
    misplaced = room is None or not caller.reach.admits(chosen[0])
    if wing is None and caller.default_wing is not None and misplaced:
        return palace.choose_place(caller.default_wing, room, text)
    return chosen


def cleaned_changes(
    caller: Caller, changes: MemoryChanges, now: datetime, local: datetime
) -> MemoryChanges:
    """Return changes with their texts cleaned. Raises InvalidInputError."""
    content, summary = changes.content, changes.summary
    _check(changes.type, changes.status, changes.confidence)
    return replace(
        changes,
        content=None if content is None else clean_content(content),
        summary=None
        if summary is None
        else clean_text(summary, "summary", SUMMARY_LIMIT_CHARACTERS),
        wing=wing_name(caller, changes.wing),
        room=place_name(changes.room, "room"),
        anchors=None if changes.anchors is None else clean_anchors(changes.anchors),
        expires=resolved(changes.expires, now, local.tzinfo),
    )


def texts_of(sent: NewMemory | MemoryChanges) -> dict[str, str | tuple[str, ...] | None]:
    """Return what a caller sent that is kept word for word or as a name, by field."""
    return {
        "content": sent.content,
        "summary": sent.summary,
        "wing": sent.wing,
        "room": sent.room,
        "type": sent.type,
        ANCHORS: sent.anchors,
    }


def cleaned_filters(caller: Caller, filters: Filters) -> Filters:
    """Return filters with the names of places as they are stored. Raises InvalidInputError."""
    return replace(
        filters, wing=wing_name(caller, filters.wing), room=place_name(filters.room, "room")
    )


def _check(type_: str | None, status: Status | None, confidence: float | None) -> None:
    """Refuse what no caller may say of a memory. Raises InvalidInputError."""
    if type_ is not None and type_ not in MEMORY_TYPES:
        raise InvalidInputError("unknown_choice", field="type", choices=", ".join(MEMORY_TYPES))
    if status is not None and status not in LIVE:
        raise InvalidInputError("unknown_choice", field="status", choices=", ".join(LIVE))
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidInputError("out_of_range", field="confidence", minimum="0", maximum="1")
