"""The links, hubs and owner renames in the options: their fields, and what is typed into them.

``workshop_options`` shows them in its section. The form refuses a list with a wrong entry and names
the entry; set-up passes a damaged one over, because it must not keep the memory closed. What
becomes of them is up to ``core.place_settings``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import logging
from typing import Any, Final

from homeassistant.helpers.selector import (
    ObjectSelector,
    ObjectSelectorConfig,
    SelectSelector,
    SelectSelectorConfig,
)

from .core import InvalidInputError
from .core.workshop_places import OwnerRename, WorkshopPlaces, hub, owner_rename, project_link
from .ha_compat import vol

CONF_PROJECT_LINKS: Final = "project_links"
CONF_HUBS: Final = "hubs"
CONF_RENAMES: Final = "namespace_renames"
PLACE_KEYS: Final = frozenset({CONF_PROJECT_LINKS, CONF_HUBS, CONF_RENAMES})
PLACES_MAXIMUM: Final = 200
"""How many links, hubs and renames there may be, each."""
ENTRY_SHOWN_CHARACTERS: Final = 120

_REPOSITORY: Final = "repository"
_PROJECT: Final = "project"
_FROM: Final = "from"
_TO: Final = "to"
_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the lists cannot be saved: the key of the text, and the entry that it names."""

    key: str
    entry: str


def place_fields() -> dict[vol.Marker, object]:
    """Return the fields as the section has them."""
    return {
        vol.Optional(CONF_PROJECT_LINKS): _pairs(CONF_PROJECT_LINKS, _REPOSITORY, _PROJECT),
        vol.Optional(CONF_HUBS): SelectSelector(
            SelectSelectorConfig(options=[], multiple=True, custom_value=True)
        ),
        vol.Optional(CONF_RENAMES): _pairs(CONF_RENAMES, _FROM, _TO),
    }


def _pairs(key: str, first: str, second: str) -> ObjectSelector:
    # The oldest Home Assistant supported takes no selector object within a selector.
    text: dict[str, Any] = {"text": {}}
    return ObjectSelector(
        ObjectSelectorConfig(
            fields={
                first: {"selector": text, "required": True},
                second: {"selector": text, "required": True},
            },
            multiple=True,
            label_field=first,
            description_field=second,
            translation_key=key,
        )
    )


def checked_places(sent: Mapping[str, Any]) -> tuple[dict[str, Any], Refusal | None]:
    """Return the lists as they are saved, and the first entry that is wrong, if any."""
    places, refusals = _read(sent)
    if any(len(_entries(sent.get(key))) > PLACES_MAXIMUM for key in PLACE_KEYS):
        refusals.insert(0, Refusal("places_too_many", ""))
    lists: dict[str, list[Any]] = {
        CONF_PROJECT_LINKS: [
            {_REPOSITORY: link.repository, _PROJECT: link.project} for link in places.links
        ],
        CONF_HUBS: list(places.hubs),
        CONF_RENAMES: [{_FROM: rename.old, _TO: rename.new} for rename in places.renames],
    }
    saved = {key: entries for key, entries in lists.items() if entries}
    return saved, next(iter(refusals), None)


def places_of(saved: Mapping[str, Any]) -> WorkshopPlaces:
    """Return what the saved section names; a damaged entry is told of and passed over."""
    places, refusals = _read(saved)
    if refusals:
        # An entry may name what is nobody else's business.
        _LOGGER.warning("%d entries of the options are damaged and passed over", len(refusals))
    return places


def _read(section: Mapping[str, Any]) -> tuple[WorkshopPlaces, list[Refusal]]:
    """Return what can be read of the lists, and what cannot."""
    refusals: list[Refusal] = []
    targets: dict[str, str] = {}

    def taken[T](key: str, make: Callable[[Any], T]) -> tuple[T, ...]:
        made: dict[T, None] = {}
        for entry in _entries(section.get(key))[:PLACES_MAXIMUM]:
            try:
                made[make(entry)] = None
            except (InvalidInputError, AttributeError, KeyError, TypeError):
                refusals.append(Refusal(f"{key}_invalid", _shown(entry)))
        return tuple(made)

    def rename(entry: Mapping[str, str]) -> OwnerRename:
        made = owner_rename(entry[_FROM], entry[_TO], targets)
        targets[made.old] = made.new
        return made

    places = WorkshopPlaces(
        links=taken(
            CONF_PROJECT_LINKS, lambda entry: project_link(entry[_REPOSITORY], entry[_PROJECT])
        ),
        hubs=taken(CONF_HUBS, hub),
        renames=taken(CONF_RENAMES, rename),
    )
    return places, refusals


def _entries(value: object) -> Sequence[object]:
    """Return the entries of a list, without those that are empty; one alone stands for itself."""
    entries = value if isinstance(value, list) else [value]
    return [entry for entry in entries if entry is not None and str(entry).strip()]


def _shown(entry: object) -> str:
    """Return an entry as the text of an error names it."""
    parts = entry.values() if isinstance(entry, Mapping) else (entry,)
    return " → ".join(str(part).strip() for part in parts)[:ENTRY_SHOWN_CHARACTERS]
