"""The engine that needs nothing: TF-IDF over hashed words and character n-grams.

The registry makes one and the manager in ``core`` calls it. It uses the SMART scheme lnc.ltc: a
DOCUMENT vector is sublinear term frequency, cosine normalised, without idf. It depends on its text
alone, so a stored vector stays valid for ever. Corpus statistics weigh the QUERY vector only.

**The bound.** A query q is its document d scaled, feature by feature, by idf weights between m = 1
and M = 3. Kantorovich's inequality then gives ``cos(q, d) >= 2 * sqrt(m * M) / (m + M) = 0.866``,
whatever the corpus does. Hash collisions could undercut it, so :func:`_at_least_alike` moves such a
query towards its document until the bound holds exactly: a text always finds itself.

The engine never sees a memory, never blocks the event loop, and never fails because of its file:
damaged or foreign statistics count as none, and the caller resets them from its documents.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
import logging
from math import sqrt
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .features import Sketch, in_turns, sketch, split_terms
from .protocol import FloatMatrix, TextKind
from .ranking import TFIDF_RANKING, RankingProfile
from .vocabulary import (
    IDF_MAX,
    IDF_MIN,
    Statistics,
    StatisticsFileError,
    load_statistics,
    save_statistics,
)

_LOGGER = logging.getLogger(__name__)

ENGINE_NAME: Final = "tfidf"
DIMENSIONS: Final = 384
# Raise whenever a text would get another vector than before: stored vectors are then made anew.
REVISION: Final = 1

SELF_COSINE: Final = 2 * sqrt(IDF_MIN * IDF_MAX) / (IDF_MIN + IDF_MAX)

SAVE_DELAY_SECONDS: Final = 30.0
# One text up to this length takes less time than the way to a worker thread and back.
INLINE_CHARACTERS: Final = 64
_CACHED_TERMS: Final = 4096
BATCH_TEXTS: Final = 128

type _FloatVector = NDArray[np.float64]
type _Sketcher = Callable[[str], Sketch]


class TfidfEngine:
    """Embeds any script without a model, a download or a network."""

    def __init__(self, path: Path) -> None:
        """Keep the statistics in this file; nothing is read before start()."""
        self._path = path
        self._statistics = Statistics()
        self._saved = self._statistics
        self._sketch = lru_cache(maxsize=_CACHED_TERMS)(sketch)
        self._running = False
        self._changing = asyncio.Lock()
        self._save_task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._save_failed = False

    @property
    def name(self) -> str:
        """Registry name of the engine."""
        return ENGINE_NAME

    @property
    def fingerprint(self) -> str:
        """Changes whenever vectors do."""
        return f"{ENGINE_NAME}/{DIMENSIONS}/{REVISION}"

    @property
    def local(self) -> bool:
        """A text takes well under a millisecond and no network."""
        return True

    @property
    def batch_size(self) -> int:
        """A batch takes a worker thread about ten milliseconds."""
        return BATCH_TEXTS

    @property
    def ranking(self) -> RankingProfile:
        """Return the profile of parts of words."""
        return TFIDF_RANKING

    def remember(self, fingerprints: Sequence[str]) -> None:
        """Do nothing: there are no revisions to learn."""

    async def probe(self) -> None:
        """Do nothing: it is always there."""

    @property
    def document_count(self) -> int:
        """Documents the statistics rest on."""
        return self._statistics.document_count

    async def start(self) -> None:
        """Load the statistics; without a usable file they are empty."""
        loop = asyncio.get_running_loop()
        try:
            self._statistics = await loop.run_in_executor(None, load_statistics, self._path)
        except StatisticsFileError as err:
            _LOGGER.warning("Statistics in %s are not used: %s", self._path, err)
            self._statistics = Statistics()
        self._saved = self._statistics
        self._stopping.clear()
        self._running = True

    async def stop(self) -> None:
        """Write what is not yet written, without waiting for the delay."""
        async with self._changing:
            self._running = False
            self._stopping.set()
        if self._save_task is not None:
            await asyncio.wait([self._save_task])
            self._save_task = None
        if self._is_unsaved:
            await self._save()
        self._sketch.cache_clear()

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Return one row per text; see the module's docstring for what a kind changes."""
        statistics = self._statistics if kind is TextKind.QUERY else None
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        if len(texts) == 1 and len(texts[0]) <= INLINE_CHARACTERS:
            row = _vector(texts[0], statistics, self._sketch)
            return row.astype(np.float32).reshape(1, DIMENSIONS)
        return await asyncio.get_running_loop().run_in_executor(
            None, _embed_many, tuple(texts), statistics, self._sketch
        )

    async def observe(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """Learn that documents came or went, and write that down a little later."""
        if added or removed:
            async with self._changing:
                await self._replace(self._statistics.changed, tuple(added), tuple(removed))

    async def reset(self, documents: Sequence[str]) -> None:
        """Forget all statistics and learn these documents instead."""
        async with self._changing:
            await self._replace(Statistics.of, tuple(documents))

    async def _replace(self, make: Callable[..., Statistics], *documents: tuple[str, ...]) -> None:
        """Make the next statistics in a worker thread; the caller holds the lock."""
        loop = asyncio.get_running_loop()
        self._statistics = await loop.run_in_executor(None, make, *documents)
        if self._running and (self._save_task is None or self._save_task.done()):
            self._save_task = loop.create_task(self._save_later(), name="ai_memory tfidf save")

    async def _save_later(self) -> None:
        """Write after the delay, or at once when stopping, until nothing is left to write."""
        while self._is_unsaved:
            with suppress(TimeoutError):
                async with asyncio.timeout(SAVE_DELAY_SECONDS):
                    await self._stopping.wait()
            if not await self._save():
                return  # The next change, or stop(), tries again.

    @property
    def _is_unsaved(self) -> bool:
        return self._statistics is not self._saved

    async def _save(self) -> bool:
        """Write the statistics; a failure costs their freshness, not the caller's work."""
        statistics = self._statistics
        try:
            await asyncio.get_running_loop().run_in_executor(
                None, save_statistics, self._path, statistics
            )
        except OSError as err:
            if not self._save_failed:
                _LOGGER.warning("Statistics cannot be written to %s: %s", self._path, err.strerror)
            self._save_failed = True
            return False
        self._saved = statistics
        self._save_failed = False
        return True


def _embed_many(
    texts: Sequence[str], statistics: Statistics | None, sketcher: _Sketcher
) -> FloatMatrix:
    """Embed documents, or queries when there are statistics; runs in a worker thread."""
    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(rows, in_turns(texts), strict=True):
        row[:] = _vector(text, statistics, sketcher)
    return rows


def _vector(text: str, statistics: Statistics | None, sketcher: _Sketcher) -> _FloatVector:
    counts = Counter(split_terms(text))
    if not counts:
        return np.zeros(DIMENSIONS)
    sketches = [sketcher(term) for term in counts]
    buckets, values = _features(sketches)
    sizes = np.array([part.size for part in sketches])
    frequency = 1.0 + np.log(np.array(list(counts.values()), dtype=np.float64))
    document = _hashed(buckets, values * np.repeat(frequency, sizes))
    if statistics is None or statistics.document_count == 0:
        return document
    idf = np.array([statistics.idf(term) for term in counts])
    query = _hashed(buckets, values * np.repeat(frequency * idf, sizes))
    return _at_least_alike(query, document)


def _features(sketches: Sequence[Sketch]) -> tuple[NDArray[np.int64], _FloatVector]:
    """Return the bucket and the signed weight of each feature of these terms."""
    hashes = _mixed(np.frombuffer(b"".join([part.hashes for part in sketches]), dtype=np.uint32))
    weights = np.frombuffer(b"".join([part.weights for part in sketches]), dtype=np.float32)
    # The high bits choose the bucket, the lowest one the sign.
    buckets = (hashes.astype(np.int64) * DIMENSIONS) >> 32
    signs = 1.0 - 2.0 * (hashes & np.uint32(1))
    return buckets, weights * signs


def _mixed(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Spread similar checksums apart: a CRC is linear, so alone it would collide in patterns."""
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> np.uint32(16))


def _hashed(buckets: NDArray[np.int64], values: _FloatVector) -> _FloatVector:
    sums = np.bincount(buckets, weights=values, minlength=DIMENSIONS)
    return _unit(sums.astype(np.float64, copy=False))


def _at_least_alike(query: _FloatVector, document: _FloatVector) -> _FloatVector:
    """Return the unit vector nearest to the query whose cosine with the document is the bound."""
    cosine = float(query @ document)
    if cosine >= SELF_COSINE:
        return query
    across = _unit(query - cosine * document)
    return _unit(SELF_COSINE * document + sqrt(1.0 - SELF_COSINE**2) * across)


def _unit(vector: _FloatVector) -> _FloatVector:
    length = sqrt(float(vector @ vector))
    return vector / length if length > 0.0 else vector
