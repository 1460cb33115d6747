"""Going through something long, on the event loop or beside it, so that others have their turn.

The repository of memories and long replies use it. A step takes one to two milliseconds of a slow
machine; what was gone through is let go at once, because freeing all of it at the end would be a
long step too.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable
from time import sleep
from typing import Final

AT_ONCE: Final = 200


async def in_steps[Item](items: list[Item]) -> AsyncGenerator[list[Item]]:
    """Yield the items in their order, some at once, and empty the list meanwhile."""
    items.reverse()
    while items:
        step = items[: -AT_ONCE - 1 : -1]
        del items[-AT_ONCE:]
        yield step
        if items:
            await asyncio.sleep(0)


def in_turns[Item](items: Iterable[Item], at_once: int) -> Generator[Item]:
    """Yield the items in a worker thread, which gives the interpreter away after some at once.

    Otherwise the event loop waits five milliseconds for it, time and again.
    """
    for number, item in enumerate(items):
        if not number % at_once:
            sleep(0)
        yield item
