"""The catalogue of operations and how doors publish from it."""

from .catalogue import CATALOGUE, run
from .operation import Operation
from .parameters import Kind, Parameter
from .publication import Narrowing, Publication
from .replies import Reply

__all__ = [
    "CATALOGUE",
    "Kind",
    "Narrowing",
    "Operation",
    "Parameter",
    "Publication",
    "Reply",
    "run",
]
