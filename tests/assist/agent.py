"""What a conversation agent does with the memory: ask as somebody, and call tools."""

import json
from typing import Any

from homeassistant.core import Context
from homeassistant.helpers import llm


def context(
    platform: str = "ollama",
    user: str | None = None,
    language: str | None = "en",
    device_id: str | None = None,
    **more: Any,
) -> llm.LLMContext:
    """Return the context of a request."""
    return llm.LLMContext(
        platform=platform,
        context=Context(user_id=user),
        language=language,
        assistant="conversation",
        device_id=device_id,
        **more,
    )


async def call(instance: llm.APIInstance, tool: str, **args: object) -> tuple[dict[str, Any], bool]:
    """Return the data of a tool call and whether it is an error, on every version."""
    result: Any = await instance.async_call_tool(llm.ToolInput(tool_name=tool, tool_args=args))
    data = result.data if hasattr(result, "data") else result
    json.dumps(data)
    error = result.error if hasattr(result, "error") else "error" in data
    return data, error


async def contents(instance: llm.APIInstance) -> set[str]:
    """Return what the agent can list."""
    data, error = await call(instance, "list_memories")
    assert not error, data
    return {memory["content"] for memory in data["memories"]}
