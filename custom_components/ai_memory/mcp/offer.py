"""The memory as an offer: publications of the catalogue become tools, memories become resources.

This is the one place where the protocol engine and the memory meet. What a tool is called and
takes is the publication's to say; what it may do is the operation's. No logic of a memory here.
"""

from collections.abc import Callable, Mapping, Sequence
import json
import time
from typing import Final

from homeassistant.const import CONTENT_TYPE_JSON

from ..const import DOMAIN, NAME
from ..core import (
    Access,
    Action,
    AiMemoryError,
    Change,
    Filters,
    InvalidInputError,
    MemoryManager,
    NotFoundError,
    ids_told,
    wings_told,
)
from ..core.models import is_workshop
from ..core.text_input import check_id, wing_name
from ..operations import Publication, Reply
from .clients import Client
from .engine import (
    Ability,
    About,
    AccessMissingError,
    ChangeKind,
    Completion,
    CompletionQuery,
    JsonObject,
    OfferChange,
    Prompt,
    Reporter,
    Resource,
    ResourceMissingError,
    ResourcePage,
    Tool,
    ToolResult,
    UnknownError,
    text_block,
)
from .prompts import PROMPTS, filled_in, instructions_for
from .refusals import refusal_body
from .schemas import ANY_REPLY, REPLY_SCHEMAS, input_schema
from .tools import ADMINISTRATION_TOOLS, HOME_TOOLS, WORKSHOP_TOOLS

ARGUMENT_SHOWN_CHARACTERS: Final = 64
MEMORY_URI: Final = "memory://memory/"
INDEX_URI: Final = "memory://index/"
COMPLETIONS_MAXIMUM: Final = 100
_PLAIN_TEXT: Final = "text/plain"


class MemoryOffer:
    """What coding agents can have done."""

    def __init__(self, manager: MemoryManager, version: str) -> None:
        """Describe the tools once; nothing of a client is kept."""
        self._manager = manager
        published = (*WORKSHOP_TOOLS, *ADMINISTRATION_TOOLS, *HOME_TOOLS)
        self._publications = {one.name: one for one in published}
        self._tools = {name: tool_of(one) for name, one in self._publications.items()}
        self._about = About(
            name=DOMAIN,
            title=NAME,
            version=version,
            abilities=frozenset(Ability),
            changes=frozenset({ChangeKind.RESOURCES, ChangeKind.RESOURCE}),
        )

    @property
    def about(self) -> About:
        """Who is serving."""
        return self._about

    def instructions(self, client: Client) -> str:
        """Return what a model should know first, of the part of the memory that it reaches."""
        return instructions_for(client)

    def tools(self, client: Client) -> Sequence[Tool]:
        """Return the tools whose access the client has, those of the home if it may see it."""
        return [
            self._tools[one.name]
            for one in self._publications.values()
            if one.needed <= client.access and _exists(one, client)
        ]

    async def run(self, client: Client, name: str, arguments: JsonObject) -> Reply:
        """Run a tool for its bare reply. Raises UnknownError, AccessMissingError, AiMemoryError."""
        publication = self._publications.get(name)
        if publication is None or not _exists(publication, client):
            raise UnknownError(f"There is no tool {name!r}")
        for access in sorted(publication.needed):
            self._need(client, access)
        known = {parameter.name for parameter in publication.parameters()}
        for unknown in arguments.keys() - known:
            # What is passed over in silence would look as if it had been stored.
            raise InvalidInputError("unknown_argument", field=unknown[:ARGUMENT_SHOWN_CHARACTERS])
        return await publication.run(self._manager, client.caller(), arguments)

    async def call(
        self, client: Client, name: str, arguments: JsonObject, reporter: Reporter
    ) -> ToolResult:
        """Run a tool; what the memory refuses is a result that the model can act on."""
        started = time.monotonic()
        try:
            reply = await self.run(client, name, arguments)
        except AiMemoryError as err:
            # Without the structured value: what the schema describes is a success.
            return ToolResult(content=(_json_block(refusal_body(err)),), is_error=True)
        took = round((time.monotonic() - started) * 1000, 1)
        await reporter.log("debug", {"tool": name, "milliseconds": took})
        structured = None if self._tools[name].output_schema is None else reply
        return ToolResult(content=(_json_block(reply),), structured=structured)

    async def resources(self, client: Client, after: str | None, limit: int) -> ResourcePage:
        """Return the latest memories; the older ones are for searching, not for a list."""
        self._need(client, Access.READ)
        if after is not None:
            raise UnknownError("There is no such page")
        latest = await self._manager.latest(client.caller(), Filters(), limit)
        return ResourcePage(
            [
                Resource(
                    uri=f"{MEMORY_URI}{memory.id}",
                    name=f"{memory.wing}/{memory.room}/{memory.id}",
                    title=memory.summary,
                    mime_type=_PLAIN_TEXT,
                )
                for memory in latest.memories
            ]
        )

    def resource_templates(self, client: Client) -> Sequence[Resource]:
        """Return the patterns by which a memory and the index of a namespace are read."""
        return [
            Resource(
                uri=f"{INDEX_URI}{{+namespace}}",
                name="index",
                title="Index of a namespace",
                description="What memory_bootstrap returns for a namespace.",
                mime_type=CONTENT_TYPE_JSON,
            ),
            Resource(
                uri=f"{MEMORY_URI}{{id}}",
                name="memory",
                title="A memory",
                description="One memory in full, by its id.",
                mime_type=_PLAIN_TEXT,
            ),
        ]

    async def read(self, client: Client, uri: str) -> Sequence[JsonObject]:
        """Return a memory's text, or the index of a namespace."""
        self._need(client, Access.READ)
        if uri.startswith(INDEX_URI):
            return [await self._index(client, uri)]
        if not uri.startswith(MEMORY_URI):
            raise ResourceMissingError(uri)
        try:
            memory = await self._manager.get(client.caller(), uri.removeprefix(MEMORY_URI))
        except NotFoundError:
            raise ResourceMissingError(uri) from None
        return [{"uri": uri, "mimeType": _PLAIN_TEXT, "text": memory.content}]

    async def _index(self, client: Client, uri: str) -> JsonObject:
        namespace: JsonObject = {"namespace": uri.removeprefix(INDEX_URI)}
        try:
            reply = await self.run(client, "memory_bootstrap", namespace)
        except AiMemoryError:
            raise ResourceMissingError(uri) from None
        return {"uri": uri, "mimeType": CONTENT_TYPE_JSON, "text": _compact(reply)}

    def prompts(self, client: Client) -> Sequence[Prompt]:
        """Return the prompts, the same for everybody."""
        return PROMPTS

    async def prompt(
        self, client: Client, name: str, arguments: Mapping[str, str]
    ) -> Sequence[JsonObject]:
        """Return a prompt with its blanks filled in. Raises UnknownError, InvalidArgumentsError."""
        return filled_in(name, arguments)

    async def complete(self, client: Client, query: CompletionQuery) -> Completion:
        """Suggest namespaces that the client reaches, and the latest ids."""
        self._need(client, Access.READ)
        beginning = query.value.lower()
        if query.argument == "namespace":
            known = [wing.name for wing in await self._manager.places.wings(client.caller(), None)]
            names = [name for name in known if is_workshop(name)]
        elif query.argument == "id":
            latest = await self._manager.latest(client.caller(), Filters(), COMPLETIONS_MAXIMUM)
            names = [memory.id for memory in latest.memories]
        else:
            names = []
        return Completion(values=tuple(one for one in names if one.lower().startswith(beginning)))

    def tells_of(self, client: Client, uri: str) -> bool:
        """Return whether changes of a resource are told: of any memory, of indexes within reach.

        Whether there is such a memory is not said.
        """
        try:
            if uri.startswith(MEMORY_URI):
                check_id(uri.removeprefix(MEMORY_URI))
                return True
            wing = uri.removeprefix(INDEX_URI)
            # Told as it is stored: of another spelling nobody would hear.
            is_index = wing != uri and wing_name(client.caller(), wing) == wing
        except (NotFoundError, InvalidInputError):
            return False
        return is_index and client.reach.admits(wing)

    def subscribe(
        self, client: Client, listener: Callable[[OfferChange], None]
    ) -> Callable[[], None]:
        """Tell of memories that the client may see and that come, go or change, and of their wings.

        Which they are is told only to a client that names them. Raises AccessMissingError.
        """
        self._need(client, Access.READ)

        def tell(change: Change) -> None:
            told = ids_told(client.caller(), change)
            # What happened to what the client may not see is nothing to it.
            if change.memory_ids and not told:
                return
            if change.action is not Action.UPDATED:
                listener(OfferChange(ChangeKind.RESOURCES))
            for memory_id in told:
                listener(OfferChange(ChangeKind.RESOURCE, f"{MEMORY_URI}{memory_id}"))
            for wing in wings_told(client.caller(), change):
                listener(OfferChange(ChangeKind.RESOURCE, f"{INDEX_URI}{wing}"))

        return self._manager.subscribe(tell)

    @staticmethod
    def _need(client: Client, access: Access) -> None:
        if access not in client.access:
            raise AccessMissingError(access.value)


def _exists(publication: Publication, client: Client) -> bool:
    """Return whether there is such a tool for a client: those of the home are in the home."""
    return client.reach.home or publication not in HOME_TOOLS


def tool_of(publication: Publication) -> Tool:
    """Return a publication as a tool."""
    operation = publication.operation
    return Tool(
        name=publication.name,
        title=operation.title,
        description=operation.description,
        input_schema=input_schema(publication.parameters()),
        output_schema=REPLY_SCHEMAS.get(operation.name, ANY_REPLY),
        read_only=operation.read_only,
        destructive=operation.destructive,
        idempotent=operation.idempotent,
    )


def _json_block(value: Mapping[str, object]) -> JsonObject:
    return text_block(_compact(value))


def _compact(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
