"""Vectors as one bit a dimension, and how alike a query is to what the bits stand for.

``packed_vectors`` keeps the bits; this is the arithmetic. A vector is centred, turned and reduced
to the signs of its coordinates. Sentence vectors of one model share a strong mean, which would make
most signs equal: so the mean of the memories is taken away first. Sparse vectors say nothing by
their signs: so all are turned by the same random rotation, which spreads every coordinate over
many.

With c = v - mean, q . v is q . mean + (q - mean) . c + mean . c. The middle term is estimated from
the signs s of c as |c|^2 / |c|_1 * (q - mean) . s, exact where q - mean and c point the same way;
``scale`` holds its first factor and ``shift`` the last term, eight bytes a memory. It takes a third
of the rescoring that signs alone would.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..embedding.protocol import FloatMatrix
from .vector_blocks import Vector

WORD_BITS: Final = 64
_ROUNDS: Final = 2
_ESTIMATED_AT_ONCE: Final = 1024

type Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The bits of some vectors, word by word: ``bits[word, row]``, and two numbers for each."""

    bits: Words
    scale: Vector
    shift: Vector

    @classmethod
    def empty(cls, words: int, rows: int) -> "PackedRows":
        """Return rows to be filled."""
        return cls(
            np.zeros((words, rows), np.uint64),
            np.zeros(rows, np.float32),
            np.zeros(rows, np.float32),
        )

    def write(self, start: int, other: "PackedRows") -> None:
        """Copy all rows of the other to this one's rows from ``start``."""
        end = start + len(other.scale)
        self.bits[:, start:end] = other.bits
        self.scale[start:end] = other.scale
        self.shift[start:end] = other.shift

    def take(self, rows: NDArray[np.intp]) -> "PackedRows":
        """Return a copy of some rows."""
        return PackedRows(self.bits[:, rows], self.scale[rows], self.shift[rows])


@dataclass(frozen=True, slots=True)
class PackedQuery:
    """A query for both comparisons: by its own signs, and by all of its coordinates."""

    words: Words
    turned: Vector


class SignBits:
    """Packs vectors of one dimension around one centre."""

    def __init__(self, centre: Vector) -> None:
        """Take the mean of the vectors to come; it decides how good the bits are, nothing else."""
        self.dimensions: Final = len(centre)
        self.words: Final = -(-self.dimensions // WORD_BITS)
        self._centre = centre
        padded, draw = self.words * WORD_BITS, np.random.default_rng(self.dimensions)
        self._rounds = [
            (draw.permutation(padded), draw.choice(np.array([-1, 1], np.float32), padded))
            for _ in range(_ROUNDS)
        ]
        self._mixing = _hadamard(WORD_BITS)

    def pack(self, vectors: FloatMatrix) -> PackedRows:
        """Return the bits of vectors; blocking for many."""
        centred = vectors - self._centre
        turned = self._turn(centred)
        signs = np.packbits(turned > 0, axis=1, bitorder="little").view(np.uint64)
        squares, sums = np.vecdot(turned, turned), np.abs(turned).sum(axis=1)
        return PackedRows(
            np.ascontiguousarray(signs.T),
            squares / np.maximum(sums, np.finfo(np.float32).tiny),
            np.vecdot(centred, self._centre),
        )

    def query(self, vector: Vector) -> PackedQuery:
        """Return a query to compare with packed vectors."""
        turned = self._turn((vector - self._centre)[np.newaxis])[0]
        words = np.packbits(turned > 0, bitorder="little").view(np.uint64)
        return PackedQuery(words, turned)

    def _turn(self, vectors: FloatMatrix) -> FloatMatrix:
        """Rotate: shuffle and mix groups of coordinates, until each has a share of all others."""
        turned = np.zeros((len(vectors), self.words * WORD_BITS), np.float32)
        turned[:, : self.dimensions] = vectors
        for order, signs in self._rounds:
            groups = (turned[:, order] * signs).reshape(len(vectors), self.words, WORD_BITS)
            # A product for each vector: too small for BLAS to start threads for.
            turned = np.matmul(groups, self._mixing, dtype=np.float32).reshape(turned.shape)
        return turned


def distances(query: PackedQuery, rows: PackedRows) -> NDArray[np.uint16]:
    """Return in how many bits each row differs from the query."""
    different = np.empty(rows.bits.shape[1], np.uint64)
    counted = np.empty(rows.bits.shape[1], np.uint8)
    total = np.zeros(rows.bits.shape[1], np.uint16)
    for word, of_query in zip(rows.bits, query.words, strict=True):
        np.bitwise_xor(word, of_query, out=different)
        np.bitwise_count(different, out=counted)
        np.add(total, counted, out=total)
    return total


def estimates(query: PackedQuery, rows: PackedRows) -> Vector:
    """Return how alike each row is to the query, but for a term that all rows share."""
    octets = np.ascontiguousarray(rows.bits.T).view(np.uint8)
    ones = np.empty(len(octets), np.float32)
    for start in range(0, len(octets), _ESTIMATED_AT_ONCE):
        part = slice(start, start + _ESTIMATED_AT_ONCE)
        bits = np.unpackbits(octets[part], axis=1, bitorder="little")
        ones[part] = np.vecdot(bits.astype(np.float32), query.turned)
    products: Vector = 2 * ones - query.turned.sum()
    return products * rows.scale + rows.shift


def _hadamard(size: int) -> FloatMatrix:
    """Return the orthogonal matrix of ones and minus ones, scaled to keep lengths."""
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    scaled: FloatMatrix = matrix / np.float32(sqrt(size))
    return scaled
