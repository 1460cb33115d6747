"""The engine that needs no server: multilingual-e5-small in 4 bits, inside this process.

The registry makes one and the manager in ``core`` calls it; the config flow lets one probe. The
weights come in a package that is installed only once somebody chooses this engine; nothing of it is
imported before the first probe, which also finds out whether this machine can run it.

Everything native runs on one thread of the engine's own, never on the event loop. A document goes
there piece by piece, and no piece before every waiting query, so that a query waits for one piece
at most. The engine never sees a memory and keeps nothing on disk.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from .builtin_model import (
    DIMENSIONS,
    PACKAGE,
    PACKAGE_VERSION,
    BuiltinModel,
    Vector,
    average,
    check_memory,
    cut,
    import_package,
    load_model,
    try_in_own_process,
)
from .errors import EngineUnavailableError
from .protocol import FloatMatrix, TextKind
from .ranking import RankingProfile, ranking_of

ENGINE_NAME: Final = "builtin"
MODEL: Final = "multilingual-e5-small-q4"
REQUIREMENT: Final = f"{PACKAGE}=={PACKAGE_VERSION}"
# Raise whenever a text would get another vector than before: stored vectors are then made anew.
REVISION: Final = 1
BATCH_TEXTS: Final = 8

type Installer = Callable[[str], Awaitable[None]]


class BuiltinEngine:
    """Embeds texts of a hundred languages without a network."""

    def __init__(self, install: Installer | None = None) -> None:
        """Prepare the engine; nothing is installed or imported before it is probed."""
        self._install = install
        self._worker: ThreadPoolExecutor | None = None
        self._model: BuiltinModel | None = None
        self._documents = asyncio.Lock()
        self._waiting_queries = 0
        self._no_query_waits = asyncio.Event()
        self._no_query_waits.set()

    @property
    def name(self) -> str:
        """Registry name of the engine."""
        return ENGINE_NAME

    @property
    def fingerprint(self) -> str:
        """Changes with the package, and with what is done to a text before and after it."""
        return f"{ENGINE_NAME}/{MODEL}@{PACKAGE}-{PACKAGE_VERSION}/{REVISION}"

    @property
    def local(self) -> bool:
        """A text takes tens of milliseconds: too long for a store to wait for."""
        return False

    @property
    def batch_size(self) -> int:
        """Few, so that what is made is soon stored."""
        return BATCH_TEXTS

    @property
    def ranking(self) -> RankingProfile:
        """Return the profile of the model's family."""
        return ranking_of(MODEL)

    @property
    def document_count(self) -> None:
        """There are no statistics of the documents."""

    def remember(self, fingerprints: Sequence[str]) -> None:
        """Do nothing: the revision is that of the package, which is fixed."""

    async def start(self) -> None:
        """Make the thread; the model is loaded by the first probe, which may take long."""
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ai_memory_builtin")

    async def stop(self) -> None:
        """Wait for the piece at hand, then give back the model and the thread."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        worker.submit(self._unload)
        await asyncio.get_running_loop().run_in_executor(None, worker.shutdown)

    async def probe(self) -> None:
        """Install and load what is missing, and see that it is fast enough. Raises EngineError."""
        if self._model is None:
            await self._load()
        await self._run(self._check_speed)

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Return one unit row per text, all zero for a blank one. Raises EngineError."""
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        embed = self._query if kind is TextKind.QUERY else self._document
        for row, text in zip(rows, texts, strict=True):
            row[:] = await embed(text)
        return rows

    async def observe(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """Do nothing: no vector depends on other texts."""

    async def reset(self, documents: Sequence[str]) -> None:
        """Do nothing: no vector depends on other texts."""

    async def _load(self) -> None:
        if self._install is not None:
            await self._install(REQUIREMENT)
        await self._run(import_package)
        await self._run(check_memory)
        await try_in_own_process()
        self._model = await self._run(load_model)

    async def _query(self, text: str) -> Vector:
        self._waiting_queries += 1
        self._no_query_waits.clear()
        try:
            pieces = cut(text, TextKind.QUERY)
            made = [await self._run(self._embed, piece, TextKind.QUERY) for piece in pieces]
        finally:
            self._waiting_queries -= 1
            if not self._waiting_queries:
                self._no_query_waits.set()
        return average(pieces, made)

    async def _document(self, text: str) -> Vector:
        pieces = cut(text, TextKind.DOCUMENT)
        made = [await self._piece(piece) for piece in pieces]
        return average(pieces, made)

    async def _piece(self, piece: str) -> Vector:
        # One at a time, or the pieces of several documents would queue up before a query.
        async with self._documents:
            await self._no_query_waits.wait()
            return await self._run(self._embed, piece, TextKind.DOCUMENT)

    async def _run[*Arguments, Result](
        self, work: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> Result:
        """Run something on the engine's thread. Raises EngineError."""
        if self._worker is None:
            raise EngineUnavailableError("The built-in engine is stopped")
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, *arguments)

    def _embed(self, piece: str, kind: TextKind) -> Vector:
        return self._loaded().embed(piece, kind)

    def _check_speed(self) -> None:
        self._loaded().check_speed()

    def _unload(self) -> None:
        self._model = None

    def _loaded(self) -> BuiltinModel:
        if self._model is None:
            raise EngineUnavailableError("The built-in model is not loaded")
        return self._model
