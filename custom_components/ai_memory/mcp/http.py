"""The MCP endpoint, and the metadata by which hosted clients find Home Assistant's sign-in.

``POST`` carries the protocol. There is no stream to ``GET`` and no session to ``DELETE``, which a
client may only learn once it is let in: clients that try them first must see a 401, not a 405.
Registered once, whether or not an entry is loaded.
"""

from http import HTTPStatus

from aiohttp import hdrs, web
from homeassistant.components.http import KEY_HASS, HomeAssistantView

from ..const import NAME
from .gate import MCP_PATH, METADATA_PATH, let_in, own_address, where_to_sign_in
from .requests import RequestRefusedError
from .transport import refused


class McpView(HomeAssistantView):
    """Model Context Protocol over streamable HTTP."""

    url = MCP_PATH
    name = "api:ai_memory:mcp"
    # Asked for in ``let_in``, which knows more than one kind of token.
    requires_auth = False

    async def post(self, request: web.Request) -> web.StreamResponse:
        """Answer a message."""
        try:
            door, client = await let_in(request)
        except RequestRefusedError as err:
            return refused(err)
        response = await door.transport.post(request, client)
        challenge = None if response.prepared else response.headers.get(hdrs.WWW_AUTHENTICATE)
        if challenge is not None and (place := where_to_sign_in(request)):
            response.headers[hdrs.WWW_AUTHENTICATE] = f"{challenge}, {place}"
        return response

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Refuse: nothing is told outside an answer."""
        return await self._not_allowed(request)

    async def delete(self, request: web.Request) -> web.StreamResponse:
        """Refuse: there is no session to end."""
        return await self._not_allowed(request)

    @staticmethod
    async def _not_allowed(request: web.Request) -> web.StreamResponse:
        try:
            await let_in(request)
        except RequestRefusedError as err:
            return refused(err)
        allowed: dict[str, str] = {hdrs.ALLOW: hdrs.METH_POST}
        reason = "Only POST is answered here"
        return refused(RequestRefusedError(HTTPStatus.METHOD_NOT_ALLOWED, reason, allowed))


class ResourceMetadataView(HomeAssistantView):
    """What RFC 9728 has clients read: which authorization server's tokens are taken here."""

    url = METADATA_PATH
    name = "well-known/oauth-protected-resource/ai_memory"
    requires_auth = False
    cors_allowed = True

    async def get(self, request: web.Request) -> web.Response:
        """Return the metadata, or 404 where the address of this instance is not known."""
        address = own_address(request.app[KEY_HASS])
        if address is None:
            return self.json_message("No URL available", HTTPStatus.NOT_FOUND)
        return self.json(
            {
                "resource": f"{address}{MCP_PATH}",
                "authorization_servers": [address],
                "bearer_methods_supported": ["header"],
                "resource_name": NAME,
            }
        )
