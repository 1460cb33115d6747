"""What a memory is anchored to: how an anchor is written, and which anchors a memory has.

An anchor is ``entity:``, ``path:``, ``host:`` or ``url:`` and what it points at. Called by the
writer before it stores, and by ``anchor_keeper``; the rows are in ``anchor_rows``. Nothing here
looks anything up: whether an entity exists is told by the function that the manager was given.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
import re
from typing import Final
from urllib.parse import urlsplit

from .errors import InvalidInputError
from .models import Memory, MemoryChanges, NewMemory, is_workshop
from .text_input import clean_text

FIELD: Final = "anchors"
"""What refusals call them."""

ANCHORS_MAXIMUM: Final = 16
ANCHOR_LIMIT_CHARACTERS: Final = 1_000
ENTITY_ID_LIMIT_CHARACTERS: Final = 255

type EntityCheck = Callable[[str], bool | None]
"""Whether the home has an entity; None where nobody can tell at the moment."""


class AnchorKind(StrEnum):
    """What an anchor points at."""

    ENTITY = "entity"
    PATH = "path"
    HOST = "host"
    URL = "url"


_PART: Final = r"(?!_)[0-9a-z_]+(?<!_)"
_ENTITY_ID: Final = re.compile(rf"(?!.+__){_PART}\.{_PART}")
_HOST: Final = re.compile(
    r"([0-9a-z]([0-9a-z._-]*[0-9a-z])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?|[0-9a-f:]*:[0-9a-f:.]+"
)
# A word with a point in it, and no part of something longer such as an address or a file name.
_NAMED: Final = re.compile(r"(?<![\w.@/-])[0-9a-z_]+\.[0-9a-z_]+(?![\w@/-]|\.\w)", re.ASCII)
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def nobody_can_tell(_entity_id: str) -> bool | None:
    """Know of no home: the check of a memory without Home Assistant."""
    return None


def clean_anchors(texts: Sequence[str]) -> tuple[str, ...]:
    """Return anchors in the form they are stored in, each once. Raises InvalidInputError."""
    cleaned = tuple(dict.fromkeys(map(clean_anchor, texts)))
    if len(cleaned) > ANCHORS_MAXIMUM:
        raise InvalidInputError("too_many", field=FIELD, maximum=ANCHORS_MAXIMUM)
    return cleaned


def clean_anchor(text: str) -> str:
    """Return one anchor in the form it is stored in. Raises InvalidInputError."""
    text = clean_text(text, FIELD, ANCHOR_LIMIT_CHARACTERS)
    name, _, target = text.partition(":")
    name, target = name.strip().lower(), target.strip()
    if name not in _FORMS or not target or _UNPRINTABLE.search(target):
        raise InvalidInputError("invalid_anchor", field=FIELD)
    return f"{name}:{_FORMS[AnchorKind(name)](target)}"


def url_of(anchor: str) -> str | None:
    """Return the address that an anchor points at, however it is written, None for any other."""
    kind, _, target = anchor.partition(":")
    return target if kind.strip().lower() == AnchorKind.URL else None


def entity_anchor(entity_id: str) -> str:
    """Return the anchor of an entity."""
    return f"{AnchorKind.ENTITY}:{entity_id}"


def entity_of(anchor: str) -> str | None:
    """Return the entity that an anchor points at, None where it is no entity."""
    kind, _, target = anchor.partition(":")
    return target if kind == AnchorKind.ENTITY else None


def anchors_of(new: NewMemory, check: EntityCheck) -> tuple[str, ...]:
    """Return the anchors of a new memory: those given, and in the home the entities it names."""
    return bounded(new.anchors, _named_anchors(new.wing, new.content, check))


def anchors_after(before: Memory, changes: MemoryChanges, check: EntityCheck) -> tuple[str, ...]:
    """Return the anchors of a memory after an update.

    Those given replace all. A new text takes along what it names, and drops what only the text
    before it named.
    """
    if changes.anchors is not None:
        return changes.anchors
    held = tuple(anchor.target for anchor in before.anchors)
    if changes.content is None or changes.content == before.content:
        return held
    dropped = set(map(entity_anchor, _written_ids(before.content)))
    dropped -= set(map(entity_anchor, _written_ids(changes.content)))
    kept = [anchor for anchor in held if anchor not in dropped]
    return bounded(kept, _named_anchors(changes.wing or before.wing, changes.content, check))


def _named_anchors(wing: str | None, text: str, check: EntityCheck) -> Iterable[str]:
    if is_workshop(wing or ""):
        return ()
    return (entity_anchor(name) for name in _written_ids(text) if check(name))


def bounded(given: Iterable[str], named: Iterable[str]) -> tuple[str, ...]:
    """Return the given anchors and as many of the named ones as there is room for."""
    anchors = dict.fromkeys(given)
    for anchor in named:
        if len(anchors) >= ANCHORS_MAXIMUM:
            break
        anchors[anchor] = None
    return tuple(anchors)


def _written_ids(text: str) -> list[str]:
    """Return what is written like the id of an entity."""
    found = dict.fromkeys(_NAMED.findall(text.lower()))
    return [name for name in found if _is_entity_id(name)]


def _is_entity_id(text: str) -> bool:
    return len(text) <= ENTITY_ID_LIMIT_CHARACTERS and _ENTITY_ID.fullmatch(text) is not None


def _entity(target: str) -> str:
    target = target.lower()
    if not _is_entity_id(target):
        raise InvalidInputError("invalid_anchor", field=FIELD)
    return target


def _host(target: str) -> str:
    target = target.lower()
    if not _HOST.fullmatch(target):
        raise InvalidInputError("invalid_anchor", field=FIELD)
    return target


def _url(target: str) -> str:
    try:
        parts = urlsplit(target)
    except ValueError:
        parts = None
    if parts is None or not parts.scheme or not parts.netloc or " " in target:
        raise InvalidInputError("invalid_anchor", field=FIELD)
    return target


_FORMS: Final[dict[AnchorKind, Callable[[str], str]]] = {
    AnchorKind.ENTITY: _entity,
    AnchorKind.PATH: str,
    AnchorKind.HOST: _host,
    AnchorKind.URL: _url,
}
