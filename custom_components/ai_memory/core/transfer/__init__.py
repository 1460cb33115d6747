"""Memories in and out: the formats of other memories and of our own exports.

The manager and the operations use what is exported here. Nothing below this package imports Home
Assistant.
"""

from .asking import ImportReport, ImportRequest
from .decoding import decoded
from .preparing import Defaults
from .reading import read, refuse_own_markdown, within_limit
from .values import (
    INPUT_LIMIT_BYTES,
    ExportFormat,
    Imported,
    ImportedMemory,
    Skipped,
    SkipReason,
    TransferFormat,
)

__all__ = [
    "INPUT_LIMIT_BYTES",
    "Defaults",
    "ExportFormat",
    "ImportReport",
    "ImportRequest",
    "Imported",
    "ImportedMemory",
    "SkipReason",
    "Skipped",
    "TransferFormat",
    "decoded",
    "read",
    "refuse_own_markdown",
    "within_limit",
]
