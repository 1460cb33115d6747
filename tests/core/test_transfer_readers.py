"""What each reader makes of the exports of other memories, and of anything else."""

from collections.abc import Callable
from datetime import UTC, datetime
import json
from pathlib import Path
import time
from typing import Any, Final

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.ai_memory.core import Layer, Scope
from custom_components.ai_memory.core.text_input import (
    CONTENT_LIMIT_CHARACTERS,
    SUMMARY_LIMIT_CHARACTERS,
)
from custom_components.ai_memory.core.transfer import (
    Imported,
    ImportedMemory,
    SkipReason,
    TransferFormat,
    read,
    values,
)
from custom_components.ai_memory.core.transfer.json_stream import JsonItem, items

DATA: Final = Path(__file__).parent.parent / "data" / "transfer"
NAMED: Final = tuple(found for found in TransferFormat if found is not TransferFormat.AUTO)
QUICK: Final = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def _read(name: str) -> Imported:
    return read((DATA / name).read_bytes())


def _contents(found: Imported) -> list[str]:
    return [memory.content for memory in found.memories]


def _skipped(found: Imported) -> list[tuple[int, str]]:
    return [(skipped.line, skipped.reason.value) for skipped in found.skipped]


def test_a_graph_becomes_one_memory_for_each_observation_and_relation() -> None:
    found = _read("mcp_memory.jsonl")
    assert found.format is TransferFormat.MCP_MEMORY
    assert _contents(found) == [
        "Anna: Lives in Graz",
        "Anna: Allergic to peanuts",
        "Boiler: Serviced every October",
        "Anna is married to Ben",
    ]
    assert [memory.summary for memory in found.memories] == ["person", "person", "home device", ""]
    assert _skipped(found) == [(3, "empty"), (5, "not_json"), (6, "not_a_memory")]


def test_a_graph_may_be_one_document() -> None:
    found = _read("mcp_memory_graph.json")
    assert (found.format, found.skipped) == (TransferFormat.MCP_MEMORY, ())
    assert _contents(found) == ["Garage: The door sticks in winter", "Car parks in Garage"]


def test_mem0_tells_categories_times_and_relations() -> None:
    found = _read("mem0.json")
    assert found.format is TransferFormat.MEM0
    assert _contents(found) == [
        "Prefers the bedroom at 18 degrees",
        "The cat is called Minka",
        "alex lives with minka",
    ]
    first, second, _ = found.memories
    assert (first.summary, first.room) == ("home, comfort, alex", "preferences")
    assert first.external_id == "f38b689d-6b24-45b7-bced-17fbb4d8bac7"
    assert first.created == datetime(2025, 2, 26, 6, 57, 0, 108347, UTC)
    assert (second.summary, second.updated) == ("", datetime(2025, 3, 2, 8, 0, tzinfo=UTC))
    assert (first.owner_agent, first.owner_user, first.id) == (None, None, None)
    assert _skipped(found) == [(21, "not_a_memory")]
    listed = _read("mem0_list.json")
    assert (listed.format, _contents(listed)) == (TransferFormat.MEM0, ["Travels to Paris in May"])


def test_mempalace_keeps_wings_and_rooms_in_each_of_its_forms() -> None:
    lines, room, store = (
        _read("mempalace.jsonl"),
        _read("mempalace_room.md"),
        _read("mempalace_store.json"),
    )
    assert {found.format for found in (lines, room, store)} == {TransferFormat.MEMPALACE}
    heating = "The heating curve was set to 0.8 in November.\nIt had been 1.1 before."
    assert _contents(lines) == [heating, "The hedge is cut in February."]
    assert _contents(room) == [heating, "The pump was replaced by a Grundfos."]
    assert _contents(store) == ["The well is 12 m deep.", "The roof was tiled in 2019."]
    for memory in (lines.memories[0], room.memories[0]):
        assert (memory.wing, memory.room, memory.source) == ("house", "heating", "notes/heating.md")
        assert memory.external_id == "drawer_home_heating_1f0c"
        assert memory.created == datetime(2026, 1, 15, 10, 20, 30, tzinfo=UTC)
    assert (room.memories[1].created, room.memories[1].source) == (None, None)
    assert [memory.room for memory in store.memories] == ["garden", "roof"]
    assert _skipped(lines) == [(3, "not_a_memory")]


def test_saved_memories_of_chatgpt_are_one_a_line() -> None:
    found = _read("chatgpt.txt")
    assert (found.format, found.skipped) == (TransferFormat.TEXT, ())
    assert [(memory.line, memory.content[:20]) for memory in found.memories] == [
        (1, "Is allergic to peanu"),
        (2, "Prefers metric units"),
        (4, "Has two children, Mi"),
        (5, "Is renovating the ba"),
    ]
    saved = json.dumps(
        {"memories": [{"id": "1", "content": "Likes tea", "updated_at": "2026-01-02"}]}
    )
    as_json = read(saved, TransferFormat.CHATGPT)
    assert (_contents(as_json), as_json.memories[0].updated) == (
        ["Likes tea"],
        datetime(2026, 1, 2, tzinfo=UTC),
    )


def test_what_an_assistant_answers_in_a_block_of_code_is_read_without_the_talk() -> None:
    found = _read("claude_prompt.md")
    assert [(memory.content, memory.summary, memory.created) for memory in found.memories] == [
        ("Always answer in German.", "Instructions", datetime(2025, 6, 1, tzinfo=UTC)),
        ("Never use emojis.", "Instructions", None),
        (
            "Lives in Graz with Ben and the children.",
            "Identity",
            datetime(2025, 7, 14, tzinfo=UTC),
        ),
        (
            "Works as a nurse on night shifts.",
            "Identity",
            datetime(2026, 5, 3, tzinfo=UTC),
        ),
    ]


def test_the_data_export_of_claude() -> None:
    found = _read("claude_memories.json")
    assert found.format is TransferFormat.CLAUDE
    assert [(memory.content, memory.summary) for memory in found.memories] == [
        ("Anna works as a nurse on night shifts.", "Work context"),
        ("Anna lives in Graz and keeps bees.", "Personal context"),
        ("The garden plan foresees a pond by the shed.", ""),
    ]
    pasted = read("**Work context**\n\nAnna works nights.\n", TransferFormat.CLAUDE)
    assert (_contents(pasted), pasted.memories[0].summary) == (
        ["Anna works nights."],
        "Work context",
    )


@pytest.mark.parametrize(
    ("line", "content", "day"),
    [
        ("1. [2024-04-05]. Likes tea", "Likes tea", (2024, 4, 5)),
        ("[2024-04-05] - Likes tea", "Likes tea", (2024, 4, 5)),
        ("- 2024-04-05: Likes tea", "Likes tea", (2024, 4, 5)),
        ("* (5 April 2024) Likes tea", "Likes tea", (2024, 4, 5)),
        ("• [May 3, 2024]: Likes tea", "Likes tea", (2024, 5, 3)),
        ("[unknown] - Likes tea", "Likes tea", None),
        ("[2024-13-45] - Likes tea", "[2024-13-45] - Likes tea", None),
        ("[garage] The code is 12", "[garage] The code is 12", None),
        ("2 - 3 eggs a week", "2 - 3 eggs a week", None),
        ("**Likes** tea", "Likes tea", None),
    ],
)
def test_bullets_and_dates_before_a_memory(
    line: str, content: str, day: tuple[int, int, int] | None
) -> None:
    (memory,) = read(line, TransferFormat.TEXT).memories
    expected = None if day is None else datetime(*day, tzinfo=UTC)
    assert (memory.content, memory.created) == (content, expected)


def test_tables_and_old_encodings() -> None:
    found = _read("table.csv")
    assert found.format is TransferFormat.CSV
    assert _contents(found) == ["The spare key is with\nMrs Moser", "Das Gartentor klemmt"]
    key = found.memories[0]
    assert (key.wing, key.room, key.summary) == ("household", "devices", "key, neighbour")
    assert (key.line, key.created) == (2, datetime(2026, 3, 4, tzinfo=UTC))
    assert _skipped(found) == [(5, "not_a_memory")]
    assert _contents(_read("legacy.csv")) == ["Grüße von Jürgen aus Köln"]


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("Inhalt;Flügel;Raum;Geltungsbereich;Datum", "{};cellar;wine;privat;04.03.2026"),
        ("Contenido\tAla\tSala\tÁmbito\tFecha", "{}\tcellar\twine\tPrivado\t2026-03-04"),
        ("Contenu;Aile;Salle;Portée;Date", "{};cellar;wine;privé;04.03.2026"),
        ("Contenuto;Ala;Stanza;Ambito;Data", "{};cellar;wine;privato;04.03.2026"),
        ("Inhoud;Vleugel;Kamer;Bereik;Datum", "{};cellar;wine;privé;4. 3. 2026"),
        ("Treść;Skrzydło;Pokój;Zakres;Data", "{};cellar;wine;prywatne;04.03.2026"),
        ("CONTEÚDO;ALA;SALA;ESCOPO;DATA", "{};cellar;wine;PRIVADA;04.03.2026"),
        ("内容,ウィング,部屋,範囲,日付", '"{}",cellar,wine,プライベート,2026年3月4日'),
        ("内容,翼楼,房间,范围,日期", '"{}",cellar,wine,私有,2026年3月4日'),
        ("Content,Wing,Room,Scope,Date", '"{}",cellar,wine,private,2026-03-04'),
    ],
)
def test_the_headings_of_a_table_in_every_language(heading: str, row: str) -> None:
    found = read(f"{heading}\n{row.format('The port is old, very old')}\n")
    assert (found.format, found.skipped_count) == (TransferFormat.CSV, 0)
    (memory,) = found.memories
    assert memory.content == "The port is old, very old"
    assert (memory.wing, memory.room, memory.scope) == ("cellar", "wine", Scope.PRIVATE)
    assert memory.created == datetime(2026, 3, 4, tzinfo=UTC)


def test_a_single_column_keeps_what_follows_a_comma() -> None:
    found = read("Inhalt\nDas Tor klemmt, immer\n")
    assert (found.format, _contents(found)) == (TransferFormat.CSV, ["Das Tor klemmt, immer"])


def test_two_columns_for_one_thing_and_a_text_called_data() -> None:
    found = read("Text;Inhalt;Raum\nThe gate sticks;Das Tor klemmt;garten\n")
    assert _contents(found) == ["Das Tor klemmt"]
    assert _contents(read("data,wing\nThe gate sticks,garden\n")) == ["The gate sticks"]


def test_plain_rows() -> None:
    found = _read("plain.jsonl")
    assert found.format is TransferFormat.JSONL
    assert _contents(found) == [
        "The bins go out on Thursday",
        "The wifi of the guests is called Gast",
        "12",
    ]
    bins = found.memories[0]
    assert (bins.layer, bins.created) == (Layer.CRITICAL, datetime(2026, 1, 1, tzinfo=UTC))
    assert _skipped(found) == [(4, "not_a_row"), (5, "not_json")]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding: str, ending: str) -> None:
    text = ending.join(["- Das Tor ist grün", "- The gate is green", ""])
    assert _contents(read(text.encode(encoding))) == ["Das Tor ist grün", "The gate is green"]


def test_a_broken_byte_costs_one_line() -> None:
    data = "Das Tor ist grün\nDie Tür ist alt\n".encode() + b"Ein \xff Zeichen\n"
    found = read(data)
    assert _contents(found)[:2] == ["Das Tor ist grün", "Die Tür ist alt"]
    assert "\udcff" in found.memories[2].content


def test_a_broken_item_does_not_cost_the_ones_after_it() -> None:
    text = '{"results": [{"memory": "a"}, {"memory": tru}, {"memory": "b"}, {"memory": "c"'
    found = read(text)
    assert (found.format, _contents(found)) == (TransferFormat.MEM0, ["a", "b"])
    assert {reason for _, reason in _skipped(found)} == {"not_json"}


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '"\\' * 100_000, '[{"memory":"' + '\\"' * 100_000]
)
@pytest.mark.parametrize("wanted", TransferFormat)
def test_depth_and_quotes_take_no_time(text: str, wanted: TransferFormat) -> None:
    started = time.monotonic()
    read(text, wanted)
    assert time.monotonic() - started < 5


def test_nothing_is_read_beyond_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("custom_components.ai_memory.core.transfer.reading.MEMORIES_LIMIT", 3)
    monkeypatch.setattr("custom_components.ai_memory.core.transfer.reading.SKIPPED_KEPT", 2)
    found = read("\n".join(f"fact {number}" for number in range(9)))
    assert (len(found.memories), found.skipped_count, len(found.skipped)) == (3, 6, 2)
    assert _skipped(found) == [(4, "too_many_memories"), (5, "too_many_memories")]
    monkeypatch.setattr("custom_components.ai_memory.core.transfer.reading.INPUT_LIMIT_BYTES", 10)
    too_large = read("x" * 11)
    assert (too_large.memories, _skipped(too_large)) == ((), [(1, "too_large")])


def test_a_long_text_is_skipped_and_a_long_summary_cut() -> None:
    rows = [
        {"content": "x" * (CONTENT_LIMIT_CHARACTERS + 1)},
        {"content": "short", "tags": ["word"] + [f"word {number}" for number in range(200)]},
        {"content": "x" * values.ITEM_LIMIT_CHARACTERS},
    ]
    found = read("\n".join(map(json.dumps, rows)))
    assert _skipped(found) == [(1, "too_long"), (3, "too_long")]
    assert len(found.memories[0].summary) <= SUMMARY_LIMIT_CHARACTERS


def test_ten_megabytes_of_each_kind() -> None:
    fact = {"memory": "The gate " + "is green " * 30, "user_id": "alex"}
    many = [fact | {"id": str(number)} for number in range(33_000)]
    for text in (json.dumps(many), json.dumps({"results": many}, indent=1)):
        assert len(text) > 9_000_000
        found = read(text)
        assert (found.format, len(found.memories)) == (TransferFormat.MEM0, 33_000)


def _check(found: Imported) -> None:
    assert len(found.memories) <= values.MEMORIES_LIMIT
    assert len(found.skipped) == min(found.skipped_count, values.SKIPPED_KEPT)
    for skipped in found.skipped:
        assert isinstance(skipped.reason, SkipReason)
        assert skipped.line >= 1
    for memory in found.memories:
        assert isinstance(memory, ImportedMemory)
        assert memory.line >= 1
        own = found.format is TransferFormat.AI_MEMORY
        assert own or 0 < len(memory.content) <= CONTENT_LIMIT_CHARACTERS
        assert own or len(memory.summary) <= SUMMARY_LIMIT_CHARACTERS
        for moment in (memory.created, memory.updated, memory.expires):
            assert moment is None or moment.tzinfo is UTC


@QUICK
@given(text=st.text(max_size=2_000), wanted=st.sampled_from(TransferFormat))
def test_no_text_is_too_odd(text: str, wanted: TransferFormat) -> None:
    _check(read(text, wanted))


@QUICK
@given(data=st.binary(max_size=2_000), wanted=st.sampled_from(TransferFormat))
def test_no_bytes_are_too_odd(data: bytes, wanted: TransferFormat) -> None:
    _check(read(data, wanted))


JSON: Final[st.SearchStrategy[Any]] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.datetimes().map(lambda moment: moment.isoformat()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("content", "memory", "text", "metadata", "wing", "room", "layer", "scope"),
                    *("name", "entityType", "observations", "from", "to", "relationType"),
                    *("results", "relations", "entities", "ids", "documents", "metadatas"),
                    *("conversations_memory", "project_memories", "ai_memory_export", "id"),
                    *("created", "created_at", "confidence", "revision", "status", "owner_agent"),
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@QUICK
@given(
    rows=st.lists(JSON, max_size=6), wanted=st.sampled_from(TransferFormat), indent=st.booleans()
)
def test_no_json_is_too_odd(rows: list[Any], wanted: TransferFormat, *, indent: bool) -> None:
    _check(read("\n".join(map(json.dumps, rows)), wanted))
    _check(read(json.dumps(rows, indent=1 if indent else None), wanted))
    for row in rows:
        _check(read(json.dumps(row, ensure_ascii=False), wanted))


@QUICK
@given(sample=st.sampled_from(sorted(DATA.iterdir())), data=st.data())
def test_damaged_files_lose_only_what_is_damaged(sample: Path, data: st.DataObject) -> None:
    content = bytearray(sample.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    _check(read(bytes(content)))
    _check(read(bytes(content[:cut])))


@QUICK
@given(JSON)
def test_the_walk_finds_what_decoding_finds(value: Any) -> None:
    text = json.dumps([value, value])
    walked = [item.value for item in items(text) if isinstance(item, JsonItem)]
    # Not a number differs from itself, its representation does not.
    assert repr(walked) == repr(json.loads(text))


def test_every_format_has_a_reader() -> None:
    for wanted in NAMED:
        assert read("", wanted).format is wanted


type Maker = Callable[[str], str]


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda text: json.dumps([text]), TransferFormat.JSON),
        (lambda text: json.dumps({"memories": [{"content": text}]}), TransferFormat.JSON),
        (lambda text: json.dumps({"content": text}, indent=2), TransferFormat.JSON),
        (lambda text: json.dumps({"content": text}), TransferFormat.JSONL),
        (lambda text: f"content\n{text}\n", TransferFormat.CSV),
        (lambda text: f"id,memory,date\n1,{text},2026-01-01\n", TransferFormat.CSV),
        (lambda text: f"memory\ttags\n{text}\tx\n", TransferFormat.CSV),
        (lambda text: text, TransferFormat.TEXT),
    ],
)
def test_one_fact_in_each_plain_form(make: Maker, wanted: TransferFormat) -> None:
    found = read(make("The gate is green"))
    assert (found.format, _contents(found)) == (wanted, ["The gate is green"])
