"""Bringing a stored memory to a later revision of itself, as an import tells it.

Called by ``importing`` in its transaction. A file can say anything, so nothing that is known here
is lost by it: what the memory said stays as history, and what was witnessed here still counts.
"""

import aiosqlite

from .. import evidence, history, memories, vectors
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
    return await repository.stamp(connection, after.sequence, stamp)


async def evidence_here(
    connection: aiosqlite.Connection, existing: Memory, stamp: dict[str, SqlValue]
) -> float:
    """Return the evidence of a memory by what was witnessed here alone."""
    return await evidence.factor(connection, existing.sequence, float(str(stamp["confidence"])))
