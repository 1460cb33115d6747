"""A real Home Assistant process, and the ways in that a person and an agent have.

``scripts/develop`` and the end-to-end tests start one, onboard it and speak to it over HTTP,
websocket and MCP. Nothing here reaches into the process: what works here works for everyone.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from importlib.util import find_spec
import json
import os
from pathlib import Path
import signal
import socket
import sys
from typing import Any, Final, Self

import aiohttp

START_TIMEOUT_SECONDS: Final = 180
STOP_TIMEOUT_SECONDS: Final = 60
POLL_SECONDS: Final = 0.2
TOKEN_LIFESPAN_DAYS: Final = 3650

USERNAME: Final = "dev"
PASSWORD: Final = "dev"  # noqa: S105  # printed for whoever tries the development instance
_LANGUAGE: Final = "en"

# Everyone knows the password, so nobody but this machine may come in.
_HOST: Final = "127.0.0.1"

_CONFIGURATION: Final = f"""\
homeassistant:
http:
  server_host: {_HOST}
  server_port: {{port}}
frontend:
config:
conversation:
automation: !include automations.yaml
script: !include scripts.yaml
system_health:
logger:
  default: info
  logs:
    custom_components.ai_memory: debug
"""
# The dialog in the frontend needs it; scripts/setup brings its parts where there is a compiler.
_VOICE_CONFIGURATION: Final = "assist_pipeline:\n"
_HISTORY_CONFIGURATION: Final = "history:\nlogbook:\n"
_HISTORY_PARTS: Final = ("sqlalchemy", "fnv_hash_fast", "psutil_home_assistant")

# What the frontend's editors write.
_EDITED_FILES: Final = {"automations.yaml": "[]\n", "scripts.yaml": "{}\n"}

type Json = dict[str, Any]


class LiveError(Exception):
    """Home Assistant did not do what was asked of it."""


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Tell whether nothing listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex((_HOST, port)) != 0


def prepare_config(config: Path, integration: Path, port: int) -> None:
    """Make a configuration directory in which the integration of this project is installed."""
    installed = config / "custom_components"
    installed.mkdir(parents=True, exist_ok=True)
    link = installed / integration.name
    if link.is_symlink():
        link.unlink()
    link.symlink_to(integration.resolve(), target_is_directory=True)
    text = _CONFIGURATION.format(port=port)
    if find_spec("pymicro_vad"):
        text += _VOICE_CONFIGURATION
    if all(map(find_spec, _HISTORY_PARTS)):
        text += _HISTORY_CONFIGURATION
    (config / "configuration.yaml").write_text(text, encoding="utf-8")
    for name, nothing in _EDITED_FILES.items():
        file = config / name
        if not file.exists():
            file.write_text(nothing, encoding="utf-8")
    _skip_location(config)


def _skip_location(config: Path) -> None:
    """Mark the onboarding step done whose API sets up integrations that need the internet."""
    done: list[str] = _stored(config, "onboarding").get("done", [])
    if "core_config" not in done:
        _store(config, "onboarding", 4, {"done": [*done, "core_config"]})


def _pin_address(config: Path, port: int) -> None:
    """Store the address, which newer versions prefer to the one in ``configuration.yaml``.

    Every version understands the first form of the file and takes it as confirmed. Recovery mode
    knows no other address; without the file it would listen on all interfaces.
    """
    _store(config, "http", 1, {"server_host": [_HOST], "server_port": port})


def _stored(config: Path, key: str) -> Json:
    file = config / ".storage" / key
    if not file.exists():
        return {}
    data: Json = json.loads(file.read_text(encoding="utf-8"))["data"]
    return data


def _store(config: Path, key: str, version: int, data: Json) -> None:
    folder = config / ".storage"
    folder.mkdir(exist_ok=True)
    content = {"version": version, "minor_version": 1, "key": key, "data": data}
    (folder / key).write_text(json.dumps(content, indent=2), encoding="utf-8")


class HomeAssistantProcess:
    """One ``hass`` process with its log."""

    def __init__(self, config: Path, port: int) -> None:
        """Keep where it lives; nothing is started."""
        self.config = config
        self.url = f"http://{_HOST}:{port}"
        self.lines: list[str] = []
        self._port = port
        self._in_foreground = False
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it; the requirements of its integrations are expected to be installed."""
        # Home Assistant would move to another port, on all interfaces.
        if not is_free(self._port):
            msg = f"port {self._port} is in use"
            raise LiveError(msg)
        _pin_address(self.config, self._port)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "homeassistant", "--config", str(self.config)),
            *("--skip-pip", "--log-no-color"),
            cwd=self.config,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            # A Ctrl-C reaches this script alone, which then stops Home Assistant in order.
            start_new_session=True,
        )
        self._reader = asyncio.create_task(self._read_log(self._process))

    def bring_to_foreground(self) -> None:
        """Print the log from here on; what was read before stays in ``lines``."""
        self._in_foreground = True

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    async def wait(self) -> int:
        """Wait until it ends by itself and return its exit code."""
        if self._process is None or self._reader is None:
            msg = "Home Assistant was not started"
            raise LiveError(msg)
        await self._reader
        return await self._process.wait()

    async def stop(self) -> int:
        """Stop it as a service manager does and return its exit code."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_TIMEOUT_SECONDS):
                return await self.wait()
        except TimeoutError:
            await self.kill()
            raise LiveError(f"did not stop within {STOP_TIMEOUT_SECONDS} s") from None

    async def kill(self) -> None:
        """End it as a power cut does."""
        self._signal(signal.SIGKILL)
        await self.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self.is_running:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _read_log(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        async for raw in process.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            if self._in_foreground:
                print(line, flush=True)
            else:
                self.lines.append(line)


class Client:
    """What a browser, an automation's author and an agent say to Home Assistant."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        """Keep the connection; ``token`` is set by signing in."""
        self.url = url
        self.token = ""
        self._session = session

    @classmethod
    def of(cls, process: HomeAssistantProcess, session: aiohttp.ClientSession) -> Self:
        """Return a client of a started process."""
        return cls(process.url, session)

    async def request(
        self,
        path: str,
        body: object = None,
        *,
        form: Mapping[str, str] | None = None,
        accept: str = "application/json",
    ) -> Any:  # noqa: ANN401  # JSON
        """Send one request (POST with a body or a form, else GET) and return the reply."""
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        method = "GET" if body is None and form is None else "POST"
        async with self._session.request(
            method, self.url + path, json=body, data=form, headers=headers
        ) as response:
            text = await response.text()
            if response.status >= HTTPStatus.BAD_REQUEST:
                raise RequestError(path, response.status, text)
            return json.loads(text)

    async def wait_until_started(self, process: HomeAssistantProcess) -> None:
        """Wait until Home Assistant answers, or fail when its process ends."""
        async with self._in_time(f"did not answer on {self.url}"):
            while process.is_running:
                with suppress(aiohttp.ClientConnectionError):
                    if await self._answers():
                        return
                await asyncio.sleep(POLL_SECONDS)
        raise LiveError("Home Assistant ended while it started")

    async def wait_until_running(self) -> None:
        """Wait until everything that is configured has been set up."""
        async with self._in_time("did not finish its set-up"):
            while (await self.request("/api/config"))["state"] != "RUNNING":
                await asyncio.sleep(POLL_SECONDS)

    @staticmethod
    @asynccontextmanager
    async def _in_time(failure: str) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(START_TIMEOUT_SECONDS):
                yield
        except TimeoutError:
            msg = f"Home Assistant {failure} within {START_TIMEOUT_SECONDS} s"
            raise LiveError(msg) from None

    async def _answers(self) -> bool:
        try:
            await self.request("/api/onboarding")
        except RequestError as err:
            # Once everything is done there is no onboarding any more.
            return err.status == HTTPStatus.NOT_FOUND
        return True

    async def keep_address(self) -> None:
        """Confirm an address that is on trial, which newer versions leave after five minutes."""
        with suppress(UnknownCommandError):
            addresses = await self.command({"type": "http/config"})
            if addresses["revert_at"]:
                await self.command({"type": "http/config/promote"})

    async def is_signed_in(self) -> bool:
        """Tell whether the token is accepted."""
        try:
            await self.request("/api/")
        except RequestError:
            return False
        return True

    async def onboard(self) -> None:
        """Create the first user and sign in as that person."""
        client_id = f"{self.url}/"
        user = {"name": "Developer", "username": USERNAME, "password": PASSWORD}
        reply = await self.request(
            "/api/onboarding/users", {**user, "client_id": client_id, "language": _LANGUAGE}
        )
        grant = {"grant_type": "authorization_code", "code": reply["auth_code"]}
        tokens = await self.request("/auth/token", form={**grant, "client_id": client_id})
        self.token = tokens["access_token"]
        await self.request("/api/onboarding/analytics", {})
        integration = {"client_id": client_id, "redirect_uri": f"{client_id}?auth_callback=1"}
        await self.request("/api/onboarding/integration", integration)

    async def command(self, message: Json) -> Any:  # noqa: ANN401  # JSON
        """Send one websocket command and return its result."""
        async with self._session.ws_connect(f"{self.url}/api/websocket") as socket_:
            await socket_.receive_json()
            await socket_.send_json({"type": "auth", "access_token": self.token})
            await socket_.receive_json()
            await socket_.send_json({"id": 1, **message})
            reply: Json = await socket_.receive_json()
        if not reply.get("success"):
            unknown = reply.get("error", {}).get("code") == "unknown_command"
            error = UnknownCommandError if unknown else LiveError
            raise error(f"{message['type']}: {reply}")
        return reply["result"]

    async def create_long_lived_token(self, name: str) -> str:
        """Return a token as a person makes one under their profile."""
        token: str = await self.command(
            {
                "type": "auth/long_lived_access_token",
                "client_name": name,
                "lifespan": TOKEN_LIFESPAN_DAYS,
            }
        )
        return token

    async def create_entry(self, domain: str, answers: Mapping[str, object]) -> Json:
        """Go through a config flow, answering the fields that its forms ask for."""
        path = "/api/config/config_entries/flow"
        step: Json = await self.request(path, {"handler": domain})
        while step["type"] == "form":
            if step.get("errors"):
                raise LiveError(f"the config flow of {domain} refused: {step['errors']}")
            fields = {field["name"] for field in step.get("data_schema") or ()}
            given = {name: value for name, value in answers.items() if name in fields}
            step = await self.request(f"{path}/{step['flow_id']}", given)
        if step["type"] != "create_entry":
            raise LiveError(f"the config flow of {domain} ended with {step}")
        entry: Json = step["result"]
        if entry["state"] != "loaded":
            raise LiveError(f"{domain} is {entry['state']}: {entry.get('reason')}")
        return entry

    async def call_service(self, service: str, data: Mapping[str, object]) -> Json:
        """Call ``domain.service`` and return its response."""
        path = f"/api/services/{service.replace('.', '/')}?return_response"
        response: Json = (await self.request(path, dict(data)))["service_response"]
        return response

    async def state(self, entity_id: str) -> Json:
        """Return the state of an entity with its attributes."""
        state: Json = await self.request(f"/api/states/{entity_id}")
        return state

    async def add_mcp_server(self, api_id: str) -> str:
        """Set up core's MCP server for one LLM API and return the path that serves it.

        Newer versions serve every API under a path of its own, older ones the chosen API alone.
        """
        await self.create_entry("mcp_server", {"llm_hass_api": [api_id]})
        path = f"/api/mcp/{api_id}"
        try:
            await self.request(path, mcp_message("ping", {}))
        except RequestError as err:
            if err.status != HTTPStatus.NOT_FOUND:
                raise
            return "/api/mcp"
        return path

    async def call_tool(self, path: str, name: str, arguments: Mapping[str, object]) -> Json:
        """Call a tool over MCP and return the JSON that it answers with."""
        call = mcp_message("tools/call", {"name": name, "arguments": dict(arguments)})
        reply: Json = await self.request(path, call)
        return tool_result(reply)


class UnknownCommandError(LiveError):
    """This version of Home Assistant has no such websocket command."""


class RequestError(LiveError):
    """Home Assistant refused a request."""

    def __init__(self, path: str, status: int, text: str) -> None:
        """Keep the status for those who expect it."""
        super().__init__(f"{path}: HTTP {status}: {text}")
        self.status = status


def mcp_message(method: str, parameters: Json) -> Json:
    """Return a request of the Model Context Protocol."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}


def tool_result(reply: Json) -> Json:
    """Return what a tool said from the protocol's reply to a call."""
    if "result" not in reply or reply["result"].get("isError"):
        raise LiveError(f"the tool failed: {reply}")
    result: Json = json.loads(reply["result"]["content"][0]["text"])
    return result
