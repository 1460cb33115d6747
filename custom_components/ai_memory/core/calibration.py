"""The least similarity that means anything, measured on the memories themselves.

How similar two unrelated texts are differs from model to model, so no fixed floor serves them all.
``index_upkeep`` calls for it once the vectors of a model are there, and it is done again when there
are twice as many memories: halves of memories play the questions. The floor lies in the middle
of what a half and another memory are alike, and never so high that halves miss the memory they came
from. It rests on common memories and is stored with the fingerprint of the model.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
import logging
from typing import Final

import aiosqlite
import numpy as np

from ..embedding.protocol import EmbeddingEngine, EngineError, FloatMatrix, TextKind
from . import memories
from .database import Database
from .models import Caller, Filters
from .search_reads import texts_of
from .vector_index import Vector, VectorIndex
from .visibility import visible_to
from .visible_set import VisibleSet

SAMPLED_MEMORIES: Final = 64
LEAST_MEMORIES: Final = 16
"""With fewer memories there is too little to measure."""

ASKED_AT_ONCE: Final = 8

UNRELATED_BELOW: Final = 50
"""Per cent of unrelated pairs below the floor. A half resembles other memories more than a question
does, so of those far fewer pass. Chosen by ``benchmarks.retrieval --engine builtin``."""

RELATED_ABOVE: Final = 95
"""Per cent of halves that find the memory they came from."""

_STORED: Final = "SELECT floor, sample, counted FROM calibrations WHERE fingerprint = ?"
_STORE: Final = """
    INSERT INTO calibrations (fingerprint, floor, sample, counted) VALUES (?, ?, ?, ?)
    ON CONFLICT (fingerprint) DO UPDATE SET
        floor = excluded.floor, sample = excluded.sample, counted = excluded.counted
"""
_ANYBODY: Final = Caller(source="calibration")
"""Sees what is common: a floor that everybody shares must rest on nothing else."""


_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The floor of one model, on how many memories it rests and of how many these were taken."""

    floor: float
    sample: int
    counted: int


class SimilarityFloor:
    """The least cosine of a match by meaning, where a caller asks for none."""

    def __init__(
        self,
        database: Database,
        engine: EmbeddingEngine,
        index: VectorIndex,
        common_count: Callable[[], int],
        chosen: float | None = None,
    ) -> None:
        """Know nothing yet; ``chosen`` by a person holds whatever is measured.

        ``common_count`` tells how many common memories there are.
        """
        self.calibration: Calibration | None = None
        self._database = database
        self._engine = engine
        self._index = index
        self._common_count = common_count
        self._chosen = chosen
        self._fingerprint: str | None = None
        self._measured_of = 0

    @property
    def value(self) -> float:
        """The floor in force, 0.0 while nothing is known of the model."""
        measured = None if self.calibration is None else self.calibration.floor
        ranking = self._engine.ranking
        known = (self._chosen, ranking.floor, measured, ranking.expected_floor)
        return next((floor for floor in known if floor is not None), 0.0)

    async def renew(self) -> None:
        """Measure where that tells more than is known. Raises StorageError."""
        if self._engine.ranking.floor is not None:
            return
        fingerprint = self._engine.fingerprint
        if self._fingerprint != fingerprint:
            async with self._database.reading() as connection:
                self.calibration = await stored(connection, fingerprint)
            self._fingerprint = fingerprint
            self._measured_of = self.calibration.counted if self.calibration else 0
        count = self._common_count()
        if count < max(LEAST_MEMORIES, 2 * self._measured_of):
            return
        self._measured_of = count
        try:
            measured = await self._measured()
        except EngineError as err:
            _LOGGER.debug("Engine %s could not be calibrated: %s", self._engine.name, err)
            self._measured_of = 0
            return
        if measured is not None and fingerprint == self._engine.fingerprint:
            async with self._database.transaction() as connection:
                await store(connection, fingerprint, measured)
            self.calibration = measured

    async def _measured(self) -> Calibration | None:
        loop = asyncio.get_running_loop()
        async with self._database.reading() as connection:
            clause = visible_to(_ANYBODY, Filters())
            listed = await memories.visible_sequences(connection, clause)
        common = await loop.run_in_executor(None, VisibleSet.parse, listed)
        some = common.some()
        sample = some[:: max(1, len(some) // SAMPLED_MEMORIES)][:SAMPLED_MEMORIES]
        sequences, vectors = await loop.run_in_executor(None, self._index.vectors_of, sample)
        texts = await self._database.read(partial(texts_of, sequences=sequences.tolist()))
        contents = {text.sequence: text.content for text in texts}
        kept = [at for at, sequence in enumerate(sequences.tolist()) if sequence in contents]
        asked = [contents[int(sequences[at])] for at in kept]
        floor = await measure(self._engine, asked, vectors[kept])
        return None if floor is None else Calibration(floor, len(kept), len(common))


async def measure(
    engine: EmbeddingEngine, contents: Sequence[str], vectors: FloatMatrix
) -> float | None:
    """Return the floor that these memories suggest, None where they are too few or too alike.

    ``vectors`` are those of the contents, row by row. Raises EngineError.
    """
    if len(contents) < LEAST_MEMORIES:
        return None
    halves = [_half(content) for content in contents]
    asked: list[Vector] = []
    at_once = min(engine.batch_size, ASKED_AT_ONCE)
    for start in range(0, len(halves), at_once):
        asked += list(await engine.embed(halves[start : start + at_once], TextKind.QUERY))
        # Nothing waits for this: whoever asks something meanwhile comes first.
        await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, _floor, np.stack(asked), vectors)


async def stored(connection: aiosqlite.Connection, fingerprint: str) -> Calibration | None:
    """Return what was measured for a model."""
    rows = list(await connection.execute_fetchall(_STORED, (fingerprint,)))
    return Calibration(*rows[0]) if rows else None


async def store(
    connection: aiosqlite.Connection, fingerprint: str, calibration: Calibration
) -> None:
    """Keep what was measured for a model."""
    await connection.execute(
        _STORE, (fingerprint, calibration.floor, calibration.sample, calibration.counted)
    )


def _floor(asked: FloatMatrix, vectors: FloatMatrix) -> float | None:
    cosines = np.einsum("ij,kj->ik", asked, vectors)
    least_related = _of_rank(np.diagonal(cosines), 100 - RELATED_ABOVE)
    others = cosines[~np.eye(len(asked), dtype=bool)]
    # Of memories that say nearly the same, half of one is related to all of them.
    unrelated = others[others < least_related]
    if 2 * len(unrelated) < len(others):
        return None
    return max(0.0, _of_rank(unrelated, UNRELATED_BELOW))


def _of_rank(values: Vector, per_cent: int) -> float:
    """Return the value that so many per cent lie below; NumPy's own imports modules for it."""
    return float(np.sort(values)[len(values) * per_cent // 100])


def _half(content: str) -> str:
    words = content.split()
    if len(words) > 1:
        return " ".join(words[: (len(words) + 1) // 2])
    return content[: (len(content) + 1) // 2]
