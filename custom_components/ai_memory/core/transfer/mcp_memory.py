"""The reference memory server of the Model Context Protocol: a graph of entities and relations.

Its file holds one entity or relation a line; what its ``read_graph`` tool answers is one document
with both. An entity becomes one memory for each of its observations, a relation becomes one.
"""

from collections.abc import Iterator, Mapping

from ..text_input import CONTENT_LIMIT_CHARACTERS
from .decoding import beginning
from .fields import keywords, text_of
from .json_lists import rows
from .json_stream import items
from .values import ImportedMemory, Item, Skipped, SkipReason


def read_mcp_memory(text: str) -> Iterator[Item]:
    """Read the lines of a file or the lists of a document."""
    for line, value in _values(text):
        yield from [value] if isinstance(value, Skipped) else _memories(line, value)


def _values(text: str) -> Iterator[tuple[int, object]]:
    if not _is_document(text):
        yield from rows(text)
        return
    for item in items(text):
        if isinstance(item, Skipped):
            yield item.line, item
        elif item.keys and item.keys[-1] in {"entities", "relations"}:
            yield item.line, item.value


def _is_document(text: str) -> bool:
    """Return whether the text is one object rather than one a line."""
    first = beginning(text, 64).removeprefix("{").lstrip()
    return first.startswith(('"entities"', '"relations"'))


def _memories(line: int, value: object) -> Iterator[Item]:
    if not isinstance(value, Mapping):
        yield Skipped(line, SkipReason.NOT_A_ROW)
    elif (name := text_of(value.get("name"))) is not None:
        yield from _observations(line, name, value)
    else:
        yield _relation(line, value)


def _observations(line: int, name: str, entity: Mapping[str, object]) -> Iterator[Item]:
    kind = keywords(_plain(entity.get("entityType")))
    told = entity.get("observations")
    if not isinstance(told, list) or not told:
        yield Skipped(line, SkipReason.EMPTY)
        return
    for one in told:
        observation = text_of(one)
        if observation is None:
            yield Skipped(line, SkipReason.EMPTY)
        else:
            yield _memory(line, f"{name}: {observation}", kind)


def _relation(line: int, value: Mapping[str, object]) -> Item:
    ends = [text_of(value.get(end)) for end in ("from", "to")]
    relation = _plain(value.get("relationType"))
    if relation is None or None in ends:
        return Skipped(line, SkipReason.NOT_A_MEMORY)
    return _memory(line, f"{ends[0]} {relation} {ends[1]}", "")


def _memory(line: int, content: str, summary: str) -> Item:
    if len(content) > CONTENT_LIMIT_CHARACTERS:
        return Skipped(line, SkipReason.TOO_LONG)
    return ImportedMemory(line=line, content=content, summary=summary)


def _plain(value: object) -> str | None:
    """Return a name as words: ``works_at`` as "works at"."""
    text = text_of(value)
    return None if text is None else text.replace("_", " ")
