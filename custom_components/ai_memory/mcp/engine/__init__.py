"""The protocol engine of MCP: pure, without Home Assistant, HTTP or a memory.

It takes bytes and headers apart, decides revision and method, asks an ``Offer`` and puts answers
together. The HTTP view in the package above is one transport for it, tests are another.
"""

from .channel import Channel
from .jsonrpc import (
    ErrorCode,
    Message,
    Notification,
    Request,
    RequestId,
    RpcError,
    read_message,
)
from .offer import (
    Ability,
    About,
    AccessMissingError,
    CapabilityMissingError,
    ChangeKind,
    Completion,
    CompletionQuery,
    Identified,
    InvalidArgumentsError,
    Offer,
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
from .revisions import OPENING, SUPPORTED, Revision
from .server import SESSION_HEADER, Answer, Server, error_answer
from .strict_json import JsonObject, JsonValue, MalformedJsonError, read_json

__all__ = [
    "OPENING",
    "SESSION_HEADER",
    "SUPPORTED",
    "Ability",
    "About",
    "AccessMissingError",
    "Answer",
    "CapabilityMissingError",
    "ChangeKind",
    "Channel",
    "Completion",
    "CompletionQuery",
    "ErrorCode",
    "Identified",
    "InvalidArgumentsError",
    "JsonObject",
    "JsonValue",
    "MalformedJsonError",
    "Message",
    "Notification",
    "Offer",
    "OfferChange",
    "Prompt",
    "PromptArgument",
    "Reporter",
    "Request",
    "RequestId",
    "Resource",
    "ResourceMissingError",
    "ResourcePage",
    "Revision",
    "RpcError",
    "Server",
    "Tool",
    "ToolResult",
    "UnknownError",
    "error_answer",
    "read_json",
    "read_message",
    "text_block",
]
