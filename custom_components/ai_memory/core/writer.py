"""The one way to change memories: a transaction that commits all of it or nothing.

``commits`` runs the transactions of callers through this, the upkeep of the index stores vectors
with it. What a transaction does is in the modules of its subject, see ``transaction``.
"""

from collections.abc import Awaitable, Callable, Sequence

from ..embedding.protocol import EmbeddingEngine
from . import vectors
from .anchors import EntityCheck, nobody_can_tell
from .database import Database
from .models import Caller, Memory
from .transaction import Transaction, Written
from .vector_index import Vector
from .vectors import Unembedded

type Work[T] = Callable[[Transaction], Awaitable[tuple[T, list[Written]]]]
"""What a transaction does: it returns a result and what it wrote."""


class MemoryWriter:
    """Runs transactions and counts the memories that take room."""

    def __init__(
        self,
        database: Database,
        engine: EmbeddingEngine,
        check_entity: EntityCheck = nobody_can_tell,
    ) -> None:
        """Keep the database and the engine under whose fingerprint vectors are stored."""
        self._database = database
        self._engine = engine
        self._check_entity = check_entity
        self.of_home = 0

    async def run[T](self, caller: Caller, now_ms: int, work: Work[T]) -> tuple[T, list[Written]]:
        """Do the work in one transaction. Raises StorageError and what the work raises."""
        async with self._database.transaction() as connection:
            result, written = await work(
                Transaction(
                    connection=connection,
                    caller=caller,
                    now_ms=now_ms,
                    fingerprint=self._engine.fingerprint,
                    of_home=self.of_home,
                    check_entity=self._check_entity,
                )
            )
        # Before the next transaction can begin, which nothing awaited lets it.
        for one in written:
            for before, after in one.changes:
                self.of_home += takes_room(after) - takes_room(before)
        return result, written

    async def store_vectors(
        self, made: Sequence[tuple[Unembedded, Vector]]
    ) -> list[tuple[int, Vector]]:
        """Store vectors made in the background; returns those stored, by sequence.

        A memory that changed or went meanwhile is passed over. Raises StorageError.
        """
        fingerprint = self._engine.fingerprint
        async with self._database.transaction() as connection:
            return [
                (memory.sequence, vector)
                for memory, vector in made
                if await vectors.store(connection, memory, fingerprint, vector)
            ]


def takes_room(memory: Memory | None) -> bool:
    """Return whether there is a memory that counts towards the capacity."""
    return memory is not None and memory.takes_room
