"""What a model wants to read in front of a query or a document, by family of models.

The engines that speak to a server ask here, unless the person chose instructions of their own. The
texts are those with which the makers trained the models: without them such a model finds less. A
family is recognised by the model's name however a server writes it (``bge-large:335m``,
``intfloat/multilingual-e5-small``, ``/models/Qwen3-Embedding-0.6B-Q8_0.gguf``); an unknown model
gets the bare text.
"""

from dataclasses import dataclass
from hashlib import blake2s
import re
from typing import Final

from .protocol import TextKind

NO_INSTRUCTIONS_TAG: Final = "plain"
_TAG_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Instructions:
    """The texts that come first: nothing is put between them and the text itself."""

    query: str = ""
    document: str = ""

    def apply(self, text: str, kind: TextKind) -> str:
        """Return the text as the model wants to read it."""
        return (self.query if kind is TextKind.QUERY else self.document) + text

    @property
    def tag(self) -> str:
        """A short name for these texts: vectors made under others are not comparable."""
        if not self.query and not self.document:
            return NO_INSTRUCTIONS_TAG
        both = f"{self.query}\0{self.document}".encode()
        return blake2s(both, digest_size=_TAG_BYTES).hexdigest()


def instructions_for(model: str, *, query: str | None, document: str | None) -> Instructions:
    """Return the instructions of a model's family; a text that is given, even empty, wins."""
    family = family_instructions(model)
    return Instructions(
        query=family.query if query is None else query,
        document=family.document if document is None else document,
    )


def family_instructions(model: str) -> Instructions:
    """Return what the model's family wants, or nothing at all."""
    name = model.casefold().replace("\\", "/")
    # The last part is the model's own name; the folders before it help when it is a mere hash.
    for candidate in (name.rpartition("/")[2], name):
        for pattern, instructions in _FAMILIES:
            if pattern.search(candidate):
                return instructions
    return Instructions()


_SEARCH_TASK: Final = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_PASSAGES: Final = Instructions(query="Represent this sentence for searching relevant passages: ")
_QUERY_AND_PASSAGE: Final = Instructions(query="query: ", document="passage: ")


def _named(pattern: str) -> re.Pattern[str]:
    """Find a name that neither begins nor ends within a word."""
    return re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])")


# The first match counts, so the narrower name stands above the wider one.
_FAMILIES: Final[tuple[tuple[re.Pattern[str], Instructions], ...]] = (
    (_named(r"qwen3-emb(?:ed(?:ding)?)?"), Instructions(query=_SEARCH_TASK)),
    (
        _named(r"embedding-?gemma"),
        Instructions(query="task: search result | query: ", document="title: none | text: "),
    ),
    (
        _named(r"arctic-embed(?:2|-(?:m|l)-v2(?:\.0)?)"),
        Instructions(query="query: "),
    ),
    (_named(r"arctic-embed"), _PASSAGES),
    (_named(r"mxbai-embed-de-large"), _QUERY_AND_PASSAGE),
    (_named(r"mxbai-embed-(?:2d-)?large"), _PASSAGES),
    (
        _named(r"nomic-embed-text"),
        Instructions(query="search_query: ", document="search_document: "),
    ),
    (
        _named(r"bge-(?:small|base|large)-zh"),
        Instructions(query="为这个句子生成表示以用于检索相关文章："),
    ),
    (_named(r"bge-(?:small|base|large)"), _PASSAGES),
    (
        _named(r"e5-(?:[a-z0-9]+-)*instruct"),
        Instructions(query=f"{_SEARCH_TASK} "),
    ),
    (_named(r"e5"), _QUERY_AND_PASSAGE),
)
