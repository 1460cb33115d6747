"""The process that is killed: it writes to a file as fast as it can and tells of each write.

``kill`` starts it as a program of its own. Several coding agents store, correct, corroborate,
replace and forget records and close sessions, all through the operations that their tools are made
of. Standard output gets a line of JSON before each operation, with what it is about to do, and one
after it was acknowledged.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
import json
import os
from pathlib import Path
import random
from typing import Any, Final

from .core import (
    CATALOGUE,
    Access,
    Caller,
    Database,
    MemoryManager,
    Reach,
    WorkshopRules,
    run,
)
from .synthetic import ProjectionEngine

AGENTS: Final = 4
DIMENSIONS: Final = 16
SEED: Final = 1
ROOMY: Final = 100_000
NAMESPACE: Final = "github/acme/tool"
_STANDARD_OUTPUT: Final = 1

type Told = dict[str, Any]


def manager_of(path: Path) -> MemoryManager:
    """Return the memory that is written to, and looked at afterwards."""
    return MemoryManager(
        Database(path),
        ProjectionEngine(DIMENSIONS, SEED),
        max_entries=ROOMY,
        workshop=WorkshopRules(summary_candidates=True),
    )


def _tell(**told: object) -> None:
    # Not through a buffer: what was told must have been told when the process dies.
    os.write(_STANDARD_OUTPUT, json.dumps(told).encode() + b"\n")


class _Agent:
    """One coding agent; it alone writes to its records, one operation after the other."""

    def __init__(self, manager: MemoryManager, name: str, generator: random.Random) -> None:
        self._manager = manager
        self._name = name
        self._generator = generator
        self._caller = Caller(
            source=f"mcp:{name}",
            agent=f"client:{name}",
            access=frozenset(Access),
            reach=Reach(home=False, workshop=True),
        )
        self._records: list[Told] = []
        self._replaced: dict[str, list[Told]] = {}
        """What a record replaced, and what that did, which is forgotten with it."""
        self._turn = 0

    async def work(self) -> None:
        """Do one thing after the other until the process ends."""
        steps: tuple[Callable[[], Awaitable[None]], ...] = (
            *(self._store,) * 6,
            *(self._update,) * 4,
            *(self._corroborate,) * 2,
            *(self._replace,) * 2,
            *(self._close,) * 2,
            self._forget,
        )
        while True:
            self._turn += 1
            step = self._generator.choice(steps) if self._records else self._store
            await step()

    async def _do(self, operation: str, arguments: Told, *after: Told, **more: str) -> Told:
        """Tell how things will stand, do it, and tell that it was acknowledged."""
        _tell(agent=self._name, begin=after, **more)
        reply = await run(self._manager, CATALOGUE[operation], self._caller, arguments)
        made: Any = reply.get("record") or {}
        made_id = made.get("id") or reply.get("summary_id")
        done = [one if one["id"] else one | {"id": made_id} for one in after]
        _tell(agent=self._name, done=done, **more)
        return done[0]

    async def _store(self) -> None:
        new = self._new()
        self._records.append(await self._do("memory_store", self._fact(new), new))

    async def _update(self) -> None:
        record = self._taken()
        after = self._after(record, content=self._text())
        change = {"id": record["id"], "revision": record["revision"]}
        change["changes"] = {"content": after["content"]}
        self._records.append(await self._do("memory_update", change, after))

    async def _corroborate(self) -> None:
        record = self._taken()
        after = self._after(record, proofs=record["proofs"] + 1)
        seen = {"id": record["id"], "quote": f"Seen in turn {self._turn}."}
        self._records.append(await self._do("memory_corroborate", seen, after))

    async def _replace(self) -> None:
        record, new = self._taken(), self._new()
        fact = self._fact(new) | {"supersedes": record["id"]}
        after = self._after(record, status="superseded")
        made = await self._do("memory_store", fact, new, after)
        self._replaced[made["id"]] = [after, *self._replaced.pop(record["id"], ())]
        self._records.append(made)

    async def _forget(self) -> None:
        record = self._taken()
        gone = [record, *self._replaced.pop(record["id"], ())]
        after = [self._after(one, status="deleted") for one in gone]
        await self._do("memory_forget", {"id": record["id"]}, *after)

    async def _close(self) -> None:
        summary = self._new() | {"status": "candidate"}
        receipt = f"{self._name}-{self._turn:08}"
        close = {"namespace": NAMESPACE, "summary": summary["content"], "op_id": receipt}
        await self._do("memory_session_close", close, summary, receipt=receipt)

    def _text(self) -> str:
        word = self._generator.choice(("retry", "cache", "queue", "parser", "index", "token"))
        return f"The {word} of {self._name} was changed in turn {self._turn}."

    def _new(self) -> Told:
        return {"id": None, "content": self._text(), "revision": 1, "status": "active", "proofs": 0}

    @staticmethod
    def _fact(new: Told) -> Told:
        text = new["content"]
        return {"namespace": NAMESPACE, "type": "fact", "title": text[:40], "content": text}

    def _taken(self) -> Told:
        return self._records.pop(self._generator.randrange(len(self._records)))

    @staticmethod
    def _after(record: Told, **changed: object) -> Told:
        return record | {"revision": record["revision"] + 1} | changed


async def _storm(path: Path, name: str) -> None:
    manager = manager_of(path)
    await manager.open()
    _tell(ready=True)
    async with asyncio.TaskGroup() as group:
        for number in range(AGENTS):
            generator = random.Random(f"{name}-{number}")  # noqa: S311 - no secret
            agent = _Agent(manager, f"{name}-{number}", generator)
            group.create_task(agent.work())


def main() -> None:
    """Write until somebody kills the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("name", help="of this run, in all that it writes")
    wanted = parser.parse_args()
    asyncio.run(_storm(wanted.path, wanted.name))


if __name__ == "__main__":
    main()
