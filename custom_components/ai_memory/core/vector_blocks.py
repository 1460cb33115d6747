"""Where vectors lie in memory: in blocks of fixed size, and which slot of them each memory has.

The two kinds of rows, ``exact_vectors`` and ``packed_vectors``, keep theirs here. Growing never
copies what is there, so no step on the event loop depends on how many there are. Nothing here
knows what a row holds.
"""

from array import array
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..embedding.protocol import FloatMatrix

FREE: Final = -1
"""Stands where a row has no memory."""

_PAGE_BITS: Final = 16
_PAGE_SEQUENCES: Final = 1 << _PAGE_BITS

type Vector = NDArray[np.float32]
type Sequences = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block[D]:
    """Some rows and whose they are; ``data`` is what the kind of rows makes of them."""

    sequences: Sequences
    data: D


@dataclass(frozen=True, slots=True)
class Part:
    """Some stored vectors in order of sequence, and whose vectors have another dimension."""

    sequences: Sequences
    vectors: FloatMatrix
    left_out: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Loaded[D]:
    """A block made of parts."""

    block: Block[D]
    left_out: Sequence[int]


def assembled[D](
    parts: Iterable[Part],
    block_rows: int,
    empty: Callable[[int], D],
    write: Callable[[D, int, FloatMatrix], None],
) -> Generator[Loaded[D]]:
    """Fill blocks with parts, none of them larger than a block; blocking.

    ``empty`` makes data for vectors of so many dimensions, ``write`` puts some from a row onwards.
    """
    loaded: Loaded[D] | None = None
    filled = 0
    for part in parts:
        if loaded and filled + len(part.sequences) > block_rows:
            yield loaded
            loaded = None
        if loaded is None:
            sequences = np.full(block_rows, FREE, np.int64)
            loaded, filled = Loaded(Block(sequences, empty(part.vectors.shape[1])), []), 0
        end = filled + len(part.sequences)
        loaded.block.sequences[filled:end] = part.sequences
        write(loaded.block.data, filled, part.vectors)
        loaded = replace(loaded, left_out=[*loaded.left_out, *part.left_out])
        filled = end
    if loaded:
        yield loaded


class VectorBlocks[D]:
    """Blocks, the slots of memories in them, and those that are free."""

    def __init__(self, block_rows: int, empty: Callable[[], D]) -> None:
        """Start without a block; ``empty`` makes the data of one without memories."""
        self.blocks: Final[list[Block[D]]] = []
        self._block_rows = block_rows
        self._empty = empty
        self._slots = _SlotMap()
        self._free = array("q")
        self._count = 0

    def __len__(self) -> int:
        """Return how many memories have a row."""
        return self._count

    def find(self, sequence: int) -> tuple[D, int] | None:
        """Return the data that a memory's row is in and the row, None where it has none."""
        slot = self._slots.get(sequence)
        if slot == FREE:
            return None
        return self.blocks[slot // self._block_rows].data, slot % self._block_rows

    def put(self, sequence: int, write: Callable[[D, int], None]) -> None:
        """Let the memory's row be written, a free one where it has none."""
        slot = self._slots.get(sequence)
        known = slot != FREE
        if not known:
            if not self._free:
                self._grow()
            slot = self._free.pop()
        block, row = self.blocks[slot // self._block_rows], slot % self._block_rows
        write(block.data, row)
        if not known:
            # Only now: a search in another thread never takes the row's former vector for this.
            block.sequences[row] = sequence
            self._slots.set(sequence, slot)
            self._count += 1

    def adopt(self, block: Block[D]) -> None:
        """Take over a whole block of memories that have no row yet, in order of sequence."""
        first = len(self.blocks) * self._block_rows
        self.blocks.append(block)
        taken = np.flatnonzero(block.sequences != FREE)
        self._slots.set_all(block.sequences[taken], first + taken)
        self._count += len(taken)
        self._free.extend((first + np.flatnonzero(block.sequences == FREE)[::-1]).tolist())

    def discard(self, sequence: int) -> None:
        """Free the row of a memory if it has one."""
        slot = self._slots.get(sequence)
        if slot == FREE:
            return
        self.blocks[slot // self._block_rows].sequences[slot % self._block_rows] = FREE
        self._slots.set(sequence, FREE)
        self._free.append(slot)
        self._count -= 1

    def _grow(self) -> None:
        first = len(self.blocks) * self._block_rows
        unused = np.full(self._block_rows, FREE, np.int64)
        self.blocks.append(Block(unused, self._empty()))
        self._free.extend(range(first + self._block_rows - 1, first - 1, -1))


class _SlotMap:
    """Slots by sequence in pages of four bytes a sequence.

    Sequences have gaps but are never given twice. A page without memories is not made, and what is
    never written of one takes no memory: the system hands out zeros only when they are touched.
    """

    def __init__(self) -> None:
        """Know no memory."""
        self._pages: list[NDArray[np.int32] | None] = []

    def get(self, sequence: int) -> int:
        """Return the slot of a memory, FREE where it has none."""
        number = sequence >> _PAGE_BITS
        page = self._pages[number] if 0 <= number < len(self._pages) else None
        return FREE if page is None else int(page[sequence % _PAGE_SEQUENCES]) - 1

    def set(self, sequence: int, slot: int) -> None:
        """Note the slot of a memory."""
        self._page(sequence >> _PAGE_BITS)[sequence % _PAGE_SEQUENCES] = slot + 1

    def set_all(self, sequences: Sequences, slots: NDArray[np.int64]) -> None:
        """Note the slots of memories in order of sequence, page by page."""
        numbers = sequences >> _PAGE_BITS
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        ends = np.flatnonzero(np.diff(numbers, append=-1)) + 1
        for start, end in zip(starts, ends, strict=True):
            page = self._page(int(numbers[start]))
            page[sequences[start:end] % _PAGE_SEQUENCES] = slots[start:end] + 1

    def _page(self, number: int) -> NDArray[np.int32]:
        while number >= len(self._pages):
            self._pages.append(None)
        page = self._pages[number]
        if page is None:
            page = self._pages[number] = np.zeros(_PAGE_SEQUENCES, np.int32)
        return page
