"""What the core makes of the options' links, hubs and renames, whatever they hold."""

import logging
import sqlite3
from typing import Final

import pytest

from custom_components.ai_memory.core import (
    Access,
    Caller,
    InvalidInputError,
    MemoryManager,
    StorageError,
)
from custom_components.ai_memory.core.models import HOME_ACCESS, WORKSHOP_REACH
from custom_components.ai_memory.core.place_settings import OPTIONS, configure, settle
from custom_components.ai_memory.core.workshop_places import (
    OwnerRename,
    ProjectLink,
    WorkshopPlaces,
    hub,
    owner_rename,
    project_link,
)
from tests.conftest import Opener

CODER: Final = Caller(
    source="mcp:a", agent="client:a", reach=WORKSHOP_REACH, access=HOME_ACCESS | {Access.ADMIN}
)


async def _sources(memory: MemoryManager) -> dict[tuple[str, str | None], str]:
    return {
        (one.start.wing, one.end.wing if one.end else None): one.source
        for one in await memory.places.tunnels(CODER, None, None, None)
    }


async def test_what_is_wrong_is_passed_over_and_no_log_tells_its_name(
    memory: MemoryManager, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="custom_components.ai_memory")
    wanted = WorkshopPlaces(
        links=(ProjectLink("secret", "projects/x"), ProjectLink("github/a/b", "projects/x")),
        hubs=("topics/secret", "github/a/hub"),
        renames=(
            OwnerRename("secret", "github/new/"),
            OwnerRename("github/secret/", "github/secret/deep/"),
            OwnerRename("github/a/", "github/c/"),
        ),
    )
    await memory.places.link(CODER, "github/secret/x", None)
    await configure(memory.places, wanted)
    assert await _sources(memory) == {
        ("github/secret/x", None): "mcp:a",
        ("github/c/b", "projects/x"): "options",
        ("github/c/hub", None): "options",
    }
    assert "secret" not in caplog.text
    assert caplog.text.count("passed over") == 4


async def test_of_two_that_become_one_the_persons_own_stays(memory: MemoryManager) -> None:
    both = WorkshopPlaces(links=(project_link("github/old/tool", "projects/x"),))
    await configure(memory.places, both)
    by_hand = await memory.places.link(CODER, "github/new/tool", "projects/x")
    await memory.places.rename_owner(CODER, "github/old/", "github/new/")
    (left,) = await memory.places.tunnels(CODER, None, None, None)
    assert left.id == by_hand.id
    await configure(memory.places, WorkshopPlaces())
    assert await _sources(memory) == {("github/new/tool", "projects/x"): "mcp:a"}


async def test_renames_are_settled_whatever_their_order() -> None:
    wanted = WorkshopPlaces(
        links=(
            ProjectLink("github/a/tool", "projects/x"),
            ProjectLink("github/c/tool", "projects/x"),
        ),
        hubs=("github/b/hub", "github/other/hub"),
        renames=(OwnerRename("github/b/", "github/c/"), OwnerRename("github/a/", "github/b/")),
    )
    assert wanted.settled() == WorkshopPlaces(
        links=(ProjectLink("github/c/tool", "projects/x"),),
        hubs=("github/c/hub", "github/other/hub"),
        renames=(OwnerRename("github/b/", "github/c/"), OwnerRename("github/a/", "github/c/")),
    )
    assert wanted.settled().settled() == wanted.settled()
    # Those that go round end somewhere.
    round_ = WorkshopPlaces(
        renames=(OwnerRename("github/a/", "github/b/"), OwnerRename("github/b/", "github/a/"))
    )
    assert [rename.old for rename in round_.settled().renames] == ["github/a/", "github/b/"]


def test_values_are_kept_in_the_form_that_they_are_stored_in() -> None:
    assert project_link(" GitHub/A/b", "Projects/X ") == ProjectLink("github/a/b", "projects/x")
    assert hub("gitea/A/b") == "gitea/a/b"
    made = owner_rename("github/Old", " gitea/new/ ", {})
    assert made == OwnerRename("github/old/", "gitea/new/")


@pytest.mark.parametrize(
    "wrong", ["", "/", "github", "projects/x", "local/x", "github/a b", "github/ö", "a/b", "global"]
)
def test_only_owners_are_renamed(wrong: str) -> None:
    with pytest.raises(InvalidInputError):
        owner_rename(wrong, "github/new", {})
    with pytest.raises(InvalidInputError):
        owner_rename("github/new", wrong, {})


async def test_nothing_is_written_where_all_is_as_it_should_be(memory: MemoryManager) -> None:
    wanted = WorkshopPlaces(
        links=(project_link("github/a/b", "projects/x"),),
        hubs=(hub("github/a/hub"),),
        renames=(OwnerRename("github/old/", "github/a/"),),
    )
    await configure(memory.places, wanted)
    heard: list[object] = []
    memory.subscribe(heard.append)
    connection = sqlite3.connect(memory._database.path)
    before = connection.execute("PRAGMA data_version").fetchone()
    await configure(memory.places, wanted)
    assert connection.execute("PRAGMA data_version").fetchone() == before
    connection.close()
    assert heard == []


async def test_a_failing_database_is_not_passed_over(open_memory: Opener) -> None:
    memory = await open_memory()
    await settle(memory.places, None)
    await memory.close()
    with pytest.raises(StorageError):
        await configure(memory.places, WorkshopPlaces(hubs=("github/a/hub",)))


async def test_the_options_may_change_the_workshop_and_nothing_else() -> None:
    assert OPTIONS.access == {Access.READ, Access.ADMIN}
    assert not OPTIONS.reach.admits("household")
