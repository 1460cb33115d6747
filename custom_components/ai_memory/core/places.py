"""The palace as the operations use it: showing, renaming, joining and connecting its places.

One per memory, made by the manager. It cleans what callers send, changes one thing at a time, each
in one transaction, and lets the memories of joined rooms follow (``place_upkeep``). Who may know of
a place is decided in ``place_view``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import aiosqlite

from . import place_changes, place_rows, place_view, tunnel_proposals, tunnel_search, tunnels
from .commits import Commits
from .database import Database
from .errors import AccessDeniedError, InvalidInputError
from .models import Access, Caller, Scope, is_workshop
from .namespaces import normalised, owner_prefix
from .place_changes import Outcome
from .place_upkeep import PlaceUpkeep
from .place_view import PlaceName, WingReport
from .screen.gate import Gate
from .text_input import clean_text, place_name, wing_name
from .tunnel_proposals import Proposal
from .tunnel_rows import TunnelKind, TunnelState
from .tunnels import Tunnel

DESCRIPTION_LIMIT_CHARACTERS: Final = 500
REASON_LIMIT_CHARACTERS: Final = 200

type Work[T] = Callable[[aiosqlite.Connection], Awaitable[T]]
type Renamed = Callable[[str, str], None]
"""Is told the name that a wing had, and the one that it has."""


class Places:
    """The wings, rooms and tunnels of one memory."""

    def __init__(
        self, database: Database, commits: Commits, now_ms: Callable[[], int], gate: Gate
    ) -> None:
        """Keep what is shown, how changes are committed, and what texts have to pass."""
        self._database = database
        self._commits = commits
        self._now_ms = now_ms
        self._gate = gate
        self._one_change = asyncio.Lock()
        self._renamed: list[Renamed] = []
        self.upkeep: Final = PlaceUpkeep(database, commits)

    def on_renamed(self, listener: Renamed) -> Callable[[], None]:
        """Call the listener after a wing got another name; returns how to stop it.

        What was joined to another wing is not told: who knew of the one may not know of the other.
        """
        self._renamed.append(listener)
        return lambda: self._renamed.remove(listener)

    async def finish(self) -> None:
        """Finish what a change before a restart left to do."""
        await self.upkeep.after_start(self._finish_moves)

    async def wings(self, caller: Caller, wing: str | None) -> list[WingReport]:
        """Return the wings that the caller knows of, or one. Raises StorageError."""
        named = wing_name(caller, wing)
        async with self._database.reading() as connection:
            known = await place_view.wings_known(connection, caller)
        return [report for report in known if named in {None, report.name}]

    async def describe(
        self,
        caller: Caller,
        wing: str,
        room: str | None,
        description: str | None,
        default_scope: Scope | None,
    ) -> PlaceName:
        """Say what a place is for, and which scope a wing suggests from now on.

        Raises NotFoundError, InvalidInputError, AccessDeniedError and StorageError.
        """
        place = _place(caller, wing, room)
        if description is None and default_scope is None:
            raise InvalidInputError("missing", field="description")
        if default_scope is not None:
            _require_admin(caller)
            if place.room is not None:
                raise InvalidInputError("only_wings_have_a_scope", place=place.told)
        if description is not None:
            description = clean_text(description, "description", DESCRIPTION_LIMIT_CHARACTERS)
            await self._gate.admit(caller, {"description": description})
        change = partial(
            place_changes.describe,
            caller=caller,
            place=place,
            description=description,
            default_scope=default_scope,
            now_ms=self._now_ms(),
        )
        async with self._one_change:
            await self._commits.rearrange(change)
        return place

    async def rename(
        self,
        caller: Caller,
        place: tuple[str, str | None],
        wanted: tuple[str | None, str | None],
        *,
        merge: bool,
    ) -> Outcome:
        """Give a wing or a room another name, or join it to the one of that name.

        ``wanted`` leaves out what stays. Raises NotFoundError, AccessDeniedError,
        InvalidInputError, ScreenedError and StorageError.
        """
        old = _place(caller, *place)
        wing = wing_name(caller, wanted[0])
        room = place_name(wanted[1], "new_room")
        if wing is None and room is None:
            raise InvalidInputError("missing", field="new_wing" if old.room is None else "new_room")
        if old.room is None and room is not None:
            raise InvalidInputError("missing", field="room")
        await self._gate.admit(caller, {"new_wing": wanted[0], "new_room": wanted[1]})
        new = PlaceName(wing or old.wing, room or old.room)
        outcome = await self._change(
            partial(
                place_changes.rename,
                caller=caller,
                place=old,
                wanted=new,
                now_ms=self._now_ms(),
                merge=merge,
            )
        )
        if old.room is None and outcome.result == place_changes.RENAMED:
            for listener in list(self._renamed):
                listener(old.wing, new.wing)
        return outcome

    async def delete(
        self,
        caller: Caller,
        place: tuple[str, str | None],
        move_to: tuple[str | None, str | None],
    ) -> Outcome:
        """Remove a place; what it holds goes to another one.

        Raises NotFoundError, AccessDeniedError, InvalidInputError, ScreenedError and StorageError.
        """
        old = _place(caller, *place)
        wing = wing_name(caller, move_to[0])
        room = place_name(move_to[1], "move_to_room")
        target = None
        if wing is not None or room is not None:
            target = PlaceName(wing or old.wing, room or old.room)
        await self._gate.admit(caller, {"move_to_wing": move_to[0], "move_to_room": move_to[1]})
        return await self._change(
            partial(
                place_changes.delete,
                caller=caller,
                place=old,
                move_to=target,
                now_ms=self._now_ms(),
            )
        )

    async def rename_owner(self, caller: Caller, old: str, new: str) -> list[Outcome]:
        """Move all namespaces of an owner, as ``github/old/`` to ``github/new/``; idempotent.

        Raises InvalidInputError, AccessDeniedError, ScreenedError and StorageError.
        """
        before, after = owner_prefix(old, "from"), owner_prefix(new, "to")
        if after.startswith(before):
            if after == before:
                return []
            raise InvalidInputError("place_inside_itself", place=before)
        async with self._database.reading() as connection:
            there = await place_changes.namespaces_under(connection, before)
        if not there:
            await self._finish_moves()
            return []
        await self._gate.admit(caller, {"to": new})
        return await self._change(
            partial(
                place_changes.rename_owner,
                caller=caller,
                old=before,
                new=after,
                now_ms=self._now_ms(),
            )
        )

    async def tidy(self) -> int:
        """Remove what is empty and what nobody asked to keep; returns how many places went."""
        async with self._one_change:
            return await self._commits.rearrange(place_rows.tidy)

    async def connect(
        self,
        caller: Caller,
        start: tuple[str, str | None],
        end: tuple[str, str | None],
        reason: str,
    ) -> Tunnel:
        """Join two rooms or two wings; between a repository and a project it is a link.

        Raises NotFoundError, InvalidInputError, AccessDeniedError and StorageError.
        """
        first, second = _place(caller, *start), _place(caller, *end)
        reason = clean_text(reason, "reason", REASON_LIMIT_CHARACTERS)
        await self._gate.admit(caller, {"reason": reason})
        wings_only = first.room is None and second.room is None
        if wings_only and is_workshop(first.wing) and is_workshop(second.wing):
            return await self.link(caller, first.wing, second.wing, reason)
        return await self._open(
            partial(
                tunnels.connect,
                caller=caller,
                ends=(first, second),
                reason=reason,
                now_ms=self._now_ms(),
            ),
            caller,
        )

    async def link(
        self, caller: Caller, repository: str, project: str | None, reason: str = ""
    ) -> Tunnel:
        """Link a repository to a project, or make it a hub that reaches every repository.

        Raises NotFoundError, InvalidInputError, AccessDeniedError, ScreenedError and StorageError.
        """
        _require_admin(caller)
        first, second = normalised(repository), None if project is None else normalised(project)
        await self._gate.admit(caller, {"wing": repository, "to_wing": project})
        return await self._open(
            partial(
                tunnels.connect_workshop,
                caller=caller,
                repository=first,
                project=second,
                reason=reason,
                now_ms=self._now_ms(),
            ),
            caller,
        )

    async def disconnect(self, caller: Caller, tunnel_id: str) -> Tunnel:
        """Close a tunnel. Raises NotFoundError and StorageError."""
        async with self._one_change, self._database.transaction() as connection:
            _check_kind(caller, await tunnels.get(connection, caller, tunnel_id))
            tunnel = await tunnels.disconnect(connection, caller, tunnel_id)
            await self._audit(connection, caller, "tunnel_closed", tunnel)
        return tunnel

    async def decide(self, caller: Caller, tunnel_id: str, state: TunnelState) -> Tunnel:
        """Accept or dismiss a tunnel that was proposed. Raises NotFoundError and StorageError."""
        async with self._one_change, self._database.transaction() as connection:
            _check_kind(caller, await tunnels.get(connection, caller, tunnel_id))
            await tunnels.decide(connection, caller, tunnel_id, state)
            tunnel = await tunnels.get(connection, caller, tunnel_id)
            await self._audit(connection, caller, f"tunnel_{state}", tunnel)
        return tunnel

    async def tunnels(
        self, caller: Caller, wing: str | None, room: str | None, state: TunnelState | None
    ) -> list[Tunnel]:
        """Return the tunnels whose ends the caller knows; those dismissed only when asked for.

        Raises InvalidInputError and StorageError.
        """
        place = None if wing is None else _place(caller, wing, room)
        async with self._database.reading() as connection:
            found = await tunnels.listing(connection, caller, place, state)
        hidden = {TunnelState.DISMISSED} if state is None else set()
        return [tunnel for tunnel in found if tunnel.state not in hidden]

    async def propose_tunnels(self, names: Sequence[str] = ()) -> int:
        """Look for rooms that keep sharing the same things; returns how many are proposed anew.

        ``names`` are those of the people of the home. Raises StorageError.
        """
        proposals = await tunnel_proposals.find(self._database, names)
        if not proposals:
            return 0
        async with self._one_change, self._database.transaction() as connection:
            return await self._propose(connection, proposals)

    async def reachable(
        self,
        caller: Caller,
        namespace_name: str,
        topics: Sequence[str] = (),
        *,
        from_hub: bool = True,
    ) -> list[str]:
        """Return the wings that a coding agent's search reaches, in the order that counts.

        Without those that only a hub reaches unless ``from_hub``. Raises StorageError.
        """
        async with self._database.reading() as connection:
            return await tunnel_search.reachable(
                connection, caller, namespace_name, topics, from_hub=from_hub
            )

    async def _propose(
        self, connection: aiosqlite.Connection, proposals: Sequence[Proposal]
    ) -> int:
        made = 0
        for proposal in proposals:
            if await tunnels.proposed_count(connection) >= tunnel_proposals.PROPOSED_AT_MOST:
                break
            made += await tunnels.propose(
                connection, proposal.rooms, proposal.reason, self._now_ms()
            )
        return made

    async def _change[T](self, change: Work[T]) -> T:
        """Change places; the memories of joined rooms have followed when it returns."""
        async with self._one_change:
            await self.upkeep.finish_moves()
            result = await self._commits.rearrange(change)
            await self.upkeep.finish_moves()
        return result

    async def _finish_moves(self) -> None:
        async with self._one_change:
            await self.upkeep.finish_moves()

    async def _open(self, work: Work[str], caller: Caller) -> Tunnel:
        async with self._one_change, self._database.transaction() as connection:
            tunnel = await tunnels.get(connection, caller, await work(connection))
            await self._audit(connection, caller, "tunnel_opened", tunnel)
        return tunnel

    async def _audit(
        self, connection: aiosqlite.Connection, caller: Caller, action: str, tunnel: Tunnel
    ) -> None:
        subject = f"tunnel:{tunnel.id}"
        await place_changes.audit(connection, caller, action, self._now_ms(), subject)


def _place(caller: Caller, wing: str, room: str | None) -> PlaceName:
    """Return a place by the names that a caller gave. Raises InvalidInputError."""
    named = wing_name(caller, wing)
    if named is None:
        raise InvalidInputError("missing", field="wing")
    return PlaceName(named, place_name(room, "room"))


def _check_kind(caller: Caller, tunnel: Tunnel) -> None:
    """Leave links and hubs to administrators. Raises AccessDeniedError."""
    if tunnel.kind is not TunnelKind.TUNNEL:
        _require_admin(caller)


def _require_admin(caller: Caller) -> None:
    if Access.ADMIN not in caller.access:
        raise AccessDeniedError("access_denied", access=Access.ADMIN.value)
