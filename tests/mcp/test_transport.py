"""Calls that take time, and clients that flood: over a real socket, with a slow offer behind it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from http import HTTPStatus
import json
import time
from typing import Any

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
import pytest

from custom_components.ai_memory.mcp import limits as fair_use, transport as carrying
from custom_components.ai_memory.mcp.engine import JsonObject, Reporter, Server, ToolResult
from custom_components.ai_memory.mcp.engine.jsonrpc import ErrorCode
from custom_components.ai_memory.mcp.limits import Limits, TooManyRequestsError
from custom_components.ai_memory.mcp.transport import Transport
from tests.conformance.fixtures import FixtureOffer, Visitor

from .conftest import BOTH_TYPES, STATELESS, envelope, request_body

SESSION = "Mcp-Session-Id"


class SlowOffer(FixtureOffer):
    """Has one more tool, which waits until the test lets it go."""

    def __init__(self) -> None:
        """Let nothing go."""
        super().__init__()
        self.waiting = 0
        self.cancelled = 0
        self.go = asyncio.Event()

    async def call(
        self, client: Visitor, name: str, arguments: JsonObject, reporter: Reporter
    ) -> ToolResult:
        """Wait, or do as the fixtures do."""
        if name == "explode":
            raise ZeroDivisionError("a secret of the server")
        if name != "wait":
            return await super().call(client, name, arguments, reporter)
        self.waiting += 1
        await reporter.progress(0)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.waiting -= 1
        return ToolResult(content=())

    async def until(self, *, waiting: int) -> None:
        """Return when so many calls wait."""
        async with asyncio.timeout(5):
            while self.waiting != waiting:
                await asyncio.sleep(0.005)


@pytest.fixture
def offer() -> SlowOffer:
    return SlowOffer()


@pytest.fixture
def server(offer: SlowOffer) -> Server[Visitor]:
    return Server(offer)


@pytest.fixture
def transport(server: Server[Visitor]) -> Transport[Visitor]:
    return Transport(server, Limits())


@pytest.fixture
async def http(
    transport: Transport[Visitor], socket_enabled: None
) -> AsyncGenerator[TestClient[Any, Any]]:
    """Return a client of an endpoint that takes the client's name from a header."""

    async def post(request: web.Request) -> web.StreamResponse:
        return await transport.post(request, Visitor(request.headers.get("Client", "anyone")))

    app = web.Application()
    app.router.add_post("/mcp", post)
    async with TestClient(TestServer(app)) as client:
        yield client


async def _post(
    http: TestClient[Any, Any], body: object, headers: Mapping[str, str] | None = None
) -> ClientResponse:
    return await http.post("/mcp", json=body, headers={"Accept": BOTH_TYPES, **(headers or {})})


def _call(name: str, request_id: object = 1, **meta: object) -> dict[str, Any]:
    params: dict[str, Any] = {"name": name, "arguments": {}}
    return request_body("tools/call", params | ({"_meta": meta} if meta else {}), request_id)


def _cancel(request_id: object) -> dict[str, Any]:
    params = {"requestId": request_id, "reason": "changed my mind"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


async def _events(response: ClientResponse) -> list[dict[str, Any]]:
    lines = (await response.text()).splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


async def test_a_client_cancels_its_own_call(http: TestClient[Any, Any], offer: SlowOffer) -> None:
    call = asyncio.ensure_future(_post(http, _call("wait", "long")))
    await offer.until(waiting=1)
    accepted = await _post(http, _cancel("long"))
    assert accepted.status == HTTPStatus.ACCEPTED
    said = await (await call).json()
    assert (said["id"], said["error"]["code"]) == ("long", ErrorCode.CANCELLED)
    assert offer.cancelled == 1


async def test_nobody_cancels_the_call_of_another(
    http: TestClient[Any, Any], offer: SlowOffer
) -> None:
    mine = {"Client": "a", SESSION: "one"}
    call = asyncio.ensure_future(_post(http, _call("wait", 7), mine))
    await offer.until(waiting=1)
    for others in ({"Client": "b", SESSION: "one"}, {"Client": "a", SESSION: "two"}, {}):
        assert (await _post(http, _cancel(7), others)).status == HTTPStatus.ACCEPTED
    for wrong in ("7", 8):
        await _post(http, _cancel(wrong), mine)
    assert offer.waiting == 1
    offer.go.set()
    assert (await (await call).json())["result"]["isError"] is False


async def test_cancelling_never_waits_behind_the_calls_it_ends(
    http: TestClient[Any, Any], offer: SlowOffer
) -> None:
    count = fair_use.RUNNING_MAXIMUM_REQUESTS + 3
    calls = [asyncio.ensure_future(_post(http, _call("wait", one))) for one in range(count)]
    await offer.until(waiting=fair_use.RUNNING_MAXIMUM_REQUESTS)
    for one in range(count):
        await _post(http, _cancel(one))
    offer.go.set()
    codes = [(await (await call).json()).get("error", {}).get("code") for call in calls]
    assert codes[: fair_use.RUNNING_MAXIMUM_REQUESTS] == [ErrorCode.CANCELLED] * 4


async def test_a_client_that_leaves_cancels_its_call(
    http: TestClient[Any, Any], offer: SlowOffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying, "WATCH_SECONDS", 0.02)
    call = asyncio.ensure_future(_post(http, _call("wait")))
    await offer.until(waiting=1)
    call.cancel()
    await offer.until(waiting=0)
    assert offer.cancelled == 1


async def test_progress_comes_as_events_to_who_asks_for_it(http: TestClient[Any, Any]) -> None:
    response = await _post(http, _call("test_tool_with_progress", 5, progressToken="p"))
    assert response.content_type == "text/event-stream"
    *told, last = await _events(response)
    assert [one["params"] for one in told] == [
        {"progressToken": "p", "progress": done, "total": 100} for done in (0, 50, 100)
    ]
    assert last["id"] == 5
    assert last["result"]["content"][0]["text"] == "Done."


@pytest.mark.parametrize(
    ("meta", "accept"),
    [
        ({}, BOTH_TYPES),
        ({"progressToken": True}, BOTH_TYPES),
        ({"progressToken": [1]}, BOTH_TYPES),
        ({"progressToken": 1}, "application/json"),
        ({"progressToken": 1}, "*/*"),
    ],
)
async def test_without_token_or_stream_the_answer_comes_alone(
    http: TestClient[Any, Any], meta: dict[str, object], accept: str
) -> None:
    body = _call("test_tool_with_progress", **meta)
    response = await _post(http, body, {"Accept": accept})
    assert response.content_type == "application/json"
    assert (await response.json())["result"]["content"][0]["text"] == "Done."


async def test_a_failure_of_the_server_keeps_its_reasons_to_itself(
    http: TestClient[Any, Any],
) -> None:
    response = await _post(http, _call("explode"))
    assert response.status == HTTPStatus.OK
    said = await response.json()
    assert said["error"] == {
        "code": ErrorCode.INTERNAL,
        "message": "The server failed unexpectedly",
    }


async def test_closing_ends_calls_and_takes_leave_of_listeners(
    http: TestClient[Any, Any], offer: SlowOffer, server: Server[Visitor]
) -> None:
    params = {"_meta": envelope(), "notifications": {"toolsListChanged": True}}
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "subscriptions/listen"}
    listening = await _post(http, request_body("subscriptions/listen", params, "s"), headers)  # type: ignore[arg-type]
    call = asyncio.ensure_future(_post(http, _call("wait")))
    await offer.until(waiting=1)
    server.close()
    assert (await (await call).json())["error"]["code"] == ErrorCode.CANCELLED
    first, last = await _events(listening)
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert last["id"] == "s"
    assert last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s"


async def test_ending_a_client_ends_what_runs_and_what_waits_for_its_turn(
    http: TestClient[Any, Any], offer: SlowOffer, transport: Transport[Visitor]
) -> None:
    most = fair_use.RUNNING_MAXIMUM_REQUESTS
    other = asyncio.ensure_future(_post(http, _call("wait"), {"Client": "b"}))
    calls = [
        asyncio.ensure_future(_post(http, _call("wait", one), {"Client": "a"}))
        for one in range(most + 3)
    ]
    await offer.until(waiting=most + 1)
    transport.end("a")
    transport.end("unknown")
    await asyncio.sleep(0)
    # What is on its way out is not told again.
    transport.end("a")
    async with asyncio.timeout(5):
        said = [await (await call).json() for call in calls]
    assert [one["id"] for one in said] == list(range(most + 3))
    assert {one["error"]["code"] for one in said} == {ErrorCode.CANCELLED}
    assert (offer.waiting, offer.cancelled) == (1, most)
    again = asyncio.ensure_future(_post(http, _call("wait"), {"Client": "a"}))
    await offer.until(waiting=2)
    offer.go.set()
    for call in (other, again):
        assert (await (await call).json())["result"]["isError"] is False


async def test_a_call_that_was_heard_of_is_ended_on_its_stream(
    http: TestClient[Any, Any], offer: SlowOffer, transport: Transport[Visitor]
) -> None:
    response = await _post(http, _call("wait", "long", progressToken="p"))
    assert response.content_type == "text/event-stream"
    assert offer.waiting == 1
    transport.end("anyone")
    async with asyncio.timeout(5):
        told, last = await _events(response)
    assert told["method"] == "notifications/progress"
    assert (last["id"], last["error"]["code"]) == ("long", ErrorCode.CANCELLED)


async def test_listeners_of_one_client_are_few(http: TestClient[Any, Any]) -> None:
    params = {"_meta": envelope(), "notifications": {"toolsListChanged": True}}
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "subscriptions/listen"}
    body = request_body("subscriptions/listen", params)  # type: ignore[arg-type]
    most = fair_use.LISTENING_MAXIMUM_REQUESTS
    listening = [await _post(http, body, headers) for _ in range(most)]
    assert {one.status for one in listening} == {HTTPStatus.OK}
    refused = await _post(http, body, headers)
    assert refused.status == HTTPStatus.TOO_MANY_REQUESTS
    assert (await _post(http, body, {**headers, "Client": "b"})).status == HTTPStatus.OK
    for one in listening:
        one.close()


async def test_a_flood_is_refused_and_starves_nobody(
    http: TestClient[Any, Any], offer: SlowOffer
) -> None:
    flood = fair_use.PRESENT_MAXIMUM_REQUESTS + 30
    calls = [asyncio.ensure_future(_post(http, _call("wait", one))) for one in range(flood)]
    await offer.until(waiting=fair_use.RUNNING_MAXIMUM_REQUESTS)
    await asyncio.sleep(0.3)
    started = time.monotonic()
    other = await _post(http, _call("test_simple_text"), {"Client": "another"})
    assert (await other.json())["result"]["isError"] is False
    assert time.monotonic() - started < 0.5
    refused = [call for call in calls if call.done()]
    assert refused
    for call in refused:
        response = call.result()
        assert response.status == HTTPStatus.TOO_MANY_REQUESTS
        assert int(response.headers["Retry-After"]) >= 1
    offer.go.set()
    statuses = [(await call).status for call in calls]
    assert set(statuses) == {HTTPStatus.OK, HTTPStatus.TOO_MANY_REQUESTS}


async def test_credit_runs_out_and_comes_back() -> None:
    now = 0.0
    limits = Limits(lambda: now)

    async def take(client: str) -> bool:
        try:
            async with limits.present(client):
                return True
        except TooManyRequestsError:
            return False

    assert all([await take("a") for _ in range(int(fair_use.BURST_REQUESTS))])
    assert not await take("a")
    assert await take("b")
    now += 1.0
    assert all([await take("a") for _ in range(int(fair_use.RATE_REQUESTS_PER_SECOND))])
    assert not await take("a")


def test_refusals_have_to_queue() -> None:
    interval, longest = fair_use.REFUSAL_INTERVAL_SECONDS, fair_use.REFUSAL_LONGEST_WAIT_SECONDS
    share = fair_use.Share(0.0)
    waits = [share.refusal_wait_seconds(10.0) for _ in range(200)]
    assert waits[:100] == pytest.approx([number * interval for number in range(100)])
    assert waits[101:] == pytest.approx([longest] * 99)
    assert share.refusal_wait_seconds(20.0) == 0.0


async def test_idle_clients_are_forgotten_and_busy_ones_are_not() -> None:
    now = 0.0
    limits = Limits(lambda: now)
    async with limits.present("busy"):
        for number in range(fair_use.KNOWN_MAXIMUM_CLIENTS - 1):
            async with limits.present(str(number)):
                now += 0.001
        now += 60
        async with limits.present("new"):
            assert set(limits._shares) == {"busy", "new"}
