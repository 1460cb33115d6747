"""The screen finds every kind of secret in its place, and lets what only looks like one pass."""

from base64 import b64encode
from collections.abc import Iterable
from importlib import import_module
import json
from pathlib import Path
import re
from time import thread_time
from typing import Any, Final

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.ai_memory.core.screen import (
    HOME,
    WORKSHOP,
    Finding,
    Strictness,
    screen,
    screen_anchor_url,
)
from custom_components.ai_memory.core.screen.assignments import ASSIGNMENT
from custom_components.ai_memory.core.screen.contexts import CONTEXT_RULES, MACHINE_RULES
from custom_components.ai_memory.core.screen.key_material import BLOCKS, WORDS
from custom_components.ai_memory.core.screen.names import is_credential_name
from custom_components.ai_memory.core.screen.spoken import SPOKEN_RULES
from custom_components.ai_memory.core.screen.vendors import VENDOR_RULES

from .screen_cases import HARD, HARMLESS, MACHINE, POSITIVES, TYPED, in_base64, joined, some

HOUSEHOLD: Final = Path(__file__).parents[2] / "benchmarks" / "household" / "memories.jsonl"
LONGEST_REPETITION: Final = 8_000
RULES: Final = (
    *VENDOR_RULES,
    *WORDS,
    *BLOCKS,
    *MACHINE_RULES,
    *CONTEXT_RULES,
    ASSIGNMENT,
    *SPOKEN_RULES,
)


def _kept(cases: Iterable[tuple[str, str]], strictness: Strictness) -> list[str]:
    """Return the names of the cases that the screen lets pass."""
    return [name for name, text in cases if screen("content", text, strictness) is None]


@pytest.mark.parametrize("case", POSITIVES, ids=lambda case: case[0])
def test_the_workshop_refuses_every_secret(case: tuple[str, str]) -> None:
    found = screen("content", case[1], WORKSHOP)
    assert found is not None
    assert found.field == "content"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", found.pattern)


def test_the_home_refuses_what_only_machines_use() -> None:
    assert _kept(MACHINE, HOME) == []


def test_the_home_keeps_what_its_people_use() -> None:
    assert _kept(TYPED, HOME) == [name for name, _ in TYPED]


def test_nothing_is_refused_where_the_owner_turned_it_off() -> None:
    assert _kept(POSITIVES, Strictness.OFF) == [name for name, _ in POSITIVES]


@pytest.mark.parametrize("strictness", [HOME, WORKSHOP])
def test_what_only_looks_like_a_secret_passes(strictness: Strictness) -> None:
    assert len(HARMLESS) >= 150
    assert [text for text in HARMLESS if screen("content", text, strictness)] == []


def test_a_secret_is_found_in_the_middle_of_a_long_text() -> None:
    around = "The kitchen light was on all night, and nobody knew why. " * 40
    cases = [(name, f"{around}\n{text}\n{around}") for name, text in POSITIVES]
    assert _kept(cases, WORKSHOP) == []


UNSEEN: Final = (
    *("\u00ad", "\u034f", "\u061c", "\u115f", "\u180e", "\u200b", "\u200e", "\u202a", "\u2060"),
    *("\u2062", "\u2068", "\u3164", "\ufe0f", "\ufeff", "\U000e0061", "\U000e0100"),
)


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_what_nobody_sees_hides_no_secret(unseen: str) -> None:
    secret = joined("gh", "p_", some(36))
    for at in (1, 4, 20):
        assert screen("text", f"Use {secret[:at]}{unseen}{secret[at:]} there"), at
    assert screen("text", f"{unseen}do{unseen}-not-{unseen}store") is not None
    assert screen("text", f"Nothing{unseen} to see here {unseen}") is None


@pytest.mark.parametrize("hyphen", "\u2010\u2011\u2012\u2013\u2212", ids=ascii)
def test_any_hyphen_makes_a_marker(hyphen: str) -> None:
    assert screen("text", f"x Do{hyphen}Not{hyphen}Store x") is not None
    assert screen("text", f"2019{hyphen}2026, 5 {hyphen} 3") is None


def test_a_secret_is_found_among_letters_of_another_script() -> None:
    cases = [(name, f"覚えて「 {text} 」İstanbul") for name, text in MACHINE]
    assert _kept(cases, HOME) == []


def test_the_household_of_the_benchmark_may_be_remembered_at_home() -> None:
    lines = HOUSEHOLD.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines if line]
    assert len(texts) > 300
    assert [text for text in texts if screen("content", text, HOME)] == []


def test_a_finding_tells_the_field_and_the_pattern_and_nothing_of_the_secret() -> None:
    secret = joined("gh", "p_", some(36))
    found = screen("summary", f"it is {secret}")
    assert found == Finding("summary", "github-token")
    assert secret[4:8] not in repr(found)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (joined("AK", "IA", "QRSTUVWXYZ234567"), "aws-access-key"),
        (joined("sk-", "ant-api03-", some(90)), "anthropic-key"),
        (joined("sk", "-", some(48)), "model-provider-key"),
        (joined("https://a:", "b7cdefg", "@host"), "url-password"),
        (joined("DB_PASS", "WORD=hunter2"), "credential-assignment"),
        ("the garage code is 1234", "spoken-code"),
        ("do-not-store", "do-not-store"),
    ],
)
def test_a_pattern_is_named_after_what_it_finds(text: str, pattern: str) -> None:
    found = screen("content", text)
    assert found is not None
    assert found.pattern == pattern


def test_base64_is_looked_into_once_only() -> None:
    secret = joined("gh", "p_", some(36))
    assert screen("content", in_base64(secret)) is not None
    assert screen("content", in_base64(in_base64(secret))) is None


def test_base64_of_sixteen_bit_characters_is_looked_into() -> None:
    text = "$env:X = '" + joined("gh", "p_", some(36)) + "'"
    assert screen("content", b64encode(text.encode("utf-16-le")).decode()) is not None


def _unlimited(parsed: Any) -> bool:
    """Return whether a parsed pattern repeats anything without a limit."""
    for operation, argument in parsed:
        if str(operation).endswith("_REPEAT") and argument[1] > LONGEST_REPETITION:
            return True
        inner = argument if isinstance(argument, tuple | list) else [argument]
        for one in inner:
            below = one if isinstance(one, list) else [one]
            if any(hasattr(part, "getwidth") and _unlimited(part) for part in below):
                return True
    return False


def test_no_pattern_repeats_anything_without_a_limit() -> None:
    parse = import_module("re._parser").parse
    rules = [rule for rule in RULES if _unlimited(parse(rule.pattern.pattern, rule.pattern.flags))]
    assert rules == []
    assert _unlimited(parse("a(?:b|c+)d"))


@pytest.mark.parametrize("piece", HARD)
def test_time_grows_in_step_with_the_length_of_a_text(piece: str) -> None:
    def seconds(characters: int) -> float:
        text = piece * (characters // len(piece) + 1)
        # The least of some: this machine may be busy.
        return min(_timed(text) for _ in range(2))

    assert seconds(80_000) < 12 * seconds(20_000) + 0.02


def _timed(text: str) -> float:
    begun = thread_time()
    screen("content", text, WORKSHOP)
    return thread_time() - begun


@settings(max_examples=300, deadline=None, database=None)
@given(st.text(max_size=400))
def test_any_text_can_be_screened(text: str) -> None:
    for strictness in Strictness:
        found = screen("content", text, strictness)
        assert found is None or found.field == "content"


_SNIPPETS: Final = st.sampled_from(
    [
        "password",
        "=",
        ":",
        '"',
        "\\",
        "\n",
        "sk-",
        "eyJ",
        "://",
        "@",
        "a1",
        " ",
        "token",
        "-----BEGIN",
    ]
)


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(_SNIPPETS, max_size=60), st.sampled_from([text for _, text in MACHINE]))
def test_nothing_before_a_secret_hides_it(before: list[str], secret: str) -> None:
    assert screen("content", "".join(before) + " \n " + secret) is not None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("access_token", True),
        ("apiKey", True),
        ("APIKey", True),
        ("api-key", True),
        ("session_id", True),
        ("sessionId", True),
        ("PHPSESSID", True),
        ("X-Amz-Signature", True),
        ("X-Amz-Security-Token", True),
        ("sig", True),
        ("client_secret", True),
        ("clientsecret", True),
        ("authToken", True),
        ("auth", True),
        ("oauth_token", True),
        ("auth_code", True),
        ("password", True),
        ("userPassword", True),
        ("passwordHash", True),
        ("jwt", True),
        ("key", True),
        ("author", False),
        ("authors", False),
        ("session_count", False),
        ("tokenizer", False),
        ("token_type", False),
        ("token_count", False),
        ("max_tokens", False),
        ("page_token", False),
        ("nextPageToken", False),
        ("pagetoken", False),
        ("key_id", False),
        ("keyword", False),
        ("monkey", False),
        ("sort_key", False),
        ("public_key", False),
        ("client_id", False),
        ("passenger", False),
        ("compass", False),
        ("design", False),
        ("signed_at", False),
        ("code", False),
        ("state", False),
        ("id", False),
        ("X-Amz-Date", False),
        ("", False),
        ("123", False),
    ],
)
def test_a_name_is_judged_by_its_words(name: str, expected: bool) -> None:  # noqa: FBT001
    assert is_credential_name(name, bare_key=True) is expected


@pytest.mark.parametrize(
    "url",
    [
        "https://user:pass@host.lan/",
        "https://user@host.lan/",
        "https://user%40x:y@host.lan/",
        "https://host.lan%40evil.lan/",
        "//user:pass@host.lan/",
        "https:\\\\user:pass@host.lan/",
        "http:user:pass@host.lan",
        "https://us\ter:pass@host.lan/",
        "https://host.lan/?access_token=1",
        "https://host.lan/?a=1&apiKey=",
        "https://host.lan/?a=1;session_id=4",
        "https://host.lan/?access%5Ftoken=1",
        "https://host.lan/#access_token=1",
        "https://host.lan/#/route?apiKey=1",
        "https://host.lan/?a=1#b&sig=2",
        "https://host.lan/?KEY=1",
        "https://[::1/?token=" + some(24),
        "https://host.lan/api/webhook/" + some(64, "0123456789abcdef"),
    ],
)
def test_an_address_that_opens_a_door_is_no_anchor(url: str) -> None:
    found = screen_anchor_url(url)
    assert found is not None
    assert found.field == "url"


@pytest.mark.parametrize(
    "url",
    [
        "https://host.lan/",
        "https://host.lan/?author=anna&session_count=3",
        "https://host.lan/path/@anna/post?page_token=abc",
        "https://host.lan/#section-token",
        "https://host.lan/?token",
        "https://host.lan/?q=access_token",
        "http://192.168.1.2:8123/lovelace/0",
        "http://[fd00::2]:8123/?edit=1",
        "https://github.com/owner/repo/issues/5#issuecomment-12345",
        "",
    ],
)
def test_a_plain_address_is_an_anchor(url: str) -> None:
    assert screen_anchor_url(url) is None


@settings(max_examples=300, deadline=None, database=None)
@given(st.text(max_size=200))
def test_any_address_can_be_screened(url: str) -> None:
    found = screen_anchor_url(url)
    assert found is None or found.field == "url"
