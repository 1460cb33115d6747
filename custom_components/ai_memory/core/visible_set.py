"""Which memories a caller may see, as the vector index is told.

Search makes one from what the repository returns and hands it to ``VectorIndex.best``, which masks
with it before anything is chosen. A set is never changed once it is made.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from .number_lists import numbers_of
from .vector_blocks import Sequences

SPREAD_OVER: Final = 512
"""How many memories stand for all that a caller may see."""
SPREAD_KEPT_SHARE: Final = 4
"""They are chosen anew once more than one in so many came or went."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Some sequences from all over a set, and how many it had then."""

    sequences: tuple[int, ...]
    counted: int

    @classmethod
    def over(cls, admitted: NDArray[np.bool_]) -> Self:
        """Choose evenly."""
        every = np.flatnonzero(admitted)
        step = max(1, -(-len(every) // SPREAD_OVER))
        return cls(tuple(every[::step].tolist()), len(every))

    def outgrown(self, counted: int) -> bool:
        """Whether the set has become one with many more or fewer since."""
        return abs(counted - self.counted) * SPREAD_KEPT_SHARE > self.counted


@dataclass(frozen=True, slots=True)
class VisibleSet:
    """Which sequences a caller may see, as a bit for each sequence up to the highest."""

    admitted: NDArray[np.bool_]
    spread: Spread | None = None

    @classmethod
    def parse(cls, json_array: str) -> Self:
        """Read the JSON array of sequences that the repository returns."""
        sequences = numbers_of(json_array)
        admitted = np.zeros(int(sequences.max(initial=0)) + 2, np.bool_)
        admitted[sequences] = True
        return cls(admitted, Spread.over(admitted))

    def __len__(self) -> int:
        """Return how many memories are in the set."""
        return int(np.count_nonzero(self.admitted))

    def replaced(self, changed: Collection[int], admitted: Self) -> Self:
        """Return the set with ``changed`` in it only where they are in ``admitted``."""
        sequences = np.array(sorted(changed), np.int64)
        size = max(len(self.admitted), int(sequences.max(initial=0)) + 2)
        copied = np.zeros(size, np.bool_)
        copied[: len(self.admitted)] = self.admitted
        copied[sequences] = admitted.mask(sequences)
        after = type(self)(copied, self.spread)
        kept = self.spread is not None and not self.spread.outgrown(len(after))
        return after if kept else type(self)(copied, Spread.over(copied))

    def some(self) -> tuple[int, ...]:
        """Return some that stand for the set, the same ones until it has become another."""
        return (self.spread or Spread.over(self.admitted)).sequences

    def mask(self, sequences: Sequences) -> NDArray[np.bool_]:
        """Return which of the sequences are in the set."""
        # Clipped, a free row asks for sequence 0 and one beyond the set for the last: nobody's.
        known: NDArray[np.bool_] = np.take(self.admitted, sequences, mode="clip")
        return known
