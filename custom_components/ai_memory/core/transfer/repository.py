"""The statements that only imports need.

``importing`` looks for what is known, ``storing`` writes down what a new memory was before it came
here.
"""

from collections.abc import Iterable
from datetime import datetime
import json
from typing import Final

import aiosqlite

from .. import evidence, memories
from ..memories import milliseconds
from ..models import DEFAULT_TYPE, KEPT, LIVE, Caller, Filters, Memory, Scope, Status
from ..visibility import Clause, SqlValue, visible_to
from .attached import ANCHORS, LISTS, Attached, AttachedList
from .preparing import Owner, Prepared, believed
from .values import ImportedMemory, Usage

_SEQUENCES_OF: Final = """
    SELECT m.id, m.sequence FROM memories m
    WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {condition}
"""
_PLACE: Final = """
    SELECT r.id, w.default_scope FROM wings w LEFT JOIN rooms r ON r.wing_id = w.id AND r.name = ?
    WHERE w.name = ?
"""
_SEQUENCE_OF: Final = "SELECT m.sequence FROM memories m WHERE m.id = ?"
_STATED: Final = """
    SELECT m.sequence FROM memories m
    WHERE m.restatement = :digest AND m.scope = :scope AND m.owner_agent IS :owner_agent
        AND m.owner_user IS :owner_user AND m.room_id IN ({rooms}) AND {{condition}}
    ORDER BY m.sequence LIMIT 1
"""
_STATED_THERE: Final = _STATED.format(rooms=":room_id")
_STATED_ANYWHERE: Final = _STATED.format(rooms="SELECT id FROM rooms")
_STAMP: Final = """
    UPDATE memories SET
        type = :type, status = :status, confidence = :confidence, evidence = :evidence,
        revision = :revision, created_ms = :created_ms, updated_ms = :updated_ms,
        layered_ms = :layered_ms, expires_ms = :expires_ms, superseded_ms = :superseded_ms
    WHERE sequence = :sequence
"""
_SET_USAGE: Final = """
    INSERT INTO usage (
        sequence, returned, fetched, last_used_ms, last_returned_ms, last_fetched_ms
    ) VALUES (
        :sequence, :returned, :fetched, :used_ms, :last_returned_ms, :last_fetched_ms
    )
"""
_LINK: Final = """
    UPDATE memories SET superseded_by = :replacement
    WHERE sequence = :sequence AND superseded_by IS NULL AND status = 'superseded'
"""
# One of the two was here before: what it is linked to already must not lead back.
_LINK_APART: Final = f"""
    {_LINK} AND (:believed OR source = :source)
        AND sequence NOT IN (
            WITH RECURSIVE newer (sequence) AS (
                SELECT :replacement
                UNION
                SELECT m.superseded_by FROM newer n JOIN memories m ON m.sequence = n.sequence
                WHERE m.superseded_by IS NOT NULL
            )
            SELECT sequence FROM newer
        )
"""


def _insert_attached(one: AttachedList) -> str:
    """Return the statement that stores a row unless the very same is there."""
    columns = ["sequence", *(column.stored for column in one.columns)]
    same = " AND ".join(f"{column} IS ?{at}" for at, column in enumerate(columns, start=1))
    if one is ANCHORS:
        same = "sequence = ?1 AND anchor = ?2"
    values = ", ".join(f"?{at}" for at in range(1, len(columns) + 1))
    return (
        f"INSERT INTO {one.table} ({', '.join(columns)})"
        f" SELECT {values} WHERE NOT EXISTS (SELECT 1 FROM {one.table} WHERE {same})"
    )


_ATTACH: Final = tuple(_insert_attached(one) for one in LISTS)


async def attach(connection: aiosqlite.Connection, sequence: int, attached: Attached) -> None:
    """Store what belongs to a memory and is not there yet."""
    for statement, rows in zip(_ATTACH, attached, strict=True):
        await connection.executemany(statement, [(sequence, *row) for row in rows])
    await evidence.prune_observations(connection, [sequence])


async def place(
    connection: aiosqlite.Connection, wing: str, room: str
) -> tuple[int | None, Scope | None]:
    """Return the row of a room and the default scope of its wing, None for what there is not."""
    rows = list(await connection.execute_fetchall(_PLACE, (room, wing)))
    if not rows:
        return None, None
    room_id, scope = rows[0]
    return room_id, Scope(scope)


async def is_taken(connection: aiosqlite.Connection, memory_id: str) -> bool:
    """Return whether any memory has the id, whoever may see it; never to be told to a caller."""
    return bool(list(await connection.execute_fetchall(_SEQUENCE_OF, (memory_id,))))


async def by_id(
    connection: aiosqlite.Connection, caller: Caller, memory_id: str, *, all_owners: bool
) -> Memory | None:
    """Return a memory that an export may hold, if the caller may see it."""
    wanted = Filters(statuses=KEPT)
    clause = visible_to(caller, wanted, all_owners=all_owners)
    narrowed = Clause(f"{clause.sql} AND m.id = :id", clause.parameters | {"id": memory_id})
    return next(iter(await memories.matching(connection, narrowed, 1)), None)


async def stated(  # noqa: PLR0917 - what is said, where and whose it is, and who asks
    connection: aiosqlite.Connection,
    caller: Caller,
    one: Prepared,
    scope: Scope,
    owner: Owner,
    room_id: int | None,
) -> Memory | None:
    """Return the memory in the same hands that says the same, None if there is none.

    Where the place was chosen by us it may be in any room within the caller's reach: somebody moved
    it meanwhile. Of what lies beyond nothing is told, not even that it is there.
    """
    if one.placed and room_id is None:
        return None
    # Whose it is was decided before; an administrator brings in what others own.
    seen = visible_to(caller, Filters(statuses=_statuses(one)), all_owners=True)
    statement = _STATED_THERE if one.placed else _STATED_ANYWHERE
    rows = list(
        await connection.execute_fetchall(
            statement.format(condition=seen.sql),
            seen.parameters
            | {
                "digest": one.digest,
                "scope": scope,
                "owner_agent": owner.agent,
                "owner_user": owner.user,
                "room_id": room_id,
            },
        )
    )
    return await memories.by_sequence(connection, rows[0][0]) if rows else None


def _statuses(one: Prepared) -> tuple[Status, ...]:
    """Return which statuses a memory has that could be this one."""
    told = one.told.status
    return LIVE if told in LIVE else (told,)


async def stamp(
    connection: aiosqlite.Connection, sequence: int, values: dict[str, SqlValue]
) -> Memory:
    """Give a memory the times, counts and marks that it had where it came from."""
    await connection.execute(_STAMP, values | {"sequence": sequence})
    return await memories.by_sequence(connection, sequence)


async def set_usage(connection: aiosqlite.Connection, sequence: int, usage: Usage) -> None:
    """Write down how a new memory was used where it came from, if it was."""
    if usage.used is None:
        return
    await connection.execute(
        _SET_USAGE,
        {
            "sequence": sequence,
            "returned": usage.returned,
            "fetched": usage.fetched,
            "used_ms": milliseconds(usage.used),
            "last_returned_ms": _ms(usage.last_returned),
            "last_fetched_ms": _ms(usage.last_fetched),
        },
    )


async def sequences_of(
    connection: aiosqlite.Connection, caller: Caller, ids: Iterable[str], *, all_owners: bool
) -> dict[str, int]:
    """Return the rows of memories that an export may hold, by id, if the caller may see them."""
    clause = visible_to(caller, Filters(statuses=KEPT), all_owners=all_owners)
    sql = _SEQUENCES_OF.format(condition=clause.sql)
    listed = {"ids": json.dumps(list(ids))}
    rows = await connection.execute_fetchall(sql, clause.parameters | listed)
    return {str(memory_id): int(sequence) for memory_id, sequence in rows}


async def link(connection: aiosqlite.Connection, sequence: int, replacement: int) -> None:
    """Write down that a memory was replaced by another, both of which were just stored."""
    await connection.execute(_LINK, {"sequence": sequence, "replacement": replacement})


async def link_apart(
    connection: aiosqlite.Connection, caller: Caller, sequence: int, replacement: int
) -> None:
    """Write down that a memory was replaced by another, one of which was here before.

    Who is not believed links only what it wrote itself.
    """
    await connection.execute(
        _LINK_APART,
        {
            "sequence": sequence,
            "replacement": replacement,
            "believed": believed(caller),
            "source": caller.source,
        },
    )


def stamped(told: ImportedMemory, now_ms: int) -> dict[str, SqlValue]:
    """Return the values of ``stamp``; nothing that comes in is younger than now."""
    ours = told.id is not None
    created = _ms(told.created) or now_ms
    updated = _ms(told.updated) or created
    layered = _ms(told.layered) or (updated if ours else now_ms)
    return {
        "type": told.type or DEFAULT_TYPE,
        "status": told.status,
        "confidence": 1.0 if told.confidence is None else told.confidence,
        "evidence": told.evidence,
        "revision": told.revision,
        "created_ms": min(created, now_ms),
        "updated_ms": min(updated if ours else max(created, updated), now_ms),
        "layered_ms": layered,
        "expires_ms": _ms(told.expires),
        "superseded_ms": _ms(told.superseded),
    }


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else milliseconds(moment)
