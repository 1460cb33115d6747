"""Which questions ask for how things were before they changed."""

import pytest

from custom_components.ai_memory.core.query_tense import asks_for_earlier


@pytest.mark.parametrize(
    "query",
    [
        "Where was the party originally planned?",
        "What was the PIN before it was changed?",
        "Wann war der Basar ursprünglich?",
        "Wie hieß der Roboter, bevor er geändert wurde?",
        "Où était la fête à l’origine ?".replace("’", "'"),
        "¿Dónde se iba a comer antes del cambio?",
        "Op welke datum zou de tocht eerst zijn?",
        "На какое число юбилей назначали сначала?",
        "Nişan ilk başta hangi tarihteydi?",
        "中秋聚餐最早定的是哪一天？",
        "大会は最初どこでしたか",
        "What was the old code?",
        "what's the old garage code again",
        "What was Anna's old number?",
        "What was the password previously?",
        "Wie war der alte Code?",
        "Was war das frühere WLAN-Passwort?",
        "Quel était l'ancien code du portail ?",
        "¿Cuál era el código anterior?",
        "Qual era il vecchio codice?",
        "Wat was de oude code?",
        "Jaki był stary kod?",
        "Qual era o código antigo?",
        "旧的密码是什么？",
        "以前の暗証番号は何でしたか",
        "Какой был старый код?",
    ],
)
def test_the_older_memory_is_asked_for(query: str) -> None:
    assert asks_for_earlier(query)


@pytest.mark.parametrize(
    "query",
    [
        "When is the party?",
        "What is the PIN of the tablet now?",
        "Wie früh steht Ben auf?",
        "Who likes antipasti?",
        "Welche Tablette nimmt Oma zuerst?",
        "Quali pastiglie prende il nonno prima di colazione?",
        "¿Qué hay que apagar antes de salir de casa?",
        "睡觉之前要吃什么药",
        "What did the ladder used to reach the loft cost?",
        "Where is the primer?",
        "How old is Mia?",
        "How tall was Mia when she was eight years old?",
        "When was the old boiler serviced?",
        "Wie alt war Opa, als er umzog?",
        "Où est l'ancienne tondeuse ?",
        "Wo steht das alte Fahrrad?",
        "",
        "?" * 100_000,
    ],
)
def test_the_newer_memory_is_asked_for(query: str) -> None:
    assert not asks_for_earlier(query)
