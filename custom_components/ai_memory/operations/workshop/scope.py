"""Which wings a question about a namespace is about: its own, its projects, topics, the global one.

The order is the order of retrieval. A hub reaches every other repository as well, but only where
something is looked for: an index of them all would be none of the hub. A caller who may not see one
of them is answered as if it were not there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...core import Caller, InvalidInputError, MemoryManager
from ...core.models import GLOBAL_WING
from ...core.namespaces import normalised
from ...core.text_input import wing_name
from ..parameters import Kind, Parameter, Values

TOPICS_MAXIMUM: Final = 8
TOPIC_LIMIT_CHARACTERS: Final = 40
TOPIC_PREFIX: Final = "topics/"

NAMESPACE: Final = Parameter(
    name="namespace",
    description="github/owner/repo, projects/name, topics/name, local/name or global",
)
TOPICS: Final = Parameter(
    name="topics",
    kind=Kind.TEXTS,
    description="topics to include, up to 8",
    maximum=TOPICS_MAXIMUM,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The wings in their order, None being every wing within reach."""

    namespace: str | None
    wings: tuple[str, ...] | None

    def narrowed(self, caller: Caller) -> Caller:
        """Return the caller as one who sees these wings only."""
        if self.wings is None:
            return caller
        # Narrowed, never widened: what is beyond the caller's own reach stays out.
        seen = tuple(wing for wing in self.wings if caller.reach.admits(wing))
        return replace(caller, reach=replace(caller.reach, wings=seen))


async def scope_of(
    manager: MemoryManager, caller: Caller, values: Values, *, from_hub: bool
) -> Scope:
    """Return what is in scope for a namespace and topics; everything where neither is given.

    ``from_hub`` says whether a hub reaches beyond what any repository does. Raises
    InvalidInputError.
    """
    namespace = values.text("namespace")
    topics = _topics(values.texts("topics"))
    if namespace is None and not topics:
        return Scope(None, None)
    if namespace is not None:
        namespace = wing_name(caller, namespace)
    wings = await manager.places.reachable(
        caller, namespace or GLOBAL_WING, topics, from_hub=from_hub
    )
    return Scope(namespace, tuple(wings))


def _topics(given: Sequence[str]) -> tuple[str, ...]:
    """Return the wings of topics. Raises InvalidInputError for what can be the name of none."""
    named = []
    for topic in given:
        name = topic.strip().lower().removeprefix(TOPIC_PREFIX)
        if not 1 <= len(name) <= TOPIC_LIMIT_CHARACTERS:
            raise InvalidInputError(
                "too_long", field="topics", limit=TOPIC_LIMIT_CHARACTERS, length=len(name)
            )
        named.append(normalised(f"{TOPIC_PREFIX}{name}"))
    return tuple(dict.fromkeys(named))
