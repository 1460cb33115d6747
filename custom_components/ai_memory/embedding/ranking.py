"""What a model's similarities are worth beside words, by family of models.

Search asks the engine for its profile. The figures come from runs of ``benchmarks.retrieval`` that
are named beside them: change one only after a run. How similar two unrelated texts are differs so
much between models that a cosine says little by itself; so a similarity counts by how many standard
deviations it lies above those of the query to the rest of the memory.
"""

from dataclasses import dataclass
import re
from typing import Final


@dataclass(frozen=True, slots=True)
class RankingProfile:
    """How vectors count in the order of hits.

    ``weight`` is what the best similarity counts beside a memory that holds every word of the
    query, which counts 1. A similarity is the best where it lies ``full_deviations`` above the
    background. ``floor`` is the least cosine of a match by meaning; None where it is calibrated,
    and until then it is the ``expected_floor``, if the family has one.
    """

    weight: float
    full_deviations: float
    floor: float | None = None
    expected_floor: float | None = None


TFIDF_RANKING: Final = RankingProfile(weight=0.1, full_deviations=10.0, floor=0.55)
"""Parts of words, which say little that words do not: ``--engine tfidf``."""

_ENCODER: Final = RankingProfile(weight=0.7, full_deviations=4.0)
"""A small sentence encoder: ``--engine builtin``, the same model as multilingual-e5-small."""

_E5: Final = RankingProfile(weight=0.7, full_deviations=4.0, expected_floor=0.75)
"""As all encoders; two texts in two languages that say the same are 0.77 alike, others 0.72."""

_STRONG: Final = RankingProfile(weight=1.0, full_deviations=4.0)
"""A large encoder counts as much as words; none could be run where the others were measured."""

_BGE_M3: Final = RankingProfile(weight=1.0, full_deviations=4.0, floor=0.55)

_FAMILIES: Final = (
    (re.compile(r"bge-m3"), _BGE_M3),
    (re.compile(r"(?<![a-z0-9])e5-(?:small|base)"), _E5),
    (re.compile(r"qwen3-emb|embedding-?gemma|text-embedding-3|(?<![a-z])e5-large"), _STRONG),
)


def ranking_of(model: str) -> RankingProfile:
    """Return the profile of a model's family, however a server writes its name."""
    name = model.casefold()
    return next((profile for pattern, profile in _FAMILIES if pattern.search(name)), _ENCODER)
