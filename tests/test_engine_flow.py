"""The engines in the flows and how the home hears of them, with real servers on this machine."""

import asyncio
from collections.abc import AsyncGenerator
from http import HTTPStatus
import json
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from aiohttp import web
from homeassistant.config_entries import SOURCE_RECONFIGURE, SOURCE_USER, ConfigEntryState
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, callback
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
)
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
)

from custom_components.ai_memory import engine_flow
from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Caller, Filters, NewMemory
from custom_components.ai_memory.engine_flow import UNCHANGED_KEY
from custom_components.ai_memory.engine_setup import without_userinfo
from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM

from .embedding.servers import (
    KEY,
    ScriptedServer,
    close_at_once,
    hang,
    json_answer,
    running_server,
    text_answer,
)

pytestmark = pytest.mark.usefixtures("socket_enabled")

NOBODY: Final = "http://127.0.0.1:9"
ANNA: Final = Caller(source="assist", agent="conversation.home", user="anna")
STRINGS: Final = json.loads(
    (Path(engine_flow.__file__).parent / "strings.json").read_text(encoding="utf-8")
)

type Result = Any


@pytest.fixture
async def server() -> AsyncGenerator[ScriptedServer]:
    """Run a server that knows nothing yet."""
    async with running_server() as running:
        yield running


@pytest.fixture
def ollama(server: ScriptedServer) -> ScriptedServer:
    """Make it an Ollama server with one model."""
    server.answer("/api/version", {"version": "0.12.0"})
    _has(server, "all-minilm:latest")
    server.answers["/api/embed"] = _ollama_vectors
    return server


@pytest.fixture
def openai(server: ScriptedServer) -> ScriptedServer:
    """Make it an OpenAI-compatible server that wants a key."""
    server.answers["/v1/models"] = _only_with_key({"data": [{"id": "e5"}, {"id": "qwen3"}]})
    server.answers["/v1/embeddings"] = _only_with_key(
        {"data": [{"index": 0, "embedding": [0.6, 0.8]}]}
    )
    return server


def _has(server: ScriptedServer, *models: str) -> None:
    listed = [{"name": name, "digest": f"sha256:{name.encode().hex()}"} for name in models]
    server.answer("/api/tags", {"models": listed})


async def _ollama_vectors(request: web.Request) -> web.StreamResponse:
    body = await request.json()
    return web.json_response({"embeddings": [[0.6, 0.8] for _ in body["input"]]})


def _only_with_key(content: object) -> Any:
    async def handle(request: web.Request) -> web.StreamResponse:
        allowed = request.headers.get("Authorization") == f"Bearer {KEY}"
        answer = json_answer(content) if allowed else text_answer("no", 401)
        return await answer(request)

    return handle


def _pulling(server: ScriptedServer, model: str, go_on: asyncio.Event) -> None:
    """Let a pull stop in the middle until it is told to go on."""

    async def pull(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        half = {"status": "pulling", "digest": "sha256:1", "total": 200, "completed": 100}
        await response.write(json.dumps(half).encode() + b"\n")
        await go_on.wait()
        _has(server, model)
        await response.write(b'{"status": "success"}\n')
        return response

    server.answers["/api/pull"] = pull


def _entry(hass: HomeAssistant, options: dict[str, Any] | None = None, **data: Any) -> Any:
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="AI Memory",
        version=4,
        data={"max_entries": 1000, "embedding_engine": "tfidf"} | data,
        options=options or {},
    )
    entry.add_to_hass(hass)
    return entry


async def _loaded(hass: HomeAssistant, options: dict[str, Any] | None = None, **data: Any) -> Any:
    entry = _entry(hass, options, **data)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


async def _until(hass: HomeAssistant, what: Any) -> None:
    """Wait for what happens in the background."""
    async with asyncio.timeout(10):
        while not what():
            await asyncio.sleep(0.01)
    await hass.async_block_till_done()


async def _begin(hass: HomeAssistant, engine: str, max_entries: int = 500) -> Result:
    form = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    return await _answer(hass, form, max_entries=max_entries, embedding_engine=engine)


async def _reconfigure(hass: HomeAssistant, entry: MockConfigEntry) -> Result:
    return await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_RECONFIGURE, "entry_id": entry.entry_id}
    )


async def _answer(hass: HomeAssistant, form: Result, **answers: Any) -> Result:
    result = await hass.config_entries.flow.async_configure(form["flow_id"], answers)
    _verify_texts(result, "config")
    return result


async def _answer_options(hass: HomeAssistant, form: Result, **answers: Any) -> Result:
    result = await hass.config_entries.options.async_configure(form["flow_id"], answers)
    _verify_texts(result, "options")
    return result


def _verify_texts(result: Result, flow: str) -> None:
    """Check that everything a step shows has a text."""
    texts = STRINGS[flow]
    if result["type"] is FlowResultType.FORM:
        step = texts["step"][result["step_id"]]
        assert set(_fields(result)) <= set(step["data"]) | set(step.get("sections", ()))
        assert set(result["errors"].values()) <= set(texts["error"])
    elif result["type"] is FlowResultType.ABORT:
        assert result["reason"] in texts["abort"]
    elif result["type"] is FlowResultType.SHOW_PROGRESS:
        assert result["progress_action"] in texts["progress"]


def _fields(form: Result) -> dict[str, Any]:
    """Return the fields of a form with what stands in them."""
    shown = {}
    for marker in form["data_schema"].schema:
        suggested = (marker.description or {}).get("suggested_value")
        default = marker.default() if callable(marker.default) else None
        shown[str(marker.schema)] = default if suggested is None else suggested
    return shown


def _offered(form: Result) -> list[str] | None:
    """Return the models of a select field, None for a text field."""
    ((_, selector),) = form["data_schema"].schema.items()
    options = selector.config.get("options")
    return None if options is None else list(options)


def _ok(result: Result, step: str, error: str | None = None) -> bool:
    expected = {"base": error} if error else {}
    assert (result["type"], result["step_id"], result["errors"]) == (
        FlowResultType.FORM,
        step,
        expected,
    )
    return True


async def test_ollama_is_asked_for_its_models_and_set_up(
    hass: HomeAssistant, ollama: ScriptedServer
) -> None:
    connection = await _begin(hass, "ollama")
    assert _ok(connection, "connection")
    assert _fields(connection) == {"remote_url": "http://127.0.0.1:11434", "api_key": None}
    model = await _answer(hass, connection, remote_url=f" {ollama.url}/ ", api_key=f" {KEY} ")
    assert _ok(model, "model")
    assert _fields(model) == {"model_name": "bge-m3"}
    assert _offered(model) == ["all-minilm", "bge-m3"]
    created = await _answer(hass, model, model_name="all-minilm:latest")
    await hass.async_block_till_done()
    assert created["type"] is FlowResultType.CREATE_ENTRY
    assert created["data"] == {
        "max_entries": 500,
        "embedding_engine": "ollama",
        "remote_url": ollama.url,
        "api_key": KEY,
        "model_name": "all-minilm:latest",
    }
    assert created["result"].state is ConfigEntryState.LOADED
    assert {asked.authorization for asked in ollama.asked} == {f"Bearer {KEY}"}
    assert not ollama.bodies("/api/pull")


async def test_an_openai_compatible_server_needs_no_download(
    hass: HomeAssistant, openai: ScriptedServer
) -> None:
    connection = await _begin(hass, "openai_compatible")
    assert _fields(connection)["remote_url"] == "http://127.0.0.1:8080"
    model = await _answer(hass, connection, remote_url=f"{openai.url}/v1", api_key=KEY)
    assert (_offered(model), _fields(model)) == (["e5", "qwen3"], {"model_name": "e5"})
    created = await _answer(hass, model, model_name="qwen3")
    assert created["data"]["remote_url"] == f"{openai.url}/v1"
    assert created["data"]["model_name"] == "qwen3"
    assert openai.bodies("/v1/embeddings")[0]["model"] == "qwen3"


@pytest.mark.parametrize("engine", ["ollama", "openai_compatible"])
async def test_a_server_that_is_not_there_brings_the_flow_back_until_it_is(
    hass: HomeAssistant, server: ScriptedServer, engine: str
) -> None:
    connection = await _begin(hass, engine)
    refused = await _answer(hass, connection, remote_url=NOBODY)
    assert _ok(refused, "connection", "cannot_connect")
    assert _fields(refused)["remote_url"] == NOBODY
    model = await _answer(hass, refused, remote_url=server.url)
    assert _ok(model, "model")
    assert _offered(model) is None


@pytest.mark.parametrize(("handler", "seconds"), [(close_at_once, 10.0), (hang, 0.1)])
async def test_a_server_that_does_not_answer_is_as_good_as_none(
    hass: HomeAssistant,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    handler: Any,
    seconds: float,
) -> None:
    monkeypatch.setattr(engine_flow, "CONNECTION_TIMEOUT_SECONDS", seconds)
    server.answers["/api/tags"] = handler
    connection = await _begin(hass, "ollama")
    assert _ok(
        await _answer(hass, connection, remote_url=server.url), "connection", "cannot_connect"
    )


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://",
        "ftp://127.0.0.1",
        "http://a b",
        "http://[:",
        "http://h:99999",
        "http://h/?q=1",
    ],
)
async def test_what_is_no_address_is_named(hass: HomeAssistant, address: str) -> None:
    connection = await _begin(hass, "ollama")
    refused = await _answer(hass, connection, remote_url=address)
    assert _ok(refused, "connection", "invalid_url")


async def test_a_server_without_a_list_is_told_the_model_by_name(
    hass: HomeAssistant, server: ScriptedServer
) -> None:
    server.answers["/v1/models"] = text_answer("<html>", content_type="text/html")
    connection = await _begin(hass, "openai_compatible")
    model = await _answer(hass, connection, remote_url=server.url.removeprefix("http://"))
    assert (_offered(model), _fields(model)) == (None, {"model_name": "bge-m3"})
    refused = await _answer(hass, model, model_name="  ")
    assert _ok(refused, "model", "model_required")
    created = await _answer(hass, refused, model_name=" my-model ")
    assert (created["data"]["model_name"], created["data"]["remote_url"]) == (
        "my-model",
        server.url,
    )
    assert "api_key" not in created["data"]


async def test_a_model_that_the_server_refuses_is_asked_for_again(
    hass: HomeAssistant, openai: ScriptedServer
) -> None:
    refusal = {"error": {"message": "The model does not exist", "code": "model_not_found"}}
    answers = openai.answers["/v1/embeddings"]
    openai.answer("/v1/embeddings", refusal, HTTPStatus.NOT_FOUND)
    connection = await _begin(hass, "openai_compatible")
    model = await _answer(hass, connection, remote_url=openai.url, api_key=KEY)
    refused = await _answer(hass, model, model_name="nope")
    assert _ok(refused, "model", "model_unknown")
    openai.answers["/v1/embeddings"] = answers
    created = await _answer(hass, refused, model_name="e5")
    assert created["data"]["model_name"] == "e5"


async def test_a_refused_key_is_asked_for_again(
    hass: HomeAssistant, openai: ScriptedServer
) -> None:
    connection = await _begin(hass, "openai_compatible")
    refused = await _answer(hass, connection, remote_url=openai.url, api_key="wrong")
    assert _ok(refused, "connection", "invalid_auth")
    # Such servers exist: everybody may see the list.
    openai.answer("/v1/models", {"data": [{"id": "e5"}]})
    model = await _answer(hass, refused, remote_url=openai.url, api_key="wrong")
    refused = await _answer(hass, model, model_name="e5")
    assert _ok(refused, "connection", "invalid_auth")
    assert _fields(refused) == {"remote_url": openai.url, "api_key": None}
    model = await _answer(hass, refused, remote_url=openai.url, api_key=KEY)
    created = await _answer(hass, model, model_name="e5")
    assert created["data"]["api_key"] == KEY


async def test_a_download_is_shown_over_http_and_ends_in_an_entry(
    hass: HomeAssistant, ollama: ScriptedServer, hass_client: Any
) -> None:
    go_on = asyncio.Event()
    _pulling(ollama, "bge-m3:latest", go_on)
    assert await async_setup_component(hass, "config", {})
    shares = async_capture_events(hass, "data_entry_flow_progress_update")
    progressed = async_capture_events(hass, "data_entry_flow_progressed")
    client = await hass_client()
    path = "/api/config/config_entries/flow"

    async def post(place: str, answers: dict[str, Any]) -> Result:
        response = await client.post(place, json=answers)
        assert response.status == 200, await response.text()
        return await response.json()

    form = await post(path, {"handler": DOMAIN})
    path = f"{path}/{form['flow_id']}"
    form = await post(path, {"max_entries": 5, "embedding_engine": "ollama"})
    assert form["step_id"] == "connection"
    form = await post(path, {"remote_url": ollama.url})
    assert form["step_id"] == "model"
    shown = await post(path, {"model_name": "bge-m3"})
    assert (shown["type"], shown["step_id"], shown["progress_action"]) == (
        "progress",
        "pull",
        "pull",
    )
    assert shown["description_placeholders"] == {"model": "bge-m3"}
    await _until(hass, lambda: shares)
    assert shares[0].data["progress"] == 0.5
    still = await (await client.get(path)).json()
    assert still["type"] == "progress"
    go_on.set()
    await _until(hass, lambda: progressed)
    created = await post(path, {})
    assert (created["type"], created["title"]) == ("create_entry", "AI Memory")
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    assert entry.data == {
        "max_entries": 5,
        "embedding_engine": "ollama",
        "remote_url": ollama.url,
        "model_name": "bge-m3",
    }
    assert ollama.bodies("/api/pull") == [{"model": "bge-m3", "stream": True}]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (json_answer({"error": "pull model manifest: file does not exist"}), "model_unknown"),
        (json_answer({"error": "max retries exceeded"}), "pull_failed"),
        (close_at_once, "pull_failed"),
    ],
)
async def test_a_failed_download_leads_back_to_the_model(
    hass: HomeAssistant, ollama: ScriptedServer, answer: Any, error: str
) -> None:
    ollama.answers["/api/pull"] = answer
    progressed = async_capture_events(hass, "data_entry_flow_progressed")
    connection = await _begin(hass, "ollama")
    model = await _answer(hass, connection, remote_url=ollama.url)
    shown = await _answer(hass, model, model_name="nomic")
    assert (shown["type"], shown["step_id"]) == (FlowResultType.SHOW_PROGRESS, "pull")
    await _until(hass, lambda: progressed)
    back = await _answer(hass, shown)
    assert _ok(back, "model", error)
    assert _fields(back) == {"model_name": "nomic"}
    created = await _answer(hass, back, model_name="all-minilm")
    assert created["type"] is FlowResultType.CREATE_ENTRY


async def test_a_closed_flow_stops_its_download(
    hass: HomeAssistant, ollama: ScriptedServer
) -> None:
    _pulling(ollama, "bge-m3", asyncio.Event())
    connection = await _begin(hass, "ollama")
    model = await _answer(hass, connection, remote_url=ollama.url)
    shown = await _answer(hass, model)
    flow: Any = hass.config_entries.flow._progress[shown["flow_id"]]
    task = flow._pull
    hass.config_entries.flow.async_abort(shown["flow_id"])
    await asyncio.wait([task], timeout=5)
    assert task.cancelled()


async def test_reconfiguring_shows_what_is_set_and_never_the_key(
    hass: HomeAssistant, openai: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    entry = await _loaded(
        hass,
        {"max_entries": 60, "query_instruction": "find: ", "embed_timeout_s": 5},
        embedding_engine="openai_compatible",
        remote_url=openai.url,
        api_key=KEY,
        model_name="qwen3",
    )
    manager = entry.runtime_data.manager
    form = await _reconfigure(hass, entry)
    _verify_texts(form, "config")
    assert _fields(form) == {"max_entries": 60, "embedding_engine": "openai_compatible"}
    connection = await _answer(hass, form, max_entries=70, embedding_engine="openai_compatible")
    assert _fields(connection) == {"remote_url": openai.url, "api_key": UNCHANGED_KEY}
    model = await _answer(hass, connection, remote_url=openai.url, api_key=UNCHANGED_KEY)
    assert _fields(model) == {"model_name": "qwen3"}
    done = await _answer(hass, model, model_name="e5")
    await hass.async_block_till_done()
    assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert entry.data == {
        "max_entries": 70,
        "embedding_engine": "openai_compatible",
        "remote_url": openai.url,
        "api_key": KEY,
        "model_name": "e5",
    }
    # The instruction was written for the other model.
    assert entry.options == {"embed_timeout_s": 5}
    assert entry.state is ConfigEntryState.LOADED
    assert entry.runtime_data.manager is not manager
    assert entry.runtime_data.manager.engine_fingerprint.startswith("openai_compatible/e5@")
    assert "deprecated" not in caplog.text
    assert "will stop working" not in caplog.text


@pytest.mark.parametrize("door", ["reconfigure", "options"])
async def test_going_back_to_word_statistics_forgets_the_server_and_no_memory(
    hass: HomeAssistant, ollama: ScriptedServer, door: str
) -> None:
    entry = await _loaded(
        hass,
        embedding_engine="ollama",
        remote_url=ollama.url,
        api_key=KEY,
        model_name="all-minilm",
    )
    await entry.runtime_data.manager.add(ANNA, NewMemory(content="The ladder is in the shed"))
    if door == "reconfigure":
        form = await _reconfigure(hass, entry)
        await _answer(hass, form, max_entries=1000, embedding_engine="tfidf")
    else:
        form = await hass.config_entries.options.async_init(entry.entry_id)
        await _answer_options(hass, form, max_entries=1000, embedding_engine="tfidf")
    await hass.async_block_till_done()
    assert entry.data == {"max_entries": 1000, "embedding_engine": "tfidf"}
    assert entry.runtime_data.manager.engine_name == "tfidf"
    found = await entry.runtime_data.manager.search(ANNA, Filters(), "ladder", 5)
    assert [hit.memory.content for hit in found.hits] == ["The ladder is in the shed"]


async def test_the_options_lead_to_another_engine_and_reload_once(
    hass: HomeAssistant, ollama: ScriptedServer, loaded: MockConfigEntry
) -> None:
    go_on = asyncio.Event()
    _pulling(ollama, "bge-m3", go_on)
    form = await hass.config_entries.options.async_init(loaded.entry_id)
    assert "embed_timeout_s" not in _fields(form)
    connection = await _answer_options(hass, form, max_entries=80, embedding_engine="ollama")
    assert _ok(connection, "connection")
    refused = await _answer_options(hass, connection, remote_url=NOBODY)
    assert _ok(refused, "connection", "cannot_connect")
    model = await _answer_options(hass, refused, remote_url=ollama.url)
    shown = await _answer_options(hass, model, model_name="bge-m3")
    assert shown["type"] is FlowResultType.SHOW_PROGRESS
    progressed = async_capture_events(hass, "data_entry_flow_progressed")
    go_on.set()
    await _until(hass, lambda: progressed)
    with patch.object(
        hass.config_entries, "async_reload", wraps=hass.config_entries.async_reload
    ) as reload:
        saved = await _answer_options(hass, shown)
        await hass.async_block_till_done()
    assert reload.call_count == 1
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    assert loaded.data == {
        "max_entries": 1000,
        "embedding_engine": "ollama",
        "remote_url": ollama.url,
        "model_name": "bge-m3",
    }
    assert loaded.options == {
        "max_entries": 80,
        "standing_tokens": 400,
        "promotion_uses": 10,
        "secret_screen": "keys",
        "archive_days": 90,
        "retention_deleted_days": 30,
        "recall": False,
        "administrator_access": ["read", "write", "delete", "export", "admin"],
        "user_access": [],
        "anchor_sweep_hours": 6,
        "workshop": {
            "context_budget_tokens": 4000,
            "hard_context_limit_tokens": 8000,
            "summary_candidates": False,
        },
    } | ({"assist_tools": True} if HAS_LLM_PLATFORM else {})
    assert loaded.runtime_data.manager.engine_name == "ollama"


async def test_the_options_of_a_server_that_is_down_can_be_changed(hass: HomeAssistant) -> None:
    entry = await _loaded(
        hass,
        {"query_instruction": "find: ", "document_instruction": "text: "},
        embedding_engine="ollama",
        remote_url=NOBODY,
        model_name="bge-m3",
    )
    form = await hass.config_entries.options.async_init(entry.entry_id)
    _verify_texts(form, "options")
    shown = _fields(form)
    assert shown.pop("assist_tools", True) is True
    assert shown == {
        "max_entries": 1000,
        "embedding_engine": "ollama",
        "edit_connection": True,
        "embed_timeout_s": 2.0,
        "query_instruction": "find: ",
        "document_instruction": "text: ",
        "similarity_floor": None,
        "identity": None,
        "standing_tokens": 400,
        "promotion_uses": 10,
        "secret_screen": "keys",
        "archive_days": 90,
        "retention_deleted_days": 30,
        "recall": False,
        "administrator_access": ["read", "write", "delete", "export", "admin"],
        "user_access": [],
        "anchor_sweep_hours": 6,
        "workshop": {},
    }
    wanted: dict[str, Any] = {
        "max_entries": 1000,
        "embed_timeout_s": 0.05,
        "similarity_floor": 1.5,
        "edit_connection": False,
    }
    refused = await _answer_options(hass, form, **wanted)
    assert refused["errors"] == {
        "embed_timeout_s": "embed_timeout_out_of_range",
        "similarity_floor": "similarity_floor_out_of_range",
    }
    assert refused["description_placeholders"]["longest"] == "30"
    wanted |= {"embed_timeout_s": 0.5, "query_instruction": "ask: ", "similarity_floor": 0.4}
    saved = await _answer_options(hass, refused, **wanted)
    await hass.async_block_till_done()
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    options = dict(entry.options)
    assert options.pop("assist_tools", True) is True
    assert options == {
        "max_entries": 1000,
        "embed_timeout_s": 0.5,
        "query_instruction": "ask: ",
        "similarity_floor": 0.4,
        "standing_tokens": 400,
        "promotion_uses": 10,
        "secret_screen": "keys",
        "archive_days": 90,
        "retention_deleted_days": 30,
        "recall": False,
        "administrator_access": ["read", "write", "delete", "export", "admin"],
        "user_access": [],
        "anchor_sweep_hours": 6,
        "workshop": {
            "context_budget_tokens": 4000,
            "hard_context_limit_tokens": 8000,
            "summary_candidates": False,
        },
    }
    assert entry.runtime_data.manager.floor.value == 0.4
    assert entry.data["remote_url"] == NOBODY


async def test_the_settings_of_the_entry_reach_the_engine(
    hass: HomeAssistant, ollama: ScriptedServer
) -> None:
    entry = await _loaded(
        hass,
        {"query_instruction": "ask: ", "document_instruction": "text: ", "embed_timeout_s": 0.2},
        embedding_engine="ollama",
        remote_url=ollama.url,
        api_key=KEY,
        model_name="all-minilm",
    )
    manager = entry.runtime_data.manager
    await manager.add(ANNA, NewMemory(content="The ladder is in the shed"))
    async with asyncio.timeout(10):
        await manager.wait_for_vectors()
    await manager.search(ANNA, Filters(), "climb", 5)
    sent = [body["input"] for body in ollama.bodies("/api/embed")]
    assert sent == [["text: The ladder is in the shed"], ["ask: climb"]]
    assert {asked.authorization for asked in ollama.asked} == {f"Bearer {KEY}"}

    failures: list[str | None] = []
    manager.encoder.subscribe(lambda: failures.append(manager.encoder.failure))
    ollama.answers["/api/embed"] = hang
    started = asyncio.get_running_loop().time()
    await manager.search(ANNA, Filters(), "something else", 5)
    assert 0.2 <= asyncio.get_running_loop().time() - started < 1.5
    assert failures[0] == "timeout"


@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        (text_answer("down", 500), "engine_unreachable", "unreachable"),
        (text_answer("slow down", 429), "engine_rate_limited", "rate_limited"),
        (text_answer("<html>"), "engine_bad_response", "bad_response"),
        (json_answer({"models": []}), "engine_model_missing", "model_missing"),
        (text_answer("no", 401), "engine_unauthorized", "unauthorized"),
    ],
)
async def test_an_engine_that_is_away_is_an_issue_until_it_is_back(
    hass: HomeAssistant,
    ollama: ScriptedServer,
    issue_registry: ir.IssueRegistry,
    monkeypatch: pytest.MonkeyPatch,
    answer: Any,
    text: str,
    reason: str,
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.encoder.FIRST_PROBE_PAUSE_SECONDS", 0.05)
    ollama.answers["/api/tags"] = answer
    entry = await _loaded(
        hass,
        embedding_engine="ollama",
        remote_url=ollama.url.replace("://", "://anna:s3cret@"),
        model_name="all-minilm",
    )
    assert entry.state is ConfigEntryState.LOADED
    await _until(hass, lambda: issue_registry.async_get_issue(DOMAIN, "engine_unavailable"))
    issue = issue_registry.async_get_issue(DOMAIN, "engine_unavailable")
    assert issue is not None
    assert (issue.translation_key, issue.severity, issue.is_fixable, issue.learn_more_url) == (
        text,
        ir.IssueSeverity.WARNING,
        False,
        None,
    )
    assert issue.translation_placeholders == {
        "engine": "ollama",
        "reason": reason,
        "model": "all-minilm",
        "url": ollama.url,
    }
    _has(ollama, "all-minilm")
    await _until(hass, lambda: not issue_registry.async_get_issue(DOMAIN, "engine_unavailable"))


async def test_the_issue_goes_with_the_entry(
    hass: HomeAssistant, issue_registry: ir.IssueRegistry
) -> None:
    entry = await _loaded(
        hass, embedding_engine="ollama", remote_url=NOBODY, model_name="all-minilm"
    )
    await _until(hass, lambda: issue_registry.async_get_issue(DOMAIN, "engine_unavailable"))
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert issue_registry.async_get_issue(DOMAIN, "engine_unavailable") is None


async def test_a_key_that_stops_working_is_asked_for_once_checked_and_replaced(
    hass: HomeAssistant, openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.encoder.FIRST_PROBE_PAUSE_SECONDS", 0.02)
    entry = await _loaded(
        hass,
        embedding_engine="openai_compatible",
        remote_url=openai.url,
        api_key="old",
        model_name="e5",
    )
    await _until(hass, lambda: len(openai.asked) >= 4)
    (flow,) = hass.config_entries.flow.async_progress()
    assert (flow["context"]["source"], flow["step_id"]) == ("reauth", "reauth_confirm")
    assert flow["context"]["entry_id"] == entry.entry_id
    refused = await _answer(hass, flow, api_key="wrong")
    assert _ok(refused, "reauth_confirm", "invalid_auth")
    assert refused["description_placeholders"]["url"] == openai.url
    openai.answers["/v1/embeddings"], works = close_at_once, openai.answers["/v1/embeddings"]
    unreachable = await _answer(hass, refused, api_key=KEY)
    assert _ok(unreachable, "reauth_confirm", "cannot_connect")
    openai.answers["/v1/embeddings"] = works
    done = await _answer(hass, unreachable, api_key=f" {KEY} ")
    await hass.async_block_till_done()
    assert (done["type"], done["reason"]) == (FlowResultType.ABORT, "reauth_successful")
    assert entry.data["api_key"] == KEY
    assert entry.state is ConfigEntryState.LOADED
    await _until(hass, lambda: entry.runtime_data.manager.encoder.failure is None)
    assert not hass.config_entries.flow.async_progress()


async def test_the_sensor_follows_the_vectors_and_shows_no_password(
    hass: HomeAssistant, ollama: ScriptedServer, hass_client: Any
) -> None:
    answers, ollama.answers["/api/embed"] = ollama.answers["/api/embed"], hang
    entry = await _loaded(
        hass,
        embedding_engine="ollama",
        remote_url=ollama.url.replace("://", "://anna:s3cret@"),
        model_name="all-minilm",
    )
    manager = entry.runtime_data.manager

    def attributes() -> dict[str, Any]:
        state = hass.states.get("sensor.ai_memory")
        assert state is not None
        return dict(state.attributes)

    await _until(hass, lambda: ollama.asked)
    await manager.add(ANNA, NewMemory(content="The ladder is in the shed"))
    await _until(hass, lambda: attributes()["embedding_progress"])
    shown = attributes()
    assert shown["embedding_progress"] == {"pending": 1, "vectors": 0}
    assert (shown["embedding_engine"], shown["model_name"]) == ("ollama", "all-minilm")
    assert shown["remote_url"] == ollama.url
    assert "s3cret" not in json.dumps(shown)

    assert await async_setup_component(hass, "diagnostics", {})
    told = await get_diagnostics_for_config_entry(hass, hass_client, entry)
    assert told["data"]["remote_url"] == ollama.url

    # Until it was counted how many vectors are missing, nothing says that none is.
    progress: list[dict[str, int] | None] = []

    @callback
    def note(event: Event[EventStateChangedData]) -> None:
        if event.data["entity_id"] == "sensor.ai_memory" and (state := event.data["new_state"]):
            progress.append(state.attributes.get("embedding_progress"))

    stop = hass.bus.async_listen(EVENT_STATE_CHANGED, note)
    await hass.config_entries.async_reload(entry.entry_id)
    await _until(hass, lambda: attributes().get("embedding_progress"))
    stop()
    assert all(one in (None, {"pending": 1, "vectors": 0}) for one in progress), progress
    assert progress[-1] == {"pending": 1, "vectors": 0}

    ollama.answers["/api/embed"] = answers
    await hass.config_entries.async_reload(entry.entry_id)
    manager = entry.runtime_data.manager
    await asyncio.wait_for(manager.wait_for_vectors(), 10)
    assert attributes()["embedding_progress"] == {"pending": 0, "vectors": 1}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://anna:p@ss@host:1/v1", "http://host:1/v1"),
        ("anna:pass@host:1", "host:1"),
        ("http://anna:a://b@host", "host"),
        ("https://host/v1", "https://host/v1"),
        ("host:11434", "host:11434"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_the_password(url: str, shown: str) -> None:
    assert without_userinfo(url) == shown
