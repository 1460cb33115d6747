"""How many memories there are, kept up to date by each write instead of being counted again.

The manager loads it at start and adjusts it after each commit; the sensor, the event and the
capacity check read it.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from .models import Counts, Layer, Memory, Scope, is_workshop
from .palace import DEFAULT_WINGS

DEFAULT_WING_NAMES: Final = frozenset(wing.name for wing in DEFAULT_WINGS)
PRIVATE_WINGS: Final = "private"
"""Stands in the figures for all other wings with private memories."""

type _Key = tuple[str, Scope, Layer]


class Census:
    """Live memories by wing, scope and layer."""

    def __init__(self, rows: Iterable[tuple[str, str, int, int]], palace: tuple[int, int]) -> None:
        """Start from what the repository counted and the numbers of wings and rooms."""
        self._counted: Counter[_Key] = Counter()
        for wing, scope, layer, count in rows:
            self._counted[wing, Scope(scope), Layer(layer)] += count
        self.palace = palace

    def add(self, memory: Memory) -> None:
        """Count a memory in."""
        self._counted[memory.wing, memory.scope, memory.layer] += 1

    def remove(self, memory: Memory) -> None:
        """Count a memory out."""
        self._counted[memory.wing, memory.scope, memory.layer] -= 1

    @property
    def of_home(self) -> int:
        """The live memories that count towards the capacity."""
        return sum(count for (wing, *_), count in self._counted.items() if not is_workshop(wing))

    def counts(self) -> Counts:
        """Return the figures as of now."""
        scopes: Counter[Scope] = Counter()
        layers: Counter[int] = Counter()
        wings: Counter[str] = Counter()
        for (wing, scope, layer), count in self._counted.items():
            scopes[scope] += count
            layers[int(layer)] += count
            # The name of a wing that somebody made for private memories may tell what they hold.
            shown = wing if scope is Scope.COMMON or wing in DEFAULT_WING_NAMES else PRIVATE_WINGS
            wings[shown] += count
        wing_total, room_total = self.palace
        return Counts(
            common=scopes[Scope.COMMON],
            private=scopes[Scope.PRIVATE],
            layers={int(layer): layers[layer] for layer in Layer},
            wings={wing: count for wing, count in sorted(wings.items()) if count},
            wing_total=wing_total,
            room_total=room_total,
        )
