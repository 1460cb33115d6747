"""Taking memories out and bringing them in: the operations on whole memories.

``export_into`` is for a door that writes an export elsewhere, piece by piece; the operation itself
answers with the text: lines page by page, Markdown as far as that is not too much for an answer.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from ..core import Access, AccessDeniedError, Caller, InvalidInputError, MemoryManager
from ..core.transfer import (
    Defaults,
    ExportFormat,
    ImportRequest,
    TransferFormat,
    refuse_own_markdown,
    within_limit,
)
from .operation import DRY_RUN, ROOM, SCOPE, WING, Operation, checked, filters_of, scope_of
from .parameters import Arguments, Kind, Parameter, Values
from .replies import Reply, import_reply

TEXT_LIMIT_BYTES: Final = 1_000_000
"""The longest text to read that an answer holds; a larger one belongs into a file."""

type Write = Callable[[str], Awaitable[object]]


async def export_into(
    manager: MemoryManager, caller: Caller, arguments: Arguments, write: Write
) -> Reply:
    """Write an export piece by piece; returns its format and count. Raises AiMemoryError."""
    return await _write_export(manager, caller, checked(EXPORT, caller, arguments), write)


async def _write_export(
    manager: MemoryManager, caller: Caller, values: Values, write: Write
) -> Reply:
    all_owners = _all_owners(caller, values)
    wanted = ExportFormat(values.given("format"))
    if values.text("cursor") is not None:
        # Only lines that an answer holds come in pages.
        raise InvalidInputError("invalid_cursor", field="cursor")
    count = 0
    pieces = manager.transfers.export(caller, filters_of(values), wanted, all_owners=all_owners)
    async for piece, memories in pieces:
        await write(piece)
        count += memories
    return {"format": wanted.value, "count": count}


def _all_owners(caller: Caller, values: Values) -> bool:
    """Return whether everybody's memories are wanted. Raises AccessDeniedError."""
    wanted = bool(values.flag("all_owners"))
    if wanted and Access.ADMIN not in caller.access:
        raise AccessDeniedError("access_denied", access=Access.ADMIN.value)
    return wanted


async def _export(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    if values.given("format") == ExportFormat.MARKDOWN:
        return await _export_whole(manager, caller, values)
    page = await manager.transfers.page(
        caller,
        filters_of(values),
        values.text("cursor"),
        all_owners=_all_owners(caller, values),
    )
    return {
        "format": ExportFormat.JSONL.value,
        "count": page.count,
        "text": page.text,
        "next_cursor": page.next_cursor,
    }


async def _export_whole(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    pieces: list[str] = []
    size = 0

    async def collect(piece: str) -> None:
        nonlocal size
        size += len(piece.encode())
        if size > TEXT_LIMIT_BYTES:
            raise InvalidInputError("export_too_large", limit=TEXT_LIMIT_BYTES)
        pieces.append(piece)

    reply = await _write_export(manager, caller, values, collect)
    return reply | {"text": "".join(pieces), "next_cursor": None}


async def _import(manager: MemoryManager, caller: Caller, values: Values) -> Reply:
    text = values.given("text")
    within_limit(text)
    wanted = TransferFormat(values.given("format"))
    refuse_own_markdown(text, wanted)
    request = ImportRequest(
        data=text,
        format=wanted,
        defaults=Defaults(
            wing=values.text("wing"), room=values.text("room"), scope=scope_of(values)
        ),
        dry_run=bool(values.flag("dry_run")),
    )
    return import_reply(await manager.transfers.bring_in(caller, request))


EXPORT: Final = Operation(
    name="export",
    title="Export memories",
    description=(
        "Write memories out, as lines that can be imported or to read. Lines come in pages that"
        " import one by one: ask on with next_cursor until it is null."
    ),
    parameters=(
        Parameter(
            name="format",
            kind=Kind.CHOICE,
            description="jsonl comes back without a loss, markdown is to read",
            default=ExportFormat.JSONL.value,
            choices=tuple(one.value for one in ExportFormat),
        ),
        WING,
        ROOM,
        SCOPE,
        Parameter(
            name="all_owners",
            kind=Kind.BOOLEAN,
            description="private memories of everybody, for administrators",
            default=False,
        ),
        Parameter(name="cursor", description="next_cursor of the page before"),
    ),
    access=Access.EXPORT,
    handler=_export,
)

IMPORT: Final = Operation(
    name="import",
    title="Import memories",
    description="Store what an export of this or another memory holds and is not known yet.",
    parameters=(
        Parameter(name="text", required=True, description="what the export holds"),
        Parameter(
            name="format",
            kind=Kind.CHOICE,
            default=TransferFormat.AUTO.value,
            choices=tuple(one.value for one in TransferFormat),
        ),
        WING,
        ROOM,
        SCOPE,
        DRY_RUN,
    ),
    access=Access.WRITE,
    handler=_import,
)

OPERATIONS: Final = (EXPORT, IMPORT)
