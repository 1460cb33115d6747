"""The to-do list of the home: what common memories say is to be done, or was.

An item is a memory of type ``open_work`` or, once it is completed, ``done_work``; its uid is the
memory's id. Items are readable by every user, so the list is disabled until somebody wants it, and
only common memories of the home are on it. Told of every change; never asks by itself.
"""

from collections.abc import Coroutine
import logging
from typing import Any, Final

from homeassistant.components.todo import (
    TodoItem,
    TodoItemStatus,
    TodoListEntity,
    TodoListEntityFeature,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.debounce import Debouncer
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .core import (
    DONE_WORK,
    OPEN_WORK,
    AiMemoryError,
    Caller,
    Change,
    Filters,
    Memory,
    MemoryChanges,
    NewMemory,
    Scope,
    StorageError,
    work_place,
)
from .entity import AiMemoryEntity
from .failures import home_assistant_error
from .runtime import AiMemoryConfigEntry

PARALLEL_UPDATES: Final = 0
UNIQUE_ID: Final = "ai_memory_work"
ITEMS_MAXIMUM: Final = 500
READ_AGAIN_SECONDS: Final = 1.0
"""Between two readings while many memories change."""

_STATUSES: Final = {
    OPEN_WORK: TodoItemStatus.NEEDS_ACTION,
    DONE_WORK: TodoItemStatus.COMPLETED,
}
_TYPES: Final = {status: type_ for type_, status in _STATUSES.items()}

_LOGGER: Final = logging.getLogger(__name__)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AiMemoryConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the list."""
    async_add_entities([WorkList(entry)])


class WorkList(AiMemoryEntity, TodoListEntity):
    """Work as a list of items that can be added, completed, renamed and deleted."""

    _attr_translation_key = "work"
    _attr_unique_id = UNIQUE_ID
    _attr_entity_registry_enabled_default = False
    _attr_supported_features = (
        TodoListEntityFeature.CREATE_TODO_ITEM
        | TodoListEntityFeature.UPDATE_TODO_ITEM
        | TodoListEntityFeature.DELETE_TODO_ITEM
    )

    async def async_added_to_hass(self) -> None:
        """Read the items, then follow the memory."""
        again = Debouncer(
            self.hass,
            _LOGGER,
            cooldown=READ_AGAIN_SECONDS,
            immediate=True,
            function=self._read_again,
        )

        @callback
        def changed(change: Change) -> None:
            if _may_show(change):
                again.async_schedule_call()

        await self._read()
        self.async_on_remove(again.async_shutdown)
        self.async_on_remove(self._manager.subscribe(changed))

    async def async_create_todo_item(self, item: TodoItem) -> None:
        """Remember work that is to be done; what was done before is to be done again."""
        await self._written(self._create(item.summary or ""))

    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Change the text of an item, or whether it is done."""
        changes = MemoryChanges(
            content=item.summary, type=_TYPES[item.status] if item.status else None
        )
        await self._written(self._manager.update(self._caller, item.uid or "", changes))

    async def async_delete_todo_items(self, uids: list[str]) -> None:
        """Delete items for good."""
        for uid in uids:
            await self._written(self._manager.delete(self._caller, uid, Filters()))

    @property
    def _caller(self) -> Caller:
        return Caller(source="todo", user=self._context.user_id if self._context else None)

    async def _create(self, text: str) -> None:
        wing, room = work_place(text)
        new = NewMemory(content=text, type=OPEN_WORK, scope=Scope.COMMON, wing=wing, room=room)
        told = (await self._manager.add(self._caller, new)).memory
        if told.type != OPEN_WORK:
            await self._manager.update(self._caller, told.id, MemoryChanges(type=OPEN_WORK))

    async def _written(self, write: Coroutine[Any, Any, object]) -> None:
        """Write, then show it. Raises HomeAssistantError."""
        try:
            await write
            await self._read()
        except AiMemoryError as err:
            raise home_assistant_error(err) from err
        self.async_write_ha_state()

    async def _read(self) -> None:
        memories = await self._manager.work(Caller(source="todo"), ITEMS_MAXIMUM)
        self._attr_todo_items = [_item(memory) for memory in memories]

    async def _read_again(self) -> None:
        try:
            await self._read()
        except StorageError as err:
            _LOGGER.warning("The list of work could not be read: %s", err)
            return
        self.async_write_ha_state()


def _may_show(change: Change) -> bool:
    """Return whether a change can show on the list: what was common may have become private."""
    versions = (one for both in change.versions for one in both if one is not None)
    return not change.versions or any(one.scope is Scope.COMMON for one in versions)


def _item(memory: Memory) -> TodoItem:
    return TodoItem(summary=memory.content, uid=memory.id, status=_STATUSES[memory.type])
