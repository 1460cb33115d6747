"""What was private once, and what only some know of: nothing of it stays for others to read."""

import json
from pathlib import Path
import sqlite3

import pytest

from custom_components.ai_memory.core import (
    Caller,
    Filters,
    InvalidInputError,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    PlaceName,
    Reach,
    Scope,
    Stance,
    Status,
)
from custom_components.ai_memory.core.models import HOME_ACCESS, KEPT, Access
from custom_components.ai_memory.mcp.clients import Client, Source
from custom_components.ai_memory.mcp.engine import ChangeKind, OfferChange
from custom_components.ai_memory.mcp.offer import MemoryOffer
from custom_components.ai_memory.operations import CATALOGUE, run

ANNA = Caller(source="assist", agent="conversation.one", user="anna")
BEN = Caller(source="assist", agent="conversation.one", user="ben")
TAKER = Caller(source="mcp", agent="client:1", access=HOME_ACCESS | {Access.EXPORT})


async def _add(memory: MemoryManager, caller: Caller, content: str, **more: object) -> str:
    new = NewMemory(content=content, **more)  # type: ignore[arg-type]
    return (await memory.add(caller, new)).memory.id


async def test_what_replaced_a_memory_is_not_named_once_it_is_out_of_sight(
    memory: MemoryManager,
) -> None:
    old = await _add(memory, ANNA, "The code is 1234.", wing="household", room="events")
    new = await _add(memory, ANNA, "The code is 5678.", supersedes=old)
    assert (await memory.get(BEN, old)).superseded_by == new
    await memory.update(ANNA, new, MemoryChanges(scope=Scope.PRIVATE))
    replaced = Filters(statuses=(Status.SUPERSEDED,))
    for caller, told in ((ANNA, new), (BEN, None)):
        assert (await memory.get(caller, old)).superseded_by == told
        assert (await memory.ids.find(caller, old[:20], KEPT)).superseded_by == told
        (listed,) = (await memory.latest(caller, replaced, 5)).memories
        assert listed.superseded_by == told
        found = await memory.search(caller, replaced, "code", 5)
        assert [hit.memory.superseded_by for hit in found.hits] == [told]
    exported = await run(memory, CATALOGUE["export"], TAKER, {})
    assert old in str(exported)
    assert new not in str(exported)


async def test_what_witnesses_said_in_private_is_told_to_nobody_else(
    memory: MemoryManager,
) -> None:
    told = await _add(memory, ANNA, "Somebody is ill.", scope=Scope.PRIVATE)
    await memory.lifecycle.corroborate(ANNA, told, "Anna coughs at night", Stance.CORROBORATES)
    await memory.update(ANNA, told, MemoryChanges(content="All are well.", scope=Scope.COMMON))
    await memory.lifecycle.corroborate(BEN, told, "Ben sleeps well", Stance.CORROBORATES)
    text = str((await run(memory, CATALOGUE["export"], TAKER, {}))["text"])
    (exported,) = [one for one in map(json.loads, text.splitlines()) if one.get("id") == told]
    assert [one["quote"] for one in exported["witnessed"]] == ["", "Ben sleeps well"]
    assert "earlier" not in exported
    assert "ill" not in text
    assert (await memory.get(BEN, told)).revision == 4


async def test_nothing_is_written_about_a_place_that_only_some_know(memory: MemoryManager) -> None:
    await _add(memory, ANNA, "A ring.", wing="surprise", room="gift", scope=Scope.PRIVATE)
    for room in (None, "gift"):
        with pytest.raises(InvalidInputError) as refused:
            await memory.places.describe(ANNA, "surprise", room, "For Ben's birthday", None)
        assert refused.value.key == "place_is_private"
    ends = ("surprise", "gift"), ("household", "events")
    tunnel = await memory.places.connect(ANNA, *ends, "Ben's birthday")
    assert (tunnel.start, tunnel.reason) == (PlaceName("surprise", "gift"), "")
    # Who guesses the name finds a place with nothing written on it.
    await _add(memory, BEN, "A guess.", wing="surprise", room="gift")
    wings = {wing.name: wing for wing in await memory.places.wings(BEN, "surprise")}
    assert [room.description for room in wings["surprise"].rooms] == [""]
    assert (wings["surprise"].description, wings["surprise"].count) == ("", 1)
    await memory.places.describe(ANNA, "surprise", "gift", "What to give", None)


async def test_clients_hear_only_of_what_they_may_see(memory: MemoryManager) -> None:
    heard: dict[str, list[OfferChange]] = {}
    offer = MemoryOffer(memory, "1")
    everything = Reach(workshop=True)
    for name, reach in (
        ("mine", everything),
        ("other", everything),
        ("workshop", Reach(home=False, workshop=True)),
    ):
        client = Client(
            name=name, access=HOME_ACCESS, source=Source.TOKEN, identity=name, reach=reach
        )
        offer.subscribe(client, heard.setdefault(name, []).append)
    mine = Caller(source="mcp:mine", agent="client:mine", reach=everything)
    told = await _add(memory, mine, "My secret.", scope=Scope.PRIVATE, wing="global")
    await memory.update(mine, told, MemoryChanges(content="My other secret."))
    private = OfferChange(ChangeKind.RESOURCE, f"memory://memory/{told}")
    index = OfferChange(ChangeKind.RESOURCE, "memory://index/global")
    assert heard.pop("mine") == [
        OfferChange(ChangeKind.RESOURCES),
        *[private, index] * 2,
    ]
    assert heard == {"other": [], "workshop": []}
    common = await _add(memory, ANNA, "Tea at four.", wing="household", room="events")
    named = OfferChange(ChangeKind.RESOURCE, f"memory://memory/{common}")
    index = OfferChange(ChangeKind.RESOURCE, "memory://index/household")
    assert heard == {"other": [OfferChange(ChangeKind.RESOURCES), named, index], "workshop": []}
    # What is taken out of sight is told once more: it is gone.
    await memory.update(ANNA, common, MemoryChanges(scope=Scope.PRIVATE))
    await memory.update(ANNA, common, MemoryChanges(content="Tea at five."))
    told_of = [OfferChange(ChangeKind.RESOURCES), *[named, index] * 2]
    assert heard == {"other": told_of, "workshop": []}


async def test_the_words_of_private_memories_are_in_no_file_beside_the_database(
    memory: MemoryManager, tmp_path: Path
) -> None:
    await _add(memory, ANNA, "A quokka.", scope=Scope.PRIVATE)
    await _add(memory, ANNA, "A wombat.")
    await memory.close()
    written = [file.read_text(encoding="utf-8") for file in tmp_path.glob("*.json")]
    assert any("wombat" in text for text in written)
    assert not any("quokka" in text for text in written)


async def test_the_audit_names_no_text_and_no_attempt_on_what_is_hidden(
    memory: MemoryManager, tmp_path: Path
) -> None:
    hidden = await _add(memory, ANNA, "A quokka.", scope=Scope.PRIVATE)
    for name, arguments in (
        ("update", {"memory_id": hidden, "content": "A wombat."}),
        ("forget", {"memory_id": hidden}),
        ("delete", {"memory_id": hidden}),
        ("restore", {"memory_id": hidden}),
        ("corroborate", {"memory_id": hidden, "quote": "x", "stance": "corroborates"}),
    ):
        with pytest.raises(Exception, match="memory_not_found"):
            await run(memory, CATALOGUE[name], BEN, arguments)
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        rows = connection.execute("SELECT * FROM audit").fetchall()
    connection.close()
    assert len(rows) == 1
    assert "quokka" not in str(rows)
