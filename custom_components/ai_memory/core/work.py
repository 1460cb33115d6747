"""Work that memories speak of: what is open, and what is done.

The manager lists it for whoever shows it as tasks. A memory of type ``open_work`` becomes one of
type ``done_work`` when the work is done, and back.
"""

from typing import Final

import aiosqlite

from . import memories
from .models import Memory
from .room_detection import detect_room
from .visibility import Clause

OPEN_WORK: Final = "open_work"
DONE_WORK: Final = "done_work"

WING: Final = "household"
ROOM: Final = "maintenance"

_WORK: Final = """
    m.sequence IN (
        SELECT m.sequence FROM memories m INDEXED BY memories_by_work
        WHERE m.type IN ('open_work', 'done_work') AND {visible}
        ORDER BY m.type DESC, m.updated_ms DESC, m.sequence DESC LIMIT :limit
    )
"""


def work_place(text: str) -> tuple[str, str] | tuple[None, None]:
    """Return where work belongs whose text tells nothing; blank where the text does tell."""
    return (None, None) if detect_room(text) else (WING, ROOM)


async def listed(connection: aiosqlite.Connection, clause: Clause, limit: int) -> list[Memory]:
    """Return work that the clause admits, in the order it was first told.

    Where there is more than the limit, what is done is left out first.
    """
    condition = _WORK.format(visible=clause.sql)
    return await memories.where(connection, condition, clause.parameters, limit)
