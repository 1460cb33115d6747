"""Whether any arguments break a tool: no failure of the server, no write where it refuses.

    python -m benchmarks.fuzz [--cases N] [--seed N]

Arguments are drawn from each tool's own schema (``fuzz_arguments``): such as it takes, such as it
must refuse, and both mixed. They go through a socket, as MCP and as REST, to the real transport
with a real file behind it, by clients of every access and reach. Of each answer is asked: is it no
failure of the server; does a reply fit the schema that was promised; did a refusal, and a tool that
only reads, leave everything as it was. The exit code is 1 where anything was otherwise; hypothesis
then shows the smallest arguments that it found.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from http import HTTPStatus
import json
from pathlib import Path
import sqlite3
import sys
import tempfile
from time import perf_counter
from typing import Any, Final

import aiohttp
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st
import jsonschema

from custom_components.ai_memory.core import Access, Caller, MemoryManager, NewMemory, Reach, Scope
from custom_components.ai_memory.mcp.clients import Client
from custom_components.ai_memory.mcp.engine import Tool
from custom_components.ai_memory.mcp.offer import MemoryOffer

from .fuzz_arguments import Known, arguments_of
from .kill_storm import manager_of
from .open_door import MCP_PATH, TOOLS_PATH, client_of, open_door

DEFAULT_CASES: Final = 20_000
CROWD: Final = 64
"""So many clients of a kind take turns, so that none of them is over its limit."""
NAMESPACES: Final = ("github/acme/tool", "github/bob/tool", "projects/web", "topics/net", "global")
_INTERNAL: Final = -32603
_NEVER: Final = (HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.TOO_MANY_REQUESTS)
_READING: Final = frozenset({Access.READ})

# Everything that a caller can write. What a screen refused is put on record, which is no write.
_STATE: Final = """
    SELECT (SELECT count(*) || ' ' || total(revision) || ' ' || max(sequence) FROM memories),
        (SELECT count(*) || ' ' || total(id) FROM audit WHERE action <> 'screened'),
        (SELECT count(*) FROM evidence), (SELECT count(*) FROM earlier_texts),
        (SELECT count(*) || ' ' || group_concat(state, '') FROM anchors),
        (SELECT count(*) FROM receipts), (SELECT count(*) FROM tunnels),
        (SELECT group_concat(name || description || default_scope) FROM wings),
        (SELECT group_concat(name || description) FROM rooms)
"""


class AmissError(Exception):
    """An answer that must not be."""


@dataclass(slots=True)
class Outcome:
    """What became of the cases."""

    cases: int = 0
    answers: Counter[str] = field(default_factory=Counter)


class Fuzzer:
    """Sends cases to an open door and looks at the answers."""

    def __init__(
        self, url: str, session: aiohttp.ClientSession, file: sqlite3.Connection, known: Known
    ) -> None:
        """Keep where to send to and where to look."""
        self.outcome = Outcome()
        self.known = known
        self._url = url
        self._session = session
        self._file = file
        self._validators: dict[str, jsonschema.protocols.Validator] = {}

    async def send(self, kind: str, tool: Tool, arguments: object, *, rest: bool) -> None:
        """Send one case. Raises AmissError and ValidationError."""
        self.outcome.cases += 1
        token = f"{kind}-{self.outcome.cases % CROWD}"
        before = self._state()
        call = self._over_rest if rest else self._over_mcp
        status, reply, refusal = await call(token, tool.name, arguments)
        self.outcome.answers["done" if refusal is None else refusal] += 1
        if status in _NEVER:
            raise AmissError(f"{tool.name} was answered with {status}: {refusal}")
        if (refusal is not None or tool.read_only) and self._state() != before:
            raise AmissError(f"{tool.name} wrote although it was refused or only reads: {refusal}")
        if refusal is None:
            self._check_reply(tool, reply)

    async def _over_rest(
        self, token: str, name: str, arguments: object
    ) -> tuple[int, Any, str | None]:
        status, said = await self._post(f"{TOOLS_PATH}{name}", token, arguments)
        return status, said, None if status == HTTPStatus.OK else said["error_key"]

    async def _over_mcp(
        self, token: str, name: str, arguments: object
    ) -> tuple[int, Any, str | None]:
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        status, said = await self._post(MCP_PATH, token, body)
        if "error" in said:
            if said["error"]["code"] == _INTERNAL:
                raise AmissError(f"{name} failed unexpectedly")
            return status, None, f"error {said['error']['code']}"
        result = said["result"]
        told = json.loads(result["content"][0]["text"])
        if result["isError"]:
            return status, None, told["error_key"]
        if result.get("structuredContent", told) != told:
            raise AmissError(f"{name} says one thing as text and another as a value")
        return status, told, None

    async def _post(self, path: str, token: str, body: object) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        async with self._session.post(self._url + path, json=body, headers=headers) as response:
            return response.status, await response.json()

    def _state(self) -> tuple[Any, ...]:
        return tuple(self._file.execute(_STATE).fetchone())

    def _check_reply(self, tool: Tool, reply: object) -> None:
        if tool.output_schema is None:
            return
        validator = self._validators.get(tool.name)
        if validator is None:
            validator = jsonschema.Draft202012Validator(tool.output_schema)
            self._validators[tool.name] = validator
        validator.validate(reply)


_KINDS: Final = ("everything", "everything", "workshop", "reader", "narrow")
"""Who asks how often."""


def kinds() -> dict[str, Client]:
    """Return one client of each kind: all access, the workshop, reading alone, some wings."""
    return {
        "everything": client_of("everything", home=True),
        "workshop": client_of("workshop"),
        "reader": client_of("reader", _READING),
        "narrow": client_of("narrow", wings=("github/acme/*", "global")),
    }


def fuzz(cases: int, first: int, folder: Path) -> Outcome:
    """Send so many cases. Raises what hypothesis found, with the smallest arguments."""
    with asyncio.Runner() as runner:
        context = _prepared(folder / "fuzz.db")
        fuzzer, tools = runner.run(context.__aenter__())
        try:
            _draw(runner, fuzzer, tools, cases, first)
        finally:
            runner.run(context.__aexit__(None, None, None))
    return fuzzer.outcome


def _draw(
    runner: asyncio.Runner, fuzzer: Fuzzer, tools: Sequence[Tool], cases: int, first: int
) -> None:
    drawn = {tool.name: arguments_of(tool.input_schema, fuzzer.known) for tool in tools}
    by_name = {tool.name: tool for tool in tools}
    cases_of = {
        name: st.tuples(st.sampled_from(_KINDS), st.just(name), arguments, st.booleans())
        for name, arguments in drawn.items()
    }
    case = st.sampled_from(sorted(cases_of)).flatmap(cases_of.__getitem__)

    @seed(first)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(case)
    def send(case: tuple[str, str, object, bool]) -> None:
        kind, name, arguments, rest = case
        runner.run(fuzzer.send(kind, by_name[name], arguments, rest=rest))

    send()


@asynccontextmanager
async def _prepared(path: Path) -> AsyncGenerator[tuple[Fuzzer, list[Tool]]]:
    """Lend a fuzzer of a filled memory behind an open door, and all tools."""
    manager = manager_of(path)
    await manager.open()
    known = await _filled(manager)
    crowd = {
        f"{kind}-{number}": client_of(
            f"{kind}-{number}",
            client.access,
            home=client.reach.home,
            wings=client.reach.wings,
        )
        for kind, client in kinds().items()
        for number in range(CROWD)
    }
    tools = list(MemoryOffer(manager, "0").tools(kinds()["everything"]))
    try:
        async with (
            open_door(manager, crowd, path.parent) as url,
            aiohttp.ClientSession() as session,
        ):
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
                yield Fuzzer(url, session, file, known), tools
    finally:
        await manager.close()


async def _filled(manager: MemoryManager) -> Known:
    caller = Caller(source="fuzz", reach=Reach(home=True, workshop=True))
    ids = []
    for number in range(40):
        wing = (*NAMESPACES, "household", "general")[number % 7]
        new = NewMemory(
            content=f"The retry number {number} waits for the lamp.",
            summary=f"retry {number}",
            wing=wing,
            room="facts",
            scope=Scope.COMMON,
            anchors=(f"path:src/{number}.py", "entity:light.hall") if number % 3 else (),
        )
        ids.append((await manager.add(caller, new)).memory.id)
    return Known(ids=tuple(ids), wings=(*NAMESPACES, "household", "general"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as the command line asks; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fuzz", description="Send arguments that nobody would."
    )
    parser.add_argument("--cases", type=int, default=DEFAULT_CASES, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="draws other arguments")
    wanted = parser.parse_args(arguments)
    start = perf_counter()
    with tempfile.TemporaryDirectory(prefix="ai_memory_fuzz_") as folder:
        outcome = fuzz(wanted.cases, wanted.seed, Path(folder))
    print(f"{outcome.cases} cases in {perf_counter() - start:.0f} s, none of them amiss:")
    print(", ".join(f"{key} {count}" for key, count in outcome.answers.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
