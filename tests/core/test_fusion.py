"""One order from words and meaning, and what each hit says of itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from custom_components.ai_memory.core.fusion import (
    NOTHING_STANDS_OUT,
    Background,
    Candidate,
    fused,
)
from custom_components.ai_memory.core.models import Layer, MatchType, Memory, Scope, Status
from custom_components.ai_memory.embedding.ranking import (
    TFIDF_RANKING,
    RankingProfile,
    ranking_of,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PROFILE = RankingProfile(weight=0.7, full_deviations=4.0)
QUIET = Background(mean=0.7, deviation=0.02)


def _memory(sequence: int, *, days_old: float = 0) -> Memory:
    stored = NOW - timedelta(days=days_old)
    return Memory(
        sequence=sequence,
        id=f"{sequence:026}",
        content=f"memory {sequence}",
        summary="",
        wing="general",
        room="general",
        scope=Scope.COMMON,
        owner_agent=None,
        owner_user=None,
        layer=Layer.STANDARD,
        type="fact",
        status=Status.ACTIVE,
        confidence=1.0,
        revision=1,
        language=None,
        created=stored,
        updated=stored,
        accessed=None,
        access_count=0,
        source="test",
    )


def _order(*candidates: Candidate, earlier: bool = False, time_alone: bool = False) -> list[int]:
    ranked = fused(candidates, QUIET, PROFILE, earlier=earlier, time_alone=time_alone)
    return [one.sequence for one in ranked]


def _candidate(sequence: int, *, days_old: float = 0, **changes: Any) -> Candidate:
    updated_ms = int((NOW - timedelta(days=days_old)).timestamp() * 1000)
    return Candidate(sequence=sequence, updated_ms=updated_ms, **changes)


def test_words_and_meaning_add_up() -> None:
    words = _candidate(1, coverage=0.6, words=("milk",))
    meaning = _candidate(2, cosine=0.78, alike=True)
    both = _candidate(3, coverage=0.6, words=("milk",), cosine=0.78, alike=True)
    assert _order(words, meaning, both) == [3, 2, 1]


def test_a_similarity_counts_by_how_far_it_stands_out() -> None:
    assert QUIET.prominence(0.78, PROFILE) == pytest.approx(1.0)
    assert QUIET.prominence(0.74, PROFILE) == pytest.approx(0.5)
    assert QUIET.prominence(0.70, PROFILE) == 0.0
    assert QUIET.prominence(0.60, PROFILE) == 0.0
    assert QUIET.prominence(0.99, PROFILE) == 1.0


def test_a_background_is_measured_and_never_too_narrow() -> None:
    measured = Background.of(np.array([0.6, 0.8], np.float32))
    assert [measured.mean, measured.deviation] == pytest.approx([0.7, 0.1])
    assert Background.of(np.array([0.7, 0.7], np.float32)).deviation == 0.01
    assert NOTHING_STANDS_OUT.prominence(0.9, PROFILE) == 0.0


def test_ties_go_to_the_higher_cosine_then_to_the_older_memory() -> None:
    low = _candidate(1, coverage=0.5, cosine=0.5)
    high = _candidate(3, coverage=0.5, cosine=0.6)
    other = _candidate(2, coverage=0.5, cosine=0.6)
    assert _order(low, high, other) == [2, 3, 1]


def test_the_newer_of_two_comes_first_unless_the_older_is_asked_for() -> None:
    old = _candidate(1, days_old=300, coverage=0.5)
    new = _candidate(2, coverage=0.5)
    assert _order(old, new) == [2, 1]
    assert _order(old, new, earlier=True) == [1, 2]


def test_a_better_match_beats_a_newer_one() -> None:
    old = _candidate(1, days_old=3000, coverage=0.8)
    new = _candidate(2, coverage=0.5)
    assert _order(old, new) == [1, 2]


def test_a_memory_of_the_time_asked_for_counts_more() -> None:
    then = _candidate(1, days_old=200, coverage=0.5, in_period=True)
    now = _candidate(2, coverage=0.5)
    assert _order(then, now) == [1, 2]


def test_what_only_names_the_time_stands_behind_what_is_of_it() -> None:
    named = _candidate(1, coverage=0.9, words=("march",), names_time=True)
    of_it = _candidate(2, days_old=250, coverage=0.1, in_period=True)
    other = _candidate(3, coverage=0.2, words=("key",))
    assert _order(named, of_it, other) == [3, 2, 1]
    assert _order(named, other) == [1, 3]


def test_where_the_time_alone_is_asked_for_the_newest_of_it_come_first() -> None:
    older = _candidate(1, days_old=251, cosine=0.78, alike=True, in_period=True)
    newer = _candidate(2, days_old=250, in_period=True)
    other = _candidate(3, coverage=0.9, words=("stored",))
    assert _order(older, other, newer, time_alone=True) == [2, 1, 3]


@pytest.mark.parametrize(
    ("changes", "match_type", "score", "why"),
    [
        ({"coverage": 0.5, "words": ("milk", "box")}, MatchType.TEXT, 0.0, "words: milk, box"),
        ({"coverage": 0.1}, MatchType.TEXT, 0.0, "spelling"),
        ({"coverage": 0.1, "cosine": 0.3}, MatchType.TEXT, 0.0, "spelling"),
        ({"cosine": 0.812345, "alike": True}, MatchType.SEMANTIC, 0.8123, "meaning"),
        (
            {"coverage": 1.0, "words": ("milk",), "cosine": 0.9, "alike": True, "in_period": True},
            MatchType.HYBRID,
            0.9,
            "words: milk; meaning; time",
        ),
        ({"in_period": True}, MatchType.TEXT, 0.0, "time"),
    ],
)
def test_a_hit_says_how_it_was_found(
    changes: dict[str, Any], match_type: MatchType, score: float, why: str
) -> None:
    hit = _candidate(1, **changes).hit(_memory(1))
    assert (hit.match_type, hit.score, hit.why) == (match_type, score, why)


@pytest.mark.parametrize(
    ("model", "weight", "floor"),
    [
        ("bge-m3", 1.0, 0.55),
        ("bge-m3:latest", 1.0, 0.55),
        ("BAAI/bge-m3", 1.0, 0.55),
        ("Qwen/Qwen3-Embedding-0.6B-GGUF", 1.0, None),
        ("text-embedding-3-small", 1.0, None),
        ("intfloat/multilingual-e5-small", 0.7, None),
        ("all-minilm:22m", 0.7, None),
        ("", 0.7, None),
    ],
)
def test_every_family_has_its_weight(model: str, weight: float, floor: float | None) -> None:
    profile = ranking_of(model)
    assert (profile.weight, profile.floor) == (weight, floor)
    assert profile.weight > TFIDF_RANKING.weight
