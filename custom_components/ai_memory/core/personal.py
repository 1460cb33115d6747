"""What is a person's own, and forgetting it on a confirmed request.

The manager owns the one ``Personal``; operations call it there. A person's own are the private
memories stored for that person: those with the agent that asks, or with every agent where none asks
for them. Forgetting takes what was replaced or forgotten before along, and asks first: the
confirmation is a number that stands for the person, the agent, what is there and the time, so that
nothing has to be remembered in between.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Final

import aiosqlite

from . import forgetting, memories
from .commits import Commits
from .database import Database
from .errors import InvalidInputError
from .models import EVERY_STATUS, Action, Caller, Filters, Memory, Scope, Status
from .transaction import REMOVED_AT_ONCE, MemoryChange, Transaction, Written
from .visibility import Clause, SqlValue, of_person, visible_to

CONFIRMATION_SECONDS: Final = 600
"""A confirmation is good for at least this long and at most twice as long."""

_LEAST_NUMBER: Final = 100_000
"""So that none begins with a zero, which YAML and some models would drop."""

_STATE: Final = """
    SELECT count(*), coalesce(sum(m.sequence), 0), coalesce(max(m.updated_ms), 0) FROM memories m
"""
_EARLIER: Final = "FROM earlier_texts AS e WHERE e.scope = 'private' AND e.owner_user = :user"
_WITH_THE_AGENT: Final = " AND e.owner_agent IN (:agent, :provider)"
_COUNT_EARLIER: Final = "SELECT count(DISTINCT e.sequence)"
_OF_OTHERS: Final = """
    AND e.sequence NOT IN (SELECT m.sequence FROM memories m WHERE {own})
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutPerson:
    """A person's own memories, and how many others the agent may speak of."""

    memories: tuple[Memory, ...]
    total: int
    agents: int
    common: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """What would be forgotten and how to confirm it, or the ids of what was.

    ``count`` includes memories that stay but said something that was the person's own, which goes.
    """

    count: int
    confirmation: str | None = None
    forgotten: tuple[str, ...] | None = None


class Personal:
    """Answers to persons who ask about themselves."""

    def __init__(self, database: Database, commits: Commits, clock: Callable[[], datetime]) -> None:
        """Keep what reads, what writes and what tells the time."""
        self._database = database
        self._commits = commits
        self._clock = clock

    async def about(self, caller: Caller, limit: int) -> AboutPerson:
        """Return what is known of the person who asks.

        Raises InvalidInputError where nobody is known, and StorageError.
        """
        own = of_person(caller, _known(caller), (Status.ACTIVE,))
        common, private = (visible_to(caller, Filters(scope=scope)) for scope in _SCOPES)
        async with self._database.reading() as connection:
            page, total = await memories.newest(connection, own, limit)
            everyones = await memories.count(connection, common)
            seen = await memories.count(connection, private)
        # A caller without an agent sees nothing private that way, though its person owns some.
        agents = max(0, seen - total)
        return AboutPerson(memories=tuple(page), total=total, agents=agents, common=everyones)

    async def forget(
        self, caller: Caller, user: str | None = None, confirmation: str | None = None
    ) -> Forgetting:
        """Forget what is a person's own, or say how to confirm that; by default of who asks.

        Raises InvalidInputError where nobody is known or the confirmation is not the right one, and
        StorageError.
        """
        user = user or _known(caller)
        count, valid = await self._confirmations(caller, user)
        if confirmation is None:
            return Forgetting(count=count, confirmation=valid[0])
        if confirmation not in valid:
            raise InvalidInputError("confirmation_outdated")

        async def write() -> Forgetting:
            gone = await self._commits.run(caller, partial(_erase, user=user))
            await self._database.erase_traces()
            return gone

        return await self._commits.to_the_end(write())

    async def _confirmations(self, caller: Caller, user: str) -> tuple[int, tuple[str, ...]]:
        """Return how much would be forgotten and what confirms that, the newest first."""
        own = of_person(caller, user, EVERY_STATUS)
        async with self._database.reading() as connection:
            rows = await connection.execute_fetchall(f"{_STATE} WHERE {own.sql}", own.parameters)
            state = tuple(next(iter(rows)))
            earlier = await _count_earlier(connection, caller, user, own)
        period = int(self._clock().timestamp()) // CONFIRMATION_SECONDS
        subject = (user, caller.agent, caller.provider, *state, earlier)
        return state[0] + earlier, tuple(_number(*subject, at) for at in (period, period - 1))


async def _erase(write: Transaction, user: str) -> tuple[Forgetting, list[Written]]:
    """Remove every private memory of a person, and what others said while they were that."""
    caller = write.caller
    own = of_person(caller, user, EVERY_STATUS)
    gone: list[MemoryChange] = []
    while doomed := await memories.matching(write.connection, own, REMOVED_AT_ONCE):
        gone += await forgetting.erase(write, doomed, own)
    earlier = await _count_earlier(write.connection, caller, user, own)
    await write.connection.execute(*_earlier("DELETE", caller, user))
    ids = tuple(memory.id for memory, _ in gone if memory is not None)
    forgotten = Forgetting(count=len(ids) + earlier, forgotten=ids)
    return forgotten, [await write.record(Action.DELETED, gone)] if gone else []


async def _count_earlier(
    connection: aiosqlite.Connection, caller: Caller, user: str, own: Clause
) -> int:
    """Count the memories that are not a person's own but hold a text that was."""
    sql, parameters = _earlier(_COUNT_EARLIER, caller, user)
    rows = await connection.execute_fetchall(
        sql + _OF_OTHERS.format(own=own.sql), parameters | own.parameters
    )
    return int(next(iter(rows))[0])


def _earlier(verb: str, caller: Caller, user: str) -> tuple[str, dict[str, SqlValue]]:
    """Return a statement on the earlier texts that were a person's own."""
    with_agent = caller.agent is not None or caller.provider is not None
    parameters: dict[str, SqlValue] = {
        "user": user,
        "agent": caller.agent,
        "provider": caller.provider,
    }
    return f"{verb} {_EARLIER}{_WITH_THE_AGENT * with_agent}", parameters


def _known(caller: Caller) -> str:
    """Return the user who asks. Raises InvalidInputError where nobody is known."""
    if not caller.user:
        raise InvalidInputError("person_unknown")
    return caller.user


def _number(*subject: object) -> str:
    digest = int.from_bytes(sha256(repr(subject).encode()).digest()[:8])
    return str(_LEAST_NUMBER + digest % (9 * _LEAST_NUMBER))


_SCOPES: Final = (Scope.COMMON, Scope.PRIVATE)
