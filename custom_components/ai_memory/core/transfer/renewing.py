"""Bringing a stored memory to a later revision of itself, as an import tells it.

Called by ``importing`` in its transaction, for those who are believed. What the memory said stays
as history.
"""

from .. import history, memories, vectors
from ..models import Memory
from ..transaction import Transaction
from ..visibility import SqlValue
from . import attached, repository
from .attached import Attached


async def renew(
    write: Transaction,
    existing: Memory,
    values: dict[str, SqlValue],
    stamp: dict[str, SqlValue],
    belonging: Attached,
) -> Memory:
    """Store the later revision and return it; ``stamp`` is as ``repository.stamped`` made it."""
    connection = write.connection
    earlier, _, _ = belonging
    changed = values["content"] != existing.content
    if changed and not attached.tells(earlier, existing.content):
        await history.keep(write, existing)
    after = await memories.update(connection, existing, values)
    if after.embedded_text != existing.embedded_text:
        await vectors.discard(connection, existing.sequence)
    await repository.attach(connection, after.sequence, belonging)
    await history.prune(connection, after.sequence)
    return await repository.stamp(connection, after.sequence, stamp)
