"""The circuit breaker: a server that refuses texts is not asked again and again."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from benchmarks.synthetic import ProjectionEngine
from custom_components.ai_memory.core import (
    Caller,
    Database,
    Filters,
    MemoryManager,
    NewMemory,
    Scope,
    encoder,
)
from custom_components.ai_memory.embedding.errors import EngineReason
from custom_components.ai_memory.embedding.protocol import EngineError, FloatMatrix, TextKind

PAUSE: Final = 0.1


class Refusing(ProjectionEngine):
    """A server that shows its models to everybody, and refuses some texts or all of them."""

    def __init__(self, most_characters: int) -> None:
        """Refuse what has more characters at once."""
        super().__init__(64, 1)
        self.most_characters = most_characters
        self.probes = 0
        self.asked: list[int] = []

    @property
    def local(self) -> bool:
        """Be asked in the background."""
        return False

    async def probe(self) -> None:
        """Say that all is well."""
        self.probes += 1

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Refuse what is too much."""
        self.asked.append(sum(map(len, texts)))
        if self.asked[-1] > self.most_characters:
            raise EngineError("no", reason=EngineReason.MODEL_MISSING)
        return await super().embed(texts, kind)


@pytest.mark.parametrize("most_characters", [0, 10], ids=["everything", "more than a word"])
async def test_refused_texts_are_sent_less_and_less_often(
    tmp_path: Path, anna: Caller, monkeypatch: pytest.MonkeyPatch, most_characters: int
) -> None:
    monkeypatch.setattr(encoder, "FIRST_PROBE_PAUSE_SECONDS", PAUSE)
    engine = Refusing(most_characters)
    manager = MemoryManager(Database(tmp_path / "memory.db"), engine, max_entries=100)
    await manager.open()
    heard: list[str | None] = []
    manager.encoder.subscribe(lambda: heard.append(manager.encoder.failure))
    try:
        new = NewMemory(content="The spare key hangs in the shed", scope=Scope.COMMON)
        await manager.add(anna, new)
        await asyncio.sleep(8 * PAUSE)
        # At once and after pauses of one, two and four, whatever a probe says meanwhile.
        assert 1 <= len(engine.asked) <= 14
        if not most_characters:
            # The text itself was sent once; it is not said that all is well in between.
            assert sum(size > len(encoder.TRIAL_TEXT) for size in engine.asked) == 1
            assert set(heard[heard.index(EngineReason.MODEL_MISSING) :]) == {
                EngineReason.MODEL_MISSING
            }
        found = await manager.search(anna, Filters(), "spare key", 5)
        assert [hit.memory.content for hit in found.hits] == [new.content]
        engine.most_characters = 1_000
        async with asyncio.timeout(100 * PAUSE):
            await manager.wait_for_vectors()
        assert (manager.vector_count, manager.encoder.failure) == (1, None)
        engine.asked.clear()
        await manager.add(anna, NewMemory(content="Another one", scope=Scope.COMMON))
        await manager.wait_for_vectors()
        assert engine.asked == [len("Another one")]
    finally:
        await manager.close()
