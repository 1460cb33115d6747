"""Which memories a caller may see, as the vector index is told.

Search makes one from what the repository returns and hands it to ``VectorIndex.best``, which masks
with it before anything is chosen. A set is never changed once it is made.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .vector_blocks import Sequences


@dataclass(frozen=True, slots=True)
class VisibleSet:
    """Which sequences a caller may see, as a bit for each sequence up to the highest."""

    admitted: NDArray[np.bool_]

    @classmethod
    def parse(cls, json_array: str) -> Self:
        """Read the JSON array of sequences that the repository returns."""
        # Reads without holding the interpreter, unlike a parser that makes a list.
        sequences: Sequences = np.fromstring(json_array[1:-1], np.int64, sep=",")
        admitted = np.zeros(int(sequences.max(initial=0)) + 2, np.bool_)
        admitted[sequences] = True
        return cls(admitted)

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
        return type(self)(copied)

    def sample(self, count: int) -> list[int]:
        """Return up to ``count`` sequences, spread evenly over the set."""
        sequences = np.flatnonzero(self.admitted)
        step = max(1, -(-len(sequences) // count))
        sampled: list[int] = sequences[::step].tolist()
        return sampled

    def mask(self, sequences: Sequences) -> NDArray[np.bool_]:
        """Return which of the sequences are in the set."""
        # Clipped, a free row asks for sequence 0 and one beyond the set for the last: nobody's.
        known: NDArray[np.bool_] = np.take(self.admitted, sequences, mode="clip")
        return known
