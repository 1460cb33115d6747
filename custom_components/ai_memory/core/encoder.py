"""The embedding engine as the memory uses it: never in the way, whatever state its server is in.

The manager owns one. A query waits a bounded time for its vector; one miss opens the circuit, and
until a probe succeeds nothing waits for the engine again. Search and upkeep ask here, never the
engine itself, and whoever wants to know when the engine comes and goes subscribes.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
import logging
from typing import Final

from ..embedding.protocol import EmbeddingEngine, EngineError, FloatMatrix, TextKind
from .vector_index import Vector

DEFAULT_QUERY_TIMEOUT_SECONDS: Final = 2.0
USUAL_PROBE_PAUSE_SECONDS: Final = 60.0
FIRST_PROBE_PAUSE_SECONDS: Final = 30.0
LONGEST_PROBE_PAUSE_SECONDS: Final = 300.0
QUERIES_REMEMBERED: Final = 256
TRIAL_TEXT: Final = "home"
"""Asked of a server that refused texts, so that it does not get them again and again in vain."""
TIMEOUT_REASON: Final = "timeout"
BAD_RESPONSE: Final = "bad_response"

_LOGGER: Final = logging.getLogger(__name__)

type StateListener = Callable[[], None]


class Encoder:
    """One engine behind a circuit breaker, a time limit and a memory of recent queries."""

    def __init__(self, engine: EmbeddingEngine, query_timeout_seconds: float) -> None:
        """A local engine is trusted at once; one with a server only after its first probe."""
        self.engine: Final = engine
        self._query_timeout_seconds = query_timeout_seconds
        self._usable = asyncio.Event()
        self._closed_for: str | None = None
        self._retry_after_seconds = 0.0
        self._refusals = 0
        """Of texts, one after the other."""
        self._to_probe = asyncio.Event()
        self._queries: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._listeners: list[StateListener] = []
        if engine.local:
            self._usable.set()
        else:
            self._to_probe.set()

    @property
    def failure(self) -> str | None:
        """Why the engine is not used at the moment, None while it is or before its first probe."""
        return self._closed_for

    def subscribe(self, listener: StateListener) -> Callable[[], None]:
        """Call the listener whenever the engine comes, goes or is done; returns how to stop it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def wait_until_usable(self) -> None:
        """Wait until the engine is believed to answer."""
        await self._usable.wait()

    async def query(self, text: str) -> Vector | None:
        """Return the vector of a query, or None where words have to do."""
        key = (self.engine.fingerprint, text)
        if (known := self._queries.get(key)) is not None:
            self._queries.move_to_end(key)
            return known
        vector = await self._made(text) if self._usable.is_set() else None
        # Where an engine keeps statistics a vector changes with them, and takes hardly any time.
        if vector is not None and self.engine.document_count is None:
            self._queries[key] = vector
            if len(self._queries) > QUERIES_REMEMBERED:
                self._queries.popitem(last=False)
        return vector

    async def _made(self, text: str) -> Vector | None:
        try:
            async with asyncio.timeout(self._query_timeout_seconds):
                with _unexpected_too():
                    vector: Vector = (await self.engine.embed([text], TextKind.QUERY))[0]
        except TimeoutError:
            # A server may answer a probe at once and yet be too slow for a query.
            self._retry_after_seconds = FIRST_PROBE_PAUSE_SECONDS
            self._open_circuit(TIMEOUT_REASON)
            return None
        except EngineError as err:
            self._refused(err)
            return None
        self._refusals = 0
        return vector if vector.any() else None

    async def documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Return the vectors of documents. Raises EngineError.

        Opens the circuit unless the reply was wrong: then one of the texts may be the reason.
        """
        try:
            with _unexpected_too():
                made = await self.engine.embed(texts, TextKind.DOCUMENT)
        except EngineError as err:
            if err.reason != BAD_RESPONSE:
                self._refused(err)
            raise
        self._refusals = 0
        return made

    def distrust(self, error: EngineError) -> None:
        """Open the circuit for a while, although a probe may find nothing wrong."""
        self._retry_after_seconds = FIRST_PROBE_PAUSE_SECONDS
        self._open_circuit(error.reason)

    async def keep_probing(self) -> None:
        """Probe while the circuit is open, less and less often; runs until it is cancelled.

        A server is also probed while all is well: it may get another model under the same name.
        """
        usual = None if self.engine.local else USUAL_PROBE_PAUSE_SECONDS
        while True:
            pause = FIRST_PROBE_PAUSE_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._to_probe.wait(), usual)
                await asyncio.sleep(self._retry_after_seconds)
            while not await self._probe():
                await asyncio.sleep(max(pause, self._retry_after_seconds))
                pause = min(2 * pause, LONGEST_PROBE_PAUSE_SECONDS)

    async def _probe(self) -> bool:
        before = (self._usable.is_set(), self.engine.fingerprint)
        try:
            with _unexpected_too():
                await self.engine.probe()
                if self._refusals:
                    # Many servers show their models to everybody, whatever they do with texts.
                    await self.engine.embed([TRIAL_TEXT], TextKind.QUERY)
        except EngineError as err:
            self._fail(err)
            return False
        self._to_probe.clear()
        recovered = self._closed_for is not None
        self._closed_for, self._retry_after_seconds = None, 0.0
        self._usable.set()
        if recovered:
            _LOGGER.info("Embedding engine %s answers again", self.engine.name)
        if before != (True, self.engine.fingerprint):
            self.announce()
        return True

    def _fail(self, error: EngineError) -> None:
        # A text that the engine cannot embed says nothing about the next one of a local engine.
        if self.engine.local:
            _LOGGER.warning("Embedding engine %s failed: %s", self.engine.name, error)
            return
        self._retry_after_seconds = error.retry_after_seconds or 0.0
        self._open_circuit(error.reason)

    def _refused(self, error: EngineError) -> None:
        """Open the circuit, the longer the more often in a row texts were refused."""
        self._fail(error)
        self._refusals += 1
        if self._refusals > 1:
            pause = FIRST_PROBE_PAUSE_SECONDS * 2.0 ** min(self._refusals - 2, 10)
            pause = min(pause, LONGEST_PROBE_PAUSE_SECONDS)
            self._retry_after_seconds = max(pause, self._retry_after_seconds)

    def _open_circuit(self, reason: str) -> None:
        changed = self._closed_for != reason
        self._closed_for = reason
        self._usable.clear()
        self._to_probe.set()
        if changed:
            _LOGGER.warning("Embedding engine %s is not used: %s", self.engine.name, reason)
            self.announce()

    def announce(self) -> None:
        """Call every listener: the engine came or went, or its work is done."""
        for listener in list(self._listeners):
            listener()


@contextmanager
def _unexpected_too() -> Iterator[None]:
    """Make an engine's failure of whatever kind one that search and upkeep get over."""
    try:
        yield
    except (EngineError, TimeoutError):
        raise
    except Exception as err:
        _LOGGER.exception("An embedding engine failed unexpectedly")
        raise EngineError(f"unexpected {type(err).__name__}") from err
