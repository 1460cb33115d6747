"""What callers may see is remembered for many of them, within bounds, and follows every write."""

import pytest

from custom_components.ai_memory.core import (
    Caller,
    Filters,
    MemoryManager,
    NewMemory,
    visibility_cache,
)
from custom_components.ai_memory.core.visibility import Clause, visible_to
from custom_components.ai_memory.core.visibility_cache import VisibilityCache


def _clause(number: int) -> Clause:
    return visible_to(Caller(source="test", agent=f"client:{number}"), Filters())


async def _cache(memory: MemoryManager) -> VisibilityCache:
    for number in range(3):
        new = NewMemory(content=f"Lamp {number} is on.", wing="household", room="devices")
        await memory.add(Caller(source="test"), new)
    return VisibilityCache(memory._database)


async def test_dozens_of_callers_keep_what_they_may_see(memory: MemoryManager) -> None:
    cache = await _cache(memory)
    first = [await cache.visible(_clause(number)) for number in range(100)]
    assert {len(one) for one in first} == {3}
    again = [await cache.visible(_clause(number)) for number in range(100)]
    assert all(one is other for one, other in zip(first, again, strict=True))


@pytest.mark.parametrize(("name", "bound"), [("SETS_KEPT", 2), ("SETS_BYTES", 12)])
async def test_who_asked_longest_ago_makes_room(
    memory: MemoryManager, monkeypatch: pytest.MonkeyPatch, name: str, bound: int
) -> None:
    monkeypatch.setattr(visibility_cache, name, bound)
    cache = await _cache(memory)
    first, second, third = [await cache.visible(_clause(number)) for number in range(3)]
    assert first.admitted.nbytes == 5
    assert await cache.visible(_clause(2)) is third
    assert await cache.visible(_clause(1)) is second
    assert await cache.visible(_clause(0)) is not first


async def test_a_set_beyond_the_bound_is_kept_alone(
    memory: MemoryManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visibility_cache, "SETS_BYTES", 1)
    cache = await _cache(memory)
    first = await cache.visible(_clause(0))
    assert await cache.visible(_clause(0)) is first


async def test_more_changes_than_can_be_followed_forget_every_set(memory: MemoryManager) -> None:
    cache = await _cache(memory)
    first = await cache.visible(_clause(0))
    cache.changed(range(visibility_cache.CHANGES_FOLLOWED + 1))
    after = await cache.visible(_clause(0))
    assert after is not first
    assert len(after) == 3
