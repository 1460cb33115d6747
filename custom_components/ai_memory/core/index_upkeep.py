"""Keeping vectors complete: loading them at start and making those that are missing.

The manager runs ``bring_up_to_date`` once in the background after opening and tells ``apply`` of
every committed write. Until it is done, words answer for the memories whose vectors are not there.
"""

import asyncio
from typing import Final

from ..embedding.protocol import EmbeddingEngine, FloatMatrix, TextKind
from . import vectors
from .database import Database
from .vector_index import Sequences, Vector, VectorIndex
from .writer import MemoryWriter, Written

EMBED_BATCH_TEXTS: Final = 32
_ADOPTED_AT_ONCE: Final = 512


class IndexUpkeep:
    """The vector index of one database and engine, and the work of filling it."""

    def __init__(self, database: Database, engine: EmbeddingEngine, writer: MemoryWriter) -> None:
        """Start with an empty index."""
        self.index = VectorIndex()
        self._database = database
        self._engine = engine
        self._writer = writer
        self._changed_while_loading: set[int] = set()
        self._loading = True

    def apply(self, written: Written) -> None:
        """Follow a committed write, at once and without waiting."""
        for before, after in written.changes:
            changed = after or before
            if changed is None:
                continue
            if self._loading:
                self._changed_while_loading.add(changed.sequence)
            if after is None or (before and before.content != after.content):
                self.index.discard(changed.sequence)
            if after is not None and written.vector is not None:
                self.index.put(after.sequence, written.vector)

    async def bring_up_to_date(self, document_count: int) -> None:
        """Load what is stored, then embed what has no current vector.

        Raises EngineError and StorageError; what was stored until then stays.
        """
        await self._load()
        await self._renew_statistics(document_count)
        while await self._embed_missing():
            pass

    async def _load(self) -> None:
        """Fill the index from the file; writes that land meanwhile win over what was read."""
        loop = asyncio.get_running_loop()
        batches = vectors.load(self._database.path, self._engine.fingerprint)
        try:
            while (batch := await loop.run_in_executor(None, next, batches, None)) is not None:
                await self._adopt(*batch)
        finally:
            self._loading = False
            self._changed_while_loading.clear()
            await loop.run_in_executor(None, batches.close)

    async def _adopt(self, sequences: Sequences, loaded: FloatMatrix) -> None:
        for start in range(0, len(sequences), _ADOPTED_AT_ONCE):
            part = slice(start, start + _ADOPTED_AT_ONCE)
            for sequence, vector in zip(sequences[part].tolist(), loaded[part], strict=True):
                if sequence not in self._changed_while_loading:
                    self.index.put(sequence, vector)
            await asyncio.sleep(0)

    async def _renew_statistics(self, document_count: int) -> None:
        """Teach the engine all documents again when its statistics rest on other ones."""
        if self._engine.document_count in {None, document_count}:
            return
        loop = asyncio.get_running_loop()
        contents = await loop.run_in_executor(None, vectors.load_contents, self._database.path)
        await self._engine.reset(contents)

    async def _embed_missing(self) -> bool:
        """Embed memories without a current vector; returns whether another pass may be needed."""
        after, passed_over = 0, False
        while rows := await self._missing(after):
            after = rows[-1][0]
            made = await self._engine.embed([row[2] for row in rows], TextKind.DOCUMENT)
            drafts: list[tuple[int, int, Vector]] = [
                (sequence, revision, vector)
                for (sequence, revision, _), vector in zip(rows, made, strict=True)
            ]
            stored = await self._writer.store_vectors(drafts)
            for sequence, vector in stored:
                self.index.put(sequence, vector)
            passed_over = passed_over or len(stored) < len(drafts)
        return passed_over

    async def _missing(self, after: int) -> list[tuple[int, int, str]]:
        async with self._database.reading() as connection:
            return await vectors.missing(
                connection, self._engine.fingerprint, after, EMBED_BATCH_TEXTS
            )
