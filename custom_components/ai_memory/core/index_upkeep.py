"""Keeping vectors complete: loading them at start and making those that are missing.

The manager runs ``keep_up`` in the background as long as it is open and tells ``apply`` of every
committed write. The queue of vectors to make is the database itself, so it survives a restart.
Until a memory has its vector, words find it.
"""

import asyncio
from contextlib import suppress
from typing import Final

from ..embedding.protocol import EngineError
from . import vectors
from .database import Database
from .encoder import BAD_RESPONSE, Encoder
from .vector_index import Vector, VectorIndex
from .vectors import Unembedded
from .writer import MemoryWriter, Written

REFUSALS_BEFORE_DISTRUST: Final = 3
"""How many single texts in a row an engine may refuse before it is the engine's fault."""

CHANGES_AT_ONCE: Final = 500
"""How many changes of one write are followed before the event loop gets its turn."""

TOLD_AFTER_VECTORS: Final = 256
"""How many new vectors make progress worth telling."""


class IndexUpkeep:
    """The vector index of one database and engine, and the work of filling it."""

    def __init__(self, database: Database, encoder: Encoder, writer: MemoryWriter) -> None:
        """Start with an empty index."""
        self.index = VectorIndex()
        self.pending = 0
        self._database = database
        self._encoder = encoder
        self._writer = writer
        self._fingerprint: str | None = None
        self._loading = False
        self._changed_while_loading: set[int] = set()
        self._unembeddable: set[int] = set()
        self._refusals = 0
        self._untold = 0
        self._work = asyncio.Event()
        self._complete = asyncio.Event()

    async def wait_until_complete(self) -> None:
        """Wait until every memory that can be embedded has its vector in the index."""
        await self._complete.wait()

    async def apply(self, written: Written) -> None:
        """Follow a committed write, letting others run where it is a large one."""
        for number, (before, after) in enumerate(written.changes, start=1):
            if not number % CHANGES_AT_ONCE:
                await asyncio.sleep(0)
            changed = after or before
            if changed is None:
                continue
            if self._loading:
                self._changed_while_loading.add(changed.sequence)
            if after is None or (before and before.content != after.content):
                self.index.discard(changed.sequence)
                self._unembeddable.discard(changed.sequence)
            if after is not None and (before is None or before.content != after.content):
                self._expect(after.sequence, written.vector)

    async def keep_up(self, document_count: int) -> None:
        """Load what is stored, then embed what has no current vector, now and whenever it comes.

        Runs until it is cancelled. Raises StorageError; what was stored until then stays.
        """
        await self._load()
        await self._renew_statistics(document_count)
        while True:
            self._work.clear()
            await self._encoder.wait_until_usable()
            if self._fingerprint != self._encoder.engine.fingerprint:
                await self._load()
            try:
                await self._embed_missing()
            except EngineError:
                # The circuit is open now, or a local engine waits for the next memory.
                if self._encoder.failure is not None:
                    continue
            await self._work.wait()

    def engine_returned(self) -> None:
        """Look again for vectors to make: the engine may answer with another model."""
        if self._fingerprint != self._encoder.engine.fingerprint:
            self._complete.clear()
            self._work.set()

    def _expect(self, sequence: int, vector: Vector | None) -> None:
        if vector is not None:
            self.index.put(sequence, vector)
            return
        self.pending += 1
        self._complete.clear()
        self._work.set()

    async def _load(self) -> None:
        """Fill the index from the file; writes that land meanwhile win over what was read."""
        self._fingerprint = self._encoder.engine.fingerprint
        self.index.clear()
        self._loading = True
        loop = asyncio.get_running_loop()
        batches = vectors.load(self._database.path, self._fingerprint)
        try:
            while (batch := await loop.run_in_executor(None, next, batches, None)) is not None:
                self.index.adopt(*batch, self._changed_while_loading)
        finally:
            self._loading = False
            self._changed_while_loading.clear()
            # A cancelled load may still be fetching: then the generator ends by itself.
            with suppress(ValueError):
                await loop.run_in_executor(None, batches.close)

    async def _renew_statistics(self, document_count: int) -> None:
        """Teach the engine the common documents again when its statistics rest on others."""
        engine = self._encoder.engine
        if engine.document_count in {None, document_count}:
            return
        loop = asyncio.get_running_loop()
        contents = await loop.run_in_executor(
            None, vectors.load_common_contents, self._database.path
        )
        await engine.reset(contents)

    async def _embed_missing(self) -> None:
        """Make every vector that is missing, batch by batch. Raises EngineError."""
        engine, passed_over = self._encoder.engine, True
        while passed_over:
            after, passed_over = 0, False
            while rows := await self._missing(after, engine.batch_size):
                after = rows[-1].sequence
                todo = [row for row in rows if row.sequence not in self._unembeddable]
                passed_over |= await self._embed(todo)
        async with self._database.reading() as connection:
            self.pending = await vectors.missing_count(connection, engine.fingerprint)
        if not self._work.is_set() and not self._complete.is_set():
            self._complete.set()
            self._encoder.announce()

    async def _missing(self, after: int, limit: int) -> list[Unembedded]:
        fingerprint = self._encoder.engine.fingerprint
        async with self._database.reading() as connection:
            if not after:
                self.pending = await vectors.missing_count(connection, fingerprint)
            return await vectors.missing(connection, fingerprint, after, limit)

    async def _embed(self, rows: list[Unembedded]) -> bool:
        """Store the vectors of some memories; returns whether one of them changed meanwhile."""
        made = await self._vectors_of(rows)
        stored = await self._writer.store_vectors(made)
        for sequence, vector in stored:
            self.index.put(sequence, vector)
        self.pending = max(0, self.pending - len(stored))
        self._untold += len(stored)
        if self._untold >= TOLD_AFTER_VECTORS:
            self._untold = 0
            self._encoder.announce()
        return len(stored) < len(made)

    async def _vectors_of(self, rows: list[Unembedded]) -> list[tuple[Unembedded, Vector]]:
        """Return vectors, known ones first; a text that the engine cannot embed has none."""
        fingerprint = self._encoder.engine.fingerprint
        made: list[tuple[Unembedded, Vector]] = []
        new: list[Unembedded] = []
        async with self._database.reading() as connection:
            for row in rows:
                known = await vectors.known(connection, row.content, fingerprint)
                if known is None:
                    new.append(row)
                else:
                    made.append((row, known))
        if new:
            made += await self._embed_new(new)
        return made

    async def _embed_new(self, rows: list[Unembedded]) -> list[tuple[Unembedded, Vector]]:
        try:
            embedded = await self._encoder.documents([row.content for row in rows])
        except EngineError as err:
            if err.reason != BAD_RESPONSE:
                raise
            if len(rows) > 1:
                return [pair for row in rows for pair in await self._embed_new([row])]
            self._refusals += 1
            if self._refusals > REFUSALS_BEFORE_DISTRUST:
                self._encoder.distrust(err)
                raise
            self._unembeddable.add(rows[0].sequence)
            return []
        self._refusals = 0
        return list(zip(rows, embedded, strict=True))
