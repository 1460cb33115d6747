"""How texts and queries become words, phrases and trigrams."""

import time

import pytest

from custom_components.ai_memory.core.fulltext import (
    QUERY_TERM_LIMIT,
    fuzzy_terms,
    indexed_text,
    trigram_query,
    words_query,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Wi-Fi is slow", "the wi fi wifi is slow"),
        ("Größe: 40×60", "grosse 40 60"),
        ("牛奶 and milk", "牛 奶 and milk"),
        ("दूध में", "दूध में"),
        ("🍕🍕!", "🍕 🍕"),
        ("a_b", "a b"),
        ("a-b-c--d", "a b c abc d"),
    ],
)
def test_indexed_text_is_words_between_spaces(text: str, words: str) -> None:
    assert indexed_text(text).split() == words.split()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("where is the dishwasher", '"dishwasher"'),
        ("the is", '"the" OR "is"'),
        ('say "hi"* NEAR(x)', '"say" OR "hi" OR "near" OR "x"'),
        ("牛奶盒", '"牛 奶" OR "奶 盒"'),
        ("?!", None),
        ("", None),
    ],
)
def test_a_query_is_quoted_words_joined_by_or(text: str, query: str | None) -> None:
    assert words_query(text) == query


def test_queries_are_bounded() -> None:
    query = words_query(" ".join(f"word{number}" for number in range(1000)))
    assert query is not None
    assert query.count(" OR ") == QUERY_TERM_LIMIT - 1


def test_only_longer_words_are_matched_by_spelling() -> None:
    assert fuzzy_terms("the cat ate allergies allergies 牛奶") == ["allergies"]
    assert trigram_query(["cat", "lamp"]) == '"cat" OR "lam" OR "amp"'
    assert trigram_query([]) is None


@pytest.mark.parametrize("text", ["a" * 10_000, "牛" * 10_000, "a-" * 5_000, "-" * 10_000])
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    """Ten times the text may take ten times as long, with room for a noisy machine."""

    def seconds(sample: str) -> float:
        best = 1.0
        for _ in range(5):
            start = time.perf_counter()
            indexed_text(sample)
            best = min(best, time.perf_counter() - start)
        return best

    indexed_text(text)
    assert seconds(text) < 40 * seconds(text[:1000]) + 0.001
