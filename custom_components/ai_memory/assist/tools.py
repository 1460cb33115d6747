"""The tools that a model calls: publications of the catalogue in Home Assistant's shape.

Used by the LLM API and by the ``llm`` platform. Every failure becomes a result that the model can
act on; nothing that happens here ends a conversation. Replies are trimmed to what a model needs.
"""

from collections.abc import Mapping
import logging
from types import MappingProxyType
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..core import AiMemoryError, Status
from ..failures import home_assistant_error
from ..ha_compat import describe_tool, tool_result, vol
from ..operations import Kind, Narrowing, Parameter, Publication
from ..operations.replies import JsonValue, Reply
from ..profiles import AgentProfile
from .door import ProfileDoor

LIST_LIMIT_DEFAULT: Final = 20
LIST_LIMIT_MAXIMUM: Final = 50
SEARCH_LIMIT_MAXIMUM: Final = 20

TOOLS: Final = (
    Publication(
        name="add_memory",
        operation_name="add",
        offered=("content", "scope", "summary", "wing", "room", "expires", "supersedes"),
        narrowed={"scope": Narrowing(required=True)},
    ),
    Publication(
        name="search_memory",
        operation_name="search",
        offered=("query", "wing", "room", "limit"),
        narrowed={"limit": Narrowing(maximum=SEARCH_LIMIT_MAXIMUM)},
    ),
    Publication(
        name="list_memories",
        operation_name="list",
        offered=("wing", "room", "scope", "limit"),
        narrowed={"limit": Narrowing(default=LIST_LIMIT_DEFAULT, maximum=LIST_LIMIT_MAXIMUM)},
        # A full list of long memories would leave a model no room to think.
        fixed={"excerpts": True},
    ),
    Publication(
        name="update_memory",
        operation_name="update",
        offered=("memory_id", "content", "summary", "wing", "room", "scope"),
    ),
    Publication(
        name="delete_memory",
        operation_name="delete",
        offered=("memory_id", "room", "wing", "scope"),
        # A model errs more often than a person does.
        fixed={"restorable": True},
    ),
    Publication(name="forget_me", operation_name="forget_me", offered=("confirm",)),
)

_TOLD_TO_MODELS: Final = frozenset(
    {
        "id",
        "content",
        "truncated",
        "summary",
        "wing",
        "room",
        "scope",
        "updated",
        "score",
        "match_type",
        "why",
        "missing_anchors",
        "via",
        "status",
        "expires",
        "earlier",
    }
)
_UNTOLD: Final = MappingProxyType({"summary": "", "status": Status.ACTIVE.value})
"""What goes without saying."""

_PLAIN: Final[Mapping[Kind, Any]] = MappingProxyType(
    {
        Kind.TEXT: str,
        Kind.TIME: str,
        Kind.EXPIRY: str,
        Kind.BOOLEAN: bool,
        Kind.TEXTS: [str],
        Kind.OBJECT: dict,
    }
)

_LOGGER: Final = logging.getLogger(__name__)


class MemoryTool(llm.Tool):
    """One operation of the memory, offered to a model."""

    def __init__(self, publication: Publication, door: ProfileDoor, prefix: str = "") -> None:
        """Describe the tool; ``prefix`` goes before its name where Home Assistant wants one."""
        self._publication = publication
        self._door = door
        self.read_only = publication.operation.read_only
        self.name = f"{prefix}{publication.name}"
        self.description = publication.operation.description
        self.parameters = tool_schema(publication.parameters())
        describe_tool(self, publication.operation, DOMAIN)

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> Any:  # noqa: ANN401 - the type depends on the version
        """Run the operation and answer with its reply or with what went wrong."""
        try:
            caller = self._door.caller(llm_context)
            reply = await self._publication.run(self._door.manager, caller, tool_input.tool_args)
        except AiMemoryError as err:
            message = str(home_assistant_error(err))
            return tool_result({"error": message, "error_key": err.key}, error=True)
        except Exception:
            # A model can go on without its memory; an exception would end the whole conversation.
            _LOGGER.exception("The tool %s failed", self.name)
            reason: Reply = {"error": "The memory failed unexpectedly", "error_key": "unexpected"}
            return tool_result(reason, error=True)
        return tool_result(_for_model(reply))


def create_tools(door: ProfileDoor, prefix: str = "") -> list[MemoryTool]:
    """Return every tool."""
    return [MemoryTool(publication, door, prefix) for publication in TOOLS]


def offered(tools: list[MemoryTool], profile: AgentProfile) -> list[llm.Tool]:
    """Return the tools that a profile offers."""
    return [tool for tool in tools if tool.read_only or not profile.read_only]


def tool_schema(parameters: tuple[Parameter, ...]) -> vol.Schema:
    """Return the schema that Home Assistant shows to models.

    The operation checks the values and fills in defaults itself: agents do not, and models send
    blanks for what they leave out.
    """
    schema: dict[vol.Marker, Any] = {}
    for parameter in parameters:
        description = parameter.description or None
        if parameter.required:
            key: vol.Marker = vol.Required(parameter.name, description=description)
        else:
            key = vol.Optional(parameter.name, description=description)
        schema[key] = _validator(parameter)
    # What is unknown is passed over; a schema that forbids it would tell so in each tool.
    return vol.Schema(schema, extra=vol.REMOVE_EXTRA)


def _validator(parameter: Parameter) -> Any:  # noqa: ANN401 - a validator can be anything
    match parameter.kind:
        case Kind.CHOICE:
            return vol.In(list(parameter.choices))
        case Kind.INTEGER:
            return vol.All(vol.Coerce(int), vol.Range(min=parameter.minimum, max=parameter.maximum))
        case Kind.NUMBER:
            return vol.Coerce(float)
    return _PLAIN[parameter.kind]


def _for_model(reply: Reply) -> Reply:
    """Return the reply without what a model has no use for, which would only cost it tokens."""
    return {name: _trimmed(value) for name, value in reply.items()}


def _trimmed(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    if isinstance(value, dict) and "content" in value:
        return {
            name: told
            for name, told in value.items()
            if name in _TOLD_TO_MODELS and told != _UNTOLD.get(name)
        }
    return value
