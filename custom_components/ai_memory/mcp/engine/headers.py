"""The headers that repeat parts of a stateless request, so that proxies can route without a body.

A header that says other than the body is refused: who routed by it and who answers would act on
different requests. Used for every stateless request and, for arguments that a tool mirrors, by
``tools/call``. Never reads a header that the protocol does not name.
"""

from base64 import b64decode, b64encode
import binascii
from collections.abc import Mapping
import re
from typing import Final

from .jsonrpc import ErrorCode, Message, RpcError
from .strict_json import JsonObject, JsonValue

METHOD_HEADER: Final = "mcp-method"
NAME_HEADER: Final = "mcp-name"
ARGUMENT_HEADER_PREFIX: Final = "mcp-param-"
MIRROR_KEYWORD: Final = "x-mcp-header"
"""The keyword by which a property of an input schema asks to be repeated in a header."""

_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=")
_WHOLE_NUMBER: Final = re.compile(r"(-?\d{1,19})(?:\.0{1,19})?")


def check_mirrored(message: Message, headers: Mapping[str, str]) -> None:
    """Check the method and the name that headers repeat. Raises RpcError."""
    if headers.get(METHOD_HEADER) != message.method:
        raise _mismatch(METHOD_HEADER)
    key = _NAMED_BY.get(message.method)
    name = message.params.get(key) if key else None
    if isinstance(name, str) and decoded(headers.get(NAME_HEADER)) != name:
        raise _mismatch(NAME_HEADER)


def check_arguments(
    schema: Mapping[str, JsonValue], arguments: JsonObject, headers: Mapping[str, str]
) -> None:
    """Check the arguments that a tool wants repeated in headers. Raises RpcError."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    for name, described in properties.items():
        mirror = described.get(MIRROR_KEYWORD) if isinstance(described, dict) else None
        if isinstance(mirror, str):
            header = ARGUMENT_HEADER_PREFIX + mirror.lower()
            if not _agrees(decoded(headers.get(header)), arguments.get(name), header in headers):
                raise _mismatch(header)


def decoded(value: str | None) -> str | None:
    """Return the text of a header, decoded where it says so; None where it is missing or broken."""
    encoded = _ENCODED.fullmatch(value) if value is not None else None
    if encoded is None:
        return value
    try:
        raw = b64decode(encoded[1], validate=True)
        # Only the canonical form: two spellings of one value would be two routes.
        return raw.decode() if b64encode(raw).decode() == encoded[1] else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _agrees(header: str | None, argument: JsonValue, sent: bool) -> bool:  # noqa: FBT001
    if argument is None:
        return not sent
    if header is None:
        return False
    if isinstance(argument, bool):
        return header == ("true" if argument else "false")
    if isinstance(argument, int) and (number := _WHOLE_NUMBER.fullmatch(header)):
        return int(number[1]) == argument
    return header == str(argument)


def _mismatch(header: str) -> RpcError:
    problem = f"The header {header} differs from the body or is missing"
    return RpcError(ErrorCode.HEADER_MISMATCH, problem, status=400)
