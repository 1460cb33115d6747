"""Long lists are gone through in steps, between which the event loop runs."""

import asyncio
from pathlib import Path
import sys
import threading
import time

import pytest

from benchmarks.filling import ANNA, fill_texts
from benchmarks.synthetic import Household
from custom_components.ai_memory.core import Database, Filters, ListResult, memories
from custom_components.ai_memory.core.steps import AT_ONCE, in_steps, in_turns
from custom_components.ai_memory.core.visibility import visible_to
from custom_components.ai_memory.operations.replies import list_reply

MEMORIES = 5 * AT_ONCE + 1


@pytest.mark.parametrize("count", [0, 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
async def test_others_have_their_turn_between_two_steps(count: int) -> None:
    turns: list[int] = []

    async def other() -> None:
        while True:
            turns.append(len(seen))
            await asyncio.sleep(0)

    seen: list[int] = []
    task = asyncio.create_task(other())
    items = list(range(count))
    async for some in in_steps(items):
        assert 0 < len(some) <= AT_ONCE
        seen += some
        assert len(items) + len(seen) == count
    task.cancel()
    assert seen == list(range(count))
    assert turns == list(range(AT_ONCE, count, AT_ONCE))


def test_other_threads_have_their_turn_between_some_items() -> None:
    """Without it this thread keeps the interpreter for five milliseconds whoever waits."""
    done, waits = threading.Event(), list[float]()

    def work() -> None:
        for _ in in_turns(range(2_000), 10):
            sum(range(1_000))
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.is_set():
        asked = time.perf_counter()
        time.sleep(0)
        waits.append(time.perf_counter() - asked)
    worker.join()
    assert sorted(waits)[len(waits) // 2] < sys.getswitchinterval() / 2
    assert list(in_turns("abc", 2)) == ["a", "b", "c"]


async def test_a_long_list_is_whole_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await fill_texts(path, Household(1, MEMORIES), MEMORIES, [None])
    database = Database(path)
    await database.open()
    async with database.reading() as connection:
        page, total = await memories.newest(connection, visible_to(ANNA, Filters()), 2 * MEMORIES)
    await database.close()
    reply = await list_reply(ListResult(memories=tuple(page), total=total))
    listed = reply["memories"]
    assert isinstance(listed, list)
    assert (reply["count"], reply["total"], len(listed)) == (MEMORIES, MEMORIES, MEMORIES)
    told = [str(one["updated"]) for one in listed if isinstance(one, dict)]
    assert told == sorted(told, reverse=True)
    assert len(set(told)) == MEMORIES
