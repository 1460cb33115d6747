"""The figures of the speed benchmark, as they go from the measuring process into table and JSON.

Field names carry their unit and are the keys of the JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Self

type Sections = dict[str, Section]


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long single calls took, from the caller's point of view."""

    count: int
    p50_ms: float
    p95_ms: float
    longest_ms: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        """Sum up single durations; percentiles are durations that occurred (nearest rank)."""
        ordered = sorted(seconds)

        def percentile(part: float) -> float:
            return ordered[ceil(part * len(ordered)) - 1] * 1000

        return cls(
            count=len(ordered),
            p50_ms=percentile(0.5),
            p95_ms=percentile(0.95),
            longest_ms=percentile(1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """How late the event loop was; ``ticks`` is how often it was looked at.

    ``longest_own_ms`` leaves out what the process spent waiting for the machine or collecting
    garbage.
    """

    longest_ms: float
    longest_own_ms: float
    over_5_ms: int
    ticks: int

    @classmethod
    def worst(cls, stalls: Sequence["Stall"]) -> Self:
        """Return one for several measurements."""
        return cls(
            longest_ms=max(stall.longest_ms for stall in stalls),
            longest_own_ms=max(stall.longest_own_ms for stall in stalls),
            over_5_ms=sum(stall.over_5_ms for stall in stalls),
            ticks=sum(stall.ticks for stall in stalls),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One thing that was done many times; ``rankings`` counts how searches were answered."""

    latency: Latency
    stall: Stall
    rankings: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """From opening the filled file, each figure from the same start.

    The first search is asked as soon as the memory is open, while vectors are still being loaded.
    """

    open_ms: float
    first_search_ms: float
    vectors_loaded_ms: float
    stall: Stall


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """Resident memory of the process before opening, with all vectors loaded, and in the end."""

    before_bytes: int
    loaded_bytes: int
    end_bytes: int
    peak_bytes: int

    @property
    def growth_bytes(self) -> int:
        """What an open memory costs."""
        return self.end_bytes - self.before_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFigures:
    """Everything about one number of memories of one dimension.

    ``add``, ``search`` and ``list`` sum up the sections of that kind: latencies of single calls one
    after the other, stalls of all, those of concurrent calls too.
    """

    memories: int
    dimensions: int
    add: Section
    search: Section
    list: Section
    idle: Stall
    opening: Opening
    resident: Resident
    database_bytes: int
    sections: Sections


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFigures:
    """From ``async_setup_entry`` in Home Assistant's core, each figure from the same start."""

    memories: int
    engine: str
    home_assistant: str
    setup_ms: float
    first_search_ms: float
    vectors_loaded_ms: float
