"""Texts that people copy: the saved memories of ChatGPT, what Claude knows, any list of facts.

One line is one memory. Bullets, numbers and dates in brackets before it are understood; headings
become its keywords. Where there is a block of code, as assistants are asked to answer in one, only
that is read: the sentences around it are talk.
"""

from collections.abc import Iterator
from datetime import datetime
import re
from typing import Final

from ..text_input import CONTENT_LIMIT_CHARACTERS
from .decoding import lines
from .fields import day_of, keywords
from .values import ImportedMemory, Item, Skipped, SkipReason

_FENCE: Final = re.compile(r"\s*(```|~~~)")
_RULE: Final = re.compile(r"\s*([-*_=])(\s*\1){2,}\s*")
_HEADING: Final = re.compile(
    r"\s*(?:#{1,6}\s+(?P<hashes>.+?)\s*#*|(?:\d+[.)]\s+)?\*\*(?P<bold>[^*]+)\*\*:?)\s*"
)
_BULLET: Final = re.compile(r"\s*(?:[-*•‣◦·–—]|\d{1,4}[.)])\s+")
_DATED: Final = re.compile(
    r"(?:\[(?P<bracketed>[^\]\n]{1,30})\]|\((?P<round>[^)\n]{1,30})\)|(?P<plain>\d{4}-\d\d-\d\d))"
    r"\s*[-–—.:]*\s+"
)
_UNDATED: Final = frozenset({"unknown", "no date", "date unknown", "n/a"})
_SIGNS: Final = re.compile(r"[^\W_]")


def read_text_list(text: str) -> Iterator[Item]:
    """Read one memory a line."""
    return read_lines(lines(text), fenced=_has_block(text))


def read_lines(numbered: Iterator[tuple[int, str]], *, fenced: bool = False) -> Iterator[Item]:
    """Read one memory a line; ``fenced`` reads only what stands in blocks of code."""
    inside, heading = False, ""
    for line, content in numbered:
        if _FENCE.match(content):
            inside = not inside
        elif not content.strip() or _RULE.fullmatch(content) or (fenced and not inside):
            continue
        elif found := _HEADING.fullmatch(content):
            heading = keywords((found["hashes"] or found["bold"]).strip("*_: "))
        else:
            yield _memory(line, content, heading)


def starts_dated(text: str) -> bool:
    """Return whether the first line of a text is a dated memory, which also begins a JSON list."""
    first = next((content for _, content in lines(text[:4_000]) if content.strip()), "")
    return _date(_without_bullet(first))[1] != 0


def _memory(line: int, content: str, heading: str) -> Item:
    content = _without_bullet(content)
    created, start = _date(content)
    content = content[start:].replace("**", "").strip()
    if len(content) > CONTENT_LIMIT_CHARACTERS:
        return Skipped(line, SkipReason.TOO_LONG)
    if not _SIGNS.search(content):
        return Skipped(line, SkipReason.EMPTY)
    return ImportedMemory(line=line, content=content, summary=heading, created=created)


def _without_bullet(content: str) -> str:
    found = _BULLET.match(content)
    return content[found.end() :] if found else content


def _date(content: str) -> tuple[datetime | None, int]:
    """Return the date before a memory, and where the memory begins."""
    found = _DATED.match(content.lstrip())
    if found is None:
        return None, 0
    told = (found["bracketed"] or found["round"] or found["plain"]).strip()
    day = day_of(told[:10]) if told[:4].isdecimal() else day_of(told)
    if day is None and told.lower() not in _UNDATED:
        return None, 0
    return day, len(content) - len(content.lstrip()) + found.end()


def _has_block(text: str) -> bool:
    """Return whether a block of code begins and ends somewhere in the text."""
    fences = 0
    for _, content in lines(text):
        fences += _FENCE.match(content) is not None
        if fences > 1:
            return True
    return False
