"""Memories that move between the layers."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from custom_components.ai_memory.core import (
    Action,
    Caller,
    Change,
    Database,
    Filters,
    Layer,
    LayerRules,
    MemoryChanges,
    MemoryManager,
    MoveReason,
    NewMemory,
    Reach,
    Scope,
)
from custom_components.ai_memory.core.census import Census
from custom_components.ai_memory.core.memories import census
from custom_components.ai_memory.core.standing_context import Profile
from custom_components.ai_memory.embedding import EngineSettings, create_engine
from tests.conftest import Opener, SteppingClock


class _Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **passed: float) -> None:
        self.now += timedelta(**passed)


async def _open(path: Path, clock: _Clock, rules: LayerRules = LayerRules()) -> MemoryManager:  # noqa: B008
    engine = create_engine("tfidf", EngineSettings(storage_path=path.parent))
    memory = MemoryManager(Database(path), engine, max_entries=1000, clock=clock, layer_rules=rules)
    await memory.open()
    return memory


async def _add(
    memory: MemoryManager, caller: Caller, content: str, layer: Layer, *, pinned: bool = False
) -> str:
    new = NewMemory(content=content, scope=Scope.COMMON, layer=layer, pinned=pinned)
    return (await memory.add(caller, new)).memory.id


async def _moved(memory: MemoryManager, *, dry_run: bool = False) -> list[tuple[str, int, str]]:
    return [
        (move.memory.id, int(move.to), move.reason.value)
        for move in await memory.maintain(dry_run=dry_run)
    ]


async def test_a_memory_goes_round_the_layers(tmp_path: Path, anna: Caller) -> None:
    clock = _Clock()
    memory = await _open(tmp_path / "memory.db", clock)
    told: list[Change] = []
    memory.subscribe(told.append)
    one = await _add(memory, anna, "The ladder is in the shed", Layer.STANDARD)
    for _ in range(9):
        await memory.get(anna, one)
    assert await _moved(memory) == []
    await memory.get(anna, one)
    before = await memory.get(anna, one)
    assert await _moved(memory, dry_run=True) == [(one, 1, MoveReason.USED_OFTEN)]
    assert (await memory.get(anna, one)).layer is Layer.STANDARD
    assert await _moved(memory) == [(one, 1, MoveReason.USED_OFTEN)]
    after = await memory.get(anna, one)
    assert after.layer is Layer.CRITICAL
    # Nothing was written but the layer.
    assert (after.revision, after.updated) == (before.revision, before.updated)
    assert told[-1].action is Action.MOVED
    assert told[-1].counts.layers == {1: 1, 2: 0, 3: 0}

    clock.forward(days=89)
    assert await _moved(memory) == []
    clock.forward(days=2)
    assert await _moved(memory) == [(one, 3, MoveReason.UNUSED)]
    assert await _moved(memory) == []
    clock.forward(days=1)
    await memory.get(anna, one)
    assert await _moved(memory) == [(one, 2, MoveReason.USED_AGAIN)]
    async with memory._database.reading() as connection:
        rows = await connection.execute_fetchall(
            "SELECT source, memory_id FROM audit WHERE action = 'moved'"
        )
    assert [tuple(row) for row in rows] == [("maintenance", one)] * 3
    await memory.close()


async def test_what_stands_in_a_prompt_is_used(tmp_path: Path, anna: Caller) -> None:
    clock = _Clock()
    memory = await _open(tmp_path / "memory.db", clock)
    known = await _add(memory, anna, "Anna must not eat peanuts", Layer.CRITICAL)
    long = await _add(memory, anna, "far too long for a prompt " * 50, Layer.CRITICAL)
    profile = Profile(budget_tokens=100)
    for day in (80, 80, 0):
        clock.forward(days=day)
        assert "peanuts" in memory.standing_text(anna, profile)
    assert await _moved(memory) == [(long, Layer.ARCHIVE, "unused")]
    assert (await memory.latest(anna, Filters(), 9)).memories[-1].access_count == 0
    clock.forward(days=91)
    assert await _moved(memory) == [(known, Layer.ARCHIVE, "unused")]
    await memory.close()


async def test_records_of_the_workshop_stay_where_they_are(tmp_path: Path) -> None:
    clock = _Clock()
    memory = await _open(tmp_path / "memory.db", clock, LayerRules(promotion_uses=1))
    coder = Caller(source="mcp:a", agent="client:a", reach=Reach(home=False, workshop=True))
    record = (
        await memory.add(coder, NewMemory(content="Tag and wait", wing="github/acme/tool"))
    ).memory
    await memory.get(coder, record.id)
    assert await _moved(memory) == []
    clock.forward(days=365)
    assert await _moved(memory) == []
    await memory.close()


async def test_uses_put_no_secret_into_a_prompt(tmp_path: Path, anna: Caller) -> None:
    memory = await _open(tmp_path / "memory.db", _Clock(), LayerRules(promotion_uses=1))
    plain = await _add(memory, anna, "The bins are emptied on Mondays", Layer.STANDARD)
    await _add(memory, anna, "The garage code is 1234", Layer.STANDARD)
    hidden = NewMemory(content="The diary lies under the bed", wing="personal", room="secrets")
    await memory.add(anna, hidden)
    for one in (await memory.latest(anna, Filters(), 10)).memories:
        await memory.get(anna, one.id)
    expected = [(plain, Layer.CRITICAL, "used_often")]
    assert await _moved(memory, dry_run=True) == expected
    assert await _moved(memory) == expected
    await memory.close()


async def test_what_is_pinned_stays(tmp_path: Path, anna: Caller) -> None:
    clock = _Clock()
    memory = await _open(tmp_path / "memory.db", clock, LayerRules(1, 1))
    for layer in Layer:
        await _add(memory, anna, f"Layer {layer}", layer, pinned=True)
    loose = await _add(memory, anna, "Loose", Layer.CRITICAL)
    for one in (await memory.latest(anna, Filters(), 10)).memories:
        await memory.get(anna, one.id)
    clock.forward(days=5)
    assert await _moved(memory) == [(loose, 3, MoveReason.UNUSED)]
    await memory.update(anna, loose, MemoryChanges(layer=Layer.CRITICAL, pinned=True))
    clock.forward(days=5)
    assert await _moved(memory) == []
    await memory.close()


async def test_a_clock_that_jumps_moves_nothing_by_mistake(tmp_path: Path, anna: Caller) -> None:
    clock = _Clock()
    memory = await _open(tmp_path / "memory.db", clock)
    await _add(memory, anna, "Critical", Layer.CRITICAL)
    clock.forward(days=-4000)
    assert await _moved(memory) == []
    await memory.close()


async def test_what_a_clock_archived_that_was_ahead_comes_back(
    tmp_path: Path, anna: Caller
) -> None:
    clock = _Clock()
    memory = await _open(tmp_path / "memory.db", clock)
    used = await _add(memory, anna, "The gas valve is in the cellar", Layer.CRITICAL)
    unused = await _add(memory, anna, "The well is covered", Layer.CRITICAL)
    await memory.get(anna, used)
    clock.forward(days=20_000)
    assert {one for one, *_ in await _moved(memory)} == {used, unused}
    clock.forward(days=-19_990)
    assert await _moved(memory) == []
    await memory.get(anna, used)
    clock.forward(days=1)
    assert await _moved(memory) == [(used, 2, MoveReason.USED_AGAIN)]
    assert await _moved(memory) == []
    await memory.close()


async def test_what_others_write_while_layers_move_counts(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    async def forget(one: str) -> None:
        await memory.lifecycle.forget(anna, one)

    async def pin(one: str) -> None:
        await memory.update(anna, one, MemoryChanges(pinned=True))

    async def place(one: str) -> None:
        await memory.update(anna, one, MemoryChanges(wing="garden"))

    async def rewrite(one: str) -> None:
        await memory.update(anna, one, MemoryChanges(content="The news"))

    async def replace(one: str) -> None:
        await memory.add(anna, NewMemory(content="The latest news", supersedes=one))

    async def delete(one: str) -> None:
        await memory.delete(anna, one, Filters())

    writes = (forget, pin, place, rewrite, replace, delete)
    ids = [await _add(memory, anna, f"To {one.__name__}", Layer.CRITICAL) for one in writes]
    clock.advance(days=100)
    assert len(await memory.maintain(dry_run=True)) == len(writes)
    # All wait for the same writer: what is due is read before they write, and moved after them.
    async with memory._database.transaction():
        waiting = [asyncio.create_task(write(one)) for write, one in zip(writes, ids, strict=True)]
        await asyncio.sleep(0.1)
        maintenance = asyncio.create_task(memory.maintain())
        await asyncio.sleep(0.1)
    await asyncio.gather(*waiting)
    assert await maintenance == []
    counts = memory.counts()
    async with memory._database.reading() as connection:
        told = Census(await census(connection), (0, 0)).counts()
    assert (counts.layers, counts.wings) == (told.layers, told.wings)
    assert counts.layers == {1: 4, 2: 0, 3: 0}
    assert memory.commits.of_home == counts.total
    assert (await memory.lifecycle.restore(anna, ids[0])).layer is Layer.CRITICAL


async def test_two_maintenances_at_once_move_each_memory_once(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    ids = [await _add(memory, anna, f"The fact {one}", Layer.CRITICAL) for one in range(5)]
    clock.advance(days=100)
    both = await asyncio.gather(memory.maintain(), memory.maintain())
    assert sorted(move.memory.id for moves in both for move in moves) == sorted(ids)
    assert memory.counts().layers == {1: 0, 2: 0, 3: 5}


async def test_pinned_memories_never_make_room(open_memory: Opener, anna: Caller) -> None:
    memory = await open_memory(max_entries=2)
    pinned = await _add(memory, anna, "Archived but pinned", Layer.ARCHIVE, pinned=True)
    await _add(memory, anna, "First", Layer.STANDARD)
    await _add(memory, anna, "Second", Layer.STANDARD)
    contents = [one.content for one in (await memory.latest(anna, Filters(), 10)).memories]
    assert sorted(contents) == ["Archived but pinned", "Second"]
    assert (await memory.get(anna, pinned)).pinned


@pytest.mark.parametrize("count", [450])
async def test_many_memories_move_in_several_steps(
    open_memory: Opener, anna: Caller, count: int
) -> None:
    memory = await open_memory(max_entries=1000)
    for number in range(count):
        await _add(memory, anna, f"Memory {number}", Layer.STANDARD)
    found = (await memory.latest(anna, Filters(), count)).memories
    for one in found:
        for _ in range(10):
            await memory.get(anna, one.id)
    moves = await memory.maintain()
    assert len(moves) == count
    assert memory.counts().layers == {1: count, 2: 0, 3: 0}
