"""All current vectors by sequence, searched by cosine similarity.

The manager keeps one and updates it after each commit; search asks it with the set of memories that
the caller may see, so that hidden ones are never ranked. Few vectors are kept as they are
(``exact_vectors``), many as bits (``packed_vectors``), and ``index_upkeep`` changes from one to the
other by building new rows beside those that are searched meanwhile. Writes happen on the event
loop, searches where they please: a write never waits for a search.
"""

from collections.abc import Collection, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

import numpy as np

from ..embedding.protocol import FloatMatrix
from .exact_vectors import ExactVectors
from .packed_vectors import PackedVectors
from .vector_blocks import FREE, Block, Loaded, Part, Sequences, Vector
from .visible_set import VisibleSet

__all__ = ["EXACT_ROWS", "Rows", "Sequences", "Vector", "VectorIndex", "VisibleSet"]

EXACT_ROWS: Final = 20_000
"""Up to so many, exact rows are searched as fast as packed ones, in at most 80 MB of 1024."""


SAMPLES_KEPT: Final = 16
"""For how many callers it is remembered what is nothing special among what they see."""


class Rows(Protocol):
    """What the two kinds of rows have in common."""

    dimensions: int | None
    left_out: set[int]
    """Memories with a vector of another dimension, which cannot be compared."""

    def __len__(self) -> int:
        """Return how many vectors there are."""

    def __contains__(self, sequence: int, /) -> bool:
        """Return whether the memory has a vector."""

    def put(self, sequence: int, vector: Vector) -> None:
        """Add or replace a vector of the right dimension."""

    def blocks_of(self, parts: Iterable[Part]) -> Generator[Loaded[Any]]:
        """Make blocks of what is loaded; blocking."""

    def adopt(self, block: Block[Any]) -> None:
        """Take over a loaded block."""

    def discard(self, sequence: int) -> None:
        """Remove a vector if it is there."""

    def candidates(
        self, query: Vector, visible: VisibleSet, limit: int, min_score: float
    ) -> Sequences:
        """Return visible memories with the best ``limit`` of those of that score among them."""

    def vectors_of(self, sequences: Collection[int]) -> tuple[Sequences, FloatMatrix]:
        """Return those of the memories that have a vector, with it."""


class VectorIndex:
    """Vectors by sequence, all of one dimension."""

    def __init__(self, exact_rows: int = EXACT_ROWS) -> None:
        """Start empty; above ``exact_rows`` vectors the index asks for packed rows."""
        self.exact_rows = exact_rows
        self.made_by: str | None = None
        """The fingerprint of the engine that made them; vectors of others are never compared."""
        self._rows: Rows = ExactVectors()
        self._built: Rows | None = None
        self._changed: set[int] = set()
        self._writes = 0
        self._samples: dict[tuple[int, ...], _Sample] = {}

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._rows)

    def __contains__(self, sequence: int) -> bool:
        """Return whether the memory has a vector here."""
        return sequence in self._rows

    @property
    def dimensions(self) -> int:
        """How many dimensions the vectors have, 0 while there are none."""
        return self._rows.dimensions or 0

    @property
    def packed(self) -> bool:
        """Whether vectors are kept as bits, so that a search reads the database."""
        return isinstance(self._rows, PackedVectors)

    @property
    def outgrown(self) -> bool:
        """Whether there are more vectors than should be kept as they are."""
        return not self.packed and len(self._rows) > self.exact_rows

    @property
    def stored(self) -> int:
        """How many vectors the database should have: also those of another dimension."""
        return len(self._rows) + len(self._rows.left_out)

    @property
    def writes(self) -> int:
        """A number that is another one after each change."""
        return self._writes

    def clear(self) -> None:
        """Forget every vector, and with them their dimension."""
        self._rows = ExactVectors()
        self._built = None
        self._changed = set()
        self._writes += 1

    def put(self, sequence: int, vector: Vector) -> None:
        """Add or replace a vector; one of another dimension is left out, words still find it."""
        for rows in self._written(sequence):
            if len(vector) == (rows.dimensions or len(vector)):
                rows.left_out.discard(sequence)
                rows.put(sequence, vector)
            else:
                rows.discard(sequence)
                rows.left_out.add(sequence)

    def discard(self, sequence: int) -> None:
        """Remove a vector if it is there."""
        for rows in self._written(sequence):
            rows.left_out.discard(sequence)
            rows.discard(sequence)

    def begin(self, rows: Rows, *, visible: bool) -> None:
        """Build these rows, empty as yet: in place of the present ones at once, or when whole."""
        self._built = rows
        self._changed = set()
        if visible:
            self._rows = rows

    def adopt(self, loaded: Loaded[Any]) -> None:
        """Take a block that was loaded into the rows being built; what was written since wins."""
        if self._built is None:
            return
        block = loaded.block
        if self._changed:
            block.sequences[np.isin(block.sequences, list(self._changed))] = FREE
        self._built.left_out |= set(loaded.left_out) - self._changed
        self._built.adopt(block)

    def finish(self) -> None:
        """Search what was built from now on."""
        if self._built is not None:
            self._rows = self._built
        self.abandon()

    def abandon(self) -> None:
        """Forget what was built; what is searched stays."""
        self._built = None
        self._changed = set()
        self._writes += 1

    def best(
        self, query: Vector, visible: VisibleSet, limit: int, min_score: float
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` sequences with their cosine, at least ``min_score``, best first.

        Heavy at large sizes and then reads the database: run it in an executor. Ties go to the
        older memory. Raises StorageError.
        """
        rows = self._rows
        if len(query) != rows.dimensions:
            return []
        candidates = rows.candidates(query, visible, limit, min_score)
        cosines = _cosines(rows, query, candidates.tolist())
        enough = [(one, cosine) for one, cosine in cosines.items() if cosine >= min_score]
        return sorted(enough, key=lambda scored: (-scored[1], scored[0]))[:limit]

    def cosines(self, query: Vector, sequences: Collection[int]) -> dict[int, float]:
        """Return the exact cosine of those of the memories that have a vector, by sequence.

        Reads the database when there are many vectors: run it where ``best`` runs. Raises
        StorageError.
        """
        rows = self._rows
        return {} if len(query) != rows.dimensions else _cosines(rows, query, sequences)

    def background(self, query: Vector, visible: VisibleSet) -> Vector:
        """Return the cosines to some visible memories, whatever they are: what is nothing special.

        Reads the database now and then when there are many vectors: run it where ``best`` runs.
        Raises StorageError.
        """
        if len(query) != self._rows.dimensions:
            return np.zeros(0, np.float32)
        wanted = visible.some()
        sample = self._samples.get(wanted)
        if sample is None or sample.rows is not self._rows or sample.incomplete(self._writes):
            while len(self._samples) >= SAMPLES_KEPT:
                self._samples.pop(next(iter(self._samples)), None)
            sample = self._samples[wanted] = _Sample.of(self._rows, wanted, self._writes)
        cosines: Vector = np.vecdot(sample.vectors, query)
        return cosines[visible.mask(sample.sequences)]

    def vectors_of(self, sequences: Collection[int]) -> tuple[Sequences, FloatMatrix]:
        """Return those of the memories that have a vector, with it; blocking as ``best`` is."""
        return self._rows.vectors_of(sequences)

    def _written(self, sequence: int) -> list[Rows]:
        """Return the rows that follow a write: those searched and those built, if others."""
        self._writes += 1
        if self._built is None:
            return [self._rows]
        self._changed.add(sequence)
        return [self._rows] if self._built is self._rows else [self._rows, self._built]


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some of the rows, kept to measure the background of a query."""

    rows: Rows
    wanted: int
    writes: int
    sequences: Sequences
    vectors: FloatMatrix

    @classmethod
    def of(cls, rows: Rows, wanted: Collection[int], writes: int) -> Self:
        """Take those of the rows that are there after so many writes."""
        return cls(rows, len(wanted), writes, *rows.vectors_of(wanted))

    def incomplete(self, writes: int) -> bool:
        """Whether there were too few, and there may be more by now."""
        return writes != self.writes and 10 * len(self.sequences) < 9 * self.wanted


def _cosines(rows: Rows, query: Vector, sequences: Collection[int]) -> dict[int, float]:
    if not sequences:
        return {}
    found, vectors = rows.vectors_of(sequences)
    return dict(zip(found.tolist(), np.vecdot(vectors, query).tolist(), strict=True))
