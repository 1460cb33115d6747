"""The vector index against a plain calculation, kept exactly and as bits."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
import json
from pathlib import Path
import random
import sqlite3
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from custom_components.ai_memory.core import packed_vectors, vectors
from custom_components.ai_memory.core.database import Database
from custom_components.ai_memory.core.errors import StorageError
from custom_components.ai_memory.core.exact_vectors import EXACT_BLOCK_ROWS, ExactVectors
from custom_components.ai_memory.core.packed_vectors import PACKED_BLOCK_ROWS, PackedVectors
from custom_components.ai_memory.core.sign_bits import SignBits, distances, estimates
from custom_components.ai_memory.core.vector_blocks import FREE, Block, Loaded, VectorBlocks
from custom_components.ai_memory.core.vector_index import Rows, Vector, VectorIndex, VisibleSet
from custom_components.ai_memory.embedding import FloatMatrix

DIMENSIONS = 48
FINGERPRINT = "test/1"
MIXED = ("exact", "packed")


def _unit(made: NDArray[np.floating[Any]]) -> FloatMatrix:
    unit: FloatMatrix = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _vectors(count: int, seed: int = 7, dimensions: int = DIMENSIONS) -> FloatMatrix:
    return _unit(np.random.default_rng(seed).standard_normal((count, dimensions)))


def _visible(*sequences: int) -> VisibleSet:
    return VisibleSet.parse(json.dumps(sequences))


def _query(index: int = 0) -> Vector:
    query: Vector = _vectors(10, seed=99)[index]
    return query


class Store:
    """The product's table of vectors, written without memories, and indexes over it."""

    def __init__(self, path: Path) -> None:
        """Make the file."""
        self.path = path

        async def create() -> None:
            database = Database(path)
            await database.open()
            await database.close()

        # In a thread of its own: older test plugins want the main one's loop for themselves.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, create()).result()

    def write(self, made: dict[int, Vector], fingerprint: str = FINGERPRINT) -> None:
        """Store vectors, replacing those of the same memories."""
        with self._connection() as connection:
            connection.executemany(
                "INSERT INTO embeddings VALUES (?, ?, randomblob(32), ?)"
                " ON CONFLICT (sequence) DO UPDATE"
                " SET vector = excluded.vector, fingerprint = excluded.fingerprint",
                [(one, fingerprint, vector.tobytes()) for one, vector in made.items()],
            )

    def remove(self, *sequences: int) -> None:
        """Remove stored vectors."""
        with self._connection() as connection:
            connection.executemany(
                "DELETE FROM embeddings WHERE sequence = ?", [(one,) for one in sequences]
            )

    def rows(self, kind: str) -> Rows:
        """Return empty rows of a kind."""
        if kind == "exact":
            return ExactVectors()
        centre = vectors.mean(self.path, FINGERPRINT)
        assert centre is not None
        return PackedVectors(SignBits(centre), partial(vectors.read, self.path, FINGERPRINT))

    def load(self, index: VectorIndex, kind: str, *, visible: bool = True) -> None:
        """Fill an index with what is stored."""
        rows = self.rows(kind)
        index.begin(rows, visible=visible)
        for loaded in rows.blocks_of(vectors.load(self.path, FINGERPRINT)):
            index.adopt(loaded)
        index.finish()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection


@pytest.fixture(name="store")
def store_fixture(tmp_path: Path) -> Store:
    return Store(tmp_path / "memory.db")


def _filled(store: Store, kind: str, made: dict[int, Vector]) -> VectorIndex:
    store.write(made)
    index = VectorIndex()
    store.load(index, kind)
    return index


def _numbered(matrix: FloatMatrix, first: int = 1) -> dict[int, Vector]:
    return dict(enumerate(matrix, first))


def _best_of(
    made: dict[int, Vector], query: Vector, limit: int, min_score: float = -2.0
) -> list[tuple[int, float]]:
    scored = [(one, float(vector @ query)) for one, vector in made.items()]
    enough = [pair for pair in scored if pair[1] >= min_score]
    return sorted(enough, key=lambda pair: (-pair[1], pair[0]))[:limit]


def _assert_same(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> None:
    assert [one for one, _ in found] == [one for one, _ in expected]
    assert [score for _, score in found] == pytest.approx(
        [score for _, score in expected], abs=1e-5
    )


@pytest.mark.parametrize("count", [1, 5, EXACT_BLOCK_ROWS, 2 * EXACT_BLOCK_ROWS + 17])
def test_the_best_are_those_of_an_exact_calculation(count: int) -> None:
    made, index = _numbered(_vectors(count)), VectorIndex()
    for sequence, vector in made.items():
        index.put(sequence, vector)
    found = index.best(_query(), _visible(*made), 10, -1.0)
    _assert_same(found, _best_of(made, _query(), 10))


@pytest.mark.parametrize("kind", MIXED)
@pytest.mark.parametrize("count", [1, 300, PACKED_BLOCK_ROWS + 100])
def test_what_was_loaded_is_found(store: Store, kind: str, count: int) -> None:
    # The dimensions are few and without structure: hard for signs, so a copy is looked for.
    made = _numbered(_vectors(count))
    index = _filled(store, kind, made)
    assert (len(index), index.packed) == (count, kind == "packed")
    for sequence in {1, count // 2 + 1, count}:
        [(best, score)] = index.best(made[sequence], _visible(*made), 1, -1.0)
        assert best == sequence
        assert score == pytest.approx(1.0)


@pytest.mark.parametrize("kind", MIXED)
def test_few_visible_memories_are_all_compared_exactly(store: Store, kind: str) -> None:
    made = _numbered(_vectors(6000))
    index = _filled(store, kind, made)
    shown = [*range(3, 6000, 20), 7000]
    expected = _best_of({one: made[one] for one in shown if one in made}, _query(), 299)
    assert len(expected) == 299
    found = index.best(_query(), _visible(*shown), 299, -1.0)
    _assert_same(found, expected)
    assert index.best(_query(), _visible(), 10, -1.0) == []


def _realistic(count: int, dimensions: int, seed: int) -> tuple[FloatMatrix, FloatMatrix]:
    """Return documents and queries with a strong common mean, a spectrum that falls, and topics."""
    draw = np.random.default_rng(seed)
    strengths = (1 + np.arange(dimensions)) ** -0.5
    mean = draw.standard_normal(dimensions)
    mean *= 2 * np.linalg.norm(strengths) / np.linalg.norm(mean)

    def around(centres: FloatMatrix, spread: float) -> FloatMatrix:
        return np.asarray(
            centres + spread * strengths * draw.standard_normal(centres.shape), np.float32
        )

    topics = around(np.tile(np.float32(mean), (count // 10, 1)), 0.7)
    documents = around(topics[draw.integers(0, len(topics), count)], 0.7)
    queries = around(documents[draw.integers(0, count, 50)], 0.5)
    return _unit(documents), _unit(queries)


@pytest.mark.parametrize("dimensions", [100, 384])
def test_bits_find_what_exact_vectors_find(store: Store, dimensions: int) -> None:
    documents, queries = _realistic(12_000, dimensions, 3)
    # The common mean is what makes plain signs useless.
    assert np.linalg.norm(documents.mean(axis=0)) > 0.8
    made = _numbered(documents)
    packed, everyone = _filled(store, "packed", made), _visible(*made)
    cosines, found = queries @ documents.T, 0
    for query, row in zip(queries, cosines, strict=True):
        exact = set((np.argsort(-row)[:10] + 1).tolist())
        best = packed.best(query, everyone, 20, -1.0)
        assert len(best) == 20
        found += len(exact & {one for one, _ in best[:10]})
        assert [score for _, score in best] == pytest.approx(
            [row[one - 1] for one, _ in best], abs=1e-5
        )
    assert found / (10 * len(queries)) >= 0.98


def test_estimates_come_closer_than_distances() -> None:
    documents, queries = _realistic(2000, 384, 5)
    signs = SignBits(documents.mean(axis=0))
    rows, query = signs.pack(documents), signs.query(queries[0])
    cosines = documents @ queries[0]
    by_bits = np.corrcoef(cosines, -distances(query, rows).astype(float))[0, 1]
    by_estimate = np.corrcoef(cosines, estimates(query, rows))[0, 1]
    assert 0.3 < by_bits < by_estimate
    assert by_estimate > 0.9


def test_turning_keeps_lengths_and_angles() -> None:
    signs, made = SignBits(np.zeros(100, np.float32)), _vectors(20, dimensions=100)
    turned = signs._turn(made)
    assert turned.shape == (20, 128)
    assert turned @ turned.T == pytest.approx(made @ made.T, abs=1e-5)
    # A single coordinate is spread over many.
    assert np.count_nonzero(signs._turn(np.eye(100, dtype=np.float32)[:1])) > 60


@pytest.mark.parametrize("kind", MIXED)
def test_a_minimum_score_cuts_off(store: Store, kind: str) -> None:
    made = _numbered(_vectors(300))
    index = _filled(store, kind, made)
    found = index.best(_query(), _visible(*made), 300, 0.1)
    assert 0 < len(found) < 150
    _assert_same(found, _best_of(made, _query(), 300, 0.1))


@pytest.mark.parametrize("kind", MIXED)
def test_equal_vectors_are_ranked_by_sequence_however_many(store: Store, kind: str) -> None:
    [one] = _vectors(1)
    index = _filled(store, kind, dict.fromkeys(range(1, 9001), one))
    found = index.best(one, _visible(*range(5, 9001)), 50, -1.0)
    assert [sequence for sequence, _ in found] == list(range(5, 55))


@pytest.mark.parametrize("kind", MIXED)
def test_a_vector_of_zeros_is_like_nothing(store: Store, kind: str) -> None:
    made = _numbered(_vectors(50)) | {51: np.zeros(DIMENSIONS, np.float32)}
    index = _filled(store, kind, made)
    found = dict(index.best(_query(), _visible(*made), 51, -1.0))
    assert (len(found), found[51]) == (51, 0.0)
    nothing = np.zeros(DIMENSIONS, np.float32)
    assert {score for _, score in index.best(nothing, _visible(*made), 51, -1.0)} == {0.0}


@pytest.mark.parametrize("kind", MIXED)
def test_cosines_of_given_memories_are_exact(store: Store, kind: str) -> None:
    made = _numbered(_vectors(2000))
    index = _filled(store, kind, made)
    wanted = [1999, 4, 77, 12345, 4]
    found = index.cosines(_query(), wanted)
    assert found.keys() == {4, 77, 1999}
    for one, cosine in found.items():
        assert cosine == pytest.approx(float(made[one] @ _query()), abs=1e-6)
    assert index.cosines(_query(), []) == {}
    assert index.cosines(np.ones(3, np.float32), wanted) == {}


@pytest.mark.parametrize("kind", MIXED)
def test_a_vector_of_another_dimension_is_left_out(store: Store, kind: str) -> None:
    odd = np.ones(3, np.float32)
    made = _numbered(_vectors(20))
    index = _filled(store, kind, made | {21: odd})
    assert (len(index), index.stored) == (20, 21)
    index.put(1, odd)
    assert (len(index), index.stored, 1 in index) == (19, 21, False)
    assert index.best(odd, _visible(*made), 5, -1.0) == []
    index.put(21, made[2])
    index.discard(1)
    assert (len(index), index.stored, 21 in index) == (20, 20, True)


def test_an_empty_index_finds_nothing() -> None:
    assert VectorIndex().best(_query(), _visible(1), 5, -1.0) == []
    assert VectorIndex().cosines(_query(), [1]) == {}


@pytest.mark.parametrize("kind", MIXED)
def test_gaps_between_sequences_cost_little(store: Store, kind: str) -> None:
    sequences = random.Random(4).sample(range(1, 10_000_001), 3000)  # noqa: S311
    made = dict(zip(sequences, _vectors(3000), strict=True))
    index = _filled(store, kind, made)
    shown = sequences[:200]
    found = index.best(_query(), _visible(*shown), 20, -1.0)
    _assert_same(found, _best_of({one: made[one] for one in shown}, _query(), 20))
    index.put(10_000_001, _query())
    index.discard(sequences[0])
    assert (10_000_001 in index, sequences[0] in index, len(index)) == (True, False, 3000)
    assert 10_000_002 not in index


@pytest.mark.parametrize("kind", MIXED)
@pytest.mark.parametrize("seed", [1, 2])
def test_any_series_of_writes_leaves_what_a_dict_would_hold(
    store: Store, kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_vectors, "PACKED_BLOCK_ROWS", 64)
    monkeypatch.setattr(vectors, "FETCHED_ROWS", 50)
    draw, pool = random.Random(seed), _vectors(500, seed)  # noqa: S311
    store.write(_numbered(pool[:60]))
    model, index = _numbered(pool[:60]), VectorIndex()
    store.load(index, kind)
    for _ in range(1500):
        sequence, action = draw.randint(1, 400), draw.random()
        if action < 0.55:
            vector = pool[draw.randrange(500)]
            store.write({sequence: vector})
            index.put(sequence, vector)
            model[sequence] = vector
        elif action < 0.95:
            store.remove(sequence)
            index.discard(sequence)
            model.pop(sequence, None)
        elif action < 0.96:
            store.load(index, kind, visible=draw.random() < 0.5)
        else:
            shown = draw.sample(range(1, 450), 200)
            query = pool[draw.randrange(500)]
            seen = {one: model[one] for one in shown if one in model}
            _assert_same(
                index.best(query, _visible(*shown), 400, 0.0), _best_of(seen, query, 400, 0.0)
            )
        assert len(index) == len(model)
    assert {one for one in range(1, 401) if one in index} == model.keys()


def test_rows_of_discarded_vectors_are_used_again() -> None:
    blocks = VectorBlocks(4, lambda: [0] * 4)

    def write(value: int) -> Callable[[list[int], int], None]:
        return lambda data, row: data.__setitem__(row, value)

    for sequence in (10, 20, 30):
        blocks.put(sequence, write(sequence))
    for sequence in (20, 20, 99):
        blocks.discard(sequence)
    blocks.adopt(Block(np.array([40, FREE, 50, FREE]), [40, 0, 50, 0]))
    for sequence in (60, 70, 80, 90, 10):
        blocks.put(sequence, write(sequence))
    assert (len(blocks), len(blocks.blocks)) == (8, 2)
    held = [
        (sequence, block.data[row])
        for block in blocks.blocks
        for row, sequence in enumerate(block.sequences.tolist())
    ]
    assert sorted(held) == [(one, one) for one in (10, 30, 40, 50, 60, 70, 80, 90)]


@pytest.mark.parametrize("built", MIXED)
def test_writes_while_rows_are_built_win_over_what_was_loaded(store: Store, built: str) -> None:
    made = _numbered(_vectors(1000))
    index = _filled(store, "exact", made)
    rows = store.rows(built)
    index.begin(rows, visible=False)
    blocks = list(rows.blocks_of(vectors.load(store.path, FINGERPRINT)))
    changes = {5: _query(1), 1001: _query(2)}
    store.write(changes)
    store.remove(7)
    for sequence, vector in changes.items():
        index.put(sequence, vector)
    index.discard(7)
    for loaded in blocks:
        index.adopt(loaded)
    assert not index.packed
    index.finish()
    assert (index.packed, len(index)) == (built == "packed", 1000)
    now = made | changes
    del now[7]
    found = index.best(_query(1), _visible(*range(1, 1100)), 5, -1.0)
    _assert_same(found[:1], [(5, 1.0)])
    assert index.cosines(_query(), [5, 7, 1001]) == pytest.approx(
        {one: float(now[one] @ _query()) for one in (5, 1001)}, abs=1e-6
    )


@pytest.mark.parametrize("built", MIXED)
def test_a_block_of_which_everything_was_written_meanwhile_is_taken(
    store: Store, built: str
) -> None:
    made = _numbered(_vectors(3))
    index = _filled(store, "exact", made)
    rows = store.rows(built)
    index.begin(rows, visible=False)
    blocks = list(rows.blocks_of(vectors.load(store.path, FINGERPRINT)))
    changed = {sequence: _query(sequence) for sequence in made}
    store.write(changed)
    for sequence, vector in changed.items():
        index.put(sequence, vector)
    for loaded in blocks:
        index.adopt(loaded)
    index.finish()
    assert len(index) == len(made)
    first = next(iter(made))
    assert index.cosines(_query(first), [first]) == pytest.approx({first: 1.0}, abs=1e-6)


@pytest.mark.parametrize("put", [True, False])
def test_the_first_vectors_of_all_may_come_while_a_file_without_any_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, put: bool
) -> None:
    made = _numbered(_vectors(6))
    index = VectorIndex()
    look = vectors._first_size

    def written_meanwhile(connection: sqlite3.Connection, fingerprint: str) -> int:
        size = look(connection, fingerprint)
        store.write(made)
        if put:
            for sequence, vector in made.items():
                index.put(sequence, vector)
        return size

    monkeypatch.setattr(vectors, "_first_size", written_meanwhile)
    store.load(index, "exact")
    # Whoever wrote them tells the index, then or a moment later.
    for sequence, vector in made.items():
        index.put(sequence, vector)
    assert (len(index), index.stored) == (6, 6)
    _assert_same(index.best(_query(), _visible(*made), 6, -1.0), _best_of(made, _query(), 6))


def test_what_is_built_can_be_abandoned(store: Store) -> None:
    index = _filled(store, "exact", _numbered(_vectors(10)))
    index.begin(store.rows("packed"), visible=False)
    index.abandon()
    index.adopt(Loaded(Block(np.array([1]), None), []))
    assert (index.packed, len(index)) == (False, 10)


def test_scores_come_from_the_file_while_rows_are_replaced(store: Store) -> None:
    """One vector is replaced again and again by its opposite: never a score in between."""
    made = _numbered(_vectors(3000))
    for kind in MIXED:
        index = _filled(store, kind, made)
        stop, everyone = Event(), _visible(*made)

        def replace(index: VectorIndex = index, stop: Event = stop) -> None:
            turn = 1
            while not stop.is_set():
                turn = -turn
                index.put(1, np.float32(turn) * _query())
                index.discard(2)
                index.put(2, np.float32(turn) * _query())

        thread = Thread(target=replace)
        thread.start()
        try:
            for _ in range(20):
                scores = dict(index.best(_query(), everyone, 3000, -1.0))
                for one in (1, 2):
                    stored = float(made[one] @ _query())
                    possible = (stored, 1.0, -1.0) if kind == "exact" else (stored,)
                    if one in scores:
                        assert min(abs(scores[one] - score) for score in possible) < 1e-5
        finally:
            stop.set()
            thread.join()


def test_a_vector_that_is_gone_from_the_file_is_passed_over(store: Store) -> None:
    made = _numbered(_vectors(20))
    index = _filled(store, "packed", made)
    store.remove(3)
    store.write({4: made[4]}, "another/engine")
    store.write({5: np.ones(3, np.float32)})
    found = index.best(_query(), _visible(*made), 20, -1.0)
    expected = {one: vector for one, vector in made.items() if one not in {3, 4, 5}}
    _assert_same(found, _best_of(expected, _query(), 20))
    assert index.cosines(_query(), [3, 4, 5]) == {}


def test_a_file_that_cannot_be_read_is_a_storage_error(store: Store) -> None:
    index = _filled(store, "packed", _numbered(_vectors(20)))
    store.path.unlink()
    with pytest.raises(StorageError):
        index.best(_query(), _visible(1), 5, -1.0)


def test_an_index_tells_when_it_has_outgrown_its_rows() -> None:
    index = VectorIndex(exact_rows=3)
    for sequence, vector in enumerate(_vectors(4), 1):
        assert not index.outgrown
        index.put(sequence, vector)
    assert index.outgrown


def test_a_load_reads_vectors_in_order_whatever_lies_between(store: Store) -> None:
    made = _numbered(_vectors(3 * vectors.FETCHED_ROWS), 100)
    store.write({one: made[one] for one in made if one % 3})
    store.write({one: made[one] for one in made if not one % 3}, "another/engine")
    store.write({99_999: np.ones(5, np.float32)})
    parts = list(vectors.load(store.path, FINGERPRINT))
    sequences = np.concatenate([part.sequences for part in parts])
    assert sequences.tolist() == [one for one in made if one % 3]
    loaded = np.concatenate([part.vectors for part in parts])
    assert np.array_equal(loaded, np.array([made[one] for one in sequences.tolist()]))
    assert [one for part in parts for one in part.left_out] == [99_999]
    assert list(vectors.load(store.path, "nobody")) == []
    assert vectors.mean(store.path, "nobody") is None


def test_a_visible_set_knows_its_own() -> None:
    asked = np.array([FREE, 0, 1, 2, 64, 9_999_999, 10_000_000, 20_000_000])
    visible = _visible(9_999_999, 64, 1)
    assert visible.mask(asked).tolist() == [False, False, True, False, True, True, False, False]
    assert len(visible) == 3
    nobody = _visible()
    assert len(nobody) == 0
    assert not nobody.mask(asked).any()


def test_what_others_store_does_not_move_the_background() -> None:
    index, rng = VectorIndex(), np.random.default_rng(5)
    vectors = rng.standard_normal((3_000, 16)).astype(np.float32)
    for sequence in range(1, 1_001):
        index.put(sequence, vectors[sequence])
    mine = VisibleSet.parse(f"[{','.join(map(str, range(1, 1_001)))}]")
    before = index.background(vectors[0], mine)
    assert 400 < len(before) <= 512
    for sequence in range(1_001, 3_000):
        index.put(sequence, vectors[sequence])
    after = index.background(vectors[0], mine.replaced(range(1_001, 3_000), mine))
    assert after.tolist() == before.tolist()
