"""Answers of two worlds made comparable: ids by the names of what they are, no times, no house.

A few figures are those of the whole house at every door, as the sensor shows them; ``HOUSE`` names
them, and the documentation does. Nothing else may differ between a world with what a caller must
not see and one without it.
"""

from collections.abc import Mapping
import json
import re
from typing import Any, Final

HOUSE: Final[Mapping[str, frozenset[str]]] = {
    # How many memories moved between the layers, of the whole house.
    "maintain": frozenset({"count", "reasons"}),
}
OF_THE_MOMENT: Final = frozenset({"confirm"})
"""Made of the time and of sequences, so that it differs anyway."""

_ULID: Final = re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?")


class Reader:
    """Reads the answers of one world."""

    def __init__(self, named: Mapping[str, str]) -> None:
        """Keep what ids are called, in this world or in the other."""
        self._named = dict(named)
        self._made: dict[str, str] = {}

    def read(self, operation: str, answer: object) -> str:
        """Return an answer as text that the same answer in the other world has too."""
        text = json.dumps(
            _without(answer, OF_THE_MOMENT | HOUSE.get(operation, frozenset())),
            ensure_ascii=False,
            sort_keys=True,
            default=str,
        )
        return _TIME.sub("<time>", _ULID.sub(self._name, text))

    def _name(self, match: re.Match[str]) -> str:
        known = self._named.get(match[0])
        return known or self._made.setdefault(match[0], f"<new {len(self._made)}>")


def _without(value: Any, left_out: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return {
            name: _without(one, left_out) for name, one in value.items() if name not in left_out
        }
    if isinstance(value, list | tuple):
        return [_without(one, left_out) for one in value]
    return value
