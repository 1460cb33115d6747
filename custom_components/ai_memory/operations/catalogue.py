"""Everything the memory can do, each written once: the catalogue that all doors publish from.

An operation has a name, a description for models, parameters, the access it needs and a handler
that takes the manager, a caller and parsed arguments and returns a plain reply. A new capability is
one entry in the module of its subject; a door adds it to its selection.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..core import AccessDeniedError, Caller, MemoryManager
from . import memories, protocol
from .operation import Operation
from .parameters import Arguments, parse_arguments
from .replies import Reply

CATALOGUE: Final[Mapping[str, Operation]] = MappingProxyType(
    {operation.name: operation for operation in (*memories.OPERATIONS, *protocol.OPERATIONS)}
)


async def run(
    manager: MemoryManager, operation: Operation, caller: Caller, arguments: Arguments
) -> Reply:
    """Check access and arguments, then run the operation. Raises AiMemoryError."""
    if operation.access not in caller.access:
        raise AccessDeniedError("access_denied", access=operation.access.value)
    parsed = parse_arguments(operation.parameters, arguments)
    return await operation.handler(manager, caller, parsed)
