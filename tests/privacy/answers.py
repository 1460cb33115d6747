"""Answers of two worlds made comparable: no times, and no figures of the whole house.

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

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?")


def read(operation: str, answer: object) -> str:
    """Return an answer as text that the same answer in the other world has too."""
    left_out = OF_THE_MOMENT | HOUSE.get(operation, frozenset())
    shown = _without(answer, left_out)
    text = json.dumps(shown, ensure_ascii=False, sort_keys=True, default=str)
    return _TIME.sub("<time>", text)


def _without(value: Any, left_out: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return {
            name: _without(one, left_out) for name, one in value.items() if name not in left_out
        }
    if isinstance(value, list | tuple):
        return [_without(one, left_out) for one in value]
    return value
