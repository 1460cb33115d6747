"""What a rule is, and how rules are tried so that any text takes time in step with its length.

A rule begins at a literal that every secret of its kind holds. The literals are looked for first,
which is fast; only where one stands is the pattern matched, forward and within bounds. Patterns
repeat nothing without a limit.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
import re

type Accept = Callable[[re.Match[str]], bool]


def always(_match: re.Match[str]) -> bool:
    """Accept whatever the pattern matches."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One pattern: matched where an anchor begins, then looked at by ``accept``.

    Anchors of a caseless rule are in lower case.
    """

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str] = field(repr=False)
    accept: Accept = always
    caseless: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A text to try rules on, and the same in lower case, position for position."""

    text: str
    lowered: str


def subject(text: str) -> Subject:
    """Return a text made ready for the rules."""
    # The one letter whose lower case is longer would move all that follows.
    return Subject(text, text.replace("\u0130", "I").lower())


def first_match(rules: Iterable[Rule], tried: Subject) -> str | None:
    """Return the name of the first rule that finds a secret, or None."""
    for rule in rules:
        searched = tried.lowered if rule.caseless else tried.text
        for anchor in rule.anchors:
            at = searched.find(anchor)
            while at >= 0:
                found = rule.pattern.match(tried.text, at)
                if found and rule.accept(found):
                    return rule.name
                at = searched.find(anchor, at + 1)
    return None
