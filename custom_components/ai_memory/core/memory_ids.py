"""Short ids: the beginning of an id that no other memory shares, and the memory behind one.

Used where ids are shown to models by the dozen. A prefix is looked up among what the caller may
see only, so that it tells nothing about anything else.
"""

from collections.abc import Iterable
from typing import Final

from . import memories
from .database import Database
from .errors import InvalidInputError, NotFoundError
from .models import KEPT, Caller, Filters, Memory, Status
from .text_input import check_id
from .visibility import visible_to

SHORTEST_CHARACTERS: Final = 8

_AFTER_ANY_ID: Final = "~"


class MemoryIds:
    """The ids of one database."""

    def __init__(self, database: Database) -> None:
        """Keep where to look."""
        self._database = database

    async def shortened(self, caller: Caller, ids: Iterable[str]) -> dict[str, str]:
        """Return each id's shortest prefix that nothing else within the caller's sight shares.

        Raises StorageError.
        """
        clause = visible_to(caller, Filters(statuses=KEPT))
        async with self._database.reading() as connection:
            near = await memories.neighbours(connection, clause, [*ids], SHORTEST_CHARACTERS)
        return {
            one: one[: max([SHORTEST_CHARACTERS, *(_shared(one, other) + 1 for other in others)])]
            for one, others in near.items()
        }

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
            found = await memories.as_seen_by(connection, caller, found)
        if len(prefix) < SHORTEST_CHARACTERS or not found:
            raise NotFoundError("memory_not_found", id=prefix)
        if len(found) > 1:
            raise InvalidInputError("ambiguous_id", id=prefix)
        return found[0]


def _shared(one: str, other: str) -> int:
    """Return how many characters two ids begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
