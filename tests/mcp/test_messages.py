"""Reading what strangers send: what is taken, what is refused, and in how much time."""

import json
import time

import pytest

from custom_components.ai_memory.mcp.engine import (
    ErrorCode,
    MalformedJsonError,
    Notification,
    Request,
    RpcError,
    read_json,
    read_message,
)
from custom_components.ai_memory.mcp.engine.jsonrpc import (
    BATCH_MAXIMUM_MESSAGES,
    ID_LIMIT_CHARACTERS,
)
from custom_components.ai_memory.mcp.engine.strict_json import NESTING_LIMIT_LEVELS, nesting_levels


def _refused(body: bytes) -> RpcError:
    with pytest.raises(RpcError) as refusal:
        read_message(body)
    return refusal.value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**63),
        2**63 - 1,
        1.5e300,
        "ünï\U0001f600",
        {"a": [{"b": [[], {}]}, '"[{', "\\"]},
        {"": "]]]]", "\\": "[[[["},
    ],
)
def test_json_is_read_as_it_was_written(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value
    assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a":1',
        b'{"a":1}}',
        b'{"a":1} {"a":1}',
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":NaN}',
        b"[Infinity]",
        b"[-Infinity]",
        b"[1e999]",
        b"[9223372036854775808]",
        b"[-9223372036854775809]",
        b"[" + b"9" * 100_000 + b"]",
        b'{"a":1,"a":1}',
        b'{"a":{"b":1,"b":2}}',
        b'["\xff"]',
        b'["\xc3"]',
        b'["\xed\xa0\x80"]',
        b'["\\ud800"]',
        b'["\\udc00\\ud800"]',
        b'{"\\ud800":1}',
        b"\xef\xbb\xbf{}",
        b'"\x00"',
        b'["a\nb"]',
        b'["unclosed',
        b'["\\"',
    ],
)
def test_json_that_readers_could_disagree_about_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedJsonError):
        read_json(body)
    assert _refused(body).code is ErrorCode.PARSE


def test_whole_surrogate_pairs_are_taken() -> None:
    assert read_json(b'"\\ud83d\\ude00"') == "\U0001f600"


def test_nesting_is_counted_exactly() -> None:
    deepest = b"[" * NESTING_LIMIT_LEVELS + b"]" * NESTING_LIMIT_LEVELS
    assert nesting_levels(b"1") == 0
    assert nesting_levels(b'{"a": [1, {"b": []}], "c": "[[[["}') == 4
    assert nesting_levels(deepest) == NESTING_LIMIT_LEVELS
    read_json(deepest)
    for deeper in (b"[" + deepest + b"]", b'{"a":' + deepest + b"}", b"[" * 500_000):
        with pytest.raises(MalformedJsonError, match="Nested"):
            read_json(deeper)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_048_576,
        b"[" * 524_288 + b"]" * 524_288,
        b"[]," * 349_525,
        b'"' + b'\\"' * 524_287,
        b'"' * 1_048_576,
        b"\\" * 1_048_576,
        b'["' + b"a" * 1_048_570 + b'"]',
    ],
)
def test_the_longest_body_is_judged_in_no_time(body: bytes) -> None:
    started = time.thread_time()
    nesting_levels(body)
    assert time.thread_time() - started < 0.5


def test_requests_and_notifications_are_told_apart() -> None:
    assert read_message(b'{"jsonrpc":"2.0","id":7,"method":"ping"}') == Request(7, "ping")
    assert read_message(
        b'{"jsonrpc":"2.0","id":"a","method":"x","params":{"b":1},"more":2}'
    ) == Request("a", "x", {"b": 1})
    assert read_message(b'{"jsonrpc":"2.0","method":"x"}') == Notification("x")


@pytest.mark.parametrize(
    ("body", "request_id"),
    [
        (b"1", None),
        (b'"ping"', None),
        (b"null", None),
        (b'{"id":1,"method":"ping"}', 1),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', 1),
        (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', 1),
        (b'{"jsonrpc":"2.0","id":1}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":null}', 1),
        (b'{"jsonrpc":"2.0","id":"r","result":{}}', "r"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}', 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None),
        (b"[]", None),
    ],
)
def test_what_is_no_message_is_refused_by_its_id(body: bytes, request_id: object) -> None:
    refusal = _refused(body)
    assert refusal.code is ErrorCode.INVALID_REQUEST
    assert refusal.request_id == request_id


def test_ids_and_batches_have_limits() -> None:
    ping = {"jsonrpc": "2.0", "method": "ping"}
    longest = "i" * ID_LIMIT_CHARACTERS
    assert read_message(json.dumps({**ping, "id": longest}).encode()) == Request(longest, "ping")
    assert _refused(json.dumps({**ping, "id": longest + "i"}).encode()).request_id is None
    most = [{**ping, "id": number} for number in range(BATCH_MAXIMUM_MESSAGES)]
    assert len(read_message(json.dumps(most).encode())) == BATCH_MAXIMUM_MESSAGES  # type: ignore[arg-type]
    assert _refused(json.dumps([*most, ping]).encode()).code is ErrorCode.INVALID_REQUEST
