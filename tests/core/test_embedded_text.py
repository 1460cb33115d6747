"""What a memory says of itself by its vector, and which questions an engine is told."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.synthetic import ProjectionEngine
from custom_components.ai_memory.core import (
    Caller,
    Database,
    Filters,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Reach,
    Scope,
)
from custom_components.ai_memory.embedding.protocol import FloatMatrix, TextKind

TITLE, CONTENT = "Deployments", "Push to the release branch and wait."
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
type Opened = Callable[[], AbstractAsyncContextManager[MemoryManager]]


class Listening(ProjectionEngine):
    """An engine that keeps what it is told, here or elsewhere."""

    def __init__(self, *, local: bool) -> None:
        """Be an engine of this machine or one with a server."""
        super().__init__(64, 1)
        self._local = local
        self.told: dict[TextKind, list[str]] = {TextKind.DOCUMENT: [], TextKind.QUERY: []}

    @property
    def local(self) -> bool:
        """Whether texts stay on this machine."""
        return self._local

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Note the texts."""
        self.told[kind] += texts
        return await super().embed(texts, kind)


@pytest.fixture(params=[True, False], ids=["local", "elsewhere"])
def engine(request: pytest.FixtureRequest) -> Listening:
    return Listening(local=request.param)


@pytest.fixture
def opened(tmp_path: Path, engine: Listening) -> Opened:
    @asynccontextmanager
    async def open_memory() -> AsyncGenerator[MemoryManager]:
        manager = MemoryManager(Database(tmp_path / "memory.db"), engine, max_entries=100)
        await manager.open()
        try:
            yield manager
        finally:
            await manager.close()

    return open_memory


async def test_a_title_is_embedded_with_the_content(
    opened: Opened, engine: Listening, anna: Caller
) -> None:
    async with opened() as manager:
        new = NewMemory(content=CONTENT, scope=Scope.COMMON)
        told = engine.told[TextKind.DOCUMENT]
        added = (await manager.add(anna, new)).memory
        await manager.wait_for_vectors()
        assert told == [CONTENT]
        # Told again with a title, then changed in one or the other.
        await manager.add(anna, replace(new, summary=TITLE))
        await manager.wait_for_vectors()
        assert set(told[1:]) == {f"{TITLE}\n{CONTENT}"}
        await manager.update(anna, added.id, MemoryChanges(summary="Releases"))
        await manager.wait_for_vectors()
        assert told[-1] == f"Releases\n{CONTENT}"
        await manager.update(anna, added.id, MemoryChanges(content="Tag and wait."))
        await manager.wait_for_vectors()
        assert told[-1] == "Releases\nTag and wait."
        await manager.update(anna, added.id, MemoryChanges(content="Wait.", summary="Patience"))
        await manager.wait_for_vectors()
        assert told[-1] == "Patience\nWait."
        await manager.update(anna, added.id, MemoryChanges(summary="Wa"))
        await manager.wait_for_vectors()
        assert told[-1] == "Wait."
        index = manager._upkeep.index
        expected = (await engine.embed(["Wait."], TextKind.DOCUMENT))[0]
        _, vectors = index.vectors_of([added.sequence])
        np.testing.assert_allclose(vectors[0], expected, atol=1e-6)


async def test_a_question_with_a_secret_is_answered_by_words_alone(
    opened: Opened, engine: Listening
) -> None:
    workshop = Caller(source="client", agent="laptop", reach=Reach(home=False, workshop=True))
    async with opened() as manager:
        await manager.add(
            workshop, NewMemory(content="The token of the forge is in the vault", wing="local/x")
        )
        await manager.wait_for_vectors()
        result = await manager.search(workshop, Filters(), f"token of the forge {SECRET}", 5)
        assert [hit.memory.content for hit in result.hits] == [
            "The token of the forge is in the vault"
        ]
        asked = [] if not engine.local else [f"token of the forge {SECRET}"]
        assert engine.told[TextKind.QUERY] == asked
        assert result.ranking == ("hybrid" if engine.local else "text")
        await manager.search(workshop, Filters(), "token of the forge", 5)
        assert engine.told[TextKind.QUERY] == [*asked, "token of the forge"]
