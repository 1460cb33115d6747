"""Every service over REST, and what the sensor, the event and the bus tell of it."""

from collections.abc import Iterator
from contextlib import closing
import json
import sqlite3
from typing import Any, Final
from unittest.mock import ANY

from homeassistant.components import api
import pytest

from scripts.develop import PROJECT

from .home import CHANGES, SENSOR, UPDATED, Home, Refusal

pytestmark = pytest.mark.e2e

DISHWASHER: Final = "The dishwasher is a Bosch Series 6."
PARTY: Final = "The summer party is on the last Saturday of August."
TRANSLATIONS: Final = PROJECT / "custom_components" / "ai_memory" / "translations" / "en.json"
UNKNOWN_ID: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

# Older versions of the REST API answer every refusal with a bare server error.
EXPLAINS_REFUSALS: Final = hasattr(api, "ServiceValidationError")


@pytest.fixture(autouse=True)
def _empty(home: Home) -> Iterator[None]:
    """Leave nothing in the memory for the next test."""
    yield
    home.call("delete_memory", scope="common")
    home.tool("delete_memory", scope="private")


def memory_like(**known: object) -> dict[str, Any]:
    """Return what a fresh memory of a service looks like, with what is known of it."""
    return {
        "id": ANY,
        "content": ANY,
        "summary": "",
        "wing": "household",
        "room": "devices",
        "scope": "common",
        "layer": 2,
        "type": "fact",
        "status": "active",
        "confidence": 1.0,
        "revision": 1,
        "language": None,
        "created": ANY,
        "updated": ANY,
        "accessed": ANY,
        "access_count": ANY,
        "pinned": False,
        "source": "service",
    } | known


def english(key: str, values: dict[str, str]) -> str:
    """Return the message of an error as people read it; core takes off the last stop."""
    translations = json.loads(TRANSLATIONS.read_text(encoding="utf-8"))
    message: str = translations["exceptions"][key]["message"]
    return message.format(**values).rstrip(".")


def test_add_returns_the_memory_and_nothing_evicted(home: Home) -> None:
    reply = home.call(
        "add_memory", text=DISHWASHER, summary="dishwasher, Bosch", wing="household", room="devices"
    )

    assert reply == {
        "result": "added",
        "memory": memory_like(
            content=DISHWASHER, summary="dishwasher, Bosch", accessed=None, access_count=0
        ),
        "evicted": [],
        "evicted_count": 0,
        "success": True,
    }
    assert reply["memory"]["created"] == reply["memory"]["updated"]
    assert reply["memory"]["created"].endswith("+00:00")


def test_the_same_fact_twice_is_one_memory(home: Home) -> None:
    first = home.call("add_memory", text=DISHWASHER)
    again = home.call("add_memory", text="the dishwasher is a Bosch series 6")

    assert again["result"] == "refreshed"
    assert again["memory"]["id"] == first["memory"]["id"]
    assert home.call("list_memories")["total"] == 1


def test_get_returns_one_memory_in_full(home: Home) -> None:
    added = home.call("add_memory", text=DISHWASHER, wing="household", room="devices")["memory"]

    reply = home.call("get_memory", memory_id=added["id"])

    assert reply == {"memory": memory_like(id=added["id"], content=DISHWASHER)}


def test_list_returns_the_latest_first_within_filters_and_limit(home: Home) -> None:
    home.call("add_memory", text=DISHWASHER, wing="household", room="devices")
    home.call("add_memory", text=PARTY, wing="household", room="events")

    everything = home.call("list_memories")
    one = home.call("list_memories", limit=1)
    devices = home.call("list_memories", wing="household", room="devices", scope="common")

    assert everything == {
        "memories": [
            memory_like(content=PARTY, room="events", created_at=ANY),
            memory_like(content=DISHWASHER, created_at=ANY),
        ],
        "count": 2,
        "total": 2,
    }
    assert (one["count"], one["total"]) == (1, 2)
    assert [memory["content"] for memory in devices["memories"]] == [DISHWASHER]


def test_search_returns_hits_with_score_and_how_they_matched(home: Home) -> None:
    home.call("add_memory", text=DISHWASHER, wing="household", room="devices")
    home.call("add_memory", text=PARTY, wing="household", room="events")

    reply = home.call("search_memory", query="Which dishwasher do we have?", limit=1)

    assert reply["count"] == 1
    assert reply["ranking"] in {"semantic", "text", "hybrid"}
    [hit] = reply["results"]
    assert hit == memory_like(
        content=DISHWASHER, score=ANY, match_type=ANY, why=ANY, created_at=hit["created"]
    )
    # Words alone have no score.
    assert hit["match_type"] == ("hybrid" if hit["score"] else "text")
    assert 0 <= hit["score"] <= 1


def test_search_finds_nothing_without_an_error(home: Home) -> None:
    reply = home.call("search_memory", query="zeppelin")

    assert reply == {"results": [], "count": 0, "ranking": "none"}


def test_search_counts_as_an_access(home: Home) -> None:
    added = home.call("add_memory", text=DISHWASHER)["memory"]
    home.call("search_memory", query="dishwasher")

    def is_counted() -> bool:
        memory = home.call("list_memories")["memories"][0]
        return bool(memory["access_count"] and memory["accessed"])

    assert added["access_count"] == 0
    home.wait_for(is_counted)


def test_update_changes_only_what_is_given(home: Home) -> None:
    added = home.call("add_memory", text=DISHWASHER, wing="household", room="devices")["memory"]

    reply = home.call("update_memory", memory_id=added["id"], text="The dishwasher is a Miele G7.")
    again = home.call("update_memory", memory_id=added["id"], text="The dishwasher is a Miele G7.")

    assert reply == {
        "result": "updated",
        "memory": memory_like(id=added["id"], content="The dishwasher is a Miele G7.", revision=2),
        "success": True,
    }
    assert again["result"] == "unchanged"
    assert home.call("search_memory", query="Miele")["results"][0]["id"] == added["id"]


def test_delete_by_id_and_by_filter(home: Home) -> None:
    dishwasher = home.call("add_memory", text=DISHWASHER, wing="household", room="devices")
    party = home.call("add_memory", text=PARTY, wing="household", room="events")

    by_id = home.call("delete_memory", memory_id=dishwasher["memory"]["id"])
    by_filter = home.call("delete_memory", wing="household", room="events")
    nothing = home.call("delete_memory", wing="household", room="events")

    assert by_id == {
        "result": "deleted",
        "deleted": 1,
        "memory_ids": [dishwasher["memory"]["id"]],
        "success": True,
        "deleted_count": 1,
    }
    assert by_filter["memory_ids"] == [party["memory"]["id"]]
    assert (nothing["result"], nothing["deleted"], nothing["memory_ids"]) == ("deleted", 0, [])
    assert home.call("list_memories") == {"memories": [], "count": 0, "total": 0}


@pytest.mark.parametrize(
    ("service", "data", "key", "values"),
    [
        ("add_memory", {"text": ""}, "missing", {"field": "text"}),
        ("add_memory", {"text": " \n\t"}, "missing", {"field": "text"}),
        (
            "add_memory",
            {"text": "x" * 10_001},
            "too_long",
            {"field": "text", "length": "10001", "limit": "10000"},
        ),
        (
            "list_memories",
            {"limit": 0},
            "out_of_range",
            {"field": "limit", "minimum": "1", "maximum": "10000"},
        ),
        (
            "list_memories",
            {"scope": "secret"},
            "unknown_choice",
            {"field": "scope", "choices": "private, common"},
        ),
        (
            "search_memory",
            {"query": PARTY, "limit": -1},
            "out_of_range",
            {"field": "limit", "minimum": "1", "maximum": "100"},
        ),
        (
            "search_memory",
            {"query": PARTY, "min_score": 2},
            "out_of_range",
            {"field": "min_score", "minimum": "0", "maximum": "1"},
        ),
        ("get_memory", {"memory_id": UNKNOWN_ID}, "memory_not_found", {"id": UNKNOWN_ID}),
        (
            "update_memory",
            {"memory_id": UNKNOWN_ID, "text": PARTY},
            "memory_not_found",
            {"id": UNKNOWN_ID},
        ),
        ("delete_memory", {"memory_id": UNKNOWN_ID}, "memory_not_found", {"id": UNKNOWN_ID}),
        ("delete_memory", {}, "filter_required", {}),
    ],
)
def test_a_mistake_is_explained(
    home: Home, service: str, data: dict[str, Any], key: str, values: dict[str, str]
) -> None:
    over_rest = home.refusal(service, **data)
    in_frontend = home.refusal_over_websocket(service, **data)

    message = english(key, values)
    expected = Refusal(400, message) if EXPLAINS_REFUSALS else Refusal(500, None)
    assert over_rest == expected
    assert in_frontend["code"] == "service_validation_error"
    assert in_frontend["message"] == f"Validation error: {message}"
    assert in_frontend["translation_domain"] == "ai_memory"
    assert in_frontend["translation_key"] == key
    assert in_frontend["translation_placeholders"] == (values or ANY)
    assert home.call("list_memories")["total"] == 0


def test_a_failing_database_is_explained(home: Home) -> None:
    home.call("add_memory", text=DISHWASHER)
    database = home.config / "ai_memory.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        over_rest = home.refusal("add_memory", text=PARTY)
        other.execute("ROLLBACK")

    message = english("database_locked", {"path": str(database)})
    assert over_rest == Refusal(500, message if EXPLAINS_REFUSALS else None)
    assert home.call("list_memories")["total"] == 1
    assert home.call("add_memory", text=PARTY)["result"] == "added"


def test_the_sensor_counts(home: Home) -> None:
    home.call("add_memory", text=DISHWASHER, wing="household", room="devices")
    home.call("add_memory", text=PARTY, wing="household", room="events", layer=1)
    home.tool("add_memory", content="Anna prefers oat milk.", scope="private", wing="personal")

    home.wait_for(lambda: home.counts() == {"common": 2, "private": 1, "total": 3})
    sensor = home.state(SENSOR)
    assert sensor["state"] == "Active"
    assert sensor["attributes"] == {
        "friendly_name": "AI Memory",
        "embedding_engine": "tfidf",
        "embedding_progress": {"pending": 0, "vectors": ANY},
        "max_entries": 1000,
        "last_updated": ANY,
        "memory_counts": {"common": 2, "private": 1, "total": 3},
        "layer_distribution": {"L0": 0, "L1": 1, "L2": 2, "L3": 0},
        "wing_distribution": {"household": 2, "personal": 1},
        "palace_structure": {"wings": 4, "rooms": ANY},
    }
    assert not home.told_by(json.dumps(sensor))


def test_every_change_is_told_without_its_text(home: Home) -> None:
    with home.events(UPDATED) as events:
        place = {"wing": "household", "room": "devices"}
        added = home.call("add_memory", text=DISHWASHER, **place)["memory"]
        home.call("add_memory", text=DISHWASHER, **place)
        home.call("update_memory", memory_id=added["id"], text="The dishwasher is a Miele G7.")
        home.wait_for(lambda: len(events) == 3)
        change = home.state(CHANGES)
        home.call("delete_memory", memory_id=added["id"])
        home.wait_for(lambda: len(events) == 4)

    full, empty = ({"common": total, "private": 0, "total": total} for total in (1, 0))
    common = {"memory_ids": [added["id"]], "count": 1, "scope": "common", **place}
    assert [event["data"] for event in events] == [
        {"action": "added", "counts": full, **common},
        {"action": "refreshed", "counts": full, **common},
        {"action": "updated", "counts": full, **common},
        {"action": "deleted", "counts": empty, **common},
    ]
    assert change["attributes"]["event_type"] == "updated"
    assert change["attributes"]["event_types"] == [
        *("added", "refreshed", "updated", "deleted", "evicted", "moved", "superseded"),
        *("corroborated", "contradicted", "forgotten", "restored", "lapsed", "purged", "checked"),
    ]
    assert change["attributes"]["memory_ids"] == [added["id"]]
    home.wait_for(lambda: home.state(CHANGES)["attributes"]["event_type"] == "deleted")
    assert not home.told_by(json.dumps([events, change]))
