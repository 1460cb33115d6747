"""How fast the door of coding agents answers, alone, in a crowd and beside a flood.

    python -m benchmarks.door [--records N] [--seconds S] [--clients N] [--json FILE]

The door is served by a process of its own (``door_server``); this one sends what agents send, over
HTTP, as MCP. First one client begins sessions and searches, one after the other. Then so many
clients, each with its own token, do so all at once, and store now and then. Last, one client floods
the door while another goes on searching. The encoder costs next to nothing, so that what is told is
the time beyond it. The exit code is 1 if any request failed other than by a limit that was told;
a goal that is missed is only told, because a busy machine misses it too.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
import json
from pathlib import Path
import sys
import tempfile
from time import perf_counter
from typing import Any, Final

import aiohttp
from aiohttp import hdrs

from .door_server import REPOSITORIES, SEED, Repositories, namespace
from .figures import Latency, Stall
from .open_door import MCP_PATH
from .report import environment

DEFAULT_RECORDS: Final = 10_000
DEFAULT_SECONDS: Final = 60.0
DEFAULT_CLIENTS: Final = 64
DIMENSIONS: Final = 384
SINGLE_CALLS: Final = 300
FLOOD_SECONDS_PART: Final = 0.2
FLOOD_AT_ONCE: Final = 150
TURNS: Final = ("search", "bootstrap", "search", "get", "search", "bootstrap", "search", "store")
_PROJECT: Final = Path(__file__).resolve().parent.parent
_VERSION: Final = "2025-11-25"


@dataclass(slots=True)
class Tally:
    """What clients met: how long each kind of call took, and what failed."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    limited: int = 0

    def latencies(self) -> dict[str, Latency]:
        """Return the durations of each kind of call."""
        return {name: Latency.of(found) for name, found in sorted(self.seconds.items()) if found}


class Agent:
    """One client with a token of its own."""

    def __init__(self, url: str, session: aiohttp.ClientSession, number: int, tally: Tally) -> None:
        """Keep where to send to and what to add to."""
        self._url = f"{url}{MCP_PATH}"
        self._session = session
        self._number = number
        self._tally = tally
        self._headers = {
            hdrs.AUTHORIZATION: f"Bearer token-{number}",
            hdrs.ACCEPT: "application/json, text/event-stream",
            "MCP-Protocol-Version": _VERSION,
        }
        self._turn = number * 7
        self._seen: list[str] = []

    async def turn(self, texts: Repositories, records: int) -> None:
        """Do the next thing."""
        self._turn += 1
        kind = TURNS[self._turn % len(TURNS)]
        number = self._turn * 7_919 % records
        # Who works on something stays in its repository.
        number = (number - (number - self._number) % REPOSITORIES) % records
        place = namespace(number)
        match kind:
            case "search":
                reply = await self.search(texts, number)
                self._seen = [one["id"] for one in (reply or {}).get("records", ())]
            case "get" if self._seen:
                await self._call(kind, "memory_get", ids=self._seen[:3])
            case "store":
                text = f"Agent {self._number} noted {texts.content(number)} in turn {self._turn}."
                fact = {"namespace": place, "type": "fact", "title": text[:60], "content": text}
                await self._call(kind, "memory_store", **fact)
            case _:
                await self.bootstrap(place)

    async def bootstrap(self, place: str) -> None:
        """Begin a session."""
        await self._call("bootstrap", "memory_bootstrap", namespace=place)

    async def search(self, texts: Repositories, number: int) -> dict[str, Any] | None:
        """Search one repository for what is in it."""
        query = (texts.question, texts.rare_words)[number % 2](number)
        found = await self._call(
            "search", "memory_search", query=query, namespace=namespace(number)
        )
        if found is not None and not found["records"]:
            self._tally.errors["search found nothing"] += 1
        return found

    async def flood(self, until: float) -> None:
        """Send one request after the other, whatever is answered."""
        while perf_counter() < until:
            await self._call("flood", "memory_bootstrap", namespace=namespace(0))

    async def _call(self, kind: str, tool: str, **arguments: object) -> dict[str, Any] | None:
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        start = perf_counter()
        try:
            async with self._session.post(self._url, json=body, headers=self._headers) as response:
                said = await response.json()
        except (aiohttp.ClientError, TimeoutError) as err:
            self._tally.errors[f"{kind}: {type(err).__name__}"] += 1
            return None
        if response.status == HTTPStatus.TOO_MANY_REQUESTS:
            self._tally.limited += 1
            if int(response.headers[hdrs.RETRY_AFTER]) < 1:
                self._tally.errors["no word of when to come back"] += 1
            return None
        self._tally.seconds.setdefault(kind, []).append(perf_counter() - start)
        if response.status != HTTPStatus.OK or "error" in said or said["result"]["isError"]:
            self._tally.errors[f"{kind}: {response.status} {str(said)[:200]}"] += 1
            return None
        told: dict[str, Any] = json.loads(said["result"]["content"][0]["text"])
        return told


class Door:
    """The process that serves."""

    def __init__(self, url: str, process: asyncio.subprocess.Process) -> None:
        """Keep the process and its address."""
        self.url = url
        self._process = process

    async def stall(self) -> Stall:
        """Return how late the loop there was since it was last asked."""
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        assert self._process.stdout is not None  # noqa: S101
        self._process.stdin.write(b"\n")
        return Stall(**json.loads(await self._process.stdout.readline()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The figures of one part."""

    name: str
    latencies: dict[str, Latency]
    stall: Stall
    limited: int
    errors: dict[str, int]


async def measure(folder: Path, records: int, seconds: float, clients: int) -> list[Part]:
    """Do the three parts."""
    texts = Repositories(SEED, records)
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        _served(folder, records, clients) as door,
        aiohttp.ClientSession(connector=connector) as session,
    ):

        async def part(name: str, *tallies: Tally) -> Part:
            stall = await door.stall()
            calls = {kind: told for tally in tallies for kind, told in tally.latencies().items()}
            errors: Counter[str] = sum((tally.errors for tally in tallies), Counter())
            limited = sum(tally.limited for tally in tallies)
            return Part(
                name=name, latencies=calls, stall=stall, limited=limited, errors=dict(errors)
            )

        def agents(numbers: Sequence[int], tally: Tally) -> list[Agent]:
            return [Agent(door.url, session, number, tally) for number in numbers]

        alone, crowd, flood, beside = Tally(), Tally(), Tally(), Tally()
        await door.stall()
        (one,) = agents([0], alone)
        for number in range(SINGLE_CALLS):
            await one.bootstrap(namespace(number))
            await one.search(texts, number * 7_919 % records)
        parts = [await part("one client", alone)]

        end = perf_counter() + seconds

        async def work(agent: Agent) -> None:
            while perf_counter() < end:
                await agent.turn(texts, records)

        await asyncio.gather(*map(work, agents(range(clients), crowd)))
        parts.append(await part(f"{clients} clients at once", crowd))

        end = perf_counter() + seconds * FLOOD_SECONDS_PART
        (flooding,), (calm,) = agents([0], flood), agents([1], beside)

        async def go_on() -> None:
            number = 0
            while perf_counter() < end:
                number += 1
                await calm.search(texts, number * 7_919 % records)

        await asyncio.gather(go_on(), *(flooding.flood(end) for _ in range(FLOOD_AT_ONCE)))
        beside.errors["the other client was limited"] += beside.limited
        flood.errors["the flood was not limited"] += not flood.limited
        parts.append(await part("one client beside a flood", flood, beside))
    return parts


@asynccontextmanager
async def _served(folder: Path, records: int, clients: int) -> AsyncGenerator[Door]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "benchmarks.door_server", str(folder), str(records), str(DIMENSIONS)),
        str(clients),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=_PROJECT,
    )
    assert process.stdin is not None  # noqa: S101 - it was asked for
    assert process.stdout is not None  # noqa: S101
    try:
        first = await process.stdout.readline()
        if not first:
            raise RuntimeError("The door did not open")
        yield Door(json.loads(first)["url"], process)
    finally:
        process.stdin.close()
        await process.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as the command line asks; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.door", description="Knock on the door of coding agents."
    )
    parser.add_argument("--records", type=int, default=DEFAULT_RECORDS, metavar="N")
    parser.add_argument("--seconds", type=float, default=DEFAULT_SECONDS, metavar="S")
    parser.add_argument("--clients", type=int, default=DEFAULT_CLIENTS, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    wanted = parser.parse_args(arguments)
    found_on = environment()
    with tempfile.TemporaryDirectory(prefix="ai_memory_door_") as folder:
        parts = asyncio.run(measure(Path(folder), wanted.records, wanted.seconds, wanted.clients))
    print(", ".join(f"{name} {value}" for name, value in found_on.items()))
    print(f"\n{wanted.records} records of {DIMENSIONS} dimensions")
    for part in parts:
        _tell(part)
    if wanted.json:
        figures = {"environment": found_on, "parts": [asdict(part) for part in parts]}
        wanted.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(any(any(part.errors.values()) for part in parts))


def _tell(part: Part) -> None:
    print(f"\n{part.name}")
    for name, calls in part.latencies.items():
        print(
            f"  {name}: {calls.count} calls, p50 {calls.p50_ms:.1f} ms, p95 {calls.p95_ms:.1f} ms,"
            f" longest {calls.longest_ms:.1f} ms"
        )
    print(
        f"  longest stall of the loop {part.stall.longest_ms:.1f} ms"
        f" (its own {part.stall.longest_own_ms:.1f}); refused by a limit: {part.limited}"
    )
    failed = {name: count for name, count in part.errors.items() if count}
    print(f"  errors: {failed or 'none'}")


if __name__ == "__main__":
    sys.exit(main())
