"""The services of automations and scripts: a door to the catalogue.

Each service is a publication of one operation with a reply of ``operations.replies``. What a
service stores is common, unless an import says otherwise. ``agent_id`` makes a call on behalf of
that agent, so that its private memories are seen too; what a person asks about itself reaches every
agent where none is named. Texts given to a service pass through Home Assistant's event bus and
traces.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, Final

from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import ServiceValidationError

from . import service_files
from .const import DOMAIN
from .core import (
    HOME_ACCESS,
    Access,
    AccessDeniedError,
    AiMemoryError,
    Caller,
    InvalidInputError,
    Reach,
    Scope,
    clean_text,
)
from .failures import home_assistant_error
from .ha_compat import vol
from .operations import Narrowing, Publication
from .palace_services import PALACE_SERVICES, rearranges, rearranging
from .previous_replies import with_previous_names
from .runtime import loaded_entry
from .voice_persons import user_of_person

ATTR_AGENT_ID: Final = "agent_id"
ATTR_PERSON: Final = "person"
AGENT_ID_LIMIT: Final = 255
PERSON_SHOWN: Final = 255
"""So many characters of a person that there is not are told back."""

_OF_THE_HOME: Final = frozenset({"maintain", "sweep_anchors"})
"""Operations that do the same whoever asks."""

_OF_A_PERSON: Final = frozenset({"about_me", "forget_me"})
_TEXT: Final = {"content": "text"}
SERVICES: Final = (
    Publication(
        name="add_memory",
        operation_name="add",
        offered=(
            "content",
            "summary",
            "wing",
            "room",
            "layer",
            "pin",
            "expires",
            "supersedes",
            "confidence",
            "anchors",
        ),
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
        offered=("query", "limit", "min_score", "wing", "room", "layer", "history"),
        # Scripts of the integration before ask for any number.
        narrowed={"limit": Narrowing(clamped=True)},
    ),
    Publication(
        name="update_memory",
        operation_name="update",
        offered=(
            "memory_id",
            "content",
            "summary",
            "wing",
            "room",
            "layer",
            "pin",
            "expires",
            "confidence",
            "anchors",
            "revision",
        ),
        renamed=_TEXT,
    ),
    Publication(
        name="delete_memory",
        operation_name="delete",
        offered=("memory_id", "wing", "room", "scope"),
    ),
    Publication(
        name="forget_memory",
        operation_name="forget",
        offered=("memory_id", "revision", "hard"),
    ),
    Publication(
        name="restore_memory",
        operation_name="restore",
        offered=("memory_id",),
    ),
    Publication(
        name="corroborate_memory",
        operation_name="corroborate",
        offered=("memory_id", "quote", "stance"),
    ),
    Publication(
        name="memory_history",
        operation_name="history",
        offered=("memory_id", "limit"),
    ),
    Publication(
        name="timeline",
        operation_name="timeline",
        offered=("wing", "room", "scope", "memory_id", "status", "limit"),
    ),
    Publication(
        name="export_memories",
        operation_name="export",
        offered=("format", "wing", "room", "scope", "all_owners", "cursor"),
    ),
    Publication(
        name="import_memories",
        operation_name="import",
        offered=("text", "format", "wing", "room", "scope", "dry_run"),
        narrowed={
            "text": Narrowing(elsewhere=True),
            "scope": Narrowing(default=Scope.COMMON.value),
        },
    ),
    Publication(name="maintain", operation_name="maintain", offered=("dry_run",)),
    Publication(
        name="list_anchors",
        operation_name="anchors",
        offered=("wing", "kind", "state", "memory_id", "limit"),
    ),
    Publication(name="sweep_anchors", operation_name="sweep_anchors", offered=()),
    *PALACE_SERVICES,
    Publication(name="about_me", operation_name="about_me", offered=("limit",)),
    Publication(
        name="forget_me",
        operation_name="forget_me",
        offered=("confirm", "user"),
        renamed={"user": ATTR_PERSON},
    ),
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
    if takes_path(publication):
        fields[vol.Optional(service_files.ATTR_PATH)] = str
    return vol.Schema(fields)


def takes_agent(publication: Publication) -> bool:
    """Return whether a service can be called on behalf of an agent."""
    return "scope" not in publication.fixed and publication.operation_name not in _OF_THE_HOME


def takes_path(publication: Publication) -> bool:
    """Return whether a service can use a file instead of a text."""
    return publication.operation_name in {"export", "import"}


async def _caller(call: ServiceCall, publication: Publication) -> Caller:
    """Return on whose behalf a service was called; an automation has no user."""
    agent = clean_text(call.data.get(ATTR_AGENT_ID, ""), ATTR_AGENT_ID, AGENT_ID_LIMIT)
    caller = Caller(source="service", agent=agent or None, user=call.context.user_id)
    if publication.operation_name in _OF_A_PERSON:
        return await _asking_about_itself(call, caller)
    if rearranges(publication):
        return await rearranging(call, caller)
    if takes_path(publication):
        return await _transferring(call, caller)
    return caller


async def _asking_about_itself(call: ServiceCall, caller: Caller) -> Caller:
    if caller.agent is None:
        # A person's own account asks for all that is its own, wherever that is kept.
        caller = replace(caller, reach=Reach(workshop=True))
    if await _is_administrator(call):
        caller = replace(caller, access=HOME_ACCESS | {Access.ADMIN})
    return caller


async def _transferring(call: ServiceCall, caller: Caller) -> Caller:
    if caller.user is None:
        return replace(caller, access=HOME_ACCESS | {Access.EXPORT}, automation=True)
    if not await _is_administrator(call):
        return caller
    whole = HOME_ACCESS | {Access.EXPORT, Access.ADMIN}
    return replace(caller, access=whole, reach=Reach(workshop=True))


async def _is_administrator(call: ServiceCall) -> bool:
    user_id = call.context.user_id
    user = await call.hass.auth.async_get_user(user_id) if user_id else None
    return user is not None and user.is_admin


def _handler(
    publication: Publication,
) -> Callable[[ServiceCall], Coroutine[Any, Any, ServiceResponse]]:
    async def handle(call: ServiceCall) -> ServiceResponse:
        entry = loaded_entry(call.hass)
        if entry is None:
            raise ServiceValidationError(translation_domain=DOMAIN, translation_key="not_loaded")
        try:
            caller = await _caller(call, publication)
            manager = entry.runtime_data.manager
            if takes_path(publication):
                return await service_files.run(call.hass, publication, manager, caller, call.data)
            reply = await publication.run(manager, caller, _arguments(call))
            return with_previous_names(publication.name, reply)
        except AiMemoryError as err:
            raise home_assistant_error(_told_at_home(err)) from err

    return handle


def _told_at_home(error: AiMemoryError) -> AiMemoryError:
    """Return a refusal in the words of the home, where an access is who somebody is."""
    access = error.placeholders.get("access")
    if isinstance(error, AccessDeniedError) and access in {Access.ADMIN, Access.EXPORT}:
        return AccessDeniedError("administrators_only")
    return error


def _arguments(call: ServiceCall) -> Mapping[str, object]:
    """Return what the service was given, a person by its user. Raises InvalidInputError."""
    person = call.data.get(ATTR_PERSON)
    if not person:
        return call.data
    user = user_of_person(call.hass, person) if isinstance(person, str) else None
    if user is None:
        raise InvalidInputError("person_without_account", person=str(person)[:PERSON_SHOWN])
    return {**call.data, ATTR_PERSON: user}
