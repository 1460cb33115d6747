"""How much a reply to a coding agent may hold, and filling it: an item fits whole or is left out.

Budgets are promised in tokens and kept in bytes on the wire. A reply travels as text inside a
JSON-RPC reply, where its quotes are escaped once more: that is what is measured.
"""

import json
from typing import Final

from ..parameters import Kind, Parameter
from ..replies import JsonValue, Reply

BYTES_A_TOKEN: Final = 4
ENVELOPE_BYTES: Final = 240
"""What the protocol puts around a reply, with the longest id and revision of clients in use."""

BOOTSTRAP_TOKENS: Final = 500
SEARCH_TOKENS: Final = 750
RECORDS_TOKENS: Final = 2_000
PACKET_TOKENS: Final = 4_000
HARD_LIMIT_TOKENS: Final = 8_000
LEAST_TOKENS: Final = 100
_WIDEST: Final = 10_000_000
"""A figure as wide as any, while there is none yet."""


def budget(default: int) -> Parameter:
    """Return a parameter for how much a reply may hold."""
    return Parameter(
        name="budget_tokens",
        kind=Kind.INTEGER,
        default=default,
        minimum=LEAST_TOKENS,
        maximum=HARD_LIMIT_TOKENS,
    )


def wire_bytes(value: JsonValue) -> int:
    """Return the bytes that a value takes inside a JSON-RPC reply."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


class Packet:
    """A reply that is filled with items until its budget is spent."""

    def __init__(self, base: Reply, budget_tokens: int) -> None:
        """Start with what every reply of the kind holds; ``fits`` tells whether that much may."""
        self._base = base
        self._budget_bytes = budget_tokens * BYTES_A_TOKEN - ENVELOPE_BYTES
        self._used_bytes = wire_bytes(self.reply_of([], _WIDEST, _WIDEST))
        self._items: list[JsonValue] = []
        self._left_out = 0

    @property
    def fits(self) -> bool:
        """Whether the reply is within its budget."""
        return self._used_bytes <= self._budget_bytes

    @property
    def left_bytes(self) -> int:
        """How much of the budget is left."""
        return self._budget_bytes - self._used_bytes

    def offer(self, item: Reply) -> bool:
        """Take an item if it fits, else count it as left out."""
        needed = wire_bytes(item) + 1
        if needed > self.left_bytes:
            self._left_out += 1
            return False
        self._used_bytes += needed
        self._items.append(item)
        return True

    def leave_out(self, count: int) -> None:
        """Count items that were never offered."""
        self._left_out += count

    def reply(self) -> Reply:
        """Return the reply with its estimate and how many items did not fit."""
        tokens = -(-(self._used_bytes + ENVELOPE_BYTES) // BYTES_A_TOKEN)
        return self.reply_of(self._items, self._left_out, tokens)

    def reply_of(self, items: list[JsonValue], left_out: int, tokens: int) -> Reply:
        """Put a reply together."""
        return {
            **self._base,
            "records": items,
            "left_out": left_out,
            "truncated": left_out > 0,
            "estimated_tokens": tokens,
        }
