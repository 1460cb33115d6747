"""Claude: the file ``memories.json`` of its data export; pasted memory text is a ``text_list``.

The file holds what Claude remembers of all chats as one text with headings, and one text for each
project. Every paragraph becomes a memory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from .decoding import beginning, lines
from .json_stream import items
from .text_list import read_lines, read_text_list
from .values import Item, Skipped, SkipReason

_CHATS: Final = "conversations_memory"
_PROJECTS: Final = "project_memories"
FILE_KEYS: Final = (_CHATS, _PROJECTS)


def read_claude(text: str) -> Iterator[Item]:
    """Read the file of the export, or a pasted text."""
    if beginning(text, 1) not in {"{", "["} or not any(f'"{key}"' in text for key in FILE_KEYS):
        yield from read_text_list(text)
        return
    for item in items(text):
        if isinstance(item, Skipped):
            yield item
        elif isinstance(item.value, Mapping):
            for key in FILE_KEYS:
                yield from _texts(item.line, item.value.get(key))
        elif set(item.keys) & set(FILE_KEYS):
            yield from _texts(item.line, item.value)


def _texts(line: int, value: object) -> Iterator[Item]:
    """Read a text, or the texts of several projects, all told in one line of the file."""
    if isinstance(value, str):
        for item in read_lines(lines(value)):
            yield replace(item, line=line)
    elif isinstance(value, Mapping):
        for text in value.values():
            yield from _texts(line, text) if isinstance(text, str) else [_no_text(line)]
    elif value is not None:
        yield _no_text(line)


def _no_text(line: int) -> Skipped:
    return Skipped(line, SkipReason.NOT_A_MEMORY)
