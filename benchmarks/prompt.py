"""How fast the LLM API is ready, its prompt included: what every conversation waits for first.

    python -m benchmarks.prompt [--memories 10000] [--turns 1000] [--json FILE] [--seed N]

Home Assistant's core is started in a temporary folder with a filled file, the integration is set up
through its flow, and the API is asked for through ``llm.async_get_api`` as conversation agents do.
The goal is 2 ms for half of the turns and 10 ms for all but one in a hundred.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
import json
from math import ceil
from pathlib import Path
import tempfile
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, Self

from homeassistant.config_entries import SOURCE_USER, ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from custom_components.ai_memory.assist.door import ProfileDoor
from custom_components.ai_memory.assist.prompt import prompt_with_recall
from custom_components.ai_memory.const import (
    CONF_EMBEDDING_ENGINE,
    CONF_IDENTITY,
    CONF_MAX_ENTRIES,
    CONF_RECALL,
    CONF_WINGS,
    DOMAIN,
    SUBENTRY_PROFILE,
)
from custom_components.ai_memory.core import Layer, NewMemory, Scope
from custom_components.ai_memory.profiles import api_id_of
from custom_components.ai_memory.runtime import AiMemoryConfigEntry, loaded_entry

from .core import DEFAULT_ENGINE
from .filling import ANNA
from .measuring import all_vectors, prepare_home
from .report import environment
from .setup_time import start_core

DEFAULT_MEMORIES: Final = 10_000
DEFAULT_TURNS: Final = 1_000
DEFAULT_SEED: Final = 1
GOAL_P50_MS: Final = 2.0
GOAL_P99_MS: Final = 10.0

_IDENTITY: Final = "You are Walter, the voice of this home. You are brief and friendly."
_SETTINGS: Final = {CONF_MAX_ENTRIES: 1_000_000, CONF_EMBEDDING_ENGINE: DEFAULT_ENGINE}
_PROFILE: Final[Mapping[str, Any]] = MappingProxyType(
    {CONF_IDENTITY: _IDENTITY, CONF_RECALL: True, CONF_WINGS: ["household", "general"]}
)

type Turn = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """How long it took until an API was ready, turn by turn."""

    turns: int
    p50_ms: float
    p99_ms: float
    longest_ms: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        """Sum up single durations; percentiles are durations that occurred (nearest rank)."""
        ordered = sorted(seconds)

        def percentile(part: float) -> float:
            return ordered[ceil(part * len(ordered)) - 1] * 1000

        return cls(
            turns=len(ordered),
            p50_ms=percentile(0.5),
            p99_ms=percentile(0.99),
            longest_ms=percentile(1),
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark as the command line asks."""
    wanted = _parser().parse_args(arguments)
    found_on = environment()
    with tempfile.TemporaryDirectory(prefix="ai_memory_prompt_") as folder:
        question = prepare_home(Path(folder), wanted.memories, wanted.seed)
        sections = asyncio.run(_measure(Path(folder), wanted.memories, wanted.turns, question))
    print(_report(found_on, wanted.memories, sections))
    if wanted.json:
        figures = {
            "benchmark": "prompt",
            "seed": wanted.seed,
            "memories": wanted.memories,
            "environment": found_on,
            "sections": {name: asdict(ready) for name, ready in sections.items()},
        }
        wanted.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prompt", description="Measure how fast the LLM API is ready."
    )
    parser.add_argument("--memories", type=_number, default=DEFAULT_MEMORIES, metavar="N")
    parser.add_argument("--turns", type=_number, default=DEFAULT_TURNS, metavar="N")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    return parser


def _number(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("a positive number is needed")
    return number


async def _measure(config: Path, memories: int, turns: int, question: str) -> dict[str, Ready]:
    """Set the integration up and ask for its API in every way that costs something else."""
    hass = HomeAssistant(str(config))
    try:
        await start_core(hass)
        flow = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
        await hass.config_entries.flow.async_configure(flow["flow_id"], _SETTINGS)
        entry = loaded_entry(hass)
        if entry is None:
            raise RuntimeError("The integration is not set up")
        await all_vectors(entry.runtime_data.manager, memories)
        ways = _ways(hass, entry, await _profile(hass, entry), question)
        return {name: await _timed(turn, before, turns) for name, turn, before in ways}
    finally:
        await hass.async_stop(force=True)


async def _profile(hass: HomeAssistant, entry: AiMemoryConfigEntry) -> str:
    """Add a profile with bounds; returns its id."""
    subentry = ConfigSubentry(
        data=MappingProxyType({**_PROFILE}),
        subentry_type=SUBENTRY_PROFILE,
        title="Benchmark",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, subentry)
    await hass.async_block_till_done()
    return subentry.subentry_id


def _ways(
    hass: HomeAssistant, entry: AiMemoryConfigEntry, profile_id: str, question: str
) -> Iterator[tuple[str, Turn, Turn | None]]:
    """Return what is measured, by name, with what happens unmeasured before each turn."""
    manager, numbers = entry.runtime_data.manager, count()
    door = ProfileDoor(hass, entry, profile_id)

    def ready(api_id: str, user: str | None = ANNA.user) -> Awaitable[object]:
        return llm.async_get_api(hass, api_id, _context(user))

    async def write() -> None:
        content = f"The valve number {next(numbers)} must stay open in winter"
        new = NewMemory(content=content, scope=Scope.COMMON, layer=Layer.CRITICAL)
        await manager.add(ANNA, new)

    async def recalled() -> str:
        profile, caller = door.profile(), door.caller(_context(ANNA.user))
        return await prompt_with_recall(manager, profile, caller, question)

    profile_api = api_id_of(profile_id)
    yield "next turn of the same person", lambda: ready(DOMAIN), None
    yield "another person each time", lambda: ready(DOMAIN, f"user {next(numbers)}"), None
    yield "a profile with allowed wings", lambda: ready(profile_api), None
    yield "after a new critical memory", lambda: ready(DOMAIN), write
    yield "prompt with recall (waits 150 ms at most)", recalled, None


def _context(user: str | None) -> llm.LLMContext:
    return llm.LLMContext(
        platform=ANNA.provider or "",
        context=Context(user_id=user),
        language="en",
        assistant="conversation",
        device_id=None,
    )


async def _timed(turn: Turn, before: Turn | None, turns: int) -> Ready:
    seconds = []
    for _ in range(turns):
        if before is not None:
            await before()
        start = perf_counter()
        await turn()
        seconds.append(perf_counter() - start)
    return Ready.of(seconds)


def _report(found_on: Mapping[str, str | int], memories: int, sections: Mapping[str, Ready]) -> str:
    width = max(map(len, sections))
    lines = [
        ", ".join(f"{name} {value}" for name, value in found_on.items()),
        "",
        f"Ready with {memories} memories (goal: p50 {GOAL_P50_MS:g} ms, p99 {GOAL_P99_MS:g} ms):",
        f"{'':{width}}  p50 ms  p99 ms  longest",
    ]
    lines += [
        f"{name:{width}}  {one.p50_ms:6.2f}  {one.p99_ms:6.2f}  {one.longest_ms:7.2f}"
        for name, one in sections.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
