"""Receipts of operations that must happen once: a repeated call gets the first one's result.

Whoever carries out such an operation (the close of a session) makes a ``Receipt`` of its id, the
client and everything it was given, and hands it to ``MemoryManager.once``. The receipt commits with
the work or not at all. After some time only a tombstone is left, which knows no result any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
import json
import re
from typing import Any, Final, Self

import aiosqlite

from .errors import InvalidInputError, ReceiptError

_OP_ID: Final = re.compile("[A-Za-z0-9_-]{8,64}")

_FIND: Final = "SELECT client, digest, result, at_ms FROM receipts WHERE op_id = ?"
_KEEP: Final = """
    INSERT INTO receipts (op_id, client, digest, result, at_ms) VALUES (?, ?, ?, ?, ?)
"""
_EXPIRE: Final = "UPDATE receipts SET result = NULL WHERE at_ms < ? AND result IS NOT NULL"

type Result = dict[str, Any]
"""What an operation answered, as plain values."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The id of an operation, bound to a client and to a digest of all that it was given."""

    op_id: str
    client: str
    digest: bytes

    @classmethod
    def of(cls, op_id: str, client: str, inputs: Mapping[str, object]) -> Self:
        """Make one of plain values. Raises InvalidInputError for an id that cannot be one."""
        if not _OP_ID.fullmatch(op_id):
            raise InvalidInputError("invalid_op_id", field="op_id")
        written = json.dumps(inputs, sort_keys=True, default=str, separators=(",", ":"))
        return cls(op_id, client, sha256(written.encode()).digest())

    async def find(self, connection: aiosqlite.Connection, expired_ms: int) -> Result | None:
        """Return what the operation answered the first time, None where this is the first.

        Raises ReceiptError where the id was used by another client or with other inputs, and where
        that was before ``expired_ms``.
        """
        rows = list(await connection.execute_fetchall(_FIND, (self.op_id,)))
        if not rows:
            return None
        client, digest, result, at_ms = rows[0]
        if (client, digest) != (self.client, self.digest):
            raise ReceiptError("receipt_mismatch", id=self.op_id)
        if result is None or at_ms < expired_ms:
            raise ReceiptError("receipt_expired", id=self.op_id)
        answered: Result = json.loads(result)
        return answered

    async def keep(self, connection: aiosqlite.Connection, result: Result, now_ms: int) -> None:
        """Keep the answer in the running transaction."""
        written = json.dumps(result)
        values = (self.op_id, self.client, self.digest, written, now_ms)
        await connection.execute(_KEEP, values)


async def expire(connection: aiosqlite.Connection, before_ms: int) -> None:
    """Turn the receipts from before a moment into tombstones."""
    await connection.execute(_EXPIRE, (before_ms,))
