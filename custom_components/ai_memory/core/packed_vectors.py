"""One bit a dimension of every vector in memory, exact vectors read from the file: for many.

``vector_index`` keeps one above the size at which ``exact_vectors`` would take too much memory. A
search narrows down in three steps, each masked by what the caller may see: the bits of all rows
against those of the query, then a closer estimate for some thousands, then the exact vectors of a
few hundred. Where no more are visible than are rescored anyway, the result is exact.
"""

from collections.abc import Callable, Collection, Generator, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..embedding.protocol import FloatMatrix
from .exact_vectors import most
from .sign_bits import WORD_BITS, PackedQuery, PackedRows, SignBits, distances, estimates
from .vector_blocks import (
    Block,
    Loaded,
    Part,
    Sequences,
    Vector,
    VectorBlocks,
    assembled,
)
from .visible_set import VisibleSet

PACKED_BLOCK_ROWS: Final = 8_192
"""Few enough that no other thread waits long for the interpreter, many for the cost of a call."""

# Chosen by ``benchmarks.vector_recall``.
ESTIMATED: Final = 4_096
ESTIMATED_SHARE: Final = 1 / 64
"""How many, and at least which share of all, are looked at closer."""
RESCORED: Final = 384
RESCORED_SHARE: Final = 1 / 2048
RESCORED_PER_WANTED: Final = 4
"""How many are compared exactly, at least which share of all and how many for each wanted."""

type ReadVectors = Callable[[Collection[int], int], tuple[Sequences, FloatMatrix]]
"""Read the stored vectors of memories, of one dimension; blocking."""


class PackedVectors:
    """Packed vectors by sequence, of the dimension of their signs."""

    def __init__(self, signs: SignBits, read: ReadVectors) -> None:
        """Start empty; ``read`` is called in the thread that searches. Raises what it raises."""
        self.signs: Final = signs
        self.dimensions: int | None = signs.dimensions
        self.left_out: set[int] = set()
        self._read = read
        self._blocks = VectorBlocks(
            PACKED_BLOCK_ROWS, lambda: PackedRows.empty(signs.words, PACKED_BLOCK_ROWS)
        )

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._blocks)

    def __contains__(self, sequence: int) -> bool:
        """Return whether the memory has a vector here."""
        return self._blocks.find(sequence) is not None

    def put(self, sequence: int, vector: Vector) -> None:
        """Add or replace a vector of the right dimension."""
        packed = self.signs.pack(vector[np.newaxis])
        self._blocks.put(sequence, lambda rows, row: rows.write(row, packed))

    def blocks_of(self, parts: Iterable[Part]) -> Generator[Loaded[PackedRows]]:
        """Pack what is loaded into blocks for ``adopt``; blocking."""
        return assembled(
            parts,
            PACKED_BLOCK_ROWS,
            lambda _: PackedRows.empty(self.signs.words, PACKED_BLOCK_ROWS),
            lambda rows, start, vectors: rows.write(start, self.signs.pack(vectors)),
        )

    def adopt(self, block: Block[PackedRows]) -> None:
        """Take over a loaded block."""
        self._blocks.adopt(block)

    def discard(self, sequence: int) -> None:
        """Remove a vector if it is there."""
        self._blocks.discard(sequence)

    def candidates(
        self, query: Vector, visible: VisibleSet, limit: int, min_score: float
    ) -> Sequences:
        """Return the visible memories worth an exact comparison; any score may be among them."""
        packed = self.signs.query(query)
        rescored = max(RESCORED, RESCORED_PER_WANTED * limit, int(len(self) * RESCORED_SHARE))
        estimated = max(ESTIMATED, rescored, int(len(self) * ESTIMATED_SHARE))
        sequences, scores = self._nearest(packed, visible, estimated)
        return most(sequences, scores, rescored)

    def vectors_of(self, sequences: Collection[int]) -> tuple[Sequences, FloatMatrix]:
        """Return those of the memories that have a vector, with the one that is stored."""
        # In the order of the file, so that neighbours are read from one page.
        known = sorted(sequence for sequence in sequences if sequence in self)
        return self._read(known, self.signs.dimensions)

    def _nearest(
        self, query: PackedQuery, visible: VisibleSet, wanted: int
    ) -> tuple[Sequences, Vector]:
        """Return the visible rows that differ in the fewest bits, each with its estimate.

        Where distances are equal they may be some more than wanted.
        """
        hidden = self.signs.words * WORD_BITS + 1
        counts = np.zeros(hidden + 1, np.int64)
        looked_at: list[tuple[Sequences, NDArray[np.uint16], PackedRows]] = []
        for block in list(self._blocks.blocks):
            # A copy: a row may be freed and given to a memory that the caller must not see.
            known = block.sequences.copy()
            seen = visible.mask(known)
            if seen.any():
                apart = distances(query, block.data)
                apart[~seen] = hidden
                counts += np.bincount(apart, minlength=len(counts))
                looked_at.append((known, apart, block.data))
        farthest = min(int(np.searchsorted(np.cumsum(counts), wanted)), hidden - 1)
        sequences, estimated = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        for known, apart, rows in looked_at:
            near = _near(known, apart, farthest, wanted)
            sequences.append(known[near])
            estimated.append(estimates(query, rows.take(near)))
        return np.concatenate(sequences), np.concatenate(estimated)


def _near(
    sequences: Sequences, apart: NDArray[np.uint16], farthest: int, wanted: int
) -> NDArray[np.intp]:
    """Return the rows within a distance; of very many that are equally far the older ones."""
    rows = np.flatnonzero(apart <= farthest)
    if len(rows) <= wanted:
        return rows
    order: NDArray[np.intp] = np.lexsort((sequences[rows], apart[rows]))
    return rows[order[:wanted]]
