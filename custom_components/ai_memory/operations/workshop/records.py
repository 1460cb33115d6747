"""How a memory of the workshop looks to a coding agent: as a record, with dates and provenance.

A record's title is the memory's summary, its namespace the wing. What says nothing is left out:
every field costs the reader tokens.
"""

from typing import Final

from ...core import Memory, SearchHit, Status
from ...core.models import UNWITNESSED
from ..replies import Reply

CLIENT_SOURCE: Final = "mcp:"
"""What stands before a client's name in the source of what it writes."""
EXCERPT_CHARACTERS: Final = 240
CONFIDENCE_DIGITS: Final = 3


def writer_of(memory: Memory) -> str:
    """Return who wrote a memory: a client by name, or the door it came through."""
    return memory.source.removeprefix(CLIENT_SOURCE)


def title_of(memory: Memory) -> str:
    """Return the title, or how the text begins where it has none."""
    return memory.summary or excerpt(memory.content, 80)


def excerpt(text: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def index_entry(memory: Memory, shown_id: str) -> Reply:
    """Return what an index holds of a record: enough to decide whether to read it."""
    entry: Reply = {"id": shown_id, "type": memory.type, "title": title_of(memory)}
    if memory.status is not Status.ACTIVE:
        entry["status"] = memory.status.value
    return entry | missing(memory)


def record(memory: Memory) -> Reply:
    """Return a record in full."""
    full: Reply = {
        "id": memory.id,
        "namespace": memory.wing,
        "type": memory.type,
        "title": memory.summary,
        "content": memory.content,
        "status": memory.status.value,
        "revision": memory.revision,
        "confidence": memory.confidence,
        "agent": writer_of(memory),
        "created": memory.created.isoformat(timespec="seconds"),
        "updated": memory.updated.isoformat(timespec="seconds"),
    }
    if memory.tally != UNWITNESSED:
        full["proof_count"] = memory.tally.proofs
        full["refutation_count"] = memory.tally.refutations
    if memory.evidence != 1:
        full["effective_confidence"] = round(memory.effective_confidence, CONFIDENCE_DIGITS)
    if memory.superseded_by is not None:
        full["superseded_by"] = memory.superseded_by
    if memory.expires is not None:
        full["expires"] = memory.expires.isoformat(timespec="seconds")
    if memory.anchors:
        full["anchors"] = [anchor.target for anchor in memory.anchors]
    return full | missing(memory)


def witnessed(memory: Memory) -> Reply:
    """Return how many witnesses speak for a record and how many against it, if there are any."""
    if memory.tally == UNWITNESSED:
        return {}
    return {"evidence": f"{memory.tally.proofs} for/{memory.tally.refutations} against"}


def why(hit: SearchHit) -> str:
    """Return how a search found a record, and what it rests on."""
    evidence = witnessed(hit.memory).get("evidence", "asserted, unwitnessed")
    return f"{hit.why}; {evidence}"


def missing(memory: Memory) -> Reply:
    """Return what a memory is about that is gone, if anything is."""
    gone = memory.missing_anchors
    return {"missing_anchors": [*gone]} if gone else {}
