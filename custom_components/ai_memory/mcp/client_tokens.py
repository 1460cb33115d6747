"""The clients that a person let in: config subentries, each with a token or a source address.

The flow makes them, the door asks for one with what a request shows. A token is made here, shown
once by the flow and kept only as its SHA-256. Nothing is cached: a client that was changed or
removed a moment ago is changed or gone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address, ip_network
import secrets
from typing import Any, Final, Self

from homeassistant.config_entries import ConfigSubentry

from ..core import Access, Reach

SUBENTRY_TYPE: Final = "client"
CONF_NAME: Final = "name"
CONF_ACCESS: Final = "access"
CONF_WINGS: Final = "wings"
CONF_HOME: Final = "home"
CONF_ADDRESS: Final = "ip"
CONF_TOKEN_DIGEST: Final = "token_sha256"  # noqa: S105 - the name of a field

DEFAULT_ACCESS: Final = (Access.READ, Access.WRITE, Access.DELETE)
ADDRESS_ACCESS: Final = frozenset({Access.READ})
"""What a client may do at most that shows nothing but where it comes from."""

TOKEN_BYTES: Final = 32
TOKEN_PREFIX: Final = "aim_"  # noqa: S105 - what all tokens begin with
"""Tells a person, and a scanner for secrets, what it found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownClient:
    """What a subentry says of a client."""

    subentry_id: str
    name: str
    access: frozenset[Access]
    reach: Reach

    @classmethod
    def of(cls, subentry: ConfigSubentry) -> Self:
        """Read a subentry; one that is known by its address may read at most."""
        data = subentry.data
        access = frozenset(one for one in Access if one.value in data.get(CONF_ACCESS, ()))
        if CONF_TOKEN_DIGEST not in data:
            access &= ADDRESS_ACCESS
        wings = tuple(data.get(CONF_WINGS, ()))
        reach = Reach(home=bool(data.get(CONF_HOME)), workshop=True, wings=wings or None)
        return cls(
            subentry_id=subentry.subentry_id, name=data[CONF_NAME], access=access, reach=reach
        )


def new_token() -> str:
    """Return a token that nobody can guess."""
    return f"{TOKEN_PREFIX}{secrets.token_urlsafe(TOKEN_BYTES)}"


def token_digest(token: str) -> str:
    """Return what is kept of a token, in hexadecimal digits."""
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def client_with_token(subentries: Iterable[ConfigSubentry], token: str) -> KnownClient | None:
    """Return the client that a token belongs to; how long it takes tells nothing about others."""
    shown, found = token_digest(token), None
    for subentry in _clients(subentries):
        if compare_digest(shown, str(subentry.data.get(CONF_TOKEN_DIGEST, ""))):
            found = subentry
    return None if found is None else KnownClient.of(found)


def client_at_address(subentries: Iterable[ConfigSubentry], address: str) -> KnownClient | None:
    """Return the client that is known by the address a request came from."""
    for subentry in _clients(subentries):
        network = subentry.data.get(CONF_ADDRESS)
        if network and CONF_TOKEN_DIGEST not in subentry.data and is_in(address, network):
            return KnownClient.of(subentry)
    return None


def _clients(subentries: Iterable[ConfigSubentry]) -> Iterable[ConfigSubentry]:
    return (one for one in subentries if one.subentry_type == SUBENTRY_TYPE)


def is_in(address: str, network: str) -> bool:
    """Return whether an address is in a network; one of IPv4 may be written as one of IPv6."""
    try:
        found = ip_address(address)
        mapped = getattr(found, "ipv4_mapped", None)
        return (mapped or found) in ip_network(network)
    except ValueError:
        return False


def settings_by_id(subentries: Iterable[ConfigSubentry]) -> dict[str, Mapping[str, Any]]:
    """Return everything that makes the clients what they are, by the ids of their subentries."""
    return {one.subentry_id: one.data for one in _clients(subentries)}


def names_of(subentries: Mapping[str, ConfigSubentry], but: str | None = None) -> set[str]:
    """Return the names that clients have, folded, without the one of the subentry ``but``."""
    return {
        str(one.data[CONF_NAME]).casefold()
        for one in _clients(subentries.values())
        if one.subentry_id != but
    }


def settings_shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a form may show of a client: everything but the digest."""
    return {name: value for name, value in data.items() if name != CONF_TOKEN_DIGEST}
