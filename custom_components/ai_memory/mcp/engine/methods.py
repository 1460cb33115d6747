"""The methods of MCP: each takes an exchange and returns the body of a result.

The table at the end says which methods exist in which era and which ability of the offer each
needs. Called by the dispatcher, which adds the envelope; nothing here knows of HTTP.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from .channel import Channel, LogLevels, SessionKey, reporter_of
from .cursors import PAGE_SIZE, page_of, read_cursor, write_cursor
from .headers import check_arguments
from .jsonrpc import ErrorCode, Request, RpcError
from .listening import listen
from .offer import (
    Ability,
    About,
    ChangeKind,
    CompletionQuery,
    InvalidArgumentsError,
    Offer,
    ResourceMissingError,
    UnknownError,
)
from .revisions import SUPPORTED, Terms
from .strict_json import JsonObject, JsonValue

COMPLETIONS_MAXIMUM_VALUES: Final = 100
LIST_FRESH_MILLISECONDS: Final = 60_000
"""How long a client may keep what only an update of the integration or of its access changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request with everything that an answer depends on."""

    offer: Offer[Any]
    client: Any
    session: SessionKey
    request: Request
    terms: Terms
    headers: Mapping[str, str]
    channel: Channel
    log_levels: LogLevels
    closing: asyncio.Event
    """Set when what the request asks for will no longer be there."""

    @property
    def params(self) -> JsonObject:
        """The parameters of the request."""
        return self.request.params

    def text(self, name: str) -> str:
        """Return a parameter that has to be there and be text. Raises RpcError."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise RpcError(ErrorCode.INVALID_PARAMS, f"{name} must be text")
        return value

    def members(self, name: str) -> JsonObject:
        """Return a parameter that is an object, or an empty one. Raises RpcError."""
        value = self.params.get(name, {})
        if not isinstance(value, dict):
            raise RpcError(ErrorCode.INVALID_PARAMS, f"{name} must be an object")
        return value

    def texts(self, name: str) -> dict[str, str]:
        """Return a parameter that is an object of texts, or an empty one. Raises RpcError."""
        return _texts(self.members(name), name)


type Handler = Callable[[Exchange], Awaitable[JsonObject]]


async def initialize(exchange: Exchange) -> JsonObject:
    """Open the era of the handshake."""
    about = exchange.offer.about
    return {
        "protocolVersion": exchange.terms.revision.value,
        "capabilities": _capabilities(about, exchange.terms),
        "serverInfo": server_info(about),
        "instructions": exchange.offer.instructions(exchange.client),
    }


async def discover(exchange: Exchange) -> JsonObject:
    """Say who is serving, in the era without a handshake."""
    about = exchange.offer.about
    supported: list[JsonValue] = [*SUPPORTED]
    return {
        "supportedVersions": supported,
        "capabilities": _capabilities(about, exchange.terms),
        "instructions": exchange.offer.instructions(exchange.client),
    }


async def ping(exchange: Exchange) -> JsonObject:
    """Answer that the server is there."""
    return {}


async def set_log_level(exchange: Exchange) -> JsonObject:
    """Remember which log lines a session wants."""
    exchange.log_levels.set(exchange.session, exchange.params.get("level"))
    return {}


async def list_tools(exchange: Exchange) -> JsonObject:
    """List what the client can have done."""
    tools = exchange.offer.tools(exchange.client)
    page, following = page_of("tools", tools, exchange.params.get("cursor"))
    return _page("tools", [tool.as_wire() for tool in page], following)


async def call_tool(exchange: Exchange) -> JsonObject:
    """Have something done."""
    name, arguments = exchange.text("name"), exchange.members("arguments")
    offer, terms = exchange.offer, exchange.terms
    if terms.stateless:
        tool = next((tool for tool in offer.tools(exchange.client) if tool.name == name), None)
        check_arguments(tool.input_schema if tool else {}, arguments, exchange.headers)
    level = exchange.log_levels.of(exchange.session, terms)
    reporter = reporter_of(exchange.request, terms, exchange.channel, level)
    return (await offer.call(exchange.client, name, arguments, reporter)).as_wire()


async def list_resources(exchange: Exchange) -> JsonObject:
    """List what can be read."""
    after = read_cursor("resources", exchange.params.get("cursor"))
    page = await exchange.offer.resources(exchange.client, after, PAGE_SIZE)
    following = None if page.following is None else write_cursor("resources", page.following)
    return _page("resources", [resource.as_wire() for resource in page.resources], following)


async def list_templates(exchange: Exchange) -> JsonObject:
    """List the patterns of URIs that can be read."""
    templates = exchange.offer.resource_templates(exchange.client)
    page, following = page_of("templates", templates, exchange.params.get("cursor"))
    shown: list[JsonValue] = [template.as_wire(template=True) for template in page]
    return _page("resourceTemplates", shown, following)


async def read_resource(exchange: Exchange) -> JsonObject:
    """Read something by its URI."""
    uri = exchange.text("uri")
    try:
        return {"contents": [*await exchange.offer.read(exchange.client, uri)]}
    except ResourceMissingError:
        stateless = exchange.terms.stateless
        code = ErrorCode.INVALID_PARAMS if stateless else ErrorCode.RESOURCE_NOT_FOUND
        raise RpcError(code, "Resource not found", {"uri": uri}) from None


async def list_prompts(exchange: Exchange) -> JsonObject:
    """List the texts that a person can pick."""
    prompts = exchange.offer.prompts(exchange.client)
    page, following = page_of("prompts", prompts, exchange.params.get("cursor"))
    return _page("prompts", [prompt.as_wire() for prompt in page], following)


async def get_prompt(exchange: Exchange) -> JsonObject:
    """Fill a text in."""
    name, client = exchange.text("name"), exchange.client
    prompt = next((one for one in exchange.offer.prompts(client) if one.name == name), None)
    if prompt is None:
        raise UnknownError(f"There is no prompt {name!r}")
    filled = exchange.texts("arguments")
    for blank in prompt.arguments:
        if blank.required and blank.name not in filled:
            raise InvalidArgumentsError(f"The prompt {name} needs {blank.name}")
    messages = await exchange.offer.prompt(client, name, filled)
    return {"description": prompt.description, "messages": [*messages]}


async def complete(exchange: Exchange) -> JsonObject:
    """Suggest what a blank could be filled with."""
    reference, argument = exchange.members("ref"), _texts(exchange.members("argument"), "argument")
    kinds = {"ref/prompt": "name", "ref/resource": "uri"}
    key = kinds.get(str(reference.get("type")))
    name = reference.get(key) if key else None
    if not isinstance(name, str) or not {"name", "value"} <= argument.keys():
        problem = "A completion names a prompt or a resource template, an argument and its value"
        raise RpcError(ErrorCode.INVALID_PARAMS, problem)
    query = CompletionQuery(
        prompt=name if key == "name" else None,
        template=name if key == "uri" else None,
        argument=argument["name"],
        value=argument["value"],
        filled=_texts(exchange.members("context").get("arguments") or {}, "context"),
    )
    completion = await exchange.offer.complete(exchange.client, query)
    shown = completion.values[:COMPLETIONS_MAXIMUM_VALUES]
    total = len(completion.values) if completion.total is None else completion.total
    return {
        "completion": {"values": [*shown], "total": total, "hasMore": total > len(shown)},
    }


async def subscribe(exchange: Exchange) -> JsonObject:
    """Tell a client of changes until it leaves."""
    if not exchange.channel.open_to_stream:
        raise RpcError(ErrorCode.INVALID_REQUEST, "Listening needs an event stream", status=406)
    return await listen(
        exchange.offer, exchange.client, exchange.request, exchange.channel.send, exchange.closing
    )


def server_info(about: About) -> JsonObject:
    """Return who is serving."""
    return {"name": about.name, "title": about.title, "version": about.version}


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method: who answers it, what the offer must support, in which eras it exists."""

    handler: Handler
    ability: Ability | None = None
    with_handshake: bool = True
    stateless: bool = True
    endless: bool = False
    fresh_milliseconds: int | None = None
    """How long a client may keep the result; None for what no client may keep."""

    def exists(self, about: About, terms: Terms) -> bool:
        """Return whether the method can be called."""
        in_era = self.stateless if terms.stateless else self.with_handshake
        return in_era and (self.ability is None or self.ability in about.abilities)


METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "initialize": Method(handler=initialize, stateless=False),
        "ping": Method(handler=ping, stateless=False),
        "logging/setLevel": Method(handler=set_log_level, ability=Ability.LOGGING, stateless=False),
        "server/discover": Method(
            handler=discover, with_handshake=False, fresh_milliseconds=LIST_FRESH_MILLISECONDS
        ),
        "subscriptions/listen": Method(handler=subscribe, with_handshake=False, endless=True),
        "tools/list": Method(
            handler=list_tools,
            ability=Ability.TOOLS,
            fresh_milliseconds=LIST_FRESH_MILLISECONDS,
        ),
        "tools/call": Method(handler=call_tool, ability=Ability.TOOLS),
        "resources/list": Method(
            handler=list_resources, ability=Ability.RESOURCES, fresh_milliseconds=0
        ),
        "resources/templates/list": Method(
            handler=list_templates,
            ability=Ability.RESOURCES,
            fresh_milliseconds=LIST_FRESH_MILLISECONDS,
        ),
        "resources/read": Method(
            handler=read_resource, ability=Ability.RESOURCES, fresh_milliseconds=0
        ),
        "prompts/list": Method(
            handler=list_prompts,
            ability=Ability.PROMPTS,
            fresh_milliseconds=LIST_FRESH_MILLISECONDS,
        ),
        "prompts/get": Method(handler=get_prompt, ability=Ability.PROMPTS),
        "completion/complete": Method(handler=complete, ability=Ability.COMPLETIONS),
    }
)


def _capabilities(about: About, terms: Terms) -> JsonObject:
    """Return what the server can do; changes are told where a client can listen for them."""
    capabilities: JsonObject = {
        ability.value: {} for ability in Ability if ability in about.abilities
    }
    if not terms.stateless:
        return capabilities
    told = {
        Ability.TOOLS: {ChangeKind.TOOLS: "listChanged"},
        Ability.PROMPTS: {ChangeKind.PROMPTS: "listChanged"},
        Ability.RESOURCES: {
            ChangeKind.RESOURCES: "listChanged",
            ChangeKind.RESOURCE: "subscribe",
        },
    }
    for ability, flags in told.items():
        if ability in about.abilities:
            capabilities[ability.value] = {
                flag: True for kind, flag in flags.items() if kind in about.changes
            }
    return capabilities


def _page(name: str, shown: list[JsonValue], following: str | None) -> JsonObject:
    page: JsonObject = {name: shown}
    if following is not None:
        page["nextCursor"] = following
    return page


def _texts(value: JsonValue, name: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise RpcError(ErrorCode.INVALID_PARAMS, f"{name} must be an object")
    texts = {key: text for key, text in value.items() if isinstance(text, str)}
    if len(texts) != len(value):
        raise RpcError(ErrorCode.INVALID_PARAMS, f"{name} holds only texts")
    return texts
