"""Making the file that is measured: the product's own repositories, in large transactions.

One by one through the manager, a hundred thousand memories would wait a hundred thousand times for
the disk. What ends up in the file is the same: texts, full-text rows and audit. Vectors are left to
the manager, which makes what is missing whenever it opens a file. Texts are the same for every
dimension, so ``fill_texts`` runs once per number of memories.
"""

from collections.abc import Sequence
from itertools import batched
from pathlib import Path
from typing import Final

from ulid_transform import ulid_at_time

from .core import (
    Action,
    Caller,
    Database,
    Layer,
    Memory,
    Scope,
    SqlValue,
    memories,
    palace,
    restatement_digest,
)
from .synthetic import Household

ANNA: Final = Caller(
    source="assist", agent="conversation.home", provider="ollama", user="anna", language="en"
)
"""Who asks in every measurement: seven in ten memories are common, two hers, one a stranger's."""

_STRANGER: Final = Caller(source="assist", agent="conversation.other", provider="openai")
_OWNERS: Final = (None,) * 7 + (ANNA, ANNA, _STRANGER)
_LAYERS: Final = (Layer.CRITICAL,) + (Layer.STANDARD,) * 28 + (Layer.ARCHIVE,) * 2

_FIRST_MOMENT_MS: Final = 1_700_000_000_000
_BETWEEN_MEMORIES_MS: Final = 60_000
_TRANSACTION_MEMORIES: Final = 5_000

type _MemoryChange = tuple[Memory | None, Memory | None]


async def fill_texts(
    path: Path, household: Household, count: int, owners: Sequence[Caller | None] = _OWNERS
) -> None:
    """Make a file with the first memories of a household, without vectors.

    The owners take turns; what has none is common.
    """
    database = Database(path)
    await database.open()
    try:
        async with database.transaction() as connection:
            await palace.seed(connection, _FIRST_MOMENT_MS)
        rooms: dict[tuple[str, str], int] = {}
        for numbers in batched(range(count), _TRANSACTION_MEMORIES, strict=False):
            async with database.transaction() as connection:
                added: list[_MemoryChange] = []
                for number in numbers:
                    now_ms = _FIRST_MOMENT_MS + number * _BETWEEN_MEMORIES_MS
                    if (place := household.place(number)) not in rooms:
                        ensured = await palace.ensure_place(connection, *place, now_ms)
                        rooms[place] = ensured.room_id
                    values = _values(household, number, now_ms, owners[number % len(owners)])
                    values["room_id"] = rooms[place]
                    added.append((None, await memories.insert(connection, values)))
                await memories.audit(connection, ANNA, Action.ADDED, _FIRST_MOMENT_MS, added)
    finally:
        await database.close()


def _values(
    household: Household, number: int, now_ms: int, owner: Caller | None
) -> dict[str, SqlValue]:
    content = household.content(number)
    return {
        "id": ulid_at_time(now_ms / 1000),
        "content": content,
        "summary": household.summary(number),
        "restatement": restatement_digest(content),
        "scope": Scope.COMMON if owner is None else Scope.PRIVATE,
        "owner_agent": owner.agent if owner else None,
        "owner_user": owner.user if owner else None,
        "layer": _LAYERS[number % len(_LAYERS)],
        "type": "fact",
        "language": "en",
        "now_ms": now_ms,
        "source": "assist",
    }
