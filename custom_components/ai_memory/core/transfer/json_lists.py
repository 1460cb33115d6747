"""Plain JSON and JSONL: lists of texts, or of objects with a text and what else they tell.

``reading`` calls ``read_json`` and ``read_jsonl``; the readers of particular formats fall back to
them for what they hold beside their own rows.
"""

from collections.abc import Iterator, Mapping

from .decoding import lines
from .fields import memory_of
from .json_stream import items, parsed
from .values import ITEM_LIMIT_CHARACTERS, ImportedMemory, Item, Skipped, SkipReason


def read_json(text: str) -> Iterator[Item]:
    """Read the lists of a document, or the one memory that it is.

    Beside a list, the single values of an object are about the file.
    """
    single: dict[str, object] = {}
    listed = False
    for item in items(text):
        if isinstance(item, Skipped):
            yield item
        elif (
            len(item.keys) == 1 and not isinstance(item.value, Mapping) and not _in_list(item.keys)
        ):
            single[item.keys[0]] = item.value
        elif isinstance(item.value, Mapping) or not item.keys or _in_list(item.keys):
            listed = True
            yield row_of(item.line, item.value)
    if single and not listed:
        yield memory_of(1, single)


def read_jsonl(text: str) -> Iterator[Item]:
    """Read one memory a line."""
    for line, value in rows(text):
        yield value if isinstance(value, Skipped) else row_of(line, value)


def rows(text: str) -> Iterator[tuple[int, object]]:
    """Return the values of the lines of a JSONL file, ``Skipped`` ones for broken lines."""
    for line, content in lines(text):
        if len(content) > ITEM_LIMIT_CHARACTERS:
            yield line, Skipped(line, SkipReason.TOO_LONG)
            continue
        if not content.strip():
            continue
        value = parsed(content)
        yield line, Skipped(line, SkipReason.NOT_JSON) if value is None else value


def row_of(line: int, value: object) -> ImportedMemory | Skipped:
    """Return the memory of a JSON value: an object, or a text alone."""
    if isinstance(value, str):
        value = {"content": value}
    if not isinstance(value, Mapping):
        return Skipped(line, SkipReason.NOT_A_ROW)
    return memory_of(line, value)


def _in_list(keys: tuple[str, ...]) -> bool:
    return keys[-1] in {"memories", "results", "items", "facts"}
