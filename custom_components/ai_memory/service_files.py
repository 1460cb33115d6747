"""The files of the services that export and import: which ones, and how they are read and written.

``services`` hands over calls that may name a file. Files live in a folder of their own below the
configuration, or where Home Assistant allows integrations to go; never among the files that its web
server gives to everybody. A file is there whole or not at all, and only its owner may read it.
"""

from collections.abc import Mapping
from contextlib import suppress
import os
from pathlib import Path
import tempfile
from typing import Any, Final

from homeassistant.core import HomeAssistant

from .const import DOMAIN
from .core import (
    Access,
    AccessDeniedError,
    Caller,
    InvalidInputError,
    MemoryManager,
    StorageError,
    clean_text,
)
from .core.database_files import OS_KEYS, sync
from .core.transfer import INPUT_LIMIT_BYTES, decoded, within_limit
from .operations import Publication, Reply, export_into

ATTR_PATH: Final = "path"
FOLDER: Final = DOMAIN
PATH_LIMIT_CHARACTERS: Final = 1_024
WRITTEN_SUFFIXES: Final = frozenset({".jsonl", ".json", ".md", ".txt"})
"""An export never replaces a file of another kind, such as a database."""
READ_SUFFIXES: Final = WRITTEN_SUFFIXES | {".csv", ".tsv"}
"""An import takes no page or document for a list of facts."""

_PUBLIC_FOLDER: Final = "www"


async def run(
    hass: HomeAssistant,
    publication: Publication,
    manager: MemoryManager,
    caller: Caller,
    data: Mapping[str, Any],
) -> Reply:
    """Run an export or an import, with a file where one is named. Raises AiMemoryError."""
    named = clean_text(data.get(ATTR_PATH, ""), ATTR_PATH, PATH_LIMIT_CHARACTERS)
    if publication.operation_name == "export":
        if not named:
            return await publication.run(manager, caller, data)
        return await _export(hass, manager, caller, data, named)
    if bool(named) == bool(data.get("text")):
        raise InvalidInputError("text_or_path")
    if not named:
        return await publication.run(manager, caller, data)
    _check_administrator(caller)
    text = await hass.async_add_executor_job(_read, hass, named)
    return await publication.run(manager, caller, {**data, "text": text})


async def _export(
    hass: HomeAssistant,
    manager: MemoryManager,
    caller: Caller,
    data: Mapping[str, Any],
    named: str,
) -> Reply:
    _check_administrator(caller)
    draft = await hass.async_add_executor_job(_Draft, hass, named)
    try:

        async def write(piece: str) -> None:
            await hass.async_add_executor_job(draft.write, piece)

        reply = await export_into(manager, caller, data, write)
        size = await hass.async_add_executor_job(draft.finish)
    finally:
        await hass.async_add_executor_job(draft.discard)
    return reply | {"path": str(draft.path), "bytes": size}


def _check_administrator(caller: Caller) -> None:
    """Let automations and administrators at files, nobody else. Raises AccessDeniedError."""
    if caller.user is not None and Access.ADMIN not in caller.access:
        raise AccessDeniedError("access_denied", access=Access.ADMIN.value)


def _allowed(hass: HomeAssistant, named: str) -> Path:
    """Return the file that is meant, if a service may use it. Raises InvalidInputError."""
    own = Path(hass.config.path(FOLDER))
    path = Path(own, named)
    try:
        resolved = path.resolve()
        public = resolved.is_relative_to(Path(hass.config.path(_PUBLIC_FOLDER)).resolve())
        ours = resolved.is_relative_to(own.resolve())
        allowed = ours or hass.config.is_allowed_path(str(resolved))
    except (OSError, RuntimeError, ValueError):
        public, allowed, resolved = True, False, path
    if public or not allowed:
        raise InvalidInputError("path_not_allowed", path=named)
    return resolved


def _check_kind(path: Path, named: str, suffixes: frozenset[str]) -> None:
    """Refuse a file that is of none of these kinds. Raises InvalidInputError."""
    if path.suffix.lower() not in suffixes:
        listed = ", ".join(sorted(suffixes))
        raise InvalidInputError("file_kind_not_allowed", path=named, suffixes=listed)


def _read(hass: HomeAssistant, named: str) -> str:
    path = _allowed(hass, named)
    try:
        if not path.is_file():
            raise InvalidInputError("file_not_found", path=named)
        _check_kind(path, named, READ_SUFFIXES)
        with path.open("rb") as file:
            # One byte more than fits is enough to know that it is too much.
            content = file.read(INPUT_LIMIT_BYTES + 1)
    except OSError as err:
        raise StorageError("file_cannot_read", path=named) from err
    within_limit(content)
    return decoded(content)


class _Draft:
    """A file that is being written beside its place; all methods block."""

    def __init__(self, hass: HomeAssistant, named: str) -> None:
        """Begin. Raises InvalidInputError and StorageError."""
        self.path = _allowed(hass, named)
        self._named = named
        _check_kind(self.path, named, WRITTEN_SUFFIXES)
        if self.path.is_dir():
            raise InvalidInputError("path_not_allowed", path=named)
        try:
            folder = self.path.parent
            if folder.is_relative_to(Path(hass.config.path(FOLDER)).resolve()):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=folder)
        except OSError as err:
            raise self._failure(err) from err
        self._draft = Path(name)
        self._file = os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")

    def write(self, piece: str) -> None:
        """Add a piece. Raises StorageError."""
        try:
            self._file.write(piece)
        except OSError as err:
            raise self._failure(err) from err

    def finish(self) -> int:
        """Put the file in its place, in one step; returns its size. Raises StorageError."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            size = self._draft.stat().st_size
            self._file.close()
            self._draft.replace(self.path)
            sync(self.path.parent)
        except OSError as err:
            raise self._failure(err) from err
        return size

    def discard(self) -> None:
        """Leave nothing behind of what was not finished."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._draft.unlink(missing_ok=True)

    def _failure(self, error: OSError) -> StorageError:
        if OS_KEYS.get(error.errno or 0) == "disk_full":
            return StorageError("disk_full", path=self._named)
        return StorageError("file_cannot_write", path=self._named)
