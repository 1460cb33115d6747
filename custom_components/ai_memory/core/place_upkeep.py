"""What a change of the palace leaves to do: the memories of a joined room follow in small steps.

``places`` waits for them; what is still to do stands in the database (``rooms.moving_to``), so that
a restart goes on where it stopped. Until then a memory is where it was, and nobody who writes waits
for more than one step.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
import logging
from typing import Final

import aiosqlite

from . import memories, palace
from .commits import MAINTENANCE, Commits
from .database import Database
from .errors import StorageError
from .models import Action
from .place_rows import drop_left_room, drop_left_wings
from .transaction import MemoryChange, Transaction, Written
from .visibility import Clause

MOVED_AT_ONCE: Final = 50
RETRY_SECONDS: Final = 60.0

_MOVING: Final = "SELECT id FROM rooms WHERE moving_to IS NOT NULL"
_TARGET: Final = """
    SELECT moving_to FROM rooms WHERE id = ? AND moving_to IN (SELECT id FROM rooms)
"""

_LOGGER: Final = logging.getLogger(__name__)


class PlaceUpkeep:
    """The work that changes of the palace leave behind."""

    def __init__(self, database: Database, commits: Commits) -> None:
        """Keep the database and how steps that move memories are committed."""
        self._database = database
        self._commits = commits

    async def finish_moves(self) -> None:
        """Move the memories of joined rooms to where they belong. Raises StorageError."""
        while True:
            async with self._database.reading() as connection:
                rooms = [room for (room,) in await connection.execute_fetchall(_MOVING)]
            if not rooms:
                return
            for room in rooms:
                step = partial(_move, room_id=room)
                while await self._commits.run(MAINTENANCE, step):
                    pass

    async def after_start(self, finish: Callable[[], Awaitable[None]]) -> None:
        """Do what a start brings or a restart broke off, however often it takes."""
        while True:
            try:
                await finish()
            except StorageError as err:
                _LOGGER.warning("Places are not yet as they should be: %s", err)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return


async def _move(write: Transaction, room_id: int) -> tuple[bool, list[Written]]:
    """Move the next memories of a joined room; returns whether there were any."""
    connection = write.connection
    targets = [target for (target,) in await connection.execute_fetchall(_TARGET, (room_id,))]
    if not targets:
        # The other room is lost, as after damage: this one stays what it is.
        await connection.execute("UPDATE rooms SET moving_to = NULL WHERE id = ?", (room_id,))
        return False, []
    inside = Clause("m.room_id = :moving", {"moving": room_id})
    before = await memories.matching(connection, inside, MOVED_AT_ONCE)
    if not before:
        await drop_left_room(connection, room_id)
        await drop_left_wings(connection)
        return False, [await _written(connection, [])]
    sequences = [memory.sequence for memory in before]
    await connection.executemany(
        "UPDATE memories SET room_id = ? WHERE sequence = ?",
        [(targets[0], sequence) for sequence in sequences],
    )
    after = await memories.by_sequences(connection, Clause("1", {}), sequences)
    return True, [
        await _written(connection, [(memory, after[memory.sequence]) for memory in before])
    ]


async def _written(connection: aiosqlite.Connection, changes: list[MemoryChange]) -> Written:
    size = await palace.size(connection)
    return Written(action=Action.MOVED, changes=changes, palace=size)
