"""What callers send passes the screen before anything is kept, and refusals go on record."""

from dataclasses import replace
from pathlib import Path
import sqlite3
from typing import Final

import pytest

from custom_components.ai_memory.core import (
    Access,
    Caller,
    Database,
    Filters,
    InvalidInputError,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    ScreenedError,
    Stance,
    Strictness,
    Tally,
)
from custom_components.ai_memory.core.models import WORKSHOP_REACH
from custom_components.ai_memory.core.receipts import Receipt
from custom_components.ai_memory.core.screen import gate
from custom_components.ai_memory.core.transaction import Transaction, Written
from custom_components.ai_memory.embedding import EngineSettings, create_engine
from custom_components.ai_memory.operations.catalogue import CATALOGUE, run
from tests.conftest import Opener

from .previous_files import insert, second_schema
from .screen_cases import joined, signed_token, some

GARAGE: Final = "The garage code is 1234"
MARKER: Final = "x do-not-store x"
CODING: Final = Caller(source="mcp", agent="codex", reach=WORKSHOP_REACH)


def _token() -> str:
    return joined("gh", "p_", some(36))


def _manager(folder: Path, strictness: Strictness) -> MemoryManager:
    return MemoryManager(
        Database(folder / "memory.db"),
        create_engine("tfidf", EngineSettings(storage_path=folder)),
        max_entries=10,
        home_screen=strictness,
    )


def _audit(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(
            "SELECT action, memory_id, source, agent, subject, reason, revision_before,"
            " revision_after FROM audit WHERE action = 'screened' ORDER BY id"
        ).fetchall()


def _everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


async def test_a_key_is_refused_at_home_and_nothing_of_it_is_kept(
    memory: MemoryManager, anna: Caller, tmp_path: Path
) -> None:
    token = _token()
    with pytest.raises(ScreenedError) as refused:
        await memory.add(anna, NewMemory(content=f"The token is {token}"))
    assert (refused.value.key, refused.value.placeholders) == (
        "screened",
        {"field": "content", "pattern": "github-token"},
    )
    assert (await memory.latest(anna, Filters(), 10)).total == 0
    await memory.close()
    assert _audit(tmp_path / "memory.db") == [
        ("screened", "", "assist", "conversation.home", "content", "github-token", None, None)
    ]
    assert token.encode() not in _everything(tmp_path)


async def test_an_update_is_screened_like_a_new_memory(
    memory: MemoryManager, anna: Caller, tmp_path: Path
) -> None:
    stored = (await memory.add(anna, NewMemory(content="The hub is in the hall"))).memory
    with pytest.raises(ScreenedError):
        await memory.update(anna, stored.id, MemoryChanges(summary=signed_token()))
    assert await memory.get(anna, stored.id) == stored
    assert _audit(tmp_path / "memory.db")[0][1:6] == (
        stored.id,
        "assist",
        "conversation.home",
        "summary",
        "json-web-token",
    )


@pytest.mark.parametrize(
    ("field", "new"),
    [
        ("content", NewMemory(content=f"A lamp {MARKER}")),
        ("summary", NewMemory(content="A lamp", summary=MARKER)),
        ("wing", NewMemory(content="A lamp", wing=MARKER)),
        ("room", NewMemory(content="A lamp", room=MARKER)),
    ],
)
async def test_every_text_of_a_memory_is_screened(
    memory: MemoryManager, anna: Caller, field: str, new: NewMemory
) -> None:
    with pytest.raises(ScreenedError) as refused:
        await memory.add(anna, new)
    assert refused.value.key == "marked_do_not_store"
    assert refused.value.placeholders == {"field": field, "pattern": "do-not-store"}


async def test_a_secret_deep_in_a_long_text_is_refused(memory: MemoryManager, anna: Caller) -> None:
    text = "The hall is warm. " * 250
    with pytest.raises(ScreenedError):
        await memory.add(anna, NewMemory(content=f"{text}{_token()} {text}"))
    assert (await memory.add(anna, NewMemory(content=text))).refreshed is False


async def test_the_code_of_the_garage_is_a_fact_of_the_home_but_not_of_the_workshop(
    memory: MemoryManager, anna: Caller
) -> None:
    assert (await memory.add(anna, NewMemory(content=GARAGE))).memory.content == GARAGE
    with pytest.raises(ScreenedError):
        await memory.add(CODING, NewMemory(content=GARAGE, wing="global"))


@pytest.mark.parametrize(
    ("strictness", "refused"),
    [
        (Strictness.OFF, []),
        (Strictness.KEYS, ["github-token"]),
        (Strictness.STRICT, ["github-token", "spoken-code"]),
    ],
)
async def test_the_owner_decides_how_strict_the_home_is(
    tmp_path: Path, anna: Caller, strictness: Strictness, refused: list[str]
) -> None:
    manager = _manager(tmp_path, strictness)
    await manager.open()
    try:
        found = []
        for content in (_token(), GARAGE):
            try:
                await manager.add(anna, NewMemory(content=content))
            except ScreenedError as err:
                found.append(err.placeholders["pattern"])
            with pytest.raises(ScreenedError):
                await manager.add(CODING, NewMemory(content=content, wing="global"))
        assert found == refused
    finally:
        await manager.close()


async def test_what_is_wrong_for_another_reason_is_told_first(
    memory: MemoryManager, anna: Caller, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await memory.add(anna, NewMemory(content=_token() * 1_000))
    assert refused.value.key == "too_long"
    assert _audit(tmp_path / "memory.db") == []


async def test_what_an_older_memory_holds_stays_and_can_be_moved(
    tmp_path: Path, anna: Caller
) -> None:
    token = _token()
    before, after = (_manager(tmp_path, one) for one in (Strictness.OFF, Strictness.STRICT))
    await before.open()
    stored = (await before.add(anna, NewMemory(content=token))).memory
    await before.close()
    await after.open()
    try:
        moved = await after.update(anna, stored.id, MemoryChanges(room="attic"))
        assert (moved.memory.content, moved.memory.room) == (token, "attic")
        with pytest.raises(ScreenedError):
            await after.update(anna, stored.id, MemoryChanges(content=f"now {token}"))
    finally:
        await after.close()


async def test_no_old_memory_is_lost_to_the_screen_when_a_database_is_taken_over(
    tmp_path: Path, open_memory: Opener, anna: Caller
) -> None:
    token = _token()
    with second_schema(tmp_path / "old.db") as connection:
        insert(connection, "1", content=token)
    memory = await open_memory(name="old.db")
    assert [found.content for found in (await memory.latest(anna, Filters(), 9)).memories] == [
        token
    ]


def test_lists_and_mappings_are_looked_through() -> None:
    token = _token()
    found = gate.find({"topics": ["a", ["b", token]]}, Strictness.KEYS)
    assert found is not None
    assert (found.field, found.pattern) == ("topics", "github-token")
    secret = some(32)
    found = gate.find({"payload": {"n": 1, "inner": {"api_key": secret}}}, Strictness.KEYS)
    assert found is not None
    assert (found.field, found.pattern) == ("payload", "credential-assignment")
    harmless = {"a": None, "b": True, "c": 1.5, "d": {"e": ["f"]}}
    assert gate.find(harmless, Strictness.STRICT) is None


def test_a_text_for_the_audit_is_kept_or_named_by_its_pattern() -> None:
    assert gate.masked("moved to the attic", Strictness.STRICT) == "moved to the attic"
    assert gate.masked(f"use {_token()}", Strictness.STRICT) == "[screened:github-token]"


async def test_the_quote_of_a_witness_is_screened(memory: MemoryManager, anna: Caller) -> None:
    stored = (await memory.add(anna, NewMemory(content="The hub is in the hall"))).memory
    with pytest.raises(ScreenedError) as refused:
        await memory.lifecycle.corroborate(anna, stored.id, _token(), Stance.CORROBORATES)
    assert refused.value.placeholders["field"] == "quote"
    assert (await memory.get(anna, stored.id)).tally == Tally()


@pytest.mark.parametrize(
    ("operation", "arguments", "field"),
    [
        ("rename_place", {"wing": "local/a", "new_wing": "local/{}"}, "new_wing"),
        ("rename_place", {"wing": "local/a", "room": "r", "new_room": "{}"}, "new_room"),
        ("delete_place", {"wing": "local/a", "move_to_wing": "local/{}"}, "move_to_wing"),
        (
            "delete_place",
            {"wing": "local/a", "room": "r", "move_to_room": "{}"},
            "move_to_room",
        ),
        ("rename_owner", {"from": "github/a/", "to": "github/{}/"}, "to"),
        ("connect", {"wing": "github/a/b", "to_wing": "projects/{}"}, "to_wing"),
        ("connect", {"wing": "github/a/{}", "to_wing": "projects/c"}, "wing"),
        ("make_hub", {"wing": "github/a/{}"}, "wing"),
    ],
)
async def test_the_names_of_places_are_screened(
    memory: MemoryManager,
    tmp_path: Path,
    operation: str,
    arguments: dict[str, str],
    field: str,
) -> None:
    owner = replace(CODING, access=frozenset(Access))
    await memory.add(owner, NewMemory(content="It is here.", wing="local/a", room="r"))
    await memory.add(owner, NewMemory(content="It is there.", wing="github/a/b", room="r"))
    token = _token()
    named = {name: value.format(token) for name, value in arguments.items()}
    with pytest.raises(ScreenedError) as refused:
        await run(memory, CATALOGUE[operation], owner, named)
    assert refused.value.placeholders == {"field": field, "pattern": "github-token"}
    assert token.lower().encode() not in _everything(tmp_path).lower()
    assert [row[4:6] for row in _audit(tmp_path / "memory.db")] == [(field, "github-token")]


async def test_a_place_with_the_name_of_a_secret_can_be_renamed_and_is_audited_without(
    memory: MemoryManager, tmp_path: Path
) -> None:
    owner = replace(CODING, access=frozenset(Access))
    await memory.add(owner, NewMemory(content="It is here.", wing="local/a", room="r"))
    named = f"local/{_token().lower()}"
    async with memory._database.transaction() as connection:
        # As places were named before their names were screened.
        await connection.execute("UPDATE wings SET name = ? WHERE name = 'local/a'", (named,))
    await run(memory, CATALOGUE["rename_place"], owner, {"wing": named, "new_wing": "local/b"})
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        told = connection.execute(
            "SELECT subject, reason FROM audit WHERE action = 'place_renamed'"
        ).fetchall()
    assert told == [("[screened:github-token]", "wing:local/b")]


async def test_the_id_of_an_operation_is_screened(memory: MemoryManager) -> None:
    async def work(_write: Transaction) -> tuple[dict[str, object], list[Written]]:
        pytest.fail("nothing is done")

    receipt = Receipt.of(_token(), "codex", {})
    with pytest.raises(ScreenedError) as refused:
        await memory.lifecycle.once(CODING, receipt, work)
    assert refused.value.placeholders == {"field": "op_id", "pattern": "github-token"}
    async with memory._database.reading() as connection:
        assert not list(await connection.execute_fetchall("SELECT * FROM receipts"))
