"""What was acknowledged survives: the process is killed while it writes, then started again."""

from typing import Final

import pytest

from .home import Home

pytestmark = pytest.mark.e2e

ACKNOWLEDGED: Final = 20
PLACES: Final = (
    *("attic", "balcony", "cellar", "garage", "garden shed", "hallway", "kitchen", "larder"),
    *("laundry", "library"),
)
THINGS: Final = ("ladder", "torch", "toolbox", "sewing kit", "passport folder", "first-aid box")
TEXTS: Final = tuple(
    f"The {thing} number {number} is in the {place}."
    for number, (thing, place) in enumerate(
        ((thing, place) for thing in THINGS for place in PLACES), start=1
    )
)


def test_acknowledged_memories_survive_a_kill(home: Home) -> None:
    home.wait_until_saved()

    acknowledged = home.add_until_killed(TEXTS, ACKNOWLEDGED)
    home.restart()

    assert len(acknowledged) >= ACKNOWLEDGED
    kept = {
        memory["id"]: memory["content"]
        for memory in home.call("list_memories", limit=1000)["memories"]
    }
    assert kept.items() >= acknowledged.items()
    # What was on its way when the process died is there as a whole or not at all.
    assert set(kept.values()) <= set(TEXTS)
    home.wait_for(lambda: home.counts()["total"] == len(kept))


def test_and_are_found_by_the_next_search(home: Home) -> None:
    added = home.call("add_memory", text="The xylophone is in the playroom.")["memory"]

    for query in ("xylophone", TEXTS[0]):
        assert home.call("search_memory", query=query)["count"] >= 1
    assert home.call("search_memory", query="xylophone")["results"][0]["id"] == added["id"]
