"""What an operation is, and the parameters that several of them share.

The modules of one subject each (``memories`` and its siblings) make operations of these; the
catalogue collects them.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from ..core import (
    LIVE,
    MEMORY_TYPES,
    Access,
    AccessDeniedError,
    Caller,
    Filters,
    Layer,
    MemoryManager,
    Scope,
    Status,
)
from .parameters import Arguments, Kind, Parameter, Values, parse_arguments
from .replies import Reply

type Handler = Callable[[MemoryManager, Caller, Values], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing the memory can do."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    access: Access
    handler: Handler
    destructive: bool = False
    idempotent: bool = True

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing that a caller could notice."""
        return self.access in {Access.READ, Access.EXPORT}


MEMORY_ID: Final = Parameter(name="memory_id")
WING: Final = Parameter(name="wing")
ROOM: Final = Parameter(name="room")
SCOPE: Final = Parameter(
    name="scope", kind=Kind.CHOICE, choices=tuple(scope.value for scope in Scope)
)
SUMMARY: Final = Parameter(name="summary", description="3-5 keywords")
LAYER: Final = Parameter(
    name="layer",
    kind=Kind.INTEGER,
    description="1 critical, 2 standard, 3 archive",
    minimum=min(Layer),
    maximum=max(Layer),
)
PIN: Final = Parameter(name="pin", kind=Kind.BOOLEAN, description="keep it in its layer for good")
TYPE: Final = Parameter(name="type", kind=Kind.CHOICE, choices=MEMORY_TYPES)
STATUS: Final = Parameter(
    name="status", kind=Kind.CHOICE, choices=tuple(status.value for status in LIVE)
)
CONFIDENCE: Final = Parameter(name="confidence", kind=Kind.NUMBER, minimum=0, maximum=1)
EXPIRES: Final = Parameter(
    name="expires", kind=Kind.EXPIRY, description="ISO day or time it lapses, or never"
)
REVISION: Final = Parameter(
    name="revision",
    kind=Kind.INTEGER,
    description="only if it still is at this revision",
    minimum=1,
    maximum=2**53,
)
ANCHORS: Final = Parameter(
    name="anchors",
    kind=Kind.TEXTS,
    description="what it is about: entity:light.hall, path:src/a.py, host:nas, url:https://…",
)
DRY_RUN: Final = Parameter(name="dry_run", kind=Kind.BOOLEAN, default=False)


def checked(operation: Operation, caller: Caller, arguments: Arguments) -> Values:
    """Return the arguments of a call that the caller may make.

    Raises AccessDeniedError and InvalidInputError.
    """
    if operation.access not in caller.access:
        raise AccessDeniedError("access_denied", access=operation.access.value)
    return parse_arguments(operation.parameters, arguments)


def required(parameter: Parameter) -> Parameter:
    """Return the parameter as one that must be given."""
    return replace(parameter, required=True)


def limited(default: int, maximum: int) -> Parameter:
    """Return a parameter for how many to return."""
    return Parameter(name="limit", kind=Kind.INTEGER, default=default, minimum=1, maximum=maximum)


def scope_of(values: Values) -> Scope | None:
    """Return the scope that was asked for."""
    value = values.text("scope")
    return None if value is None else Scope(value)


def layer_of(values: Values) -> Layer | None:
    """Return the layer that was asked for."""
    value = values.whole("layer")
    return None if value is None else Layer(value)


def status_of(values: Values) -> Status | None:
    """Return the status that was asked for."""
    value = values.text("status")
    return None if value is None else Status(value)


def filters_of(values: Values) -> Filters:
    """Return the filters that were asked for, of those that the operation takes."""
    return Filters(
        wing=values.text("wing"),
        room=values.text("room"),
        scope=scope_of(values),
        layer=layer_of(values) if "layer" in values.held else None,
    )
