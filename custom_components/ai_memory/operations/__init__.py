"""The catalogue of operations and how doors publish from it."""

from .catalogue import CATALOGUE, run
from .operation import Operation
from .parameters import Kind, Parameter
from .publication import Narrowing, Publication
from .replies import Reply
from .transfer import export_into

__all__ = [
    "CATALOGUE",
    "Kind",
    "Narrowing",
    "Operation",
    "Parameter",
    "Publication",
    "Reply",
    "export_into",
    "run",
]
