"""Read the time a question speaks of: *last week*, *im März*, *昨天*, an ISO date.

Search asks here once per query. The words and patterns are data (``query_time_vocabulary``);
nothing here reads the database or the clock: the caller passes the moment in the home's time zone.

Memories are from the past, so a future time is none, and so is everything doubtful: two times that
exclude each other, a range, a date with day and month in unknown order, what happens every week.
A wrong time would hide the right memory, a missing one only fails to help.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import islice, pairwise, product
import re
from types import MappingProxyType
from typing import Final, NamedTuple
import unicodedata

from .function_words import FUNCTION_SUBSTRINGS, FUNCTION_WORDS
from .query_time_vocabulary import MEASURES, TIME_WORDS, TimeWords
from .steps import in_turns
from .text_folding import fold

# Nobody asks so much at once; reading it takes less than 2 ms whatever it holds.
READ_CHARACTERS: Final = 500
_READ_TOKENS: Final = 250
# With more of them than this, a text is no question about one time.
_MOST_MATCHES: Final = 4
_LANGUAGES_AT_ONCE: Final = 5
_PATTERNS_AT_ONCE: Final = 50
# No memory is older. Later than year 1, so that no time zone moves it out of what a datetime holds.
BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)

_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2100
_DECEMBER: Final = 12
_SATURDAY: Final = 5

_DAY, _WEEK, _MONTH, _YEAR = range(4)
# Periods that one expression names without any value: their unit, and how many of it ago.
_FIXED: Final = MappingProxyType(
    {
        "today": (_DAY, 0),
        "yesterday": (_DAY, 1),
        "yesterday_if_past": (_DAY, 1),
        "before_yesterday": (_DAY, 2),
        "this_week": (_WEEK, 0),
        "this_month": (_MONTH, 0),
        "this_year": (_YEAR, 0),
        "last_week": (_WEEK, 1),
        "last_month": (_MONTH, 1),
        "last_year": (_YEAR, 1),
        "year_before_last": (_YEAR, 2),
    }
)
_UNITS_AGO: Final = MappingProxyType({"this": 0, "last": 1, "before_last": 2})
_GOING_ON: Final = frozenset({"today", "this", "this_week", "this_month", "this_year"})
_BOUNDS: Final = ("since", "before", "bounded")
_MEANINGS: Final = (
    *("elsewhen", "timeless", "named", "last_named", "ago", "past", "last_weekend"),
    "day_of_last_week",
    *_UNITS_AGO,
    *_FIXED,
)
_BARE_NAMES: Final = ("M", "W", "D M", "M D")

_UNSPACED: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_MARKS: Final = "\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f"
_TOKEN: Final = re.compile(
    rf"""
    (?P<date>
        (?<![0-9A-Za-z.,:/-])
        (?: \d{{4}}-\d\d (?:-\d\d(?:[Tt]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?)?
          | \d{{4}}([./])\s?\d{{1,2}}\2\s?\d{{1,2}}
          | \d{{1,2}}\.\s?\d{{1,2}}\.\s?\d{{4}}
          | \d{{1,2}}/\d{{1,2}}/\d{{4}}
          | \d\d\.\d\d\.
        )
        (?![0-9A-Za-z/-])
    )
    | \d+ (?:[.,:/-]\d+)+
    | \d+ (?=[{_UNSPACED}])
    | [{_UNSPACED}]
    | (?: [^\W_{_UNSPACED}] | [{_MARKS}] )+
    """,
    re.VERBOSE,
)
_DIGITS: Final = re.compile(r"\d+")
_ONE_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
# A slot, an optional Korean or Latin word, or one character of an unspaced script.
_PLACE: Final = re.compile(rf"[#UVMSLDOWY]|\d+|[{_UNSPACED}]|[^\W{_UNSPACED}]+\??")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
# What may stand between the words of one expression; after a number also a dot or a comma.
_GAP: Final = re.compile(r"\s*|['’-]")
_GAP_AFTER_NUMBER: Final = re.compile(r"\s*|['’-]|[.,]\s*")
_RANGE_AFTER: Final = re.compile(r"\s*[-–—/~〜～]\s*\w")
_RANGE_BEFORE: Final = re.compile(r"\w\s*[-–—/~〜～]\s*$")
_OWNER: Final = re.compile(r"['’]s\b", re.IGNORECASE)
_SPACE_BEFORE_MARK: Final = re.compile(r" (?=[?!.,;:])")
_QUESTION_MARKS: Final = frozenset("?？؟")
_RANGE_CHARACTERS: Final = 6

# Letters that no normalisation takes apart but that people without the key type in plain, and the
# digits of Arabic, Persian and Hindi.
_PLAIN_LETTERS: Final = str.maketrans(
    "ıłأإآ٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९", "ilااا012345678901234567890123456789"
)

_NUMBERS: Final = MappingProxyType(
    {
        "#": re.compile(r"([1-9]\d{0,2})"),
        "D": re.compile(r"([0-3]?\d)(?:st|nd|rd|th|er|e|o|a|ter|ten|η)?"),
        "O": re.compile(r"([0-3]?\d)(?:st|nd|rd|th)"),
        "Y": re.compile(r"(19\d\d|20\d\d|2100)"),
    }
)
# Some slots are another spelling of the same value.
_VALUE_OF_SLOT: Final = MappingProxyType({"V": "U", "S": "M", "L": "M", "O": "D"})
_SLOTS: Final = frozenset("#UVMSLDOWY")
# The keys of numbers: of four digits, and of any other length.
_ANY_YEAR: Final = "0000"
_ANY_NUMBER: Final = "0"

type _Words = tuple[str, ...]
type _Values = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Period:
    """From start until just before end, and the query without the words that said so."""

    start: datetime
    end: datetime
    remaining: str


class _Span(NamedTuple):
    """Whole days: from the first until before ``after``."""

    first: date
    after: date

    def within(self, other: "_Span") -> bool:
        return other.first <= self.first and self.after <= other.after


@dataclass(frozen=True, slots=True)
class _Element:
    """One place of a pattern: the words it takes with their values, or a number, or both."""

    value: str
    words: Mapping[_Words, int]
    longest: int
    number: re.Pattern[str] | None

    def read(self, texts: Sequence[str], at: int) -> tuple[int, int] | None:
        """Return the value and where the next place begins."""
        for length in range(min(self.longest, len(texts) - at), 0, -1):
            value = self.words.get(tuple(texts[at : at + length]))
            if value is not None:
                return value, at + length
        if self.number is not None and at < len(texts):
            found = self.number.fullmatch(texts[at])
            if found is not None:
                return int(found[1]), at + 1
        return None

    def openings(self) -> set[tuple[str, str]]:
        """Return the keys of the first two tokens this place takes, "" where it takes one."""
        number = _ANY_YEAR if self.value == "Y" else _ANY_NUMBER
        numbers = {(number, "")} if self.number is not None else set()
        return numbers | {(_key(words[0]), _key("".join(words[1:2]))) for words in self.words}


@dataclass(frozen=True, slots=True)
class _Language:
    """What is known of a language beside its patterns."""

    months: Mapping[_Words, int]
    weekdays: Mapping[_Words, int]
    present_cues: tuple[str, ...]
    past_cues: tuple[str, ...]
    leads: frozenset[str]
    trails: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A sequence of places that together mean a time, or lead to one."""

    languages: tuple[_Language, ...]
    meaning: str
    elements: tuple[_Element, ...]

    def read(self, sentence: "_Sentence", at: int) -> "_Match | None":
        """Return what this pattern makes of the words from here on."""
        values: dict[str, int] = {}
        end = at
        for element in self.elements:
            if (taken := element.read(sentence.texts, end)) is None:
                return None
            if element.value:
                values[element.value] = taken[0]
            end = taken[1]
        if not all(sentence.joined[at + 1 : end]):
            return None
        return _Match(at, end, self.meaning, values, self.languages)

    def openings(self) -> set[tuple[str, str]]:
        """Return the keys of the first two tokens, "" where the second may be any."""
        openings = self.elements[0].openings()
        if len(self.elements) == 1:
            return openings
        following = {key for key, _ in self.elements[1].openings()}
        return {
            (first, second)
            for first, known in openings
            for second in ((known,) if known else following)
        }


@dataclass(frozen=True, slots=True)
class _Match:
    """An expression of time in a sentence, by its tokens."""

    start: int
    end: int
    meaning: str
    values: _Values
    languages: tuple[_Language, ...]
    bound: str = ""

    @property
    def returns(self) -> bool:
        """Whether there is another such time every week or year."""
        return self.meaning in {"named", "last_named"} and "Y" not in self.values


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A query as tokens: folded, with keys and places, and whether each goes on the last one."""

    head: str
    texts: Sequence[str]
    keys: Sequence[str]
    places: Sequence[tuple[int, int]]
    joined: Sequence[bool]
    dates: Mapping[int, _Values]

    def follows(self, at: int) -> bool:
        """Tell whether there is a token here and it goes on where the one before ended."""
        return at < len(self.texts) and self.joined[at]

    def says(self, cues: Iterable[str], beside: "_Match") -> bool:
        """Tell whether any of the cues stands outside the match."""
        texts = (*self.texts[: beside.start], "", *self.texts[beside.end :])
        line = f" {' '.join(texts)} "
        return any(cue in line for cue in cues)


# Patterns by the keys of the first token and of the second; "" where the second may be any.
type _Index = dict[str, dict[str, list[_Pattern]]]


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The patterns of all languages."""

    patterns: _Index
    # Names that are a time only next to a bound: *March*, in *since March*.
    bare: _Index
    bounds_before: _Index
    bounds_after: _Index
    idle: frozenset[str]
    # What a number counts when it is no year.
    not_years: frozenset[str]
    # The keys of every token that any of the patterns begins with.
    openings: frozenset[str]


def spoken_period(query: str, now: datetime) -> Period | None:
    """Return the past time the query speaks of, or None; ``now`` is aware, in the home's zone."""
    head = unicodedata.normalize("NFC", query[:READ_CHARACTERS])
    sentence = _sentence(head)
    matches = _matches(sentence)
    if len(matches) > _MOST_MATCHES or any(
        match.meaning == "elsewhen" or _doubtful(match, sentence) for match in matches
    ):
        return None
    matches = [match for match in matches if _means_the_past(match, sentence)]
    limits = _limits(matches, now)
    if limits is None:
        return None
    unread = head[len(sentence.head) :] + query[READ_CHARACTERS:]
    return Period(*limits, _without(matches, sentence, unread))


def load_time_words() -> None:
    """Build the patterns now, in a worker thread, rather than at the first query."""
    _grammar()


# Reading a sentence


def _sentence(head: str) -> _Sentence:
    found = list(islice(_TOKEN.finditer(head), _READ_TOKENS))
    if len(found) == _READ_TOKENS:
        head = head[: found[-1].end()]
    # Folded all at once, which is far cheaper than one by one; no token holds a line break.
    texts = _plain("\n".join(token[0] for token in found)).split("\n")
    places = [token.span() for token in found]
    dates = {index: _date_values(token[0]) for index, token in enumerate(found) if token["date"]}
    return _Sentence(
        head=head,
        texts=texts,
        keys=[_key(text) for text in texts],
        places=places,
        joined=_joined(head, places),
        dates={index: values for index, values in dates.items() if values},
    )


def _plain(text: str) -> str:
    return fold(text).translate(_PLAIN_LETTERS)


def _key(text: str) -> str:
    if not text[:1].isdigit():
        return text
    return _ANY_YEAR if text.isdigit() and len(text) == len(_ANY_YEAR) else _ANY_NUMBER


def _joined(head: str, places: Sequence[tuple[int, int]]) -> list[bool]:
    """Tell of each token whether it goes on where the one before ended."""
    joined = [False]
    for (_, end), (start, _) in pairwise(places):
        gap = _GAP_AFTER_NUMBER if head[end - 1].isdigit() else _GAP
        joined.append(gap.fullmatch(head, end, start) is not None)
    return joined


def _date_values(text: str) -> _Values:
    """Return day, month and year of a date in digits; nothing where their order is unknown."""
    numbers = [int(number) for number in _DIGITS.findall(text)]
    if text[:4].isdigit():
        year, month, *rest = numbers
        values = {"Y": year, "M": month} | ({"D": rest[0]} if rest else {})
    else:
        first, second, *rest = numbers
        if "/" in text and first <= _DECEMBER and second <= _DECEMBER and first != second:
            return {}
        if "/" in text and second > _DECEMBER:
            first, second = second, first
        values = {"D": first, "M": second} | ({"Y": rest[0]} if rest else {})
    in_range = _FIRST_YEAR <= values.get("Y", _FIRST_YEAR) <= _LAST_YEAR
    return values if in_range and 1 <= values["M"] <= _DECEMBER else {}


def _matches(sentence: _Sentence) -> list[_Match]:
    """Find the expressions of time from left to right, the longest at each place."""
    matches: list[_Match] = []
    at = 0
    openings = _grammar().openings
    while at < len(sentence.texts) and len(matches) <= _MOST_MATCHES:
        opens = sentence.keys[at] in openings or at in sentence.dates
        match = _match_at(sentence, at) if opens else None
        at = match.end if match is not None else at + 1
        if match is not None and match.meaning != "timeless":
            matches.append(match)
    return matches


def _match_at(sentence: _Sentence, at: int) -> _Match | None:
    grammar = _grammar()
    plain = _time_at(sentence, at, grammar.patterns)
    bounded = _bound_before(sentence, at) or _bound_after(sentence, at, plain)
    if plain is None or (bounded is not None and bounded.end > plain.end):
        return bounded
    return plain


def _candidates(index: _Index, sentence: _Sentence, at: int) -> list[_Pattern]:
    """Return the patterns that can begin with this token and the next."""
    keys = sentence.keys
    if at >= len(keys) or (by_second := index.get(keys[at])) is None:
        return []
    candidates = by_second.get("", [])
    if at + 1 < len(keys) and (exact := by_second.get(keys[at + 1])) is not None:
        return [*candidates, *exact]
    return candidates


def _time_at(sentence: _Sentence, at: int, *indexes: _Index) -> _Match | None:
    """Return the longest expression that begins here, with all the languages it belongs to."""
    if (values := sentence.dates.get(at)) is not None:
        return _Match(at, at + 1, "named", values, ())
    if _inside_hangul(sentence, at):
        return None
    best: list[_Match] = []
    for pattern in (one for index in indexes for one in _candidates(index, sentence, at)):
        match = pattern.read(sentence, at)
        if match is None or (best and match.end < best[0].end):
            continue
        if best and match.end > best[0].end:
            best.clear()
        best.append(match)
    if not best:
        return None
    languages = tuple(language for match in best for language in match.languages)
    return _with_year(replace(best[0], languages=languages), sentence)


def _with_year(match: _Match, sentence: _Sentence) -> _Match:
    """Return the match with the year behind it: *on 14 March*, *2025*."""
    at = match.end
    if "M" not in match.values or not match.returns or at >= len(sentence.texts):
        return match
    gap = sentence.head[sentence.places[at - 1][1] : sentence.places[at][0]]
    if gap.strip() not in {"", ","}:
        return match
    year = _NUMBERS["Y"].fullmatch(sentence.texts[at])
    if year is None:
        return match
    return replace(match, end=at + 1, values={**match.values, "Y": int(year[1])})


def _inside_hangul(sentence: _Sentence, at: int) -> bool:
    """Tell whether a Korean word goes on here: syllables are tokens, but words have borders."""
    if at >= len(sentence.texts) or not _HANGUL.fullmatch(sentence.texts[at]):
        return False
    start = sentence.places[at][0]
    return start > 0 and _HANGUL.fullmatch(sentence.head, start - 1, start) is not None


def _bound_before(sentence: _Sentence, at: int) -> _Match | None:
    """Read a bound and the time after it: *since March*."""
    grammar = _grammar()
    for pattern in _candidates(grammar.bounds_before, sentence, at):
        bound = pattern.read(sentence, at)
        if bound is None or not sentence.follows(bound.end):
            continue
        match = _time_at(sentence, bound.end, grammar.patterns, grammar.bare)
        if match is not None and _same_language(match, pattern):
            return _bounded(match, pattern, at, match.end)
    return None


def _bound_after(sentence: _Sentence, at: int, plain: _Match | None) -> _Match | None:
    """Read a time and the bound after it: *3月以前*."""
    grammar = _grammar()
    named = _candidates(grammar.bare, sentence, at)
    match = _time_at(sentence, at, grammar.patterns, grammar.bare) if named else plain
    if match is None or not sentence.follows(match.end):
        return None
    for pattern in _candidates(grammar.bounds_after, sentence, match.end):
        bound = pattern.read(sentence, match.end)
        if bound is not None and _same_language(match, pattern):
            return _bounded(match, pattern, at, bound.end)
    return None


def _same_language(match: _Match, pattern: _Pattern) -> bool:
    return not match.languages or pattern.languages[0] in match.languages


def _bounded(match: _Match, pattern: _Pattern, start: int, end: int) -> _Match:
    if pattern.meaning == "bounded" or match.bound or match.meaning == "elsewhen":
        return replace(match, start=start, end=end, meaning="elsewhen")
    return replace(match, start=start, end=end, bound=pattern.meaning)


# Doubts


def _doubtful(match: _Match, sentence: _Sentence) -> bool:
    """Tell whether a name is one of several, part of a range, a person's, or no year at all.

    And whether a bound is no bound: *two weeks before March*.
    """
    before = sentence.texts[match.start - 1] if match.start else ""
    if match.bound and (
        before in _grammar().not_years
        or any((before,) in language.weekdays for language in match.languages)
    ):
        return True
    if match.meaning not in {"named", "last_named"} or not match.languages:
        return False
    start = sentence.places[match.start][0]
    end = sentence.places[match.end - 1][1]
    if _RANGE_AFTER.match(sentence.head, end) or _OWNER.match(sentence.head, end):
        return True
    if _RANGE_BEFORE.search(sentence.head[max(0, start - _RANGE_CHARACTERS) : start]):
        return True
    return _counts(match, sentence) or any(
        _another(match, sentence, at) for at in _neighbours(match, sentence)
    )


def _counts(match: _Match, sentence: _Sentence) -> bool:
    """Tell whether what looks like a year is so many of something: *in 2000 metres*."""
    if match.end >= len(sentence.texts) or "Y" not in match.values:
        return False
    last, follower = sentence.texts[match.end - 1 : match.end + 1]
    return (
        _NUMBERS["Y"].fullmatch(last) is not None
        and follower in _grammar().not_years
        and not any(follower in language.trails for language in match.languages)
    )


def _neighbours(match: _Match, sentence: _Sentence) -> Iterator[int]:
    """Yield the places of up to two tokens on either side, as in *March or April*."""
    yield from range(max(0, match.start - 2), match.start)
    yield from range(match.end, min(len(sentence.texts), match.end + 2))


def _another(match: _Match, sentence: _Sentence, at: int) -> bool:
    """Tell whether a token is a name of the same kind as the match has."""
    name = (sentence.texts[at],)
    return any(
        ("M" in match.values and name in language.months)
        or ("W" in match.values and name in language.weekdays)
        for language in match.languages
    ) or (not match.values.keys().isdisjoint("MY") and _NUMBERS["Y"].fullmatch(name[0]) is not None)


def _means_the_past(match: _Match, sentence: _Sentence) -> bool:
    """Tell whether the sentence is not rather about now, the future or what is always so.

    *Who serviced the boiler in March* is about last March; *what is pruned in March* is not. A
    weekday, or in a question a day of the year, is past only if the sentence says so or says
    nothing else.
    """
    only_if_past = match.meaning == "yesterday_if_past" or (
        match.meaning == "named" and set(match.values) == {"W"}
    )
    if match.returns and "D" in match.values and not _QUESTION_MARKS.isdisjoint(sentence.head):
        only_if_past = True
    may_be_present = match.meaning in _GOING_ON or (match.meaning == "named" and match.returns)
    if not only_if_past and not may_be_present:
        return True
    for language in match.languages or _languages():
        if sentence.says(language.past_cues, match):
            return True
    left = _left([match], sentence) if only_if_past else set()
    if not left <= (_grammar().idle if match.meaning == "named" else set()):
        return False
    return not any(sentence.says(language.present_cues, match) for language in match.languages)


# From words to dates


def _limits(matches: Sequence[_Match], now: datetime) -> tuple[datetime, datetime] | None:
    """Return the moments between which all the matches say it was."""
    bounds = [match.bound for match in matches if match.bound]
    span = _common_span(matches, now.date())
    if span is None or len(bounds) > 1:
        return None
    start = _midnight(span.first, now)
    if "before" in bounds:
        return (BEGINNING, start) if start > BEGINNING else None
    if "since" in bounds:
        return start, _midnight(now.date() + timedelta(days=1), now)
    return start, _midnight(span.after, now)


def _midnight(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time(), tzinfo=now.tzinfo)


def _common_span(matches: Sequence[_Match], today: date) -> _Span | None:
    """Return the narrowest of the spans if it lies in all others: *on Monday last week*."""
    common: _Span | None = None
    for match in sorted(matches, key=lambda match: match.returns):
        common = _narrowed(common, _spans(match, today))
        if common is None:
            return None
    return common


def _narrowed(common: _Span | None, spans: Iterable[_Span]) -> _Span | None:
    """Return the latest of the spans that agrees with what is known."""
    for span in spans:
        if common is None or span.within(common):
            return span
        if common.within(span):
            return common
        if span.after <= common.first:
            return None
    return None


def _spans(match: _Match, today: date) -> Iterator[_Span]:
    """Yield the times a match can mean, the latest first."""
    meaning, values = match.meaning, match.values
    if meaning in _FIXED:
        yield _unit_ago(today, *_FIXED[meaning])
    elif meaning in _UNITS_AGO:
        yield _unit_ago(today, values["U"], _UNITS_AGO[meaning])
    elif meaning == "ago":
        yield _unit_ago(today, values["U"], values.get("#", 1))
    elif meaning == "past":
        yield _last_units(today, values["U"], values.get("#", 1))
    elif meaning == "day_of_last_week":
        first = today - timedelta(days=today.weekday() + 7 - (values["W"] - 1))
        yield _Span(first, first + timedelta(days=1))
    elif meaning == "last_weekend":
        saturday = today - timedelta(days=today.weekday() + 7 - _SATURDAY)
        yield _Span(saturday, saturday + timedelta(days=2))
    else:
        for span in _weekdays(values, today) if "W" in values else _calendar(values, today):
            if (span.after if meaning == "last_named" else span.first) <= today:
                yield span


def _unit_ago(today: date, unit: int, count: int) -> _Span:
    """Return the calendar unit so many before the present one; weeks begin on Monday."""
    if unit == _YEAR:
        return _year(today.year - count)
    if unit == _MONTH:
        return _month(today.year * 12 + today.month - 1 - count)
    days = 7 if unit == _WEEK else 1
    first = today - timedelta(days=count * days + (today.weekday() if unit == _WEEK else 0))
    return _Span(first, first + timedelta(days=days))


def _last_units(today: date, unit: int, count: int) -> _Span:
    """Return the time from so many units before today until the end of today."""
    after = today + timedelta(days=1)
    if unit in {_DAY, _WEEK}:
        return _Span(today - timedelta(days=count * (7 if unit == _WEEK else 1)), after)
    first, following = _month(today.year * 12 + today.month - 1 - count * (1, 12)[unit == _YEAR])
    return _Span(min(first + timedelta(days=today.day - 1), following), after)


def _year(year: int) -> _Span:
    return _Span(date(year, 1, 1), date(year + 1, 1, 1))


def _month(months: int) -> _Span:
    """Return a month by the number of months since the year 0."""
    return _Span(
        date(months // 12, months % 12 + 1, 1), date((months + 1) // 12, (months + 1) % 12 + 1, 1)
    )


def _weekdays(values: _Values, today: date) -> Iterator[_Span]:
    """Yield the days of this name before today."""
    first = today - timedelta(days=(today.weekday() - values["W"]) % 7 + 1)
    while first.year > _FIRST_YEAR:
        yield _Span(first, first + timedelta(days=1))
        first -= timedelta(days=7)


def _calendar(values: _Values, today: date) -> Iterator[_Span]:
    """Yield the days or months of this date, in its year or else in every year so far."""
    years = (values["Y"],) if "Y" in values else range(today.year, _FIRST_YEAR, -1)
    for year in years:
        if "M" not in values:
            yield _year(year)
        elif "D" not in values:
            yield _month(year * 12 + values["M"] - 1)
        elif (first := _day(year, values["M"], values["D"])) is not None:
            yield _Span(first, first + timedelta(days=1))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


# What is left


def _without(matches: Sequence[_Match], sentence: _Sentence, unread: str) -> str:
    """Return the query without the matches; nothing if only words that ask are left."""
    if not unread and _left(matches, sentence) <= _grammar().idle:
        return ""
    kept = []
    position = 0
    for start, end in (_extent(match, sentence) for match in matches):
        kept.append(sentence.head[position : sentence.places[start][0]])
        position = sentence.places[end - 1][1]
    kept.append(sentence.head[position:] + unread)
    return _SPACE_BEFORE_MARK.sub("", " ".join(" ".join(kept).split()))


def _left(matches: Iterable[_Match], sentence: _Sentence) -> set[str]:
    """Return the words of the sentence that belong to none of the matches."""
    gone = {at for match in matches for at in range(*_extent(match, sentence))}
    return {text for at, text in enumerate(sentence.texts) if at not in gone}


def _extent(match: _Match, sentence: _Sentence) -> tuple[int, int]:
    """Return the tokens of a match with the small words that belong to it: *in the* last week."""
    languages = match.languages or _languages()
    leads = frozenset().union(*(language.leads for language in languages))
    trails = frozenset().union(*(language.trails for language in languages))
    start, end = match.start, match.end
    while start > 0 and sentence.joined[start] and sentence.texts[start - 1] in leads:
        start -= 1
    while end < len(sentence.texts) and sentence.joined[end] and sentence.texts[end] in trails:
        end += 1
    return start, end


# Building the grammar from the vocabulary


class _Builder:
    """Turns the entries of one language into patterns."""

    def __init__(self, words: TimeWords, language: _Language) -> None:
        """Prepare the slots, which all patterns of the language share."""
        self._words = words
        self._language = language
        units = {
            unit: value
            for value, forms in enumerate((words.weeks, words.calendar_months, words.years), _WEEK)
            for unit in _forms(forms)
        }
        in_words: dict[str, Mapping[_Words, int]] = {
            "#": _forms(words.numbers),
            "U": units,
            "V": units | dict.fromkeys(_forms(words.days), _DAY),
            "M": language.months,
            "S": _forms(words.short_months),
            "L": _forms(words.in_months),
            "W": language.weekdays,
        }
        self._elements = {slot: _element(slot, in_words.get(slot, {})) for slot in _SLOTS}

    def patterns(self) -> Iterator[_Pattern]:
        """Yield everything that is a time of its own."""
        for meaning in _MEANINGS:
            for places in _templates(getattr(self._words, meaning)):
                yield self._pattern(meaning, places)

    def bare(self) -> Iterator[_Pattern]:
        """Yield the names that are a time only next to a bound."""
        # Where months are numbers, a number before or after them is no day yet.
        names = _BARE_NAMES if self._words.months[0].isalpha() else _BARE_NAMES[:2]
        for template in names:
            yield self._pattern("named", template.split())

    def bounds(self) -> Iterator[tuple[bool, _Pattern]]:
        """Yield the bounds, without the time, and whether they stand before it."""
        for meaning in _BOUNDS:
            for places in _templates(getattr(self._words, meaning)):
                before = places[-1] == "P"
                yield before, self._pattern(meaning, places[:-1] if before else places[1:])

    def _pattern(self, meaning: str, places: Sequence[str]) -> _Pattern:
        elements = tuple(self._place(place) for place in places)
        return _Pattern((self._language,), meaning, elements)

    def _place(self, place: str) -> _Element:
        if (known := self._elements.get(place)) is None:
            known = self._elements[place] = _element("", dict.fromkeys(_forms(place), 0))
        return known


def _element(slot: str, words: Mapping[_Words, int]) -> _Element:
    return _Element(
        value=_VALUE_OF_SLOT.get(slot, slot),
        words=words,
        longest=max(map(len, words), default=0),
        number=_NUMBERS.get(slot),
    )


@cache
def _grammar() -> _Grammar:
    """Build all patterns, once per process."""
    builders = [_Builder(*pair) for pair in zip(TIME_WORDS, _languages(), strict=True)]
    bounds = [pattern for builder in builders for pattern in builder.bounds()]
    patterns = _by_opening(pattern for builder in builders for pattern in builder.patterns())
    bare = _by_opening(
        (
            # A year is one in every language: once is enough.
            _Pattern(_languages(), "named", (_element("Y", {}),)),
            *(pattern for builder in builders for pattern in builder.bare()),
        )
    )
    bounds_before = _by_opening(pattern for before, pattern in bounds if before)
    return _Grammar(
        patterns=patterns,
        bare=bare,
        bounds_before=bounds_before,
        bounds_after=_by_opening(pattern for before, pattern in bounds if not before),
        idle=_idle_words(),
        not_years=_not_years(),
        openings=frozenset().union(patterns, bare, bounds_before),
    )


@cache
def _languages() -> tuple[_Language, ...]:
    return tuple(
        _Language(
            months=_forms(words.months),
            weekdays=_forms(words.weekdays),
            present_cues=tuple(
                f" {' '.join(_split(cue))} " for cue in _entries(words.present_cues)
            ),
            past_cues=tuple(f" {' '.join(_split(cue))} " for cue in _entries(words.past_cues)),
            leads=frozenset(_plain(word) for word in _entries(words.leads)),
            trails=frozenset(_plain(word) for word in _entries(words.trails)),
        )
        for words in in_turns(TIME_WORDS, _LANGUAGES_AT_ONCE)
    )


def _idle_words() -> frozenset[str]:
    """Return the words that only ask: nothing is searched by them."""
    own = (
        text
        for words in TIME_WORDS
        for entry in (*_entries(words.idle), *_entries(words.leads))
        for text in _split(entry)
    )
    return FUNCTION_WORDS.union(own, *FUNCTION_SUBSTRINGS)


def _not_years() -> frozenset[str]:
    """Return the words after which a number was no year: 2000 metres, 2000 days."""
    units = (
        unit
        for words in TIME_WORDS
        for unit in (words.days, words.weeks, words.calendar_months, words.years)
    )
    return frozenset(
        form[0] for forms in (*units, "|".join(MEASURES.split())) for form in _forms(forms)
    )


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _split(text: str) -> _Words:
    """Return the tokens of an entry, as those of a query are."""
    return tuple(token[0] for token in _TOKEN.finditer(_plain(text)))


def _forms(text: str) -> dict[_Words, int]:
    """Number the entries, and give each form of an entry its number; - is no form at all."""
    return {
        tokens: number
        for number, entry in enumerate(_entries(text), 1)
        for form in entry.split("|")
        if (tokens := _split(form))
    }


def _templates(text: str) -> Iterator[list[str]]:
    """Yield the places of each pattern, with and without those that may be missing."""
    for entry in _entries(text):
        choices = [
            (place[:-1], "") if place.endswith("?") else (place,)
            for word in entry.split()
            for place in _places(word)
        ]
        for chosen in product(*choices):
            yield [place for place in chosen if place]


def _places(word: str) -> Iterable[str]:
    """Take words of unspaced scripts apart, but leave alternatives together."""
    if "|" in word or not _ONE_UNSPACED.search(word):
        return (word,)
    return _PLACE.findall(word)


def _by_opening(patterns: Iterable[_Pattern]) -> _Index:
    index: _Index = {}
    for pattern in in_turns(patterns, _PATTERNS_AT_ONCE):
        for first, second in pattern.openings():
            index.setdefault(first, {}).setdefault(second, []).append(pattern)
    return index
