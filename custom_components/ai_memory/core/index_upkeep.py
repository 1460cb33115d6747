"""Keeping vectors complete: loading them at start, making those that are missing, rebuilding.

The manager runs ``keep_up`` in the background as long as it is open and tells ``apply`` of every
committed write. The queue of vectors to make is the database itself, so it survives a restart: it
is read whole after a start, a failure or a change of engine, and in between what was written is
known. Until a memory has its vector, words find it. The index is built anew, while the present one
is searched, when it outgrows its kind of rows and when it disagrees with the database.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
import logging
from pathlib import Path
from typing import Final

from ..embedding.protocol import EngineError, FloatMatrix
from . import vectors
from .database import Database
from .encoder import BAD_RESPONSE, Encoder
from .exact_vectors import ExactVectors
from .packed_vectors import PackedVectors
from .sign_bits import SignBits
from .transaction import Written
from .vector_index import Sequences, Vector, VectorIndex
from .vectors import Unembedded
from .writer import MemoryWriter

REFUSALS_BEFORE_DISTRUST: Final = 3
"""How many single texts in a row an engine may refuse before it is the engine's fault."""

CHANGES_AT_ONCE: Final = 500
"""How many changes of one write are followed before the event loop gets its turn."""

TOLD_AFTER_VECTORS: Final = 256
"""How many new vectors make progress worth telling."""

SETTLE_SECONDS: Final = 0.5
"""How long a write may take from its commit to the index."""

CHECK_SECONDS: Final = 60.0
"""How often the index is compared with the database at most."""

_LOGGER: Final = logging.getLogger(__name__)


class IndexUpkeep:
    """The vector index of one database and engine, and the work of filling it."""

    def __init__(
        self,
        database: Database,
        encoder: Encoder,
        writer: MemoryWriter,
        index: VectorIndex,
        settled: Callable[[], Awaitable[None]],
    ) -> None:
        """Start with an empty index; ``settled`` is called whenever it is whole again."""
        self.index: Final = index
        self._settled = settled
        self._pending = 0
        self._counted = False
        self._database = database
        self._encoder = encoder
        self._writer = writer
        self._awaited: set[int] = set()
        self._all_known = False
        self._checked_at: float | None = None
        self._missed: set[int] = set()
        self._unembeddable: set[int] = set()
        self._refusals = 0
        self._untold = 0
        self._work = asyncio.Event()
        self._complete = asyncio.Event()

    @property
    def pending(self) -> int | None:
        """How many vectors are to be made, None until that was counted for this engine."""
        return self._pending if self._counted and not self._outdated else None

    async def wait_until_complete(self) -> None:
        """Wait until every memory that can be embedded has its vector in the index."""
        await self._complete.wait()

    async def apply(self, written: Written) -> None:
        """Follow a committed write, letting others run where it is a large one."""
        for number, (before, after) in enumerate(written.changes, start=1):
            if not number % CHANGES_AT_ONCE:
                await asyncio.sleep(0)
            old = before if before is not None and before.kept else None
            new = after if after is not None and after.kept else None
            if old is not None and (new is None or old.embedded_text != new.embedded_text):
                self.index.discard(old.sequence)
                self._unembeddable.discard(old.sequence)
                self._awaited.discard(old.sequence)
            if new is not None and (old is None or old.embedded_text != new.embedded_text):
                self._expect(new.sequence, written.vector)

    async def keep_up(self, document_count: int) -> None:
        """Load what is stored, then embed what has no current vector, now and whenever it comes.

        Runs until it is cancelled. Raises StorageError; what was stored until then stays.
        """
        await self._load()
        await self._renew_statistics(document_count)
        while True:
            self._work.clear()
            await self._encoder.wait_until_usable()
            if self._outdated:
                await self._load()
            try:
                await self._embed_missing()
            except EngineError:
                # The circuit is open now, or a local engine waits for the next memory.
                if self._encoder.failure is not None:
                    continue
            await self._agree()
            await self._settled()
            await self._work.wait()

    def engine_returned(self) -> None:
        """Look again for vectors to make: the engine may answer with another model."""
        if self._outdated:
            self._complete.clear()
            self._work.set()

    @property
    def _outdated(self) -> bool:
        """Whether the vectors are those of another model than the engine has now."""
        return self.index.made_by != self._encoder.engine.fingerprint

    def _expect(self, sequence: int, vector: Vector | None) -> None:
        if vector is not None:
            self._put(sequence, vector)
            return
        self._pending += 1
        self._awaited.add(sequence)
        self._complete.clear()
        self._work.set()

    def _put(self, sequence: int, vector: Vector) -> None:
        self.index.put(sequence, vector)
        if self.index.outgrown:
            self._work.set()

    async def _load(self) -> None:
        """Fill the index for the present engine, whose vectors are compared with no others."""
        self.index.made_by = self._encoder.engine.fingerprint
        self._all_known, self._counted, self._checked_at = False, False, None
        self._unembeddable.clear()
        self.index.clear()
        await self._build(visible=True)
        await self._count()
        # The engine may be away: nobody else would tell for a long time.
        self._encoder.announce()

    async def _count(self) -> None:
        """Count the memories that have no vector of the present engine."""
        async with self._database.reading() as connection:
            fingerprint = self.index.made_by or ""
            self._pending = await vectors.missing_count(connection, fingerprint)
        self._counted = True

    async def _build(self, *, visible: bool) -> None:
        """Build the index from the file, searched at once or when whole; writes go to it too."""
        fingerprint, path = self.index.made_by or "", self._database.path
        loop = asyncio.get_running_loop()
        rows = await loop.run_in_executor(None, self._rows_for, path, fingerprint, loop)
        blocks = rows.blocks_of(vectors.load(path, fingerprint))
        self.index.begin(rows, visible=visible)
        try:
            while (block := await loop.run_in_executor(None, next, blocks, None)) is not None:
                self.index.adopt(block)
            self.index.finish()
        finally:
            self.index.abandon()
            # A cancelled load may still be fetching: then the generator ends by itself.
            with suppress(ValueError):
                await loop.run_in_executor(None, blocks.close)

    def _rows_for(
        self, path: Path, fingerprint: str, loop: asyncio.AbstractEventLoop
    ) -> ExactVectors | PackedVectors:
        """Return empty rows of the kind that suits how many vectors there are; blocking."""
        many = vectors.current_count(path, fingerprint) > self.index.exact_rows
        centre = vectors.mean(path, fingerprint) if many else None
        if centre is None:
            return ExactVectors()

        def read(wanted: Collection[int], dimensions: int) -> tuple[Sequences, FloatMatrix]:
            """Read for a search, in its thread; where something is missing, it is looked into."""
            found, exact = vectors.read(path, fingerprint, wanted, dimensions)
            if len(found) < len(wanted):
                missed = set(wanted).difference(found.tolist())
                # The loop may be closed by now.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._look_for, missed)
            return found, exact

        return PackedVectors(SignBits(centre), read)

    def _look_for(self, missed: set[int]) -> None:
        self._missed |= missed
        self._work.set()

    async def _agree(self) -> None:
        """Build the index anew where it has outgrown its rows or is not what is stored."""
        now = asyncio.get_running_loop().time()
        missed, self._missed = self._missed, set()
        due = self._checked_at is None or now - self._checked_at >= CHECK_SECONDS
        if self.index.outgrown:
            await self._build(visible=False)
        elif due or missed:
            self._checked_at = now
            if await self._disagrees(missed):
                _LOGGER.warning("The vector index disagrees with the database: it is built anew")
                await self._build(visible=False)
                # What is missing in the file itself has to be made again.
                self._all_known = False
                self._work.set()

    async def _disagrees(self, missed: Collection[int]) -> bool:
        """Return whether the index holds other vectors than are stored, by number or these.

        A write may be on its way from the database to the index: so it is looked at twice, and
        where anything is written meanwhile, next time is soon enough.
        """
        if not await self._differs(missed):
            return False
        writes = self.index.writes
        await asyncio.sleep(SETTLE_SECONDS)
        return self.index.writes == writes and await self._differs(missed)

    async def _differs(self, missed: Collection[int]) -> bool:
        path, fingerprint = self._database.path, self.index.made_by or ""
        loop, writes = asyncio.get_running_loop(), self.index.writes
        count = await loop.run_in_executor(None, vectors.current_count, path, fingerprint)
        held = [sequence for sequence in missed if sequence in self.index]
        found, _ = await loop.run_in_executor(
            None, vectors.read, path, fingerprint, held, self.index.dimensions
        )
        differs = count != self.index.stored or len(found) < len(held)
        return self.index.writes == writes and differs

    async def _renew_statistics(self, document_count: int) -> None:
        """Teach the engine the common documents again when its statistics rest on others."""
        engine = self._encoder.engine
        if engine.document_count in {None, document_count}:
            return
        loop = asyncio.get_running_loop()
        contents = await loop.run_in_executor(None, vectors.load_common_texts, self._database.path)
        await engine.reset(contents)

    async def _embed_missing(self) -> None:
        """Make every vector that is missing, batch by batch. Raises EngineError."""
        batch_size = self._encoder.engine.batch_size
        if not self._all_known:
            self._all_known = True
            try:
                await self._embed_all(batch_size)
            except BaseException:
                self._all_known = False
                raise
        while self._awaited and not self._outdated:
            batch = sorted(self._awaited)[:batch_size]
            self._awaited.difference_update(batch)
            try:
                await self._embed(await self._missing_among(batch))
            except BaseException:
                self._awaited.update(batch)
                raise
        if self._outdated:
            return
        self._pending = len(self._unembeddable)
        if not self._work.is_set() and not self._complete.is_set():
            self._complete.set()
            self._encoder.announce()

    async def _embed_all(self, batch_size: int) -> None:
        """Make the vectors of all memories without one that the database knows of."""
        fingerprint, after = self._encoder.engine.fingerprint, 0
        await self._count()
        while not self._outdated:
            async with self._database.reading() as connection:
                rows = await vectors.missing(connection, fingerprint, after, batch_size)
            if not rows:
                return
            after = rows[-1].sequence
            await self._embed(rows)

    async def _missing_among(self, sequences: Collection[int]) -> list[Unembedded]:
        fingerprint = self._encoder.engine.fingerprint
        async with self._database.reading() as connection:
            return await vectors.missing_among(connection, fingerprint, sequences)

    async def _embed(self, rows: list[Unembedded]) -> None:
        """Store the vectors of some memories; those that changed meanwhile are looked at again."""
        made = await self._vectors_of(
            [one for one in rows if one.sequence not in self._unembeddable]
        )
        if self._outdated:
            # Nobody knows which of the two models made them.
            self._awaited |= {one.sequence for one in rows}
            return
        stored = await self._writer.store_vectors(made)
        for sequence, vector in stored:
            self._put(sequence, vector)
        self._awaited |= {one.sequence for one, _ in made} - {sequence for sequence, _ in stored}
        self._pending = max(0, self._pending - len(stored))
        self._untold += len(stored)
        if self._untold >= TOLD_AFTER_VECTORS:
            self._untold = 0
            self._encoder.announce()

    async def _vectors_of(self, rows: list[Unembedded]) -> list[tuple[Unembedded, Vector]]:
        """Return vectors, known ones first; a text that the engine cannot embed has none."""
        fingerprint = self._encoder.engine.fingerprint
        made: list[tuple[Unembedded, Vector]] = []
        new: list[Unembedded] = []
        async with self._database.reading() as connection:
            for row in rows:
                known = await vectors.known(connection, row.text, fingerprint)
                if known is None:
                    new.append(row)
                else:
                    made.append((row, known))
        if new:
            made += await self._embed_new(new)
        return made

    async def _embed_new(self, rows: list[Unembedded]) -> list[tuple[Unembedded, Vector]]:
        try:
            embedded = await self._encoder.documents([row.text for row in rows])
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
