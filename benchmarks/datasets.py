"""The data of the retrieval benchmark: LoCoMo conversations and households, in one shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
import json
from pathlib import Path
from typing import Any, Final

LOCOMO_CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One memory of a corpus."""

    id: str
    text: str
    wing: str | None = None
    room: str | None = None
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the memories that answer it, none where nothing does."""

    text: str
    relevant: frozenset[str]
    kind: str
    same_language: bool = True


@dataclass(frozen=True, slots=True)
class Corpus:
    """Memories that are searched together and the questions asked of them."""

    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    search_arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def texts(self) -> dict[str, str]:
        """Texts by id."""
        return {item.id: item.text for item in self.items}


def locomo_corpora(path: Path) -> tuple[list[Corpus], int]:
    """Return a corpus for each conversation, and how many evidence ids do not resolve."""
    corpora, unresolved = [], 0
    for sample in json.loads(path.read_text(encoding="utf-8")):
        items = tuple(
            Item(turn["dia_id"], f"{turn['speaker']}: {turn['text']}{_caption(turn)}")
            for name, session in sample["conversation"].items()
            if isinstance(session, list)
            for turn in session
        )
        known = {item.id for item in items}
        questions = []
        for asked in sample["qa"]:
            evidence = set(asked.get("evidence") or ())
            unresolved += len(evidence - known)
            relevant = frozenset(evidence & known)
            if relevant:
                kind = LOCOMO_CATEGORIES[asked["category"]]
                questions.append(Question(asked["question"], relevant, kind))
        corpora.append(Corpus(items, tuple(questions)))
    return corpora, unresolved


def household_corpus(folder: Path) -> Corpus:
    """Return the corpus of a household directory."""
    memories = _lines(folder / "memories.jsonl")
    language = {memory["id"]: memory.get("language") for memory in memories}
    items = tuple(
        Item(
            memory["id"],
            memory["text"],
            memory.get("wing"),
            memory.get("room"),
            datetime.fromisoformat(memory["created"]) if memory.get("created") else None,
        )
        for memory in memories
    )
    questions = tuple(
        Question(
            asked["text"],
            frozenset(asked["relevant"]),
            asked.get("kind", "question"),
            all(language.get(one) == asked.get("language") for one in asked["relevant"]),
        )
        for asked in _lines(folder / "questions.jsonl")
    )
    return Corpus(items, questions)


def _caption(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f" [{caption}]" if caption else ""


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
