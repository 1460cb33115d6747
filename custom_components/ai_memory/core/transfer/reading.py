"""Reading a text or a file of any known format: the one entrance to all readers.

The importer calls ``read`` in a worker thread. It never raises on odd input and never makes more of
it than the limits in ``values`` allow: what cannot be used is skipped, counted and named by line.
"""

from collections.abc import Callable, Iterator, Mapping
import time
from types import MappingProxyType
from typing import Final

from ..errors import InvalidInputError
from . import markdown
from .claude import read_claude
from .csv_table import read_csv
from .decoding import decoded
from .detection import detected
from .json_lists import read_json, read_jsonl
from .mcp_memory import read_mcp_memory
from .mem0 import read_mem0
from .mempalace import read_mempalace
from .own import read_own
from .text_list import read_text_list
from .values import (
    INPUT_LIMIT_BYTES,
    MEMORIES_LIMIT,
    PLACES_LIMIT,
    SKIPPED_KEPT,
    Imported,
    ImportedMemory,
    ImportedPlace,
    ImportedTunnel,
    Item,
    Skipped,
    SkipReason,
    TransferFormat,
)

ITEMS_IN_A_ROW: Final = 8
"""After so many items other threads get the interpreter."""


def _read_chatgpt(text: str) -> Iterator[Item]:
    """Read what people copy, or what browser extensions save as JSON."""
    return read_json(text) if detected(text) in _JSON_FORMATS else read_text_list(text)


_JSON_FORMATS: Final = frozenset({TransferFormat.JSON, TransferFormat.MEM0})
_READERS: Final[Mapping[TransferFormat, Callable[[str], Iterator[Item]]]] = MappingProxyType(
    {
        TransferFormat.AI_MEMORY: read_own,
        TransferFormat.MCP_MEMORY: read_mcp_memory,
        TransferFormat.MEM0: read_mem0,
        TransferFormat.MEMPALACE: read_mempalace,
        TransferFormat.CHATGPT: _read_chatgpt,
        TransferFormat.CLAUDE: read_claude,
        TransferFormat.CSV: read_csv,
        TransferFormat.JSON: read_json,
        TransferFormat.JSONL: read_jsonl,
        TransferFormat.TEXT: read_text_list,
    }
)


def within_limit(data: str | bytes) -> None:
    """Refuse what is too much for one import. Raises InvalidInputError."""
    # A text takes at least as many bytes as it has characters.
    if len(data) > INPUT_LIMIT_BYTES:
        raise InvalidInputError("import_too_large", limit=INPUT_LIMIT_BYTES // 2**20)


def refuse_own_markdown(text: str, wanted: TransferFormat) -> None:
    """Refuse our own export for people, unless it is said to be a text. Raises InvalidInputError.

    Its dates and headings would become part of the memories, and what they were would be lost.
    """
    if wanted in {TransferFormat.AUTO, TransferFormat.AI_MEMORY} and markdown.is_export(text):
        raise InvalidInputError("import_markdown")


def read(data: str | bytes, wanted: TransferFormat = TransferFormat.AUTO) -> Imported:
    """Return the memories in a text or a file, and what of it was passed over."""
    if len(data) > INPUT_LIMIT_BYTES:
        too_large = (Skipped(1, SkipReason.TOO_LARGE),)
        return Imported(format=wanted, memories=(), skipped=too_large, skipped_count=1)
    text = decoded(data)
    found = detected(text) if wanted is TransferFormat.AUTO else wanted
    memories: list[ImportedMemory] = []
    places: list[ImportedPlace] = []
    tunnels: list[ImportedTunnel] = []
    skipped: list[Skipped] = []
    skipped_count = 0
    for number, item in enumerate(_READERS[found](text), start=1):
        if not number % ITEMS_IN_A_ROW:
            time.sleep(0)
        if isinstance(item, ImportedMemory) and len(memories) < MEMORIES_LIMIT:
            memories.append(item)
            continue
        if isinstance(item, ImportedPlace) and len(places) < PLACES_LIMIT:
            places.append(item)
            continue
        if isinstance(item, ImportedTunnel) and len(tunnels) < PLACES_LIMIT:
            tunnels.append(item)
            continue
        skipped_count += 1
        if len(skipped) < SKIPPED_KEPT:
            told = item if isinstance(item, Skipped) else Skipped(item.line, SkipReason.TOO_MANY)
            skipped.append(told)
    return Imported(
        format=found,
        memories=tuple(memories),
        places=tuple(places),
        tunnels=tuple(tunnels),
        skipped=tuple(skipped),
        skipped_count=skipped_count,
    )
