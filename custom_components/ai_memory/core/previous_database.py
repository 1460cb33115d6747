"""Taking over the database of the integration before this one, which has the same file name.

The manager calls ``take_over`` before it opens its own database. A file of which not every part is
known stays untouched. Otherwise it is copied beside itself, a new database is built from the copy,
compared with it row by row and put in the place of the old one in a single step. Whatever happens
meanwhile, the file is either the whole old database, and the next start begins anew, or the whole
new one. All of this runs in a worker thread; the event loop only waits.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
import filecmp
from functools import partial
from itertools import count
import logging
import os
from pathlib import Path
import sqlite3
import stat
import threading
from typing import Final

import numpy as np

from ..embedding.protocol import EmbeddingEngine, EngineError, TextKind
from . import database
from .database import storage_error
from .database_files import OS_KEYS, SIDE_FILES, sync as _sync, with_suffix
from .errors import DatabaseLockedError, DatabaseUnusableError, StorageError
from .previous_build import Built, IncompleteError, build, verify
from .previous_rows import KeptVectors, left_behind, readable, sample_vectors, version_of

SAMPLED_VECTORS: Final = 8
SAME_VECTOR_COSINE: Final = 0.999
PROOF_SECONDS: Final = 10.0
"""How long opening the memory may wait for a model server to prove that vectors are still valid."""

_HEADER: Final = b"SQLite format 3\x00"
_HEADER_BYTES: Final = 100
_APPLICATION_ID: Final = slice(68, 72)

_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOver:
    """What came over from the integration before, in figures, and where its database is kept."""

    version: str
    backup: Path
    common: int
    private: int
    renamed: int
    unowned: int
    vectors: int
    left_behind: int

    @property
    def total(self) -> int:
        """All memories."""
        return self.common + self.private


async def take_over(path: Path, engine: EmbeddingEngine, now_ms: int) -> TakenOver | None:
    """Migrate the file if the integration before this one wrote it, else leave it alone.

    Raises StorageError; the file is then still the old one.
    """
    loop = asyncio.get_running_loop()
    version = await loop.run_in_executor(None, _recognise, path)
    if version is None:
        return None
    path = await loop.run_in_executor(None, path.resolve)
    kept = await _prove_vectors(path, engine)
    cancelled = threading.Event()
    work = loop.run_in_executor(None, _take_over, path, version, kept, now_ms, cancelled)
    try:
        taken = await asyncio.shield(work)
    except asyncio.CancelledError:
        # Two must never work on the same files.
        cancelled.set()
        await asyncio.gather(work, return_exceptions=True)
        raise
    _LOGGER.warning(
        "Took over %d memories (%d common, %d private) from the database of version %s, which is"
        " kept as %s: %d got a new id, %d private ones had no owner, %d kept their vector, %d rows"
        " of other tables are only in the backup",
        taken.total,
        taken.common,
        taken.private,
        taken.version,
        taken.backup,
        taken.renamed,
        taken.unowned,
        taken.vectors,
        taken.left_behind,
    )
    return taken


def _recognise(path: Path) -> str | None:
    """Return which version wrote the file, None if it is none of theirs; only reads."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return None
    if not header.startswith(_HEADER) or any(header[_APPLICATION_ID]):
        return None
    # A journal that a crash left behind cannot be rolled back by somebody who only reads.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        try:
            with _connected(path, mode) as connection:
                return version_of(connection)
        except sqlite3.Error as err:
            if getattr(err, "sqlite_errorname", "") != "SQLITE_READONLY_ROLLBACK":
                break
    return None


async def _prove_vectors(path: Path, engine: EmbeddingEngine) -> KeptVectors | None:
    """Return under which fingerprint the old vectors are valid, if the engine proves it.

    The old database does not say which model made a vector. So the engine embeds some texts again:
    only if it makes the same vectors are the others worth keeping. Its own word statistics were
    other ones, and those vectors meant nothing after a restart.
    """
    if engine.local:
        return None
    loop = asyncio.get_running_loop()
    try:
        samples = await loop.run_in_executor(None, _samples, path)
        if not samples:
            return None
        async with asyncio.timeout(PROOF_SECONDS):
            await engine.probe()
            made = await engine.embed([content for content, _ in samples], TextKind.DOCUMENT)
    except (EngineError, TimeoutError, sqlite3.Error):
        return None
    for row, (_, stored) in zip(made, samples, strict=True):
        if row.shape != stored.shape or float(np.dot(row, stored)) < SAME_VECTOR_COSINE:
            return None
    return KeptVectors(fingerprint=engine.fingerprint, dimensions=made.shape[1])


def _samples(path: Path) -> list[tuple[str, np.ndarray]]:
    with _connected(path, "mode=ro") as connection:
        return sample_vectors(connection, SAMPLED_VECTORS)


def _take_over(
    path: Path, version: str, kept: KeptVectors | None, now_ms: int, cancelled: threading.Event
) -> TakenOver:
    """Back up, build, verify and replace; runs in a worker thread."""

    def check() -> None:
        if cancelled.is_set():
            raise _refused("database_error", path)

    new = path.with_name(f"{path.name}.new")
    with _translated_errors(path), _held(path, version):
        day = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
        backup = _back_up(path, f"{path.stem}.{version}", day)
        check()
        try:
            _remove(new)
            built = _build(backup, new, kept, now_ms, check)
            verify(backup, new, built)
            with _connected(backup, "mode=ro") as connection:
                lost = left_behind(connection)
            check()
            _replace(new, path)
        except BaseException:
            _remove(new)
            raise
    return TakenOver(
        version=version,
        backup=backup,
        common=built.common,
        private=len(built.rows) - built.common,
        renamed=built.renamed,
        unowned=built.unowned,
        vectors=built.vectors,
        left_behind=lost,
    )


@contextmanager
def _held(path: Path, version: str) -> Generator[None]:
    """Fold the write-ahead log into the file, then keep everybody else from writing to it.

    A log that stayed behind would be taken for that of the new file.
    """
    folder = path.parent
    if not folder.stat().st_mode & stat.S_IWUSR or not os.access(folder, os.W_OK):
        raise _refused("database_cannot_open", path)
    if not path.stat().st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise _refused("database_read_only", path)
    with _connected(path, "mode=rw") as holder:
        mode = holder.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
        if mode != "delete" or with_suffix(path, "-wal").exists():
            raise DatabaseLockedError("database_locked", path=str(path))
        holder.execute("BEGIN IMMEDIATE")
        if version_of(holder) != version:
            raise _refused("database_foreign", path)
        yield


def _back_up(path: Path, name: str, day: str) -> Path:
    """Copy the database beside itself; a copy of a try before is used again, none overwritten."""
    partial_copy = path.with_name(f"{name}.bak.db.partial")
    _remove(partial_copy)
    try:
        os.close(os.open(partial_copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, database.FILE_MODE))
        with _connected(path, "mode=ro") as source, _connected(partial_copy, "mode=rw") as target:
            source.backup(target)
            if target.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise _refused("database_corrupt", path)
        _sync(partial_copy)
        for copy in path.parent.glob(f"{name}.*.bak.db"):
            if filecmp.cmp(copy, partial_copy, shallow=False):
                return copy
        backup = next(
            free
            for number in count(1)
            if not os.path.lexists(
                free := path.with_name(f"{name}.{day}{f'-{number}' * (number > 1)}.bak.db")
            )
        )
        partial_copy.rename(backup)
        _sync(path.parent)
        return backup
    finally:
        _remove(partial_copy)


def _build(
    source: Path, target: Path, kept: KeptVectors | None, now_ms: int, check: Callable[[], None]
) -> Built:
    """Build the new file in an event loop of this thread's own, so that no other ever waits."""
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(build(source, target, kept, now_ms, check))


def _replace(new: Path, path: Path) -> None:
    """Put the new file in the place of the old one, in one step that outlives a power cut."""
    if with_suffix(new, "-wal").exists():
        raise IncompleteError("the new database was not closed")
    _sync(new)
    new.replace(path)
    _sync(path.parent)


@contextmanager
def _connected(path: Path, mode: str) -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        isolation_level=None,
        timeout=database.BUSY_TIMEOUT_SECONDS,
    )
    with closing(readable(connection)):
        yield connection


@contextmanager
def _translated_errors(path: Path) -> Generator[None]:
    """Let everything that goes wrong speak of the old file, which is still there."""
    try:
        yield
    except StorageError as err:
        raise type(err)(err.key, **(err.placeholders | {"path": str(path)})) from err
    except sqlite3.Error as err:
        raise storage_error(err, path) from err
    except OSError as err:
        raise _refused(OS_KEYS.get(err.errno or 0, "database_cannot_open"), path) from err
    except IncompleteError as err:
        _LOGGER.error("The database %s was not taken over: %s", path, err)  # noqa: TRY400
        raise _refused("database_error", path) from err


def _refused(key: str, path: Path) -> DatabaseUnusableError:
    return DatabaseUnusableError(key, path=str(path))


def _remove(path: Path) -> None:
    for name in (path, *map(partial(with_suffix, path), SIDE_FILES)):
        with suppress(OSError):
            name.unlink(missing_ok=True)
