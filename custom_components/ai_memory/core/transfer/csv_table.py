"""Tables of comma-separated values: a heading that names the columns, then a memory a row.

Commas, semicolons, tabs and bars separate; headings may be in any language of the house. A table
without a known heading is no table to us, but its first column is taken when somebody says that it
is one.
"""

from collections.abc import Iterator
import csv
from typing import Final

from ..text_folding import fold
from .decoding import lines
from .fields import CONTENT_NAMES, NAMED_COLUMNS, memory_of
from .local_words import AMBIGUOUS, COLUMNS
from .values import Item, Skipped, SkipReason

_SEPARATORS: Final = ",;\t|"


def has_heading(text: str) -> bool:
    """Return whether the first line names columns, one of them that of the text."""
    names = _heading(text)[1]
    known = NAMED_COLUMNS.intersection(names)
    return bool(known.intersection(CONTENT_NAMES)) and 2 * len(known) >= len(names)


def read_csv(text: str) -> Iterator[Item]:
    """Read one memory a row."""
    separator, names = _heading(text)
    skip_first = has_heading(text)
    whole_lines = skip_first and len(names) == 1
    if not skip_first:
        names = [CONTENT_NAMES[0]]
    table = csv.reader(_ended(text), delimiter=separator)
    begun = 0
    while True:
        begun = table.line_num + 1
        try:
            row = next(table, None)
        except csv.Error:
            yield Skipped(begun, SkipReason.NOT_A_ROW)
            continue
        if row is None:
            return
        if skip_first or not any(cell.strip() for cell in row):
            skip_first = skip_first and not row
            continue
        if whole_lines:
            # Nobody quotes the commas of a single column by hand.
            row = [separator.join(row)]
        yield memory_of(begun, dict(zip(names, row, strict=False)))


def _heading(text: str) -> tuple[str, list[str]]:
    """Return what separates the columns, and their names in the first line."""
    first = next((line for _, line in lines(text[:8_000]) if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    try:
        cells = next(csv.reader([first], delimiter=separator), [])
    except csv.Error:
        cells = []
    return separator, _known_names([fold(cell.strip()) for cell in cells])


def _known_names(written: list[str]) -> list[str]:
    """Return the names of columns as programs write them, each once."""
    names: list[str] = []
    for column in written:
        name = COLUMNS.get(column, column)
        # Two columns for one thing: what is no name of ours does not replace what is.
        names.append(column if name in names else name)
    if AMBIGUOUS in names and set(names) & {*CONTENT_NAMES} - {AMBIGUOUS}:
        names[names.index(AMBIGUOUS)] = "date"
    return names


def _ended(text: str) -> Iterator[str]:
    return (f"{line}\n" for _, line in lines(text))
