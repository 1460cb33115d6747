"""A real Home Assistant process, and the ways in that a person and an agent have.

``scripts/develop`` and the end-to-end tests start one, onboard it and speak to it over HTTP,
websocket and MCP. Nothing here reaches into the process: what works here works for everyone.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
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

_CONFIGURATION: Final = """\
homeassistant:
http:
  server_host: 127.0.0.1
  server_port: {port}
frontend:
config:
conversation:
system_health:
logger:
  default: info
  logs:
    custom_components.ai_memory: debug
"""
# The dialog in the frontend needs it; scripts/setup brings its parts where there is a compiler.
_VOICE_CONFIGURATION: Final = "assist_pipeline:\n"

type Json = dict[str, Any]


class LiveError(Exception):
    """Home Assistant did not do what was asked of it."""


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Tell whether nothing listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


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
    (config / "configuration.yaml").write_text(text, encoding="utf-8")


class HomeAssistantProcess:
    """One ``hass`` process with its log."""

    def __init__(self, config: Path, port: int) -> None:
        """Keep where it lives; nothing is started."""
        self.config = config
        self.url = f"http://127.0.0.1:{port}"
        self.lines: list[str] = []
        self._in_foreground = False
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it; the requirements of its integrations are expected to be installed."""
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
        async with asyncio.timeout(START_TIMEOUT_SECONDS):
            while process.is_running:
                with suppress(aiohttp.ClientConnectionError, RequestError):
                    await self.request("/api/onboarding")
                    return
                await asyncio.sleep(POLL_SECONDS)
        raise LiveError("Home Assistant ended while it started")

    async def wait_until_running(self) -> None:
        """Wait until everything that is configured has been set up."""
        async with asyncio.timeout(START_TIMEOUT_SECONDS):
            while (await self.request("/api/config"))["state"] != "RUNNING":
                await asyncio.sleep(POLL_SECONDS)

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
            raise LiveError(f"{message['type']}: {reply}")
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
