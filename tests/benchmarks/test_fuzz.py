"""The fuzzer, run small: no tool breaks, and one that did would be noticed."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
import re
from typing import Any

import jsonschema
import pytest

from benchmarks import fuzz
from custom_components.ai_memory.mcp.engine import JsonObject, Tool

CASES = 150


@pytest.fixture(autouse=True)
def _allow_sockets(socket_enabled: None) -> None:
    """Allow the fuzzer its socket."""


def test_no_arguments_break_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(fuzz.main, ["--cases", str(CASES)]).result() == 0
    told = capsys.readouterr().out
    assert f"{CASES} cases" in told
    assert int(re.findall(r"\bdone (\d+)", told)[0]) > CASES / 10


async def _send(path: Path, name: str, **changed: Any) -> None:
    async with fuzz._prepared(path / "fuzz.db") as (fuzzer, tools):
        tool: Tool = next(tool for tool in tools if tool.name == name)
        fact: JsonObject = {"namespace": "global", "type": "fact", "title": "a", "content": "b"}
        arguments = fact if name == "memory_store" else {"query": "retry"}
        tool = replace(tool, **changed)
        await fuzzer.send("everything", tool, arguments, rest=True)


@pytest.mark.parametrize(
    ("name", "changed", "error"),
    [
        ("memory_store", {"read_only": True}, fuzz.AmissError),
        ("memory_search", {"output_schema": {"required": ["x"]}}, jsonschema.ValidationError),
        ("memory_search", {}, None),
    ],
)
def test_what_is_amiss_is_noticed(
    tmp_path: Path, name: str, changed: dict[str, Any], error: type[Exception] | None
) -> None:
    def send() -> None:
        asyncio.run(_send(tmp_path, name, **changed))

    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(send)
        if error is None:
            sent.result()
        else:
            with pytest.raises(error):
                sent.result()
