"""Who may come in through this door, and what a request must show to be let in.

A ``Client`` is what every request is answered for. ``Authenticate`` is the one call by which a
request becomes a client or is refused; several are asked in turn, so that tokens of our own and
Home Assistant's bearer tokens stand side by side. No token is kept or logged here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Final

from aiohttp import hdrs, web
from homeassistant.auth.models import User
from homeassistant.components.http import KEY_HASS
from homeassistant.components.http.const import KEY_HASS_USER
from homeassistant.config_entries import ConfigEntry
from homeassistant.helpers.network import is_cloud_connection

from ..const import CONF_ADMINISTRATOR_ACCESS, CONF_USER_ACCESS
from ..core import Access, Caller, Reach
from ..operations.workshop import CLIENT_SOURCE
from .client_tokens import KnownClient, client_at_address, client_with_token, is_in

BEARER: Final = "bearer"
CLIENT_OWNER: Final = "client:"
"""Keeps what a client owns apart from what a conversation agent of the same name owns."""
DEFAULT_ADMINISTRATOR_ACCESS: Final = tuple(access.value for access in Access)
DEFAULT_USER_ACCESS: Final[tuple[str, ...]] = ()
EVERYWHERE: Final = Reach(home=True, workshop=True)
"""What people reach: the memory is theirs."""


class Source(StrEnum):
    """By what a client was recognised."""

    TOKEN = "token"  # noqa: S105 - a kind of proof, not a secret
    ADDRESS = "address"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One program that is let in: its name, what it may do and which wings it may see.

    ``identity`` stays the same when the name changes. ``user`` is the Home Assistant user whose
    token it came with, where it was one of those.
    """

    name: str
    access: frozenset[Access]
    source: Source
    identity: str
    reach: Reach
    user: str | None = None

    @property
    def key(self) -> str:
        """What tells this client from all others."""
        return client_key(self.source, self.identity)

    def caller(self) -> Caller:
        """Return who is asking, as the operations see it."""
        return Caller(
            source=f"{CLIENT_SOURCE}{self.name}",
            agent=f"{CLIENT_OWNER}{self.identity}",
            user=self.user,
            access=self.access,
            reach=self.reach,
        )


def client_key(source: Source, identity: str) -> str:
    """Return what tells a client from all others."""
    return f"{source}:{identity}"


def keys_of(subentry_id: str) -> tuple[str, ...]:
    """Return the keys that a client has whom a person added: it may change its kind of proof."""
    return tuple(client_key(source, subentry_id) for source in (Source.TOKEN, Source.ADDRESS))


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in: 401 without proof or with a wrong one, 403 without access."""

    status: HTTPStatus
    reason: str
    wrong_proof: bool = False
    """Whether something was shown that did not fit, which counts as a failed login."""


type Authenticate = Callable[[web.Request], Awaitable[Client | Refusal]]

NO_PROOF: Final = Refusal(HTTPStatus.UNAUTHORIZED, "A bearer token is needed")
WRONG_PROOF: Final = Refusal(HTTPStatus.UNAUTHORIZED, "The bearer token is wrong", wrong_proof=True)
NO_ACCESS: Final = Refusal(HTTPStatus.FORBIDDEN, "This user has no access to the memory")


def bearer_token(request: web.Request) -> str | None:
    """Return the bearer token of a request, or None where it shows none."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    return token.strip() or None if scheme.lower() == BEARER else None


def known_clients(entry: ConfigEntry[Any]) -> Authenticate:
    """Return how the clients that a person added are let in: by token, else by address."""

    async def authenticate(request: web.Request) -> Client | Refusal:
        # Asked anew each time: a client that was removed a moment ago is gone.
        subentries = entry.subentries.values()
        token = bearer_token(request)
        if token is not None:
            found = client_with_token(subentries, token)
            return WRONG_PROOF if found is None else _client(found, Source.TOKEN)
        found = client_at_address(subentries, request.remote or "") if _is_where(request) else None
        return NO_PROOF if found is None else _client(found, Source.ADDRESS)

    return authenticate


def _is_where(request: web.Request) -> bool:
    """Return whether the address of a request is where it comes from.

    What comes through Home Assistant Cloud, or through a trusted proxy that does not say for whom,
    has the address of the house itself.
    """
    hass = request.app[KEY_HASS]
    if is_cloud_connection(hass):
        return False
    if hdrs.X_FORWARDED_FOR in request.headers:
        # Home Assistant took the address from there, or refused the request.
        return True
    return not any(is_in(request.remote or "", str(one)) for one in hass.http.trusted_proxies)


def _client(known: KnownClient, source: Source) -> Client:
    return Client(
        name=known.name,
        access=known.access,
        source=source,
        identity=known.subentry_id,
        reach=known.reach,
    )


def home_assistant_users(settings: Mapping[str, Any]) -> Authenticate:
    """Return how Home Assistant's own tokens, OAuth sign-ins included, are let in."""

    async def authenticate(request: web.Request) -> Client | Refusal:
        if bearer_token(request) is None:
            return NO_PROOF
        # Home Assistant checked the token on the way in, and where its user may come from.
        user: User | None = request.get(KEY_HASS_USER)
        if user is None:
            return WRONG_PROOF
        access = access_of(user, settings)
        if not access:
            return NO_ACCESS
        return Client(
            name=user.name or user.id,
            access=access,
            source=Source.USER,
            identity=user.id,
            reach=EVERYWHERE,
            user=user.id,
        )

    return authenticate


def access_of(user: User, settings: Mapping[str, Any]) -> frozenset[Access]:
    """Return what the options give to a user."""
    if user.is_admin:
        given = settings.get(CONF_ADMINISTRATOR_ACCESS, DEFAULT_ADMINISTRATOR_ACCESS)
    else:
        given = settings.get(CONF_USER_ACCESS, DEFAULT_USER_ACCESS)
    return frozenset(access for access in Access if access.value in given)


def first_of(ways: Sequence[Authenticate]) -> Authenticate:
    """Return a way in that tries several: whoever lets in or denies access decides.

    Where none does, a wrong proof outweighs none at all.
    """

    async def authenticate(request: web.Request) -> Client | Refusal:
        refusals: list[Refusal] = []
        for way in ways:
            outcome = await way(request)
            if isinstance(outcome, Client) or outcome.status is HTTPStatus.FORBIDDEN:
                return outcome
            refusals.append(outcome)
        return next((one for one in refusals if one.wrong_proof), NO_PROOF)

    return authenticate
