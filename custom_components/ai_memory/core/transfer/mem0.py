"""mem0: what its ``get_all`` and its export answer, a list or an object that holds one.

A memory says whose it is by ids of mem0, which are no users of this home: they become keywords, so
that nothing is owned by somebody who does not exist.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from ..text_input import CONTENT_LIMIT_CHARACTERS
from .fields import keywords, text_of
from .json_lists import row_of
from .json_stream import items
from .values import ImportedMemory, Item, Skipped, SkipReason

_RELATIONS: Final = "relations"
_ABOUT: Final = ("user_id", "agent_id")
_MEANINGLESS: Final = frozenset({"default", "default_user", "user"})


def read_mem0(text: str) -> Iterator[Item]:
    """Read memories, and relations where a graph was kept."""
    for item in items(text):
        if isinstance(item, Skipped):
            yield item
        elif item.keys[-1:] == (_RELATIONS,):
            yield _relation(item.line, item.value)
        elif isinstance(item.value, Mapping):
            yield _memory(item.line, item.value)


def _memory(line: int, row: Mapping[str, object]) -> Item:
    memory = row_of(line, row)
    if isinstance(memory, Skipped):
        return memory
    about = [name for key in _ABOUT if (name := text_of(row.get(key))) not in _MEANINGLESS]
    return replace(memory, summary=keywords(memory.summary, about))


def _relation(line: int, value: object) -> Item:
    if not isinstance(value, Mapping):
        return Skipped(line, SkipReason.NOT_A_ROW)
    parts = [
        text_of(value.get("source")),
        text_of(value.get("relationship")) or text_of(value.get("relation")),
        text_of(value.get("target")) or text_of(value.get("destination")),
    ]
    if None in parts:
        return Skipped(line, SkipReason.NOT_A_MEMORY)
    content = " ".join(part.replace("_", " ") for part in parts if part)
    if len(content) > CONTENT_LIMIT_CHARACTERS:
        return Skipped(line, SkipReason.TOO_LONG)
    return ImportedMemory(line=line, content=content)
