"""Wings and rooms: shown, renamed, joined and deleted, and what nobody may learn thereby."""

import asyncio
from dataclasses import replace
from pathlib import Path
import sqlite3
from typing import Any

import pytest

from custom_components.ai_memory.core import (
    Access,
    AccessDeniedError,
    AiMemoryError,
    Caller,
    Change,
    Filters,
    InvalidInputError,
    Layer,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Profile,
    Reach,
    Scope,
)
from custom_components.ai_memory.core.models import HOME_ACCESS, WORKSHOP_REACH
from custom_components.ai_memory.operations import CATALOGUE, run
from tests.conftest import Opener, SteppingClock

ADMIN = HOME_ACCESS | {Access.ADMIN}
ANNA = Caller(source="test", agent="home", user="anna", access=ADMIN)
BEN = Caller(source="test", agent="home", user="ben", access=ADMIN)
CODER = Caller(source="test", agent="coder", reach=WORKSHOP_REACH, access=ADMIN)

DEFAULT_PALACE = {
    "automation": {"routines": 0, "schedules": 0},
    "general": {"general": 0},
    "household": {"devices": 0, "events": 0, "maintenance": 0},
    "personal": {"health": 0, "preferences": 0, "secrets": 0},
}


async def _add(
    memory: MemoryManager,
    caller: Caller,
    content: str,
    wing: str,
    room: str,
    scope: Scope = Scope.COMMON,
    layer: Layer = Layer.STANDARD,
) -> str:
    new = NewMemory(content=content, wing=wing, room=room, scope=scope, layer=layer)
    return (await memory.add(caller, new)).memory.id


async def _do(memory: MemoryManager, caller: Caller, name: str, **arguments: Any) -> dict[str, Any]:
    return await run(memory, CATALOGUE[name], caller, arguments)


async def _shown(memory: MemoryManager, caller: Caller) -> dict[str, dict[str, int]]:
    reply = await _do(memory, caller, "palace")
    return {
        wing["wing"]: {room["room"]: room["count"] for room in wing["rooms"]}
        for wing in reply["wings"]
    }


async def _placed(memory: MemoryManager, caller: Caller) -> dict[str, tuple[str, str]]:
    listed = await memory.latest(caller, Filters(), 1000)
    return {one.id: (one.wing, one.room) for one in listed.memories}


async def _found(memory: MemoryManager, caller: Caller, query: str, **filters: Any) -> set[str]:
    result = await memory.search(caller, Filters(**filters), query, 20)
    return {hit.memory.id for hit in result.hits}


def _check_full_text(path: Path) -> None:
    """Assert that full text is whole and knows every room under the name it has."""
    connection = sqlite3.connect(path)
    try:
        known = "SELECT rowid, place FROM place_words ORDER BY rowid"
        named = "SELECT room_id, place FROM place_texts ORDER BY room_id"
        assert connection.execute(known).fetchall() == connection.execute(named).fetchall()
        for table in ("memory_words", "memory_trigrams", "place_words"):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    finally:
        connection.close()


async def test_the_palace_shows_what_the_caller_sees_and_no_wing_of_others(
    memory: MemoryManager,
) -> None:
    assert await _shown(memory, ANNA) == DEFAULT_PALACE
    await _add(memory, ANNA, "The boiler is a Vaillant.", "household", "devices")
    await _add(memory, ANNA, "Ben gets a watch.", "gifts", "christmas", Scope.PRIVATE)
    await _add(memory, BEN, "I sleep badly.", "personal", "health", Scope.PRIVATE)
    await _add(memory, BEN, "Anna gets a bicycle.", "household", "surprises", Scope.PRIVATE)
    expected = DEFAULT_PALACE | {"household": {"devices": 1, "events": 0, "maintenance": 0}}
    assert await _shown(memory, ANNA) == expected | {"gifts": {"christmas": 1}}
    assert await _shown(memory, BEN) == {
        **expected,
        "household": {**expected["household"], "surprises": 1},
        "personal": {"health": 1, "preferences": 0, "secrets": 0},
    }
    reply = await _do(memory, ANNA, "palace", wing="personal")
    assert reply == {
        "wings": [
            {
                "wing": "personal",
                "description": "",
                "default_scope": "private",
                "count": 0,
                "rooms": [
                    {"room": room, "description": "", "count": 0}
                    for room in ("health", "preferences", "secrets")
                ],
            }
        ],
        "count": 1,
        "memories": 0,
        "rooms_left_out": 0,
    }


async def test_the_palace_of_the_home_and_of_the_workshop_are_two(memory: MemoryManager) -> None:
    await _add(memory, CODER, "Tests run with make.", "github/acme/tool", "general")
    assert "github/acme/tool" not in await _shown(memory, ANNA)
    assert await _shown(memory, CODER) == {"github/acme/tool": {"general": 1}}
    narrow = replace(CODER, reach=Reach(home=False, workshop=True, wings=("github/other/*",)))
    assert await _shown(memory, narrow) == {}
    both = replace(ANNA, reach=Reach(workshop=True))
    with pytest.raises(InvalidInputError) as refused:
        await memory.places.rename(
            both, ("github/acme/tool", None), ("household", None), merge=True
        )
    assert refused.value.key == "place_between_halves"


async def test_a_renamed_wing_keeps_everything(
    memory: MemoryManager, open_memory: Opener, tmp_path: Path
) -> None:
    told: list[Change] = []
    one = await _add(memory, ANNA, "The boiler is a Vaillant.", "cellar", "heating")
    two = await _add(memory, BEN, "My bike is locked with 12.", "cellar", "bikes", Scope.PRIVATE)
    critical = await _add(
        memory, ANNA, "The main tap is behind the door.", "cellar", "water", layer=Layer.CRITICAL
    )
    before = await memory.get(ANNA, one)
    assert await _found(memory, ANNA, "boiler", wing="cellar") == {one}
    memory.subscribe(told.append)

    reply = await _do(memory, ANNA, "rename_place", wing="cellar", new_wing="basement")

    assert reply == {"result": "renamed", "wing": "basement", "room": None, "count": 2}
    assert [(change.action, change.memory_ids, change.wing) for change in told] == [
        ("moved", (), None)
    ]
    assert await memory.get(ANNA, one) == replace(before, wing="basement")
    assert await _placed(memory, BEN) == {
        one: ("basement", "heating"),
        two: ("basement", "bikes"),
        critical: ("basement", "water"),
    }
    assert await _found(memory, ANNA, "boiler", wing="basement") == {one}
    assert await _found(memory, ANNA, "boiler", wing="cellar") == set()
    assert memory.counts().wings == {"basement": 2, "private": 1}
    assert memory.counts().wing_total == 5
    only_basement = replace(ANNA, reach=Reach(wings=("basement",)))
    assert "main tap" in memory.standing_text(only_basement, Profile(budget_tokens=400))

    assert await _found(memory, ANNA, "basement") == {one, critical}
    assert await _found(memory, ANNA, "cellar") == set()
    _check_full_text(tmp_path / "memory.db")
    # What is renamed can be deleted and changed afterwards, and full text stays whole.
    await memory.update(ANNA, one, MemoryChanges(content="The boiler is a Viessmann."))
    await memory.delete(ANNA, critical, Filters())
    _check_full_text(tmp_path / "memory.db")


async def test_the_words_of_a_place_find_what_lies_there(
    memory: MemoryManager, tmp_path: Path
) -> None:
    ids = [
        await _add(memory, ANNA, f"Lamp number {number} is blue.", "summer_attic", "lamps")
        for number in range(4)
    ]
    away = await _add(memory, ANNA, "The attic leaks.", "garden", "roof")
    assert await _found(memory, ANNA, "attic") == {*ids, away}
    # What a memory says counts more than where it lies.
    result = await memory.search(ANNA, Filters(), "attic", 20)
    assert result.hits[0].memory.id == away
    assert await _found(memory, ANNA, "summer") == set(ids)
    assert await _found(memory, ANNA, "attics") == {*ids, away}
    await _do(memory, ANNA, "rename_place", wing="summer_attic", new_wing="winter_loft")
    assert await _found(memory, ANNA, "summer") == set()
    assert await _found(memory, ANNA, "winter") == set(ids)
    await memory.update(ANNA, ids[0], MemoryChanges(room="shelf"))
    assert await _found(memory, ANNA, "shelf") == {ids[0]}
    await memory.delete(ANNA, ids[1], Filters())
    assert await _found(memory, ANNA, "winter") == {ids[0], ids[2], ids[3]}
    _check_full_text(tmp_path / "memory.db")


async def test_private_memories_are_not_found_by_their_place_either(memory: MemoryManager) -> None:
    await _add(memory, BEN, "We meet on Friday.", "affairs", "people", Scope.PRIVATE)
    assert await _found(memory, ANNA, "affairs") == set()
    assert len(await _found(memory, BEN, "affairs")) == 1


async def test_renaming_onto_an_existing_place_is_refused_unless_it_is_a_merge(
    memory: MemoryManager, tmp_path: Path
) -> None:
    first = await _add(memory, ANNA, "The ladder is in the shed.", "garden", "tools")
    again = await _add(memory, ANNA, "The ladder is in the shed.", "yard", "tools")
    mower = await _add(memory, ANNA, "The mower needs petrol.", "yard", "machines")
    hidden = await _add(memory, BEN, "A gift lies in the shed.", "yard", "tools", Scope.PRIVATE)
    with pytest.raises(InvalidInputError) as refused:
        await _do(memory, ANNA, "rename_place", wing="yard", new_wing="garden")
    assert (refused.value.key, refused.value.placeholders) == ("place_exists", {"place": "garden"})
    assert (await _placed(memory, ANNA))[again] == ("yard", "tools")

    reply = await _do(memory, ANNA, "rename_place", wing="yard", new_wing="garden", merge="true")

    assert reply == {"result": "merged", "wing": "garden", "room": None, "count": 3}
    assert await _placed(memory, ANNA) == {
        first: ("garden", "tools"),
        again: ("garden", "tools"),
        mower: ("garden", "machines"),
    }
    assert (await _placed(memory, BEN))[hidden] == ("garden", "tools")
    assert memory.counts().wings == {"garden": 3, "private": 1}
    assert memory.counts().total == 4
    assert "yard" not in await _shown(memory, ANNA)
    # The older one is the first telling; the other one stays a memory of its own.
    told = await memory.add(
        ANNA, NewMemory(content="the ladder is in the shed", wing="garden", room="tools")
    )
    assert (told.refreshed, told.memory.id) == (True, first)
    pinned = await memory.update(ANNA, again, MemoryChanges(pinned=True))
    assert pinned.memory.pinned
    with pytest.raises(InvalidInputError):
        await memory.update(ANNA, again, MemoryChanges(content="The ladder is in the shed"))
    assert await _found(memory, ANNA, "yard") == set()
    _check_full_text(tmp_path / "memory.db")


async def test_a_room_moves_to_another_wing(memory: MemoryManager) -> None:
    one = await _add(memory, ANNA, "I like tea.", "personal", "tastes")
    reply = await _do(memory, ANNA, "rename_place", wing="personal", room="tastes", new_wing="anna")
    assert reply == {"result": "renamed", "wing": "anna", "room": "tastes", "count": 1}
    assert await _placed(memory, ANNA) == {one: ("anna", "tastes")}
    # A wing that comes into being thereby suggests the scope of the one before.
    told = await memory.add(ANNA, NewMemory(content="I like coffee.", wing="anna", room="tastes"))
    assert told.memory.scope is Scope.PRIVATE


async def test_a_place_that_only_others_know_is_answered_like_none(memory: MemoryManager) -> None:
    await _add(memory, BEN, "We meet on Friday.", "affairs", "people", Scope.PRIVATE)
    own = await _add(memory, ANNA, "The bins go out on Monday.", "chores", "bins")

    async def answer(name: str, **arguments: Any) -> Any:
        try:
            return await _do(memory, ANNA, name, **arguments)
        except AiMemoryError as err:
            return err.key, err.placeholders

    async def same(name: str, **arguments: Any) -> None:
        """Assert that the hidden place is answered like one that never was."""
        told = []
        for wing in ("affairs", "nowhere"):
            text = str(await answer(name, wing=wing, **arguments))
            told.append(text.replace(wing, "WING"))
        assert told[0] == told[1]

    await same("palace")
    await same("describe_place", description="x")
    await same("rename_place", new_wing="elsewhere")
    await same("rename_place", room="people", new_room="others")
    await same("delete_place", move_to_wing="general")
    await same("delete_place", room="people", move_to_room="others")
    await same("connect", room="people", to_wing="chores", to_room="bins")
    await same("tunnels")
    await same("delete_place")
    await same("delete_place", room="people")
    assert await _placed(memory, BEN) != {}
    # Renaming something onto it tells nothing either, and loses nothing.
    renamed = await _do(memory, ANNA, "rename_place", wing="chores", new_wing="affairs")
    assert renamed == {"result": "renamed", "wing": "affairs", "room": None, "count": 1}
    assert await _placed(memory, ANNA) == {own: ("affairs", "bins")}
    assert sorted((await _placed(memory, BEN)).values()) == [
        ("affairs", "bins"),
        ("affairs", "people"),
    ]
    assert memory.counts().total == 2


async def test_a_place_in_use_is_deleted_only_with_where_its_memories_go(
    memory: MemoryManager,
) -> None:
    own = await _add(memory, ANNA, "The boiler is a Vaillant.", "cellar", "heating")
    other = await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    hidden = await _add(memory, BEN, "My bike is here.", "cellar", "water", Scope.PRIVATE)
    for room in (None, "water"):
        with pytest.raises(InvalidInputError) as refused:
            await _do(memory, ANNA, "delete_place", wing="cellar", room=room)
        assert refused.value.key == "place_in_use"
    for target in ({"move_to_wing": "cellar"}, {"move_to_wing": "cellar", "move_to_room": "x"}):
        with pytest.raises(InvalidInputError) as refused:
            await _do(memory, ANNA, "delete_place", wing="cellar", **target)
        assert refused.value.key == "place_inside_itself"
    reply = await _do(
        memory, ANNA, "delete_place", wing="cellar", room="water", move_to_room="pipes"
    )
    assert reply == {"result": "deleted", "moved": 1}
    assert (await _placed(memory, BEN))[hidden] == ("cellar", "pipes")
    reply = await _do(
        memory,
        ANNA,
        "delete_place",
        wing="cellar",
        move_to_wing="household",
        move_to_room="maintenance",
    )
    assert reply == {"result": "deleted", "moved": 2}
    assert await _placed(memory, ANNA) == dict.fromkeys((own, other), ("household", "maintenance"))
    assert (await _placed(memory, BEN))[hidden] == ("household", "maintenance")
    assert "cellar" not in await _shown(memory, ANNA)
    assert memory.counts().wing_total == 4


async def test_an_emptied_place_goes_and_a_default_one_comes_back(memory: MemoryManager) -> None:
    one = await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    await memory.delete(ANNA, one, Filters())
    assert await _do(memory, ANNA, "delete_place", wing="cellar") == {
        "result": "deleted",
        "moved": 0,
    }
    assert memory.counts().wing_total == 4
    with pytest.raises(InvalidInputError):
        await _do(memory, ANNA, "delete_place", wing="personal")
    await _do(memory, ANNA, "delete_place", wing="personal", move_to_wing="general")
    assert "personal" not in await _shown(memory, ANNA)
    told = await memory.add(ANNA, NewMemory(content="I like tea.", wing="personal", room="health"))
    assert told.memory.scope is Scope.PRIVATE
    assert (await _shown(memory, ANNA))["personal"] == {"health": 1}


async def test_descriptions_and_default_scopes(memory: MemoryManager) -> None:
    old = await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    for arguments in (
        {"room": "water", "description": "Pipes and taps"},
        {"description": "Below the house", "default_scope": "private"},
    ):
        told = await _do(memory, ANNA, "describe_place", wing="cellar", **arguments)
        assert told["result"] == "described"
    shown = (await _do(memory, ANNA, "palace", wing="cellar"))["wings"][0]
    assert (shown["description"], shown["default_scope"]) == ("Below the house", "private")
    assert shown["rooms"] == [{"room": "water", "description": "Pipes and taps", "count": 1}]
    # What is there already stays what it is.
    assert (await memory.get(BEN, old)).scope is Scope.COMMON
    new = await memory.add(ANNA, NewMemory(content="I hide here.", wing="cellar", room="water"))
    assert new.memory.scope is Scope.PRIVATE
    refusals = (
        ({"wing": "cellar"}, "missing"),
        ({"wing": "cellar", "room": "water", "default_scope": "common"}, "only_wings_have_a_scope"),
        ({"wing": "cellar", "description": "x" * 501}, "too_long"),
        ({"wing": "cellar", "description": "a\x00b"}, "invalid_characters"),
        ({"wing": "nowhere", "description": "x"}, "place_not_found"),
    )
    for arguments, key in refusals:
        with pytest.raises(AiMemoryError) as refused:
            await _do(memory, ANNA, "describe_place", **arguments)
        assert refused.value.key == key
    # A merged place keeps a description if either had one.
    await _add(memory, ANNA, "The wine is from 2019.", "vault", "wine")
    await _do(memory, ANNA, "rename_place", wing="cellar", new_wing="vault", merge=True)
    assert (await _do(memory, ANNA, "palace", wing="vault"))["wings"][0]["description"] == (
        "Below the house"
    )


async def test_only_administrators_rearrange_the_palace(memory: MemoryManager) -> None:
    await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    anybody = replace(ANNA, access=HOME_ACCESS)
    for name, arguments in (
        ("rename_place", {"wing": "cellar", "new_wing": "basement"}),
        ("delete_place", {"wing": "cellar", "move_to_wing": "general"}),
        ("rename_owner", {"from": "github/a/", "to": "github/b/"}),
        ("make_hub", {"wing": "github/a/b"}),
        ("describe_place", {"wing": "cellar", "default_scope": "private"}),
    ):
        with pytest.raises(AccessDeniedError):
            await _do(memory, anybody, name, **arguments)
    await _do(memory, anybody, "describe_place", wing="cellar", description="Below")


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"wing": "cellar"}, "missing"),
        ({"wing": "cellar", "new_room": "x"}, "missing"),
        ({"wing": "", "new_wing": "x"}, "missing"),
        ({"wing": "cellar", "new_wing": "!!"}, "invalid_name"),
        ({"wing": "cellar", "new_wing": "x" * 65}, "too_long"),
        ({"wing": "cellar", "room": "nowhere", "new_room": "x"}, "place_not_found"),
    ],
)
async def test_what_cannot_be_renamed_is_refused(
    memory: MemoryManager, arguments: dict[str, str], key: str
) -> None:
    await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    with pytest.raises(AiMemoryError) as refused:
        await _do(memory, ANNA, "rename_place", **arguments)
    assert refused.value.key == key
    assert (await _shown(memory, ANNA))["cellar"] == {"water": 1}


async def test_renaming_to_the_same_name_changes_nothing(memory: MemoryManager) -> None:
    await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    reply = await _do(memory, ANNA, "rename_place", wing="cellar", new_wing="Cellar")
    assert reply == {"result": "unchanged", "wing": "cellar", "room": None, "count": 1}


async def test_nobody_renames_a_wing_out_of_their_reach(memory: MemoryManager) -> None:
    await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    narrow = replace(ANNA, reach=Reach(wings=("cellar",)))
    with pytest.raises(AccessDeniedError) as refused:
        await _do(memory, narrow, "rename_place", wing="cellar", new_wing="basement")
    assert refused.value.key == "wing_not_allowed"


async def test_every_change_is_audited_by_place_and_never_by_text(
    memory: MemoryManager, tmp_path: Path
) -> None:
    await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    await _do(memory, ANNA, "describe_place", wing="cellar", description="Below the house")
    await _do(memory, ANNA, "rename_place", wing="cellar", new_wing="basement")
    await _do(memory, ANNA, "delete_place", wing="basement", room="water", move_to_room="taps")
    connection = sqlite3.connect(tmp_path / "memory.db")
    rows = connection.execute(
        "SELECT action, memory_id, user, subject, reason FROM audit WHERE subject IS NOT NULL"
        " ORDER BY id"
    ).fetchall()
    connection.close()
    assert rows == [
        ("place_described", "", "anna", "wing:cellar", None),
        ("place_renamed", "", "anna", "wing:cellar", "wing:basement"),
        ("place_deleted", "", "anna", "room:basement/water", "room:basement/taps"),
    ]


async def test_what_is_empty_and_was_never_described_is_tidied_away(
    memory: MemoryManager,
) -> None:
    gone = await _add(memory, ANNA, "We meet on Friday.", "affairs", "people", Scope.PRIVATE)
    kept = await _add(memory, ANNA, "The tap drips.", "cellar", "water")
    await _do(memory, ANNA, "describe_place", wing="cellar", description="Below the house")
    for one in (gone, kept):
        await memory.delete(ANNA, one, Filters())
    assert await memory.places.tidy() == 3
    assert memory.counts().wing_total == 5
    assert memory.counts().room_total == 9
    assert await memory.places.tidy() == 0
    again = await _add(memory, ANNA, "The tap drips again.", "cellar", "water")
    assert (await _do(memory, ANNA, "palace", wing="cellar"))["wings"][0]["description"] == (
        "Below the house"
    )
    # Described no more, it goes like the others.
    await _do(memory, ANNA, "describe_place", wing="cellar", description="")
    await memory.delete(ANNA, again, Filters())
    assert await memory.places.tidy() == 2
    assert "cellar" not in await _shown(memory, ANNA)


async def test_an_owner_is_renamed_with_all_namespaces_once(memory: MemoryManager) -> None:
    for wing in ("github/old/tool", "github/old/site", "github/older/tool", "github/new/site"):
        await _add(memory, CODER, f"Tests of {wing} run with make.", wing, "general")
    reply = await _do(memory, CODER, "rename_owner", **{"from": "github/old/", "to": "GitHub/New/"})
    assert reply == {"result": "renamed", "wings": ["github/new/site", "github/new/tool"]}
    assert await _shown(memory, CODER) == {
        "github/new/site": {"general": 2},
        "github/new/tool": {"general": 1},
        "github/older/tool": {"general": 1},
    }
    again = await _do(memory, CODER, "rename_owner", **{"from": "github/old/", "to": "github/new/"})
    assert again == {"result": "unchanged", "wings": []}
    for old, new, key in (
        ("github/", "github/x/", "invalid_prefix"),
        ("github/old", "github/new", "invalid_prefix"),
        ("github/new/", "github/new/x/", "place_inside_itself"),
    ):
        with pytest.raises(InvalidInputError) as refused:
            await _do(memory, CODER, "rename_owner", **{"from": old, "to": new})
        assert refused.value.key == key
    with pytest.raises(NotFoundError):
        await _do(memory, CODER, "rename_place", wing="github/old/tool", new_wing="github/x/y")


async def test_what_a_restart_interrupts_is_finished_afterwards(
    open_memory: Opener, tmp_path: Path, clock: SteppingClock
) -> None:
    memory = await open_memory(max_entries=2000)
    for number in range(300):
        await _add(memory, ANNA, f"Lamp number {number}.", "attic", "lamps")
        if number < 3:
            await _add(memory, ANNA, f"Lamp number {number}.", "roof", "lamps")
    await memory.close()
    # As a crash leaves it: joined, and not one memory has moved.
    connection = sqlite3.connect(tmp_path / "memory.db")
    connection.execute(
        "UPDATE rooms SET moving_to = (SELECT r.id FROM rooms r JOIN wings w ON w.id = r.wing_id"
        " WHERE w.name = 'roof') WHERE wing_id = (SELECT id FROM wings WHERE name = 'attic')"
    )
    connection.execute(
        "UPDATE wings SET moving_to = (SELECT id FROM wings WHERE name = 'roof')"
        " WHERE name = 'attic'"
    )
    connection.commit()
    connection.close()
    memory = await open_memory(max_entries=2000)
    while memory.counts().wing_total > 5:
        await asyncio.sleep(0.01)
    assert await _shown(memory, ANNA) == DEFAULT_PALACE | {"roof": {"lamps": 303}}
    assert memory.counts().wings == {"roof": 303}
    assert memory.counts().wing_total == 5
    assert await _found(memory, ANNA, "attic") == set()
    _check_full_text(tmp_path / "memory.db")
