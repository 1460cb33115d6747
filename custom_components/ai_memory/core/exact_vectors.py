"""All vectors in memory as they are, compared one by one: the fastest way while they are few.

``vector_index`` keeps one below the size at which ``packed_vectors`` takes over.
"""

from collections.abc import Collection, Generator, Iterable
from threading import Lock
from typing import Final

import numpy as np

from ..embedding.protocol import FloatMatrix
from .vector_blocks import (
    FREE,
    Block,
    Loaded,
    Part,
    Sequences,
    Vector,
    VectorBlocks,
    assembled,
)
from .visible_set import VisibleSet

EXACT_BLOCK_ROWS: Final = 4096


class ExactVectors:
    """Vectors by sequence, of one dimension: that of the first."""

    def __init__(self) -> None:
        """Start empty."""
        self.dimensions: int | None = None
        self.left_out: set[int] = set()
        self._blocks = VectorBlocks(EXACT_BLOCK_ROWS, self._empty)
        self._consistent = Lock()

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._blocks)

    def __contains__(self, sequence: int) -> bool:
        """Return whether the memory has a vector here."""
        return self._blocks.find(sequence) is not None

    def put(self, sequence: int, vector: Vector) -> None:
        """Add or replace a vector of the right dimension."""
        self.dimensions = len(vector)

        def write(vectors: FloatMatrix, row: int) -> None:
            vectors[row] = vector

        with self._consistent:
            self._blocks.put(sequence, write)

    def blocks_of(self, parts: Iterable[Part]) -> Generator[Loaded[FloatMatrix]]:
        """Put what is loaded into blocks for ``adopt``; blocking."""

        def write(vectors: FloatMatrix, start: int, loaded: FloatMatrix) -> None:
            vectors[start : start + len(loaded)] = loaded

        return assembled(
            parts,
            EXACT_BLOCK_ROWS,
            lambda dimensions: np.zeros((EXACT_BLOCK_ROWS, dimensions), np.float32),
            write,
        )

    def adopt(self, block: Block[FloatMatrix]) -> None:
        """Take over a loaded block."""
        self.dimensions = block.data.shape[1]
        with self._consistent:
            self._blocks.adopt(block)

    def discard(self, sequence: int) -> None:
        """Remove a vector if it is there."""
        with self._consistent:
            self._blocks.discard(sequence)

    def candidates(
        self, query: Vector, visible: VisibleSet, limit: int, min_score: float
    ) -> Sequences:
        """Return the visible memories that are most alike, up to ``limit``, in no order."""
        blocks = list(self._blocks.blocks)
        taken = [_taken(block) for block in blocks]
        if not taken:
            return np.zeros(0, np.int64)
        # Not a BLAS product: its threads would fight with those of other searches.
        cosines = np.concatenate(
            [
                np.vecdot(block.data[: len(known)], query)
                for block, known in zip(blocks, taken, strict=True)
            ]
        )
        sequences = np.concatenate(taken)
        admitted = np.flatnonzero(visible.mask(sequences) & (cosines >= min_score))
        return most(sequences[admitted], cosines[admitted], limit)

    def vectors_of(self, sequences: Collection[int]) -> tuple[Sequences, FloatMatrix]:
        """Return those of the memories that have a vector, with it."""
        with self._consistent:
            # Whatever a search saw in passing, what is returned was never half replaced.
            found = [(one, at) for one in sequences if (at := self._blocks.find(one))]
            rows = np.empty((len(found), self.dimensions or 0), np.float32)
            for number, (_, (vectors, row)) in enumerate(found):
                rows[number] = vectors[row]
        return np.array([sequence for sequence, _ in found], np.int64), rows

    def _empty(self) -> FloatMatrix:
        return np.zeros((EXACT_BLOCK_ROWS, self.dimensions or 0), np.float32)


def _taken(block: Block[FloatMatrix]) -> Sequences:
    """Return whose the rows are, as they are now, up to the last that is anybody's."""
    known = block.sequences.copy()
    if known[-1] != FREE:
        return known
    taken = np.flatnonzero(known != FREE)
    return known[: taken[-1] + 1 if len(taken) else 0]


def most(sequences: Sequences, scores: Vector, limit: int) -> Sequences:
    """Return the sequences of the highest scores, of equal ones the lower sequences."""
    if len(scores) > limit:
        # All that reach the lowest score that is chosen, which may be some more than wanted.
        reached = np.partition(scores, -limit)[-limit]
        enough = np.flatnonzero(scores >= reached)
        sequences, scores = sequences[enough], scores[enough]
    chosen: Sequences = sequences[np.lexsort((sequences, -scores))[:limit]]
    return chosen
