"""How texts and queries become words, phrases and trigrams."""

import time

import pytest

from custom_components.ai_memory.core.fulltext import (
    QUERY_TERM_LIMIT,
    asks_for_something,
    fuzzy_terms,
    halves,
    indexed_text,
    query_phrases,
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
    ("text", "phrases"),
    [
        ("where is the dishwasher", ["dishwasher"]),
        ("the is", ["the", "is"]),
        ('say "hi"* NEAR(x)', ["say", "hi", "near", "x"]),
        ("牛奶盒", ["牛 奶", "奶 盒"]),
        ("?!", []),
        ("", []),
    ],
)
def test_a_query_is_the_words_that_tell(text: str, phrases: list[str]) -> None:
    assert query_phrases(text) == phrases


def test_queries_are_bounded() -> None:
    phrases = query_phrases(" ".join(f"word{number}" for number in range(1000)))
    assert len(phrases) == QUERY_TERM_LIMIT


@pytest.mark.parametrize(
    ("text", "asks"),
    [("what is there", False), ("", False), ("milk", True), ("牛奶", True), ("什么", False)],
)
def test_some_queries_ask_for_nothing(text: str, *, asks: bool) -> None:
    assert asks_for_something(text) is asks


def test_only_longer_words_are_matched_by_spelling() -> None:
    assert fuzzy_terms("the tv has allergies allergies 牛奶") == ["allergies"]
    assert halves("allergies") == ["allergies", "aller", "rgies"]
    assert halves("lamp") == ["lamp", "lam", "amp"]


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
