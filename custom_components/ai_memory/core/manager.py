"""The memory itself: what every operation calls, and the only place that knows all its parts.

One manager per config entry. It cleans what callers send, hands writes to the writer and reads to
the repositories and the search, and keeps index, census, usage and listeners up to date with every
commit. It knows nothing of Home Assistant: the function it is given starts background tasks.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime
import logging
from typing import Any, Final, Protocol

from ..embedding.protocol import EmbeddingEngine, EngineError, TextKind
from . import integrity, layers, memories, palace, vectors
from .calibration import SimilarityFloor
from .census import Census
from .database import Database
from .encoder import DEFAULT_QUERY_TIMEOUT_SECONDS, Encoder
from .errors import InvalidInputError, NotFoundError, StorageError
from .file_hold import FileHold
from .index_upkeep import CHANGES_AT_ONCE, IndexUpkeep
from .integrity import Salvaged
from .layers import LayerMove, LayerRules
from .models import (
    AddResult,
    Caller,
    Change,
    Counts,
    Filters,
    Layer,
    ListResult,
    Memory,
    MemoryChanges,
    NewMemory,
    Scope,
    SearchResult,
    UpdateResult,
)
from .previous_database import TakenOver, take_over
from .query_time import load_time_words
from .room_detection import load_vocabulary
from .search import MemorySearch
from .standing_context import MEMORIES_KEPT, StandingContext
from .text_input import (
    SUMMARY_LIMIT_CHARACTERS,
    check_id,
    clean_content,
    clean_query,
    clean_text,
    place_name,
    wing_name,
)
from .usage import FLUSH_SECONDS, UsageLog
from .vector_index import Vector, VectorIndex
from .visibility import visible_to
from .writer import MemoryWriter, Written

FIRST_RETRY_SECONDS: Final = 5.0
LONGEST_RETRY_SECONDS: Final = 300.0

_LOGGER: Final = logging.getLogger(__name__)

type Clock = Callable[[], datetime]
type Listener = Callable[[Change], None]


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
        distrusted: bool = False,
        spawn: Spawn = spawn_task,
    ) -> None:
        """Put the parts together; nothing is opened before ``open``."""
        self._database = database
        self._distrusted = distrusted
        self._engine = engine
        self._max_entries = max_entries
        self._layer_rules = layer_rules
        self._clock = clock
        self._spawn = spawn
        self.encoder: Final = Encoder(engine, query_timeout_seconds)
        self._writer = MemoryWriter(database, engine)
        index = VectorIndex()
        self.floor: Final = SimilarityFloor(
            database, engine, index, lambda: self.counts().common, similarity_floor
        )
        self._upkeep = IndexUpkeep(database, self.encoder, self._writer, index, self.floor.renew)
        self._search = MemorySearch(
            database, self.encoder, index, lambda: self.floor.value, local_now
        )
        self.standing: Final = StandingContext()
        self._usage = UsageLog(database)
        self._usage_noted = asyncio.Event()
        self._census = Census([], (0, 0))
        self._last_change: datetime | None = None
        self.taken_over: TakenOver | None = None
        """What this start took over from the integration before, if anything."""
        self.salvaged: Salvaged | None = None
        """What this start saved from a damaged database, if it was damaged."""
        self._listeners: list[Listener] = []
        self._writes: set[asyncio.Task[Any]] = set()
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
        try:
            await self._engine.start()
        except EngineError as err:
            _LOGGER.warning("Embedding engine %s did not start: %s", self._engine.name, err)
        self._background = [
            self._spawn(self._keep_vectors(), "ai_memory vectors"),
            self._spawn(self.encoder.keep_probing(), "ai_memory engine"),
            self._spawn(self._write_usage_behind(), "ai_memory usage"),
        ]

    async def _open_database(self) -> None:
        await self._database.open()
        async with self._database.transaction() as connection:
            await palace.seed(connection, memories.milliseconds(self._clock()))
            counted, size = await memories.census(connection), await palace.size(connection)
            self._last_change = await memories.last_change(connection)
            self.standing.load(await memories.critical(connection, MEMORIES_KEPT))
            self._engine.remember(await vectors.fingerprints(connection))
        self._census = Census(counted, size)
        self._writer.total = self._census.total

    async def close(self) -> None:
        """Finish what was begun, write what is pending and close the database."""
        stopped: list[asyncio.Task[Any]] = [*self._background]
        if self._check is not None:
            stopped.append(self._check)
        if self._hold is not None:
            stopped.append(self._hold[1])
        for task in stopped:
            task.cancel()
        await asyncio.gather(*stopped, *self._writes, return_exceptions=True)
        await self._flush_usage()
        await self._engine.stop()
        await self._database.close()

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
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

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
    def pending_vectors(self) -> int:
        """How many memories still wait for their vector; words find them meanwhile."""
        return self._upkeep.pending

    async def wait_for_vectors(self) -> None:
        """Wait until every memory that can be found by meaning is."""
        await self._upkeep.wait_until_complete()

    @property
    def last_change(self) -> datetime | None:
        """When a memory was last written, None while there never was one."""
        return self._last_change

    async def database_bytes(self) -> int:
        """Return the size of the database with its write-ahead log."""
        return await asyncio.get_running_loop().run_in_executor(None, self._database.size_bytes)

    def counts(self) -> Counts:
        """Return how many memories there are."""
        return self._census.counts()

    async def add(self, caller: Caller, new: NewMemory) -> AddResult:
        """Store a memory, or refresh the one that already says it.

        Raises InvalidInputError and StorageError.
        """
        content = clean_content(new.content)
        summary = clean_text(new.summary, "summary", SUMMARY_LIMIT_CHARACTERS)
        wing, room = palace.choose_place(
            wing_name(caller, new.wing), place_name(new.room, "room"), f"{content} {summary}"
        )
        cleaned = replace(new, content=content, summary=summary, wing=wing, room=room)
        vector = await self._vector_of(content)

        async def write() -> AddResult:
            if self._writer.total >= self._max_entries:
                # Who was used just now must not look unused.
                await self._usage.flush()
            result, written = await self._writer.add(
                caller, cleaned, vector, self._now_ms(), self._max_entries
            )
            await self._committed(written)
            return result

        return await self._run_to_the_end(write())

    async def get(self, caller: Caller, memory_id: str) -> Memory:
        """Return one memory by id. Raises NotFoundError and StorageError."""
        check_id(memory_id)
        async with self._database.reading() as connection:
            memory = await memories.get(connection, caller, memory_id)
        if memory is None:
            raise NotFoundError("memory_not_found", id=memory_id)
        self._usage.fetched(memory.sequence, self._clock())
        self._usage_noted.set()
        return memory

    async def latest(self, caller: Caller, filters: Filters, limit: int) -> ListResult:
        """Return the most recently changed memories. Raises InvalidInputError and StorageError."""
        clause = visible_to(caller, _cleaned_filters(caller, filters))
        async with self._database.reading() as connection:
            page, total = await memories.newest(connection, clause, limit)
        return ListResult(memories=tuple(page), total=total)

    async def search(
        self,
        caller: Caller,
        filters: Filters,
        query: str,
        limit: int,
        min_score: float | None = None,
    ) -> SearchResult:
        """Return the memories that answer a query best.

        A match by meaning needs the cosine ``min_score``, by default the floor of the model. Raises
        InvalidInputError and StorageError.
        """
        cleaned, wanted = _cleaned_filters(caller, filters), clean_query(query)
        near = replace(cleaned, archived=cleaned.layer is Layer.ARCHIVE)
        result = await self._search.find(caller, near, wanted, limit, min_score)
        if not result.hits and cleaned.layer is None and self.counts().layers[Layer.ARCHIVE]:
            result = await self._search.find(caller, cleaned, wanted, limit, min_score)
        if result.hits:
            self._usage.returned((hit.memory.sequence for hit in result.hits), self._clock())
            self._usage_noted.set()
        return result

    async def update(self, caller: Caller, memory_id: str, changes: MemoryChanges) -> UpdateResult:
        """Change a memory. Raises NotFoundError, InvalidInputError and StorageError."""
        check_id(memory_id)
        content, summary = changes.content, changes.summary
        cleaned = replace(
            changes,
            content=None if content is None else clean_content(content),
            summary=None
            if summary is None
            else clean_text(summary, "summary", SUMMARY_LIMIT_CHARACTERS),
            wing=wing_name(caller, changes.wing),
            room=place_name(changes.room, "room"),
        )
        vector = await self._vector_of(cleaned.content) if cleaned.content else None

        async def write() -> UpdateResult:
            memory, written = await self._writer.update(
                caller, memory_id, cleaned, vector, self._now_ms()
            )
            await self._committed(written)
            return UpdateResult(memory=memory, changed=bool(written))

        return await self._run_to_the_end(write())

    async def delete(
        self, caller: Caller, memory_id: str | None, filters: Filters
    ) -> tuple[str, ...]:
        """Delete one memory by id, or all that match the filters; returns the deleted ids.

        Raises InvalidInputError when neither is given, NotFoundError for an id and StorageError.
        """
        cleaned = _cleaned_filters(caller, filters)
        if memory_id is not None:
            check_id(memory_id)
        elif cleaned.empty:
            raise InvalidInputError("filter_required")

        async def write() -> tuple[str, ...]:
            written = await self._writer.delete(caller, memory_id, cleaned, self._now_ms())
            if written:
                await self._committed(written)
                await self._database.erase_traces()
            return tuple(before.id for change in written for before, _ in change.changes if before)

        return await self._run_to_the_end(write())

    async def maintain(self, *, dry_run: bool = False) -> list[LayerMove]:
        """Move memories between the layers; returns all moves that were due. Raises StorageError.

        A dry run tells what would move and moves nothing.
        """
        await self._usage.flush()
        moves: list[LayerMove] = []
        after = 0
        while True:
            async with self._database.reading() as connection:
                batch = await layers.due(connection, self._layer_rules, self._now_ms(), after)
            if not batch:
                return moves
            after = batch[-1].memory.sequence
            moves += batch
            if not dry_run:
                await self._run_to_the_end(self._move(batch))

    async def _move(self, moves: list[LayerMove]) -> None:
        caller = Caller(source="maintenance")
        await self._committed(await self._writer.move_layers(caller, moves, self._now_ms()))

    async def _flush_usage(self) -> None:
        try:
            await self._usage.flush()
        except StorageError as err:
            _LOGGER.warning("Usage counts could not be written: %s", err)

    def _now_ms(self) -> int:
        return memories.milliseconds(self._clock())

    async def _vector_of(self, content: str) -> Vector | None:
        """Return the vector of a text at once when that takes no network, else None."""
        if not self._engine.local:
            return None
        try:
            vector: Vector = (await self._engine.embed([content], TextKind.DOCUMENT))[0]
        except EngineError as err:
            _LOGGER.warning("Engine %s could not embed a memory: %s", self._engine.name, err)
            return None
        return vector

    async def _run_to_the_end[T](self, write: Coroutine[Any, Any, T]) -> T:
        """Let a write finish even when its caller is cancelled, so that all stays in step."""
        task = asyncio.create_task(write)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        return await asyncio.shield(task)

    async def _committed(self, written: list[Written]) -> None:
        """Bring everything kept in memory up to date with a commit, then tell the listeners."""
        for one in written:
            self._census.palace = one.palace
            for number, (before, after) in enumerate(one.changes, start=1):
                if before is not None and before.live:
                    self._census.remove(before)
                if after is not None and after.live:
                    self._census.add(after)
                if not number % CHANGES_AT_ONCE:
                    await asyncio.sleep(0)
            self.standing.follow(one.changes)
            await self._upkeep.apply(one)
        self._search.visibility.changed(
            changed.sequence
            for one in written
            for before, after in one.changes
            if (changed := after or before)
        )
        for one in written:
            self._last_change = self._clock()
            await self._learn(one)
            self._tell(_change(one, self.counts(), self._last_change))

    def _tell(self, change: Change) -> None:
        """Tell every listener; what was committed stays committed whatever they do."""
        for listener in list(self._listeners):
            try:
                listener(change)
            except Exception:
                _LOGGER.exception("A listener failed")

    async def _learn(self, written: Written) -> None:
        """Tell the engine which documents came and went."""
        # Statistics show in everybody's scores, so they rest on what everybody may know.
        texts = [
            (_common_content(before), _common_content(after)) for before, after in written.changes
        ]
        removed = [before for before, after in texts if before and before != after]
        added = [after for before, after in texts if after and before != after]
        if added or removed:
            await self._engine.observe(added, removed)

    async def _keep_vectors(self) -> None:
        """Keep the vectors complete; a failing database is tried again, less and less often."""
        stop = self.encoder.subscribe(self._upkeep.engine_returned)
        pause = FIRST_RETRY_SECONDS
        try:
            while True:
                try:
                    await self._upkeep.keep_up(self._census.counts().common)
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


def _cleaned_filters(caller: Caller, filters: Filters) -> Filters:
    return replace(
        filters, wing=wing_name(caller, filters.wing), room=place_name(filters.room, "room")
    )


def _change(written: Written, counts: Counts, at: datetime) -> Change:
    """Return what listeners are told of one write."""
    subjects = [subject for before, after in written.changes if (subject := after or before)]
    # The names of places may tell what a private memory is about.
    public = subjects if all(subject.scope is Scope.COMMON for subject in subjects) else []
    return Change(
        action=written.action,
        memory_ids=tuple(subject.id for subject in subjects),
        scope=_shared([subject.scope for subject in subjects]),
        wing=_shared([subject.wing for subject in public]),
        room=_shared([subject.room for subject in public]),
        counts=counts,
        at=at,
    )


def _common_content(memory: Memory | None) -> str | None:
    return memory.content if memory is not None and memory.scope is Scope.COMMON else None


def _shared[T](values: list[T]) -> T | None:
    """Return the value that all have in common, if they do."""
    return values[0] if len(set(values)) == 1 else None
