"""What replaces what: a new memory retires an old one, which stays as its history.

Run inside the transaction of an addition, so that both stand or neither does. A replaced memory
keeps its words and its vector, but is seen only where history is asked for. Only what is live can
be replaced and only by what is active, so nothing ever replaces itself or goes in a circle.
"""

from collections.abc import Sequence
from typing import Final

from . import memories
from .errors import InvalidInputError
from .models import Action, Memory, NewMemory, Status
from .transaction import MemoryChange, Transaction, Written
from .visibility import Clause, SqlValue

PREDECESSORS_KEPT: Final = 50
"""How many replaced memories stay behind one that is live."""

_SUPERSEDE: Final = """
    UPDATE memories SET status = 'superseded', superseded_by = :by, superseded_ms = :now_ms,
        revision = revision + 1
    WHERE sequence = :sequence
"""
# UNION leaves out what was met before: damage could have made a circle.
_PREDECESSORS: Final = f"""
    {memories.SELECT} WHERE m.sequence IN (
        WITH RECURSIVE chain (sequence) AS (
            SELECT value FROM json_each(:listed)
            UNION
            SELECT o.sequence FROM chain c JOIN memories o ON o.superseded_by = c.sequence
        )
        SELECT sequence FROM chain
    ) AND m.sequence NOT IN (SELECT value FROM json_each(:listed))
"""


async def replaceable(write: Transaction, new: NewMemory) -> Memory:
    """Return the memory that a new one is to replace.

    Raises NotFoundError, and InvalidInputError where it cannot be replaced by this one.
    """
    old = await write.memory(new.supersedes or "")
    if old.status is Status.SUPERSEDED:
        raise InvalidInputError("already_superseded", id=old.id)
    if old.status is not Status.ACTIVE:
        raise InvalidInputError("supersedes_candidate")
    if new.status is not Status.ACTIVE:
        raise InvalidInputError("supersedes_candidate")
    if new.wing not in {None, old.wing}:
        raise InvalidInputError("supersedes_other_wing", wing=old.wing)
    if new.scope not in {None, old.scope}:
        raise InvalidInputError("supersedes_other_scope", scope=old.scope.value)
    return old


def owner_of(memory: Memory) -> dict[str, SqlValue]:
    """Return the owner of a memory as columns."""
    return {"owner_agent": memory.owner_agent, "owner_user": memory.owner_user}


async def supersede(write: Transaction, old: Memory, new: Memory) -> list[Written]:
    """Retire a memory in favour of an active one; what goes too far back is removed."""
    values = {"sequence": old.sequence, "by": new.sequence, "now_ms": write.now_ms}
    await write.connection.execute(_SUPERSEDE, values)
    retired = await memories.by_sequence(write.connection, old.sequence)
    written = [await write.record(Action.SUPERSEDED, [(old, retired)])]
    history = await predecessors(write, [new.sequence])
    surplus = sorted(history, key=lambda one: (one.created, one.sequence))[
        : -PREDECESSORS_KEPT or None
    ]
    surplus = [one for one in surplus if one.sequence != old.sequence]
    if surplus:
        await memories.remove(write.connection, surplus)
        gone: list[MemoryChange] = [(memory, None) for memory in surplus]
        written.append(await write.record(Action.PURGED, gone))
    return written


async def predecessors(
    write: Transaction, sequences: Sequence[int], clause: Clause | None = None
) -> list[Memory]:
    """Return all that these replaced, directly or not, as far as the clause admits it."""
    sql = _PREDECESSORS if clause is None else f"{_PREDECESSORS} AND {clause.sql}"
    parameters = memories.listed(sequences) | (clause.parameters if clause else {})
    return await memories.select(write.connection, sql, parameters)
