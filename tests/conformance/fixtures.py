"""The offer that the conformance suite expects: tools, resources and prompts with fixed names.

It stands behind the same engine and transport as the memory, so what passes here is the protocol
code itself. Names and texts are the suite's.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
import json
from typing import Final

from custom_components.ai_memory.mcp.engine import (
    Ability,
    About,
    CapabilityMissingError,
    ChangeKind,
    Completion,
    CompletionQuery,
    JsonObject,
    OfferChange,
    Prompt,
    PromptArgument,
    Reporter,
    Resource,
    ResourceMissingError,
    ResourcePage,
    Tool,
    ToolResult,
    UnknownError,
    text_block,
)

PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhf"
    "DwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
SILENCE: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
PAUSE_SECONDS: Final = 0.05

IMAGE: Final[JsonObject] = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO: Final[JsonObject] = {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}

type Run = Callable[["FixtureOffer", JsonObject, Reporter], Awaitable[Sequence[JsonObject]]]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whoever asks: the suite has no name."""

    key: str = "suite"


class FixtureOffer:
    """Everything that the suite asks for and a server without client features can give."""

    def __init__(self) -> None:
        """Start with nobody listening."""
        self._listeners: list[Callable[[OfferChange], None]] = []

    @property
    def about(self) -> About:
        """Who is serving."""
        return About(
            name="conformance-fixtures",
            title="Fixtures of the conformance suite",
            version="1.0.0",
            abilities=frozenset(Ability),
            changes=frozenset(ChangeKind),
        )

    def instructions(self, client: Visitor) -> str:
        """Return a fixed text."""
        return "For the conformance suite alone."

    def tools(self, client: Visitor) -> Sequence[Tool]:
        """Return the fixed tools."""
        return _TOOLS

    async def call(
        self, client: Visitor, name: str, arguments: JsonObject, reporter: Reporter
    ) -> ToolResult:
        """Run a fixed tool."""
        run = _RUNS.get(name)
        if run is None:
            raise UnknownError(f"There is no tool {name!r}")
        content = tuple(await run(self, arguments, reporter))
        return ToolResult(content=content, is_error=name == "test_error_handling")

    async def resources(self, client: Visitor, after: str | None, limit: int) -> ResourcePage:
        """Return the fixed resources."""
        return ResourcePage(
            [Resource(uri=uri, name=uri, description=f"Fixture {uri}") for uri in _RESOURCES]
        )

    def resource_templates(self, client: Visitor) -> Sequence[Resource]:
        """Return the fixed template."""
        return [
            Resource(uri="test://template/{id}/data", name="template", mime_type="application/json")
        ]

    async def read(self, client: Visitor, uri: str) -> Sequence[JsonObject]:
        """Return a fixed resource."""
        if uri in _RESOURCES:
            return [{"uri": uri, **_RESOURCES[uri]}]
        filled = uri.removeprefix("test://template/").removesuffix("/data")
        if uri != f"test://template/{filled}/data":
            raise ResourceMissingError(uri)
        text = json.dumps({"id": filled, "templateTest": True, "data": f"Data for ID: {filled}"})
        return [{"uri": uri, "mimeType": "application/json", "text": text}]

    def prompts(self, client: Visitor) -> Sequence[Prompt]:
        """Return the fixed prompts."""
        return _PROMPTS

    async def prompt(
        self, client: Visitor, name: str, arguments: Mapping[str, str]
    ) -> Sequence[JsonObject]:
        """Return a fixed prompt."""
        return [{"role": "user", "content": block} for block in _prompt_blocks(name, arguments)]

    async def complete(self, client: Visitor, query: CompletionQuery) -> Completion:
        """Suggest what begins as the value does."""
        known = ("paris", "park", "party", "test")
        return Completion(values=tuple(word for word in known if word.startswith(query.value)))

    def tells_of(self, client: Visitor, uri: str) -> bool:
        """Promise to tell of every resource."""
        return True

    def subscribe(
        self, client: Visitor, listener: Callable[[OfferChange], None]
    ) -> Callable[[], None]:
        """Tell of the changes that tools trigger."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, change: OfferChange) -> None:
        """Tell whoever listens."""
        for listener in self._listeners:
            listener(change)


def _fixed(*blocks: JsonObject) -> Run:
    async def run(
        offer: FixtureOffer, arguments: JsonObject, reporter: Reporter
    ) -> Sequence[JsonObject]:
        return blocks

    return run


def _changing(kind: ChangeKind) -> Run:
    async def run(
        offer: FixtureOffer, arguments: JsonObject, reporter: Reporter
    ) -> Sequence[JsonObject]:
        offer.tell(OfferChange(kind))
        return [text_block("Told.")]

    return run


async def _with_logging(
    offer: FixtureOffer, arguments: JsonObject, reporter: Reporter
) -> Sequence[JsonObject]:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await reporter.log("info", line)
        await asyncio.sleep(PAUSE_SECONDS)
    return [text_block("Logged.")]


async def _with_progress(
    offer: FixtureOffer, arguments: JsonObject, reporter: Reporter
) -> Sequence[JsonObject]:
    for done in (0, 50, 100):
        await reporter.progress(done, 100)
        await asyncio.sleep(PAUSE_SECONDS)
    return [text_block("Done.")]


async def _needing_sampling(
    offer: FixtureOffer, arguments: JsonObject, reporter: Reporter
) -> Sequence[JsonObject]:
    if "sampling" not in reporter.capabilities:
        raise CapabilityMissingError("sampling")
    return [text_block("The client could be asked.")]


def _resource_block(uri: str, text: str, mime_type: str = "text/plain") -> JsonObject:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}


def _prompt_blocks(name: str, arguments: Mapping[str, str]) -> list[JsonObject]:
    match name:
        case "test_simple_prompt":
            return [text_block("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            first, second = arguments["arg1"], arguments["arg2"]
            return [text_block(f"Prompt with arguments: arg1='{first}', arg2='{second}'")]
        case "test_prompt_with_embedded_resource":
            embedded = "Embedded resource content for testing."
            return [
                _resource_block(arguments["resourceUri"], embedded),
                text_block("Please process the embedded resource above."),
            ]
        case _:
            return [IMAGE, text_block("Please analyze the image above.")]


_RUNS: Final[dict[str, Run]] = {
    "test_simple_text": _fixed(text_block("This is a simple text response for testing.")),
    "test_image_content": _fixed(IMAGE),
    "test_audio_content": _fixed(AUDIO),
    "test_embedded_resource": _fixed(
        _resource_block("test://embedded-resource", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": _fixed(
        text_block("Multiple content types test:"),
        IMAGE,
        _resource_block(
            "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
        ),
    ),
    "test_error_handling": _fixed(
        text_block("This tool intentionally returns an error for testing")
    ),
    "test_tool_with_logging": _with_logging,
    "test_logging_tool": _with_logging,
    "test_tool_with_progress": _with_progress,
    "test_missing_capability": _needing_sampling,
    "test_streaming_elicitation": _with_progress,
    "test_trigger_tool_change": _changing(ChangeKind.TOOLS),
    "test_trigger_prompt_change": _changing(ChangeKind.PROMPTS),
    "test_x_mcp_header": _fixed(text_block("The header agreed.")),
    "json_schema_2020_12_tool": _fixed(text_block("{}")),
}

_SCHEMAS: Final[dict[str, JsonObject]] = {
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}

_TOOLS: Final = tuple(
    Tool(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=f"Fixture {name}",
        input_schema=_SCHEMAS.get(name, {"type": "object", "properties": {}}),
        read_only=True,
    )
    for name in _RUNS
)

_RESOURCES: Final[dict[str, JsonObject]] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PIXEL},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}

_PROMPTS: Final = tuple(
    Prompt(
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=f"Fixture {name}",
        arguments=tuple(PromptArgument(name=blank, required=True) for blank in blanks),
    )
    for name, blanks in (
        ("test_simple_prompt", ()),
        ("test_prompt_with_arguments", ("arg1", "arg2")),
        ("test_prompt_with_embedded_resource", ("resourceUri",)),
        ("test_prompt_with_image", ()),
    )
)
