"""The SQLite file: opening it safely, one writer, one read-only reader, transactions.

The manager owns the one ``Database``. SQL about memories lives in the repository modules; this one
knows only files, connections and the schema version. A file that cannot be used as it is stays
untouched: every check runs read-only before the first write.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
import logging
import os
from pathlib import Path
import sqlite3
import stat
from typing import Final

import aiosqlite

from .errors import DatabaseLockedError, DatabaseUnusableError, StorageError
from .schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, SECURELY_DELETING

FILE_MODE: Final = 0o600
BUSY_TIMEOUT_SECONDS: Final = 5.0
QUICK_CHECK_LIMIT_BYTES: Final = 64 * 1024 * 1024
WRITER_CACHE_KIB: Final = 8 * 1024
READER_CACHE_KIB: Final = 16 * 1024

_HEADER: Final = b"SQLite format 3\x00"
_PRIMARY_CODE_MASK: Final = 0xFF
_KEYS: Final = {
    sqlite3.SQLITE_READONLY: "database_read_only",
    sqlite3.SQLITE_PERM: "database_read_only",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_CORRUPT: "database_corrupt",
    sqlite3.SQLITE_NOTADB: "database_corrupt",
    sqlite3.SQLITE_CANTOPEN: "database_cannot_open",
    sqlite3.SQLITE_IOERR: "database_io_error",
}


def _primary_code(error: sqlite3.Error) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY_CODE_MASK


def storage_error(error: sqlite3.Error, path: Path) -> StorageError:
    """Translate what SQLite raised into one of the typed errors."""
    code = _primary_code(error)
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return DatabaseLockedError("database_locked", path=str(path))
    return StorageError(_KEYS.get(code, "database_error"), path=str(path))


def _unusable(key: str, path: Path, **placeholders: int) -> DatabaseUnusableError:
    return DatabaseUnusableError(key, path=str(path), **placeholders)


class Database:
    """One file, opened for one writer and for readers that never wait for it."""

    def __init__(self, path: Path) -> None:
        """Remember where the file is; nothing is touched before ``open``."""
        self.path = path
        self._writer: aiosqlite.Connection | None = None
        self._reader: aiosqlite.Connection | None = None
        self._write_lock = asyncio.Lock()
        self.keeps_log = False
        """Whether the write-ahead log must only grow, because the file is being copied."""

    def size_bytes(self) -> int:
        """Return the size of the file and its write-ahead log; blocking."""
        wal = self.path.with_name(f"{self.path.name}-wal")
        return self.path.stat().st_size + (wal.stat().st_size if wal.exists() else 0)

    async def open(self) -> None:
        """Check the file, create or migrate it and connect.

        Raises DatabaseLockedError while another process holds it and DatabaseUnusableError when a
        person has to act: read-only, corrupt, not ours or written by a newer version.
        """
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(None, _prepare_file, self.path)
            self._writer = await _connect(self.path, read_only=False)
            await self._migrate(self._writer)
            self._reader = await _connect(self.path, read_only=True)
        except sqlite3.Error as err:
            await self.close()
            raise _refusal(storage_error(err, self.path)) from err
        except StorageError as err:
            await self.close()
            raise _refusal(err) from err
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close both connections; the last one folds the write-ahead log into the file."""
        async with self._write_lock:
            reader, self._reader = self._reader, None
            writer, self._writer = self._writer, None
            for connection in (reader, writer):
                if connection is not None:
                    await connection.close()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[aiosqlite.Connection]:
        """Lend the one connection that writes; everybody else waits. Raises StorageError."""
        async with self._write_lock:
            if self._writer is None:
                raise StorageError("database_closed", path=str(self.path))
            try:
                yield self._writer
            except sqlite3.Error as err:
                raise storage_error(err, self.path) from err

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """Run statements that commit together or not at all. Raises StorageError."""
        async with self.writing() as writer:
            try:
                await writer.execute("BEGIN IMMEDIATE")
                yield writer
                await writer.execute("COMMIT")
            except BaseException:
                await writer.rollback()
                raise

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[aiosqlite.Connection]:
        """Lend the read-only connection. Raises StorageError."""
        if self._reader is None:
            raise StorageError("database_closed", path=str(self.path))
        reader = self._reader
        try:
            yield reader
        except sqlite3.Error as err:
            if self._reader is not reader:
                raise StorageError("database_closed", path=str(self.path)) from err
            raise storage_error(err, self.path) from err
        except ValueError as err:
            # What aiosqlite says of a connection that was closed meanwhile.
            if self._reader is reader:
                raise
            raise StorageError("database_closed", path=str(self.path)) from err

    async def read[R](self, work: Callable[[sqlite3.Connection], R]) -> R:
        """Do several reads, and what lies between them, as one step beside the event loop.

        It is done in the thread of the read-only connection: every way there and back takes longer
        than a statement. Raises StorageError.
        """
        async with self.reading() as reader:
            # There is no public way to run more than a statement on the thread of a connection.
            done: R = await reader._execute(lambda: work(reader._conn))  # type: ignore[no-untyped-call]  # noqa: SLF001
            return done

    async def erase_traces(self) -> None:
        """Fold the write-ahead log into the file, so that it holds no deleted text any more.

        Best effort: a reader that is busy for long, or a backup, keeps it for later.
        """
        async with self._write_lock:
            if self._writer is not None and not self.keeps_log:
                with suppress(sqlite3.Error):
                    await self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    async def _migrate(self, writer: aiosqlite.Connection) -> None:
        """Bring the schema up to date, one transaction a step."""
        version = await _pragma(writer, "user_version")
        for step in MIGRATIONS[version:]:
            version += 1
            async with self.transaction() as transaction:
                for statement in step:
                    await transaction.execute(statement)
                await transaction.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                await transaction.execute(f"PRAGMA user_version = {version}")
        # An up-to-date file takes no step, yet must prove now that it can be written at all.
        async with self.transaction() as transaction:
            for table in SECURELY_DELETING:
                # Without it the words of a deleted memory stay in the file. SQLite 3.42 brought it.
                with suppress(sqlite3.OperationalError):
                    await transaction.execute(
                        f"INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', 1)"
                    )


def _uri(path: Path, mode: str) -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"


# It logs every statement with its values: at any level, texts have no place in a log.
logging.getLogger("aiosqlite").setLevel(logging.INFO)


async def _connect(path: Path, *, read_only: bool) -> aiosqlite.Connection:
    uri = _uri(path, "ro" if read_only else "rw")
    connection = await aiosqlite.connect(
        uri, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_SECONDS
    )
    cache = READER_CACHE_KIB if read_only else WRITER_CACHE_KIB
    pragmas = [f"cache_size = -{cache}", "foreign_keys = ON"]
    if read_only:
        pragmas.append("query_only = ON")
    else:
        # FULL: a memory that was acknowledged also survives a power cut, not just a crash.
        pragmas += ["journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"]
    try:
        for pragma in pragmas:
            await connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        await connection.close()
        raise
    return connection


async def _pragma(connection: aiosqlite.Connection, name: str) -> int:
    async with connection.execute(f"PRAGMA {name}") as cursor:
        row = await cursor.fetchone()
    return int(row[0]) if row else 0


def _refusal(error: StorageError) -> StorageError:
    """Return what keeps the file from being opened: a lock that passes, or a case for a person."""
    if isinstance(error, DatabaseLockedError | DatabaseUnusableError):
        return error
    return DatabaseUnusableError(error.key, **error.placeholders)


def _prepare_file(path: Path) -> None:
    """Create an empty file that only its owner may read, or check the one that is there."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE_MODE))
    except FileExistsError:
        try:
            _inspect(path)
        except OSError as err:
            raise _unusable("database_cannot_open", path) from err
        # A file of another owner may be usable although its mode cannot be changed.
        with suppress(OSError):
            path.chmod(FILE_MODE)
    except OSError as err:
        raise _unusable("database_cannot_open", path) from err


def _inspect(path: Path) -> None:
    """Refuse, without writing, a file that cannot be ours or cannot be used."""
    info = path.stat()
    if not stat.S_ISREG(info.st_mode):
        raise _unusable("database_cannot_open", path)
    if not info.st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise _unusable("database_read_only", path)
    if info.st_size == 0:
        return
    with path.open("rb") as file:
        if file.read(len(_HEADER)) != _HEADER:
            raise _unusable("database_not_a_database", path)
    uri, timeout = _uri(path, "ro"), BUSY_TIMEOUT_SECONDS
    with closing(sqlite3.connect(uri, uri=True, timeout=timeout)) as connection:
        _inspect_content(connection, path, info.st_size)


def _inspect_content(connection: sqlite3.Connection, path: Path, size: int) -> None:
    def number(name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

    wal = path.with_name(f"{path.name}-wal")
    wal_is_empty = not wal.exists() or wal.stat().st_size == 0
    if wal_is_empty and number("page_count") * number("page_size") > size:
        raise _unusable("database_corrupt", path)
    if number("application_id") != APPLICATION_ID:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise _unusable("database_foreign", path)
        return
    version = number("user_version")
    if version > SCHEMA_VERSION:
        raise _unusable("database_newer", path, found=version, supported=SCHEMA_VERSION)
    if size > QUICK_CHECK_LIMIT_BYTES:
        return
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise _unusable("database_corrupt", path)
