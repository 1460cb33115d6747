"""The floor of a model, measured on the memories themselves and kept with its fingerprint."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from custom_components.ai_memory.core import (
    Caller,
    Database,
    Filters,
    MatchType,
    MemoryManager,
    NewMemory,
    Scope,
)
from custom_components.ai_memory.core.calibration import (
    LEAST_MEMORIES,
    measure,
)
from custom_components.ai_memory.embedding import FloatMatrix, TextKind
from custom_components.ai_memory.embedding.ranking import RankingProfile

COMMON = 0.8
"""What any two texts share, as with models whose vectors all point one way."""


class _CrowdedEngine:
    """Every text is at least so similar to every other; shared words make it more."""

    name, local, batch_size, document_count = "crowded", False, 8, None
    ranking = RankingProfile(weight=0.7, full_deviations=4.0)

    def __init__(self) -> None:
        self.fingerprint = "crowded/1"
        self.asked = 0

    def remember(self, fingerprints: Sequence[str]) -> None: ...

    async def probe(self) -> None: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def observe(self, added: Sequence[str], removed: Sequence[str]) -> None: ...

    async def reset(self, documents: Sequence[str]) -> None: ...

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        self.asked += kind is TextKind.QUERY
        rows = np.zeros((len(texts), 257), np.float32)
        for number, text in enumerate(texts):
            for word in text.split():
                rows[number, 1 + crc32(word.encode()) % 256] += 1
        own: FloatMatrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        own *= np.float32(np.sqrt(1 - COMMON))
        own[:, 0] = np.sqrt(COMMON)
        return own


def _texts(count: int) -> list[str]:
    return [f"a{n} b{n} c{n} d{n} e{n} f{n}" for n in range(count)]


async def _open(path: Path, engine: _CrowdedEngine, floor: float | None = None) -> MemoryManager:
    memory = MemoryManager(Database(path), engine, max_entries=1000, similarity_floor=floor)
    await memory.open()
    return memory


async def _settled(memory: MemoryManager) -> None:
    await asyncio.wait_for(memory.wait_for_vectors(), 10)
    async with asyncio.timeout(10):
        while memory.floor.calibration is None:
            await asyncio.sleep(0.01)


async def test_the_floor_parts_unrelated_from_related() -> None:
    engine, texts = _CrowdedEngine(), _texts(40)
    vectors = await engine.embed(texts, TextKind.DOCUMENT)
    measured = await measure(engine, texts, vectors)
    assert measured is not None
    assert COMMON - 0.001 <= measured < 0.9


async def test_too_few_memories_tell_nothing() -> None:
    engine, texts = _CrowdedEngine(), _texts(LEAST_MEMORIES - 1)
    vectors = await engine.embed(texts, TextKind.DOCUMENT)
    assert await measure(engine, texts, vectors) is None


async def test_memories_that_say_nearly_the_same_tell_nothing() -> None:
    engine = _CrowdedEngine()
    texts = [f"shopping list milk bread and butter {n}" for n in range(40)]
    vectors = await engine.embed(texts, TextKind.DOCUMENT)
    assert await measure(engine, texts, vectors) is None


async def test_it_is_measured_again_once_there_are_twice_as_many(
    tmp_path: Path, anna: Caller
) -> None:
    engine = _CrowdedEngine()
    memory = await _open(tmp_path / "memory.db", engine)
    for text in _texts(20):
        await memory.add(anna, NewMemory(content=text, scope=Scope.COMMON))
    await _settled(memory)
    assert memory.floor.calibration is not None
    first = memory.floor.calibration.counted
    assert LEAST_MEMORIES <= first <= 20
    for text in _texts(2 * first)[20:-1]:
        await memory.add(anna, NewMemory(content=text, scope=Scope.COMMON))
    await asyncio.wait_for(memory.wait_for_vectors(), 10)
    asked = engine.asked
    await memory.floor.renew()
    assert engine.asked == asked
    await memory.add(anna, NewMemory(content="one more makes it twice", scope=Scope.COMMON))
    await asyncio.wait_for(memory.wait_for_vectors(), 10)
    async with asyncio.timeout(10):
        while memory.floor.calibration.counted == first:
            await asyncio.sleep(0.01)
    assert engine.asked > asked
    await memory.close()


async def test_private_memories_do_not_move_the_floor(tmp_path: Path, anna: Caller) -> None:
    memory = await _open(tmp_path / "memory.db", _CrowdedEngine())
    for text in _texts(20):
        await memory.add(anna, NewMemory(content=text, scope=Scope.COMMON))
    await _settled(memory)
    floor = memory.floor.value
    for number in range(60):
        same = NewMemory(content=f"a1 b1 c1 d1 e1 {number}", scope=Scope.PRIVATE)
        await memory.add(anna, same)
    await asyncio.wait_for(memory.wait_for_vectors(), 10)
    await memory.floor.renew()
    assert memory.floor.value == floor
    await memory.close()


async def test_a_floor_is_measured_kept_and_used(tmp_path: Path, anna: Caller) -> None:
    path, engine = tmp_path / "memory.db", _CrowdedEngine()
    memory = await _open(path, engine)
    assert memory.floor.value == 0.0
    for text in _texts(40):
        await memory.add(anna, NewMemory(content=text, scope=Scope.COMMON))
    await _settled(memory)
    floor = memory.floor.value
    assert COMMON - 0.001 <= floor < 0.9
    # Everything is similar to everything, but only what reaches the floor is a match by meaning.
    found = await memory.search(anna, Filters(), "a7 b7 c7", 5)
    assert found.hits[0].memory.content.startswith("a7 ")
    assert found.hits[0].match_type is MatchType.HYBRID
    literal = await memory.search(anna, Filters(), "a7 b7 c7", 40, min_score=0.0)
    assert len(literal.hits) == 40
    await memory.close()

    engine.asked = 0
    again = await _open(path, engine)
    await _settled(again)
    assert (again.floor.value, engine.asked) == (floor, 0)
    await again.close()

    engine.fingerprint = "crowded/2"
    other = await _open(path, engine)
    await _settled(other)
    assert engine.asked > 0
    await other.close()


async def test_a_chosen_floor_holds(tmp_path: Path, anna: Caller) -> None:
    memory = await _open(tmp_path / "memory.db", _CrowdedEngine(), 0.97)
    for text in _texts(20):
        await memory.add(anna, NewMemory(content=text, scope=Scope.COMMON))
    await _settled(memory)
    assert memory.floor.value == 0.97
    found = await memory.search(anna, Filters(), "a7 zebra", 5)
    assert [hit.match_type for hit in found.hits] == [MatchType.TEXT]
    await memory.close()


async def test_a_known_floor_is_not_measured(memory: MemoryManager, anna: Caller) -> None:
    for text in _texts(20):
        await memory.add(anna, NewMemory(content=text, scope=Scope.COMMON))
    await asyncio.wait_for(memory.wait_for_vectors(), 10)
    assert (memory.floor.value, memory.floor.calibration) == (0.55, None)
