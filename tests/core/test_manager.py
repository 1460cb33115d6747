"""Adding, refreshing, changing, deleting and evicting memories, on a real file."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from custom_components.ai_memory.core import (
    Action,
    Caller,
    Change,
    Filters,
    InvalidInputError,
    Layer,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Reach,
    Scope,
)
from tests.conftest import Opener, SteppingClock

AUTOMATION = Caller(source="service")
OTHER_AGENT = Caller(source="assist", agent="conversation.other", provider="openai", user="anna")
BEN = Caller(source="assist", agent="conversation.home", provider="ollama", user="ben")
CODER = Caller(source="mcp:a", agent="client:a", reach=Reach(home=False, workshop=True))
SATELLITE = Caller(source="assist", agent="conversation.home", provider="ollama")


async def _contents(memory: MemoryManager, caller: Caller) -> set[str]:
    return {found.content for found in (await memory.latest(caller, Filters(), 1000)).memories}


async def test_a_memory_comes_back_as_it_was_stored(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    added = await memory.add(
        anna,
        NewMemory(content="  Anna is allergic to peanuts ", summary="allergy", scope=Scope.PRIVATE),
    )
    clock.advance(hours=1)
    read = await memory.get(anna, added.memory.id)
    assert read == added.memory
    assert (read.content, read.summary, read.wing, read.room) == (
        "Anna is allergic to peanuts",
        "allergy",
        "personal",
        "health",
    )
    assert (read.scope, read.owner_agent, read.owner_user) == (
        Scope.PRIVATE,
        "conversation.home",
        "anna",
    )
    assert (read.layer, read.type, read.status, read.confidence, read.revision) == (
        Layer.STANDARD,
        "fact",
        "active",
        1.0,
        1,
    )
    assert (read.created, read.updated, read.accessed, read.access_count) == (
        clock.now.replace(hour=8),
        clock.now.replace(hour=8),
        None,
        0,
    )
    assert (read.source, len(read.id)) == ("assist", 26)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, ("household", "maintenance")),
        ({"wing": "household"}, ("household", "maintenance")),
        ({"wing": "personal"}, ("personal", "general")),
        ({"room": "devices"}, ("household", "devices")),
        ({"room": "attic"}, ("general", "attic")),
        ({"wing": "Summer House", "room": "Ünder Stairs!"}, ("summer_house", "under_stairs")),
        ({"wing": "Haushalt", "room": "Wartung"}, ("household", "maintenance")),
        ({"wing": "../../etc"}, ("etc", "general")),
        ({"wing": "'; DROP TABLE wings; --"}, ("drop_table_wings", "general")),
        ({"wing": " ", "room": ""}, ("household", "maintenance")),
    ],
)
async def test_the_place_is_named_in_slugs_and_filled_where_blank(
    memory: MemoryManager, place: dict[str, str], expected: tuple[str, str]
) -> None:
    new = NewMemory(
        content="The boiler needs a repair",
        scope=Scope.COMMON,
        wing=place.get("wing"),
        room=place.get("room"),
    )
    added = (await memory.add(AUTOMATION, new)).memory
    assert (added.wing, added.room) == expected


async def test_nothing_tells_where_it_belongs_so_it_is_general(memory: MemoryManager) -> None:
    added = (await memory.add(AUTOMATION, NewMemory(content="xyzzy"))).memory
    assert (added.wing, added.room, added.scope) == ("general", "general", Scope.COMMON)


async def test_a_missing_scope_is_that_of_the_wing(memory: MemoryManager, anna: Caller) -> None:
    private = await memory.add(anna, NewMemory(content="My blood type is A", wing="personal"))
    common = await memory.add(anna, NewMemory(content="Paint is in the cellar", wing="household"))
    assert (private.memory.scope, common.memory.scope) == (Scope.PRIVATE, Scope.COMMON)


@pytest.mark.parametrize(
    ("new", "key", "field"),
    [
        (NewMemory(content=""), "empty", "content"),
        (NewMemory(content=" \n\t "), "empty", "content"),
        (NewMemory(content="x" * 10_001), "too_long", "content"),
        (NewMemory(content="x" * 1_000_000), "too_long", "content"),
        (NewMemory(content="nul\x00byte"), "invalid_characters", "content"),
        (NewMemory(content="lone \ud800 surrogate"), "invalid_characters", "content"),
        (NewMemory(content="a" + "\u0301\u0323" * 4_999), "invalid_characters", "content"),
        (NewMemory(content="ﷺ" * 9_000), "too_long", "content"),
        (NewMemory(content="\u200b\ufeff"), "empty", "content"),
        (NewMemory(content="x", summary="y" * 501), "too_long", "summary"),
        (NewMemory(content="x", summary="\x00"), "invalid_characters", "summary"),
        (NewMemory(content="x", wing="🏠"), "invalid_name", "wing"),
        (NewMemory(content="x", wing="w" * 300), "too_long", "wing"),
        (NewMemory(content="x", room="/"), "invalid_name", "room"),
        (NewMemory(content="x", room="\udfff"), "invalid_characters", "room"),
    ],
)
async def test_bad_input_is_refused_and_changes_nothing(
    memory: MemoryManager, anna: Caller, new: NewMemory, key: str, field: str
) -> None:
    before = memory.counts()
    with pytest.raises(InvalidInputError) as refused:
        await memory.add(anna, new)
    assert (refused.value.key, refused.value.placeholders["field"]) == (key, field)
    assert memory.counts() == before


async def test_the_limit_is_named_in_the_refusal(memory: MemoryManager, anna: Caller) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await memory.add(anna, NewMemory(content="x" * 10_001))
    assert refused.value.placeholders == {"field": "content", "limit": "10000", "length": "10001"}
    assert (await memory.add(anna, NewMemory(content="x" * 10_000))).memory.revision == 1


async def test_a_private_memory_needs_an_owner(memory: MemoryManager) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await memory.add(AUTOMATION, NewMemory(content="secret", scope=Scope.PRIVATE))
    assert refused.value.key == "private_needs_agent"
    assert memory.counts().total == 0


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("The garage code is 1234", "The garage code is 1234"),
        ("The garage code is 1234", "the Garage code is 1234."),
        ("The garage code is 1234", "Garage code  is\n1234"),
        ("Wi-Fi is slow upstairs", "WiFi is slow upstairs"),
        ("Der Müll wird dienstags abgeholt", "Müll wird dienstags abgeholt."),
        ("冰箱里有牛奶", "冰箱里有牛奶。"),
    ],
)
async def test_a_restatement_refreshes_the_first(
    memory: MemoryManager, anna: Caller, clock: SteppingClock, first: str, again: str
) -> None:
    stored = await memory.add(anna, NewMemory(content=first, wing="general", room="general"))
    clock.advance(days=2)
    told = await memory.add(
        anna, NewMemory(content=again, summary="added later", wing="general", room="general")
    )
    assert (stored.refreshed, told.refreshed) == (False, True)
    assert told.memory.id == stored.memory.id
    assert (told.memory.content, told.memory.summary) == (first, "added later")
    assert (told.memory.created, told.memory.updated) == (stored.memory.created, clock.now)
    assert told.memory.revision == 2
    assert memory.counts().total == 1


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("The garage is 1234 cm long", "The garage is 1235 cm long"),
        ("Anna likes tea", "Anna does not like tea"),
        ("Anna likes Ben", "Ben likes Anna"),
        ("The freezer is at 18 degrees", "The freezer is at -18 degrees"),
        ("Humidity is 50", "Humidity is 50%"),
        ("Es ist schön hier", "Es ist schon hier"),
        ("The dose is .5 mg", "The dose is 5 mg"),
        ('The pipe is 12"', "The pipe is 12'"),
        ("The password is Hunter2", "The password is hunter2"),
        ("The code is abc!", "The code is abc"),
        ("The login is anna-marie@x.de", "The login is annamarie@x.de"),
        ("The code is 10⁵", "The code is 105"),
        ("The US office is closed", "The us office is closed"),
        ("The limit is 5 mW", "The limit is 5 MW"),
        ("Anna takes vitamin A", "Anna takes a vitamin"),
        ("Blutgruppe A", "Blutgruppe"),
        ("Die Lampe bleibt an", "Die Lampe bleibt"),
        ("Alkohol in Maßen", "Alkohol in Massen"),
        ("Is Ben allergic to nuts?", "Is Ben allergic to nuts"),
        ("We re-sign the lease", "We resign the lease"),
    ],
)
async def test_a_different_fact_stays_a_memory_of_its_own(
    memory: MemoryManager, anna: Caller, first: str, other: str
) -> None:
    for content in (first, other):
        await memory.add(anna, NewMemory(content=content, wing="general", room="general"))
    assert await _contents(memory, anna) == {first, other}


async def test_only_the_same_place_scope_and_owner_make_a_restatement(
    memory: MemoryManager, anna: Caller
) -> None:
    text = "The safe opens with 99-11"
    ways = [
        (anna, Scope.PRIVATE, "secrets"),
        (anna, Scope.COMMON, "secrets"),
        (anna, Scope.COMMON, "devices"),
        (BEN, Scope.PRIVATE, "secrets"),
        (OTHER_AGENT, Scope.PRIVATE, "secrets"),
        (SATELLITE, Scope.PRIVATE, "secrets"),
    ]
    for caller, scope, room in ways:
        added = await memory.add(caller, NewMemory(content=text, scope=scope, room=room))
        assert not added.refreshed
    assert memory.counts().total == len(ways)


async def test_private_memories_reach_only_their_owner(memory: MemoryManager, anna: Caller) -> None:
    await memory.add(anna, NewMemory(content="Anna's diary", scope=Scope.PRIVATE))
    await memory.add(SATELLITE, NewMemory(content="Told to the speaker", scope=Scope.PRIVATE))
    await memory.add(OTHER_AGENT, NewMemory(content="Told elsewhere", scope=Scope.PRIVATE))
    await memory.add(AUTOMATION, NewMemory(content="Everyone's", scope=Scope.COMMON))
    old_row = Caller(source="assist", agent="ollama", provider="ollama")
    await memory.add(old_row, NewMemory(content="Only the provider known", scope=Scope.PRIVATE))

    everyone, provider = "Everyone's", "Only the provider known"
    assert await _contents(memory, anna) == {
        "Anna's diary",
        "Told to the speaker",
        provider,
        everyone,
    }
    assert await _contents(memory, BEN) == {"Told to the speaker", provider, everyone}
    assert await _contents(memory, SATELLITE) == {"Told to the speaker", provider, everyone}
    assert await _contents(memory, OTHER_AGENT) == {"Told elsewhere", everyone}
    assert await _contents(memory, AUTOMATION) == {everyone}
    for caller in (BEN, OTHER_AGENT, SATELLITE, AUTOMATION):
        assert not (await memory.search(caller, Filters(), "Anna's diary", 5)).hits


async def test_a_hidden_memory_looks_like_no_memory(memory: MemoryManager, anna: Caller) -> None:
    hidden = (await memory.add(anna, NewMemory(content="Anna's diary", scope=Scope.PRIVATE))).memory
    for attempt in (
        memory.get(BEN, hidden.id),
        memory.update(BEN, hidden.id, MemoryChanges(content="changed")),
        memory.delete(BEN, hidden.id, Filters()),
    ):
        with pytest.raises(NotFoundError) as refused:
            await attempt
        assert (refused.value.key, refused.value.placeholders) == (
            "memory_not_found",
            {"id": hidden.id},
        )
    assert await memory.delete(BEN, None, Filters(scope=Scope.PRIVATE)) == ()
    assert (await memory.get(anna, hidden.id)).content == "Anna's diary"


async def test_an_update_changes_what_is_given_and_advances_the_revision(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    added = (await memory.add(anna, NewMemory(content="The code is 1234", summary="code"))).memory
    clock.advance(minutes=5)
    changes = MemoryChanges(content="The alarm code is 9876", room="Secrets", wing="personal")
    updated = await memory.update(anna, added.id, changes)
    assert updated.changed
    assert (updated.memory.content, updated.memory.summary) == ("The alarm code is 9876", "code")
    assert (updated.memory.wing, updated.memory.room) == ("personal", "secrets")
    assert (updated.memory.revision, updated.memory.updated) == (2, clock.now)
    found = await memory.search(anna, Filters(), "alarm code 9876", 5)
    assert [hit.memory.id for hit in found.hits] == [added.id]
    assert not (await memory.search(anna, Filters(), "1234", 5)).hits


async def test_an_update_that_changes_nothing_writes_nothing(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    added = (await memory.add(anna, NewMemory(content="The code is 1234"))).memory
    clock.advance(minutes=5)
    unchanged = await memory.update(anna, added.id, MemoryChanges(content="The code is 1234 "))
    assert (unchanged.changed, unchanged.memory) == (False, added)


async def test_an_update_cannot_make_two_memories_the_same(
    memory: MemoryManager, anna: Caller
) -> None:
    first = (await memory.add(anna, NewMemory(content="Tea is in the left drawer"))).memory
    second = (await memory.add(anna, NewMemory(content="Tea is in the right drawer"))).memory
    changes = MemoryChanges(content="Tea is in the left drawer.", room=first.room, wing=first.wing)
    with pytest.raises(InvalidInputError) as refused:
        await memory.update(anna, second.id, changes)
    assert (refused.value.key, refused.value.placeholders) == ("already_known", {"id": first.id})
    assert (await memory.get(anna, second.id)).content == "Tea is in the right drawer"


async def test_the_scope_can_change_hands(memory: MemoryManager, anna: Caller) -> None:
    added = (await memory.add(anna, NewMemory(content="Party on Friday"))).memory
    private = await memory.update(anna, added.id, MemoryChanges(scope=Scope.PRIVATE))
    assert (private.memory.owner_agent, private.memory.owner_user) == ("conversation.home", "anna")
    assert await _contents(memory, BEN) == set()
    common = await memory.update(anna, added.id, MemoryChanges(scope=Scope.COMMON))
    assert (common.memory.owner_agent, common.memory.owner_user) == (None, None)
    assert await _contents(memory, BEN) == {"Party on Friday"}
    counts = memory.counts()
    assert (counts.common, counts.private) == (1, 0)


async def test_an_empty_summary_clears_it(memory: MemoryManager, anna: Caller) -> None:
    added = (await memory.add(anna, NewMemory(content="Party", summary="friday"))).memory
    updated = await memory.update(anna, added.id, MemoryChanges(summary=""))
    assert (updated.changed, updated.memory.summary) == (True, "")


async def test_deletion_by_id_and_by_filter(memory: MemoryManager, anna: Caller) -> None:
    ids = {}
    for content, wing, room in (
        ("Party at eight", "household", "events"),
        ("Guests on Sunday", "household", "events"),
        ("Lamp is broken", "household", "devices"),
        ("Ben prefers tea", "personal", "preferences"),
    ):
        new = NewMemory(content=content, wing=wing, room=room, scope=Scope.COMMON)
        ids[content] = (await memory.add(anna, new)).memory.id
    gone = await memory.delete(anna, None, Filters(wing="household", room="events"))
    assert set(gone) == {ids["Party at eight"], ids["Guests on Sunday"]}
    assert await memory.delete(anna, ids["Lamp is broken"], Filters()) == (ids["Lamp is broken"],)
    assert await memory.delete(anna, None, Filters(wing="nowhere")) == ()
    assert await _contents(memory, anna) == {"Ben prefers tea"}
    assert not (await memory.search(anna, Filters(), "party lamp guests", 5)).hits
    with pytest.raises(InvalidInputError) as refused:
        await memory.delete(anna, None, Filters())
    assert refused.value.key == "filter_required"


async def test_the_least_valuable_make_room(
    open_memory: Opener, anna: Caller, clock: SteppingClock
) -> None:
    memory = await open_memory(max_entries=4)
    ids = {}
    for content, layer in (
        ("critical", Layer.CRITICAL),
        ("used", Layer.STANDARD),
        ("unused", Layer.STANDARD),
        ("archived", Layer.ARCHIVE),
    ):
        clock.advance(minutes=1)
        added = await memory.add(anna, NewMemory(content=content, layer=layer))
        assert (added.evicted, added.evicted_count) == ((), 0)
        ids[content] = added.memory.id
    await memory.get(anna, ids["used"])
    await memory._usage.flush()

    evicted = []
    for number in range(3):
        clock.advance(minutes=1)
        added = await memory.add(anna, NewMemory(content=f"new {number}"))
        assert added.evicted_count == 1
        evicted.append(added.evicted[0].id)
    assert evicted[:2] == [ids["archived"], ids["unused"]]
    assert await _contents(memory, anna) == {"critical", "used", "new 1", "new 2"}


async def test_critical_memories_and_the_new_one_are_never_evicted(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory(max_entries=2)
    for number in range(3):
        critical = NewMemory(content=f"critical {number}", layer=Layer.CRITICAL)
        assert (await memory.add(anna, critical)).evicted_count == 0
    added = await memory.add(anna, NewMemory(content="standard"))
    assert added.evicted_count == 0
    assert memory.counts().total == 4


async def test_a_lowered_capacity_is_reached_with_the_next_memory(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory(max_entries=10)
    for number in range(10):
        await memory.add(anna, NewMemory(content=f"fact {number}"))
    await memory.close()
    smaller = await open_memory(max_entries=3)
    added = await smaller.add(anna, NewMemory(content="one more"))
    assert (added.evicted_count, smaller.counts().total) == (8, 3)


async def test_the_capacity_is_that_of_the_home(open_memory: Opener, anna: Caller) -> None:
    memory = await open_memory(max_entries=2)
    first = (await memory.add(anna, NewMemory(content="home 0"))).memory
    record = NewMemory(content="record", wing="github/acme/tool")
    for number in range(5):
        added = await memory.add(CODER, replace(record, content=f"record {number}"))
        assert added.evicted_count == 0
    assert (await memory.add(anna, NewMemory(content="home 1"))).evicted_count == 0
    added = await memory.add(anna, NewMemory(content="home 2"))
    assert [one.id for one in added.evicted] == [first.id]
    # What was evicted makes no more room than it took, also after a start.
    await memory.close()
    memory = await open_memory(max_entries=2)
    assert (memory.counts().total, memory.commits.of_home) == (7, 2)
    assert (await memory.add(anna, NewMemory(content="home 3"))).evicted_count == 1
    assert (await memory.add(CODER, record)).evicted_count == 0
    listed = await memory.latest(CODER, Filters(), 9)
    assert listed.total == 6


async def test_an_eviction_names_only_what_the_caller_could_see(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory(max_entries=1)
    await memory.add(anna, NewMemory(content="Anna's diary", scope=Scope.PRIVATE))
    added = await memory.add(BEN, NewMemory(content="Ben's note", scope=Scope.PRIVATE))
    assert (added.evicted, added.evicted_count) == ((), 1)


async def test_uses_are_written_behind(memory: MemoryManager, anna: Caller) -> None:
    added = (await memory.add(anna, NewMemory(content="Spare fuses are in the cellar"))).memory
    await memory.search(anna, Filters(), "spare fuses", 5)
    await memory.search(anna, Filters(), "fuses", 5)
    assert (await memory.get(anna, added.id)).access_count == 0
    await memory._usage.flush()
    used = await memory.get(anna, added.id)
    assert (used.access_count, used.revision) == (3, 1)
    assert used.accessed is not None


async def test_uses_survive_a_restart(open_memory: Opener, anna: Caller) -> None:
    memory = await open_memory()
    added = (await memory.add(anna, NewMemory(content="Spare fuses are in the cellar"))).memory
    await memory.search(anna, Filters(), "spare fuses", 5)
    await memory.close()
    reopened = await open_memory()
    assert (await reopened.get(anna, added.id)).access_count == 1


async def test_listeners_hear_of_each_commit(memory: MemoryManager, anna: Caller) -> None:
    heard: list[Change] = []
    stop = memory.subscribe(heard.append)
    added = (await memory.add(anna, NewMemory(content="Lamp is broken", wing="household"))).memory
    await memory.add(anna, NewMemory(content="lamp is broken", wing="household"))
    await memory.update(anna, added.id, MemoryChanges(content="Lamp is repaired"))
    await memory.update(anna, added.id, MemoryChanges(content="Lamp is repaired"))
    await memory.delete(anna, added.id, Filters())
    stop()
    await memory.add(anna, NewMemory(content="Not heard"))
    assert [change.action for change in heard] == [
        Action.ADDED,
        Action.REFRESHED,
        Action.UPDATED,
        Action.DELETED,
    ]
    assert {change.memory_ids for change in heard} == {(added.id,)}
    assert [change.counts.total for change in heard] == [1, 1, 1, 0]


async def test_the_audit_tells_who_did_what_and_no_text(
    memory: MemoryManager, anna: Caller
) -> None:
    added = (await memory.add(anna, NewMemory(content="Zebra", scope=Scope.PRIVATE))).memory
    await memory.add(anna, NewMemory(content="zebra", scope=Scope.PRIVATE))
    await memory.update(anna, added.id, MemoryChanges(content="Lion"))
    await memory.delete(anna, added.id, Filters())
    async with memory._database.reading() as connection:
        rows = await connection.execute_fetchall(
            "SELECT action, memory_id, revision_before, revision_after, source, agent, user"
            " FROM audit ORDER BY id"
        )
    who = ("assist", "conversation.home", "anna")
    assert [tuple(row) for row in rows] == [
        ("added", added.id, None, 1, *who),
        ("refreshed", added.id, 1, 2, *who),
        ("updated", added.id, 2, 3, *who),
        ("deleted", added.id, 3, None, *who),
    ]


async def test_counts_match_the_database_after_many_writes(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory(max_entries=20)
    for number in range(40):
        scope = Scope.PRIVATE if number % 3 else Scope.COMMON
        layer = Layer(number % 3 + 1)
        new = NewMemory(
            content=f"fact {number}", wing=f"wing {number % 4}", scope=scope, layer=layer
        )
        await memory.add(anna, new)
    await memory.delete(anna, None, Filters(wing="wing 1"))
    kept = memory.counts()
    await memory.close()
    assert (await open_memory(max_entries=20)).counts() == kept


async def test_concurrent_writes_of_one_fact_are_one_memory(
    memory: MemoryManager, anna: Caller
) -> None:
    results = await asyncio.gather(
        *(memory.add(anna, NewMemory(content="The fuse box is outside")) for _ in range(20))
    )
    assert len({result.memory.id for result in results}) == 1
    assert sorted(result.refreshed for result in results) == [False] + [True] * 19
    assert memory.counts().total == 1


async def test_many_adds_at_once_evict_no_more_than_needed(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory(max_entries=30)
    for number in range(25):
        await memory.add(anna, NewMemory(content=f"old {number}"))
    added = await asyncio.gather(
        *(memory.add(anna, NewMemory(content=f"new {number}")) for number in range(20))
    )
    assert memory.counts().total == 30
    assert sum(result.evicted_count for result in added) == 15
    kept = await _contents(memory, anna)
    assert {f"new {number}" for number in range(20)} <= kept


async def test_a_failing_listener_fails_nobody_else(
    memory: MemoryManager, anna: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    def explode(_change: Change) -> None:
        raise KeyError

    heard: list[Change] = []
    memory.subscribe(explode)
    memory.subscribe(heard.append)
    assert not (await memory.add(anna, NewMemory(content="Lamp is broken"))).refreshed
    assert len(heard) == 1
    assert "A listener failed" in caplog.text


async def test_the_place_of_a_private_memory_is_told_to_nobody(
    memory: MemoryManager, anna: Caller
) -> None:
    heard: list[Change] = []
    memory.subscribe(heard.append)
    new = NewMemory(content="x y", scope=Scope.PRIVATE, wing="annas pregnancy", room="ward")
    await memory.add(anna, new)
    assert (heard[0].scope, heard[0].wing, heard[0].room) == (Scope.PRIVATE, None, None)
    assert memory.counts().wings == {"private": 1}


async def test_private_words_do_not_show_in_the_scores_of_others(
    memory: MemoryManager, anna: Caller
) -> None:
    await memory.add(BEN, NewMemory(content="The boiler test is due", scope=Scope.COMMON))
    before = await memory.search(BEN, Filters(), "pregnancy test boiler", 5, min_score=0.1)
    for number in range(20):
        content = f"A pregnancy test, number {number}"
        await memory.add(anna, NewMemory(content=content, scope=Scope.PRIVATE))
    after = await memory.search(BEN, Filters(), "pregnancy test boiler.", 5, min_score=0.1)
    assert [hit.score for hit in after.hits] == [hit.score for hit in before.hits]


async def test_deleted_words_leave_the_file(
    open_memory: Opener, anna: Caller, tmp_path: Path
) -> None:
    memory = await open_memory()
    added = await memory.add(anna, NewMemory(content="Xylophone quagmire", scope=Scope.PRIVATE))
    await memory.add(anna, NewMemory(content="Something else"))
    await memory.delete(anna, added.memory.id, Filters())
    await memory.close()
    stored = (tmp_path / "memory.db").read_bytes().lower()
    for trace in (b"xylophon", b"quagmir"):
        assert trace not in stored


@pytest.mark.parametrize("name", ["#Gesundheit", "(Wartung)", "Küche oben", "Living Room", "健康"])
async def test_a_place_is_found_by_the_name_that_was_returned(
    memory: MemoryManager, anna: Caller, name: str
) -> None:
    added = (await memory.add(anna, NewMemory(content="x y", wing=name, room=name))).memory
    filters = Filters(wing=added.wing, room=added.room)
    assert (await memory.latest(anna, filters, 5)).total == 1


@pytest.mark.parametrize("memory_id", ["", "a\udfffb", "x" * 1_000_000, "a b", "'; --"])
async def test_an_impossible_id_is_no_memory(
    memory: MemoryManager, anna: Caller, memory_id: str
) -> None:
    for attempt in (
        memory.get(anna, memory_id),
        memory.update(anna, memory_id, MemoryChanges(content="x")),
        memory.delete(anna, memory_id, Filters()),
    ):
        with pytest.raises(NotFoundError) as refused:
            await attempt
        assert len(refused.value.placeholders["id"]) <= 40


async def test_a_memory_is_there_after_the_file_is_copied_while_open(
    memory: MemoryManager, anna: Caller, tmp_path: Path, open_memory: Opener
) -> None:
    """What was acknowledged is in the file and its log, as after a crash of the process."""
    added = (await memory.add(anna, NewMemory(content="The fuse box is outside"))).memory
    for suffix in ("", "-wal"):
        copied = (tmp_path / f"memory.db{suffix}").read_bytes()
        (tmp_path / f"copy.db{suffix}").write_bytes(copied)
    recovered = await open_memory(name="copy.db")
    assert (await recovered.get(anna, added.id)).content == "The fuse box is outside"
