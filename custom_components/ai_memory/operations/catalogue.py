"""Everything the memory can do, each written once: the catalogue that all doors publish from.

An operation has a name, a description for models, parameters, the access it needs and a handler
that takes the manager, a caller and parsed arguments and returns a plain reply. A new capability is
one entry in the module of its subject; a door adds it to its selection.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..core import Access, Caller, ConflictError, MemoryManager
from . import anchors, memories, palace, personal, protocol, transfer, workshop
from .operation import Operation, checked
from .parameters import Arguments
from .replies import Reply, without_words

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
    """Check access and arguments, then run the operation. Raises AiMemoryError.

    Who may write or delete but not read is told which memories there are, and never what they say.
    """
    values = checked(operation, caller, arguments)
    if operation.read_only or Access.READ in caller.access:
        return await operation.handler(manager, caller, values)
    try:
        return without_words(await operation.handler(manager, caller, values))
    except ConflictError as err:
        err.current = None
        raise
