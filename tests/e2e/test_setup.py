"""Setting up, changing the options and removing, as a person does it in the frontend."""

import pytest

from custom_components.ai_memory.ha_compat import HAS_LLM_PLATFORM

from .home import FLOW, SENSOR, Home

pytestmark = pytest.mark.e2e


def test_a_second_memory_is_not_set_up(home: Home) -> None:
    step = home.post(FLOW, {"handler": "ai_memory"})

    assert (step["type"], step["reason"]) == ("abort", "single_instance_allowed")
    assert len(home.entries()) == 1


def test_the_flow_asks_refuses_and_creates(home: Home) -> None:
    kept = home.call("add_memory", text="The gas meter hides behind the fuse box.")["memory"]
    home.remove()

    form = home.post(FLOW, {"handler": "ai_memory"})
    refused = home.post(
        f"{FLOW}/{form['flow_id']}", {"max_entries": 0, "embedding_engine": "tfidf"}
    )
    created = home.post(
        f"{FLOW}/{form['flow_id']}", {"max_entries": 1000, "embedding_engine": "tfidf"}
    )

    assert (form["type"], form["step_id"]) == ("form", "user")
    defaults = {field["name"]: field["default"] for field in form["data_schema"]}
    assert defaults == {"max_entries": 1000, "embedding_engine": "tfidf"}
    assert refused["errors"] == {"max_entries": "max_entries_out_of_range"}
    assert (created["type"], created["title"]) == ("create_entry", "AI Memory")
    assert created["result"]["state"] == "loaded"
    # Removing the entry is not forgetting: the file stays.
    assert home.call("get_memory", memory_id=kept["id"])["memory"]["content"] == kept["content"]


def test_options_are_offered_as_they_stand(home: Home) -> None:
    fields = {field["name"]: field for field in home.options_form()["data_schema"]}

    assert fields["max_entries"]["description"] == {"suggested_value": 1000}
    assert ("assist_tools" in fields) is HAS_LLM_PLATFORM


def test_a_changed_capacity_takes_effect_at_once(home: Home) -> None:
    assert home.change_options(max_entries=2, **home.assist_tools(on=True)) == "create_entry"
    home.call("add_memory", text="The piano tuner comes in April.")
    home.call("add_memory", text="Blankets are stored under the guest bed.")
    last = home.call("add_memory", text="The attic ladder unlocks with a red handle.")

    assert home.state(SENSOR)["attributes"]["max_entries"] == 2
    assert last["evicted_count"] == len(last["evicted"]) >= 1
    assert set(last["evicted"][0]) == {"id", "wing", "room"}
    kept = home.call("list_memories")
    assert kept["total"] == 2
    assert last["memory"]["id"] in {memory["id"] for memory in kept["memories"]}

    home.change_options(max_entries=1000, **home.assist_tools(on=True))
    assert home.state(SENSOR)["attributes"]["max_entries"] == 1000


def test_an_impossible_capacity_is_refused(home: Home) -> None:
    assert home.change_options(max_entries=0, **home.assist_tools(on=True)) == "form"
    assert home.state(SENSOR)["attributes"]["max_entries"] == 1000
