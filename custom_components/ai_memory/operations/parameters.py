"""What an operation takes: each argument described once, for every door.

The catalogue checks arguments with ``parse``; doors derive their own schemas (JSON schema,
selectors, tool parameters) from the same description. Nothing here imports Home Assistant.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from ..core import Expiry, InvalidInputError, Never

type Value = (
    str | int | float | date | datetime | Never | tuple[str, ...] | Mapping[str, object] | None
)
type Arguments = Mapping[str, object]


class Kind(StrEnum):
    """The types that arguments have on every door."""

    TEXT = "text"
    CHOICE = "choice"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TIME = "time"
    EXPIRY = "expiry"
    TEXTS = "texts"
    OBJECT = "object"


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
    clamped: bool = False
    """Whether more than the maximum is taken as the maximum instead of being refused."""
    clearable: bool = False
    """Whether a blank text is a value, which clears what was there, and not one left out."""

    def parse(self, raw: object) -> Value:
        """Return the argument in its type, or the default for a blank one.

        Numbers may come as text, as templates and small models send them. Raises InvalidInputError.
        """
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            if self.clearable:
                return ""
            if self.required:
                raise InvalidInputError("missing", field=self.name)
            return self.default
        return _PARSERS[self.kind](self, raw)

    def as_text(self, raw: object) -> str:
        """Return a text; numbers are taken as written. Raises InvalidInputError."""
        if isinstance(raw, bool) or not isinstance(raw, str | int | float):
            raise InvalidInputError("not_text", field=self.name)
        try:
            return str(raw)
        except ValueError:
            # A number with more digits than Python is willing to write.
            raise InvalidInputError("not_text", field=self.name) from None

    def as_choice(self, raw: object) -> str:
        """Return one of the choices. Raises InvalidInputError."""
        chosen = raw.strip().lower() if isinstance(raw, str) else ""
        if chosen not in self.choices:
            choices = ", ".join(self.choices)
            raise InvalidInputError("unknown_choice", field=self.name, choices=choices)
        return chosen

    def as_boolean(self, raw: object) -> bool:
        """Return yes or no, which small models write as text. Raises InvalidInputError."""
        written = _BOOLEANS.get(str(raw).strip().lower())
        if written is None:
            raise InvalidInputError("not_yes_or_no", field=self.name)
        return written

    def as_time(self, raw: object) -> datetime:
        """Return a moment, naive where it has no offset. Raises InvalidInputError."""
        if isinstance(raw, datetime):
            return raw
        try:
            return datetime.fromisoformat(raw.strip() if isinstance(raw, str) else "")
        except ValueError:
            raise InvalidInputError("not_a_time", field=self.name) from None

    def as_expiry(self, raw: object) -> Expiry:
        """Return a moment, a day, or never. Raises InvalidInputError."""
        if isinstance(raw, date | Never):
            return raw
        text = raw.strip() if isinstance(raw, str) else ""
        if text.lower() == Never.NEVER.value:
            return Never.NEVER
        try:
            return date.fromisoformat(text)
        except ValueError:
            return self.as_time(text)

    def as_texts(self, raw: object) -> tuple[str, ...]:
        """Return a list of texts, or one text as a list of one. Raises InvalidInputError."""
        listed = [raw] if isinstance(raw, str) else raw
        if not isinstance(listed, list | tuple):
            raise InvalidInputError("not_a_list", field=self.name)
        if self.maximum is not None and len(listed) > self.maximum:
            raise InvalidInputError("too_many", field=self.name, maximum=f"{self.maximum:g}")
        return tuple(self.as_text(item) for item in listed)

    def as_object(self, raw: object) -> Mapping[str, object]:
        """Return an object, its values unchecked. Raises InvalidInputError."""
        if not isinstance(raw, Mapping) or not all(isinstance(key, str) for key in raw):
            raise InvalidInputError("not_an_object", field=self.name)
        return raw

    def as_number(self, raw: object) -> int | float:
        """Return a number within the bounds. Raises InvalidInputError."""
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
        if above and self.clamped and self.maximum is not None:
            return self.maximum
        if below or above or number != number:  # noqa: PLR0124 - only NaN differs from itself
            raise InvalidInputError(
                "out_of_range",
                field=self.name,
                minimum=f"{self.minimum:g}",
                maximum=f"{self.maximum:g}",
            )
        return number


_PARSERS: Final[Mapping[Kind, Callable[[Parameter, object], Value]]] = MappingProxyType(
    {
        Kind.TEXT: Parameter.as_text,
        Kind.CHOICE: Parameter.as_choice,
        Kind.INTEGER: Parameter.as_number,
        Kind.NUMBER: Parameter.as_number,
        Kind.BOOLEAN: Parameter.as_boolean,
        Kind.TIME: Parameter.as_time,
        Kind.EXPIRY: Parameter.as_expiry,
        Kind.TEXTS: Parameter.as_texts,
        Kind.OBJECT: Parameter.as_object,
    }
)


@dataclass(frozen=True, slots=True)
class Values:
    """The parsed arguments of one call, each read in the type that its parameter has."""

    held: Mapping[str, Value]

    def text(self, name: str) -> str | None:
        """Return a text or a choice, None where it was left blank."""
        value = self.held[name]
        return None if value is None else str(value)

    def given(self, name: str) -> str:
        """Return a required text."""
        return str(self.held[name])

    def whole(self, name: str) -> int | None:
        """Return a whole number."""
        value = self.held[name]
        return int(value) if isinstance(value, int | float) else None

    def number(self, name: str) -> float | None:
        """Return a number."""
        value = self.held[name]
        return float(value) if isinstance(value, int | float) else None

    def flag(self, name: str) -> bool | None:
        """Return yes or no."""
        value = self.held[name]
        return None if value is None else bool(value)

    def moment(self, name: str) -> datetime | None:
        """Return a moment, naive where it was given without an offset."""
        value = self.held[name]
        return value if isinstance(value, datetime) else None

    def expiry(self, name: str) -> Expiry | None:
        """Return when something lapses, or that it never does."""
        value = self.held[name]
        return value if isinstance(value, date | Never) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.held[name]
        return value if isinstance(value, tuple) else ()

    def mapping(self, name: str) -> Mapping[str, object]:
        """Return an object as it was sent, its values unchecked."""
        value = self.held[name]
        return value if isinstance(value, Mapping) else {}


def parse_arguments(parameters: Sequence[Parameter], raw: Arguments) -> Values:
    """Return every parameter with its parsed value; unknown arguments are passed over."""
    return Values({one.name: _parsed(one, raw) for one in parameters})


def _parsed(parameter: Parameter, raw: Arguments) -> Value:
    if parameter.clearable and parameter.name not in raw:
        return parameter.default
    return parameter.parse(raw.get(parameter.name))
