"""What an import is asked for, what it answers, and how its memories replaced one another.

The operations make requests and tell reports; ``importing`` does the work in between.
"""

from dataclasses import dataclass, field
from typing import Final

from .preparing import Defaults
from .values import Skipped, TransferFormat

SKIPPED_TOLD: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What to import and how; a dry run only tells what would become of it."""

    data: str | bytes
    format: TransferFormat = TransferFormat.AUTO
    defaults: Defaults = field(default_factory=Defaults)
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of an import; every memory that was read is counted once.

    ``places`` were described or scoped, ``tunnels`` opened; those that stay as they are do not
    count.
    """

    format: TransferFormat
    dry_run: bool
    added: int
    known: int
    updated: int
    refused: int
    skipped: int
    skipped_lines: tuple[Skipped, ...]
    places: int = 0
    tunnels: int = 0

    @property
    def read(self) -> int:
        """How many memories, and lines that should have been some, there were."""
        return self.added + self.known + self.updated + self.refused + self.skipped


def without_cycles(sequences: dict[str, int], replaced: dict[str, str]) -> list[tuple[int, int]]:
    """Return which memories were replaced by which, leaving out those that end in a circle."""
    ends: dict[str, bool] = {}
    for first in replaced:
        at: str | None = first
        passed: dict[str, None] = {}
        while at is not None and at not in passed and at not in ends:
            passed[at] = None
            at = replaced.get(at)
        ended = at is None or (at not in passed and ends[at])
        ends |= dict.fromkeys(passed, ended)
    return [
        (sequences[one], sequences[by])
        for one, by in replaced.items()
        if ends[one] and one in sequences and by in sequences
    ]
