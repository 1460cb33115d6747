"""The texts in front of a text, by family of models."""

import pytest

from custom_components.ai_memory.embedding import TextKind
from custom_components.ai_memory.embedding.instructions import (
    NO_INSTRUCTIONS_TAG,
    Instructions,
    family_instructions,
    instructions_for,
)

_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query"
_QWEN = (f"{_TASK}\nQuery:", "")
_E5 = ("query: ", "passage: ")
_E5_INSTRUCT = (f"{_TASK}\nQuery: ", "")
_PASSAGES = ("Represent this sentence for searching relevant passages: ", "")
_NOMIC = ("search_query: ", "search_document: ")
_GEMMA = ("task: search result | query: ", "title: none | text: ")
_ARCTIC_2 = ("query: ", "")
_NONE = ("", "")

_MODELS = {
    "intfloat/multilingual-e5-small": _E5,
    "multilingual-e5-large": _E5,
    "e5-base-v2": _E5,
    "text-embedding-multilingual-e5-base": _E5,
    "intfloat/multilingual-e5-large-instruct": _E5_INSTRUCT,
    "jeffh/intfloat-multilingual-e5-large-instruct:f32": _E5_INSTRUCT,
    "intfloat/e5-mistral-7b-instruct": _E5_INSTRUCT,
    "BAAI/bge-small-en-v1.5": _PASSAGES,
    "bge-large:335m": _PASSAGES,
    "bge-base-en": _PASSAGES,
    "BAAI/bge-large-zh-v1.5": ("为这个句子生成表示以用于检索相关文章：", ""),
    "bge-m3": _NONE,
    "BAAI/bge-m3": _NONE,
    "bge-m3:567m": _NONE,
    "nomic-embed-text": _NOMIC,
    "nomic-embed-text:v1.5": _NOMIC,
    "nomic-ai/nomic-embed-text-v2-moe": _NOMIC,
    "text-embedding-nomic-embed-text-v1.5@q8_0": _NOMIC,
    "nomic-embed-code": _NONE,
    "qwen3-embedding:0.6b": _QWEN,
    "Qwen/Qwen3-Embedding-8B": _QWEN,
    "hf.co/Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0": _QWEN,
    "qwen3-emb-0.6b": _QWEN,
    "/models/Qwen3-Embedding-0.6B-Q8_0.gguf": _QWEN,
    r"C:\models\qwen3-embedding-4b.gguf": _QWEN,
    "embeddinggemma": _GEMMA,
    "google/embeddinggemma-300m": _GEMMA,
    "embeddinggemma:300m-qat-q8_0": _GEMMA,
    "snowflake-arctic-embed:335m": _PASSAGES,
    "Snowflake/snowflake-arctic-embed-m-v1.5": _PASSAGES,
    "snowflake-arctic-embed-m-long": _PASSAGES,
    "snowflake-arctic-embed2": _ARCTIC_2,
    "snowflake-arctic-embed2:568m": _ARCTIC_2,
    "Snowflake/snowflake-arctic-embed-l-v2.0": _ARCTIC_2,
    "mxbai-embed-large": _PASSAGES,
    "mixedbread-ai/mxbai-embed-large-v1": _PASSAGES,
    "mixedbread-ai/deepset-mxbai-embed-de-large-v1": _E5,
    "all-minilm": _NONE,
    "text-embedding-3-small": _NONE,
    "paraphrase-multilingual": _NONE,
    "qwen3:8b": _NONE,
    "some5-model": _NONE,
    "": _NONE,
    "/hub/models--intfloat--multilingual-e5-small/snapshots/0123abcd": _E5,
    # The folder's name counts only where the model's own says nothing.
    "/models/e5/qwen3-embedding.gguf": _QWEN,
}


@pytest.mark.parametrize(("model", "expected"), _MODELS.items(), ids=_MODELS)
def test_a_family_is_recognised_by_the_name(model: str, expected: tuple[str, str]) -> None:
    assert family_instructions(model) == Instructions(*expected)


def test_an_instruction_stands_directly_before_the_text() -> None:
    instructions = family_instructions("qwen3-embedding")
    assert instructions.apply("where is the key", TextKind.QUERY) == (
        f"{_TASK}\nQuery:where is the key"
    )
    assert instructions.apply("The key is here.", TextKind.DOCUMENT) == "The key is here."
    gemma = family_instructions("embeddinggemma")
    assert gemma.apply("The key is here.", TextKind.DOCUMENT) == (
        "title: none | text: The key is here."
    )


def test_a_chosen_instruction_wins_over_the_family() -> None:
    chosen = instructions_for("multilingual-e5-small", query="Q: ", document=None)
    assert chosen == Instructions("Q: ", "passage: ")


def test_an_empty_instruction_is_a_choice() -> None:
    chosen = instructions_for("multilingual-e5-small", query="", document="")
    assert chosen == Instructions()
    assert chosen.tag == NO_INSTRUCTIONS_TAG


def test_different_instructions_have_different_tags() -> None:
    pairs = [("", ""), ("a", ""), ("", "a"), ("a", "b"), ("ab", ""), ("b", "a")]
    assert len({Instructions(*pair).tag for pair in pairs}) == len(pairs)


def test_a_tag_outlives_the_process() -> None:
    assert Instructions(*_E5).tag == "593c675d"
