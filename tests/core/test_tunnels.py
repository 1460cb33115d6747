"""Tunnels, halls, links and hubs: how places are joined, and what a search finds beyond."""

from dataclasses import replace
from pathlib import Path
import sqlite3
from typing import Any

import pytest

from custom_components.ai_memory.core import (
    Access,
    AccessDeniedError,
    AiMemoryError,
    Caller,
    Filters,
    InvalidInputError,
    MemoryManager,
    NewMemory,
    NotFoundError,
    Reach,
    Scope,
    TunnelState,
)
from custom_components.ai_memory.core.models import HOME_ACCESS, WORKSHOP_REACH
from custom_components.ai_memory.operations import CATALOGUE, run
from tests.conftest import Opener

ANNA = Caller(source="test", agent="home", user="anna")
BEN = Caller(source="test", agent="home", user="ben")
OWNER = replace(ANNA, access=HOME_ACCESS | {Access.ADMIN})
CODER = Caller(
    source="test", agent="coder", reach=WORKSHOP_REACH, access=HOME_ACCESS | {Access.ADMIN}
)


async def _add(
    memory: MemoryManager, caller: Caller, content: str, place: str, scope: Scope = Scope.COMMON
) -> str:
    wing, _, room = place.rpartition("/")
    new = NewMemory(content=content, wing=wing, room=room, scope=scope)
    return (await memory.add(caller, new)).memory.id


async def _do(memory: MemoryManager, caller: Caller, name: str, **arguments: Any) -> dict[str, Any]:
    return await run(memory, CATALOGUE[name], caller, arguments)


async def _connect(memory: MemoryManager, caller: Caller, start: str, end: str) -> dict[str, Any]:
    """Join places written as wing/room, or as wing."""
    wing, _, room = start.partition("/")
    to_wing, _, to_room = end.partition("/")
    reply = await _do(
        memory,
        caller,
        "connect",
        wing=wing,
        room=room,
        to_wing=to_wing,
        to_room=to_room,
        reason="heating",
    )
    tunnel: dict[str, Any] = reply["tunnel"]
    return tunnel


async def _search(memory: MemoryManager, caller: Caller, query: str, **arguments: Any) -> Any:
    reply = await _do(memory, caller, "search", query=query, **arguments)
    return [(hit["id"], hit.get("via")) for hit in reply["results"]]


async def _states(memory: MemoryManager, caller: Caller, **arguments: Any) -> dict[str, str]:
    reply = await _do(memory, caller, "tunnels", **arguments)
    return {tunnel["id"]: tunnel["state"] for tunnel in reply["tunnels"]}


async def test_a_search_in_a_room_also_offers_what_lies_one_tunnel_away(
    memory: MemoryManager,
) -> None:
    boiler = await _add(memory, ANNA, "The boiler is a Vaillant.", "household/devices")
    serviced = await _add(memory, ANNA, "The boiler is serviced in May.", "cellar/services")
    further = await _add(memory, ANNA, "The boiler costs 90 a year.", "money/contracts")
    hidden = await _add(memory, BEN, "The boiler hides a gift.", "cellar/services", Scope.PRIVATE)
    assert await _search(memory, ANNA, "boiler", room="devices") == [(boiler, None)]

    tunnel = await _connect(memory, ANNA, "household/devices", "cellar/services")
    await _connect(memory, ANNA, "cellar/services", "money/contracts")
    assert (tunnel["kind"], tunnel["state"], tunnel["reason"]) == ("tunnel", "open", "heating")
    assert tunnel["from"] == {"wing": "household", "room": "devices"}
    assert tunnel["to"] == {"wing": "cellar", "room": "services"}

    for where in (
        {"room": "devices"},
        {"wing": "household"},
        {"wing": "household", "room": "devices"},
    ):
        assert await _search(memory, ANNA, "boiler", **where) == [
            (boiler, None),
            (serviced, "household/devices"),
        ]
    # A tunnel leads both ways, and what others keep in private stays theirs.
    assert await _search(memory, ANNA, "boiler", wing="cellar") == [
        (serviced, None),
        (boiler, "cellar/services"),
        (further, "cellar/services"),
    ] or await _search(memory, ANNA, "boiler", wing="cellar") == [
        (serviced, None),
        (further, "cellar/services"),
        (boiler, "cellar/services"),
    ]
    bens = await _search(memory, BEN, "boiler", room="devices")
    assert {one for one, _ in bens} == {boiler, serviced, hidden}
    # Bounded by the limit, and nothing is added where no place was asked for.
    assert await _search(memory, ANNA, "boiler", room="devices", limit=1) == [(boiler, None)]
    everywhere = await _search(memory, ANNA, "boiler")
    assert sorted(everywhere) == sorted((one, None) for one in (boiler, serviced, further))
    only_devices = replace(ANNA, reach=Reach(wings=("household",)))
    assert await _search(memory, only_devices, "boiler", room="devices") == [(boiler, None)]

    closed = await _do(memory, ANNA, "disconnect", tunnel_id=tunnel["id"])
    assert (closed["result"], closed["tunnel"]["state"]) == ("disconnected", "closed")
    assert await _search(memory, ANNA, "boiler", room="devices") == [(boiler, None)]
    with pytest.raises(NotFoundError):
        await _do(memory, ANNA, "disconnect", tunnel_id=tunnel["id"])


async def test_wings_are_joined_as_a_whole(memory: MemoryManager) -> None:
    one = await _add(memory, ANNA, "The hedge is cut in June.", "garden/plants")
    two = await _add(memory, ANNA, "The hedge shears are blunt.", "shed/tools")
    await _connect(memory, ANNA, "garden", "shed")
    assert await _search(memory, ANNA, "hedge", wing="garden") == [(one, None), (two, "garden")]
    assert await _search(memory, ANNA, "hedge", wing="garden", room="plants") == [
        (one, None),
        (two, "garden"),
    ]
    assert await _search(memory, ANNA, "hedge", wing="shed") == [(two, None), (one, "shed")]


async def test_a_hall_joins_two_rooms_of_one_wing(memory: MemoryManager) -> None:
    one = await _add(memory, ANNA, "The boiler is a Vaillant.", "household/devices")
    two = await _add(memory, ANNA, "The boiler is serviced in May.", "household/maintenance")
    hall = await _connect(memory, ANNA, "household/devices", "household/maintenance")
    assert hall["kind"] == "hall"
    assert await _search(memory, ANNA, "boiler", wing="household", room="maintenance") == [
        (two, None),
        (one, "household/maintenance"),
    ]
    # The wing as a whole holds both anyway.
    found = await _search(memory, ANNA, "boiler", wing="household")
    assert sorted(found) == sorted([(one, None), (two, None)])


async def test_what_cannot_be_joined_is_refused(memory: MemoryManager) -> None:
    await _add(memory, ANNA, "The hedge is cut in June.", "garden/plants")
    await _add(memory, BEN, "We meet on Friday.", "affairs/people", Scope.PRIVATE)
    first = await _connect(memory, ANNA, "garden/plants", "household/devices")
    for start, end, key in (
        ("garden/plants", "garden/plants", "tunnel_to_itself"),
        ("garden", "Garden", "tunnel_to_itself"),
        ("garden/plants", "household/devices", "tunnel_exists"),
        ("household/devices", "garden/plants", "tunnel_exists"),
        ("garden/plants", "household", "tunnel_ends_differ"),
        ("garden/plants", "affairs/people", "place_not_found"),
        ("garden/plants", "nowhere/people", "place_not_found"),
        ("garden", "", "missing"),
    ):
        with pytest.raises(AiMemoryError) as refused:
            await _connect(memory, ANNA, start, end)
        assert refused.value.key == key
    assert await _states(memory, ANNA) == {first["id"]: "open"}


async def test_cycles_do_no_harm(memory: MemoryManager) -> None:
    ids = {
        place: await _add(memory, ANNA, f"The hedge of {place}.", f"{place}/plants")
        for place in ("one", "two", "three")
    }
    for start, end in (("one", "two"), ("two", "three"), ("three", "one")):
        await _connect(memory, ANNA, f"{start}/plants", f"{end}/plants")
    found = await _search(memory, ANNA, "hedge", wing="one")
    assert found[0] == (ids["one"], None)
    assert sorted(found[1:]) == sorted([(ids["two"], "one/plants"), (ids["three"], "one/plants")])


async def test_a_tunnel_is_known_to_those_who_know_both_ends(memory: MemoryManager) -> None:
    await _add(memory, ANNA, "Dear diary.", "diary/days", Scope.PRIVATE)
    tunnel = await _connect(memory, ANNA, "diary/days", "household/events")
    assert await _states(memory, ANNA) == {tunnel["id"]: "open"}
    assert await _states(memory, BEN) == {}
    for name in ("disconnect", "accept_tunnel", "dismiss_tunnel"):
        with pytest.raises(NotFoundError) as refused:
            await _do(memory, BEN, name, tunnel_id=tunnel["id"])
        assert refused.value.key == "tunnel_not_found"
    assert await _states(memory, ANNA, wing="diary") == {tunnel["id"]: "open"}
    assert await _states(memory, ANNA, wing="household", room="devices") == {}
    assert await _states(memory, ANNA, state="proposed") == {}


async def test_tunnels_follow_renamed_merged_and_deleted_places(memory: MemoryManager) -> None:
    for place in ("garden/plants", "yard/plants", "shed/tools", "cellar/wine"):
        await _add(memory, ANNA, f"The hedge of {place}.", place)
    kept = await _connect(memory, ANNA, "garden/plants", "shed/tools")
    await _connect(memory, ANNA, "yard/plants", "shed/tools")
    between = await _connect(memory, ANNA, "yard/plants", "garden/plants")
    wings = await _connect(memory, ANNA, "yard", "cellar")
    await _do(memory, OWNER, "rename_place", wing="yard", new_wing="garden", merge=True)
    told = {one["id"]: one for one in (await _do(memory, ANNA, "tunnels"))["tunnels"]}
    assert between["id"] not in told
    assert len(told) == 2
    assert told[kept["id"]]["from"] == {"wing": "garden", "room": "plants"}
    assert told[wings["id"]]["from"] == {"wing": "garden", "room": None}
    await _do(memory, OWNER, "rename_place", wing="garden", room="plants", new_wing="park")
    told = {one["id"]: one for one in (await _do(memory, ANNA, "tunnels"))["tunnels"]}
    assert told[kept["id"]]["from"] == {"wing": "park", "room": "plants"}
    await _do(memory, OWNER, "delete_place", wing="cellar", move_to_wing="shed")
    await _do(memory, OWNER, "delete_place", wing="shed", room="wine", move_to_room="tools")
    told = {one["id"]: one for one in (await _do(memory, ANNA, "tunnels"))["tunnels"]}
    assert told[kept["id"]]["to"] == {"wing": "shed", "room": "tools"}


async def _fill_alike(memory: MemoryManager) -> None:
    for number in range(2):
        await _add(memory, ANNA, f"light.hall flickers, case {number}.", "household/devices")
        await _add(memory, ANNA, f"Turn light.hall off at {20 + number}.", "automation/schedules")
        await _add(memory, ANNA, f"Grandma Ottilie phones on day {number}.", "household/events")
        await _add(memory, ANNA, f"Ottilie eats no walnuts {number}.", "kitchen/recipes")
        await _add(memory, ANNA, f"Walnuts for Ottilie's cake {number}.", "household/events")


async def test_rooms_that_keep_sharing_things_are_proposed_and_never_joined(
    memory: MemoryManager,
) -> None:
    await _fill_alike(memory)
    reply = await _do(memory, ANNA, "propose_tunnels", names=["Ottilie"])
    assert {
        (one["from"]["room"], one["to"]["room"], one["reason"], one["state"])
        for one in reply["tunnels"]
    } == {
        ("devices", "schedules", "light.hall", "proposed"),
        ("events", "recipes", "ottilie, walnuts", "proposed"),
    }
    for found in (
        await _search(memory, ANNA, "light.hall", room="devices"),
        await _search(memory, ANNA, "Ottilie", room="recipes"),
    ):
        assert len(found) == 2
        assert {via for _, via in found} == {None}
    by_reason = {one["reason"]: one["id"] for one in reply["tunnels"]}
    accepted = await _do(memory, ANNA, "accept_tunnel", tunnel_id=by_reason["light.hall"])
    assert accepted["tunnel"]["state"] == "open"
    found = await _search(memory, ANNA, "light.hall", room="devices")
    assert [via for _, via in found] == [None, None, *["household/devices"] * 2]
    await _do(memory, ANNA, "dismiss_tunnel", tunnel_id=by_reason["ottilie, walnuts"])
    assert await _states(memory, ANNA) == {by_reason["light.hall"]: "open"}
    # Neither what was dismissed nor what was closed comes back.
    await _do(memory, ANNA, "disconnect", tunnel_id=by_reason["light.hall"])
    assert (await _do(memory, ANNA, "propose_tunnels", names=["Ottilie"]))["count"] == 0
    assert await _states(memory, ANNA, state="dismissed") == dict.fromkeys(
        by_reason.values(), "dismissed"
    )
    # Whoever wants it after all connects it.
    await _connect(memory, ANNA, "household/devices", "automation/schedules")
    assert sorted((await _states(memory, ANNA)).values()) == ["open"]


async def test_without_names_a_person_is_a_rare_word(memory: MemoryManager) -> None:
    await _fill_alike(memory)
    reply = await _do(memory, ANNA, "propose_tunnels")
    assert [one["reason"] for one in reply["tunnels"]] == ["light.hall"]


async def test_private_memories_propose_nothing(memory: MemoryManager) -> None:
    for number in range(3):
        for place in ("household/devices", "automation/schedules"):
            await _add(memory, BEN, f"light.secret {number} {place}.", place, Scope.PRIVATE)
        await _add(memory, ANNA, f"light.secret again {number}.", "household/maintenance")
    assert (await _do(memory, BEN, "propose_tunnels"))["count"] == 0


async def test_what_many_rooms_share_joins_none(memory: MemoryManager) -> None:
    for room in ("one", "two", "three", "four"):
        for number in range(2):
            await _add(memory, ANNA, f"light.hall in {room} {number}.", f"house/{room}")
    assert (await _do(memory, ANNA, "propose_tunnels"))["count"] == 0


async def test_proposals_wait_in_a_bounded_number(memory: MemoryManager) -> None:
    for number in range(12):
        for place in (f"a{number}/x", f"b{number}/y"):
            for turn in range(2):
                await _add(memory, ANNA, f"switch.pump_{number} {turn} {place}", place)
    assert (await _do(memory, ANNA, "propose_tunnels"))["count"] == 10


async def _link(memory: MemoryManager, repository: str, project: str) -> str:
    tunnel = await memory.places.link(CODER, repository, project)
    return tunnel.id


async def test_what_a_coding_agent_reaches(memory: MemoryManager) -> None:
    for wing in ("github/acme/tool", "github/acme/site", "gitea/me/notes", "local/scratch"):
        await _add(memory, CODER, f"Notes of {wing}.", f"{wing}/general")
    await _link(memory, "github/acme/tool", "projects/suite")
    await _link(memory, "github/acme/site", "projects/suite")
    await _link(memory, "github/acme/tool", "projects/apps")
    reachable = memory.places.reachable
    assert await reachable(CODER, "github/acme/tool", ["testing", "topics/sql"]) == [
        "github/acme/tool",
        "projects/apps",
        "projects/suite",
        "topics/testing",
        "topics/sql",
        "global",
    ]
    assert await reachable(CODER, "gitea/me/notes") == ["gitea/me/notes", "global"]
    await _do(memory, CODER, "make_hub", wing="gitea/me/notes")
    assert await reachable(CODER, "gitea/me/notes") == [
        "gitea/me/notes",
        "global",
        "github/acme/site",
        "github/acme/tool",
    ]
    assert await reachable(CODER, "gitea/me/notes", from_hub=False) == ["gitea/me/notes", "global"]
    acme = replace(CODER, reach=Reach(home=False, workshop=True, wings=("github/acme/*",)))
    assert await reachable(acme, "github/acme/tool") == ["github/acme/tool"]
    assert await reachable(acme, "gitea/me/notes") == []
    found = await _search(memory, CODER, "notes", wing="gitea/me/notes")
    assert [via for _, via in found] == [None, "gitea/me/notes", "gitea/me/notes"]


async def test_links_and_hubs_follow_a_renamed_owner(memory: MemoryManager) -> None:
    await _link(memory, "github/old/tool", "projects/suite")
    await _do(memory, CODER, "make_hub", wing="github/old/hub")
    await _do(memory, CODER, "rename_owner", **{"from": "github/old/", "to": "github/new/"})
    assert await memory.places.reachable(CODER, "github/new/tool") == [
        "github/new/tool",
        "projects/suite",
        "global",
    ]
    assert await memory.places.reachable(CODER, "github/new/hub") == [
        "github/new/hub",
        "global",
        "github/new/tool",
    ]


@pytest.mark.parametrize(
    ("repository", "project", "key"),
    [
        ("projects/one", "projects/two", "invalid_link"),
        ("github/acme/tool", "github/acme/site", "invalid_link"),
        ("global", "projects/one", "invalid_link"),
        ("household", "projects/one", "invalid_namespace"),
        ("topics/sql", None, "invalid_link"),
        ("a b", None, "invalid_namespace"),
    ],
)
async def test_only_repositories_are_linked_and_only_to_projects(
    memory: MemoryManager, repository: str, project: str | None, key: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await memory.places.link(CODER, repository, project)
    assert refused.value.key == key


async def test_links_and_hubs_are_the_administrators(memory: MemoryManager) -> None:
    link = await _link(memory, "github/acme/tool", "projects/suite")
    hub = (await memory.places.link(CODER, "github/acme/tool", None)).id
    client = replace(CODER, access=HOME_ACCESS)
    assert await _states(memory, client) == {link: "open", hub: "open"}
    for one in (link, hub):
        for name in ("disconnect", "dismiss_tunnel"):
            with pytest.raises(AccessDeniedError):
                await _do(memory, client, name, tunnel_id=one)
    with pytest.raises(AccessDeniedError):
        await _do(memory, client, "connect", wing="github/acme/site", to_wing="projects/suite")
    told = await _do(memory, CODER, "connect", wing="github/acme/site", to_wing="projects/suite")
    assert told["tunnel"]["kind"] == "link"
    with pytest.raises(InvalidInputError) as refused:
        await _link(memory, "github/acme/site", "projects/suite")
    assert refused.value.key == "tunnel_exists"
    await _do(memory, CODER, "disconnect", tunnel_id=told["tunnel"]["id"])
    assert await memory.places.reachable(CODER, "github/acme/site") == [
        "github/acme/site",
        "global",
    ]
    # Linked places stay although they hold nothing.
    await memory.places.tidy()
    assert await _states(memory, CODER) == {link: "open", hub: "open"}


async def test_tunnels_survive_a_restart_and_are_audited_without_text(
    open_memory: Opener, tmp_path: Path
) -> None:
    memory = await open_memory()
    await _add(memory, ANNA, "The hedge is cut in June.", "garden/plants")
    tunnel = await _connect(memory, ANNA, "garden/plants", "household/devices")
    await memory.close()
    memory = await open_memory()
    assert await memory.places.tunnels(ANNA, None, None, TunnelState.OPEN) != []
    assert (await memory.search(ANNA, Filters(room="devices"), "hedge", 5)).hits[0].via == (
        "household/devices"
    )
    await _do(memory, ANNA, "disconnect", tunnel_id=tunnel["id"])
    connection = sqlite3.connect(tmp_path / "memory.db")
    rows = connection.execute(
        "SELECT action, subject, reason FROM audit WHERE subject IS NOT NULL ORDER BY id"
    ).fetchall()
    connection.close()
    assert rows == [
        ("tunnel_opened", f"tunnel:{tunnel['id']}", None),
        ("tunnel_closed", f"tunnel:{tunnel['id']}", None),
    ]
