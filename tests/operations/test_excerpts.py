"""Long memories in a list are told by their beginning, where a door wants that."""

import pytest

from custom_components.ai_memory.operations.replies import excerpt_of

WORDS = "plum " * 99  # 495 characters


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("x" * 500, None),
        (WORDS + "12345", None),
        (WORDS + "12345 more", WORDS + "12345"),
        (WORDS + "123456", WORDS.strip()),
        (WORDS.replace(" ", "\n") + "123456", WORDS.replace(" ", "\n").strip()),
        ("x" * 501, "x" * 500),
        ("a " + "x" * 10_000, "a " + "x" * 498),
        ("\u6885" * 501, "\u6885" * 500),
    ],
)
def test_a_long_content_is_cut_at_a_word(content: str, told: str | None) -> None:
    expected = {} if told is None else {"content": told, "truncated": True}
    assert excerpt_of(content) == expected
