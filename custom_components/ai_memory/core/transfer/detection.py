"""Which format a text has, told from its content alone.

``reading`` asks where the caller did not say. Only the beginning of a text is looked at; a text
that looks like nothing else is a list of one memory a line.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from . import claude, csv_table, mempalace, own, text_list
from .decoding import beginning
from .json_lists import rows
from .json_stream import JsonItem, items
from .values import Skipped, TransferFormat

LOOKED_AT: Final = 5
"""So many lines or items are looked at: the first of them may be broken."""

_MEM0_KEYS: Final = frozenset({"memory", "hash", "user_id", "agent_id", "run_id", "relationship"})


def detected(text: str) -> TransferFormat:
    """Return the format that the text most likely has."""
    if text_list.starts_dated(text):
        return TransferFormat.TEXT
    if beginning(text, 1) in {"{", "["}:
        return _of_json(text)
    if mempalace.is_markdown(text):
        return TransferFormat.MEMPALACE
    if csv_table.has_heading(text):
        return TransferFormat.CSV
    # The first line of a JSONL file may be broken, too.
    if any(isinstance(value, Mapping) for value in _first_rows(text)):
        return _of_rows(_first_rows(text)) or TransferFormat.TEXT
    return TransferFormat.TEXT


def _of_json(text: str) -> TransferFormat:
    values = _first_rows(text)
    whole = sum(isinstance(value, Mapping | str) for value in values)
    # Of a document that was printed in many lines, hardly one is a value by itself.
    many = len(values) > 1 and 2 * whole >= len(values) and beginning(text, 1) == "{"
    if many or (len(values) == 1 and not _holds_lists(values[0])):
        return _of_rows(values) or TransferFormat.JSONL
    return _of_document(text)


def _first_rows(text: str) -> list[object]:
    return [value for _, value in islice(rows(text), LOOKED_AT)]


def _holds_lists(value: object) -> bool:
    """Return whether a single line is a document rather than one memory."""
    if not isinstance(value, Mapping):
        return True
    names = set(value)
    if names & {"observations", "relationType", "document", own.HEADER_KEY}:
        return False
    return any(isinstance(one, list | Mapping) for one in value.values()) and not (
        names & {"content", "memory", "text"}
    )


def _of_rows(values: Iterable[object]) -> TransferFormat | None:
    """Return the format of a file with one value a line."""
    for value in values:
        if isinstance(value, Mapping):
            return _of_object(value) or TransferFormat.JSONL
    return None


def _of_object(value: Mapping[str, object]) -> TransferFormat | None:
    names = set(value)
    if own.HEADER_KEY in names or {"id", "content", "owner_agent", "revision"} <= names:
        return TransferFormat.AI_MEMORY
    if {"name", "observations"} <= names or {"from", "to", "relationType"} <= names:
        return TransferFormat.MCP_MEMORY
    if {"document", "metadata"} <= names:
        return TransferFormat.MEMPALACE
    if names & set(claude.FILE_KEYS):
        return TransferFormat.CLAUDE
    return TransferFormat.MEM0 if names & _MEM0_KEYS else None


def _of_document(text: str) -> TransferFormat:
    seen = False
    for item in islice(items(text), LOOKED_AT):
        if isinstance(item, Skipped):
            continue
        seen = True
        if (found := _of_item(item)) is not None:
            return found
    return TransferFormat.JSON if seen else TransferFormat.TEXT


def _of_item(item: JsonItem) -> TransferFormat | None:
    keys = set(item.keys)
    if keys & {"entities", "relations"} and "results" not in keys:
        graph = isinstance(item.value, Mapping) and {"source", "relationship"} <= set(item.value)
        return TransferFormat.MEM0 if graph else TransferFormat.MCP_MEMORY
    if keys & {"documents", "metadatas"}:
        return TransferFormat.MEMPALACE
    if keys & set(claude.FILE_KEYS):
        return TransferFormat.CLAUDE
    return _of_object(item.value) if isinstance(item.value, Mapping) else None
