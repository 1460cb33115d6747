"""What a coding agent writes: records, corrections at a revision, evidence, the end of a session.

The memory sets status and revision and says who wrote; an agent says the rest. Every refusal
changes nothing and says what would help.
"""

from collections.abc import Mapping
from typing import Final

from ...core import (
    Access,
    AccessDeniedError,
    Caller,
    InvalidInputError,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Scope,
    Stance,
    Status,
    additions,
)
from ...core.additions import Addition
from ...core.models import LIVE, MEMORY_TYPES
from ...core.receipts import Receipt, Result
from ...core.transaction import Transaction, Written
from ..operation import Operation, required
from ..parameters import Kind, Parameter, Values, parse_arguments
from ..replies import Reply
from .records import CONFIDENCE_DIGITS, index_entry, record
from .scope import NAMESPACE

ANCHORS_MAXIMUM: Final = 16
DO_NOT_STORE: Final = "do-not-store"
SUMMARY_TITLE: Final = "Session summary"
SUMMARY_TYPE: Final = "session_summary"

_ID: Final = Parameter(
    name="id", required=True, description="full, or its first 8 or more characters"
)
_TYPE: Final = Parameter(name="type", kind=Kind.CHOICE, choices=MEMORY_TYPES)
_TITLE: Final = Parameter(name="title", description="one line that says it all")
_CONTENT: Final = Parameter(name="content", description="the fact, with what makes it checkable")
_CONFIDENCE: Final = Parameter(name="confidence", kind=Kind.NUMBER, minimum=0, maximum=1)
_ANCHORS: Final = Parameter(
    name="anchors",
    kind=Kind.TEXTS,
    description="what must exist for it to hold: entity:…, path:…, host:…, url:…",
    maximum=ANCHORS_MAXIMUM,
)
_REVISION: Final = Parameter(
    name="revision", kind=Kind.INTEGER, minimum=1, maximum=2**53, description="the one you read"
)
_STATUS: Final = Parameter(name="status", kind=Kind.CHOICE, choices=LIVE)
_CHANGES: Final = (
    _TITLE,
    _CONTENT,
    _TYPE,
    _STATUS,
    _CONFIDENCE,
    _ANCHORS,
    Parameter(name="namespace"),
)


async def _store(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    replaced = values.text("supersedes")
    if replaced is not None:
        replaced = (await manager.ids.find(caller, replaced)).id
    confidence = values.number("confidence")
    new = NewMemory(
        content=values.given("content"),
        summary=values.given("title"),
        wing=values.given("namespace"),
        room=values.given("type"),
        scope=Scope.COMMON,
        type=values.given("type"),
        confidence=1.0 if confidence is None else confidence,
        anchors=values.texts("anchors"),
        supersedes=replaced,
    )
    result = await manager.add(caller, new)
    reply: Reply = {
        "result": "known" if result.refreshed else "stored",
        "record": record(result.memory),
    }
    if result.superseded is not None:
        reply["superseded"] = result.superseded.id
    if result.similar is not None:
        reply["similar"] = index_entry(result.similar, result.similar.id)
    return reply


async def _update(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    memory = await manager.ids.find(caller, values.given("id"))
    changes = _changes(values.mapping("changes"))
    result = await manager.update(caller, memory.id, changes, values.whole("revision"))
    return {
        "result": "updated" if result.changed else "unchanged",
        "record": record(result.memory),
    }


def _changes(sent: Mapping[str, object]) -> MemoryChanges:
    """Return the changes; an unknown one is refused, for it would be lost without a word."""
    known = {parameter.name for parameter in _CHANGES}
    if unknown := sorted(sent.keys() - known):
        raise InvalidInputError(
            "unknown_change",
            field="changes",
            names=", ".join(unknown)[:200],
            known=", ".join(sorted(known)),
        )
    if not sent:
        raise InvalidInputError("missing", field="changes")
    values = parse_arguments(_CHANGES, sent)
    status, wanted = values.text("status"), values.text("type")
    return MemoryChanges(
        content=values.text("content"),
        summary=values.text("title"),
        wing=values.text("namespace"),
        room=wanted,
        type=wanted,
        status=None if status is None else Status(status),
        confidence=values.number("confidence"),
        anchors=values.texts("anchors") if "anchors" in sent else None,
    )


async def _corroborate(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    memory = await manager.ids.find(caller, values.given("id"))
    witnessed = await manager.lifecycle.corroborate(
        caller, memory.id, values.given("quote"), Stance(values.given("stance"))
    )
    after = witnessed.memory
    return {
        "id": after.id,
        "revision": after.revision,
        "confidence": after.confidence,
        "effective_confidence": round(after.effective_confidence, CONFIDENCE_DIGITS),
        "proof_count": witnessed.tally.proofs,
        "refutation_count": witnessed.tally.refutations,
    }


async def _forget(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    memory = await manager.ids.find(caller, values.given("id"))
    hard = bool(values.flag("hard"))
    await manager.lifecycle.forget(caller, memory.id, values.whole("revision"), hard=hard)
    return {
        "result": "purged" if hard else "forgotten",
        "id": memory.id,
        "kept_days": 0 if hard else manager.lifecycle.retention_days,
    }


async def _session_close(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    """Close a session; with an ``op_id`` a repeated call is told what the first one did."""
    sent = {name: values.text(name) for name in ("namespace", "summary", "notes")}
    summary = await _summary(manager, caller, values)

    async def close(write: Transaction) -> tuple[Result, list[Written]]:
        written: list[Written] = []
        reply: Result = {"result": "closed", "summary_id": None, "notes": _notes(values)}
        if summary is not None:
            added, written = await additions.add(write, summary)
            reply["summary_id"] = added.memory.id
        return reply, written

    op_id = values.text("op_id")
    if op_id is None:
        return await manager.commits.run(caller, close)
    receipt = Receipt.of(op_id, caller.agent or "", sent)
    reply, replayed = await manager.lifecycle.once(caller, receipt, close)
    return reply | {"replayed": replayed}


async def _summary(manager: MemoryManager, caller: Caller, values: Values) -> Addition | None:
    """Return the summary as a candidate, where such are wanted."""
    new = NewMemory(
        content=values.given("summary"),
        summary=SUMMARY_TITLE,
        wing=values.given("namespace"),
        room=SUMMARY_TYPE,
        scope=Scope.COMMON,
        type=SUMMARY_TYPE,
        status=Status.CANDIDATE,
    )
    # Prepared in any case: what cannot be stored is refused whether or not it would be.
    prepared = await manager.prepare(caller, new)
    wing = prepared.new.wing or ""
    if not caller.reach.admits(wing):
        raise AccessDeniedError("wing_not_allowed", wing=wing)
    return prepared if manager.workshop.summary_candidates else None


def _notes(values: Values) -> str:
    """Return what became of the notes, which only a model could make records of."""
    notes = (values.text("notes") or "").lower()
    return "refused" if DO_NOT_STORE in notes else "not_kept"


OPERATIONS: Final = (
    Operation(
        name="memory_store",
        title="Store a record",
        description=(
            "Store one lasting fact of a namespace: a decision, constraint, procedure, failure,"
            " preference, open work. Search first; supersede what it replaces."
        ),
        parameters=(
            required(NAMESPACE),
            required(_TYPE),
            required(_TITLE),
            required(_CONTENT),
            _CONFIDENCE,
            _ANCHORS,
            Parameter(name="supersedes", description="id of the record that this one replaces"),
        ),
        access=Access.WRITE,
        handler=_store,
        idempotent=False,
    ),
    Operation(
        name="memory_update",
        title="Update a record",
        description=(
            "Change a record at the revision you read; give only what changes. A mismatch returns"
            " the record as it stands."
        ),
        parameters=(
            _ID,
            required(_REVISION),
            Parameter(
                name="changes",
                kind=Kind.OBJECT,
                required=True,
                description="title, content, type, status, confidence, anchors, namespace",
            ),
        ),
        access=Access.WRITE,
        handler=_update,
        destructive=True,
        idempotent=False,
    ),
    Operation(
        name="memory_corroborate",
        title="Agree or disagree",
        description=(
            "Attach what you saw yourself to a record, quoted, for or against it. It stays readable"
            " either way; its confidence follows."
        ),
        parameters=(
            _ID,
            Parameter(name="quote", required=True, description="what you saw, word for word"),
            Parameter(
                name="stance", kind=Kind.CHOICE, choices=tuple(Stance), default=Stance.CORROBORATES
            ),
        ),
        access=Access.WRITE,
        handler=_corroborate,
        idempotent=False,
    ),
    Operation(
        name="memory_forget",
        title="Forget a record",
        description=(
            "Forget a record that is wrong or a candidate that is not worth keeping. It is purged"
            " after some weeks, or at once with hard."
        ),
        parameters=(
            _ID,
            _REVISION,
            Parameter(name="hard", kind=Kind.BOOLEAN, default=False),
        ),
        access=Access.DELETE,
        handler=_forget,
        destructive=True,
    ),
    Operation(
        name="memory_session_close",
        title="Close a session",
        description=(
            "Close a session with a summary of what was decided and learned. Give an op_id to be"
            " able to repeat the call safely."
        ),
        parameters=(
            required(NAMESPACE),
            Parameter(name="summary", required=True),
            Parameter(name="notes", description="never kept, only checked: store what lasts"),
            Parameter(name="op_id", description="8 to 64 of A-Z a-z 0-9 _ -"),
        ),
        access=Access.WRITE,
        handler=_session_close,
    ),
)
