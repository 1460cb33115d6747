"""Document frequencies of the TF-IDF engine, and the file they survive a restart in.

The engine holds one immutable :class:`Statistics` and replaces it whole, so a worker thread may
read the one it was given while the next is being made. The functions here block: the engine calls
them in the executor. Nothing here schedules, retries or knows about vectors.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import batched
import json
from math import log
import os
from pathlib import Path
from time import sleep
from types import MappingProxyType
from typing import Any, Final, Self

from .features import in_turns, split_terms

IDF_MIN: Final = 1.0
IDF_MAX: Final = 3.0

# Over the cap the rarest terms go; some more than needed, so that it does not happen at each add.
MAX_TERMS: Final = 50_000
_PRUNED_TERMS: Final = 45_000

# Below about this many documents, how often a term occurs says little about the next document.
_PRIOR_DOCUMENTS: Final = 10

FILE_VERSION: Final = 1
# A full vocabulary takes about 2 MB; something much larger is not ours and is not read.
_MAX_FILE_BYTES: Final = 64 * 1024 * 1024
_FILE_MODE: Final = 0o600
_WRITE_STEP_CHUNKS: Final = 1000


class StatisticsFileError(Exception):
    """The statistics file is unreadable, damaged, or written by another version."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many documents there are, and in how many of them each term occurs."""

    document_count: int = 0
    term_df: MappingProxyType[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, documents: Iterable[str]) -> Self:
        """Count the terms of these documents."""
        return cls().changed(documents, ())

    def changed(self, added: Iterable[str], removed: Iterable[str]) -> Self:
        """Return the statistics after documents came and went."""
        term_df = self.term_df.copy()
        document_count = self.document_count
        for document in in_turns(added):
            document_count += 1
            for term in set(split_terms(document)):
                term_df[term] = term_df.get(term, 0) + 1
        for document in in_turns(removed):
            document_count -= 1
            for term in set(split_terms(document)):
                _forget_one(term_df, term)
        return type(self)(max(0, document_count), MappingProxyType(_pruned(term_df)))

    def idf(self, term: str) -> float:
        """Weigh a term between IDF_MIN (in every document) and IDF_MAX (in none)."""
        count = self.document_count
        if count == 0:
            return IDF_MIN
        rarity = 1.0 - log(min(self.term_df.get(term, 0), count) + 1) / log(count + 1)
        trust = count / (count + _PRIOR_DOCUMENTS)
        return IDF_MIN + (IDF_MAX - IDF_MIN) * trust * rarity


def load_statistics(path: Path) -> Statistics:
    """Read the file; no file means no statistics. Raises StatisticsFileError."""
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise StatisticsFileError("it is too large")
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Statistics()
    except OSError as err:
        raise StatisticsFileError(err.strerror or "it cannot be read") from err
    except (ValueError, RecursionError) as err:
        raise StatisticsFileError("it is not JSON") from err
    return _parse(content)


def save_statistics(path: Path, statistics: Statistics) -> None:
    """Replace the file as one step that survives a power cut. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        _write_synced(temporary, statistics)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _forget_one(term_df: dict[str, int], term: str) -> None:
    """Take one document off a term; a pruned or unknown term stays unknown."""
    count = term_df.get(term, 0)
    if count > 1:
        term_df[term] = count - 1
    else:
        term_df.pop(term, None)


def _pruned(term_df: dict[str, int]) -> dict[str, int]:
    """Drop the rarest terms, the oldest first among equals, once there are too many."""
    if len(term_df) <= MAX_TERMS:
        return term_df
    terms_by_df = Counter(term_df.values())
    excess = len(term_df) - _PRUNED_TERMS
    threshold = 0
    for threshold in sorted(terms_by_df):
        if terms_by_df[threshold] >= excess:
            break
        excess -= terms_by_df[threshold]
    kept: dict[str, int] = {}
    for term, count in term_df.items():
        if count == threshold and excess > 0:
            excess -= 1
        elif count >= threshold:
            kept[term] = count
    return kept


def _parse(content: Any) -> Statistics:  # noqa: ANN401 - JSON of unknown origin
    match content:
        case {
            "version": int(version),
            "document_count": int(document_count),
            "term_df": dict(term_df),
        } if version == FILE_VERSION and document_count >= 0 and _all_counts(term_df):
            return Statistics(document_count, MappingProxyType(_pruned(term_df)))
        case {"version": int()}:
            raise StatisticsFileError("it is damaged or from another version")
        case _:
            raise StatisticsFileError("it is not in this format")


def _all_counts(term_df: dict[str, Any]) -> bool:
    return all(type(count) is int and count > 0 for count in term_df.values())


def _write_synced(path: Path, statistics: Statistics) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        content = {
            "document_count": statistics.document_count,
            "term_df": statistics.term_df.copy(),
            "version": FILE_VERSION,
        }
        # In steps, with a turn for the event loop's thread after each.
        parts = json.JSONEncoder().iterencode(content)
        for chunks in batched(parts, _WRITE_STEP_CHUNKS, strict=False):
            file.write("".join(chunks))
            sleep(0)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, on systems that can open a folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
