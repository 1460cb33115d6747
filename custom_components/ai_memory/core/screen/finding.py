"""What the screen says, and how strict it is; values for all modules of the package."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Strictness(StrEnum):
    """How much of what looks like a secret is refused.

    ``KEYS`` refuses what only a machine uses to sign in; the code of the garage is a fact of the
    household there. ``STRICT`` refuses that too.
    """

    OFF = "off"
    KEYS = "keys"
    STRICT = "strict"


HOME: Final = Strictness.KEYS
"""How strict the home's doors are unless the owner chose otherwise."""

WORKSHOP: Final = Strictness.STRICT
"""How strict the doors of coding agents always are."""


MARKED: Final = "do-not-store"
"""The pattern of a text that is no secret but marked as one not to be kept."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret is and which pattern found it; never the secret, nor any part of it."""

    field: str
    pattern: str
