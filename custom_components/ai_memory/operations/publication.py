"""How a door offers an operation of the catalogue: under which names and within which bounds.

A publication selects and renames parameters, fixes some and narrows others; it never adds logic.
Errors speak of a field by the name the door gave it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..core import Access, AiMemoryError, Caller, MemoryManager
from .catalogue import CATALOGUE, run
from .operation import Operation
from .parameters import Arguments, Parameter, Value, parse_arguments
from .replies import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """Stricter terms for one parameter; what is left out stays as the operation has it."""

    required: bool = False
    elsewhere: bool = False
    """Whether the door may take the value from elsewhere, so that nobody has to give it."""
    default: Value = None
    maximum: float | None = None
    clamped: bool = False

    def of(self, parameter: Parameter) -> Parameter:
        """Return the parameter on these terms."""
        return replace(
            parameter,
            required=(self.required or parameter.required) and not self.elsewhere,
            default=parameter.default if self.default is None else self.default,
            maximum=parameter.maximum if self.maximum is None else self.maximum,
            clamped=self.clamped or parameter.clamped,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One operation as a door publishes it.

    ``offered`` are the operation's own parameter names, in order; ``renamed`` maps some of them to
    the door's; ``narrowed`` sets stricter terms; ``fixed`` is always passed; ``demanded`` is an
    access that the door wants beside the operation's.
    """

    name: str
    operation_name: str
    offered: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)
    narrowed: Mapping[str, Narrowing] = field(default_factory=dict)
    fixed: Mapping[str, Value] = field(default_factory=dict)
    demanded: Access | None = None

    @property
    def operation(self) -> Operation:
        """The operation in the catalogue."""
        return CATALOGUE[self.operation_name]

    @property
    def needed(self) -> frozenset[Access]:
        """What a caller of this door must be allowed."""
        return frozenset({self.operation.access, self.demanded or self.operation.access})

    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters as the door shows them."""
        by_name = {parameter.name: parameter for parameter in self.operation.parameters}
        return tuple(
            replace(self.narrowed.get(name, Narrowing()).of(by_name[name]), name=self._shown(name))
            for name in self.offered
        )

    async def run(self, manager: MemoryManager, caller: Caller, raw: Arguments) -> Reply:
        """Run the operation with the door's arguments. Raises AiMemoryError."""
        parsed = parse_arguments(self.parameters(), raw).held
        values = {name: parsed[self._shown(name)] for name in self.offered}
        # What was left out stays left out: a blank may clear something.
        arguments = {name: value for name, value in values.items() if value is not None}
        try:
            return await run(manager, self.operation, caller, arguments | dict(self.fixed))
        except AiMemoryError as err:
            if "field" in err.placeholders:
                err.placeholders["field"] = self._shown(err.placeholders["field"])
            raise

    def _shown(self, name: str) -> str:
        return self.renamed.get(name, name)
