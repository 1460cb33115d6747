"""A model server that speaks Ollama's protocol and answers as a function tells it to.

The fake stands at the network's edge only: core's ``ollama`` integration and its client talk to it
over HTTP as they would to the real thing. Every chat request is kept, so that a test can look at
what reached the model. It never talks to Home Assistant by itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
import json
from typing import Any, Final

from aiohttp import web

MODEL: Final = "scripted:latest"
_HOST: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model's wish to call a tool."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to the model, as it came over the network."""

    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def instructions(self) -> str:
        """What the model is told before the conversation."""
        return "\n".join(self.said_by("system"))

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The offered tools by name: description and parameters."""
        return {tool["function"]["name"]: tool["function"] for tool in self.body.get("tools") or ()}

    def tool_named(self, name: str) -> str:
        """Return under which name a tool is offered here: Home Assistant may put a prefix first."""
        return min((offered for offered in self.tools if offered.endswith(name)), key=len)

    def said_by(self, role: str) -> list[str]:
        """Return the texts of one role, in order."""
        return [message["content"] for message in self.messages if message["role"] == role]

    def tool_result(self) -> dict[str, Any]:
        """Return the last tool's reply, without the envelope that newer versions put it in."""
        received: dict[str, Any] = json.loads(self.said_by("tool")[-1])
        inner: dict[str, Any] = received.get("data", received)
        return inner


type Model = Callable[[ChatRequest], ToolCall | str]


class FakeOllama:
    """The server: its address, the model that answers and what it was asked."""

    def __init__(self) -> None:
        """Begin without a model: a chat before ``model`` is set is an error."""
        self.url = ""
        self.model: Model = _no_model
        self.requests: list[ChatRequest] = []
        app = web.Application()
        app.add_routes(
            [
                web.get("/", _answer_root),
                web.get("/api/version", _answer_version),
                web.get("/api/tags", _answer_tags),
                web.post("/api/show", _answer_show),
                web.post("/api/chat", self._answer_chat),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None)

    def take_requests(self) -> list[ChatRequest]:
        """Return what was asked since the last time."""
        taken, self.requests = self.requests, []
        return taken

    async def start(self) -> None:
        """Serve on a free port."""
        await self._runner.setup()
        await web.TCPSite(self._runner, _HOST, 0).start()
        self.url = f"http://{_HOST}:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        """Stop serving."""
        await self._runner.cleanup()

    async def _answer_chat(self, request: web.Request) -> web.StreamResponse:
        chat = ChatRequest(await request.json())
        self.requests.append(chat)
        try:
            decision = self.model(chat)
        except (AssertionError, LookupError, ValueError) as err:
            return web.json_response(
                {"error": f"the scripted model failed: {err!r}"}, status=HTTPStatus.BAD_REQUEST
            )
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        for message in _messages(decision):
            await response.write(_line(message, done=False))
        await response.write(_line({"role": "assistant", "content": ""}, done=True))
        await response.write_eof()
        return response


def _no_model(_request: ChatRequest) -> str:
    raise LookupError("no model was set")


def _messages(decision: ToolCall | str) -> Iterator[dict[str, Any]]:
    """Yield the chunks in which Ollama streams a decision: a tool call whole, a text in words."""
    if isinstance(decision, ToolCall):
        function = {"name": decision.name, "arguments": decision.arguments}
        yield {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
        return
    for word in decision.split(" "):
        yield {"role": "assistant", "content": f"{word} "}


def _line(message: dict[str, Any], *, done: bool) -> bytes:
    chunk: dict[str, Any] = {
        "model": MODEL,
        "created_at": datetime.now(UTC).isoformat(),
        "message": message,
        "done": done,
    }
    if done:
        chunk |= {"done_reason": "stop", "total_duration": 1, "prompt_eval_count": 1}
    return json.dumps(chunk).encode() + b"\n"


async def _answer_root(_request: web.Request) -> web.Response:
    return web.Response(text="Ollama is running")


async def _answer_version(_request: web.Request) -> web.Response:
    return web.json_response({"version": "0.12.0"})


async def _answer_tags(_request: web.Request) -> web.Response:
    model = {
        "name": MODEL,
        "model": MODEL,
        "modified_at": "2025-11-01T00:00:00Z",
        "size": 1,
        "digest": "0" * 64,
        "details": {"format": "gguf", "family": "scripted", "parameter_size": "1B"},
    }
    return web.json_response({"models": [model]})


async def _answer_show(_request: web.Request) -> web.Response:
    return web.json_response({"capabilities": ["completion", "tools"], "model_info": {}})
