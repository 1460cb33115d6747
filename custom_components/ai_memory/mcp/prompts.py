"""The prompts of this door: how a session begins and ends, for a person to pick.

Texts alone; the tools that they speak of do the work. Read by the offer.
"""

from collections.abc import Callable, Mapping
from typing import Final

from .engine import InvalidArgumentsError, JsonObject, Prompt, PromptArgument, UnknownError

_NAMESPACE: Final = PromptArgument(
    name="namespace", description="of the repository, as memory_namespace returns it", required=True
)
_TASK: Final = PromptArgument(name="task", description="what is about to be done")

PROMPTS: Final = (
    Prompt(
        name="start_session",
        title="Start a session",
        description="Begin with what earlier sessions learned about this repository.",
        arguments=(_NAMESPACE, _TASK),
    ),
    Prompt(
        name="close_session",
        title="Close a session",
        description="Leave behind what the next session should know.",
        arguments=(_NAMESPACE,),
    ),
)


def _start(filled: Mapping[str, str]) -> str:
    namespace, task = filled["namespace"], filled.get("task", "")
    first = f"Call memory_bootstrap with the namespace {namespace}."
    if task:
        first = f"Call memory_project_context with the namespace {namespace} and the task: {task}"
    return (
        f"{first}\nRead the records that matter with memory_get before you explore the code, and"
        " trust them no further than their dates, evidence and missing anchors allow. If candidates"
        " are pending, list them with memory_timeline, make those active that are true and lasting,"
        " and forget the others."
    )


def _close(filled: Mapping[str, str]) -> str:
    namespace = filled["namespace"]
    return (
        "Go through what was decided, learned or left open in this session. For each lasting fact:"
        f" search the namespace {namespace} with memory_search; if a record says it, corroborate it"
        " with what you saw; if one says otherwise, store the new fact and supersede it; else store"
        " it with memory_store, one fact a record. Leave out what the code or its history tells,"
        " and every secret. Then call memory_session_close with a summary of a few sentences."
    )


_TEXTS: Final[Mapping[str, Callable[[Mapping[str, str]], str]]] = {
    "start_session": _start,
    "close_session": _close,
}


def filled_in(name: str, arguments: Mapping[str, str]) -> list[JsonObject]:
    """Return the messages of a prompt. Raises UnknownError and InvalidArgumentsError."""
    prompt = next((one for one in PROMPTS if one.name == name), None)
    if prompt is None:
        raise UnknownError(f"There is no prompt {name!r}")
    for blank in prompt.arguments:
        if blank.required and not arguments.get(blank.name, "").strip():
            raise InvalidArgumentsError(f"{blank.name} is required")
    return [{"role": "user", "content": {"type": "text", "text": _TEXTS[name](arguments)}}]
