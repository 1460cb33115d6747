"""The tools of coding agents: the operations of the workshop, under the names that agents know."""

from typing import Final

from . import packet, reading, writing

OPERATIONS: Final = (*reading.OPERATIONS, *packet.OPERATIONS, *writing.OPERATIONS)

__all__ = ["OPERATIONS"]
