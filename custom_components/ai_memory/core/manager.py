"""The memory itself: what every operation calls, and the only place that knows all its parts.

One manager per config entry. It cleans what callers send, hands writes to the writer and reads to
the repositories and the search, and keeps index, census, usage and listeners up to date with every
commit. It knows nothing of Home Assistant: the function it is given starts background tasks.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
import logging
from typing import Any, Final, Protocol

from ..embedding.protocol import EmbeddingEngine, EngineError, TextKind
from . import (
    additions,
    changes as memory_changes,
    integrity,
    layers,
    memories,
    palace,
    vectors,
    work,
)
from .additions import Addition
from .anchor_keeper import AnchorKeeper
from .anchors import EntityCheck, nobody_can_tell
from .calibration import SimilarityFloor
from .census import Census
from .cleaning import cleaned_changes, cleaned_filters, cleaned_new, texts_of
from .commits import MAINTENANCE, Clock, Commits, Listener
from .database import Database
from .encoder import DEFAULT_QUERY_TIMEOUT_SECONDS, Encoder
from .errors import InvalidInputError, NotFoundError, StorageError
from .file_hold import FileHold
from .forgetting import DEFAULT_RETENTION_DAYS
from .index_upkeep import IndexUpkeep
from .integrity import Salvaged
from .layers import LayerMove, LayerRules
from .lifecycle import Lifecycle
from .memory_ids import MemoryIds
from .models import (
    CURRENT,
    EVERY_STATUS,
    WITH_HISTORY,
    Action,
    AddResult,
    Caller,
    Counts,
    Filters,
    Layer,
    ListResult,
    Memory,
    MemoryChanges,
    NewMemory,
    SearchResult,
    Status,
    UpdateResult,
    embedded_text,
)
from .personal import Personal
from .place_settings import settle
from .places import Places
from .previous_database import TakenOver, take_over
from .query_tense import asks_for_earlier
from .query_time import load_time_words
from .recall import recall
from .room_detection import load_vocabulary
from .screen import HOME, Strictness
from .screen.gate import Gate
from .search import MemorySearch
from .standing_context import Profile, StandingContext, stored
from .text_input import check_id, clean_query
from .transaction import Transaction, Written
from .transfer.transfers import Transfers
from .tunnel_search import with_neighbours
from .usage import FLUSH_SECONDS, UsageLog
from .vector_index import Vector, VectorIndex
from .visibility import visible_to
from .workshop_places import WorkshopPlaces
from .workshop_rules import WorkshopRules
from .writer import MemoryWriter

FIRST_RETRY_SECONDS: Final = 5.0
LONGEST_RETRY_SECONDS: Final = 300.0

_LOGGER: Final = logging.getLogger(__name__)


class Spawn(Protocol):
    """Start a background task that its owner cancels when the memory is closed."""

    def __call__(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Return the running task."""


def spawn_task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Start a plain asyncio task, for use without Home Assistant."""
    return asyncio.create_task(work, name=name)


def utc_now() -> datetime:
    """Return the time of the machine."""
    return datetime.now(UTC)


class MemoryManager:
    """Add, find, change and delete memories on behalf of a caller."""

    def __init__(
        self,
        database: Database,
        engine: EmbeddingEngine,
        *,
        max_entries: int,
        query_timeout_seconds: float = DEFAULT_QUERY_TIMEOUT_SECONDS,
        clock: Clock = utc_now,
        local_now: Clock = utc_now,
        similarity_floor: float | None = None,
        layer_rules: LayerRules = LayerRules(),  # noqa: B008 - immutable
        home_screen: Strictness = HOME,
        distrusted: bool = False,
        retention_deleted_days: int = DEFAULT_RETENTION_DAYS,
        check_entity: EntityCheck = nobody_can_tell,
        workshop: WorkshopRules = WorkshopRules(),  # noqa: B008 - immutable
        workshop_places: WorkshopPlaces | None = None,
        spawn: Spawn = spawn_task,
    ) -> None:
        """Put the parts together; nothing is opened before ``open``."""
        self._database = database
        self._distrusted = distrusted
        self._engine = engine
        self._max_entries = max_entries
        self._layer_rules = layer_rules
        self._clock = clock
        self._local_now = local_now
        self.workshop: Final = workshop
        self._workshop_places = workshop_places
        self._spawn = spawn
        self.encoder: Final = Encoder(engine, query_timeout_seconds)
        self._writer = MemoryWriter(database, engine, check_entity)
        index = VectorIndex()
        self.floor: Final = SimilarityFloor(
            database, engine, index, lambda: self.counts().common, similarity_floor
        )
        self._upkeep = IndexUpkeep(database, self.encoder, self._writer, index, self.floor.renew)
        self.gate: Final = Gate(database, home_screen, clock)
        self._search = MemorySearch(
            database,
            self.encoder,
            index,
            floor=lambda: self.floor.value,
            local_now=local_now,
            gate=self.gate,
        )
        self.standing: Final = StandingContext(database)
        self.commits: Final = Commits(
            writer=self._writer,
            engine=engine,
            upkeep=self._upkeep,
            visibility=self._search.visibility,
            standing=self.standing,
            clock=clock,
        )
        self.anchors: Final = AnchorKeeper(database, self.commits, check_entity)
        self.personal: Final = Personal(database, self.commits, clock)
        self.lifecycle: Final = Lifecycle(
            database, self.commits, clock, retention_deleted_days, self.gate
        )
        self.places: Final = Places(database, self.commits, self._now_ms, self.gate)
        """The wings, rooms and tunnels."""
        self.ids: Final = MemoryIds(database)
        self._usage = UsageLog(database)
        self.transfers: Final = Transfers(
            database,
            self.commits,
            clock,
            self._flush_usage,
            lambda: self._max_entries,
            home_screen,
        )
        self._usage_noted = asyncio.Event()
        self.taken_over: TakenOver | None = None
        """What this start took over from the integration before, if anything."""
        self.salvaged: Salvaged | None = None
        """What this start saved from a damaged database, if it was damaged."""
        self._background: list[asyncio.Task[None]] = []
        self._check: asyncio.Task[str | None] | None = None
        self._hold: tuple[FileHold, asyncio.Task[None]] | None = None

    async def open(self) -> None:
        """Open the database, seed a new palace and start loading vectors in the background.

        A database that SQLite calls malformed is set aside, and what can be saved of it is opened;
        one that is distrusted is looked through as a whole first. Raises StorageError; a
        failing engine is only logged.
        """
        loop = asyncio.get_running_loop()
        path = self._database.path
        self.salvaged = await loop.run_in_executor(None, integrity.finish_repair, path)
        await loop.run_in_executor(None, load_vocabulary)
        await loop.run_in_executor(None, load_time_words)
        self.taken_over = await take_over(self._database.path, self._engine, self._now_ms())
        if self.taken_over is not None:
            # What came over must not make room for the next memory all at once.
            self._max_entries = max(self._max_entries, self.taken_over.total)
        if self._distrusted:
            self.salvaged = await integrity.repair(self._database.path, self._now_ms())
        try:
            await self._open_database()
        except StorageError as err:
            await self._database.close()
            if err.key != integrity.DAMAGED:
                raise
            self.salvaged = await integrity.repair(self._database.path, self._now_ms())
            if self.salvaged is None:
                raise
            await self._open_database()
        # Before anything is served: what lapsed while nobody looked.
        await self.lifecycle.lapse_due()
        try:
            await self._engine.start()
        except EngineError as err:
            _LOGGER.warning("Embedding engine %s did not start: %s", self._engine.name, err)
        self._background = [
            self._spawn(self._keep_vectors(), "ai_memory vectors"),
            self._spawn(self.encoder.keep_probing(), "ai_memory engine"),
            self._spawn(self._write_usage_behind(), "ai_memory usage"),
            self._spawn(settle(self.places, self._workshop_places), "ai_memory places"),
            self._spawn(self.lifecycle.keep_lapsing(), "ai_memory lapse"),
        ]

    async def _open_database(self) -> None:
        await self._database.open()
        async with self._database.transaction() as connection:
            await palace.seed(connection, memories.milliseconds(self._clock()))
            counted, size = await memories.census(connection), await palace.size(connection)
            last_change = await memories.last_change(connection)
            self.standing.load(await stored(connection))
            await self.anchors.load(connection)
            self._engine.remember(await vectors.fingerprints(connection))
        self.commits.load(Census(counted, size), last_change)

    async def close(self) -> None:
        """Finish what was begun, write what is pending and close the database."""
        stopped: list[asyncio.Task[Any]] = [*self._background]
        if self._check is not None:
            stopped.append(self._check)
        if self._hold is not None:
            stopped.append(self._hold[1])
        for task in stopped:
            task.cancel()
        await asyncio.gather(*stopped, return_exceptions=True)
        await self.commits.finish()
        await self._flush_usage()
        await self._engine.stop()
        await self._database.close()
        await self._search.close()

    async def hold_file(self) -> None:
        """Make the file complete by itself and keep it still, so that it can be copied.

        Who writes meanwhile waits, but not for long; see ``file_hold``. Raises StorageError.
        """
        await self.release_file()
        await self._flush_usage()
        hold = FileHold(self._database)
        self._hold = hold, self._spawn(hold.run(), "ai_memory backup")
        try:
            await hold.wait_until_still()
        except BaseException:
            _, task = self._hold
            task.cancel()
            self._hold = None
            raise

    async def release_file(self) -> None:
        """Let those go on who wait to write; nothing happens where the file is not held."""
        held, self._hold = self._hold, None
        if held is not None:
            hold, task = held
            hold.release()
            await asyncio.wait([task])

    async def find_damage(self) -> str | None:
        """Return what is wrong with the file on the disk, None if nothing. Raises StorageError.

        Nobody waits for it meanwhile; closing the memory ends it.
        """
        self._check = asyncio.create_task(integrity.find_damage(self._database.path))
        try:
            return await self._check
        finally:
            self._check = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener after each committed write; returns how to stop it."""
        return self.commits.subscribe(listener)

    @property
    def max_entries(self) -> int:
        """How many memories are kept."""
        return self._max_entries

    @property
    def engine_name(self) -> str:
        """Name of the embedding engine in use."""
        return self._engine.name

    @property
    def engine_fingerprint(self) -> str:
        """Engine, model and revision behind the current vectors."""
        return self._engine.fingerprint

    @property
    def vector_count(self) -> int:
        """How many memories can be found by meaning at the moment."""
        return len(self._upkeep.index)

    @property
    def pending_vectors(self) -> int | None:
        """How many memories still wait for their vector; words find them meanwhile.

        None at the start and after a change of engine, until they were counted.
        """
        return self._upkeep.pending

    async def wait_for_vectors(self) -> None:
        """Wait until every memory that can be found by meaning is."""
        await self._upkeep.wait_until_complete()

    @property
    def last_change(self) -> datetime | None:
        """When a memory was last written, None while there never was one."""
        return self.commits.last_change

    async def database_bytes(self) -> int:
        """Return the size of the database with its write-ahead log."""
        return await asyncio.get_running_loop().run_in_executor(None, self._database.size_bytes)

    def counts(self) -> Counts:
        """Return how many memories there are."""
        return self.commits.counts()

    async def prepare(self, caller: Caller, new: NewMemory) -> Addition:
        """Return a new memory as ``additions.add`` takes it.

        Raises InvalidInputError, ScreenedError where it holds a secret, and StorageError.
        """
        cleaned = cleaned_new(caller, new, self._clock(), self._local_now())
        await self.gate.admit(caller, texts_of(new))
        vector = await self._vector_of(embedded_text(cleaned.summary, cleaned.content))
        return Addition(new=cleaned, vector=vector, capacity=self._max_entries)

    async def count_private(self, agent: str) -> int:
        """Return how many private memories an agent owns. Raises StorageError."""
        async with self._database.reading() as connection:
            return await memories.count_private(connection, agent)

    async def add(self, caller: Caller, new: NewMemory) -> AddResult:
        """Store a memory, or refresh the one that already says it.

        Raises InvalidInputError, ScreenedError where it holds a secret, NotFoundError for the one
        to supersede, and StorageError.
        """
        addition = await self.prepare(caller, new)

        async def write() -> AddResult:
            if self.commits.of_home >= self._max_entries:
                # Who was used just now must not look unused.
                await self._usage.flush()
            return await self.commits.run(caller, partial(additions.add, addition=addition))

        return await self.commits.to_the_end(write())

    async def get(self, caller: Caller, memory_id: str) -> Memory:
        """Return one memory by id, also one that was replaced.

        Raises NotFoundError and StorageError.
        """
        check_id(memory_id)
        async with self._database.reading() as connection:
            memory = await memories.get(connection, caller, memory_id)
        if memory is None:
            raise NotFoundError("memory_not_found", id=memory_id)
        self.note_fetched(memory)
        return memory

    def note_fetched(self, memory: Memory) -> None:
        """Count that somebody read a memory."""
        self._usage.fetched(memory.sequence, self._clock())
        self._usage_noted.set()

    def note_returned(self, found: Iterable[Memory]) -> None:
        """Count memories that a search returned; see ``counted`` there."""
        sequences = [memory.sequence for memory in found]
        if sequences:
            self._usage.returned(sequences, self._clock())
            self._usage_noted.set()

    async def latest(self, caller: Caller, filters: Filters, limit: int) -> ListResult:
        """Return the most recently changed memories. Raises InvalidInputError and StorageError."""
        clause = visible_to(caller, cleaned_filters(caller, filters))
        async with self._database.reading() as connection:
            page, total = await memories.newest(connection, clause, limit)
            told = await memories.as_seen_by(connection, caller, page)
        return ListResult(memories=tuple(told), total=total)

    async def work(self, caller: Caller, limit: int) -> list[Memory]:
        """Return work that is open or done. Raises StorageError."""
        async with self._database.reading() as connection:
            return await work.listed(connection, visible_to(caller, Filters()), limit)

    async def search(
        self,
        caller: Caller,
        filters: Filters,
        query: str,
        limit: int,
        min_score: float | None = None,
        *,
        counted: bool = True,
    ) -> SearchResult:
        """Return the memories that answer a query best.

        A match by meaning needs the cosine ``min_score``, by default the floor of the model. A
        question for how things were also finds what was replaced. Where that is wanted, hits tell
        what they said before. Where it is not ``counted``, it is no use of what it finds unless
        that is noted. Raises InvalidInputError and StorageError.
        """
        cleaned, wanted = cleaned_filters(caller, filters), clean_query(query)
        if asks_for_earlier(wanted) and cleaned.statuses == CURRENT:
            cleaned = replace(cleaned, statuses=WITH_HISTORY)
        near = replace(cleaned, archived=cleaned.layer is Layer.ARCHIVE)
        archive = cleaned.layer is None and cleaned.archived and self._may_be_archived(cleaned)
        result = await self._search.find(caller, near, wanted, limit, min_score, archive=archive)
        result = await with_neighbours(
            self._database, self._search, caller, near, wanted, limit, min_score, result
        )
        if counted:
            self.note_returned(hit.memory for hit in result.hits)
        result = await self._as_seen_by(caller, result)
        if Status.SUPERSEDED not in cleaned.statuses:
            return result
        return await self.lifecycle.with_earlier(caller, result)

    def _may_be_archived(self, filters: Filters) -> bool:
        """Return whether the archive may hold something of that status; only live ones count."""
        return filters.statuses != CURRENT or self.counts().layers[Layer.ARCHIVE] > 0

    async def _as_seen_by(self, caller: Caller, result: SearchResult) -> SearchResult:
        """Return hits without the ids of memories that the caller may not see."""
        if all(hit.memory.superseded_by is None for hit in result.hits):
            return result
        async with self._database.reading() as connection:
            told = await memories.as_seen_by(
                connection, caller, [hit.memory for hit in result.hits]
            )
        pairs = zip(result.hits, told, strict=True)
        return replace(result, hits=tuple(replace(hit, memory=memory) for hit, memory in pairs))

    def standing_text(self, caller: Caller, profile: Profile) -> str:
        """Return what an agent knows without asking, which counts as used: nobody looks for it."""
        standing = self.standing.of(caller, profile)
        if self._usage.stood(standing.sequences, self._clock()):
            self._usage_noted.set()
        return standing.text

    async def recall(self, caller: Caller, sentence: str, profile: Profile) -> str:
        """Return what may bear on a sentence just spoken and does not stand in the prompt yet."""
        return await recall(self._search, caller, sentence, self.standing.of(caller, profile))

    async def update(
        self, caller: Caller, memory_id: str, changes: MemoryChanges, revision: int | None = None
    ) -> UpdateResult:
        """Change a memory, at the revision if one is given.

        Raises NotFoundError, InvalidInputError, ScreenedError where what is new holds a secret,
        ConflictError and StorageError.
        """
        check_id(memory_id)
        cleaned = cleaned_changes(caller, changes, self._clock(), self._local_now())
        await self.gate.admit(caller, texts_of(changes), memory_id)
        vector = None
        if cleaned.content:
            text = embedded_text(cleaned.summary or "", cleaned.content)
            vector = await self._vector_of(text)

        async def work(write: Transaction) -> tuple[UpdateResult, list[Written]]:
            memory, written = await memory_changes.update(
                write, memory_id, cleaned, vector, revision
            )
            return UpdateResult(memory=memory, changed=bool(written)), written

        return await self.commits.run(caller, work)

    async def delete(
        self,
        caller: Caller,
        memory_id: str | None,
        filters: Filters,
        *,
        restorable: bool = False,
    ) -> tuple[str, ...]:
        """Delete one memory by id, or all that match the filters, at once; returns their ids.

        What is to stay ``restorable`` for days is only forgotten. Raises InvalidInputError when
        neither is given, NotFoundError for an id and StorageError.
        """
        cleaned = cleaned_filters(caller, filters)
        if memory_id is None and cleaned.empty:
            raise InvalidInputError("filter_required")
        if restorable:
            return await self.lifecycle.forget_all(caller, memory_id, cleaned)
        everything = replace(cleaned, statuses=EVERY_STATUS)
        return await self.lifecycle.delete(caller, memory_id, everything, None)

    async def maintain(self, *, dry_run: bool = False) -> list[LayerMove]:
        """Move memories between the layers; returns the moves that were made. Raises StorageError.

        What was forgotten long ago is removed for good. A dry run only tells what would move.
        """
        await self._usage.flush()
        moves: list[LayerMove] = []
        loop, after = asyncio.get_running_loop(), 0
        while True:
            async with self._database.reading() as connection:
                batch = await layers.due(connection, self._layer_rules, self._now_ms(), after)
            if not batch:
                break
            after = batch[-1].memory.sequence
            batch = await loop.run_in_executor(None, layers.movable, batch)
            moves += batch if dry_run else await self._move(batch)
        if not dry_run:
            await self.lifecycle.purge()
        return moves

    async def _move(self, batch: list[LayerMove]) -> list[LayerMove]:
        """Move what is still due once nobody else writes; returns the moves that were made."""
        sequences = [one.memory.sequence for one in batch]

        async def work(write: Transaction) -> tuple[list[LayerMove], list[Written]]:
            moves, changes = await layers.move(
                write.connection, self._layer_rules, write.now_ms, sequences
            )
            return moves, [await write.record(Action.MOVED, changes)] if changes else []

        return await self.commits.run(MAINTENANCE, work)

    async def _flush_usage(self) -> None:
        try:
            await self._usage.flush()
        except StorageError as err:
            _LOGGER.warning("Usage counts could not be written: %s", err)

    def _now_ms(self) -> int:
        return memories.milliseconds(self._clock())

    async def _vector_of(self, text: str) -> Vector | None:
        """Return the vector of a text at once where that takes no network and no waiting."""
        if not self._engine.local or self.pending_vectors:
            return None
        try:
            vector: Vector = (await self._engine.embed([text], TextKind.DOCUMENT))[0]
        except EngineError as err:
            _LOGGER.warning("Engine %s could not embed a memory: %s", self._engine.name, err)
            return None
        return vector

    async def _keep_vectors(self) -> None:
        """Keep the vectors complete; a failing database is tried again, less and less often."""
        stop = self.encoder.subscribe(self._upkeep.engine_returned)
        pause = FIRST_RETRY_SECONDS
        try:
            while True:
                try:
                    await self._upkeep.keep_up(self.commits.counts().common)
                except StorageError as err:
                    _LOGGER.warning("Vectors are incomplete, trying again later: %s", err)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_RETRY_SECONDS)
        finally:
            stop()

    async def _write_usage_behind(self) -> None:
        """Write usage counts some seconds after the first use that is not yet written."""
        while await self._usage_noted.wait():
            await asyncio.sleep(FLUSH_SECONDS)
            self._usage_noted.clear()
            try:
                await self._usage.flush()
            except StorageError as err:
                _LOGGER.warning("Usage counts could not be written yet: %s", err)
