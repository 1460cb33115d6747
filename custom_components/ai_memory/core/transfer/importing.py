"""Storing what was read: each memory once, in transactions that hold nobody up.

The manager makes one ``Importer`` for an import. Whether a memory is known is decided in the same
transaction that stores it, and only by what the caller may see: of others' private memories an
import tells nothing. Nothing that is stored makes room for an import; what does not fit is refused.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import batched
from typing import Final

import aiosqlite

from ..database import Database
from ..models import LIVE, Access, Action, Caller, Memory, Scope, Status
from ..screen import Strictness
from ..transaction import MemoryChange, Transaction, Written
from . import repository, storing
from .asking import SKIPPED_TOLD, ImportReport, ImportRequest
from .furnishing import LINES_AT_ONCE, Furnisher, Line
from .linking import Link, Links, in_batches
from .preparing import (
    Defaults,
    Prepared,
    believed,
    check_wings,
    in_the_same_hands,
    owner_of,
    prepare,
)
from .reading import read
from .storing import Spot
from .values import ImportedMemory, Skipped, SkipReason, TransferFormat

BATCH_MEMORIES: Final = 25
"""Memories of one transaction: others write and the event loop runs between two of them."""

type Store = Callable[[Sequence[Prepared]], Awaitable[None]]
type MakeLinks = Callable[[Sequence[Link]], Awaitable[None]]
type Furnish = Callable[[Furnisher, Sequence[Line]], Awaitable[list[Skipped]]]


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
        self._links = Links(caller)
        self._told_ids: frozenset[str | None] = frozenset()
        self._skipped: list[Skipped] = []
        self._added = self._known = self._updated = self._refused = self._skipped_count = 0

    async def run(
        self,
        request: ImportRequest,
        store: Store,
        make_links: MakeLinks,
        furnish: Furnish,
        room_left: int,
    ) -> ImportReport:
        """Read everything, then store it batch by batch. Raises InvalidInputError, StorageError.

        What was committed until an error stays; importing again goes on where it ended.
        """
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(None, read, request.data, request.format)
        check_wings(found.memories, self._caller, request.defaults)
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
        for links in in_batches(await self._links.found(self._database)):
            await make_links(links)
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
        connection = write.connection
        for one in batch:
            place = await self._place(connection, one)
            if place is None:
                continue
            existing = await self._existing(connection, one, place)
            if existing is not None:
                if await self._is_newer(connection, one, place, existing):
                    updated.append((existing, await storing.renew(write, one, place, existing)))
                    self._links.stored(one.told, existing.sequence)
                elif self._is_part_of(one, place, existing):
                    await storing.complete(write, one, place, existing)
            elif self._is_new(one, place, room_left):
                memory = await storing.insert(write, one, place, f"import_{self._format}")
                self._links.stored(one.told, memory.sequence)
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

    async def _place(self, connection: aiosqlite.Connection, one: Prepared) -> Spot | None:
        """Return where and whose the memory would be, None where it would be nobody's."""
        room_id, default_scope = await repository.place(connection, one.wing, one.room)
        scope = one.scope or default_scope or Scope.COMMON
        owner = owner_of(one.told, scope, self._caller)
        if owner is None:
            self._skip(Skipped(one.told.line, SkipReason.NOBODY))
            return None
        self._furnisher.meet(one.wing, one.room, scope)
        return Spot(room_id, scope, owner)

    async def _existing(
        self, connection: aiosqlite.Connection, one: Prepared, place: Spot
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
            self._links.sequences[one.told.id] = existing.sequence
        return existing

    async def _may_be_told_anew(self, connection: aiosqlite.Connection, one: Prepared) -> bool:
        """Return whether another memory may be this one by its text.

        What was replaced keeps its own place in history, however often the same was said.
        """
        told = one.told
        if told.id is None or told.status is not Status.SUPERSEDED:
            return True
        return await repository.is_taken(connection, told.id)

    def _is_new(self, one: Prepared, place: Spot, room_left: int) -> bool:
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
        self, connection: aiosqlite.Connection, one: Prepared, place: Spot, existing: Memory
    ) -> bool:
        """Return whether to renew a stored memory, and count what becomes of this one."""
        newer = (
            one.told.id == existing.id
            and existing.live
            and one.told.revision > existing.revision
            # Nothing is retired without what replaced it.
            and (one.told.status in LIVE or await self._is_replaced(connection, one))
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

    async def _is_replaced(self, connection: aiosqlite.Connection, one: Prepared) -> bool:
        """Return whether what replaced a memory comes with it, or came before."""
        by = one.told.superseded_by
        if by is None or by in self._told_ids:
            return by is not None
        found = await repository.by_id(connection, self._caller, by, all_owners=self._all_owners)
        return found is not None

    def _is_part_of(self, one: Prepared, place: Spot, existing: Memory) -> bool:
        """Return whether this is another line of the same memory, to be believed."""
        is_same = (one.told.id, one.told.revision) == (existing.id, existing.revision)
        ours = in_the_same_hands(existing, place.scope, place.owner)
        return is_same and ours and believed(self._caller)
