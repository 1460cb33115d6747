"""What memories are anchored to: how it is written, checked, reported, swept and counted."""

from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from dataclasses import replace
import json
from pathlib import Path
import sqlite3
from typing import Any

import pytest

from custom_components.ai_memory.core import (
    Access,
    Action,
    Anchor,
    AnchorFilters,
    AnchorKind,
    AnchorState,
    Caller,
    Change,
    Database,
    Filters,
    InvalidInputError,
    Memory,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Report,
    Scope,
    ScreenedError,
)
from custom_components.ai_memory.core.anchors import ANCHORS_MAXIMUM, clean_anchor
from custom_components.ai_memory.core.models import WORKSHOP_REACH, Stance
from custom_components.ai_memory.core.transfer import ExportFormat, ImportRequest
from custom_components.ai_memory.embedding import EngineSettings, create_engine
from tests.conftest import Opener, SteppingClock

ANYTHING = AnchorFilters()
SWEEPER = Caller(source="test")
BEN = Caller(source="assist", agent="conversation.other", user="ben")
CODER = Caller(source="mcp", agent="coder", reach=WORKSHOP_REACH)
OK, MISSING, UNCHECKED = AnchorState.OK, AnchorState.MISSING, AnchorState.UNCHECKED


class Home:
    """A home whose entities the test decides on; None where nobody can tell."""

    def __init__(self) -> None:
        """Have a lamp and a door."""
        self.answers: dict[str, bool | None] = {"light.hall": True, "cover.garage": True}

    def __call__(self, entity_id: str) -> bool | None:
        """Return whether an entity is there."""
        return self.answers.get(entity_id, False)


@pytest.fixture
def home() -> Home:
    return Home()


type OpenHome = Callable[[], Any]


@pytest.fixture
async def open_home(
    tmp_path: Path, clock: SteppingClock, home: Home
) -> AsyncGenerator[Callable[[], Any]]:
    opened: list[MemoryManager] = []

    async def opener() -> MemoryManager:
        manager = MemoryManager(
            Database(tmp_path / "memory.db"),
            create_engine("tfidf", EngineSettings(storage_path=tmp_path)),
            max_entries=10_000,
            clock=clock,
            check_entity=home,
        )
        opened.append(manager)
        await manager.open()
        return manager

    yield opener
    for manager in opened:
        await manager.close()


@pytest.fixture
async def memory(open_home: OpenHome) -> MemoryManager:
    manager: MemoryManager = await open_home()
    return manager


def _rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(statement).fetchall()


async def _store(memory: MemoryManager, caller: Caller, content: str, **fields: Any) -> Memory:
    return (await memory.add(caller, NewMemory(content=content, **fields))).memory


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("entity:light.hall", "entity:light.hall"),
        (" Entity: Light.Hall ", "entity:light.hall"),
        ("path:src/Main.py", "path:src/Main.py"),
        ("path:C:\\Users\\anna", "path:C:\\Users\\anna"),
        ("host:NAS.local", "host:nas.local"),
        ("host:192.0.2.7:8080", "host:192.0.2.7:8080"),
        ("host:[2001:db8::1]:22", "host:[2001:db8::1]:22"),
        ("host:2001:db8::1", "host:2001:db8::1"),
        ("url:https://example.com/A?page=2", "url:https://example.com/A?page=2"),
    ],
)
def test_an_anchor_is_stored_in_one_form(text: str, stored: str) -> None:
    assert clean_anchor(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "",
        "light.hall",
        "lamp:light.hall",
        "entity:",
        "entity:light",
        "entity:light.",
        "entity:_light.hall",
        "entity:light.hall_",
        "entity:light.ha__ll",
        "entity:light.hall.one",
        "entity:light.küche",
        f"entity:light.{'a' * 255}",
        "path:",
        "path:a\nb",
        "host:two words",
        "host:-nas",
        "url:example.com",
        "url:https://exa mple.com",
        "url:https://[half",
        "url:https://anna:secret@example.com/",
        f"path:{'a' * 1000}",
        "path:a\x00b",
    ],
)
async def test_what_is_no_anchor_is_refused_without_being_repeated(
    memory: MemoryManager, anna: Caller, text: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await _store(memory, anna, "A fact", anchors=("path:a", text))
    assert refused.value.placeholders["field"] == "anchors"
    if text:
        assert text not in str(refused.value)
    assert memory.counts().total == 0


@pytest.mark.parametrize(
    "url",
    [
        "https://anna:secret@example.com/",
        "https://example.com/?access_token=abc",
        "https://example.com/#session_id=abc",
        "https://example.com/?apiKey=abc",
    ],
)
async def test_an_address_that_opens_a_door_is_screened(
    memory: MemoryManager, anna: Caller, url: str, tmp_path: Path
) -> None:
    stored = await _store(memory, anna, "A fact")
    for caller in (anna, CODER):
        with pytest.raises(ScreenedError) as refused:
            await _store(memory, caller, "A page", wing="global", anchors=(f" URL:{url}",))
        assert refused.value.placeholders["field"] == "anchors"
    with pytest.raises(ScreenedError):
        await memory.update(anna, stored.id, MemoryChanges(anchors=(f"url:{url}",)))
    kept = ("url:https://example.com/?author=anna&session_count=3",)
    await memory.update(anna, stored.id, MemoryChanges(anchors=kept))
    audit = "SELECT subject FROM audit WHERE action = 'screened'"
    assert _rows(tmp_path / "memory.db", audit) == [("anchors",)] * 3


async def test_a_memory_has_sixteen_anchors_at_most(memory: MemoryManager, anna: Caller) -> None:
    many = tuple(f"path:{number:02}" for number in range(ANCHORS_MAXIMUM))
    with pytest.raises(InvalidInputError, match="too_many"):
        await _store(memory, anna, "Too many", anchors=(*many, "path:more"))
    full = await _store(memory, anna, "Full of light.hall", anchors=(*many, "path:00"))
    # There is no room left for the entity that the text names.
    assert [anchor.target for anchor in full.anchors] == list(many)


async def test_anchors_are_set_kept_and_replaced(memory: MemoryManager, anna: Caller) -> None:
    stored = await _store(memory, anna, "The backup", anchors=("host:nas", "path:/backup"))
    assert stored.anchors == (Anchor("host:nas", UNCHECKED), Anchor("path:/backup", UNCHECKED))
    kept = await memory.update(anna, stored.id, MemoryChanges(summary="backup"))
    assert (kept.memory.anchors, kept.memory.revision) == (stored.anchors, 2)
    await memory.anchors.report(anna, {"host:nas": Report.OK}, ANYTHING)
    changes = MemoryChanges(anchors=("url:https://nas.local/", "host:nas"))
    replaced = await memory.update(anna, stored.id, changes)
    assert replaced.memory.anchors == (
        Anchor("host:nas", OK),
        Anchor("url:https://nas.local/", UNCHECKED),
    )
    assert replaced.memory.revision == 4
    again = await memory.update(anna, stored.id, changes)
    assert (again.changed, again.memory.revision) == (False, 4)
    none = await memory.update(anna, stored.id, MemoryChanges(anchors=()))
    assert none.memory.anchors == ()


async def test_a_restatement_takes_more_anchors(memory: MemoryManager, anna: Caller) -> None:
    first = await _store(memory, anna, "The backup", anchors=("host:nas",))
    again = await memory.add(anna, NewMemory(content="the backup.", anchors=("path:/b",)))
    assert (again.refreshed, again.memory.id) == (True, first.id)
    assert [anchor.target for anchor in again.memory.anchors] == ["host:nas", "path:/b"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("light.hall stays on", ["entity:light.hall"]),
        ("Never switch off Light.hall.", ["entity:light.hall"]),
        ("(light.hall), cover.garage!", ["entity:cover.garage", "entity:light.hall"]),
        ("走廊灯light.hall不要关", ["entity:light.hall"]),
        ("light.kitchen is unknown here", []),
        ("see light.hall.de or www.light.hall", []),
        ("files/light.hall, a-light.hall and light.hall-2", []),
        ("mail anna@light.hall or light.hall@home", []),
    ],
)
async def test_a_memory_of_the_home_is_about_the_entities_it_names(
    memory: MemoryManager, anna: Caller, text: str, named: list[str]
) -> None:
    stored = await _store(memory, anna, text, wing="household")
    assert stored.anchors == tuple(Anchor(name, OK) for name in named)


async def test_a_new_text_changes_what_is_named(memory: MemoryManager, anna: Caller) -> None:
    stored = await _store(memory, anna, "About light.hall", anchors=("path:a",))
    changes = MemoryChanges(content="About cover.garage and switch.none")
    updated = (await memory.update(anna, stored.id, changes)).memory
    assert updated.anchors == (Anchor("entity:cover.garage", OK), Anchor("path:a", UNCHECKED))
    exactly = MemoryChanges(content="About cover.garage again", anchors=("path:b",))
    updated = (await memory.update(anna, stored.id, exactly)).memory
    assert updated.anchors == (Anchor("path:b", UNCHECKED),)


async def test_a_text_of_the_workshop_names_no_entities(memory: MemoryManager) -> None:
    stored = await _store(memory, CODER, "The test uses light.hall", wing="github/acme/tool")
    assert stored.anchors == ()
    given = await _store(memory, CODER, "Given", wing="global", anchors=("entity:light.hall",))
    assert given.anchors == (Anchor("entity:light.hall", OK),)


def _swept(memory: MemoryManager) -> tuple[int, int, int]:
    """Return what is on record of the last sweep: how many were looked for, are there, changed."""
    assert memory.anchors.last_sweep is not None
    counts = memory.anchors.last_sweep.counts
    return counts.checked, counts.ok, counts.changed


async def test_a_sweep_finds_what_is_gone_and_what_is_back(
    memory: MemoryManager, anna: Caller, home: Home, clock: SteppingClock, tmp_path: Path
) -> None:
    heard: list[Change] = []
    memory.subscribe(heard.append)
    stored = await _store(memory, anna, "light.hall is on a timer", scope=Scope.COMMON)
    hidden = await _store(memory, BEN, "My cover.garage secret", scope=Scope.PRIVATE)
    sweep = await memory.anchors.sweep(SWEEPER)
    # Told is what the caller may know of; on record is all of it.
    assert (sweep.counts.checked, sweep.counts.ok, sweep.counts.changed) == (1, 1, 0)
    assert _swept(memory) == (2, 2, 0)
    del home.answers["light.hall"]
    clock.advance(hours=1)
    sweep = await memory.anchors.sweep(SWEEPER)
    assert (sweep.counts.ok, sweep.counts.missing, sweep.counts.changed) == (0, 1, 1)
    assert _swept(memory) == (2, 1, 1)
    gone = await memory.get(anna, stored.id)
    assert (gone.missing_anchors, gone.revision) == (["entity:light.hall"], 2)
    assert (gone.evidence, gone.effective_confidence) == (0.5, 0.5)
    assert gone.updated == stored.updated
    assert (await memory.get(BEN, hidden.id)).missing_anchors == []
    assert (await memory.anchors.sweep(SWEEPER)).counts.changed == 0
    home.answers["light.hall"] = True
    assert (await memory.anchors.sweep(SWEEPER)).counts.changed == 1
    back = await memory.get(anna, stored.id)
    assert (back.missing_anchors, back.revision, back.evidence) == ([], 3, 1.0)
    evidence = "SELECT stance, quote, anchor, source FROM evidence ORDER BY id"
    assert _rows(tmp_path / "memory.db", evidence) == [
        ("contradicts", "entity:light.hall is missing", "entity:light.hall", "home"),
        ("corroborates", "entity:light.hall is there again", "entity:light.hall", "home"),
    ]
    checked = [change for change in heard if change.action is Action.CHECKED]
    assert [change.memory_ids for change in checked] == [(stored.id,), (stored.id,)]
    audit = "SELECT action, memory_id, revision_before, revision_after FROM audit ORDER BY id"
    told = [row for row in _rows(tmp_path / "memory.db", audit) if row[0] == "checked"]
    assert told == [("checked", stored.id, 1, 2), ("checked", stored.id, 2, 3)]


async def test_an_anchor_that_comes_and_goes_fills_no_trail(
    memory: MemoryManager, open_memory: Opener, anna: Caller, home: Home, clock: SteppingClock
) -> None:
    stored = await _store(memory, anna, "light.hall is on a timer", scope=Scope.COMMON)
    await memory.lifecycle.corroborate(anna, stored.id, "I saw it", Stance.CORROBORATES)
    for number in range(130):
        clock.advance(minutes=1)
        came_or_went = memory.anchors.entity_came if number % 2 else memory.anchors.entity_went
        await came_or_went("light.hall")
    assert (await memory.get(anna, stored.id)).revision == 132
    owner = Caller(source="service", access=frozenset(Access))
    pieces = memory.transfers.export(owner, Filters(), ExportFormat.JSONL)
    text = "".join([piece async for piece, _ in pieces])
    (row,) = [one for one in map(json.loads, text.splitlines()) if one.get("id") == stored.id]
    observed = [one["at"] for one in row["witnessed"] if one["anchor"]]
    assert (len(observed), len(row["witnessed"])) == (100, 101)
    assert observed[-1] == clock.now.isoformat(timespec="milliseconds")
    # Exports of before hold any number of them: the newest come back.
    old = [
        one | {"at": f"2020-01-01T00:{number // 60:02}:{number % 60:02}.000+00:00"}
        for number, one in enumerate(row["witnessed"][1:] * 12)
    ]
    other = await open_memory(name="other.db")
    line = json.dumps(row | {"witnessed": row["witnessed"] + old})
    await other.transfers.bring_in(owner, ImportRequest(data=line))
    pieces = other.transfers.export(owner, Filters(), ExportFormat.JSONL)
    again = "".join([piece async for piece, _ in pieces])
    assert [row] == [one for one in map(json.loads, again.splitlines()) if one.get("id")]


async def test_the_first_check_is_no_observation(
    memory: MemoryManager, anna: Caller, tmp_path: Path
) -> None:
    stored = await _store(memory, anna, "Old lamp", anchors=("entity:light.old",))
    assert stored.anchors == (Anchor("entity:light.old", UNCHECKED),)
    await memory.anchors.sweep(SWEEPER)
    swept = await memory.get(anna, stored.id)
    assert (swept.missing_anchors, swept.revision) == (["entity:light.old"], 2)
    # It counts all the same, once, by its state now.
    assert swept.evidence == 0.5
    assert _rows(tmp_path / "memory.db", "SELECT * FROM evidence") == []
    cleared = await memory.update(anna, stored.id, MemoryChanges(anchors=()))
    assert (cleared.memory.anchors, cleared.memory.evidence) == ((), 1.0)


async def test_where_nobody_can_look_the_state_stays(
    memory: MemoryManager, anna: Caller, home: Home, clock: SteppingClock, tmp_path: Path
) -> None:
    stored = await _store(memory, anna, "About light.hall", anchors=("path:a",))
    home.answers["light.hall"] = None
    since = clock.now
    for _ in range(2):
        sweep = await memory.anchors.sweep(SWEEPER)
        assert (sweep.counts.unavailable, sweep.counts.changed) == (1, 0)
        reported = await memory.anchors.report(anna, {"path:a": Report.UNAVAILABLE}, ANYTHING)
        assert (reported.anchors, reported.memory_ids) == (1, ())
        clock.advance(hours=1)
    listed = await memory.anchors.listed(anna, ANYTHING, 10)
    assert [(one.anchor, one.state, one.unavailable_since) for one in listed] == [
        ("entity:light.hall", OK, since),
        ("path:a", UNCHECKED, since),
    ]
    assert (await memory.get(anna, stored.id)).revision == 1
    assert _rows(tmp_path / "memory.db", "SELECT * FROM evidence") == []
    home.answers["light.hall"] = True
    assert (await memory.anchors.sweep(SWEEPER)).counts.changed == 0
    listed = await memory.anchors.listed(anna, AnchorFilters(kind=AnchorKind.ENTITY), 10)
    assert [(one.checked, one.unavailable_since) for one in listed] == [(clock.now, None)]


async def test_a_report_reaches_only_what_its_caller_sees(
    memory: MemoryManager, anna: Caller
) -> None:
    mine = await _store(memory, anna, "Mine", scope=Scope.PRIVATE, anchors=("path:a",))
    common = await _store(memory, anna, "Ours", scope=Scope.COMMON, anchors=("path:a",))
    tool = await _store(memory, CODER, "Tool", wing="github/acme/tool", anchors=("path:a",))
    other = await _store(memory, CODER, "Other", wing="topics/other", anchors=("path:a",))
    reported = await memory.anchors.report(
        BEN, {"path:a": Report.MISSING, "path:b": Report.OK}, ANYTHING
    )
    assert (reported.anchors, reported.memory_ids, reported.unknown) == (
        1,
        (common.id,),
        ("path:b",),
    )
    where = AnchorFilters(wing="github/acme/tool")
    reported = await memory.anchors.report(CODER, {"path:a": Report.MISSING}, where)
    assert reported.memory_ids == (tool.id,)
    reported = await memory.anchors.report(
        CODER, {"path:a": Report.OK}, AnchorFilters(memory_id=other.id)
    )
    assert reported.memory_ids == (other.id,)
    reported = await memory.anchors.report(
        CODER, {"path:a": Report.MISSING}, AnchorFilters(memory_id=mine.id)
    )
    assert (reported.anchors, reported.unknown) == (0, ("path:a",))
    assert (await memory.get(anna, mine.id)).missing_anchors == []
    assert [one.memory_id for one in await memory.anchors.listed(BEN, ANYTHING, 10)] == [common.id]
    states = [(one.wing, one.state) for one in await memory.anchors.listed(CODER, ANYTHING, 10)]
    assert states == [("github/acme/tool", MISSING), ("topics/other", OK)]
    assert await memory.anchors.listed(CODER, replace(where, state=OK), 10) == []


async def test_nobody_reports_on_entities(memory: MemoryManager, anna: Caller) -> None:
    await _store(memory, anna, "About light.hall")
    with pytest.raises(InvalidInputError, match="entity_reported"):
        await memory.anchors.report(anna, {"entity:light.hall": Report.MISSING}, ANYTHING)
    many = {f"path:{number}": Report.OK for number in range(201)}
    with pytest.raises(InvalidInputError, match="too_many"):
        await memory.anchors.report(anna, many, ANYTHING)


async def test_anchors_follow_a_renamed_entity_and_texts_do_not(
    memory: MemoryManager, anna: Caller, home: Home, tmp_path: Path
) -> None:
    stored = await _store(memory, anna, "About light.hall")
    both = await _store(memory, anna, "Two", anchors=("entity:light.hall", "entity:light.corridor"))
    home.answers = {"light.corridor": True}
    await memory.anchors.entity_renamed("light.hall", "light.corridor")
    moved = await memory.get(anna, stored.id)
    assert moved.anchors == (Anchor("entity:light.corridor", OK),)
    assert (moved.content, moved.revision) == ("About light.hall", 2)
    assert (await memory.get(anna, both.id)).anchors == moved.anchors
    audit = "SELECT memory_id, subject, reason FROM audit WHERE action = 'anchor_renamed'"
    assert sorted(_rows(tmp_path / "memory.db", audit)) == sorted(
        (one.id, "entity:light.corridor", "renamed from entity:light.hall")
        for one in (stored, both)
    )
    # What its old text named stays until a new text leaves it out by its own name.
    summed = await memory.update(anna, stored.id, MemoryChanges(content="About the hall"))
    assert summed.memory.anchors == moved.anchors


async def test_what_comes_and_goes_is_noted_at_once(memory: MemoryManager, anna: Caller) -> None:
    stored = await _store(memory, anna, "About light.hall")
    await memory.anchors.entity_went("light.hall")
    assert (await memory.get(anna, stored.id)).missing_anchors == ["entity:light.hall"]
    await memory.anchors.entity_went("light.hall")
    await memory.anchors.entity_went("light.nobody_knows")
    assert (await memory.get(anna, stored.id)).revision == 2
    await memory.anchors.entity_came("light.hall")
    assert (await memory.get(anna, stored.id)).missing_anchors == []


async def test_the_last_sweep_is_read_back_and_is_no_change(
    open_home: OpenHome, anna: Caller, clock: SteppingClock, tmp_path: Path
) -> None:
    memory = await open_home()
    assert memory.anchors.last_sweep is None
    await _store(memory, anna, "About light.hall")
    stored_at = memory.last_change
    clock.advance(hours=3)
    sweep = await memory.anchors.sweep(anna)
    await memory.close()
    again = await open_home()
    assert again.anchors.last_sweep == sweep
    assert again.last_change == stored_at
    rows = _rows(
        tmp_path / "memory.db",
        "SELECT subject, reason, agent FROM audit WHERE action = 'anchors_swept'",
    )
    assert [(row[0], json.loads(row[1])["checked"], row[2]) for row in rows] == [
        ("entity", 1, "conversation.home")
    ]


async def test_a_sweep_goes_through_more_than_a_page(
    memory: MemoryManager, anna: Caller, home: Home
) -> None:
    for number in range(60):
        home.answers |= {f"sensor.n{number}_{one}": True for one in range(15)}
        named = tuple(f"entity:sensor.n{number}_{one}" for one in range(15))
        await _store(memory, anna, f"Number {number}", anchors=(*named, "entity:light.hall"))
    home.answers.clear()
    sweep = await memory.anchors.sweep(SWEEPER)
    assert (sweep.counts.checked, sweep.counts.missing, sweep.counts.changed) == (901, 901, 60)
    listed = await memory.anchors.listed(anna, AnchorFilters(state=MISSING), 2_000)
    assert len(listed) == 960


async def test_anchors_go_with_their_memory(memory: MemoryManager, anna: Caller) -> None:
    stored = await _store(memory, anna, "About light.hall")
    await memory.delete(anna, stored.id, Filters())
    assert (await memory.anchors.sweep(SWEEPER)).counts.checked == 0
