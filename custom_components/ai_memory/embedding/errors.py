"""What can go wrong between the memory and a model, each with a short reason for logs and repairs.

The engines raise these; the queue that makes vectors, the search and the config flow tell them
apart. A message names what happened, never a text, a key or an address with a password in it.
"""

from enum import StrEnum

from .protocol import EngineError


class EngineReason(StrEnum):
    """Why an engine failed, in one word that does not change."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    UNAUTHORIZED = "unauthorized"
    RATE_LIMITED = "rate_limited"
    BAD_RESPONSE = "bad_response"
    MODEL_MISSING = "model_missing"
    NOT_INSTALLED = "not_installed"
    IMPORT_FAILED = "import_failed"
    UNSUPPORTED = "unsupported"
    OUT_OF_MEMORY = "out_of_memory"
    TOO_SLOW = "too_slow"


class EngineUnavailableError(EngineError):
    """The server is away, slow, broken or busy: the same call may work later."""

    def __init__(
        self,
        message: str,
        *,
        reason: EngineReason = EngineReason.UNREACHABLE,
        status: int | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        """Say what happened; ``status`` is None when no server answered at all."""
        super().__init__(message, reason=reason, retry_after_seconds=retry_after_seconds)
        self.status = status


class EngineUnauthorizedError(EngineError):
    """The server does not accept the key, or wants one."""

    def __init__(self, message: str) -> None:
        """Say what happened."""
        super().__init__(message, reason=EngineReason.UNAUTHORIZED)


class EngineUnusableError(EngineError):
    """A model cannot run on this machine, or not at the moment."""

    def __init__(
        self, message: str, *, reason: EngineReason, retry_after_seconds: float | None = None
    ) -> None:
        """Say what happened."""
        super().__init__(message, reason=reason, retry_after_seconds=retry_after_seconds)


class EngineResponseError(EngineError):
    """The server answered with something that is not what was asked for."""

    def __init__(self, message: str) -> None:
        """Say what happened."""
        super().__init__(message, reason=EngineReason.BAD_RESPONSE)


class EngineModelMissingError(EngineError):
    """The server answers, but does not have the model."""

    def __init__(self, message: str = "The model server does not have the model") -> None:
        """Say what happened."""
        super().__init__(message, reason=EngineReason.MODEL_MISSING)
