"""MemPalace: drawers in the rooms of wings, as its exports write them.

Its JSONL has a drawer a line, a document beside its metadata; its Markdown a file for each room, in
it a drawer under each heading; what its store answers is one object with parallel lists.
"""

from collections.abc import Iterator, Mapping
import re
from typing import Final

from .decoding import beginning, lines
from .fields import memory_of
from .json_lists import row_of, rows
from .json_stream import items
from .values import Item, Skipped, SkipReason

_PLACE: Final = re.compile(r"# (?P<wing>.+?) / (?P<room>.+)")
_FIELD: Final = re.compile(r"\| (?P<name>Source|Filed|Added by) \| (?P<value>.*?) \|")
_NAMES: Final = {"Source": "source_file", "Filed": "filed_at", "Added by": "added_by"}
_PARALLEL: Final = ("ids", "documents", "metadatas")
_PARALLEL_BEGIN: Final = tuple(f'"{name}"' for name in _PARALLEL)


def is_markdown(text: str) -> bool:
    """Return whether the text begins as the file of a room does."""
    start = beginning(text)
    return bool(_PLACE.match(start)) and "\n> " in start


def read_mempalace(text: str) -> Iterator[Item]:
    """Read drawers in any of the three forms."""
    start = beginning(text, 64)
    if start[:1] not in {"{", "["}:
        yield from _read_markdown(text)
    elif start[0] == "{" and start[1:].lstrip().startswith(_PARALLEL_BEGIN):
        yield from _read_parallel(text)
    elif start[0] == "[":
        for item in items(text):
            yield item if isinstance(item, Skipped) else row_of(item.line, item.value)
    else:
        for line, value in rows(text):
            yield value if isinstance(value, Skipped) else row_of(line, value)


def _read_parallel(text: str) -> Iterator[Item]:
    columns: dict[str, list[tuple[int, object]]] = {name: [] for name in _PARALLEL}
    for item in items(text):
        if isinstance(item, Skipped):
            yield item
        elif item.keys and item.keys[-1] in columns:
            columns[item.keys[-1]].append((item.line, item.value))
    others = zip(columns["ids"], columns["metadatas"], strict=False)
    for (line, document), (_, id_), (_, metadata) in (
        (document, *pair) for document, pair in zip(columns["documents"], others, strict=False)
    ):
        yield memory_of(line, {"id": id_, "document": document, "metadata": metadata})


def _read_markdown(text: str) -> Iterator[Item]:
    place: dict[str, object] = {}
    drawer: dict[str, object] = {}
    quoted: list[str] = []
    started = 0
    for line, content in lines(text):
        if found := _PLACE.fullmatch(content):
            place = dict(found.groupdict())
        elif content.startswith("## "):
            yield from _drawer(started, place | drawer, quoted)
            drawer, quoted, started = {"id": content[3:]}, [], line
        elif content.startswith(">"):
            quoted.append(content[1:].removeprefix(" "))
        elif found := _FIELD.fullmatch(content):
            known = found["value"] != "unknown"
            drawer[_NAMES[found["name"]]] = found["value"] if known else None
        elif quoted and not drawer.keys() & set(_NAMES.values()) and content[:1] not in {"|", "-"}:
            # Some versions quote only the first line of a drawer.
            quoted.append(content)
    yield from _drawer(started, place | drawer, quoted)


def _drawer(line: int, row: Mapping[str, object], quoted: list[str]) -> Iterator[Item]:
    if line:
        content = "\n".join(quoted).strip()
        yield (
            memory_of(line, {**row, "content": content})
            if content
            else Skipped(line, SkipReason.EMPTY)
        )
