"""Measures of a ranking against the memories that answer a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Final

import numpy as np

CUTS: Final = (1, 5, 10, 20)
GAIN_CUT: Final = 10
RESAMPLES: Final = 2_000
_SEED: Final = 20261130


@dataclass(frozen=True, slots=True)
class Scores:
    """What one ranking is worth.

    ``hit_1`` is 1 where the first memory is relevant; recall is the share of relevant memories
    among the first so many; ``found`` counts what was returned.
    """

    hit_1: float
    recall_1: float
    recall_5: float
    recall_10: float
    recall_20: float
    mrr: float
    ndcg_10: float
    found: int


def scores_of(ranked: Sequence[str], relevant: frozenset[str]) -> Scores:
    """Return the scores of one ranking, all zero where nothing is relevant."""
    if not relevant:
        return Scores(0, 0, 0, 0, 0, 0, 0, len(ranked))
    places = [place for place, found in enumerate(ranked, start=1) if found in relevant]
    first, five, ten, twenty = (
        sum(place <= cut for place in places) / len(relevant) for cut in CUTS
    )
    gain = sum(1 / log2(place + 1) for place in places if place <= GAIN_CUT)
    ideal = sum(1 / log2(place + 1) for place in range(1, min(len(relevant), GAIN_CUT) + 1))
    mrr = 1 / places[0] if places else 0.0
    hit = float(places[:1] == [1])
    return Scores(hit, first, five, ten, twenty, mrr, gain / ideal, len(ranked))


def interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the paired bootstrap 95 % interval of the mean difference."""
    differences = np.asarray(ours) - np.asarray(theirs)
    generator = np.random.default_rng(_SEED)
    drawn = generator.integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
