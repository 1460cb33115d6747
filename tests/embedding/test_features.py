"""What a text is cut into, in each kind of script."""

from array import array

import pytest

from custom_components.ai_memory.embedding.features import (
    MAX_TERM_CHARACTERS,
    sketch,
    split_terms,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("User's TV, light.living_room!", ["user", "s", "tv", "light", "living", "room"]),
        ("Straße ÄPFEL naïve", ["strasse", "apfel", "naive"]),
        ("IŞIK ışık İzmir", ["isik", "isik", "izmir"]),
        ("Ёлка ёлка", ["елка", "елка"]),
        ("أُحِبُّ القهوة", ["احب", "القهوه"]),
        ("मूंगफली की", ["मूंगफली", "की"]),
        ("花生过敏", ["花生", "生过", "过敏"]),
        ("猫", ["猫"]),
        ("ピーナッツ", ["ピーナ", "ーナッ", "ナッツ"]),
        ("食べる", ["食", "べる"]),
        ("ﾃﾚﾋﾞ", ["テレビ"]),
        ("땅콩 알레르기", ["땅콩", "알레르기"]),
        ("TV를 켜", ["tv", "를", "켜"]),
        ("ขนมปัง", ["ขนม", "นมป", "มปั", "ปัง"]),
        ("👍🏽👍 1️⃣ €5", ["👍", "👍", "1", "€", "5"]),
        ("22:30", ["22", "30"]),
        ("٢٢:३० ๙", ["22", "30", "9"]),
        ("", []),
        (" \t\n\u200b...!?-_\x00", []),
    ],
)
def test_a_text_is_cut_into_terms(text: str, terms: list[str]) -> None:
    assert split_terms(text) == terms


def test_composed_and_decomposed_text_have_the_same_terms() -> None:
    assert split_terms("Müsli für Zoë") == split_terms("Mu\u0308sli fu\u0308r Zoe\u0308")
    assert split_terms("한국") == split_terms("\u1112\u1161\u11ab\u1100\u116e\u11a8")


def test_a_long_run_is_cut_into_bounded_terms() -> None:
    terms = split_terms("x" * 1000)
    assert "".join(terms) == "x" * 1000
    assert max(map(len, terms)) == MAX_TERM_CHARACTERS


def test_lone_surrogates_separate_words() -> None:
    assert split_terms("peanut\ud800butter") == ["peanut", "butter"]


def test_a_word_shares_features_with_its_inflections() -> None:
    assert _shared("allergy", "allergic") > 10
    assert _shared("allergy", "basement") == 0
    assert _shared("땅콩", "땅콩을") > 0
    assert _shared("花生", "花") == 1


def test_a_term_outweighs_each_of_its_parts() -> None:
    weights = array("f", sketch("peanut").weights)
    whole, parts = weights[:4], weights[4:]
    assert sum(weight**2 for weight in whole) == pytest.approx(1.0)
    assert max(parts) < 0.5
    assert len(parts) == 6 + 5 + 4


@pytest.mark.parametrize("term", ["a", "peanut", "花生", "ハンガ", "땅콩", "แพ้", "🎂", "x" * 48])
def test_a_sketch_has_one_weight_for_each_hash(term: str) -> None:
    made = sketch(term)
    assert len(made.hashes) == len(made.weights) == 4 * made.size


def _shared(left: str, right: str) -> int:
    return len(set(array("I", sketch(left).hashes)) & set(array("I", sketch(right).hashes)))
