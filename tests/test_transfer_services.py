"""Export and import as actions: texts, files, and who may do what."""

from functools import partialmethod
import json
from pathlib import Path
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Caller, Filters, Layer, NewMemory, Scope
from custom_components.ai_memory.core.transfer.transfers import Transfers

pytestmark = pytest.mark.usefixtures("loaded")

ANNA = Caller(source="assist", agent="conversation.home", user="anna")
SPEAKER = Caller(source="assist", agent="conversation.home")


async def _call(
    hass: HomeAssistant, service: str, context: Context | None = None, **data: Any
) -> dict[str, Any]:
    response = await hass.services.async_call(
        DOMAIN, service, data, blocking=True, return_response=True, context=context
    )
    assert isinstance(response, dict)
    return response


@pytest.fixture
async def stored(loaded: MockConfigEntry) -> None:
    """Store a common memory and two private ones."""
    manager = loaded.runtime_data.manager
    await manager.add(Caller(source="service"), NewMemory(content="The hedge is green"))
    await manager.add(ANNA, NewMemory(content="Told in a chat", scope=Scope.PRIVATE))
    await manager.add(SPEAKER, NewMemory(content="Told to the speaker", scope=Scope.PRIVATE))


@pytest.fixture
def administrator(hass_admin_user: MockUser) -> Context:
    """Return the context of a call that an administrator makes."""
    return Context(user_id=hass_admin_user.id)


@pytest.fixture
def person(hass_read_only_user: MockUser) -> Context:
    """Return the context of a call that somebody else makes."""
    return Context(user_id=hass_read_only_user.id)


def _contents(exported: dict[str, Any]) -> set[str]:
    rows = [json.loads(line) for line in exported["text"].splitlines()[1:]]
    assert len(rows) == exported["count"]
    return {row["content"] for row in rows}


@pytest.mark.usefixtures("stored")
async def test_an_automation_exports_what_is_common_and_what_an_agent_sees(
    hass: HomeAssistant,
) -> None:
    exported = await _call(hass, "export_memories")
    assert (exported["format"], _contents(exported)) == ("jsonl", {"The hedge is green"})
    with_agent = await _call(hass, "export_memories", agent_id="conversation.home")
    assert _contents(with_agent) == {"The hedge is green", "Told to the speaker"}
    to_read = await _call(hass, "export_memories", format="markdown", scope="common")
    assert (to_read["count"], "- The hedge is green" in to_read["text"]) == (1, True)


@pytest.mark.usefixtures("stored")
async def test_only_an_administrator_exports_everything(
    hass: HomeAssistant, administrator: Context, person: Context
) -> None:
    whole = await _call(hass, "export_memories", administrator, all_owners=True)
    assert _contents(whole) == {"The hedge is green", "Told in a chat", "Told to the speaker"}
    mine = await _call(hass, "export_memories", administrator)
    assert _contents(mine) == {"The hedge is green"}
    for context, data in (
        (None, {"all_owners": True}),
        (person, {"all_owners": True}),
        (person, {}),
        (Context(user_id="nobody"), {}),
    ):
        with pytest.raises(ServiceValidationError) as refused:
            await _call(hass, "export_memories", context, **data)
        assert refused.value.translation_key == "administrators_only"


@pytest.mark.usefixtures("stored")
async def test_a_file_takes_the_whole_memory_and_brings_it_back(
    hass: HomeAssistant, loaded: MockConfigEntry, administrator: Context
) -> None:
    written = await _call(
        hass, "export_memories", administrator, path="backup/all.jsonl", all_owners=True
    )
    path = Path(hass.config.path("ai_memory/backup/all.jsonl"))
    assert written == {
        "format": "jsonl",
        "count": 3,
        "path": str(path),
        "bytes": path.stat().st_size,
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["all.jsonl"]
    manager = loaded.runtime_data.manager
    await manager.delete(Caller(source="service"), None, _everything())
    await manager.delete(ANNA, None, _everything())
    assert manager.counts().total == 0
    tried = await _call(hass, "import_memories", administrator, path=str(path), dry_run=True)
    assert (tried["dry_run"], tried["added"], manager.counts().total) == (True, 3, 0)
    report = await _call(hass, "import_memories", administrator, path="backup/all.jsonl")
    assert report == {
        "format": "ai_memory",
        "dry_run": False,
        "read": 3,
        "added": 3,
        "known": 0,
        "updated": 0,
        "skipped": 0,
        "refused": 0,
        "places": 0,
        "tunnels": 0,
        "skipped_lines": [],
    }
    again = await _call(hass, "import_memories", administrator, path="backup/all.jsonl")
    assert (again["added"], again["known"]) == (0, 3)
    whole = await _call(hass, "export_memories", administrator, all_owners=True)
    assert whole["text"].splitlines()[1:] == path.read_text().splitlines()[1:]


def _everything() -> Filters:
    return Filters(layer=Layer.STANDARD)


async def test_what_an_import_stores_is_common_unless_it_says_otherwise(
    hass: HomeAssistant,
) -> None:
    text = "# Health\n- Allergic to peanuts\n- Takes vitamin D\n"
    report = await _call(hass, "import_memories", text=text, wing="personal", room="health")
    assert (report["format"], report["added"]) == ("text", 2)
    listed = await _call(hass, "list_memories", wing="personal", room="health")
    assert {(one["scope"], one["summary"]) for one in listed["memories"]} == {("common", "Health")}
    private = await _call(
        hass, "import_memories", text="Keeps a diary", scope="private", agent_id="conversation.home"
    )
    assert private["added"] == 1
    seen = await _call(hass, "list_memories", scope="private", agent_id="conversation.home")
    assert [one["content"] for one in seen["memories"]] == ["Keeps a diary"]
    nobody = await _call(hass, "import_memories", text="Keeps a secret", scope="private")
    assert nobody["skipped_lines"] == [{"line": 1, "reason": "private_needs_agent"}]


@pytest.mark.parametrize(
    "path",
    [
        "../ai_memory.db",
        "../outside.jsonl",
        "/etc/passwd",
        "secret.db",
        "no_suffix",
        "../www/public.jsonl",
        "link.jsonl/../../outside.jsonl",
        "a\u0000b.jsonl",
        "x" * 300 + ".jsonl",
        "..",
    ],
)
async def test_an_export_goes_only_where_it_may(
    hass: HomeAssistant, administrator: Context, path: str
) -> None:
    Path(hass.config.path("www")).mkdir()
    hass.config.allowlist_external_dirs = {hass.config.path("www")}
    with pytest.raises(HomeAssistantError) as refused:
        await _call(hass, "export_memories", administrator, path=path)
    expected = {
        *("path_not_allowed", "invalid_characters", "file_cannot_write"),
        "file_kind_not_allowed",
    }
    assert refused.value.translation_key in expected
    assert not list(Path(hass.config.path("www")).iterdir())
    assert not Path(hass.config.path("outside.jsonl")).exists()


async def test_a_link_out_of_the_folder_leads_nowhere(
    hass: HomeAssistant, tmp_path: Path, administrator: Context
) -> None:
    folder = Path(hass.config.path("ai_memory"))
    folder.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    (outside / "facts.txt").write_text("A fact\n")
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "export_memories", administrator, path="link/all.jsonl")
    assert refused.value.translation_key == "path_not_allowed"
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "import_memories", administrator, path="link/facts.txt")
    assert refused.value.translation_key == "path_not_allowed"
    # Where Home Assistant allows it, it works.
    hass.config.allowlist_external_dirs = {str(outside)}
    report = await _call(hass, "import_memories", path=str(outside / "facts.txt"))
    assert report["added"] == 1
    written = await _call(
        hass, "export_memories", path=str(outside / "facts.md"), format="markdown"
    )
    assert (written["count"], (outside / "facts.md").is_file()) == (1, True)


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({}, "text_or_path"),
        ({"text": " "}, "missing"),
        ({"text": "A fact", "path": "a.txt"}, "text_or_path"),
        ({"path": "missing.jsonl"}, "file_not_found"),
        ({"path": "."}, "file_not_found"),
        ({"text": "A fact", "format": "xml"}, "unknown_choice"),
        ({"text": "A fact", "wing": "💡"}, None),
    ],
)
async def test_bad_calls_are_refused(
    hass: HomeAssistant, data: dict[str, Any], key: str | None
) -> None:
    if key is None:
        report = await _call(hass, "import_memories", **data)
        assert report["skipped_lines"] == [{"line": 1, "reason": "invalid_name"}]
    else:
        with pytest.raises(ServiceValidationError) as refused:
            await _call(hass, "import_memories", **data)
        assert refused.value.translation_key == key
    assert (await _call(hass, "list_memories"))["total"] == 0


async def test_a_file_of_another_kind_is_not_taken_for_a_list(hass: HomeAssistant) -> None:
    folder = Path(hass.config.path("ai_memory"))
    folder.mkdir()
    for name in ("page.html", "facts"):
        (folder / name).write_text("<p>A fact</p>\n")
        with pytest.raises(ServiceValidationError) as refused:
            await _call(hass, "import_memories", path=name)
        assert refused.value.translation_key == "file_kind_not_allowed"
        assert refused.value.translation_placeholders == {
            "path": name,
            "suffixes": ".csv, .json, .jsonl, .md, .tsv, .txt",
        }
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "export_memories", path="facts.csv")
    assert (refused.value.translation_placeholders or {})["suffixes"] == ".json, .jsonl, .md, .txt"
    (folder / "facts.CSV").write_text("Inhalt;Raum\nDas Tor klemmt, immer;garten\n")
    assert (await _call(hass, "import_memories", path="facts.CSV"))["format"] == "csv"


@pytest.mark.usefixtures("stored")
async def test_the_export_to_read_is_not_imported(hass: HomeAssistant) -> None:
    exported = await _call(hass, "export_memories", format="markdown")
    for text in (exported["text"], exported["text"].replace("\n", "\r\n")):
        with pytest.raises(ServiceValidationError) as refused:
            await _call(hass, "import_memories", text=text)
        assert refused.value.translation_key == "import_markdown"
    # Whoever says that it is a text gets its lines.
    report = await _call(hass, "import_memories", text=exported["text"], format="text")
    assert report["format"] == "text"


async def test_files_are_for_automations_and_administrators(
    hass: HomeAssistant, person: Context
) -> None:
    folder = Path(hass.config.path("ai_memory"))
    folder.mkdir()
    (folder / "facts.txt").write_text("A fact\n")
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "import_memories", person, path="facts.txt")
    assert refused.value.translation_key == "administrators_only"
    assert (await _call(hass, "import_memories", person, text="A fact"))["added"] == 1


async def test_too_much_for_a_response_or_an_import(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("custom_components.ai_memory.operations.transfer.TEXT_LIMIT_BYTES", 300)
    await _call(hass, "import_memories", text="A fact")
    await _call(hass, "import_memories", text="Another fact that makes the text a long one" * 9)
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "export_memories", format="markdown")
    assert refused.value.translation_key == "export_too_large"
    assert (await _call(hass, "export_memories", path="all.jsonl"))["count"] == 2
    monkeypatch.setattr("custom_components.ai_memory.core.transfer.reading.INPUT_LIMIT_BYTES", 9)
    sent: tuple[dict[str, Any], ...] = ({"text": "Ten letters"}, {"path": "all.jsonl"})
    for data in sent:
        with pytest.raises(ServiceValidationError) as refused:
            await _call(hass, "import_memories", **data)
        assert refused.value.translation_key == "import_too_large"


async def test_lines_come_in_pages(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    await _call(hass, "import_memories", text="A fact\nAnother fact\nA third one")
    whole = await _call(hass, "export_memories")
    assert (whole["count"], whole["next_cursor"]) == (3, None)
    page = Transfers.page
    monkeypatch.setattr(Transfers, "page", partialmethod(page, most=900))
    told: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        part = await _call(hass, "export_memories", **cursor)
        told += part["text"].splitlines()[1:]
        if part["next_cursor"] is None:
            break
        assert part["count"] == 1
        cursor = {"cursor": part["next_cursor"]}
    assert told == whole["text"].splitlines()[1:]
    bad: tuple[dict[str, Any], ...] = (
        {"cursor": "3"},
        {"cursor": "place x", "format": "markdown"},
        {"cursor": "place x", "path": "all.jsonl"},
    )
    for data in bad:
        with pytest.raises(ServiceValidationError) as refused:
            await _call(hass, "export_memories", **data)
        assert refused.value.translation_key == "invalid_cursor"


async def test_a_failing_disk_leaves_the_file_of_before(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _call(hass, "import_memories", text="A fact")
    await _call(hass, "export_memories", path="all.jsonl")
    path = Path(hass.config.path("ai_memory/all.jsonl"))
    before = path.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("custom_components.ai_memory.service_files.os.fsync", full)
    with pytest.raises(HomeAssistantError) as failed:
        await _call(hass, "export_memories", path="all.jsonl")
    assert failed.value.translation_key == "disk_full"
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["all.jsonl"]
