"""The shape of every answer: plain values that any door can serialise as they are.

Times are ISO 8601 in UTC. Owners stay inside: a caller only ever sees what is common or its own.
"""

from dataclasses import asdict
from datetime import datetime
from typing import Final

from ..core import (
    AddResult,
    Caller,
    LayerMove,
    ListedAnchor,
    ListResult,
    Memory,
    MoveReason,
    SearchHit,
    SearchResult,
    Sweep,
    TimelineEntry,
    UpdateResult,
    Version,
    Witnessed,
    sees,
)
from ..core.steps import in_steps
from ..core.transfer import ImportReport

EXCERPT_CHARACTERS: Final = 500
MOVES_TOLD: Final = 1_000
CONFIDENCE_DIGITS: Final = 4

type JsonValue = str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None
type Reply = dict[str, JsonValue]


def memory_reply(memory: Memory) -> Reply:
    """Return a memory with everything a caller may know of it.

    When it lapses, what replaced it, how far witnesses moved its confidence and what it is about
    and is missing, where that is so.
    """
    reply: Reply = {
        "id": memory.id,
        "content": memory.content,
        "summary": memory.summary,
        "wing": memory.wing,
        "room": memory.room,
        "scope": memory.scope.value,
        "layer": int(memory.layer),
        "type": memory.type,
        "status": memory.status.value,
        "confidence": memory.confidence,
        "revision": memory.revision,
        "language": memory.language,
        "created": memory.created.isoformat(),
        "updated": memory.updated.isoformat(),
        "accessed": memory.accessed.isoformat() if memory.accessed else None,
        "access_count": memory.access_count,
        "source": memory.source,
        "pinned": memory.pinned,
    }
    if memory.expires is not None:
        reply["expires"] = memory.expires.isoformat()
    if memory.superseded_by is not None:
        reply["superseded_by"] = memory.superseded_by
    if memory.evidence != 1:
        reply["effective_confidence"] = round(memory.effective_confidence, CONFIDENCE_DIGITS)
    if missing := memory.missing_anchors:
        reply["missing_anchors"] = [*missing]
    return reply


def anchors_of_reply(memory: Memory) -> Reply:
    """Return what a memory is anchored to, and nothing where it is not."""
    anchors: list[JsonValue] = [
        {"anchor": one.target, "state": one.state.value} for one in memory.anchors
    ]
    return {"anchors": anchors} if anchors else {}


def anchors_reply(listed: list[ListedAnchor], *, more: bool) -> Reply:
    """Return anchors with the memories they belong to, and whether there are more."""
    told: list[JsonValue] = [
        anchor_reply(one) | {"memory_id": one.memory_id, "wing": one.wing, "room": one.room}
        for one in listed
    ]
    return {"anchors": told, "count": len(told), "more": more}


def anchor_reply(one: ListedAnchor) -> Reply:
    """Return what an anchor is and how it was found."""
    return {
        "anchor": one.anchor,
        "state": one.state.value,
        "checked": _time(one.checked),
        "unavailable_since": _time(one.unavailable_since),
    }


def sweep_reply(sweep: Sweep) -> Reply:
    """Return when the entities were looked for and how many of them are there."""
    return {"at": sweep.at.isoformat()} | asdict(sweep.counts)


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def add_reply(result: AddResult) -> Reply:
    """Return what became of a new memory, what had to go for it and what it is much like."""
    reply: Reply = {
        "result": "refreshed" if result.refreshed else "added",
        "memory": memory_reply(result.memory),
        "evicted": [
            {"id": gone.id, "wing": gone.wing, "room": gone.room} for gone in result.evicted
        ],
        "evicted_count": result.evicted_count,
    }
    if result.superseded is not None:
        reply["superseded"] = result.superseded.id
    if result.similar is not None:
        reply["similar"] = {"id": result.similar.id, "content": result.similar.content}
    return reply


def update_reply(result: UpdateResult) -> Reply:
    """Return the memory as it stands after an update."""
    outcome = "updated" if result.changed else "unchanged"
    return {"result": outcome, "memory": memory_reply(result.memory)}


async def list_reply(result: ListResult, *, excerpts: bool = False) -> Reply:
    """Return a page of memories and how many there are in all; a long one is made in steps.

    Of long contents only the beginning is told where ``excerpts`` are wanted.
    """
    memories, total = list(result.memories), result.total
    del result
    listed: list[JsonValue] = [
        memory_reply(memory) | (excerpt_of(memory.content) if excerpts else {})
        async for some in in_steps(memories)
        for memory in some
    ]
    return {"memories": listed, "count": len(listed), "total": total}


def excerpt_of(content: str) -> Reply:
    """Return the beginning of a long content, cut at a word, and nothing for a short one."""
    if len(content) <= EXCERPT_CHARACTERS:
        return {}
    end = max(content.rfind(space, 0, EXCERPT_CHARACTERS + 1) for space in " \n\t")
    # Scripts without spaces, and addresses, are cut anywhere.
    end = end if end > EXCERPT_CHARACTERS // 2 else EXCERPT_CHARACTERS
    return {"content": content[:end].rstrip(), "truncated": True}


def search_reply(result: SearchResult) -> Reply:
    """Return the hits with how each was found and, where asked for, what it said before."""
    hits: list[JsonValue] = [_hit(hit) for hit in result.hits]
    return {"results": hits, "count": len(hits), "ranking": result.ranking}


def _hit(hit: SearchHit) -> Reply:
    reply = memory_reply(hit.memory) | {
        "score": hit.score,
        "match_type": hit.match_type.value,
        "why": hit.why,
    }
    if hit.via is not None:
        reply["via"] = hit.via
    if hit.earlier:
        earlier: list[JsonValue] = [
            {
                "content": version.content,
                "since": version.since.isoformat(),
                "until": version.until.isoformat() if version.until else None,
            }
            for version in hit.earlier
        ]
        reply["earlier"] = earlier
    return reply


def maintain_reply(caller: Caller, moves: list[LayerMove], *, dry_run: bool) -> Reply:
    """Return how many memories moved and, of those the caller may see, which and why."""
    counts: dict[str, JsonValue] = {
        reason.value: sum(move.reason is reason for move in moves) for reason in MoveReason
    }
    seen: list[JsonValue] = [
        {
            "id": move.memory.id,
            "from": int(move.memory.layer),
            "to": int(move.to),
            "reason": move.reason.value,
        }
        for move in moves
        if sees(caller, move.memory)
    ]
    return {
        "dry_run": dry_run,
        "count": len(moves),
        "reasons": counts,
        "moved": seen[:MOVES_TOLD],
    }


def import_reply(report: ImportReport) -> Reply:
    """Return how much of an import was new, and the first lines that were passed over."""
    return {
        "format": report.format.value,
        "dry_run": report.dry_run,
        "read": report.read,
        "added": report.added,
        "known": report.known,
        "updated": report.updated,
        "skipped": report.skipped,
        "refused": report.refused,
        "places": report.places,
        "tunnels": report.tunnels,
        "skipped_lines": [
            {"line": one.line, "reason": one.reason.value} for one in report.skipped_lines
        ],
    }


def delete_reply(memory_ids: tuple[str, ...]) -> Reply:
    """Return what was deleted."""
    return {"result": "deleted", "deleted": len(memory_ids), "memory_ids": list(memory_ids)}


def witnessed_reply(witnessed: Witnessed) -> Reply:
    """Return how far a memory can be relied on after a witness."""
    return {
        "result": "witnessed",
        "memory": memory_reply(witnessed.memory),
        "proof_count": witnessed.tally.proofs,
        "refutation_count": witnessed.tally.refutations,
        "effective_confidence": round(witnessed.memory.effective_confidence, CONFIDENCE_DIGITS),
    }


def history_reply(versions: list[Version]) -> Reply:
    """Return what a memory says and said before, newest first."""
    told: list[JsonValue] = [_version(version) for version in versions]
    return {"versions": told, "count": len(told)}


def timeline_reply(entries: list[TimelineEntry]) -> Reply:
    """Return what was said by time, each with where its memory is."""
    told: list[JsonValue] = [
        _version(entry.version) | {"wing": entry.wing, "room": entry.room} for entry in entries
    ]
    return {"timeline": told, "count": len(told)}


def _version(version: Version) -> Reply:
    return {
        "memory_id": version.memory_id,
        "content": version.content,
        "summary": version.summary,
        "status": version.status.value,
        "since": version.since.isoformat(),
        "until": version.until.isoformat() if version.until else None,
    }


_TELLING: Final = frozenset({"memory", "record", "similar"})
"""Members of a reply that hold a memory with its words."""
_NAMING: Final = frozenset({"id", "namespace", "wing", "room", "status", "revision"})


def without_words(reply: Reply) -> Reply:
    """Return a reply for a caller who may write but not read: memories are named, not told."""
    return {
        name: {key: one for key, one in value.items() if key in _NAMING}
        if name in _TELLING and isinstance(value, dict)
        else value
        for name, value in reply.items()
    }
