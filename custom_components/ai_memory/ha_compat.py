"""The differences between the supported Home Assistant versions, absorbed in one place.

Decided by what a version offers, never by its number. Whoever needs a schema takes ``vol`` from
here and uses only what voluptuous and its successor probatio share and convert to the same JSON.
"""

from importlib.util import find_spec
import sys
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, llm

try:
    import probatio as vol
except ImportError:
    import voluptuous as vol  # type: ignore[no-redef]

from .operations import Operation, Reply

__all__ = [
    "HAS_LLM_PLATFORM",
    "agent_of",
    "area_of",
    "describe_tool",
    "spoken_sentence",
    "tool_result",
    "vol",
]

HAS_LLM_PLATFORM: Final = find_spec("homeassistant.components.llm") is not None
"""Whether integrations can add tools to the built-in Assist API."""

_TOOL_RESULT: Final = getattr(llm, "ToolResult", None)
_TOOL_ANNOTATIONS: Final = getattr(llm, "ToolAnnotations", None)
_EFFECTIVE_AREA: Final = getattr(dr, "async_get_effective_area_id", None)
_CHAT_LOG: Final = "homeassistant.components.conversation.chat_log"


def tool_result(data: Reply, *, error: bool = False) -> Any:  # noqa: ANN401 - the type depends on the version
    """Return what a tool call answers with: a ToolResult where there is one, else the bare data."""
    return data if _TOOL_RESULT is None else _TOOL_RESULT(data=data, error=error)


def describe_tool(tool: llm.Tool, operation: Operation, domain: str) -> None:
    """Set on a tool what newer versions want to know of it: title, integration, annotations."""
    if _TOOL_ANNOTATIONS is None:
        return
    described: Any = tool
    described.title = operation.title
    described.integration = domain
    described.annotations = _TOOL_ANNOTATIONS(
        read_only=operation.read_only,
        destructive=operation.destructive,
        idempotent=operation.idempotent,
        open_world=False,
    )


def agent_of(context: llm.LLMContext) -> str | None:
    """Return the entity of the agent that is asking, where the version tells."""
    return getattr(context, "agent_id", None)


def area_of(hass: HomeAssistant, device: Any) -> str | None:  # noqa: ANN401 - newer versions know several kinds
    """Return the area of a device; newer versions let a part inherit that of the whole."""
    area: str | None = device.area_id if _EFFECTIVE_AREA is None else _EFFECTIVE_AREA(hass, device)
    return area


def spoken_sentence() -> str | None:
    """Return what the person just said in the conversation that is running, if one is.

    No context of a request holds it; the log of the conversation does. The module is only looked
    for: where nothing has loaded it, no conversation can be running.
    """
    current = getattr(sys.modules.get(_CHAT_LOG), "current_chat_log", None)
    log = current and current.get()
    if log is None or not log.content or (last := log.content[-1]).role != "user":
        return None
    return str(last.content)
