"""The least similarity that means anything, measured on the memories themselves.

How similar two unrelated texts are differs from model to model, so no fixed floor serves them all.
``index_upkeep`` calibrates once the vectors of a model are there: halves of memories play the
questions. The floor lies where most pairs of a half and another memory stay below, and never so
high that halves miss the memory they came from. It is stored with the fingerprint of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import aiosqlite
import numpy as np

from ..embedding.protocol import EmbeddingEngine, FloatMatrix, TextKind
from .vector_index import Vector

SAMPLED_MEMORIES: Final = 64
LEAST_MEMORIES: Final = 16
"""With fewer memories there is too little to measure."""

UNRELATED_BELOW: Final = 75
"""Per cent of unrelated pairs below the floor. A half resembles other memories more than a question
does, so of those far fewer pass. Chosen by ``benchmarks.retrieval --engine builtin``."""

RELATED_ABOVE: Final = 95
"""Per cent of halves that find the memory they came from."""

_STORED: Final = "SELECT floor, sample FROM calibrations WHERE fingerprint = ?"
_STORE: Final = """
    INSERT INTO calibrations (fingerprint, floor, sample) VALUES (?, ?, ?)
    ON CONFLICT (fingerprint) DO UPDATE SET floor = excluded.floor, sample = excluded.sample
"""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The floor of one model, and on how many memories it rests."""

    floor: float
    sample: int

    def suffices(self, memories: int) -> bool:
        """Return whether measuring again among so many memories would tell little more."""
        return 2 * self.sample > min(memories, SAMPLED_MEMORIES)


async def measure(
    engine: EmbeddingEngine, contents: Sequence[str], vectors: FloatMatrix
) -> Calibration | None:
    """Return the floor that these memories suggest, None where they are too few.

    ``vectors`` are those of the contents, row by row. Raises EngineError.
    """
    if len(contents) < LEAST_MEMORIES:
        return None
    halves = [_half(content) for content in contents]
    asked: list[Vector] = []
    for start in range(0, len(halves), engine.batch_size):
        batch = halves[start : start + engine.batch_size]
        asked += list(await engine.embed(batch, TextKind.QUERY))
    cosines = np.einsum("ij,kj->ik", np.stack(asked), vectors)
    related = np.diagonal(cosines)
    unrelated = cosines[~np.eye(len(halves), dtype=bool)]
    floor = min(
        float(np.percentile(unrelated, UNRELATED_BELOW)),
        float(np.percentile(related, 100 - RELATED_ABOVE)),
    )
    return Calibration(max(0.0, floor), len(contents))


async def stored(connection: aiosqlite.Connection, fingerprint: str) -> Calibration | None:
    """Return what was measured for a model."""
    rows = list(await connection.execute_fetchall(_STORED, (fingerprint,)))
    return Calibration(*rows[0]) if rows else None


async def store(
    connection: aiosqlite.Connection, fingerprint: str, calibration: Calibration
) -> None:
    """Keep what was measured for a model."""
    await connection.execute(_STORE, (fingerprint, calibration.floor, calibration.sample))


def _half(content: str) -> str:
    words = content.split()
    if len(words) > 1:
        return " ".join(words[: (len(words) + 1) // 2])
    return content[: (len(content) + 1) // 2]
