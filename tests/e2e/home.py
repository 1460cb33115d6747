"""A home with AI Memory in it: what people, automations and agents do there, as plain calls.

The tests are ordinary functions; the process, the connections to it and the fake model server live
on an event loop of their own, which the test plugin neither owns nor checks. Builds on
``scripts.home_assistant`` and never reaches into the process.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
import json
from pathlib import Path
import threading
import time
from typing import Any, Final

import aiohttp

from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM
from scripts.develop import DOMAIN, ENTRY, PROJECT, find_faults
from scripts.home_assistant import (
    Client,
    HomeAssistantProcess,
    Json,
    free_port,
    mcp_message,
    prepare_config,
)

CALL_SECONDS: Final = 240
SETTLE_SECONDS: Final = 10
POLL_SECONDS: Final = 0.1
_HANDS: Final = 4
FLOW: Final = "/api/config/config_entries/flow"
OPTIONS_FLOW: Final = "/api/config/config_entries/options/flow"
SUBENTRY_FLOW: Final = "/api/config/config_entries/subentries/flow"
SENSOR: Final = "sensor.ai_memory"
CHANGES: Final = "event.ai_memory_changes"
UPDATED: Final = "ai_memory_updated"
TOOLS: Final = (
    "add_memory",
    "search_memory",
    "list_memories",
    "update_memory",
    "delete_memory",
    "forget_me",
)

# Core logs every refusal it passes on, some versions with a traceback through the integration.
_REPORTERS_OF_REFUSALS: Final = (
    "[aiohttp.server]",
    "[homeassistant.components.api]",
    "[homeassistant.components.websocket_api.",
)

# What holds a person's words.
_SECRET_FIELDS: Final = ("text", "content", "summary", "query")


class Loop:
    """An event loop on a thread of its own, for everything that outlives a single test."""

    def __init__(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="e2e-loop")
        self._thread.start()

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_SECONDS)

    def close(self) -> None:
        """End the thread."""
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@dataclass(frozen=True, slots=True)
class Refusal:
    """How Home Assistant refused: the HTTP status and the message, where its version tells one."""

    status: int
    message: str | None


class Home:
    """One running Home Assistant, its user and what they can do with the memory."""

    def __init__(self, loop: Loop, config: Path) -> None:
        """Prepare a configuration folder; nothing is started."""
        port = free_port()
        prepare_config(config, PROJECT / "custom_components" / DOMAIN, port)
        self.config = config
        self.mcp_path = ""
        self._loop = loop
        self._process = HomeAssistantProcess(config, port)
        self._stack = AsyncExitStack()
        self._client: Client
        self._session: aiohttp.ClientSession
        self._exit_code: int | None = None
        self._told: set[str] = set()

    def start(self) -> None:
        """Start Home Assistant and make its first user."""
        self._loop.run(self._start())

    def stop(self) -> None:
        """Stop it in order."""
        self._loop.run(self._stack.aclose())
        self._exit_code = self._loop.run(self._process.stop())

    def verify_clean(self) -> None:
        """Check what it left behind: nothing against the integration, nothing that was private."""
        assert self._exit_code == 0, "\n".join(self._process.lines[-40:])
        assert self.faults() == []
        assert self.told_by("\n".join(self.log())) == set()

    def log(self) -> list[str]:
        """Return the lines of the log so far."""
        file = self.config / "home-assistant.log"
        written = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return self._process.lines + written

    def faults(self) -> list[str]:
        """Return what the log has against the integration, but for refusals that tests provoked."""
        return [
            record
            for record in find_faults(self._process.lines)
            if not any(reporter in record for reporter in _REPORTERS_OF_REFUSALS)
        ]

    def told_by(self, text: str) -> set[str]:
        """Return which of the stored texts a place gives away that must hold none of them."""
        return {told for told in self._told if told in text}

    def entries(self, domain: str = DOMAIN) -> list[Json]:
        """Return the config entries of an integration."""
        found: list[Json] = self.get(f"/api/config/config_entries/entry?domain={domain}")
        return found

    def set_up(self, domain: str = DOMAIN, answers: Mapping[str, object] = ENTRY) -> Json:
        """Go through a config flow and return the entry."""
        return self._loop.run(self._client.create_entry(domain, answers))

    def remove(self, domain: str = DOMAIN) -> None:
        """Remove the config entry of an integration."""
        path = f"/api/config/config_entries/entry/{self.entries(domain)[0]['entry_id']}"
        self._loop.run(self._delete(path))

    def get(self, path: str) -> Any:
        """Return what a path answers."""
        return self._loop.run(self._client.request(path))

    def post(self, path: str, body: object) -> Any:
        """Send JSON to a path and return what it answers."""
        return self._loop.run(self._client.request(path, body))

    def command(self, **message: object) -> Any:
        """Send one websocket command as the frontend does and return its result."""
        return self._loop.run(self._client.command(message))

    def options_form(self) -> Json:
        """Open the options flow and return its form."""
        form: Json = self.post(OPTIONS_FLOW, {"handler": self.entries()[0]["entry_id"]})
        return form

    def assist_tools(self, *, on: bool) -> dict[str, bool]:
        """Return the option for Assist agents, where this version of Home Assistant has it."""
        return {"assist_tools": on} if HAS_LLM_PLATFORM else {}

    def change_options(self, **options: object) -> str:
        """Send new options, wait until they are in force, return what kind of step came of it."""
        form = self.options_form()
        step: Json = self.post(f"{OPTIONS_FLOW}/{form['flow_id']}", options)
        self.wait_for(lambda: self.entries()[0]["state"] == "loaded")
        kind: str = step["type"]
        return kind

    def call(self, service: str, **data: object) -> Json:
        """Call one of the memory's services and return its response."""
        self._remember(data)
        return self._loop.run(self._client.call_service(f"{DOMAIN}.{service}", data))

    def refusal(self, service: str, **data: object) -> Refusal:
        """Call one of the memory's services over REST, which must refuse."""
        self._remember(data)
        path = f"/api/services/{DOMAIN}/{service}?return_response"
        return self._loop.run(self._refusal(path, data))

    def refusal_over_websocket(self, service: str, **data: object) -> Json:
        """Call one of the memory's services as the frontend does and return the error."""
        self._remember(data)
        call = {"domain": DOMAIN, "service": service, "service_data": data}
        message = {"type": "call_service", **call, "return_response": True}
        reply = self._loop.run(self._exchange(message))
        assert not reply["success"], reply
        error: Json = reply["error"]
        return error

    def state(self, entity_id: str) -> Json:
        """Return the state of an entity."""
        return self._loop.run(self._client.state(entity_id))

    def counts(self) -> Json:
        """Return how many memories the sensor counts."""
        counts: Json = self.state(SENSOR)["attributes"]["memory_counts"]
        return counts

    @contextmanager
    def events(self, event_type: str) -> Iterator[list[Json]]:
        """Collect the events of a type over the websocket for the length of the block."""
        collected: list[Json] = []
        subscription = self._loop.run(self._subscribe(event_type))
        reader = self._loop.run(_begin(_collect(subscription, collected)))
        try:
            yield collected
        finally:
            self._loop.run(_end(subscription, reader))

    @property
    def url(self) -> str:
        """The address of this Home Assistant."""
        return self._client.url

    def add_client(self, name: str, **answers: object) -> str:
        """Let a coding agent in through the flow, and return the token that is shown once."""
        form = self.post(SUBENTRY_FLOW, {"handler": [self.entries()[0]["entry_id"], "client"]})
        asked = {"name": name, "access": ["read", "write", "delete"], "home": False} | answers
        shown = self.post(f"{SUBENTRY_FLOW}/{form['flow_id']}", asked)
        assert shown["step_id"] == "token", shown
        token: str = shown["description_placeholders"]["token"]
        assert token in shown["description_placeholders"]["claude_code"]
        created = self.post(f"{SUBENTRY_FLOW}/{form['flow_id']}", {})
        assert created["type"] == "create_entry", created
        self.wait_for(lambda: self.entries()[0]["state"] == "loaded")
        return token

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop of the home."""
        return self._loop.run(work)

    def mcp(self, method: str, **parameters: object) -> Json:
        """Send a request to core's MCP server and return the reply of the protocol."""
        if not self.mcp_path:
            self.mcp_path = self._loop.run(self._client.add_mcp_server(DOMAIN))
        reply: Json = self.post(self.mcp_path, mcp_message(method, parameters))
        return reply

    def call_tool(self, name: str, **arguments: object) -> Json:
        """Call a tool over MCP and return its result as the protocol has it."""
        self._remember(arguments)
        reply = self.mcp("tools/call", name=name, arguments=arguments)
        assert "error" not in reply, reply
        result: Json = reply["result"]
        return result

    def tool(self, name: str, **arguments: object) -> Json:
        """Call a tool over MCP and return what it said."""
        result = self.call_tool(name, **arguments)
        assert not result.get("isError"), result
        said: Json = json.loads(result["content"][0]["text"])
        return said

    def say(self, text: str, agent_id: str) -> Json:
        """Say something to an agent in a conversation of its own."""
        self._told.add(text)
        body = {"text": text, "agent_id": agent_id, "language": "en"}
        reply: Json = self.post("/api/conversation/process", body)
        return reply

    def wait_for(self, is_so: Callable[[], object]) -> None:
        """Wait until something is so; what is not so in good time fails the test."""
        end = time.monotonic() + SETTLE_SECONDS
        while not is_so():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(POLL_SECONDS)

    def add_agent(self, name: str, model: str, apis: list[str]) -> str:
        """Set up a conversation agent of core's ``ollama`` and return its entity."""
        handler = [self.entries("ollama")[0]["entry_id"], "conversation"]
        form = self.post(SUBENTRY_FLOW, {"handler": handler})
        answers = {"name": name, "model": model, "llm_hass_api": apis}
        step = self.post(f"{SUBENTRY_FLOW}/{form['flow_id']}", answers)
        assert step["type"] == "create_entry", step
        entity_id = f"conversation.{name.lower()}"
        self.wait_for(lambda: self.is_available(entity_id))
        return entity_id

    def add_profile(self, name: str) -> str:
        """Add an agent profile to the memory and return the id of its API."""
        entry_id = self.entries()[0]["entry_id"]
        form = self.post(SUBENTRY_FLOW, {"handler": [entry_id, "agent_profile"]})
        answers = {"name": name, "tools": "full", "standing_tokens": 400, "recall": False}
        step = self.post(f"{SUBENTRY_FLOW}/{form['flow_id']}", answers)
        assert step["type"] == "create_entry", step
        added = self.command(type="config_entries/subentries/list", entry_id=entry_id)
        (profile,) = [one for one in added if one["title"] == name]
        return f"{DOMAIN}_{profile['subentry_id'].lower()}"

    def add_person(self, name: str) -> str:
        """Add a user who is no administrator and return an access token."""
        groups = ["system-users"]
        created = self.command(type="config/auth/create", name=name, group_ids=groups)
        credentials = {"username": name.lower(), "password": f"{name} and nobody else"}
        provider = "config/auth_provider/homeassistant/create"
        self.command(type=provider, user_id=created["user"]["id"], **credentials)
        return self._loop.run(self._sign_in(credentials))

    @contextmanager
    def as_person(self, token: str) -> Iterator[None]:
        """Do what is done in the block as somebody else."""
        before, self._client.token = self._client.token, token
        try:
            yield
        finally:
            self._client.token = before

    def is_available(self, entity_id: str) -> bool:
        """Tell whether an entity exists and can be used."""
        states: list[Json] = self.get("/api/states")
        return any(
            state["entity_id"] == entity_id and state["state"] != "unavailable" for state in states
        )

    def wait_until_saved(self) -> None:
        """Wait until the user and the entry are on disk, which core does with some delay."""
        storage = self.config / ".storage"
        signs = {
            storage / "auth": self._client.url,
            storage / "core.config_entries": DOMAIN,
            storage / "onboarding": "integration",
        }
        self.wait_for(
            lambda: all(
                file.exists() and sign in file.read_text(encoding="utf-8")
                for file, sign in signs.items()
            )
        )

    def add_until_killed(self, texts: Iterable[str], acknowledged: int) -> dict[str, str]:
        """Add from several sides and kill the process when that many were acknowledged.

        Returns the texts that were, by id; others are on their way at that moment.
        """
        return self._loop.run(self._add_until_killed(iter(texts), acknowledged))

    def restart(self) -> None:
        """Start again on the same configuration folder, with the same token."""
        self._loop.run(self._launch())

    def _remember(self, data: Mapping[str, object]) -> None:
        texts = (str(data.get(name, "")).strip() for name in _SECRET_FIELDS)
        self._told.update(text for text in texts if text)

    async def _start(self) -> None:
        self._session = await self._stack.enter_async_context(aiohttp.ClientSession())
        self._client = Client.of(self._process, self._session)
        await self._process.start()
        await self._client.wait_until_started(self._process)
        await self._client.onboard()
        await self._client.wait_until_running()

    async def _launch(self) -> None:
        await self._process.start()
        await self._client.wait_until_started(self._process)
        await self._client.wait_until_running()

    async def _sign_in(self, credentials: Mapping[str, str]) -> str:
        client_id = f"{self._client.url}/"
        begun = {"client_id": client_id, "handler": ["homeassistant", None]}
        form = await self._client.request(
            "/auth/login_flow", {**begun, "redirect_uri": f"{client_id}?auth_callback=1"}
        )
        step = await self._client.request(
            f"/auth/login_flow/{form['flow_id']}", {**credentials, "client_id": client_id}
        )
        grant = {"grant_type": "authorization_code", "code": step["result"]}
        tokens = await self._client.request("/auth/token", form={**grant, "client_id": client_id})
        token: str = tokens["access_token"]
        return token

    async def _delete(self, path: str) -> None:
        headers = {"Authorization": f"Bearer {self._client.token}"}
        async with self._session.delete(self._client.url + path, headers=headers) as response:
            assert response.status == HTTPStatus.OK, await response.text()

    async def _refusal(self, path: str, data: Mapping[str, object]) -> Refusal:
        headers = {"Authorization": f"Bearer {self._client.token}"}
        url = self._client.url + path
        async with self._session.post(url, json=dict(data), headers=headers) as response:
            assert response.status >= HTTPStatus.BAD_REQUEST, await response.text()
            if response.content_type != "application/json":
                return Refusal(response.status, None)
            return Refusal(response.status, (await response.json())["message"])

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        connection = await self._session.ws_connect(f"{self._client.url}/api/websocket")
        await connection.receive_json()
        await connection.send_json({"type": "auth", "access_token": self._client.token})
        assert (await connection.receive_json())["type"] == "auth_ok"
        return connection

    async def _exchange(self, message: Json) -> Json:
        connection = await self._connect()
        async with connection:
            await connection.send_json({"id": 1, **message})
            reply: Json = await connection.receive_json()
            return reply

    async def _subscribe(self, event_type: str) -> aiohttp.ClientWebSocketResponse:
        connection = await self._connect()
        await connection.send_json({"id": 1, "type": "subscribe_events", "event_type": event_type})
        assert (await connection.receive_json())["success"]
        return connection

    async def _add_until_killed(self, texts: Iterator[str], acknowledged: int) -> dict[str, str]:
        replies: dict[str, str] = {}

        async def add() -> None:
            for text in texts:
                try:
                    reply = await self._client.call_service(f"{DOMAIN}.add_memory", {"text": text})
                except aiohttp.ClientError:
                    return
                replies[reply["memory"]["id"]] = text
                if len(replies) == acknowledged:
                    await self._process.kill()

        await asyncio.gather(*(add() for _ in range(_HANDS)))
        return replies


async def _collect(subscription: aiohttp.ClientWebSocketResponse, collected: list[Json]) -> None:
    async for message in subscription:
        event: Json = message.json()["event"]
        collected.append(event)


async def _begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(work)


async def _end(subscription: aiohttp.ClientWebSocketResponse, reader: asyncio.Task[None]) -> None:
    await subscription.close()
    await reader
