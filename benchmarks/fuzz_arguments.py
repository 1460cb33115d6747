"""Arguments for the fuzzer: hypothesis strategies made by hand from a tool's own schema.

Each argument is now one that the schema admits, made of ids, namespaces and words that exist where
that matters, now anything that JSON can hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

_WORDS: Final = ("retry", "lamp", "The queue is durable.", "ok", "missing", "never", "2999-01-01")
_NASTY: Final = (
    "",
    " ",
    "\x00",
    "\u202e\u200b",
    "e" + "\u0301" * 40,
    "ﷺ" * 40,
    "x" * 10_001,
    "';--",
    '"*" OR NEAR(',
    "../../etc/passwd",
    "ghp_" + "a1B2" * 9,
    "do-not-store",
    "github/acme/",
    "github/ACME/Tool.git",
    "household",
    "https://user:word@example.org/?access_token=1",
    "git@github.com:acme/tool.git",
    "NaN",
    "1e400",
    "-0",
)
_EDGES: Final = (0, -1, 1, 2**31, 2**53, 2**63, -(2**63), 10**30, 0.5, 1.5, -0.0, 1e308)


@dataclass(frozen=True, slots=True)
class Known:
    """What is there, so that not every case is about nothing."""

    ids: tuple[str, ...]
    wings: tuple[str, ...]


def arguments_of(schema: Mapping[str, Any], known: Known) -> st.SearchStrategy[object]:
    """Return arguments for a tool with that schema, or now and then something else entirely."""
    fields: dict[str, Any] = schema["properties"]
    required = set(schema.get("required", ()))
    given = {name: _value(name, field, known) for name, field in fields.items()}
    fitting = st.fixed_dictionaries(
        {name: value for name, value in given.items() if name in required},
        optional={name: value for name, value in given.items() if name not in required},
    )
    loose = st.fixed_dictionaries(
        {}, optional={name: value | _anything() for name, value in given.items()}
    )
    strange = st.dictionaries(st.text(max_size=8), _anything(), max_size=3)
    return _mostly(fitting, loose, strange, _anything())


def _value(name: str, field: Mapping[str, Any], known: Known) -> st.SearchStrategy[Any]:
    """Return values that the schema of one argument admits."""
    if "enum" in field:
        return st.sampled_from(field["enum"])
    low = int(field.get("minimum", -5))
    small = st.integers(low, min(int(field.get("maximum", 100)), low + 8))
    found = st.sampled_from(("ok", "missing", "gone"))
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "changes": _changes(known),
        "reports": st.dictionaries(_of_name("anchors", known), found, max_size=4),
        "integer": _mostly(small, st.sampled_from(_EDGES)),
        "number": _mostly(st.floats(0, 1), st.sampled_from(_EDGES)),
        "boolean": st.booleans(),
        "array": st.lists(_of_name(name, known), max_size=4),
        "string": _of_name(name, known),
    }
    return kinds[name if name in kinds else field["type"]]


def _of_name(name: str, known: Known) -> st.SearchStrategy[str]:
    """Return texts for an argument, most of them such as its name asks for."""
    if name in {"id", "ids", "memory_id", "supersedes", "exclude"}:
        ids = st.sampled_from(known.ids)
        return _mostly(ids, ids.map(lambda one: one[:12].lower()), _text())
    if name in {"namespace", "wing", "project", "topics"}:
        return _mostly(st.sampled_from(known.wings), _text())
    if name == "anchors":
        return _mostly(_anchor(), _text())
    if name == "op_id":
        return st.text("abcXYZ019_-", min_size=7, max_size=66)
    return _text()


def _changes(known: Known) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "title": _text(),
            "content": _text(),
            "type": st.sampled_from(("fact", "decision", "procedure", "nonsense")),
            "status": st.sampled_from(("active", "candidate", "deleted")),
            "confidence": _mostly(st.floats(0, 1), st.sampled_from(_EDGES)),
            "anchors": st.lists(_of_name("anchors", known), max_size=4),
            "namespace": _of_name("namespace", known),
        },
    ) | st.dictionaries(_text(), _anything(), max_size=2)


def _anchor() -> st.SearchStrategy[str]:
    kinds = st.sampled_from(("path:", "entity:", "host:", "url:https://", "url:"))
    names = st.sampled_from(("src/1.py", "light.hall", "nas", "example.org/a", "a b", ""))
    return st.builds(str.__add__, kinds, names)


def _text() -> st.SearchStrategy[str]:
    words = st.sampled_from(_WORDS)
    told = st.builds("The {} of {} is number {}.".format, words, words, st.integers(0, 9_999))
    return _mostly(words | told, st.sampled_from(_NASTY), st.text(max_size=30))


def _mostly(
    usual: st.SearchStrategy[Any], *others: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    """Return the usual four times in five."""
    drawn = (*(usual,) * 4 * len(others), *others)
    # By number: drawn from as alternatives, the same one counts once.
    return st.integers(0, len(drawn) - 1).flatmap(drawn.__getitem__)


def _anything() -> st.SearchStrategy[Any]:
    plain = st.none() | st.booleans() | st.sampled_from(_EDGES) | st.integers() | _text()
    return st.recursive(
        plain,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=5,
    )
