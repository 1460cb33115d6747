"""Which memories were replaced by which, brought in with them: also where the other came before.

``importing`` notes what it stores and has the links made at the end. Each line names what it was
replaced by and what it replaced, so that the parts of an export may come in any order.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Final

from ..database import Database
from ..models import Access, Caller
from . import repository
from .asking import without_cycles
from .values import ImportedMemory

LINKED_AT_ONCE: Final = 200
LOOKED_FOR_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Link:
    """One memory by row and the one that replaced it; ``apart`` where one was here before."""

    sequence: int
    replacement: int
    apart: bool


@dataclass(frozen=True, slots=True)
class Links:
    """What one import learns of replacements, by the ids of the file."""

    caller: Caller
    sequences: dict[str, int] = field(default_factory=dict)
    _replaced: dict[str, str] = field(default_factory=dict)
    _stored: set[str] = field(default_factory=set)

    def stored(self, told: ImportedMemory, sequence: int) -> None:
        """Note a memory that the import stored."""
        if told.id is None:
            return
        self.sequences[told.id] = sequence
        self._stored.add(told.id)
        if told.superseded_by is not None:
            self._replaced[told.id] = told.superseded_by
        for earlier in told.supersedes:
            self._replaced.setdefault(earlier, told.id)

    async def found(self, database: Database) -> list[Link]:
        """Return the links to make, those that end in a circle left out."""
        loop = asyncio.get_running_loop()
        missing = await loop.run_in_executor(None, self._missing)
        for ids in batched(missing, LOOKED_FOR_AT_ONCE, strict=False):
            self.sequences.update(await self._seen(database, ids))
        return await loop.run_in_executor(None, self._pairs)

    def _missing(self) -> list[str]:
        named = {*self._replaced, *self._replaced.values()}
        return sorted(one for one in named if one not in self.sequences)

    def _pairs(self) -> list[Link]:
        stored = {self.sequences[one] for one in self._stored}
        pairs = without_cycles(self.sequences, self._replaced)
        return [Link(*pair, apart=not stored.issuperset(pair)) for pair in pairs]

    async def _seen(self, database: Database, ids: Iterable[str]) -> dict[str, int]:
        all_owners = Access.ADMIN in self.caller.access
        async with database.reading() as connection:
            return await repository.sequences_of(
                connection, self.caller, ids, all_owners=all_owners
            )


def in_batches(links: Sequence[Link]) -> Iterable[Sequence[Link]]:
    """Return links in as many transactions as they take."""
    return batched(links, LINKED_AT_ONCE, strict=False)
