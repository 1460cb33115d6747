"""The vector index against a plain calculation."""

import json

import numpy as np
import pytest

from custom_components.ai_memory.core.vector_index import (
    BLOCK_ROWS,
    Vector,
    VectorIndex,
    VisibleSet,
)
from custom_components.ai_memory.embedding import FloatMatrix

DIMENSIONS = 8


def _vectors(count: int, seed: int = 7) -> FloatMatrix:
    made = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    unit: FloatMatrix = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit


def _visible(*sequences: int) -> VisibleSet:
    return VisibleSet.parse(json.dumps(sequences))


def _query(index: int = 0) -> Vector:
    query: Vector = _vectors(10, seed=99)[index]
    return query


@pytest.mark.parametrize("count", [1, 5, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 17])
def test_the_best_are_those_of_an_exact_calculation(count: int) -> None:
    vectors, index = _vectors(count), VectorIndex()
    for sequence, vector in enumerate(vectors, start=1):
        index.put(sequence, vector)
    cosines = vectors @ _query()
    expected = [int(at) + 1 for at in np.argsort(-cosines)[:10]]
    found = index.best(_query(), _visible(*range(1, count + 1)), 10, -1.0)
    assert [sequence for sequence, _ in found] == expected
    assert [score for _, score in found] == pytest.approx(cosines[np.array(expected) - 1])


def test_only_the_visible_are_ranked() -> None:
    index = VectorIndex()
    for sequence, vector in enumerate(_vectors(1000), start=1):
        index.put(sequence, vector)
    found = index.best(_query(), _visible(3, 500, 999, 5000), 10, -1.0)
    assert {sequence for sequence, _ in found} == {3, 500, 999}
    assert index.best(_query(), _visible(), 10, -1.0) == []


def test_a_minimum_score_cuts_off() -> None:
    index = VectorIndex()
    for sequence, vector in enumerate(_vectors(100), start=1):
        index.put(sequence, vector)
    found = index.best(_query(), _visible(*range(1, 101)), 100, 0.3)
    assert 0 < len(found) < 100
    assert min(score for _, score in found) >= 0.3


def test_replaced_and_discarded_vectors_are_gone_and_their_place_is_used_again() -> None:
    index, vectors = VectorIndex(), _vectors(BLOCK_ROWS)
    for sequence, vector in enumerate(vectors, start=1):
        index.put(sequence, vector)
    index.put(5, -_query())
    for sequence in range(10, 20):
        index.discard(sequence)
    index.discard(10)
    everything = _visible(*range(1, BLOCK_ROWS + 50))
    found = dict(index.best(_query(), everything, BLOCK_ROWS, -2.0))
    assert found[5] == pytest.approx(-1.0)
    assert not set(found) & set(range(10, 20))
    assert len(index) == BLOCK_ROWS - 10
    for sequence in range(BLOCK_ROWS + 1, BLOCK_ROWS + 11):
        index.put(sequence, _query())
    assert len(index._blocks) == 1
    best = index.best(_query(), everything, 10, 0.99)
    assert [sequence for sequence, _ in best] == list(range(BLOCK_ROWS + 1, BLOCK_ROWS + 11))


def test_a_vector_of_another_dimension_is_left_out() -> None:
    index = VectorIndex()
    index.put(1, _query())
    index.put(2, np.ones(3, np.float32))
    index.put(1, np.ones(3, np.float32))
    assert len(index) == 0
    assert index.best(np.ones(3, np.float32), _visible(1, 2), 5, -1.0) == []


def test_an_empty_index_finds_nothing() -> None:
    assert VectorIndex().best(_query(), _visible(1), 5, -1.0) == []
