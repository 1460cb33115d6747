"""Putting wings, rooms and tunnels of an export in place.

``importing`` calls it inside its transactions, after the memories are stored. What somebody wrote
here already stays: a description, a scope that is not the first one, a tunnel that was dismissed.
An administrator's import brings places in whatever lies there; everybody else has to know a place,
and whether there is one that they do not know is told to nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import aiosqlite

from .. import place_changes, place_view, tunnels
from ..errors import AiMemoryError, NotFoundError
from ..models import Access, Caller, Scope, is_workshop
from ..palace import ensure_place, ensure_wing, first_scope
from ..place_view import PlaceName, PlaceRows
from ..places import DESCRIPTION_LIMIT_CHARACTERS, REASON_LIMIT_CHARACTERS
from ..screen import WORKSHOP, Strictness, screen
from ..text_input import clean_text, place_name, wing_name
from ..tunnel_rows import End, TunnelKind, TunnelState, between
from .values import ImportedPlace, ImportedTunnel, Skipped, SkipReason

LINES_AT_ONCE: Final = 100
"""Lines of one transaction."""

_SCOPE: Final = "UPDATE wings SET default_scope = ? WHERE id = ?"

type Line = ImportedPlace | ImportedTunnel


class _RefusedError(Exception):
    """A line that is passed over, with the reason."""

    def __init__(self, reason: SkipReason) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Furnisher:
    """What one import does to the palace.

    ``met`` are the places of the memories that it brings, ``met_common`` those of common ones: a
    dry run counts with them as if they were there.
    """

    caller: Caller
    home: Strictness
    dry_run: bool
    met: set[PlaceName] = field(default_factory=set)
    met_common: set[PlaceName] = field(default_factory=set)
    places: int = 0
    tunnels: int = 0

    async def furnish(
        self, connection: aiosqlite.Connection, lines: Sequence[Line], now_ms: int
    ) -> list[Skipped]:
        """Put what some lines tell in place; returns those that are passed over."""
        skipped = []
        for line in lines:
            try:
                if isinstance(line, ImportedPlace):
                    self.places += await self._describe(connection, self._clean(line), now_ms)
                else:
                    self.tunnels += await self._join(connection, self._cleaned(line), now_ms)
            except _RefusedError as refused:
                skipped.append(Skipped(line.line, refused.reason))
            except AiMemoryError as err:
                known = err.key in set(SkipReason)
                reason = SkipReason(err.key) if known else SkipReason.INVALID_VALUE
                skipped.append(Skipped(line.line, reason))
        return skipped

    def meet(self, wing: str, room: str, scope: Scope) -> None:
        """Note where a memory is brought."""
        places = {PlaceName(wing), PlaceName(wing, room)}
        self.met |= places
        if scope is Scope.COMMON:
            self.met_common |= places

    @property
    def _is_admin(self) -> bool:
        return Access.ADMIN in self.caller.access

    def _clean(self, told: ImportedPlace) -> ImportedPlace:
        place = self._named(told.place)
        text = clean_text(told.description, "description", DESCRIPTION_LIMIT_CHARACTERS)
        self._check_secret(text, place)
        return replace(told, place=place, description=text)

    def _cleaned(self, told: ImportedTunnel) -> ImportedTunnel:
        start = self._named(told.start)
        reason = clean_text(told.reason, "reason", REASON_LIMIT_CHARACTERS)
        end = None if told.end is None else self._named(told.end)
        for place in filter(None, (start, end)):
            self._check_secret(reason, place)
        return replace(told, start=start, end=end, reason=reason)

    def _named(self, told: PlaceName) -> PlaceName:
        wing = wing_name(self.caller, told.wing)
        if wing is None:
            raise _RefusedError(SkipReason.INVALID_VALUE)
        if not self.caller.reach.admits(wing) or is_workshop(wing) != is_workshop(told.wing):
            raise _RefusedError(SkipReason.WING)
        return PlaceName(wing, place_name(told.room, "room"))

    def _check_secret(self, text: str, place: PlaceName) -> None:
        strictness = WORKSHOP if is_workshop(place.wing) else self.home
        if text and screen("text", text, strictness):
            raise _RefusedError(SkipReason.SCREENED)

    async def _describe(
        self, connection: aiosqlite.Connection, told: ImportedPlace, now_ms: int
    ) -> bool:
        """Say what a place is for, where nobody did; returns whether anything changed."""
        scope = self._wanted_scope(told)
        if not told.description and scope is None:
            return False
        rows = await place_view.find_place(connection, told.place)
        if not await self._may_describe(connection, told.place):
            raise _RefusedError(SkipReason.PLACE)
        if rows is None and self.dry_run:
            return True
        if rows is None:
            rows = await _made(connection, told.place, now_ms)
        held = await _held(connection, rows)
        described = bool(told.description) and not held.description
        scoped = scope is not None and scope is not held.scope is first_scope(told.place.wing)
        if self.dry_run:
            return described or scoped
        if described:
            table, row = ("wings", rows.wing_id)
            if rows.room_id is not None:
                table, row = ("rooms", rows.room_id)
            sql = f"UPDATE {table} SET description = ? WHERE id = ?"
            await connection.execute(sql, (told.description, row))
            await self._audit(connection, "place_described", now_ms, told.place.subject)
        if scoped and scope is not None:
            await connection.execute(_SCOPE, (scope, rows.wing_id))
            await self._audit(connection, "place_scoped", now_ms, told.place.subject, scope)
        return described or scoped

    def _wanted_scope(self, told: ImportedPlace) -> Scope | None:
        """Return the default scope that a wing should have; only an administrator sets one."""
        return told.default_scope if self._is_admin and told.place.room is None else None

    async def _may_describe(self, connection: aiosqlite.Connection, place: PlaceName) -> bool:
        if self._is_admin:
            return True
        if self.dry_run and place in self.met_common:
            return True
        known = await place_view.find_known(connection, self.caller, place)
        return known is not None and await place_view.is_common(connection, known)

    async def _join(
        self, connection: aiosqlite.Connection, told: ImportedTunnel, now_ms: int
    ) -> bool:
        """Open a tunnel that there is not yet; returns whether it did."""
        if told.kind is not TunnelKind.TUNNEL and not self._is_admin:
            raise _RefusedError(SkipReason.LINK)
        tunnels.check_ends(told.kind, told.start, told.end)
        ends = [place for place in (told.start, told.end) if place is not None]
        plain = told.kind is TunnelKind.TUNNEL and told.start.room is None
        if plain and all(is_workshop(place.wing) for place in ends):
            # Only a link joins two namespaces.
            raise _RefusedError(SkipReason.INVALID_VALUE)
        if not self._is_admin:
            for place in ends:
                await self._check_known(connection, place)
        rows = [await place_view.find_place(connection, place) for place in ends]
        if self.dry_run and None in rows:
            return True
        found = [
            there or await _made(connection, place, now_ms)
            for place, there in zip(ends, rows, strict=True)
        ]
        start, *others = (End(one.wing_id, one.room_id) for one in found)
        end = next(iter(others), None)
        there = await between(connection, start, end)
        if there is not None and there.state is not TunnelState.PROPOSED:
            return False
        if self.dry_run:
            return True
        reason = told.reason
        if not self._is_admin and not all(
            [await place_view.is_common(connection, one) for one in found]
        ):
            reason = ""
        made = await tunnels.open_between(
            connection, self.caller, told.kind, start, end, there, reason, now_ms
        )
        await self._audit(connection, "tunnel_opened", now_ms, f"tunnel:{made}")
        return True

    async def _check_known(self, connection: aiosqlite.Connection, place: PlaceName) -> None:
        if self.dry_run and place in self.met:
            return
        if await place_view.find_known(connection, self.caller, place) is None:
            raise _RefusedError(SkipReason.PLACE)

    async def _audit(
        self, connection: aiosqlite.Connection, action: str, now_ms: int, *subject: str
    ) -> None:
        await place_changes.audit(connection, self.caller, action, now_ms, *subject)


@dataclass(frozen=True, slots=True)
class _Held:
    """What is written about a place already."""

    description: str
    scope: Scope


async def _held(connection: aiosqlite.Connection, rows: PlaceRows) -> _Held:
    found = await connection.execute_fetchall(
        "SELECT w.description, w.default_scope, r.description FROM wings w"
        " LEFT JOIN rooms r ON r.id = ? WHERE w.id = ?",
        (rows.room_id, rows.wing_id),
    )
    wing, scope, room = next(iter(found))
    return _Held(wing if rows.room_id is None else room, Scope(scope))


async def _made(connection: aiosqlite.Connection, place: PlaceName, now_ms: int) -> PlaceRows:
    """Return the rows of a place that was missing."""
    if place.room is None:
        return PlaceRows(place, await ensure_wing(connection, place.wing, now_ms), None)
    await ensure_place(connection, place.wing, place.room, now_ms)
    found = await place_view.find_place(connection, place)
    if found is None:
        raise NotFoundError("place_not_found", place=place.told)
    return found
