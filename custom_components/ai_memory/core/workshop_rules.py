"""What a person set for coding agents: how much a packet holds, what the end of a session keeps.

Held by the manager and read by the operations of the workshop.
"""

from dataclasses import dataclass
from typing import Final

from .namespaces import ANY_OWNER, NamespaceRules

CONTEXT_TOKENS_MINIMUM: Final = 500
CONTEXT_TOKENS_MAXIMUM: Final = 32_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkshopRules:
    """The options, with their defaults."""

    namespaces: NamespaceRules = ANY_OWNER
    context_budget_tokens: int = 4_000
    hard_context_limit_tokens: int = 8_000
    summary_candidates: bool = False
