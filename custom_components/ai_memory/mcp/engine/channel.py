"""What a request can send to its client before it answers: progress, log lines, changes.

The HTTP view supplies the channel, which may turn out to lead nowhere: a client that does not
accept a stream gets the answer alone. Used by running calls and by listening clients.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from .jsonrpc import ErrorCode, Request, RpcError, notification_message
from .revisions import Terms
from .strict_json import JsonObject, JsonValue

LOG_LEVELS: Final = (
    *("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"),
)
DEFAULT_LOG_LEVEL: Final = "warning"
REMEMBERED_MAXIMUM_SESSIONS: Final = 1_024

type SessionKey = tuple[str, str]


class Channel(Protocol):
    """The stream of one request."""

    @property
    def open_to_stream(self) -> bool:
        """Whether the client accepts more than the answer."""

    async def send(self, message: JsonObject) -> None:
        """Send a message before the answer; dropped where the client accepts none."""


class LogLevels:
    """From which level on each session wants log lines, where it has ever said so."""

    def __init__(self) -> None:
        """Know of no session."""
        self._levels: OrderedDict[SessionKey, str] = OrderedDict()

    def set(self, session: SessionKey, level: JsonValue) -> None:
        """Remember a level; the session that spoke longest ago is forgotten for a new one."""
        if level not in LOG_LEVELS:
            raise RpcError(ErrorCode.INVALID_PARAMS, f"level must be one of {LOG_LEVELS}")
        self._levels[session] = str(level)
        self._levels.move_to_end(session)
        if len(self._levels) > REMEMBERED_MAXIMUM_SESSIONS:
            self._levels.popitem(last=False)

    def forget(self, client_key: str) -> None:
        """Forget what the sessions of a client wanted."""
        for session in [one for one in self._levels if one[0] == client_key]:
            del self._levels[session]

    def of(self, session: SessionKey, terms: Terms) -> str | None:
        """Return the level in force; without a handshake, what the request says or nothing."""
        if terms.stateless:
            return terms.log_level if terms.log_level in LOG_LEVELS else None
        return self._levels.get(session, DEFAULT_LOG_LEVEL)


@dataclass(slots=True)
class CallReporter:
    """Tells a client of its running call."""

    channel: Channel
    capabilities: Mapping[str, JsonValue]
    log_level: str | None
    token: str | int | None
    _told: float = float("-inf")

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell how far the call has come, if the client asked for it and it has come further."""
        if self.token is None or progress <= self._told:
            return
        self._told = progress
        params: JsonObject = {"progressToken": self.token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.channel.send(notification_message("notifications/progress", params))

    async def log(self, level: str, data: JsonValue) -> None:
        """Tell a log line, if the client wants those of its level."""
        if self.log_level is None or LOG_LEVELS.index(level) < LOG_LEVELS.index(self.log_level):
            return
        params: JsonObject = {"level": level, "data": data}
        await self.channel.send(notification_message("notifications/message", params))


def reporter_of(
    request: Request, terms: Terms, channel: Channel, log_level: str | None
) -> CallReporter:
    """Return the reporter of a request."""
    meta = request.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    usable = isinstance(token, str | int) and not isinstance(token, bool)
    return CallReporter(channel, terms.capabilities, log_level, token if usable else None)  # type: ignore[arg-type]
