"""The services as an automation calls them."""

from datetime import date, datetime
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_capture_events,
)
import voluptuous as vol

from custom_components.ai_memory.const import DOMAIN
from custom_components.ai_memory.core import Caller, NewMemory, Scope, StorageError

pytestmark = pytest.mark.usefixtures("loaded")


async def _call(
    hass: HomeAssistant, service: str, context: Context | None = None, **data: Any
) -> dict[str, Any]:
    response = await hass.services.async_call(
        DOMAIN, service, data, blocking=True, return_response=True, context=context
    )
    assert isinstance(response, dict)
    return response


async def test_the_household_example(hass: HomeAssistant) -> None:
    added = await _call(
        hass, "add_memory", text="The garage door code is 1234", wing="personal", room="secrets"
    )
    memory = added["memory"]
    assert (added["result"], added["evicted"], added["evicted_count"]) == ("added", [], 0)
    assert set(memory) == {
        "id",
        "content",
        "summary",
        "wing",
        "room",
        "scope",
        "layer",
        "type",
        "status",
        "confidence",
        "revision",
        "language",
        "created",
        "updated",
        "accessed",
        "access_count",
        "pinned",
        "source",
    }
    assert (memory["content"], memory["wing"], memory["room"], memory["scope"]) == (
        "The garage door code is 1234",
        "personal",
        "secrets",
        "common",
    )
    assert (memory["layer"], memory["revision"], memory["source"]) == (2, 1, "service")

    again = await _call(
        hass, "add_memory", text="the garage door code is 1234.", wing="personal", room="secrets"
    )
    assert (again["result"], again["memory"]["id"]) == ("refreshed", memory["id"])

    found = await _call(hass, "search_memory", query="garage door code")
    assert (found["count"], found["ranking"]) == (1, "hybrid")
    assert found["results"][0]["id"] == memory["id"]
    assert found["results"][0]["match_type"] == "hybrid"
    assert 0.55 <= found["results"][0]["score"] <= 1

    text = await _call(hass, "search_memory", query="opens with 1234", min_score=1)
    assert [(hit["score"], hit["match_type"]) for hit in text["results"]] == [(0.0, "text")]

    listed = await _call(hass, "list_memories", wing="personal")
    assert (listed["count"], listed["total"]) == (1, 1)

    read = await _call(hass, "get_memory", memory_id=memory["id"])
    assert read["memory"]["content"] == "The garage door code is 1234"

    updated = await _call(
        hass, "update_memory", memory_id=memory["id"], text="The garage door code is 9876"
    )
    assert (updated["result"], updated["memory"]["revision"]) == ("updated", 3)

    gone = await _call(hass, "delete_memory", wing="personal", room="secrets", scope="common")
    assert gone == {
        "result": "deleted",
        "deleted": 1,
        "memory_ids": [memory["id"]],
        "success": True,
        "deleted_count": 1,
    }
    assert (await _call(hass, "list_memories"))["total"] == 0


async def test_scripts_of_before_find_the_names_that_they_know(hass: HomeAssistant) -> None:
    added = await _call(hass, "add_memory", text="The bins go out on Monday")
    again = await _call(hass, "add_memory", text="The bins go out on Monday")
    memory_id = added["memory"]["id"]
    same = await _call(hass, "update_memory", memory_id=memory_id, wing=added["memory"]["wing"])
    assert [reply["success"] for reply in (added, again, same)] == [True, True, True]
    assert (again["result"], same["result"]) == ("refreshed", "unchanged")
    listed = await _call(hass, "list_memories")
    found = await _call(hass, "search_memory", query="bins monday")
    for told in (listed["memories"][0], found["results"][0]):
        assert told["created_at"] == told["created"] == added["memory"]["created"]
    nothing = await _call(hass, "delete_memory", wing="nowhere")
    assert (nothing["success"], nothing["deleted_count"]) == (True, 0)
    # What that integration did not have is told by one name.
    read = await _call(hass, "get_memory", memory_id=memory_id)
    forgotten = await _call(hass, "forget_memory", memory_id=memory_id)
    assert "created_at" not in read["memory"]
    assert forgotten == {"result": "forgotten", "memory_id": memory_id}


async def test_a_call_without_a_response_works_too(hass: HomeAssistant) -> None:
    await hass.services.async_call(DOMAIN, "add_memory", {"text": "A fact"}, blocking=True)
    assert (await _call(hass, "list_memories"))["total"] == 1


@pytest.mark.parametrize(
    ("service", "data", "key", "message"),
    [
        ("add_memory", {"text": ""}, "missing", "text is required"),
        ("add_memory", {"text": "  \n"}, "missing", "text is required"),
        (
            "add_memory",
            {"text": "x" * 10_001},
            "too_long",
            "text has 10001 characters. The limit is 10000",
        ),
        (
            "add_memory",
            {"text": "a\x00b"},
            "invalid_characters",
            "text holds characters that cannot be stored",
        ),
        ("add_memory", {"text": ["a"]}, "not_text", "text must be text"),
        ("add_memory", {"text": "x", "layer": 0}, "out_of_range", "layer must be from 1 to 3"),
        ("add_memory", {"text": "x", "wing": "💡"}, "invalid_name", "wing must hold letters"),
        ("list_memories", {"limit": 0}, "out_of_range", "limit must be from 1 to 10000"),
        ("list_memories", {"limit": -1}, "out_of_range", "limit must be from 1 to 10000"),
        ("list_memories", {"limit": 10**9}, "out_of_range", "limit must be from 1 to 10000"),
        ("list_memories", {"limit": 1.5}, "not_a_whole_number", "limit must be a whole number"),
        ("list_memories", {"limit": True}, "not_a_whole_number", "limit must be a whole number"),
        ("list_memories", {"limit": "many"}, "not_a_whole_number", "limit must be a whole number"),
        (
            "list_memories",
            {"limit": float("inf")},
            "not_a_whole_number",
            "limit must be a whole number",
        ),
        ("list_memories", {"scope": "shared"}, "unknown_choice", "one of: private, common"),
        ("search_memory", {"query": " "}, "missing", "query is required"),
        ("list_memories", {"limit": 10_001}, "out_of_range", "limit must be from 1 to 10000"),
        ("search_memory", {"query": "x", "limit": 0}, "out_of_range", "from 1 to 100"),
        ("search_memory", {"query": "x", "min_score": 2}, "out_of_range", "from 0 to 1"),
        ("search_memory", {"query": "x", "min_score": float("nan")}, "out_of_range", "min_score"),
        ("get_memory", {"memory_id": "nope"}, "memory_not_found", "no memory with the id nope"),
        ("update_memory", {"memory_id": "nope", "text": "x"}, "memory_not_found", "nope"),
        ("update_memory", {"memory_id": "nope", "text": "x" * 10_001}, "too_long", "text has"),
        ("delete_memory", {}, "filter_required", "Give a memory ID"),
        ("delete_memory", {"wing": " "}, "filter_required", "Give a memory ID"),
        ("delete_memory", {"memory_id": "nope"}, "memory_not_found", "nope"),
    ],
)
async def test_bad_input_is_refused_with_a_translated_reason(
    hass: HomeAssistant, service: str, data: dict[str, Any], key: str, message: str
) -> None:
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, service, **data)
    assert (refused.value.translation_domain, refused.value.translation_key) == (DOMAIN, key)
    assert message in str(refused.value)
    assert (await _call(hass, "list_memories"))["total"] == 0


@pytest.mark.parametrize(
    ("service", "data"),
    [("add_memory", {}), ("add_memory", {"text": "x", "nonsense": 1}), ("search_memory", {})],
)
async def test_unknown_and_missing_fields_are_refused(
    hass: HomeAssistant, service: str, data: dict[str, Any]
) -> None:
    with pytest.raises(vol.Invalid):
        await _call(hass, service, **data)


async def test_a_list_begins_with_what_was_updated_last(hass: HomeAssistant) -> None:
    first, _ = [
        (await _call(hass, "add_memory", text=text))["memory"]["id"] for text in ("One", "Two")
    ]

    async def listed() -> list[str]:
        reply = await _call(hass, "list_memories")
        return [memory["content"] for memory in reply["memories"]]

    assert await listed() == ["Two", "One"]
    await _call(hass, "update_memory", memory_id=first, summary="first")
    assert await listed() == ["One", "Two"]
    await _call(hass, "get_memory", memory_id=first)
    await _call(hass, "search_memory", query="Two")
    assert await listed() == ["One", "Two"]


async def test_a_limit_of_before_is_taken(hass: HomeAssistant) -> None:
    for number in range(101):
        await _call(hass, "add_memory", text=f"Apple tree {number} stands in the orchard")
    for limit in (10_000, "10000", 101, 1e300):
        found = await _call(hass, "search_memory", query="apple tree", limit=limit, min_score=0)
        assert found["count"] == 100
    listed = await _call(hass, "list_memories", limit="10000")
    assert listed["count"] == listed["total"] == 101


async def test_numbers_may_come_as_templates_render_them(hass: HomeAssistant) -> None:
    await _call(hass, "add_memory", text=1234)
    listed = await _call(hass, "list_memories", limit="5")
    assert [memory["content"] for memory in listed["memories"]] == ["1234"]


async def test_a_service_sees_private_memories_only_on_behalf_of_their_owner(
    hass: HomeAssistant, loaded: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    manager = loaded.runtime_data.manager
    for user, content in ((None, "Told to the speaker"), (hass_admin_user.id, "Told in a chat")):
        owner = Caller(source="assist", agent="conversation.home", user=user)
        await manager.add(owner, NewMemory(content=content, scope=Scope.PRIVATE))

    async def seen(context: Context | None = None, **data: object) -> set[str]:
        listed = await _call(hass, "list_memories", context, **data)
        return {memory["content"] for memory in listed["memories"]}

    person = Context(user_id=hass_admin_user.id)
    assert await seen() == set()
    assert await seen(person) == set()
    assert await seen(agent_id="conversation.home") == {"Told to the speaker"}
    assert await seen(person, agent_id="conversation.home") == {
        "Told to the speaker",
        "Told in a chat",
    }
    assert await seen(person, agent_id="conversation.other") == set()
    gone = await _call(hass, "delete_memory", scope="private", agent_id="conversation.other")
    assert gone["deleted"] == 0
    gone = await _call(hass, "delete_memory", scope="private", agent_id="conversation.home")
    assert gone["deleted"] == 1


async def test_a_failing_database_is_an_error_of_home_assistant(
    hass: HomeAssistant, loaded: MockConfigEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> None:
        raise StorageError("disk_full", path="/x")

    monkeypatch.setattr("custom_components.ai_memory.core.additions.memories.insert", full)
    with pytest.raises(HomeAssistantError) as failed:
        await _call(hass, "add_memory", text="A fact")
    assert not isinstance(failed.value, ServiceValidationError)
    assert str(failed.value) == "The disk is full. Nothing was stored"


async def test_without_an_open_memory_the_reason_is_named(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    await hass.config_entries.async_unload(loaded.entry_id)
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "add_memory", text="A fact")
    assert refused.value.translation_key == "not_loaded"


async def test_every_write_fires_an_event_without_text(hass: HomeAssistant) -> None:
    events = async_capture_events(hass, "ai_memory_updated")
    added = await _call(hass, "add_memory", text="Zebra stripes", wing="household")
    await _call(hass, "delete_memory", memory_id=added["memory"]["id"])
    await hass.async_block_till_done()
    assert [event.data for event in events] == [
        {
            "action": action,
            "memory_ids": [added["memory"]["id"]],
            "count": 1,
            "scope": "common",
            "wing": "household",
            "room": "general",
            "counts": {"common": total, "private": 0, "total": total},
        }
        for action, total in (("added", 1), ("deleted", 0))
    ]


async def test_the_later_life_of_a_memory(hass: HomeAssistant) -> None:
    old = (await _call(hass, "add_memory", text="The garage code is 1234"))["memory"]
    assert old["status"] == "active"
    added = await _call(
        hass, "add_memory", text="The garage opens with 5678", supersedes=old["id"], confidence=0.5
    )
    new = added["memory"]
    assert (added["superseded"], new["confidence"]) == (old["id"], 0.5)
    witnessed = await _call(
        hass,
        "corroborate_memory",
        memory_id=new["id"],
        quote="It opened this morning",
        stance="corroborates",
    )
    assert (witnessed["result"], witnessed["proof_count"]) == ("witnessed", 1)
    assert witnessed["effective_confidence"] == round(1 - 0.5 * 2 / 3, 4)
    history = await _call(hass, "memory_history", memory_id=new["id"])
    assert [(one["content"], one["status"]) for one in history["versions"]] == [
        ("The garage opens with 5678", "active"),
        ("The garage code is 1234", "superseded"),
    ]
    told = await _call(hass, "timeline", wing=new["wing"], limit=5)
    assert [
        (one["content"], one["status"], one["wing"], one["room"], one["until"] is None)
        for one in told["timeline"]
    ] == [
        ("The garage opens with 5678", "active", new["wing"], new["room"], True),
        ("The garage code is 1234", "superseded", new["wing"], new["room"], False),
    ]
    assert told["count"] == 2
    assert told["timeline"][0]["memory_id"] == new["id"]
    replaced = await _call(hass, "timeline", memory_id=new["id"], status="superseded")
    assert [one["memory_id"] for one in replaced["timeline"]] == [old["id"]]
    assert (await _call(hass, "timeline", room="schedules"))["timeline"] == []
    found = await _call(hass, "search_memory", query="garage", history=True)
    assert {hit["status"] for hit in found["results"]} == {"active", "superseded"}
    found = await _call(hass, "search_memory", query="garage")
    assert [hit["id"] for hit in found["results"]] == [new["id"]]

    forgotten = await _call(hass, "forget_memory", memory_id=new["id"])
    assert forgotten == {"result": "forgotten", "memory_id": new["id"]}
    assert (await _call(hass, "list_memories"))["total"] == 0
    restored = await _call(hass, "restore_memory", memory_id=new["id"])
    assert (restored["result"], restored["memory"]["id"]) == ("restored", new["id"])
    gone = await _call(hass, "forget_memory", memory_id=new["id"], hard=True)
    assert gone["memory_ids"] == [new["id"]]
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "restore_memory", memory_id=new["id"])
    assert refused.value.translation_key == "memory_not_found"


async def test_automations_anchor_what_they_store(hass: HomeAssistant) -> None:
    added = await _call(
        hass,
        "add_memory",
        text="The hall is lit at dusk",
        anchors=["entity:light.hall", "url:https://example.com/lamp"],
    )
    memory_id = added["memory"]["id"]

    async def anchors() -> list[str]:
        listed = await _call(hass, "list_anchors", memory_id=memory_id)
        return [one["anchor"] for one in listed["anchors"]]

    assert await anchors() == ["entity:light.hall", "url:https://example.com/lamp"]
    updated = await _call(hass, "update_memory", memory_id=memory_id, anchors="host:nas")
    assert (updated["result"], await anchors()) == ("updated", ["host:nas"])
    await _call(hass, "update_memory", memory_id=memory_id, anchors=[])
    assert await anchors() == []
    with pytest.raises(ServiceValidationError) as refused:
        await _call(hass, "update_memory", memory_id=memory_id, anchors=["light.hall"])
    assert refused.value.translation_key == "invalid_anchor"


async def test_a_memory_that_expires_and_one_that_never_does(hass: HomeAssistant) -> None:
    end = dt_util.as_utc(datetime(2099, 12, 25, tzinfo=dt_util.get_default_time_zone()))
    told = await _call(hass, "add_memory", text="Guests stay", expires="2099-12-24")
    # YAML turns what looks like a date into one.
    again = await _call(hass, "add_memory", text="The boat is away", expires=date(2099, 12, 24))
    assert told["memory"]["expires"] == again["memory"]["expires"] == end.isoformat()
    id_ = told["memory"]["id"]
    lasting = await _call(hass, "update_memory", memory_id=id_, expires="never", revision=1)
    assert "expires" not in lasting["memory"]
    with pytest.raises(HomeAssistantError) as refused:
        await _call(hass, "update_memory", memory_id=id_, text="x", revision=1)
    assert refused.value.translation_key == "revision_conflict"


async def test_what_a_question_for_earlier_times_is_told(hass: HomeAssistant) -> None:
    added = await _call(hass, "add_memory", text="The garage code is 1234")
    told = await _call(
        hass, "update_memory", memory_id=added["memory"]["id"], text="The garage code is 5678"
    )
    found = await _call(hass, "search_memory", query="What was the old garage code?")
    (hit,) = found["results"]
    assert hit["content"] == "The garage code is 5678"
    assert hit["earlier"] == [
        {
            "content": "The garage code is 1234",
            "since": added["memory"]["created"],
            "until": told["memory"]["updated"],
        }
    ]
    with_history = await _call(hass, "search_memory", query="garage", history=True)
    assert [one["earlier"] for one in with_history["results"]] == [hit["earlier"]]
    now = await _call(hass, "search_memory", query="garage")
    assert ["earlier" in one for one in now["results"]] == [False]
    replaced = await _call(hass, "add_memory", text="The garage code is 9999")
    assert replaced["superseded"] == added["memory"]["id"]
    assert "similar" not in replaced


async def test_a_change_as_people_tell_it_replaces_what_was_told(hass: HomeAssistant) -> None:
    for old, new in (
        ("The garage door code is 1234", "The garage door code is now 5678"),
        ("The alarm code is 1111", "The alarm code is now 2222"),
        ("The safe code is 1111", "The new safe code is 2222"),
        ("The bike code is 1111", "The bike code is 2222 now"),
        ("The boat code is 1111", "The boat code has changed to 2222"),
        ("Le code du portail est 1357", "Le nouveau code du portail est 2468"),
        ("Der Code der Laube ist 1111", "Der Code der Laube ist jetzt 2222"),
        ("Der Garagencode ist 1234", "Der Garagencode ist jetzt 9999"),
        ("Kod do bramy to 1234", "Kod do bramy to 4321"),
    ):
        first = await _call(hass, "add_memory", text=old)
        second = await _call(hass, "add_memory", text=new)
        assert second.get("superseded") == first["memory"]["id"], new
        assert "similar" not in second


async def test_what_a_new_memory_is_like_is_named(hass: HomeAssistant) -> None:
    place: dict[str, Any] = {"wing": "household", "room": "events"}
    first = await _call(hass, "add_memory", text="The summer street party is in June", **place)
    assert "similar" not in first
    moved = await _call(
        hass, "add_memory", text="The summer street party has moved to July", **place
    )
    assert moved["similar"] == {
        "id": first["memory"]["id"],
        "content": "The summer street party is in June",
    }
