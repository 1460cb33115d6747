"""What a person set about the workshop's places: links, hubs and owners that have another name.

Values alone. The options' form makes them of what is typed, set-up of what was saved;
``place_settings`` makes the palace agree with them. Nothing is looked up here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from .errors import InvalidInputError
from .namespaces import normalised, owner_prefix
from .tunnel_rows import check_link, is_repository


@dataclass(frozen=True, slots=True)
class ProjectLink:
    """A repository and a project that it shares with others."""

    repository: str
    project: str


@dataclass(frozen=True, slots=True)
class OwnerRename:
    """The beginning of an owner's namespaces, as ``github/old/``, and the one of today."""

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkshopPlaces:
    """All links, hubs and owner renames that the options name."""

    links: tuple[ProjectLink, ...] = ()
    hubs: tuple[str, ...] = ()
    renames: tuple[OwnerRename, ...] = ()

    def settled(self) -> Self:
        """Return the same as it is once every owner is renamed, whatever the order was.

        An owner that was renamed twice goes to its last name at once, and what the options still
        call by an old name is called by the last one: so nothing moves a second time.
        """
        targets = {rename.old: rename.new for rename in self.renames}
        links = (
            replace(link, repository=_renamed(link.repository, targets)) for link in self.links
        )
        return replace(
            self,
            links=tuple(dict.fromkeys(links)),
            hubs=tuple(dict.fromkeys(_renamed(hub, targets) for hub in self.hubs)),
            renames=tuple(OwnerRename(old, _last_name(old, targets)) for old in targets),
        )


def project_link(repository: str, project: str) -> ProjectLink:
    """Return a link in the form that it is stored in. Raises InvalidInputError."""
    link = ProjectLink(normalised(repository), normalised(project))
    check_link(link.repository, link.project)
    return link


def hub(repository: str) -> str:
    """Return a hub in the form that it is stored in. Raises InvalidInputError."""
    name = normalised(repository)
    check_link(name, None)
    return name


def owner_rename(old: str, new: str, others: Mapping[str, str]) -> OwnerRename:
    """Return a rename in the form that it is stored in; ``others`` are those before it.

    Raises InvalidInputError where one of the two is no owner, where an owner would have two new
    names and where it would come back to its old one.
    """
    rename = OwnerRename(_owner(old, "from"), _owner(new, "to"))
    if others.get(rename.old, rename.new) != rename.new:
        raise InvalidInputError("place_exists", place=rename.old)
    if _last_name(rename.new, others) == rename.old:
        raise InvalidInputError("place_inside_itself", place=rename.old)
    return rename


def _owner(written: str, field: str) -> str:
    """Return the beginning of a forge's namespaces, which people write with or without slash."""
    prefix = owner_prefix(f"{written.strip().rstrip('/')}/", field)
    if not is_repository(normalised(f"{prefix}any")):
        raise InvalidInputError("invalid_prefix", field=field)
    return prefix


def _renamed(namespace: str, targets: Mapping[str, str]) -> str:
    owner, slash, name = namespace.rpartition("/")
    return f"{_last_name(owner + slash, targets)}{name}"


def _last_name(owner: str, targets: Mapping[str, str]) -> str:
    """Follow renames to their end; those that go round end somewhere."""
    for _ in targets:
        owner = targets.get(owner, owner)
    return owner
