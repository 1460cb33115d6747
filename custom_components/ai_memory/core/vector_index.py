"""All current vectors in memory, searched exactly by cosine similarity.

The manager keeps one and updates it after each commit; search asks it with the set of memories that
the caller may see, so that hidden ones are never ranked. Vectors sit in blocks of fixed size:
growing never copies what is there, and no step on the event loop depends on how many there are.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

BLOCK_ROWS: Final = 4096
FREE: Final = -1

type Vector = NDArray[np.float32]
type Sequences = NDArray[np.int64]


@dataclass(slots=True)
class _Block:
    """Rows of one block; a free row has the sequence -1."""

    vectors: NDArray[np.float32]
    sequences: Sequences


@dataclass(frozen=True, slots=True)
class VisibleSet:
    """Which sequences a caller may see, as a bit for each sequence up to the highest."""

    admitted: NDArray[np.bool_]

    @classmethod
    def parse(cls, json_array: str) -> "VisibleSet":
        """Read the JSON array of sequences that the repository returns."""
        sequences = np.fromstring(json_array[1:-1], np.int64, sep=",")
        admitted = np.zeros(int(sequences.max(initial=-1)) + 2, np.bool_)
        admitted[sequences] = True
        return cls(admitted)

    def mask(self, sequences: Sequences) -> NDArray[np.bool_]:
        """Return which of the sequences are in the set."""
        # The last bit is always False: it answers for free rows and sequences beyond the set.
        known: NDArray[np.bool_] = self.admitted[
            np.where(sequences < len(self.admitted), sequences, FREE)
        ]
        return known


@dataclass(slots=True)
class VectorIndex:
    """Vectors by sequence, all of one dimension."""

    _blocks: list[_Block] = field(default_factory=list)
    _slots: dict[int, int] = field(default_factory=dict)
    _free: list[int] = field(default_factory=list)
    _dimensions: int | None = None

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._slots)

    def __contains__(self, sequence: int) -> bool:
        """Return whether the memory has a vector here."""
        return sequence in self._slots

    def clear(self) -> None:
        """Forget every vector, and with them their dimension."""
        self._blocks, self._slots, self._free = [], {}, []
        self._dimensions = None

    def put(self, sequence: int, vector: Vector) -> None:
        """Add or replace a vector; one of another dimension is left out, words still find it."""
        if self._dimensions is None:
            self._dimensions = len(vector)
        if len(vector) != self._dimensions:
            self.discard(sequence)
            return
        slot = self._slots.get(sequence)
        if slot is None:
            slot = self._slots[sequence] = self._take_free_slot()
        block, row = self._blocks[slot // BLOCK_ROWS], slot % BLOCK_ROWS
        block.vectors[row] = vector
        block.sequences[row] = sequence

    def adopt(self, sequences: Sequences, vectors: NDArray[np.float32], skipped: set[int]) -> None:
        """Take over a whole block that was loaded, without the memories in ``skipped``."""
        if self._dimensions is None:
            self._dimensions = vectors.shape[1]
        if vectors.shape[1] != self._dimensions:
            return
        first = len(self._blocks) * BLOCK_ROWS
        if skipped:
            sequences[np.isin(sequences, list(skipped))] = FREE
        self._blocks.append(_Block(vectors, sequences))
        self._slots.update(
            (sequence, slot)
            for slot, sequence in enumerate(sequences.tolist(), first)
            if sequence != FREE
        )
        self._free.extend((first + np.flatnonzero(sequences == FREE)[::-1]).tolist())

    def discard(self, sequence: int) -> None:
        """Remove a vector if it is there."""
        slot = self._slots.pop(sequence, None)
        if slot is not None:
            self._blocks[slot // BLOCK_ROWS].sequences[slot % BLOCK_ROWS] = FREE
            self._free.append(slot)

    def best(
        self, query: Vector, visible: VisibleSet, limit: int, min_score: float
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` sequences with their cosine, at least ``min_score``, best first.

        Heavy at large sizes: run it in an executor. Ties go to the older memory.
        """
        if len(query) != self._dimensions:
            return []
        sequences, scores = [], []
        for block in list(self._blocks):
            known = block.sequences.copy()
            # Not a BLAS product: its threads would fight with those of other searches.
            cosines = np.einsum("ij,j->i", block.vectors, query)
            admitted = np.flatnonzero(visible.mask(known) & (cosines >= min_score))
            sequences.append(known[admitted])
            scores.append(cosines[admitted])
        if not sequences:
            return []
        return _top(np.concatenate(sequences), np.concatenate(scores), limit)

    def _take_free_slot(self) -> int:
        if not self._free:
            first = len(self._blocks) * BLOCK_ROWS
            self._blocks.append(
                _Block(
                    np.zeros((BLOCK_ROWS, self._dimensions or 0), np.float32),
                    np.full(BLOCK_ROWS, FREE, np.int64),
                )
            )
            self._free.extend(range(first + BLOCK_ROWS - 1, first - 1, -1))
        return self._free.pop()


def _top(sequences: Sequences, scores: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    if len(scores) > limit:
        chosen = np.argpartition(scores, -limit)[-limit:]
        sequences, scores = sequences[chosen], scores[chosen]
    order = np.lexsort((sequences, -scores))
    return [(int(sequences[at]), float(scores[at])) for at in order]
