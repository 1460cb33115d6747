"""The services of automations and scripts: a door to the catalogue.

Each service is a publication of one operation with a reply of ``operations.replies``. What a
service stores is common. ``agent_id`` makes a call on behalf of that agent, so that its private
memories are seen too. Texts given to a service pass through Home Assistant's event bus and traces.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import ServiceValidationError

from .const import DOMAIN
from .core import AiMemoryError, Caller, Scope, clean_text
from .failures import home_assistant_error
from .ha_compat import vol
from .operations import Publication
from .runtime import loaded_entry

ATTR_AGENT_ID: Final = "agent_id"
AGENT_ID_LIMIT: Final = 255

_TEXT: Final = {"content": "text"}
SERVICES: Final = (
    Publication(
        name="add_memory",
        operation_name="add",
        offered=("content", "summary", "wing", "room", "layer", "pin"),
        renamed=_TEXT,
        fixed={"scope": Scope.COMMON.value},
    ),
    Publication(name="get_memory", operation_name="get", offered=("memory_id",)),
    Publication(
        name="list_memories",
        operation_name="list",
        offered=("limit", "wing", "room", "scope"),
    ),
    Publication(
        name="search_memory",
        operation_name="search",
        offered=("query", "limit", "min_score", "wing", "room", "layer"),
    ),
    Publication(
        name="update_memory",
        operation_name="update",
        offered=("memory_id", "content", "summary", "wing", "room", "layer", "pin"),
        renamed=_TEXT,
    ),
    Publication(
        name="delete_memory",
        operation_name="delete",
        offered=("memory_id", "wing", "room", "scope"),
    ),
    Publication(name="maintain", operation_name="maintain", offered=("dry_run",)),
)


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register every service."""
    for publication in SERVICES:
        hass.services.async_register(
            DOMAIN,
            publication.name,
            _handler(publication),
            schema=service_schema(publication),
            supports_response=SupportsResponse.OPTIONAL,
        )


def service_schema(publication: Publication) -> vol.Schema:
    """Return which fields a service takes; their values are checked by the operation.

    Checking there keeps the refusals translated and the same on every door.
    """
    fields: dict[vol.Marker, object] = {
        (vol.Required if parameter.required else vol.Optional)(parameter.name): object
        for parameter in publication.parameters()
    }
    if takes_agent(publication):
        fields[vol.Optional(ATTR_AGENT_ID)] = str
    return vol.Schema(fields)


def takes_agent(publication: Publication) -> bool:
    """Return whether a service can be called on behalf of an agent."""
    return "scope" not in publication.fixed and publication.operation_name != "maintain"


def _handler(
    publication: Publication,
) -> Callable[[ServiceCall], Coroutine[Any, Any, ServiceResponse]]:
    async def handle(call: ServiceCall) -> ServiceResponse:
        entry = loaded_entry(call.hass)
        if entry is None:
            raise ServiceValidationError(translation_domain=DOMAIN, translation_key="not_loaded")
        try:
            agent = clean_text(call.data.get(ATTR_AGENT_ID, ""), ATTR_AGENT_ID, AGENT_ID_LIMIT)
            caller = Caller(source="service", agent=agent or None, user=call.context.user_id)
            return await publication.run(entry.runtime_data.manager, caller, call.data)
        except AiMemoryError as err:
            raise home_assistant_error(err) from err

    return handle
