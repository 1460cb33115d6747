"""Storing what was read: each memory once, in transactions that hold nobody up.

The manager makes one ``Importer`` for an import. Whether a memory is known is decided in the same
transaction that stores it, and only by what the caller may see: of others' private memories an
import tells nothing. Nothing that is stored makes room for an import; what does not fit is refused.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final

import aiosqlite
from ulid_transform import ulid_at_time

from .. import memories, palace
from ..database import Database
from ..models import DEFAULT_TYPE, LIVE, Access, Action, Caller, Layer, Memory, Scope, Status
from ..screen import Strictness
from ..transaction import MemoryChange, Transaction, Written
from ..visibility import SqlValue
from . import repository
from .asking import SKIPPED_TOLD, ImportReport, ImportRequest, without_cycles
from .furnishing import LINES_AT_ONCE, Furnisher, Line
from .preparing import (
    Defaults,
    Owner,
    Prepared,
    attached_of,
    believed,
    in_the_same_hands,
    owner_of,
    prepare,
    source_of,
)
from .reading import read
from .renewing import renew
from .values import ImportedMemory, Skipped, SkipReason, TransferFormat

BATCH_MEMORIES: Final = 25
"""Memories of one transaction: others write and the event loop runs between two of them."""

LINKED_AT_ONCE: Final = 200


type Store = Callable[[Sequence[Prepared]], Awaitable[None]]
type Link = Callable[[Sequence[tuple[int, int]]], Awaitable[None]]
type Furnish = Callable[[Furnisher, Sequence[Line]], Awaitable[list[Skipped]]]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where and whose a memory would be; the room may not exist yet."""

    room_id: int | None
    scope: Scope
    owner: Owner


class Importer:
    """One import on behalf of one caller."""

    def __init__(self, database: Database, caller: Caller, home: Strictness) -> None:
        """Nothing is read before ``run``; ``home`` is how strictly the home is screened."""
        self._database = database
        self._caller = caller
        self._home = home
        self._format = TransferFormat.AUTO
        self._all_owners = Access.ADMIN in caller.access
        self._seen: set[object] = set()
        self._furnisher = Furnisher(caller, home, dry_run=True)
        self._sequences: dict[str, int] = {}
        self._replaced: dict[str, str] = {}
        self._told_ids: frozenset[str | None] = frozenset()
        self._skipped: list[Skipped] = []
        self._added = self._known = self._updated = self._refused = self._skipped_count = 0

    async def run(
        self,
        request: ImportRequest,
        store: Store,
        link: Link,
        furnish: Furnish,
        room_left: int,
    ) -> ImportReport:
        """Read everything, then store it batch by batch. Raises StorageError.

        What was committed until an error stays; importing again goes on where it ended.
        """
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(None, read, request.data, request.format)
        self._format = found.format
        self._furnisher.dry_run = request.dry_run
        self._skipped, self._skipped_count = list(found.skipped), found.skipped_count
        self._told_ids = frozenset(one.id for one in found.memories)
        for batch in batched(found.memories, BATCH_MEMORIES, strict=False):
            prepared = await loop.run_in_executor(None, self._prepare, batch, request.defaults)
            if request.dry_run:
                room_left = await self._rehearse(prepared, room_left)
            else:
                await store(prepared)
        links = await loop.run_in_executor(None, without_cycles, self._sequences, self._replaced)
        for linked in batched(links, LINKED_AT_ONCE, strict=False):
            await link(linked)
        palace_lines: tuple[Line, ...] = (*found.places, *found.tunnels)
        for lines in batched(palace_lines, LINES_AT_ONCE, strict=False):
            for skipped in await furnish(self._furnisher, lines):
                self._skip(skipped)
        return ImportReport(
            format=found.format,
            places=self._furnisher.places,
            tunnels=self._furnisher.tunnels,
            dry_run=request.dry_run,
            added=self._added,
            known=self._known,
            updated=self._updated,
            refused=self._refused,
            skipped=self._skipped_count,
            skipped_lines=tuple(sorted(self._skipped, key=lambda one: one.line)[:SKIPPED_TOLD]),
        )

    async def store(
        self, write: Transaction, batch: Sequence[Prepared], room_left: int
    ) -> list[Written]:
        """Store in the running transaction what of a batch is new and fits."""
        added: list[MemoryChange] = []
        updated: list[MemoryChange] = []
        connection, now_ms = write.connection, write.now_ms
        for one in batch:
            place = await self._place(connection, one)
            if place is None:
                continue
            existing = await self._existing(connection, one, place)
            if existing is not None:
                after = await self._renew(write, one, place, existing)
                if after is not None:
                    updated.append((existing, after))
            elif self._is_new(one, place, room_left):
                memory = await self._insert(connection, one, place, now_ms)
                room_left -= memory.takes_room
                added.append((None, memory))
        told = ((Action.ADDED, added), (Action.UPDATED, updated))
        return [await write.record(action, changes) for action, changes in told if changes]

    def _prepare(self, batch: Sequence[ImportedMemory], defaults: Defaults) -> list[Prepared]:
        prepared = []
        for told in batch:
            one = prepare(told, self._caller, defaults, self._home)
            if isinstance(one, Prepared):
                prepared.append(one)
            else:
                self._skip(one)
        return prepared

    def _skip(self, skipped: Skipped) -> None:
        self._skipped_count += 1
        self._skipped.append(skipped)

    async def _rehearse(self, batch: Sequence[Prepared], room_left: int) -> int:
        """Count what storing a batch would do; returns how much room it would leave."""
        async with self._database.reading() as connection:
            for one in batch:
                place = await self._place(connection, one)
                if place is None:
                    continue
                existing = await self._existing(connection, one, place)
                if existing is None:
                    room_left -= self._is_new(one, place, room_left) and one.takes_room
                else:
                    await self._is_newer(connection, one, place, existing)
        return room_left

    async def _place(self, connection: aiosqlite.Connection, one: Prepared) -> _Place | None:
        """Return where and whose the memory would be, None where it would be nobody's."""
        room_id, default_scope = await repository.place(connection, one.wing, one.room)
        scope = one.scope or default_scope or Scope.COMMON
        owner = owner_of(one.told, scope, self._caller)
        if owner is None:
            self._skip(Skipped(one.told.line, SkipReason.NOBODY))
            return None
        self._furnisher.meet(one.wing, one.room, scope)
        return _Place(room_id, scope, owner)

    async def _existing(
        self, connection: aiosqlite.Connection, one: Prepared, place: _Place
    ) -> Memory | None:
        """Return the memory that this one is, as far as the caller may see it."""
        existing = None
        if one.told.id is not None:
            existing = await repository.by_id(
                connection, self._caller, one.told.id, all_owners=self._all_owners
            )
        if existing is None and await self._may_be_told_anew(connection, one):
            existing = await repository.stated(
                connection, self._caller, one, place.scope, place.owner, place.room_id
            )
        if existing is not None and one.told.id is not None:
            self._sequences[one.told.id] = existing.sequence
        return existing

    async def _may_be_told_anew(self, connection: aiosqlite.Connection, one: Prepared) -> bool:
        """Return whether another memory may be this one by its text.

        What was replaced keeps its own place in history, however often the same was said.
        """
        told = one.told
        if told.id is None or told.status is not Status.SUPERSEDED:
            return True
        return await repository.is_taken(connection, told.id)

    def _is_new(self, one: Prepared, place: _Place, room_left: int) -> bool:
        """Return whether to add a memory that is not stored, and count what becomes of it."""
        key: object = (one.digest, place.scope, place.owner, one.told.status)
        if one.told.status is Status.SUPERSEDED and one.told.id is not None:
            key = one.told.id
        elif one.placed:
            key = (key, one.wing, one.room)
        if key in self._seen:
            self._known += 1
            return False
        if one.takes_room and room_left <= 0:
            self._refused += 1
            return False
        self._seen.add(key)
        self._added += 1
        return True

    async def _is_newer(
        self, connection: aiosqlite.Connection, one: Prepared, place: _Place, existing: Memory
    ) -> bool:
        """Return whether to renew a stored memory, and count what becomes of this one."""
        newer = (
            one.told.id == existing.id
            and existing.live
            and one.told.revision > existing.revision
            # Nothing is retired without what replaced it.
            and (one.told.status in LIVE or one.told.superseded_by in self._told_ids)
            and in_the_same_hands(existing, place.scope, place.owner)
        )
        if newer:
            other = await repository.stated(
                connection, self._caller, one, place.scope, place.owner, place.room_id
            )
            newer = other is None or other.sequence == existing.sequence
        if newer and not believed(self._caller):
            self._skip(Skipped(one.told.line, SkipReason.NOT_RENEWED))
            return False
        self._updated += newer
        self._known += not newer
        return newer

    async def _insert(
        self, connection: aiosqlite.Connection, one: Prepared, place: _Place, now_ms: int
    ) -> Memory:
        told = one.told
        memory_id = told.id
        if memory_id is None or await repository.is_taken(connection, memory_id):
            memory_id = ulid_at_time(now_ms / 1000)
        memory = await memories.insert(
            connection,
            {
                **await self._values(connection, one, place, now_ms),
                "id": memory_id,
                "type": told.type or DEFAULT_TYPE,
                "language": told.language or (None if told.id else self._caller.language),
                "source": source_of(one, self._caller) or f"import_{self._format}",
            },
        )
        await repository.set_usage(connection, memory.sequence, told.usage)
        self._note_chain(told, memory.sequence)
        belonging = attached_of(one, place.owner, self._caller)
        await repository.attach(connection, memory.sequence, belonging)
        stamp = repository.stamped(told, now_ms)
        return await repository.stamp(connection, memory.sequence, stamp)

    async def _renew(
        self, write: Transaction, one: Prepared, place: _Place, existing: Memory
    ) -> Memory | None:
        """Bring a stored memory to a later revision of itself."""
        connection = write.connection
        if not await self._is_newer(connection, one, place, existing):
            return None
        self._note_chain(one.told, existing.sequence)
        values = await self._values(connection, one, place, write.now_ms)
        stamp = repository.stamped(one.told, write.now_ms)
        belonging = attached_of(one, place.owner, self._caller)
        return await renew(write, existing, values, stamp, belonging)

    def _note_chain(self, told: ImportedMemory, sequence: int) -> None:
        """Remember where a memory is stored and what replaced it, to be linked in the end."""
        if told.id is not None:
            self._sequences[told.id] = sequence
            if told.superseded_by is not None:
                self._replaced[told.id] = told.superseded_by

    async def _values(
        self, connection: aiosqlite.Connection, one: Prepared, place: _Place, now_ms: int
    ) -> dict[str, SqlValue]:
        room_id = place.room_id
        if room_id is None:
            room_id = (await palace.ensure_place(connection, one.wing, one.room, now_ms)).room_id
        return {
            "content": one.content,
            "summary": one.summary,
            "restatement": one.digest,
            "room_id": room_id,
            "scope": place.scope,
            "owner_agent": place.owner.agent,
            "owner_user": place.owner.user,
            "layer": one.told.layer or Layer.STANDARD,
            "pinned": one.told.pinned,
            "now_ms": now_ms,
        }
