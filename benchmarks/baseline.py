"""The bar: one FTS5 table with the porter stemmer, asked for any word of the question."""

from collections.abc import Mapping
import re
import sqlite3
from typing import Final

_WORD: Final = re.compile(r"\w+")
_STOP_WORDS: Final = frozenset(
    """
    a an and are as at be been by did do does for from had has have he her him his how i in is it
    its me my of on or our she that the their them they this to was we were what when where which
    who whom whose why will with would you your
    """.split()  # noqa: SIM905 - a list of words reads like one
)


class Baseline:
    """FTS5 alone over the texts of a corpus."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Index every text in memory."""
        self._ids = list(texts)
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE turns USING fts5 (content, tokenize = 'porter unicode61')"
        )
        self._connection.executemany(
            "INSERT INTO turns (rowid, content) VALUES (?, ?)", enumerate(texts.values())
        )

    def ranked(self, question: str, limit: int) -> list[str]:
        """Return ids by BM25, best first."""
        words = list(dict.fromkeys(_WORD.findall(question.lower())))
        telling = [word for word in words if word not in _STOP_WORDS] or words
        if not telling:
            return []
        query = " OR ".join(f'"{word}"' for word in telling)
        rows = self._connection.execute(
            "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?",
            (query, limit),
        )
        return [self._ids[row] for (row,) in rows]
