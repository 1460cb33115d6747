"""Reading the fields of foreign memories: many names for one thing, any type, nothing promised.

The readers of JSON, JSONL and CSV make a memory of a row of named values with ``memory_of``. What
is no use stays out; only a row without a text is no memory.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
import re
from typing import Final

from ..models import MEMORY_TYPES, Layer, Scope
from ..text_folding import fold
from ..text_input import CONTENT_LIMIT_CHARACTERS, NAME_LIMIT_CHARACTERS, SUMMARY_LIMIT_CHARACTERS
from .local_words import SCOPES
from .values import ImportedMemory, Skipped, SkipReason

CONTENT_NAMES: Final = ("content", "text", "memory", "fact", "document", "note", "data", "body")
_SUMMARY_NAMES: Final = ("summary", "keywords", "tags", "categories", "category", "title")
_CREATED_NAMES: Final = (
    "created",
    "created_at",
    "createdat",
    "created_timestamp",
    "date",
    "filed_at",
    "timestamp",
)
_UPDATED_NAMES: Final = ("updated", "updated_at", "updatedat", "last_updated")
_ID_NAMES: Final = ("external_id", "id", "uuid", "memory_id")
_SOURCE_NAMES: Final = ("source", "source_file")
NAMED_COLUMNS: Final = frozenset(
    {*CONTENT_NAMES, *_SUMMARY_NAMES, *_CREATED_NAMES, *_UPDATED_NAMES, *_ID_NAMES, *_SOURCE_NAMES}
    | {"wing", "room", "scope", "layer", "type", "confidence", "pinned", "language"}
)
_METADATA: Final = ("metadata", "meta")

SOURCE_LIMIT_CHARACTERS: Final = 64
_LANGUAGE: Final = re.compile("[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_DAY: Final = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_JAPANESE_DAY: Final = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")
_DOTTED_DAY: Final = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SPOKEN_DAY: Final = re.compile(
    rf"(?:(?P<day>\d{{1,2}})\.? )?(?P<month>{_MONTHS})[a-z]*\.?"
    r"(?: (?P<later>\d{1,2}),?)? (?P<year>\d{4})",
    re.IGNORECASE,
)
_LAST_SECOND: Final = 253_402_300_799
_MILLISECONDS_FROM: Final = 100_000_000_000
"""A number as large as this counts milliseconds, a smaller one seconds."""


def memory_of(line: int, row: Mapping[str, object]) -> ImportedMemory | Skipped:
    """Return the memory that a row of named values tells."""
    values = _flattened(row)
    content = first_text(values, CONTENT_NAMES)
    if content is None:
        return Skipped(line, SkipReason.NOT_A_MEMORY)
    if len(content) > CONTENT_LIMIT_CHARACTERS:
        return Skipped(line, SkipReason.TOO_LONG)
    kind, language = text_of(values.get("type")), text_of(values.get("language"))
    return ImportedMemory(
        line=line,
        content=content,
        summary=keywords(*(values.get(name) for name in _SUMMARY_NAMES)),
        wing=_name_of(values.get("wing")),
        room=_name_of(values.get("room")),
        scope=scope_of(values.get("scope")),
        layer=_layer_of(values.get("layer")),
        type=kind if kind in MEMORY_TYPES else None,
        confidence=_share_of(values.get("confidence")),
        created=_first_moment(values, _CREATED_NAMES),
        updated=_first_moment(values, _UPDATED_NAMES),
        language=language if language and _LANGUAGE.fullmatch(language) else None,
        pinned=str(values.get("pinned")).strip().lower() in {"true", "1", "yes"},
        source=_source_of(values),
        external_id=first_text(values, _ID_NAMES),
    )


def text_of(value: object) -> str | None:
    """Return a text or a number as written, None for anything else and for blanks."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return str(value).strip() or None
    except ValueError:
        # A number with more digits than Python is willing to write.
        return None


def first_text(values: Mapping[str, object], names: Iterable[str]) -> str | None:
    """Return the first of the named values that is a text."""
    return next((text for name in names if (text := text_of(values.get(name)))), None)


def keywords(*values: object) -> str:
    """Return texts and lists of texts as one summary, each said once, as far as it fits."""
    words: dict[str, None] = {}
    for value in values:
        listed = value if isinstance(value, list | tuple) else [value]
        words |= dict.fromkeys(word for one in listed if (word := text_of(one)))
    return _cut(", ".join(words), SUMMARY_LIMIT_CHARACTERS)


def moment_of(value: object) -> datetime | None:
    """Return a moment: an ISO date or time, an English date, seconds or milliseconds since 1970."""
    text = text_of(value)
    if text is None:
        return None
    try:
        if isinstance(value, int | float) or text.isdecimal():
            return _counted(float(text))
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return day_of(text)
    return _in_utc(found)


def day_of(text: str) -> datetime | None:
    """Return the beginning of a day that is written as 2026-11-30, 30 Nov 2026 or May 3, 2026.

    With dots and without a doubt, 30.11.2026, and as 2026年11月30日, too.
    """
    if found := _DAY.fullmatch(text) or _JAPANESE_DAY.fullmatch(text):
        year, month, day = (int(number) for number in found.groups())
    elif found := _DOTTED_DAY.fullmatch(text):
        day, month, year = (int(number) for number in found.groups())
    elif found := _SPOKEN_DAY.fullmatch(text):
        month = _MONTHS.split("|").index(found["month"].lower()) + 1
        year, day = int(found["year"]), int(found["day"] or found["later"] or 1)
    else:
        return None
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def scope_of(value: object) -> Scope | None:
    """Return a scope where the value is the name of one."""
    return SCOPES.get(fold(value.strip())) if isinstance(value, str) else None


def _flattened(row: Mapping[str, object]) -> dict[str, object]:
    """Return the values by lowercase name, those of nested metadata behind the row's own."""
    values: dict[str, object] = {}
    named = {str(name).strip().lower(): value for name, value in row.items()}
    for name in _METADATA:
        if isinstance(nested := named.get(name), Mapping):
            values |= {str(key).strip().lower(): value for key, value in nested.items()}
    return values | named


def _counted(number: float) -> datetime | None:
    seconds = number / 1000 if number >= _MILLISECONDS_FROM else number
    if not 0 <= seconds <= _LAST_SECOND:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def _in_utc(moment: datetime) -> datetime | None:
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        return None


def _first_moment(values: Mapping[str, object], names: Iterable[str]) -> datetime | None:
    return next((at for name in names if (at := moment_of(values.get(name)))), None)


def _name_of(value: object) -> str | None:
    name = text_of(value)
    return None if name is None else name[:NAME_LIMIT_CHARACTERS]


def _layer_of(value: object) -> Layer | None:
    text = (text_of(value) or "").upper().removeprefix("L")
    return Layer(int(text)) if text in {str(int(layer)) for layer in Layer} else None


def _share_of(value: object) -> float | None:
    try:
        share = float(text_of(value) or "")
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


def _source_of(values: Mapping[str, object]) -> str | None:
    source = first_text(values, _SOURCE_NAMES)
    fits = source is not None and len(source) <= SOURCE_LIMIT_CHARACTERS and source.isprintable()
    return source if fits else None


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip(", ") + "…"
