"""The tools of coding agents: the operations of the workshop, under the names that agents know."""

from typing import Final

from . import anchors, packet, reading, searching, writing
from .records import CLIENT_SOURCE

OPERATIONS: Final = (
    *reading.BEGINNING,
    *searching.OPERATIONS,
    *reading.RECORDS,
    *packet.OPERATIONS,
    *writing.OPERATIONS,
    *anchors.OPERATIONS,
)

__all__ = ["CLIENT_SOURCE", "OPERATIONS"]
