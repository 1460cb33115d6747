"""What becomes of anchors: they are listed, reported, swept and renamed.

The manager owns one. Entities are checked here, by the function that the home gave; paths, hosts
and addresses by clients that can see them, which report. Work goes in pages, each a transaction of
its own, so that neither the event loop nor another writer waits for a large memory.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from itertools import batched
import json
from typing import Final

import aiosqlite

from . import anchor_rows, memories, palace
from .anchor_rows import ROWS_AT_ONCE, Held, ListedAnchor, Span
from .anchors import AnchorKind, EntityCheck, clean_anchor, entity_anchor, entity_of
from .commits import Commits
from .database import Database
from .errors import InvalidInputError
from .models import LIVE, Action, AnchorState, Caller, Filters
from .text_input import check_id, wing_name
from .transaction import Transaction, Written
from .visibility import Clause, visible_to

REPORTS_MAXIMUM: Final = 200
READ_AT_ONCE: Final = 250

_ALL_LIVE: Final = Clause("m.status IN ('active', 'candidate')", {})
HOME: Final = Caller(source="home")
"""Who checks entities."""


class Report(StrEnum):
    """What was found where an anchor points."""

    OK = "ok"
    MISSING = "missing"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorFilters:
    """Narrow a list of anchors; None means any."""

    wing: str | None = None
    memory_id: str | None = None
    kind: AnchorKind | None = None
    state: AnchorState | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """What a report did: how many anchors it was about, which memories changed, what is unknown."""

    anchors: int
    memory_ids: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepCounts:
    """How many entities a sweep looked for and what it found; ``changed`` counts memories."""

    checked: int
    ok: int
    missing: int
    unavailable: int
    changed: int


@dataclass(frozen=True, slots=True)
class Sweep:
    """One look at all anchored entities."""

    at: datetime
    counts: SweepCounts


class _Tally:
    """Counts what a sweep finds, page by page in the order of the anchors."""

    def __init__(self) -> None:
        """Start with nothing found."""
        self._found = Counter[Report]()
        self._last = ""
        self._changed: set[int] = set()

    def note(
        self, page: Sequence[Held], answers: Mapping[str, Report], changed: Mapping[int, str]
    ) -> None:
        """Count the anchors of a page, one that many memories have once, and what changed."""
        for one in page:
            if one.anchor != self._last:
                self._found[answers[one.anchor]] += 1
                self._last = one.anchor
            if one.sequence in changed:
                self._changed.add(one.sequence)

    def counts(self) -> SweepCounts:
        """Return what was counted."""
        return SweepCounts(
            checked=self._found.total(),
            ok=self._found[Report.OK],
            missing=self._found[Report.MISSING],
            unavailable=self._found[Report.UNAVAILABLE],
            changed=len(self._changed),
        )


class AnchorKeeper:
    """Knows the anchors of one database."""

    def __init__(self, database: Database, commits: Commits, check: EntityCheck) -> None:
        """Keep what is asked and what writes."""
        self._database = database
        self._commits = commits
        self._check = check
        self._sweeping = asyncio.Lock()
        self.last_sweep: Sweep | None = None

    async def load(self, connection: aiosqlite.Connection) -> None:
        """Read back when the last sweep was."""
        self.last_sweep = _sweep_of(await anchor_rows.last_sweep(connection))

    async def listed(
        self, caller: Caller, filters: AnchorFilters, limit: int
    ) -> list[ListedAnchor]:
        """Return anchors of memories that the caller may see. Raises StorageError."""
        clause = _clause(caller, filters)
        async with self._database.reading() as connection:
            found = await anchor_rows.listed(connection, clause, limit)
        return [self._as_swept(one) for one in found]

    async def report(
        self, caller: Caller, reports: Mapping[str, Report], filters: AnchorFilters
    ) -> Reported:
        """Note what a client found, for the memories that it may see.

        Raises InvalidInputError for what is no anchor or is an entity, and StorageError.
        """
        cleaned = _cleaned(reports)
        clause = _clause(caller, filters)
        counts, changed = Counter[str](), set[str]()
        for anchor, found in cleaned.items():
            counts[anchor], memory_ids = await self._note(caller, clause, anchor, found)
            changed |= memory_ids
        unknown = tuple(anchor for anchor, count in counts.items() if not count)
        return Reported(counts.total(), tuple(sorted(changed)), unknown)

    async def sweep(self, caller: Caller) -> Sweep:
        """Look for every anchored entity in the home. Raises StorageError.

        Where nobody can tell, an anchor keeps its state. Returns what was found of the memories
        that the caller may see; all of it is put on record.
        """
        async with self._sweeping:
            whole, told = _Tally(), _Tally()
            span = Span(f"{AnchorKind.ENTITY}:", f"{AnchorKind.ENTITY};")
            while page := await self._page(_ALL_LIVE, span):
                answers = {one.anchor: self._looked_for(one.anchor) for one in page}
                span = span.beyond(page[-1])
                changed: dict[int, str] = {}
                for report in Report:
                    due = [one for one in page if answers[one.anchor] is report]
                    changed |= await self._settle(HOME, _news(due, report), report)
                seen = await self._seen(caller, page)
                whole.note(page, answers, changed)
                told.note([one for one in page if one.sequence in seen], answers, changed)
            swept = await self._swept(caller, whole.counts())
            return replace(swept, counts=told.counts())

    async def entity_came(self, entity_id: str) -> None:
        """Note that the home has an entity from now on. Raises StorageError."""
        await self._note(HOME, _ALL_LIVE, entity_anchor(entity_id), Report.OK)

    async def entity_went(self, entity_id: str) -> None:
        """Note that an entity was removed from the home. Raises StorageError."""
        await self._note(HOME, _ALL_LIVE, entity_anchor(entity_id), Report.MISSING)

    async def entity_renamed(self, old: str, new: str) -> None:
        """Let the anchors of an entity follow it to its new id. Raises StorageError.

        Texts stay as they were written.
        """
        names = entity_anchor(old), entity_anchor(new)
        span = Span(names[0], names[0])
        while page := await self._page(Clause("1", {}), span):
            span = span.beyond(page[-1])
            await self._rename(page, names[1])
        await self.entity_came(new)

    async def _page(self, clause: Clause, span: Span) -> list[Held]:
        async with self._database.reading() as connection:
            return await anchor_rows.held(connection, clause, span, READ_AT_ONCE)

    async def _seen(self, caller: Caller, page: Sequence[Held]) -> set[int]:
        """Return which of the memories behind some anchors the caller may see."""
        clause = visible_to(caller, Filters(statuses=LIVE))
        sequences = sorted({one.sequence for one in page})
        async with self._database.reading() as connection:
            listed = await memories.visible_sequences(connection, clause, sequences)
        return set(json.loads(listed))

    def _looked_for(self, anchor: str) -> Report:
        there = self._check(entity_of(anchor) or "")
        if there is None:
            return Report.UNAVAILABLE
        return Report.OK if there else Report.MISSING

    async def _note(
        self, caller: Caller, clause: Clause, anchor: str, report: Report
    ) -> tuple[int, set[str]]:
        """Note the same of one anchor everywhere; returns how many there are, and what changed."""
        count, changed, span = 0, set[str](), Span(anchor, anchor)
        while page := await self._page(clause, span):
            span = span.beyond(page[-1])
            count += len(page)
            changed |= {*(await self._settle(caller, page, report)).values()}
        return count, changed

    async def _settle(
        self, caller: Caller, found: Sequence[Held], report: Report
    ) -> dict[int, str]:
        """Write down what was found out; returns the ids of the memories that changed."""
        changed: dict[int, str] = {}

        async def work(rows: Sequence[Held], write: Transaction) -> tuple[None, list[Written]]:
            rows = await anchor_rows.as_they_are(write.connection, rows)
            if report is Report.UNAVAILABLE:
                await anchor_rows.note_unavailable(write, rows)
                return None, []
            changes = await anchor_rows.settle(write, rows, AnchorState(report.value))
            changed.update((after.sequence, after.id) for _, after in changes if after)
            return None, [await write.record(Action.CHECKED, changes)] if changes else []

        for rows in batched(found, ROWS_AT_ONCE, strict=False):
            await self._commits.run(caller, partial(work, rows))
        return changed

    async def _rename(self, page: Sequence[Held], new: str) -> None:
        async def work(write: Transaction) -> tuple[None, list[Written]]:
            changes = await anchor_rows.rename(write, page, new)
            size = await palace.size(write.connection)
            return None, [Written(action=Action.CHECKED, changes=changes, palace=size)]

        await self._commits.run(HOME, work)

    async def _swept(self, caller: Caller, counts: SweepCounts) -> Sweep:
        """Put a sweep on record."""

        async def work(write: Transaction) -> tuple[datetime, list[Written]]:
            await anchor_rows.audit_sweep(write, json.dumps(asdict(counts)))
            return datetime.fromtimestamp(write.now_ms / 1000, UTC), []

        self.last_sweep = Sweep(await self._commits.run(caller, work), counts)
        return self.last_sweep

    def _as_swept(self, one: ListedAnchor) -> ListedAnchor:
        """Return an anchor with the time of the sweep that found its entity as it was."""
        at = self.last_sweep.at if self.last_sweep else None
        if at and one.checked and entity_of(one.anchor) and one.unavailable_since is None:
            return replace(one, checked=max(at, one.checked))
        return one


def _cleaned(reports: Mapping[str, Report]) -> dict[str, Report]:
    """Return reports on anchors in their stored form. Raises InvalidInputError."""
    if len(reports) > REPORTS_MAXIMUM:
        raise InvalidInputError("too_many", field="reports", maximum=REPORTS_MAXIMUM)
    cleaned = {clean_anchor(anchor): found for anchor, found in reports.items()}
    if any(entity_of(anchor) for anchor in cleaned):
        raise InvalidInputError("entity_reported", field="reports")
    return cleaned


def _news(found: Sequence[Held], report: Report) -> list[Held]:
    """Return those anchors of which the report says something that is not yet written down."""
    if report is Report.UNAVAILABLE:
        return [one for one in found if not one.unavailable]
    return [one for one in found if one.unavailable or one.state.value != report.value]


def _clause(caller: Caller, filters: AnchorFilters) -> Clause:
    """Return the condition on ``a`` and ``m`` for what a caller asks. Raises InvalidInputError."""
    visible = visible_to(caller, Filters(wing=wing_name(caller, filters.wing), statuses=LIVE))
    conditions, parameters = [visible.sql], dict(visible.parameters)
    if filters.memory_id is not None:
        check_id(filters.memory_id)
        conditions.append("m.id = :memory_id")
        parameters["memory_id"] = filters.memory_id
    if filters.kind is not None:
        conditions.append("a.anchor >= :kind AND a.anchor < :next_kind")
        parameters |= {"kind": f"{filters.kind}:", "next_kind": f"{filters.kind};"}
    if filters.state is not None:
        conditions.append("a.state = :state")
        parameters["state"] = filters.state
    return Clause(" AND ".join(conditions), parameters)


def _sweep_of(row: tuple[datetime, str] | None) -> Sweep | None:
    """Return the sweep that an audit row tells of."""
    return None if row is None else Sweep(row[0], SweepCounts(**json.loads(row[1])))
