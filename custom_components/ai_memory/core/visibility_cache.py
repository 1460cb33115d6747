"""What callers may see, remembered between searches and kept true by every write.

Search asks for the set of a clause; the manager tells of every committed write. ``visibility``
decides in SQL: after a write only the memories that changed are asked for again, so that a search
right after it costs no more than any other.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from . import memories
from .database import Database
from .visibility import Clause
from .visible_set import VisibleSet

SETS_KEPT: Final = 128
"""Coding agents by the dozen, each in a repository of its own, must not push out each other's."""
SETS_BYTES: Final = 16_000_000
"""At a million memories a set takes one of these; then few are kept."""
CHANGES_FOLLOWED: Final = 1_000
"""More changes than so many are dearer to follow than the whole set is to read."""


@dataclass(slots=True)
class _Known:
    """A set and the memories that changed since it was read."""

    visible: VisibleSet
    changed: set[int] = field(default_factory=set)


class VisibilityCache:
    """The sets of the clauses that were asked for last."""

    def __init__(self, database: Database) -> None:
        """Know nothing yet."""
        self._database = database
        self._known: dict[tuple[str, tuple[object, ...]], _Known] = {}
        self._writes = 0

    def changed(self, sequences: Iterable[int]) -> None:
        """Take note of memories that a commit added, changed or removed."""
        self._writes += 1
        written = set(sequences)
        if len(written) > CHANGES_FOLLOWED:
            self._known = {}
        for known in self._known.values():
            known.changed |= written
        self._known = {
            key: known
            for key, known in self._known.items()
            if len(known.changed) <= CHANGES_FOLLOWED
        }

    def forget(self) -> None:
        """Forget every set: more than single memories may have changed."""
        self._writes += 1
        self._known = {}

    async def visible(self, clause: Clause) -> VisibleSet:
        """Return what the clause admits. Raises StorageError."""
        key = (clause.sql, tuple(clause.parameters.items()))
        known = self._known.get(key)
        if known is not None and not known.changed:
            self._known[key] = self._known.pop(key)
            return known.visible
        # What is read while a write lands belongs to neither side of it and is not kept.
        writes = self._writes
        if known is None:
            visible = await self._read(clause, None)
        else:
            changed = frozenset(known.changed)
            visible = known.visible.replaced(changed, await self._read(clause, changed))
        if writes == self._writes:
            self._known.pop(key, None)
            self._known[key] = _Known(visible)
            self._make_room()
        return visible

    def _make_room(self) -> None:
        """Drop the sets that were asked for longest ago, never the last one."""
        sizes = [known.visible.admitted.nbytes for known in self._known.values()]
        kept_bytes = sum(sizes)
        for key, size in zip(list(self._known)[:-1], sizes, strict=False):
            if len(self._known) <= SETS_KEPT and kept_bytes <= SETS_BYTES:
                break
            del self._known[key]
            kept_bytes -= size

    async def _read(self, clause: Clause, among: Iterable[int] | None) -> VisibleSet:
        async with self._database.reading() as connection:
            listed = await memories.visible_sequences(
                connection, clause, None if among is None else list(among)
            )
        if among is not None:
            return VisibleSet.parse(listed)
        return await asyncio.get_running_loop().run_in_executor(None, VisibleSet.parse, listed)
