"""Worlds on real files, with a clock that never shows the same moment twice."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from homeassistant.core import HomeAssistant
import pytest

from custom_components.ai_memory.core import (
    Database,
    MemoryManager,
    additions,
    manager as manager_module,
    recall,
    tunnels,
)
from custom_components.ai_memory.core.transfer import storing
from custom_components.ai_memory.embedding import EngineSettings, create_engine
from custom_components.ai_memory.mcp import limits

from .house import House, settle_in
from .world import Ulids

type Open = Callable[[str], Awaitable[MemoryManager]]


class TickingClock:
    """A clock that moves on each time it is read, so that everything has an order."""

    def __init__(self) -> None:
        """Start on a winter morning."""
        self._now = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the next moment."""
        self._now += timedelta(milliseconds=1)
        return self._now


@pytest.fixture(autouse=True)
def _nothing_depends_on_the_time_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write uses only where an operation does, and serve whoever asks fast."""
    monkeypatch.setattr(manager_module, "FLUSH_SECONDS", 3_600.0)
    monkeypatch.setattr(recall, "RECALL_SECONDS", 60.0)
    # Nobody asks so much so fast; here it must not be refused.
    monkeypatch.setattr(limits, "RATE_REQUESTS_PER_SECOND", 1e9)


@pytest.fixture
def ulids(monkeypatch: pytest.MonkeyPatch) -> Ulids:
    """Return what makes every id."""
    made = Ulids()
    for module in (additions, storing, tunnels):
        monkeypatch.setattr(module, "ulid_at_time", made)
    return made


@pytest.fixture
async def open_world(tmp_path: Path) -> AsyncGenerator[Open]:
    """Return a function that opens an empty memory; all are closed at the end."""
    opened: list[MemoryManager] = []

    # What debugging an event loop costs is most of what thousands of questions would cost.
    asyncio.get_running_loop().set_debug(enabled=False)

    async def open_one(name: str) -> MemoryManager:
        folder = tmp_path / name
        folder.mkdir()
        manager = MemoryManager(
            Database(folder / "memory.db"),
            create_engine("tfidf", EngineSettings(storage_path=folder)),
            max_entries=1_000,
            # However busy the machine is: who waits for no meaning gets words alone.
            query_timeout_seconds=30.0,
            clock=TickingClock(),
        )
        opened.append(manager)
        await manager.open()
        return manager

    yield open_one
    for manager in opened:
        await manager.close()


@pytest.fixture
async def house(hass: HomeAssistant, ulids: Ulids) -> House:
    """Return the home with all its doors."""
    asyncio.get_running_loop().set_debug(enabled=False)
    return await settle_in(hass, ulids)
