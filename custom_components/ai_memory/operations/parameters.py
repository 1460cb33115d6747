"""What an operation takes: each argument described once, for every door.

The catalogue checks arguments with ``parse``; doors derive their own schemas (JSON schema,
selectors, tool parameters) from the same description. Nothing here imports Home Assistant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..core import InvalidInputError

type Value = str | int | float | None
type Arguments = Mapping[str, object]


class Kind(StrEnum):
    """The types that arguments have on every door."""

    TEXT = "text"
    CHOICE = "choice"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


_BOOLEANS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument: its name, type, bounds and what it means to a model."""

    name: str
    kind: Kind = Kind.TEXT
    description: str = ""
    required: bool = False
    default: Value = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    def parse(self, raw: object) -> Value:
        """Return the argument in its type, or the default for a blank one.

        Numbers may come as text, as templates and small models send them. Raises InvalidInputError.
        """
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            if self.required:
                raise InvalidInputError("missing", field=self.name)
            return self.default
        match self.kind:
            case Kind.TEXT:
                return self._text(raw)
            case Kind.CHOICE:
                return self._choice(raw)
            case Kind.INTEGER | Kind.NUMBER:
                return self._number(raw)
            case Kind.BOOLEAN:
                return self._boolean(raw)

    def _text(self, raw: object) -> str:
        if isinstance(raw, bool) or not isinstance(raw, str | int | float):
            raise InvalidInputError("not_text", field=self.name)
        try:
            return str(raw)
        except ValueError:
            # A number with more digits than Python is willing to write.
            raise InvalidInputError("not_text", field=self.name) from None

    def _choice(self, raw: object) -> str:
        chosen = raw.strip().lower() if isinstance(raw, str) else ""
        if chosen not in self.choices:
            choices = ", ".join(self.choices)
            raise InvalidInputError("unknown_choice", field=self.name, choices=choices)
        return chosen

    def _boolean(self, raw: object) -> bool:
        # Templates and small models write it as text.
        written = _BOOLEANS.get(str(raw).strip().lower())
        if written is None:
            raise InvalidInputError("not_yes_or_no", field=self.name)
        return written

    def _number(self, raw: object) -> int | float:
        refusal = InvalidInputError("not_a_number", field=self.name)
        if self.kind is Kind.INTEGER:
            refusal = InvalidInputError("not_a_whole_number", field=self.name)
        if isinstance(raw, bool) or not isinstance(raw, str | int | float):
            raise refusal
        try:
            number = float(raw)
            if self.kind is Kind.INTEGER:
                if number != int(number):
                    raise refusal
                number = int(number)
        except (ValueError, OverflowError):
            raise refusal from None
        below = self.minimum is not None and number < self.minimum
        above = self.maximum is not None and number > self.maximum
        if below or above or number != number:  # noqa: PLR0124 - only NaN differs from itself
            raise InvalidInputError(
                "out_of_range",
                field=self.name,
                minimum=f"{self.minimum:g}",
                maximum=f"{self.maximum:g}",
            )
        return number


def parse_arguments(parameters: Sequence[Parameter], raw: Arguments) -> dict[str, Value]:
    """Return every parameter with its parsed value; unknown arguments are passed over."""
    return {parameter.name: parameter.parse(raw.get(parameter.name)) for parameter in parameters}
