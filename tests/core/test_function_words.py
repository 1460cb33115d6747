"""Which words a question can lose, and which it must keep."""

import pytest

from custom_components.ai_memory.core.function_words import (
    FUNCTION_SUBSTRINGS,
    FUNCTION_WORDS,
)
from custom_components.ai_memory.core.text_folding import fold

MEANT_BY_SOME_HOUSEHOLD = """
    den bin uber van hat hay hoe hen dove car son ton or once les was mes mais co nas ai
    haar sei dos ten ale mam may war man will dan ella ela mia maja ben ed
"""
PARTICLES = "的 了 吗 什么 哪里 在 は が を に どこ 何 です ます"
NOUNS = "聚会 智能 邀请 吉他 密码 药 冰箱 かぎ たまご おもちゃ ぶどう へや 薬 鍵"


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("Please tell me where the spare key is", ["spare", "key"]),
        ("When do we have to water the plants", ["water", "plants"]),
        ("Wo ist der Schlüssel für den Keller", ["schlussel", "den", "keller"]),
        ("Wann hat meine Oma Geburtstag", ["hat", "oma", "geburtstag"]),
        ("Où est la clé de la cave", ["cle", "cave"]),
        ("Quel est le plat préféré de mon père", ["plat", "prefere", "pere"]),
        ("Dónde está la llave del trastero", ["llave", "trastero"]),
        ("Cuál es la contraseña de la alarma", ["contrasena", "alarma"]),
        ("Qual è il codice del cancello", ["codice", "cancello"]),
        ("Quando si ritira la plastica", ["ritira", "plastica"]),
        ("Waar is de sleutel van het tuinhuis", ["sleutel", "van", "tuinhuis"]),
        ("Wat is het wachtwoord", ["wachtwoord"]),
        ("Gdzie jest klucz do piwnicy", ["klucz", "piwnicy"]),
        ("Jakie są ulubione kwiaty mojej mamy", ["ulubione", "kwiaty", "mamy"]),
        ("Onde está a chave do portão", ["chave", "portao"]),
        ("Qual é a senha da nossa rede", ["senha", "rede"]),
    ],
)
def test_a_question_keeps_the_words_that_tell(question: str, telling: list[str]) -> None:
    assert [word for word in fold(question).split() if word not in FUNCTION_WORDS] == telling


@pytest.mark.parametrize(
    "words",
    [
        "not no never without don off out",
        "nicht kein keine nie ohne aus",
        "pas ne jamais sans ni",
        "no nunca sin ni",
        "non mai senza",
        "niet geen nooit zonder uit",
        "nie bez nigdy",
        "nao sem nunca",
    ],
)
def test_negations_are_kept(words: str) -> None:
    assert FUNCTION_WORDS.isdisjoint(words.split())


@pytest.mark.parametrize("word", MEANT_BY_SOME_HOUSEHOLD.split())
def test_words_a_household_may_mean_are_kept(word: str) -> None:
    assert word not in FUNCTION_WORDS


def test_all_words_are_folded() -> None:
    for words in (FUNCTION_WORDS, FUNCTION_SUBSTRINGS):
        assert [word for word in words if fold(word) != word] == []


def test_function_words_are_words_of_spaced_scripts() -> None:
    assert [word for word in FUNCTION_WORDS if not word.isalpha() or ord(max(word)) > 0x4FF] == []
    assert 400 < len(FUNCTION_WORDS) < 900


def test_substrings_fit_into_a_pair_of_characters() -> None:
    assert {len(part) for part in FUNCTION_SUBSTRINGS} == {1, 2}


@pytest.mark.parametrize("part", PARTICLES.split())
def test_particles_are_passed_over(part: str) -> None:
    assert any(known in part for known in FUNCTION_SUBSTRINGS)


@pytest.mark.parametrize("noun", NOUNS.split())
def test_nouns_are_not_passed_over(noun: str) -> None:
    assert not any(known in noun for known in FUNCTION_SUBSTRINGS)
