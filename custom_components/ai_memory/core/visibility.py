"""Who may see which memories: the one place where that is decided, as SQL.

``sees`` says the same of a memory that is already at hand.

Every read, search, update and deletion of the repository goes through ``visible_to``; nothing is
filtered afterwards and nothing hidden is ever ranked, counted or named.
"""

from dataclasses import dataclass
import json

from .models import Caller, Change, Filters, Memory, Reach, Scope, Status

type SqlValue = str | int | float | bytes | None


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition on ``m`` (memories), ``r`` (rooms) and ``w`` (wings) with its parameters."""

    sql: str
    parameters: dict[str, SqlValue]


def visible_to(caller: Caller, filters: Filters, *, all_owners: bool = False) -> Clause:
    """Return the condition that a memory is within reach, visible and in the filters.

    Common memories are everyone's. A private one is its owner's: the agent's, and where a person
    was known when it was stored, that person's with that agent only. ``all_owners`` admits those of
    everybody, for an administrator who takes the whole memory out or brings it in.
    """
    reach = _within(caller.reach)
    owned = Clause("1", {}) if all_owners else owned_by(caller, "m")
    statuses = ", ".join(f"'{status.value}'" for status in sorted(filters.statuses))
    conditions = [f"m.status IN ({statuses})", reach.sql, owned.sql]
    parameters = reach.parameters | owned.parameters
    place = []
    for column, value in (("w.name", filters.wing), ("r.name", filters.room)):
        if value is not None:
            name = f"filter_{column[0]}"
            place.append(f"{column} = :{name}")
            parameters[name] = value
    if place:
        conditions.append(
            "m.room_id IN (SELECT r.id FROM rooms r JOIN wings w ON w.id = r.wing_id"
            f" WHERE {' AND '.join(place)})"
        )
    if filters.rooms is not None:
        conditions.append("m.room_id IN (SELECT value FROM json_each(:filter_rooms))")
        parameters["filter_rooms"] = json.dumps(filters.rooms)
    if filters.layer is not None:
        conditions.append("m.layer = :filter_l")
        parameters["filter_l"] = filters.layer
    elif not filters.archived:
        conditions.append("m.layer < 3")
    if filters.types:
        names = {f"type_{number}": name for number, name in enumerate(filters.types)}
        conditions.append(f"m.type IN ({', '.join(f':{name}' for name in names)})")
        parameters |= names
    if filters.scope is not None:
        conditions.append("m.scope = :filter_m")
        parameters["filter_m"] = filters.scope
    return Clause(" AND ".join(conditions), parameters)


def owned_by(caller: Caller, table: str) -> Clause:
    """Return the condition that a row with a scope and owners is common or the caller's own."""
    if caller.agent is None and caller.provider is None:
        return Clause(f"{table}.scope = 'common'", {})
    return Clause(
        f"({table}.scope = 'common' OR ({table}.owner_agent IN (:agent, :provider)"
        f" AND ({table}.owner_user IS NULL OR {table}.owner_user = :user)))",
        {"agent": caller.agent, "provider": caller.provider, "user": caller.user},
    )


def of_person(caller: Caller, user: str, statuses: tuple[Status, ...]) -> Clause:
    """Return the condition that a private memory within reach was stored for a person.

    With the agent that asks, or with every agent where none asks: then it is the person's own
    account that does.
    """
    reach = _within(caller.reach)
    wanted = ", ".join(f"'{status.value}'" for status in sorted(statuses))
    conditions = [
        f"m.status IN ({wanted})",
        "m.scope = 'private'",
        "m.owner_user = :user",
        reach.sql,
    ]
    parameters = reach.parameters | {"user": user}
    if caller.agent is not None or caller.provider is not None:
        conditions.append("m.owner_agent IN (:agent, :provider)")
        parameters |= {"agent": caller.agent, "provider": caller.provider}
    return Clause(" AND ".join(conditions), parameters)


def _within(reach: Reach) -> Clause:
    """Return the condition that a memory is in a wing that the caller knows of."""
    beyond = []
    if not reach.home:
        beyond.append("w.workshop = 0")
    if not reach.workshop:
        beyond.append("w.workshop = 1")
    parameters: dict[str, SqlValue] = {}
    if reach.wings is not None:
        # A hub reaches any number of wings, but a statement takes only so many names.
        parameters["reach"] = json.dumps([name for name in reach.wings if name[-1:] != "*"])
        named = ["w.name IN (SELECT value FROM json_each(:reach))"]
        beginnings = [name[:-1] for name in reach.wings if name[-1:] == "*"]
        for number, beginning in enumerate(beginnings):
            parameters[f"reach_{number}"] = beginning
            named.append(f"substr(w.name, 1, length(:reach_{number})) = :reach_{number}")
        beyond.append(f"NOT ({' OR '.join(named)})")
    if not beyond:
        return Clause("1", {})
    # The plus keeps SQLite from going through memories room by room for it.
    return Clause(
        "+m.room_id NOT IN (SELECT r.id FROM rooms r JOIN wings w ON w.id = r.wing_id"
        f" WHERE {' OR '.join(beyond)})",
        parameters,
    )


def sees(caller: Caller, memory: Memory) -> bool:
    """Return whether ``visible_to`` without filters admits the memory; a test holds them equal."""
    return memory.status is Status.ACTIVE and _knows_of(caller, memory)


def ids_told(caller: Caller, change: Change) -> tuple[str, ...]:
    """Return of which memories a caller may hear that they changed: those it sees, or saw."""
    return tuple(
        subject.id
        for before, after in change.versions
        if (subject := after or before) is not None
        and any(one is not None and _knows_of(caller, one) for one in (before, after))
    )


def wings_told(caller: Caller, change: Change) -> tuple[str, ...]:
    """Return in which wings a caller may hear that something changed: where it sees, or saw it."""
    return tuple(
        dict.fromkeys(
            one.wing
            for versions in change.versions
            for one in versions
            if one is not None and _knows_of(caller, one)
        )
    )


def _knows_of(caller: Caller, memory: Memory) -> bool:
    """Return whether a memory is within reach and common or the caller's own, however it stands."""
    if not caller.reach.admits(memory.wing):
        return False
    if memory.scope is Scope.COMMON:
        return True
    agents = {caller.agent, caller.provider} - {None}
    return memory.owner_agent in agents and memory.owner_user in {None, caller.user}
