"""Everything the memory can do, each written once: the catalogue that all doors publish from.

An operation has a name, a description for models, parameters, the access it needs and a handler
that takes the manager, a caller and parsed arguments and returns a plain reply. A new capability is
one entry in the module of its subject; a door adds it to its selection.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..core import Caller, MemoryManager
from . import anchors, memories, palace, personal, protocol, transfer, workshop
from .operation import Operation, checked
from .parameters import Arguments
from .replies import Reply

_SUBJECTS: Final = (
    memories.OPERATIONS,
    protocol.OPERATIONS,
    personal.OPERATIONS,
    palace.OPERATIONS,
    anchors.OPERATIONS,
    transfer.OPERATIONS,
    workshop.OPERATIONS,
)

CATALOGUE: Final[Mapping[str, Operation]] = MappingProxyType(
    {operation.name: operation for subject in _SUBJECTS for operation in subject}
)


async def run(
    manager: MemoryManager, operation: Operation, caller: Caller, arguments: Arguments
) -> Reply:
    """Check access and arguments, then run the operation. Raises AiMemoryError."""
    return await operation.handler(manager, caller, checked(operation, caller, arguments))
