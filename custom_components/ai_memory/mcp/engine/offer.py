"""What a server offers: the one interface between the protocol and whatever stands behind it.

The engine asks an ``Offer`` and puts the values it gets on the wire; it knows nothing else of what
is served. The memory implements it, and so does the conformance suite's set of fixtures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from .strict_json import JsonObject, JsonValue


class Ability(StrEnum):
    """A part of the protocol that an offer can support."""

    TOOLS = "tools"
    RESOURCES = "resources"
    PROMPTS = "prompts"
    COMPLETIONS = "completions"
    LOGGING = "logging"


class ChangeKind(StrEnum):
    """What can change about an offer, named as the notification that tells of it."""

    TOOLS = "notifications/tools/list_changed"
    PROMPTS = "notifications/prompts/list_changed"
    RESOURCES = "notifications/resources/list_changed"
    RESOURCE = "notifications/resources/updated"


@dataclass(frozen=True, slots=True)
class OfferChange:
    """Something that a listening client may want to fetch again; ``uri`` is a resource's."""

    kind: ChangeKind
    uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Who is serving."""

    name: str
    title: str
    version: str
    abilities: frozenset[Ability]
    changes: frozenset[ChangeKind] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One thing that a client can have done; the four flags are hints for whoever approves it."""

    name: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = False

    def as_wire(self) -> JsonObject:
        """Return the tool as ``tools/list`` tells of it."""
        wire: JsonObject = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive and not self.read_only,
                "idempotentHint": self.idempotent,
                "openWorldHint": self.open_world,
            },
        }
        if self.output_schema is not None:
            wire["outputSchema"] = self.output_schema
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call: blocks to read, the same as a value, and whether it failed."""

    content: tuple[JsonObject, ...]
    structured: JsonObject | None = None
    is_error: bool = False

    def as_wire(self) -> JsonObject:
        """Return the result as ``tools/call`` answers."""
        wire: JsonObject = {"content": list(self.content), "isError": self.is_error}
        if self.structured is not None:
            wire["structuredContent"] = self.structured
        return wire


def text_block(text: str) -> JsonObject:
    """Return a block of text."""
    return {"type": "text", "text": text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something that can be read by its URI, or by a template of URIs."""

    uri: str
    name: str
    title: str = ""
    description: str = ""
    mime_type: str = "text/plain"

    def as_wire(self, *, template: bool = False) -> JsonObject:
        """Return it as the list of resources, or of templates, tells of it."""
        wire: JsonObject = {
            "uriTemplate" if template else "uri": self.uri,
            "name": self.name,
            "mimeType": self.mime_type,
        }
        optional = {"title": self.title, "description": self.description}
        return wire | {key: text for key, text in optional.items() if text}


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """Some of the resources, and where the next ones begin; None after the last."""

    resources: Sequence[Resource]
    following: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One blank of a prompt."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text that a person can pick, with blanks to fill in."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()

    def as_wire(self) -> JsonObject:
        """Return the prompt as ``prompts/list`` tells of it."""
        blanks: list[JsonValue] = [
            {"name": blank.name, "description": blank.description, "required": blank.required}
            for blank in self.arguments
        ]
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": blanks,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a blank could be filled with, likeliest first."""

    values: tuple[str, ...]
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionQuery:
    """Whose blank is being filled in (a prompt's name or a template's URI), and how far."""

    prompt: str | None = None
    template: str | None = None
    argument: str = ""
    value: str = ""
    filled: Mapping[str, str] = field(default_factory=dict)


class UnknownError(LookupError):
    """There is no tool, prompt or page of that name for this client; the text says so."""


class ResourceMissingError(LookupError):
    """Nothing that this client may read is at that URI."""


class InvalidArgumentsError(ValueError):
    """A prompt or a completion cannot be made of what was given; the text says why."""


class AccessMissingError(PermissionError):
    """The client lacks an access, which is named."""

    def __init__(self, access: str) -> None:
        """Keep the access that would be needed."""
        super().__init__(f"This needs the access {access}, which the client does not have")
        self.access = access


class CapabilityMissingError(Exception):
    """The client would have to be able to do something that it did not declare."""

    def __init__(self, capability: str) -> None:
        """Keep the name of the capability."""
        super().__init__(f"This needs the client capability {capability}")
        self.capability = capability


class Identified(Protocol):
    """Whoever asks, as the engine has to know them: apart from all others."""

    @property
    def key(self) -> str:
        """What tells this client from all others."""


class Reporter(Protocol):
    """How a running call tells its client of itself; what the client did not ask for is dropped."""

    @property
    def capabilities(self) -> Mapping[str, JsonValue]:
        """What the client declared that it can do, where its revision says so with each request."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell how far the call has come."""

    async def log(self, level: str, data: JsonValue) -> None:
        """Tell what a person who looks into the client may want to know."""


class Offer[C: Identified](Protocol):
    """Everything that is served. What ``about`` does not name as an ability is never asked for."""

    @property
    def about(self) -> About:
        """Who is serving; asked with every request, so it may change."""

    def instructions(self, client: C) -> str:
        """Return what a model should know before it uses the tools."""

    def tools(self, client: C) -> Sequence[Tool]:
        """Return the tools that the client may use, always in the same order."""

    async def call(
        self, client: C, name: str, arguments: JsonObject, reporter: Reporter
    ) -> ToolResult:
        """Run a tool. Raises UnknownError, AccessMissingError or CapabilityMissingError."""

    async def resources(self, client: C, after: str | None, limit: int) -> ResourcePage:
        """Return the resources after a page; raises UnknownError for a page that never was."""

    def resource_templates(self, client: C) -> Sequence[Resource]:
        """Return the templates of URIs that can be read."""

    async def read(self, client: C, uri: str) -> Sequence[JsonObject]:
        """Return the contents of a resource. Raises ResourceMissingError or AccessMissingError."""

    def prompts(self, client: C) -> Sequence[Prompt]:
        """Return the prompts."""

    async def prompt(
        self, client: C, name: str, arguments: Mapping[str, str]
    ) -> Sequence[JsonObject]:
        """Return a prompt's messages. Raises UnknownError or InvalidArgumentsError."""

    async def complete(self, client: C, query: CompletionQuery) -> Completion:
        """Return what a blank could be filled with. Raises UnknownError."""

    def tells_of(self, client: C, uri: str) -> bool:
        """Return whether a listener is told when the resource at a URI changes, if there is one."""

    def subscribe(self, client: C, listener: Callable[[OfferChange], None]) -> Callable[[], None]:
        """Tell a listener of changes from now on; returns how to end that.

        Raises AccessMissingError.
        """
