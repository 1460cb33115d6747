"""The revisions of MCP that one endpoint speaks, decided anew for every request.

Up to 2025-11-25 a client opens with ``initialize`` and then names the agreed revision in a header
(the era of the handshake). From 2026-07-28 on there is no opening: each request names its revision
and the client's capabilities itself, and repeats in headers what a proxy may want to route by (the
stateless era). Used by the dispatcher; never answers a method.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from .headers import check_mirrored
from .jsonrpc import ErrorCode, Message, Notification, RpcError
from .strict_json import JsonObject, JsonValue

VERSION_HEADER: Final = "mcp-protocol-version"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL_KEY: Final = "io.modelcontextprotocol/logLevel"

OPENING: Final = "initialize"
_STATELESS_METHODS: Final = frozenset({"server/discover", "subscriptions/listen"})


class Revision(StrEnum):
    """The published revisions, oldest first."""

    MARCH_2025 = "2025-03-26"
    JUNE_2025 = "2025-06-18"
    NOVEMBER_2025 = "2025-11-25"
    JULY_2026 = "2026-07-28"


WITH_HANDSHAKE: Final = (Revision.MARCH_2025, Revision.JUNE_2025, Revision.NOVEMBER_2025)
STATELESS: Final = (Revision.JULY_2026,)
SUPPORTED: Final[tuple[str, ...]] = tuple(str(revision) for revision in reversed(Revision))
"""What a client may choose from, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one message is answered under."""

    revision: Revision
    capabilities: Mapping[str, JsonValue] = field(default_factory=dict)
    log_level: str | None = None

    @property
    def stateless(self) -> bool:
        """Whether the message belongs to the era without a handshake."""
        return self.revision in STATELESS


def terms_of(message: Message, headers: Mapping[str, str]) -> Terms:
    """Return the terms of a message; header names are in lower case. Raises RpcError."""
    if isinstance(message, Notification):
        return Terms(revision=declared_revision(headers))
    meta = message.params.get("_meta")
    names_revision = isinstance(meta, dict) and VERSION_KEY in meta
    if message.method == OPENING and not names_revision:
        return Terms(revision=negotiate(message.params))
    if names_revision or message.method in _STATELESS_METHODS or _declares_stateless(headers):
        return _stateless_terms(message, meta, headers)
    return Terms(revision=declared_revision(headers))


def negotiate(params: JsonObject) -> Revision:
    """Return the revision that an opening agrees on: the client's, or the best of that era."""
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise RpcError(ErrorCode.INVALID_PARAMS, "protocolVersion must be text")
    return next((known for known in WITH_HANDSHAKE if known == wanted), WITH_HANDSHAKE[-1])


def unsupported(wanted: str) -> RpcError:
    """Return the error for a revision that this server does not speak."""
    data: JsonObject = {"supported": list(SUPPORTED), "requested": wanted}
    return RpcError(ErrorCode.UNSUPPORTED_VERSION, "Unsupported protocol version", data, status=400)


def declared_revision(headers: Mapping[str, str]) -> Revision:
    """Return the revision that the header names. Raises RpcError."""
    declared = headers.get(VERSION_HEADER)
    # Clients older than the header send none; the revision before it is what they speak.
    if declared is None:
        return Revision.MARCH_2025
    if declared not in SUPPORTED:
        raise unsupported(declared)
    return Revision(declared)


def _declares_stateless(headers: Mapping[str, str]) -> bool:
    return headers.get(VERSION_HEADER) in STATELESS


def _stateless_terms(message: Message, meta: JsonValue, headers: Mapping[str, str]) -> Terms:
    if not isinstance(meta, dict):
        raise RpcError(ErrorCode.INVALID_PARAMS, "_meta must be an object", status=400)
    wanted = meta.get(VERSION_KEY)
    capabilities = meta.get(CAPABILITIES_KEY)
    if not isinstance(wanted, str):
        raise RpcError(ErrorCode.INVALID_PARAMS, f"_meta lacks {VERSION_KEY}", status=400)
    if not isinstance(capabilities, dict):
        raise RpcError(ErrorCode.INVALID_PARAMS, f"_meta lacks {CAPABILITIES_KEY}", status=400)
    # A client that disagrees with itself hears that first, whatever else is wrong.
    if headers.get(VERSION_HEADER) != wanted:
        problem = f"The header {VERSION_HEADER} differs from _meta"
        raise RpcError(ErrorCode.HEADER_MISMATCH, problem, status=400)
    check_mirrored(message, headers)
    if wanted not in STATELESS:
        raise unsupported(wanted)
    level = meta.get(LOG_LEVEL_KEY)
    return Terms(
        revision=Revision(wanted),
        capabilities=capabilities,
        log_level=level if isinstance(level, str) else None,
    )
