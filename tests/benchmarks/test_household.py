"""The household set is what its README says: well formed, complete, hard in the ways it names."""

from collections import Counter
from datetime import UTC, datetime
import json
from pathlib import Path
import re
from typing import Any
import unicodedata

HOUSEHOLD = Path(__file__).parents[2] / "benchmarks" / "household"
WINGS = {
    "household": {"devices", "maintenance", "events"},
    "personal": {"preferences", "health", "secrets"},
    "automation": {"routines", "schedules"},
    "general": {"general"},
}
MEMORIES_AT_LEAST = {
    "en": 90,
    "de": 50,
    **dict.fromkeys(("fr", "es", "it", "nl", "pl", "pt-BR", "zh-Hans", "ja", "tr", "ru"), 18),
}
QUESTIONS_AT_LEAST = {
    "lexical": 120,
    "paraphrase": 60,
    "negation": 36,
    "name": 30,
    "number": 30,
    "near_duplicate": 40,
    "changed_fact": 30,
    "temporal": 40,
    "multi": 36,
    "cross_language": 40,
    "no_answer": 40,
    "adversarial": 15,
}
# The kinds whose answers are not, or not only, in the question's own language.
APART = {"cross_language", "no_answer", "adversarial"}
# The kinds in which a second memory is there to mislead.
SINGLE = {"changed_fact", "near_duplicate", "negation"}
EARLIEST, LATEST = datetime(2024, 11, 30, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC)

# Four letters or more; shorter words do not count.
FUNCTION_WORDS = """
    about after could does from have like many much must never should that their there they this
    what when where which while will with would your into them then than only also
    aber auch beim darf dass eine einem einen einer haben hatte heisst ihre kann mein meine meiner
    mich nach nicht noch oder schon sein sich sind soll unsere unser wann warum welche welchem
    welchen welcher welches wenn werden wird wurde wurden
    avec dans elle mais nous pour quel quelle quand quoi sont une comment pourquoi faut
    como cual cuando donde esta para pero porque quien sobre tiene cuanto cuantos
    come cosa dove quale quando perche sono viene della dello delle degli nella
    deze door geen heeft hoeveel naar niet onze voor waar waarom wanneer welke wordt hebben
    dlaczego gdzie jest jaki jakie jaka kiedy ktore ktorych tylko przez
    onde porque quem quando qual esse essa mais pela pelo
    daha gibi hangi icin neden nasil nerede kadar bunu olan
    если какая какие какой какую когда который надо нужно почему чего чтобы этот
    """


def _lines(name: str) -> list[dict[str, Any]]:
    text = (HOUSEHOLD / name).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


MEMORIES = _lines("memories.jsonl")
QUESTIONS = _lines("questions.jsonl")
BY_ID = {memory["id"]: memory for memory in MEMORIES}
ANSWERED_AT_HOME = [question for question in QUESTIONS if question["kind"] not in APART]


def _words(text: str) -> set[str]:
    """Return the content words, or for Chinese and Japanese the pairs of characters."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    folded = "".join(char for char in decomposed if not unicodedata.combining(char))
    words = {
        word
        for word in re.findall(r"[^\W_]+", folded)
        if word.isdigit() or (len(word) > 3 and not re.search(r"[\u3040-\u9fff]", word))
    }
    for run in re.findall(r"[\u30a0-\u30ff\u3400-\u9fff]+", text):
        words.update(run[start : start + 2] for start in range(len(run) - 1))
    return words.difference(FUNCTION_WORDS.split())


def _alike(first: str, second: str) -> bool:
    """Tell whether two words are the same or begin alike for most of their length."""
    longest = max(len(first), len(second))
    common = max(4, -(-longest * 3 // 5))
    return first == second or (len(second) >= common and first[:common] == second[:common])


def _shared(first: str, second: str) -> int:
    others = _words(second)
    return sum(any(_alike(word, other) for other in others) for word in _words(first))


def test_every_line_has_its_fields_and_an_id_of_its_own() -> None:
    for lines, letter, fields in (
        (
            MEMORIES,
            "m",
            {"id", "text", "language", "wing", "room", "scope", "owner", "created"},
        ),
        (QUESTIONS, "q", {"id", "text", "language", "relevant", "kind"}),
    ):
        assert all(line.keys() == fields for line in lines)
        assert all(re.fullmatch(letter + r"\d{3}", line["id"]) for line in lines)
        assert len({line["id"] for line in lines}) == len(lines)
        assert all(line["text"] == line["text"].strip() != "" for line in lines)
        assert {line["language"] for line in lines} == MEMORIES_AT_LEAST.keys()


def test_no_two_memories_and_no_two_questions_are_equal() -> None:
    for lines in (MEMORIES, QUESTIONS):
        texts = Counter(" ".join(line["text"].casefold().split()) for line in lines)
        assert [text for text, times in texts.items() if times > 1] == []


def test_a_memory_is_a_sentence_with_a_place_and_an_owner() -> None:
    for memory in MEMORIES:
        name = memory["id"]
        private = memory["scope"] == "private"
        assert 40 <= len(memory["text"]) <= 160, name
        assert memory["text"][-1] in ".。", name
        assert memory["room"] in WINGS[memory["wing"]], name
        assert private or memory["scope"] == "common", name
        assert bool(re.fullmatch(r"\w+", memory["owner"] or "")) is private, name
        assert private or memory["owner"] is None, name
        assert memory["created"].endswith("Z"), name
        assert EARLIEST <= datetime.fromisoformat(memory["created"]) < LATEST, name


def test_the_answers_of_a_question_exist_and_fit_its_kind() -> None:
    for question in QUESTIONS:
        name, kind, relevant = question["id"], question["kind"], question["relevant"]
        languages = {BY_ID[memory_id]["language"] for memory_id in relevant}
        assert len(set(relevant)) == len(relevant) <= 4, name
        assert bool(relevant) is (kind != "no_answer") or kind == "adversarial", name
        assert kind != "cross_language" or question["language"] not in languages, name
        assert kind in APART or languages == {question["language"]}, name
        assert kind != "multi" or len(relevant) >= 2, name
        assert kind not in SINGLE or len(relevant) == 1, name


def test_there_are_enough_of_every_language_and_kind() -> None:
    memories = Counter(memory["language"] for memory in MEMORIES)
    kinds = Counter(question["kind"] for question in QUESTIONS)
    answered = Counter(question["language"] for question in ANSWERED_AT_HOME)

    assert len(MEMORIES) >= 320
    assert len(QUESTIONS) >= 420
    assert len(ANSWERED_AT_HOME) >= 290
    assert all(memories[language] >= least for language, least in MEMORIES_AT_LEAST.items())
    assert kinds.keys() == QUESTIONS_AT_LEAST.keys()
    assert all(kinds[kind] >= least for kind, least in QUESTIONS_AT_LEAST.items())
    assert all(answered[language] >= 20 for language in MEMORIES_AT_LEAST)
    assert {memory["room"] for memory in MEMORIES} == set().union(*WINGS.values())


def test_most_questions_share_a_word_with_their_answer_and_paraphrases_none() -> None:
    sharing = {
        question["id"]: any(
            _shared(question["text"], BY_ID[memory_id]["text"])
            for memory_id in question["relevant"]
        )
        for question in ANSWERED_AT_HOME
    }
    paraphrases = {item["id"] for item in ANSWERED_AT_HOME if item["kind"] == "paraphrase"}

    assert sum(sharing.values()) >= 0.6 * len(sharing)
    assert [question for question in paraphrases if sharing[question]] == []


def test_a_changed_fact_has_an_older_memory_in_the_same_room() -> None:
    for question in QUESTIONS:
        if question["kind"] == "changed_fact":
            newer = BY_ID[question["relevant"][0]]
            assert any(
                older["room"] == newer["room"]
                and older["language"] == newer["language"]
                and older["created"] < newer["created"]
                and _shared(older["text"], newer["text"])
                for older in MEMORIES
            ), question["id"]


def test_the_readme_counts_what_is_there() -> None:
    readme = (HOUSEHOLD / "README.md").read_text(encoding="utf-8")
    kinds = Counter(question["kind"] for question in QUESTIONS)

    assert f"{len(MEMORIES)} memories and {len(QUESTIONS)} questions" in readme
    assert all(f"| `{kind}` | {number} |" in readme for kind, number in kinds.items())
    assert f"{len(ANSWERED_AT_HOME)} questions have their answer in their own language" in readme
    for language, number in Counter(memory["language"] for memory in MEMORIES).items():
        asked = sum(question["language"] == language for question in QUESTIONS)
        assert f" | {number} | {asked} | " in readme
