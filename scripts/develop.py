"""A development instance: a real Home Assistant with AI Memory and a small household in it.

The shell script of the same name installs what is needed and runs this module. Everything is done
the way a user does it: onboarding, config flows, services. ``--check`` also verifies the way of a
memory from the service to the LLM tool and the sensor, and that the log stayed clean.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
import json
from pathlib import Path
import re
import shlex
import signal
import sys
import tempfile
from typing import Final

import aiohttp

from .home_assistant import (
    PASSWORD,
    POLL_SECONDS,
    USERNAME,
    Client,
    HomeAssistantProcess,
    Json,
    LiveError,
    free_port,
    is_free,
    mcp_message,
    prepare_config,
    tool_result,
)

PROJECT: Final = Path(__file__).resolve().parent.parent
DOMAIN: Final = "ai_memory"
SENSOR: Final = "sensor.ai_memory"
DEFAULT_PORT: Final = 8123
EXIT_CODE_RESTART: Final = 100
LOG_TAIL_LINES: Final = 60
SHOWN_CHARACTERS: Final = 900
SENSOR_TIMEOUT_SECONDS: Final = 10

ENTRY: Final = {"max_entries": 1000, "embedding_engine": "tfidf"}

# Some memories name their place, the others leave it to the integration.
HOUSEHOLD: Final[tuple[Mapping[str, str], ...]] = (
    {
        "text": "The router is in the hallway cupboard; the Wi-Fi name is on its underside.",
        "summary": "where the router is",
        "wing": "household",
        "room": "devices",
    },
    {
        "text": "The washing machine beeps three times when its drum is overloaded.",
        "wing": "household",
        "room": "devices",
    },
    {
        "text": "Lindqvist Heating serviced the boiler on 3 March; it is due again in a year.",
        "summary": "boiler service",
        "wing": "household",
        "room": "maintenance",
    },
    {
        "text": "The dishwasher filter clogs easily: rinse it on the first Sunday of the month.",
        "wing": "household",
        "room": "maintenance",
    },
    {
        "text": "Der Ersatzfilter für die Lüftung liegt im Keller im linken Regal.",
        "wing": "household",
        "room": "maintenance",
    },
    {
        "text": "Grandma Ingrid's birthday is on 14 June; she loves lilies but not nuts.",
        "wing": "household",
        "room": "events",
    },
    {
        "text": "Our summer party is on the last Saturday of August; number 12 is always invited.",
        "wing": "household",
        "room": "events",
    },
    {
        "text": "On weekdays we get up at 6:45 and like the kitchen lights at 30 percent.",
        "wing": "automation",
        "room": "routines",
    },
    {
        "text": "For film night, close the blinds and dim the living room to 20 percent.",
        "wing": "automation",
        "room": "routines",
    },
    {
        "text": "Paper is collected every second Tuesday, organic waste every Thursday.",
        "wing": "automation",
        "room": "schedules",
    },
    {"text": "The piano teacher comes on Wednesdays at 16:30 and rings at the side door."},
    {"text": "Bruno, our dog, must never get chocolate or grapes."},
    {"text": "Mia's school ends at 13:10 on Fridays and at 15:20 on the other days."},
    {"text": "Visitors get the guest Wi-Fi; the children's tablets stay on the family network."},
)
NEW_MEMORY: Final = "The spare key hangs behind the blue flowerpot on the balcony."
QUESTION: Final = "Where is the spare key?"

# A record of the log begins with its time, level, thread and logger; its other lines follow.
_RECORD_START: Final = re.compile(
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?:[+-]\d\d:\d\d)? "  # newer versions tell the zone
    r"(?P<level>[A-Z]+) \(.*?\) \[(?P<logger>.*?)\]"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for."""

    config: Path
    port: int
    check: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to try: what it shows, the request, and what came back."""

    title: str
    url: str
    body: Json | None
    reply: Json

    def report(self) -> str:
        """Return what was asked and answered, for those who come when the instance is gone."""
        request = f"GET {self.url}"
        if self.body is not None:
            request = f"POST {self.url} {json.dumps(self.body, ensure_ascii=False)}"
        return self._with_reply(request)

    def instruction(self) -> str:
        """Return a command to paste into a shell that knows the token, and its output."""
        parts = ['curl -s -H "Authorization: Bearer $TOKEN"']
        if self.body is not None:
            body = shlex.quote(json.dumps(self.body, ensure_ascii=False))
            parts.append(f"--json {body}")
        return self._with_reply(" ".join([*parts, f"'{self.url}'"]))

    def _with_reply(self, request: str) -> str:
        reply = json.dumps(self.reply, ensure_ascii=False)
        if len(reply) > SHOWN_CHARACTERS:
            reply = f"{reply[:SHOWN_CHARACTERS]}…"
        return f"{self.title}\n{request}\n{reply}\n"


class CheckFailedError(Exception):
    """The end-to-end check found something wrong."""


def main() -> None:
    """Run the command."""
    arguments = _parser().parse_args()
    if arguments.check:
        with tempfile.TemporaryDirectory(prefix="ai-memory-check-") as config:
            sys.exit(_run(Options(Path(config), arguments.port or free_port(), check=True)))
    port = arguments.port or DEFAULT_PORT
    if not is_free(port):
        sys.exit(f"Port {port} is in use; choose another with --port.")
    default = PROJECT / ".cache" / "develop" / version("homeassistant")
    sys.exit(_run(Options((arguments.config or default).resolve(), port)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/develop", description=__doc__)
    parser.add_argument("--check", action="store_true", help="verify a fresh instance and stop")
    parser.add_argument("--port", type=int, help=f"listen here (default {DEFAULT_PORT})")
    parser.add_argument("--config", type=Path, help="keep the instance in this directory")
    return parser


def _run(options: Options) -> int:
    prepare_config(options.config, PROJECT / "custom_components" / DOMAIN, options.port)
    process = HomeAssistantProcess(options.config, options.port)
    try:
        asyncio.run(_check(process) if options.check else _develop(process))
    except KeyboardInterrupt:
        return 0
    except (aiohttp.ClientError, CheckFailedError, LiveError, TimeoutError) as err:
        print("\n".join(process.lines[-LOG_TAIL_LINES:]))
        print(f"scripts/develop: {err or type(err).__name__}", file=sys.stderr)
        return 1
    return 0


async def _check(process: HomeAssistantProcess) -> None:
    async with _started(process) as client:
        before = await _total(client)
        trials = await _try(client, process)
        print("\nWhat was asked of this instance, which is stopped afterwards, and its replies:\n")
        print("\n".join(trial.report() for trial in trials))
        _verify_found(trials)
        await _verify_counted(client, before + 1)
    if code := await process.wait():
        raise CheckFailedError(f"Home Assistant ended with exit code {code}")
    _verify_log(process.lines)
    print(
        f"scripts/develop --check: Home Assistant {version('homeassistant')}: stored by a service,"
        " found by the LLM tool, counted by the sensor; the log is clean."
    )


async def _develop(process: HomeAssistantProcess) -> None:
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    if task is not None:
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    with suppress(asyncio.CancelledError):
        async with _started(process) as client:
            _print_welcome(process, await _try(client, process))
            process.bring_to_foreground()
            while await process.wait() == EXIT_CODE_RESTART:
                await process.start()


@asynccontextmanager
async def _started(process: HomeAssistantProcess) -> AsyncIterator[Client]:
    """Start Home Assistant, bring AI Memory and its household in, and stop it in the end."""
    print(f"Starting Home Assistant {version('homeassistant')} …", flush=True)
    await process.start()
    try:
        async with aiohttp.ClientSession() as session:
            client = Client.of(process, session)
            await client.wait_until_started(process)
            await _sign_in(client, process.config)
            await client.keep_address()
            await client.wait_until_running()
            await _move_in(client, process.config)
            yield client
    finally:
        await process.stop()


async def _sign_in(client: Client, config: Path) -> None:
    """Use the token of an earlier run, else onboard and leave one for the next."""
    file = _token_file(config)
    client.token = _read(file)
    if client.token and await client.is_signed_in():
        return
    client.token = ""
    try:
        await client.onboard()
    except LiveError as err:
        raise LiveError(f"{config} holds another Home Assistant; use an empty directory") from err
    client.token = await client.create_long_lived_token("scripts/develop")
    _write(file, client.token)


async def _move_in(client: Client, config: Path) -> None:
    """Set up what an earlier run has not."""
    entries = await client.request("/api/config/config_entries/entry")
    domains = {entry["domain"] for entry in entries}
    if DOMAIN not in domains:
        await client.create_entry(DOMAIN, ENTRY)
        for memory in HOUSEHOLD:
            await client.call_service(f"{DOMAIN}.add_memory", memory)
    if "mcp_server" not in domains:
        _write(_mcp_file(config), await client.add_mcp_server(DOMAIN))


async def _try(client: Client, process: HomeAssistantProcess) -> list[Trial]:
    """Do the three things and return them with their replies."""
    question = {"name": "search_memory", "arguments": {"query": QUESTION}}
    things: tuple[tuple[str, str, Json | None], ...] = (
        (
            "1. Store a memory with the service:",
            f"/api/services/{DOMAIN}/add_memory?return_response",
            {"text": NEW_MEMORY},
        ),
        (
            "2. Find it with the LLM tool, as an agent does through MCP:",
            _read(_mcp_file(process.config)),
            mcp_message("tools/call", question),
        ),
        ("3. See it counted by the sensor:", f"/api/states/{SENSOR}", None),
    )
    return [
        Trial(title, process.url + path, body, await client.request(path, body))
        for title, path, body in things
    ]


def _verify_found(trials: list[Trial]) -> None:
    added = trials[0].reply["service_response"]
    if added["result"] != "added":
        raise CheckFailedError(f"the service did not add the memory: {added}")
    found = [result["id"] for result in tool_result(trials[1].reply)["results"]]
    if added["memory"]["id"] not in found:
        raise CheckFailedError(f"the LLM tool did not find the memory {added['memory']['id']}")


async def _verify_counted(client: Client, expected: int) -> None:
    total = -1
    with suppress(TimeoutError):
        async with asyncio.timeout(SENSOR_TIMEOUT_SECONDS):
            while (total := await _total(client)) != expected:
                await asyncio.sleep(POLL_SECONDS)
    if total != expected:
        raise CheckFailedError(f"{SENSOR} counts {total} memories, not {expected}")


async def _total(client: Client) -> int:
    total: int = (await client.state(SENSOR))["attributes"]["memory_counts"]["total"]
    return total


def _verify_log(lines: list[str]) -> None:
    if faults := find_faults(lines):
        raise CheckFailedError("in the log:\n" + "\n".join(faults))


def find_faults(lines: list[str]) -> list[str]:
    """Return the records of a log that tell of a fault of the integration.

    An error that names it anywhere is one, be it Home Assistant's about its set-up; so are what the
    event loop's guard and the guard of deprecated ways report, whatever their level.
    """
    records: list[str] = []
    for line in lines:
        if _RECORD_START.match(line) or not records:
            records.append(line)
        else:
            records[-1] += f"\n{line}"
    return [record for record in records if _is_fault(record)]


def _is_fault(record: str) -> bool:
    if "Detected blocking call" in record or f"custom integration '{DOMAIN}'" in record:
        return True
    start = _RECORD_START.match(record)
    return start is not None and start["level"] in {"ERROR", "CRITICAL"} and DOMAIN in record


def _print_welcome(process: HomeAssistantProcess, trials: list[Trial]) -> None:
    print(f"\nHome Assistant:  {process.url}    (user {USERNAME}, password {PASSWORD})")
    print(f"Configuration:   {process.config}\n")
    print("Three things to try in another terminal, with what they answered just now:\n")
    print(f"export TOKEN=$(cat {shlex.quote(str(_token_file(process.config)))})\n")
    print("\n".join(trial.instruction() for trial in trials))
    print("The log follows; Ctrl-C stops Home Assistant.\n", flush=True)


def _token_file(config: Path) -> Path:
    return config / ".develop_token"


def _mcp_file(config: Path) -> Path:
    return config / ".develop_mcp_path"


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _write(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
