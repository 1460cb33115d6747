"""The contract between the memory and whatever turns texts into vectors.

The manager in ``core`` calls an engine; the registry in this package makes one. An engine sees
texts only: never a memory, an owner or the database. Nothing here imports Home Assistant.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .ranking import RankingProfile

type FloatMatrix = NDArray[np.float32]


class TextKind(StrEnum):
    """What a text is embedded for; many models treat the two sides differently."""

    QUERY = "query"
    DOCUMENT = "document"


class EmbeddingEngine(Protocol):
    """Turn texts into unit vectors that can be compared by cosine similarity."""

    @property
    def name(self) -> str:
        """Registry name of the engine, as stored in the config entry."""

    @property
    def fingerprint(self) -> str:
        """Name engine, model and revision: vectors of two fingerprints are never compared."""

    @property
    def local(self) -> bool:
        """Whether embedding a text needs neither network nor noticeable time.

        The vector of a memory is then stored with it, in the same transaction.
        """

    @property
    def batch_size(self) -> int:
        """How many documents to embed in one call."""

    @property
    def ranking(self) -> RankingProfile:
        """What the similarities of this model are worth beside words."""

    def remember(self, fingerprints: Sequence[str]) -> None:
        """Take the revision of stored vectors for the model's, until a probe tells the real one.

        Given the fingerprints of what is stored, the most frequent first, so that vectors stay
        valid while the server is down.
        """

    async def probe(self) -> None:
        """Ask whether the model can be used and in which revision. Raises EngineError."""

    async def start(self) -> None:
        """Load whatever the engine needs. Raises EngineError; the memory works without it."""

    async def stop(self) -> None:
        """Persist what must outlive the process and release everything."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Return float32 of shape ``[len(texts), dimensions]``, each row of length 1 or all zero.

        A row is zero when the text holds nothing to compare. Raises EngineError.
        """

    async def observe(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """Learn that documents came or went; a no-op for engines without corpus statistics."""

    async def reset(self, documents: Sequence[str]) -> None:
        """Forget all corpus statistics and learn these documents instead."""

    @property
    def document_count(self) -> int | None:
        """Documents the statistics rest on, or None for engines that keep none."""


class EngineError(Exception):
    """An engine could not start or could not embed; search goes on with words alone.

    ``reason`` is a short word that does not change; ``retry_after_seconds`` is what a server asked
    for. The message never holds a text, a key or an address.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "failed",
        retry_after_seconds: float | None = None,
    ) -> None:
        """Say what happened."""
        super().__init__(message)
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds
