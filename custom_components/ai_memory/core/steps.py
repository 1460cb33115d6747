"""Going through something long on the event loop, so that others have their turn in between.

The repository of memories and long replies use it. A step takes one to two milliseconds of a slow
machine; what was gone through is let go at once, because freeing all of it at the end would be a
long step too.
"""

import asyncio
from collections.abc import AsyncGenerator
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
