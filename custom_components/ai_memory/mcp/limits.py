"""Fair use: how many requests a client may have waiting, running and a second.

Each client has limits of its own, so that a flood from one takes nothing from another. Asked
before a body is read; what is over a limit costs next to nothing and hears when to come back. As
every request is counted here, this is also where those of a client are ended that was changed or
removed.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil
import time
from typing import Final

from aiohttp import hdrs

from .requests import RequestRefusedError

RATE_REQUESTS_PER_SECOND: Final = 100.0
BURST_REQUESTS: Final = 400.0
RUNNING_MAXIMUM_REQUESTS: Final = 4
PRESENT_MAXIMUM_REQUESTS: Final = 96
"""How many requests of one client are read, wait or run at once."""
LISTENING_MAXIMUM_REQUESTS: Final = 8
KNOWN_MAXIMUM_CLIENTS: Final = 1_024
BUSY_RETRY_SECONDS: Final = 1
REFUSAL_INTERVAL_SECONDS: Final = 0.01
REFUSAL_LONGEST_WAIT_SECONDS: Final = 1.0


class TooManyRequestsError(Exception):
    """A client is over a limit."""

    def __init__(self, retry_seconds: int) -> None:
        """Keep after how many seconds another attempt may succeed."""
        super().__init__(f"Too many requests; try again in {retry_seconds} s")
        self.retry_seconds = retry_seconds


class ClientChangedError(RequestRefusedError):
    """A client was changed or removed while a request of it was under way."""

    def __init__(self) -> None:
        """Ask for another attempt, which meets the client as it is by then."""
        super().__init__(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "This client was changed or removed; ask again",
            {hdrs.RETRY_AFTER: str(BUSY_RETRY_SECONDS)},
        )


@dataclass(slots=True)
class Share:
    """What one client takes at the moment."""

    now: float
    credit: float = BURST_REQUESTS
    present: int = 0
    listening: int = 0
    next_refusal: float = 0.0
    running: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(RUNNING_MAXIMUM_REQUESTS)
    )
    stays: set[asyncio.Timeout] = field(default_factory=set)
    """What ends a request that is present: a time limit that is set when it has to go."""

    def enter(self, now: float) -> None:
        """Take a request from the credit, which fills up with time. Raises TooManyRequestsError."""
        if self.present >= PRESENT_MAXIMUM_REQUESTS:
            raise TooManyRequestsError(BUSY_RETRY_SECONDS)
        earned = (now - self.now) * RATE_REQUESTS_PER_SECOND
        self.credit = min(BURST_REQUESTS, self.credit + earned)
        self.now = now
        if self.credit < 1:
            raise TooManyRequestsError(ceil((1 - self.credit) / RATE_REQUESTS_PER_SECOND))
        self.credit -= 1
        self.present += 1

    def refusal_wait_seconds(self, now: float) -> float:
        """Return how long the next refusal waits for its turn."""
        turn = min(max(now, self.next_refusal), now + REFUSAL_LONGEST_WAIT_SECONDS)
        self.next_refusal = turn + REFUSAL_INTERVAL_SECONDS
        return turn - now

    def is_idle(self, now: float) -> bool:
        """Return whether forgetting the client would give it nothing."""
        rested = self.credit + (now - self.now) * RATE_REQUESTS_PER_SECOND
        return not self.present and not self.listening and rested >= BURST_REQUESTS

    @asynccontextmanager
    async def staying(self) -> AsyncGenerator[None]:
        """Stay until ``end``. Raises ClientChangedError then."""
        stay = asyncio.timeout(None)
        try:
            async with stay:
                self.stays.add(stay)
                try:
                    yield
                finally:
                    self.stays.discard(stay)
        except TimeoutError:
            if not stay.expired():
                raise
            raise ClientChangedError from None

    def end(self) -> None:
        """End whatever stays."""
        ending, self.stays = self.stays, set()
        for stay in ending:
            stay.reschedule(asyncio.get_running_loop().time())


class Limits:
    """The shares of all clients."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Know of no client; ``clock`` counts seconds."""
        self._clock = clock
        self._shares: dict[str, Share] = {}

    @asynccontextmanager
    async def present(self, client_key: str) -> AsyncGenerator[Share]:
        """Count a request from its headers to its answer.

        Raises TooManyRequestsError, and ClientChangedError when it is ended. Refusals have to
        queue: a hundred at once would hold the event loop.
        """
        share = self._share(client_key)
        try:
            share.enter(self._clock())
        except TooManyRequestsError:
            await asyncio.sleep(share.refusal_wait_seconds(self._clock()))
            raise
        try:
            async with share.staying():
                yield share
        finally:
            share.present -= 1

    def end(self, client_key: str) -> None:
        """End the requests of a client that are under way; what it took of its share is taken."""
        if (share := self._shares.get(client_key)) is not None:
            share.end()

    @staticmethod
    @asynccontextmanager
    async def listening(share: Share) -> AsyncGenerator[None]:
        """Count a request that stays and waits, in place of those that work.

        Raises TooManyRequestsError.
        """
        if share.listening >= LISTENING_MAXIMUM_REQUESTS:
            raise TooManyRequestsError(BUSY_RETRY_SECONDS)
        share.listening += 1
        try:
            yield
        finally:
            share.listening -= 1

    def _share(self, client_key: str) -> Share:
        share = self._shares.get(client_key)
        if share is None:
            now = self._clock()
            if len(self._shares) >= KNOWN_MAXIMUM_CLIENTS:
                kept = {key: old for key, old in self._shares.items() if not old.is_idle(now)}
                self._shares = kept
            share = self._shares[client_key] = Share(now)
        return share
