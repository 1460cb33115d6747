"""Writes from their first statement to the last listener: nothing kept in memory falls behind.

The manager runs every write that changes memories here. Index, census, standing context, the sets
of what is visible and the statistics of the engine follow each commit, even where the caller is
cancelled meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
import logging
from typing import Any, Final

import aiosqlite

from ..embedding.protocol import EmbeddingEngine
from . import memories, palace
from .census import Census
from .index_upkeep import CHANGES_AT_ONCE, IndexUpkeep
from .lapse import Lapse
from .memories import milliseconds
from .models import Action, Caller, Change, Counts, Memory, Scope
from .standing_context import StandingContext, stored
from .transaction import Transaction, Written
from .visibility_cache import VisibilityCache
from .writer import MemoryWriter, Work

_LOGGER: Final = logging.getLogger(__name__)

MAINTENANCE: Final = Caller(source="maintenance")
"""On whose behalf the memory changes what nobody asked it to."""

type Clock = Callable[[], datetime]
type Rearrangement[T] = Callable[[aiosqlite.Connection], Awaitable[T]]
"""A change of wings, rooms and tunnels."""
type Listener = Callable[[Change], None]


class Commits:
    """Runs writes one after the other and tells of them."""

    def __init__(
        self,
        *,
        writer: MemoryWriter,
        engine: EmbeddingEngine,
        upkeep: IndexUpkeep,
        visibility: VisibilityCache,
        standing: StandingContext,
        clock: Clock,
    ) -> None:
        """Keep what follows each commit."""
        self._writer = writer
        self._engine = engine
        self._upkeep = upkeep
        self._visibility = visibility
        self._standing = standing
        self._clock = clock
        self.lapse: Final = Lapse()
        self.census = Census([], (0, 0))
        self.last_change: datetime | None = None
        """When a memory was last written, None while there never was one."""
        self._listeners: list[Listener] = []
        self._running: set[asyncio.Task[Any]] = set()
        self._following = asyncio.Lock()

    def load(self, census: Census, last_change: datetime | None) -> None:
        """Start from what an opened database holds."""
        self.census, self.last_change = census, last_change
        self._writer.of_home = census.of_home

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener after each committed write; returns how to stop it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def counts(self) -> Counts:
        """Return how many memories there are."""
        return self.census.counts()

    @property
    def of_home(self) -> int:
        """How many count towards the capacity, with those of a commit that is just told of."""
        return self._writer.of_home

    async def run[T](self, caller: Caller, work: Work[T]) -> T:
        """Do the work in one transaction and tell of it; cancelling the caller does not stop it.

        Raises StorageError and what the work raises.
        """

        async def write() -> T:
            result, written = await self._writer.run(caller, milliseconds(self._clock()), work)
            await self._follow(written)
            return result

        return await self.to_the_end(write())

    async def rearrange[T](self, work: Rearrangement[T]) -> T:
        """Change the palace in one transaction, then look at everything anew.

        Raises StorageError and what the work raises.
        """

        async def recounted(
            write: Transaction,
        ) -> tuple[tuple[T, Census, list[Memory]], list[Written]]:
            result = await work(write.connection)
            # What was committed before has to be counted before, as it is counted here.
            async with self._following:
                counted = await memories.census(write.connection)
                census = Census(counted, await palace.size(write.connection))
                critical = await stored(write.connection)
            return (result, census, critical), []

        async def write() -> T:
            now_ms = milliseconds(self._clock())
            (result, census, critical), _ = await self._writer.run(MAINTENANCE, now_ms, recounted)
            self.census, self.last_change = census, self._clock()
            self._standing.load(critical)
            self._visibility.forget()
            self._tell(_rearranged(self.counts(), self.last_change))
            return result

        return await self.to_the_end(write())

    async def to_the_end[T](self, write: Coroutine[Any, Any, T]) -> T:
        """Let a write finish even when its caller is cancelled, so that all stays in step."""
        task = asyncio.create_task(write)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait for the writes that are under way."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _follow(self, written: list[Written]) -> None:
        """Bring everything kept in memory up to date with a commit, then tell the listeners."""
        async with self._following:
            for one in written:
                self.census.palace = one.palace
                for number, (before, after) in enumerate(one.changes, start=1):
                    if before is not None and before.live:
                        self.census.remove(before)
                    if after is not None and after.live:
                        self.census.add(after)
                    if not number % CHANGES_AT_ONCE:
                        await asyncio.sleep(0)
                await self._standing.follow(one.changes)
                self.lapse.follow(one.changes)
                await self._upkeep.apply(one)
        self._visibility.changed(
            changed.sequence
            for one in written
            for before, after in one.changes
            if (changed := after or before)
        )
        for one in written:
            self.last_change = self._clock()
            await self._learn(one)
            self._tell(_change(one, self.counts(), self.last_change))

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
        versions=written.changes,
    )


def _rearranged(counts: Counts, at: datetime) -> Change:
    """Return what listeners are told of a change of the palace: no place and no memory."""
    return Change(
        action=Action.MOVED, memory_ids=(), scope=None, wing=None, room=None, counts=counts, at=at
    )


def _common_content(memory: Memory | None) -> str | None:
    if memory is None or not memory.live or memory.scope is not Scope.COMMON:
        return None
    return memory.content


def _shared[T](values: list[T]) -> T | None:
    """Return the value that all have in common, if they do."""
    return values[0] if len(set(values)) == 1 else None
