"""The search of a coding agent: what it keeps of what was found, and what counts as returned.

What a hook leaves out is left out before a page is filled, so that a page is only short where
nothing else is found. Only what the reply really holds counts as used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...core import (
    Access,
    Caller,
    Filters,
    InvalidInputError,
    MatchType,
    MemoryManager,
    SearchHit,
)
from ...core.memory_ids import SHORTEST_CHARACTERS
from ...core.models import LIVE
from ..operation import Operation, limited
from ..parameters import Kind, Parameter, Values
from ..replies import Reply
from .budget import SEARCH_TOKENS, Packet, budget
from .records import excerpt, index_entry, why
from .scope import NAMESPACE, TOPICS, scope_of

LIMIT_DEFAULT: Final = 8
LIMIT_MAXIMUM: Final = 50
_DEEPER: Final = 4
"""How many times as many hits are looked at where too many of them are left out."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Which hits a page may hold."""

    excluded: tuple[str, ...]
    least_cosine: float | None

    def admits(self, hit: SearchHit) -> bool:
        """Return whether a hit is like enough and not left out."""
        # What words alone have found is like the query to no degree.
        alike = self.least_cosine is None or hit.match_type is not MatchType.TEXT
        return alike and not hit.memory.id.startswith(self.excluded)


async def _search(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    scope = await scope_of(manager, caller, values, from_hub=True)
    kept = _Kept(_beginnings(values.texts("exclude")), values.number("min_cosine"))
    limit = values.whole("limit") or LIMIT_DEFAULT
    query = values.given("query")
    hits, ranking = await _page(manager, scope.narrowed(caller), query, limit, kept)
    packet = Packet({"ranking": ranking}, values.whole("budget_tokens") or SEARCH_TOKENS)
    short = await manager.ids.shortened(caller, (hit.memory.id for hit in hits))
    returned = [hit.memory for hit in hits if packet.offer(_hit_entry(hit, short[hit.memory.id]))]
    if not values.flag("recall"):
        manager.note_returned(returned)
    return packet.reply()


async def _page(
    manager: MemoryManager, caller: Caller, query: str, limit: int, kept: _Kept
) -> tuple[list[SearchHit], str]:
    """Return the best hits that may be on the page, and the ranking that they come from."""
    asked = limit + len(kept.excluded)
    while True:
        result = await manager.search(
            caller, Filters(statuses=LIVE), query, asked, kept.least_cosine, counted=False
        )
        hits = [hit for hit in result.hits if kept.admits(hit)]
        if len(hits) >= limit or len(result.hits) < asked:
            return hits[:limit], result.ranking
        asked *= _DEEPER


def _hit_entry(hit: SearchHit, shown_id: str) -> Reply:
    """Return what a hit holds: enough to decide whether to read the record, and why it is here."""
    memory = hit.memory
    entry = index_entry(memory, shown_id) | {
        "namespace": memory.wing,
        "excerpt": excerpt(memory.content),
        "updated": memory.updated.date().isoformat(),
        "why": why(hit),
    }
    if hit.score:
        entry["cosine"] = hit.score
    return entry


def _beginnings(given: Sequence[str]) -> tuple[str, ...]:
    """Return the beginnings of ids. Raises InvalidInputError for one too short to mean one."""
    beginnings = tuple(one.strip().upper() for one in given)
    if any(len(one) < SHORTEST_CHARACTERS for one in beginnings):
        raise InvalidInputError("ids_too_short", field="exclude", minimum=SHORTEST_CHARACTERS)
    return beginnings


OPERATIONS: Final = (
    Operation(
        name="memory_search",
        title="Search the memory",
        description=(
            "Search records by words and meaning. Give a namespace to search it, its projects,"
            " topics and what is global."
        ),
        parameters=(
            Parameter(name="query", required=True),
            NAMESPACE,
            TOPICS,
            limited(LIMIT_DEFAULT, LIMIT_MAXIMUM),
            Parameter(
                name="min_cosine",
                kind=Kind.NUMBER,
                description="keep only hits at least that similar",
                minimum=0,
                maximum=1,
            ),
            Parameter(
                name="exclude",
                kind=Kind.TEXTS,
                description="ids, or their first 8 or more characters, to leave out",
                maximum=LIMIT_MAXIMUM,
            ),
            Parameter(
                name="recall",
                kind=Kind.BOOLEAN,
                description="asked by a hook, not by a person: count nothing",
                default=False,
            ),
            budget(SEARCH_TOKENS),
        ),
        access=Access.READ,
        handler=_search,
    ),
)
