"""The files that a database is made of, for what moves or replaces them.

``integrity`` and ``previous_database`` put a new file in the place of an old one; how that becomes
durable, and what SQLite may have left beside a file, is the same for both.
"""

import errno
import os
from pathlib import Path
from typing import Final

SIDE_FILES: Final = ("-wal", "-shm", "-journal")
OS_KEYS: Final = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EIO: "database_io_error",
}
"""The errors that a person is told of by a text of their own."""


def with_suffix(path: Path, suffix: str) -> Path:
    """Return the file of that suffix beside a database."""
    return path.with_name(f"{path.name}{suffix}")


def sync(path: Path) -> None:
    """Make what was written durable; not every system can do so for a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(descriptor)
