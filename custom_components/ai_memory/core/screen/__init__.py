"""The screen that keeps secrets out of the memory; the doors of the package.

``finding`` has the values, ``rules`` how rules are tried, ``vendors``, ``key_material``,
``contexts``, ``assignments``, ``spoken`` and ``encoded`` what is looked for, ``screening`` puts
them together, and ``gate`` is what the manager calls. Nothing here keeps or shows a secret.
"""

from .finding import HOME, WORKSHOP, Finding, Strictness
from .names import is_credential_name
from .screening import screen
from .urls import screen_anchor_url

__all__ = [
    "HOME",
    "WORKSHOP",
    "Finding",
    "Strictness",
    "is_credential_name",
    "screen",
    "screen_anchor_url",
]
