"""Short ids: the beginning of an id that no other memory shares, and the memory behind one.

Used where ids are shown to models by the dozen. A prefix is looked up among what the caller may
see only, so that it tells nothing about anything else.
"""

from collections.abc import Iterable
from typing import Final

import aiosqlite

from . import memories
from .database import Database
from .errors import InvalidInputError, NotFoundError
from .models import KEPT, Caller, Filters, Memory, Status
from .text_input import check_id
from .visibility import visible_to

SHORTEST_CHARACTERS: Final = 8

_NEIGHBOURS: Final = """
    SELECT (SELECT max(id) FROM memories WHERE id < :id),
        (SELECT min(id) FROM memories WHERE id > :id)
"""
_AFTER_ANY_ID: Final = "~"


class MemoryIds:
    """The ids of one database."""

    def __init__(self, database: Database) -> None:
        """Keep where to look."""
        self._database = database

    async def shortened(self, ids: Iterable[str]) -> dict[str, str]:
        """Return each id's shortest prefix that no other memory shares. Raises StorageError."""
        async with self._database.reading() as connection:
            return {one: await _shortened(connection, one) for one in ids}

    async def find(
        self, caller: Caller, prefix: str, statuses: tuple[Status, ...] = KEPT
    ) -> Memory:
        """Return the one visible memory whose id begins so.

        Raises NotFoundError, InvalidInputError where several do, and StorageError.
        """
        check_id(prefix)
        clause = visible_to(caller, Filters(statuses=statuses))
        async with self._database.reading() as connection:
            found = await memories.with_prefix(
                connection, clause, prefix.upper(), prefix.upper() + _AFTER_ANY_ID
            )
        if len(prefix) < SHORTEST_CHARACTERS or not found:
            raise NotFoundError("memory_not_found", id=prefix)
        if len(found) > 1:
            raise InvalidInputError("ambiguous_id", id=prefix)
        return found[0]


async def _shortened(connection: aiosqlite.Connection, memory_id: str) -> str:
    rows = await connection.execute_fetchall(_NEIGHBOURS, {"id": memory_id})
    shared = max(_shared(memory_id, other or "") for other in next(iter(rows)))
    return memory_id[: max(SHORTEST_CHARACTERS, shared + 1)]


def _shared(one: str, other: str) -> int:
    """Return how many characters two ids begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
