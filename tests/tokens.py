"""Counting tokens as a large language model does, with a tokenizer that needs no network."""

from functools import cache

import bpe_openai


@cache
def _encoding() -> bpe_openai.Encoding:
    return bpe_openai.get_encoding("o200k_base")


def token_count(text: str) -> int:
    """Return how many tokens the text takes."""
    return len(_encoding().encode(text))
