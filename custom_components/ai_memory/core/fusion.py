"""One order from two ways of matching: words and meaning.

``MemorySearch`` gathers the candidates; the weights belong to the engine (``embedding.ranking``). A
memory's score is the share of the query's words it holds, plus the weight of its similarity, which
is measured against the query's similarity to the rest of the memory: fusing ranks alone would
count the best of a bad lot as much as a real match (see ``benchmarks.retrieval``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Self

from ..embedding.ranking import RankingProfile
from .models import MatchType, Memory, SearchHit
from .vector_index import Vector

SCORE_DIGITS: Final = 4
LEAST_DEVIATION: Final = 0.01
"""A background of a few memories that are alike by chance must not make any other stand out."""

# Chosen by ``benchmarks.retrieval``; changing them without a run of it is guessing.
RECENCY_WEIGHT: Final = 0.3
"""How much more the newest of the candidates counts than one that is infinitely old."""
RECENCY_HALF_LIFE_MS: Final = 180 * 86_400_000
PERIOD_WEIGHT: Final = 0.5
"""How much more a memory of the time counts of which the query speaks."""


@dataclass(frozen=True, slots=True)
class Background:
    """How similar a query is to the memory at large."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, cosines: Vector) -> Self:
        """Measure a sample."""
        return cls(float(cosines.mean()), max(float(cosines.std()), LEAST_DEVIATION))

    def prominence(self, cosine: float, profile: RankingProfile) -> float:
        """Return from 0 to 1 how far a similarity stands out."""
        deviations = (cosine - self.mean) / self.deviation
        return min(1.0, max(0.0, deviations / profile.full_deviations))


NOTHING_STANDS_OUT: Final = Background(1.0, 1.0)
"""Where there is nothing to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that words, meaning or its time brought up.

    ``archived`` says that the archive holds it, which is asked where nothing else answers.
    ``cosine`` is None where nothing could be compared; ``alike`` says that it reaches the floor.
    ``names_time`` says that it only holds the words of the time and is not of that time.
    ``evidence`` is what others witnessed of it, see ``Memory``.
    """

    sequence: int
    updated_ms: int
    archived: bool = False
    coverage: float = 0.0
    words: tuple[str, ...] = ()
    cosine: float | None = None
    alike: bool = False
    in_period: bool = False
    names_time: bool = False
    evidence: float = 1.0

    def hit(self, memory: Memory) -> SearchHit:
        """Return the memory as a hit that says how it was found."""
        reasons = []
        if self.words:
            reasons.append(f"words: {', '.join(self.words)}")
        elif self.coverage:
            reasons.append("spelling")
        if self.alike:
            reasons.append("meaning")
        if self.in_period:
            reasons.append("time")
        if (factor := f"{self.evidence:.2f}") != "1.00":
            reasons.append(f"evidence x{factor}")
        if not self.alike:
            match_type = MatchType.TEXT
        else:
            match_type = MatchType.HYBRID if self.coverage else MatchType.SEMANTIC
        score = self.cosine if self.alike and self.cosine is not None else 0.0
        return SearchHit(
            memory=memory,
            score=round(score, SCORE_DIGITS),
            match_type=match_type,
            why="; ".join(reasons),
        )


def fused(
    candidates: Sequence[Candidate],
    background: Background,
    profile: RankingProfile,
    *,
    earlier: bool = False,
    time_alone: bool = False,
) -> list[Candidate]:
    """Return the candidates, best first; ties to the higher cosine, then to the older.

    The newer of two counts more, or the older where ``earlier`` is asked for. What is of the time
    that is asked for stands before what only names it, and before all else, the newest first, where
    nothing but that time is asked for (``time_alone``).
    """
    preferred = (min if earlier else max)((one.updated_ms for one in candidates), default=0)
    of_time = any(one.in_period for one in candidates)

    def rank(one: Candidate) -> tuple[bool, float, float, int]:
        if time_alone and one.in_period:
            return False, -inf, -one.updated_ms, -one.sequence
        score = one.coverage
        if one.cosine is not None:
            score += profile.weight * background.prominence(one.cosine, profile)
        distance = abs(preferred - one.updated_ms) / RECENCY_HALF_LIFE_MS
        score *= 1 + RECENCY_WEIGHT * 0.5**distance
        score *= 1 + PERIOD_WEIGHT * one.in_period
        score *= one.evidence
        return of_time and one.names_time, -score, -(one.cosine or 0.0), one.sequence

    return sorted(candidates, key=rank)
