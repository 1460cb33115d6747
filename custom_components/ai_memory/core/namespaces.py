"""The names of the workshop's wings, and how the remote of a git repository becomes one.

Called by the doors of coding agents. A namespace is ``global``, ``github/<owner>/<repository>``,
``gitea/<owner>/<repository>``, ``projects/<name>``, ``topics/<name>`` or ``local/<name>``, always
in lower case, because forges tell no two repositories apart by case. Nothing is looked up here, and
no refusal repeats what was sent.
"""

from dataclasses import dataclass
import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from .errors import InvalidInputError
from .screen import is_credential_name

NAMESPACE_LIMIT_CHARACTERS: Final = 160
PART_LIMIT_CHARACTERS: Final = 100
REMOTE_LIMIT_CHARACTERS: Final = 2_048
GLOBAL: Final = "global"

_GITHUB: Final = "github"
_GITEA: Final = "gitea"
_PARTS: Final = {_GITHUB: 3, _GITEA: 3, "projects": 2, "topics": 2, "local": 2, GLOBAL: 1}
_GITHUB_HOSTS: Final = frozenset({"github.com", "www.github.com", "ssh.github.com"})
# ASCII alone: letters of other scripts that look like these would make two names of one.
_PART: Final = re.compile(r"[a-z0-9_.-]*[a-z0-9_][a-z0-9_.-]*")
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:]+")
_PREFIX: Final = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9_-][a-z0-9._-]*)+/")
_WEB: Final = frozenset({"http", "https"})
_SCHEMES: Final = _WEB | {"ssh", "git"}
# user@host:path and [user@host:port]:path, as git and scp write them.
_SCP: Final = re.compile(
    r"(?:(?P<user>[^\s/@:\[\]]+)@)?(?P<host>[^\s/@:\[\]]{2,}):(?!//)(?P<path>[^\s]+)"
    r"|\[(?:(?P<user2>[^\s/@:\[\]]+)@)?(?P<host2>[^\s/@:\[\]]+)(?::\d{1,5})?\]:(?P<path2>[^\s]+)"
)
_PASSWORD_BEFORE_HOST: Final = re.compile(r"[^\s/@]*:[^\s/]*@")
_PARAMETER: Final = re.compile(r"[?&;#]([^=&;#]{1,80})=")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceRules:
    """Which repositories have a namespace: an owner of None means any.

    ``forge_hosts`` are those of Gitea and Forgejo, each a host as people write it, with a port, a
    scheme or the path below which the forge lives, or without.
    """

    github_owner: str | None = None
    forge_hosts: tuple[str, ...] = ()
    forge_owner: str | None = None


ANY_OWNER: Final = NamespaceRules()


@dataclass(frozen=True, slots=True)
class _Remote:
    """Where a repository is: the host in lower case, and the path below it."""

    host: str
    path: str


def namespace_of_remote(remote: str, rules: NamespaceRules = ANY_OWNER) -> str:
    """Return the namespace of the repository behind a git remote.

    Raises InvalidInputError, with the key ``credentials_in_url`` for a remote that holds any.
    """
    where = _parsed(remote)
    if where.host in _GITHUB_HOSTS:
        kind, path = _GITHUB, where.path
    elif (prefix := _forge_prefix(where, rules.forge_hosts)) is not None:
        kind, path = _GITEA, where.path[len(prefix) :]
    else:
        raise InvalidInputError("forge_unknown", host=where.host)
    parts = path.strip("/").lower().split("/")
    if len(parts) != _PARTS[kind] - 1:
        raise InvalidInputError("not_a_remote")
    owner, name = parts
    try:
        return normalised(f"{kind}/{owner}/{name.removesuffix('.git')}", rules)
    except InvalidInputError as err:
        if err.key == "invalid_namespace":
            raise InvalidInputError("not_a_remote") from None
        raise


def normalised(name: str, rules: NamespaceRules = ANY_OWNER) -> str:
    """Return a namespace that a client gave in the form that it is stored in.

    Raises InvalidInputError for what is none, and for repositories of owners beyond the rules.
    """
    cleaned = name.strip().lower() if name.isascii() else ""
    if len(cleaned) > NAMESPACE_LIMIT_CHARACTERS:
        raise InvalidInputError(
            "too_long", field="namespace", limit=NAMESPACE_LIMIT_CHARACTERS, length=len(cleaned)
        )
    kind, *parts = cleaned.split("/")
    if len(parts) + 1 != _PARTS.get(kind) or not all(_is_part(part) for part in parts):
        raise InvalidInputError("invalid_namespace")
    owner = {_GITHUB: rules.github_owner, _GITEA: rules.forge_owner}.get(kind)
    if owner and parts[0] != owner.strip().lower():
        raise InvalidInputError("owner_refused")
    return cleaned


def is_namespace(name: str) -> bool:
    """Return whether a name is a namespace in the form that it is stored in."""
    try:
        return normalised(name) == name
    except InvalidInputError:
        return False


def owner_prefix(raw: str, field: str) -> str:
    """Return the beginning of namespaces, which names an owner. Raises InvalidInputError."""
    cleaned = raw.strip().lower()
    if not _PREFIX.fullmatch(cleaned):
        raise InvalidInputError("invalid_prefix", field=field)
    return cleaned


def is_owner(name: str) -> bool:
    """Return whether a repository can have an owner of that name."""
    return _is_part(name.strip().lower()) if name.isascii() else False


def is_forge(written: str) -> bool:
    """Return whether a forge can be where a person wrote; see ``NamespaceRules``."""
    _, _, place = written.strip().lower().rpartition("://")
    authority, _, path = place.partition("/")
    try:
        host = _split(f"ssh://{authority}").hostname or ""
    except InvalidInputError:
        return False
    plain = "@" not in authority and not set(path) & set("%?#\\ ")
    return plain and _HOST.fullmatch(host.removesuffix(".")) is not None


def _is_part(part: str) -> bool:
    return (
        len(part) <= PART_LIMIT_CHARACTERS
        and _PART.fullmatch(part) is not None
        and ".." not in part
        and not part.endswith((".git", ".lock"))
    )


def _parsed(remote: str) -> _Remote:
    """Take a remote apart. Raises InvalidInputError."""
    remote = remote.strip()
    if not remote.isascii() or not remote.isprintable() or len(remote) > REMOTE_LIMIT_CHARACTERS:
        raise InvalidInputError("not_a_remote")
    _refuse_credentials(remote)
    if "://" in remote:
        where = _parsed_url(remote)
    elif found := _SCP.fullmatch(remote):
        where = _Remote(found["host"] or found["host2"], found["path"] or found["path2"])
    else:
        raise InvalidInputError("not_a_remote")
    host = where.host.lower().removesuffix(".")
    if not _HOST.fullmatch(host) or set(where.path) & set("%?#\\ "):
        raise InvalidInputError("not_a_remote")
    return _Remote(host, f"/{where.path.strip('/')}")


def _parsed_url(remote: str) -> _Remote:
    scheme, _, rest = remote.lower().partition("://")
    names = [name for name in scheme.split("+") if name != "git"] or ["git"]
    if len(names) != 1 or names[0] not in _SCHEMES:
        raise InvalidInputError("not_a_remote")
    parts = _split(f"{names[0]}://{rest}")
    # The name that one signs in with by ssh opens nothing; on the web it may be a token.
    if names[0] in _WEB and "@" in parts.netloc:
        raise InvalidInputError("credentials_in_url")
    if parts.query or parts.fragment:
        raise InvalidInputError("not_a_remote")
    return _Remote(parts.hostname or "", parts.path)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # Only now is it read.
    except ValueError:
        raise InvalidInputError("not_a_remote") from None
    return parts


def _refuse_credentials(remote: str) -> None:
    """Refuse a password before the host and parameters that are named like credentials."""
    _, _, rest = remote.rpartition("://")
    password = _PASSWORD_BEFORE_HOST.match(rest) is not None
    parameter = any(is_credential_name(name, bare_key=True) for name in _PARAMETER.findall(remote))
    if password or parameter:
        raise InvalidInputError("credentials_in_url")


def _forge_prefix(where: _Remote, hosts: tuple[str, ...]) -> str | None:
    """Return the path below which the forge on that host lives, None where it is no forge of ours.

    Ports are passed over: one forge answers on several.
    """
    found: str | None = None
    for configured in hosts:
        _, _, written = configured.strip().lower().rpartition("://")
        authority, _, path = written.partition("/")
        host = _split(f"ssh://{authority}").hostname or ""
        if host.removesuffix(".") != where.host:
            continue
        prefix = f"/{path.strip('/')}" if path.strip("/") else ""
        below = where.path.lower().startswith(f"{prefix}/")
        if found is None or (below and len(prefix) > len(found)):
            # By ssh the same forge lives at the root.
            found = prefix if below else ""
    return found
