"""Finding a damaged database, setting it aside and putting what could be saved in its place.

The manager asks at night whether the file is whole and, when SQLite calls it malformed, has it
repaired before it opens it again. The damaged file is only ever renamed: it stays beside the new
one, with its write-ahead log. A new database is built first and moved in last, so that whatever
happens meanwhile no memory is only in a place where nobody looks. Files that are locked, foreign or
newer are left as they are. All of this runs in worker threads; the event loop only waits.
"""

import asyncio
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
import logging
import os
from pathlib import Path
import sqlite3
import threading
from typing import Final

from . import database, salvage
from .database import storage_error
from .database_files import OS_KEYS, SIDE_FILES, sync, with_suffix
from .errors import DatabaseLockedError, DatabaseUnusableError, StorageError
from .schema import APPLICATION_ID, SCHEMA_VERSION

DAMAGED: Final = "database_corrupt"
"""The key of the error that a malformed file ends in."""

PROBLEMS_TOLD: Final = 5
STEPS_BETWEEN_LOOKS: Final = 10_000
"""How often a check looks whether it is still wanted."""

_HEADER_BYTES: Final = 100
_USER_VERSION: Final = slice(60, 64)
_APPLICATION_ID: Final = slice(68, 72)
_NO_VERDICT: Final = "unable to validate"
"""What some versions of SQLite say of full text that they cannot look into read-only."""


_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """What came back from a damaged database, and where that is kept.

    ``lost`` is None where nothing tells how many memories there were.
    """

    aside: Path
    restored: int
    lost: int | None


async def find_damage(path: Path) -> str | None:
    """Return what SQLite finds wrong with the file, None if nothing. Raises StorageError.

    Takes a connection of its own, so that neither readers nor writers wait.
    """
    cancelled = threading.Event()
    work = asyncio.get_running_loop().run_in_executor(None, _find_damage, path, cancelled)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([work])
        work.exception()
        raise


async def repair(path: Path, now_ms: int) -> Salvaged | None:
    """Replace the file by what can be saved of it, if it is ours and SQLite calls it malformed.

    Returns None for a file without damage. Raises StorageError; the file is then still in place.
    """
    work = asyncio.get_running_loop().run_in_executor(None, _repair, path, now_ms)
    try:
        salvaged = await asyncio.shield(work)
    except asyncio.CancelledError:
        # Two must never work on the same files.
        await asyncio.wait([work])
        work.exception()
        raise
    if salvaged is not None:
        _LOGGER.error(
            "The database was damaged and is kept as %s: %d memories came back, %s are lost",
            salvaged.aside,
            salvaged.restored,
            "an unknown number" if salvaged.lost is None else salvaged.lost,
        )
    return salvaged


def finish_repair(path: Path) -> Salvaged | None:
    """Put the saved memories in place if a repair was cut off between its last steps; blocking.

    Returns what came back, None where nothing was left to do. Raises StorageError.
    """
    path = path.resolve()
    if os.path.lexists(path) or not _saved(path).exists():
        return None
    with _translated_errors(path):
        _move_in(path, _free_name(path, "log"))
        _LOGGER.error("Finished the repair of the database %s, which was cut off", path)
        with _reading(path) as connection:
            restored = connection.execute("SELECT count(*) FROM memories").fetchone()[0]
        aside = max(path.parent.glob(f"{path.stem}.damaged.*.db"), key=_last_renamed, default=path)
    return Salvaged(aside=aside, restored=restored, lost=None)


def _find_damage(path: Path, cancelled: threading.Event) -> str | None:
    try:
        with _reading(path) as connection:
            connection.set_progress_handler(cancelled.is_set, STEPS_BETWEEN_LOOKS)
            rows = connection.execute(f"PRAGMA quick_check({PROBLEMS_TOLD})").fetchall()
    except sqlite3.Error as err:
        error = storage_error(err, path)
        if error.key == DAMAGED:
            return str(err)
        if cancelled.is_set():
            return None
        raise error from err
    told = [str(told) for (told,) in rows if told != "ok" and _NO_VERDICT not in told]
    return "; ".join(told) or None


def _repair(path: Path, now_ms: int) -> Salvaged | None:
    with _translated_errors(path):
        path = path.resolve()
        if _find_damage(path, threading.Event()) is None:
            return None
        _check_ours(path)
        saved = _saved(path)
        partial = path.with_name(f"{path.name}.salvage")
        _remove(partial)
        _remove(saved)
        try:
            with _held(path), _reading(path) as source:
                restored = _build(source, partial, now_ms)
            _verify(partial)
            sync(partial)
            partial.rename(saved)
        finally:
            _remove(partial)
        day = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
        aside = _free_name(path, day)
        _move_in(path, aside)
    return Salvaged(aside=aside, restored=restored.memories, lost=restored.lost)


def _check_ours(path: Path) -> None:
    """Refuse a damaged file that another program or a newer version of this one wrote."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    application = int.from_bytes(header[_APPLICATION_ID])
    version = int.from_bytes(header[_USER_VERSION])
    # What was written last may still be in the log.
    with suppress(sqlite3.DatabaseError), _reading(path) as connection:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        raise DatabaseUnusableError(DAMAGED, path=str(path))
    if version > SCHEMA_VERSION:
        raise DatabaseUnusableError(
            "database_newer", path=str(path), found=version, supported=SCHEMA_VERSION
        )


@contextmanager
def _held(path: Path) -> Generator[None]:
    """Keep everybody else from writing. Raises DatabaseLockedError where somebody does."""
    with closing(_connect(path, "rw")) as holder:
        # Closing must leave the log as it is: it is evidence, and what is left of the truth.
        holder.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)  # noqa: FBT003
        try:
            holder.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as err:
            if isinstance(error := storage_error(err, path), DatabaseLockedError):
                raise error from err
            # What cannot be locked for its damage cannot be written by others either.
        yield


def _build(source: sqlite3.Connection, target: Path, now_ms: int) -> salvage.Restored:
    """Build the new file in an event loop of this thread's own, so that no other ever waits."""
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(salvage.salvage(source, target, now_ms))


def _verify(path: Path) -> None:
    """Refuse to go on with a new file that is not whole by itself."""
    healthy = {"integrity_check": [("ok",)], "foreign_key_check": []}
    with closing(_connect(path, "rw")) as connection:
        for pragma, expected in healthy.items():
            if connection.execute(f"PRAGMA {pragma}").fetchall() != expected:
                raise DatabaseUnusableError("database_error", path=str(path))


def _move_in(path: Path, aside: Path) -> None:
    """Rename the damaged file with what belongs to it, then put the saved memories in its place.

    Cut off in between, there is no file at ``path`` and ``finish_repair`` does the rest.
    """
    for suffix in ("", *SIDE_FILES):
        if (left := with_suffix(path, suffix)).exists():
            left.rename(with_suffix(aside, suffix))
    _saved(path).rename(path)
    sync(path.parent)


def _free_name(path: Path, when: str) -> Path:
    """Return a name beside the file that nothing has."""
    names = (
        path.with_name(f"{path.stem}.damaged.{when}{f'-{number}' * (number > 1)}.db")
        for number in count(1)
    )
    return next(
        name
        for name in names
        if not any(os.path.lexists(with_suffix(name, suffix)) for suffix in ("", *SIDE_FILES))
    )


def _last_renamed(path: Path) -> float:
    return path.stat().st_ctime


def _saved(path: Path) -> Path:
    return path.with_name(f"{path.name}.salvaged")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    timeout = database.BUSY_TIMEOUT_SECONDS
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout)


@contextmanager
def _reading(path: Path) -> Generator[sqlite3.Connection]:
    with closing(_connect(path, "ro")) as connection:
        yield connection


@contextmanager
def _translated_errors(path: Path) -> Generator[None]:
    """Let everything that goes wrong speak of the damaged file, which is still there."""
    try:
        yield
    except StorageError as err:
        raise type(err)(err.key, **(err.placeholders | {"path": str(path)})) from err
    except sqlite3.Error as err:
        raise storage_error(err, path) from err
    except OSError as err:
        key = OS_KEYS.get(err.errno or 0, "database_cannot_open")
        raise DatabaseUnusableError(key, path=str(path)) from err


def _remove(path: Path) -> None:
    """Remove what an earlier try left; only ever files that this module made."""
    for suffix in ("", *SIDE_FILES):
        with_suffix(path, suffix).unlink(missing_ok=True)
