"""Fixtures that every test may use: a config folder of its own, and the memory set up in it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
import threading
import time

from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Caller, Database, MemoryManager
from custom_components.ai_memory.embedding import EngineSettings, create_engine

type Opener = Callable[..., Awaitable[MemoryManager]]


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Give each test a config folder of its own, so that databases never meet."""
    folder = tmp_path / "config"
    (folder / ".storage").mkdir(parents=True)
    return str(folder)


@pytest.fixture(autouse=True)
def _threads_of_closed_databases_end() -> Generator[None]:
    """Give the thread of a closed connection the moment it takes to end, before it is missed."""
    yield
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline and any(
        "_connection_worker_thread" in thread.name for thread in threading.enumerate()
    ):
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def _home_assistant_of_this_test(
    request: pytest.FixtureRequest, _threads_of_closed_databases_end: None
) -> None:
    """Let the tests that use ``hass`` load the integration from this repository."""
    if "hass" in request.fixturenames:
        request.getfixturevalue("enable_custom_integrations")
        # Older test plugins do not ask for the folder.
        folder = request.getfixturevalue("hass_config_dir")
        request.getfixturevalue("hass").config.config_dir = folder


@pytest.fixture
def entry() -> MockConfigEntry:
    """Return a config entry as the flow creates it."""
    return MockConfigEntry(
        domain=DOMAIN,
        title="AI Memory",
        version=4,
        data={"max_entries": 1000, "embedding_engine": "tfidf"},
    )


@pytest.fixture
async def loaded(hass: HomeAssistant, entry: MockConfigEntry) -> MockConfigEntry:
    """Set the integration up and return its entry."""
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


class SteppingClock:
    """A clock that tests own: it stands still until it is moved."""

    def __init__(self) -> None:
        """Start on a winter morning."""
        self.now = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def advance(self, **by: float) -> None:
        """Move on by days, hours, minutes or seconds."""
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> SteppingClock:
    """Return a clock that the test moves."""
    return SteppingClock()


@pytest.fixture
async def open_memory(tmp_path: Path, clock: SteppingClock) -> AsyncGenerator[Opener]:
    """Return a function that opens a memory on a real file; all are closed at the end."""
    opened: list[MemoryManager] = []

    async def opener(
        *, max_entries: int = 1000, name: str = "memory.db", retention_deleted_days: int = 30
    ) -> MemoryManager:
        manager = MemoryManager(
            Database(tmp_path / name),
            create_engine("tfidf", EngineSettings(storage_path=tmp_path)),
            max_entries=max_entries,
            retention_deleted_days=retention_deleted_days,
            clock=clock,
            local_now=clock,
        )
        opened.append(manager)
        await manager.open()
        return manager

    yield opener
    for manager in opened:
        await manager.close()


@pytest.fixture
async def memory(open_memory: Opener) -> MemoryManager:
    """Return an open, empty memory."""
    return await open_memory()


@pytest.fixture
def anna() -> Caller:
    """Return a known person who talks to the home's agent."""
    return Caller(source="assist", agent="conversation.home", provider="ollama", user="anna")
