"""What clients may do and see: each access by itself, the home, and some wings of the workshop."""

from http import HTTPStatus
import json
from typing import Any, Final

import jsonschema
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Caller, Memory, NewMemory, Scope
from custom_components.ai_memory.mcp.tools import (
    ADMINISTRATION_TOOLS,
    HOME_TOOLS,
    WORKSHOP_TOOLS,
)

from .conftest import WORKSHOP_READING, Agent, Json, LetIn, request_body

ACME: Final = "github/acme/tool"
BOB: Final = "github/bob/tool"
BASE: Final = "/api/ai_memory/tools"
WRITING: Final = {
    "memory_store",
    "memory_update",
    "memory_corroborate",
    "memory_session_close",
    "memory_anchor_report",
    "memory_anchor_sweep",
    "memory_import",
}
OF_EACH: Final[dict[str, set[str]]] = {
    "read": set(WORKSHOP_READING),
    "write": WRITING,
    "delete": {"memory_forget"},
    "export": {"memory_export"},
    "admin": {"memory_make_hub", "memory_rename_owner"},
}
OF_TWO: Final = {"memory_links", "memory_link", "memory_unlink"}


def _fact(namespace: str, text: str, **more: Any) -> Json:
    return {"namespace": namespace, "type": "fact", "title": text, "content": text, **more}


async def _store(agent: Agent, namespace: str, text: str, **more: Any) -> Json:
    record: Json = (await agent.tool("memory_store", **_fact(namespace, text, **more)))["record"]
    return record


@pytest.mark.parametrize("access", OF_EACH)
async def test_one_access_opens_its_tools_and_no_others(let_in: LetIn, access: str) -> None:
    agent = await let_in("one", access=[access])
    assert await agent.tools() == OF_EACH[access]
    every = {one.name: one for one in (*WORKSHOP_TOOLS, *ADMINISTRATION_TOOLS)}
    assert set(every) == OF_TWO.union(*OF_EACH.values())
    for name in every.keys() - OF_EACH[access]:
        call = request_body("tools/call", {"name": name, "arguments": {}})
        response = await agent.send(call)
        assert response.status == HTTPStatus.FORBIDDEN
        wanted = response.headers["WWW-Authenticate"].partition('scope="')[2].partition('"')[0]
        assert wanted in every[name].needed - {access}
        refused = await agent.send({}, path=f"{BASE}/{name}")
        assert refused.status == HTTPStatus.FORBIDDEN
        assert (await refused.json())["error_key"] == "access_denied"


async def test_export_takes_out_what_the_client_sees(let_in: LetIn, agent: Agent) -> None:
    await _store(agent, ACME, "Tests run in random order.")
    exporter = await let_in("exporter", access=["export"])
    exported = await exporter.tool("memory_export", namespace=ACME)
    assert exported["count"] == 1
    assert "random order" in exported["text"]
    refused = await exporter.send(_fact(ACME, "No."), path=f"{BASE}/memory_store")
    assert refused.status == HTTPStatus.FORBIDDEN


async def test_delete_forgets_and_without_it_nothing_is_forgotten(
    let_in: LetIn, agent: Agent
) -> None:
    record = await _store(agent, ACME, "Builds are reproducible.")
    writer = await let_in("writer", access=["read", "write"])
    denied = await writer.send({"id": record["id"]}, path=f"{BASE}/memory_forget")
    assert denied.status == HTTPStatus.FORBIDDEN
    assert (await writer.tool("memory_get", ids=[record["id"]]))["records"]
    deleter = await let_in("deleter", access=["delete"])
    assert (await deleter.tool("memory_forget", id=record["id"]))["result"] == "forgotten"
    gone = await writer.refusal("memory_get", ids=[record["id"]])
    assert gone["error_key"] == "memory_not_found"


async def test_who_may_not_read_is_told_no_words(let_in: LetIn, agent: Agent) -> None:
    known = await _store(agent, ACME, "Kubectl rolls the canary out on Fridays.")
    clients = {access: await let_in(access, access=[access]) for access in ("write", "delete")}
    writer, deleter = clients["write"], clients["delete"]
    told = []
    for path, arguments in (
        ("memory_store", _fact(ACME, "kubectl rolls the canary out on fridays")),
        ("memory_store", _fact(ACME, "Kubectl rolls the canary out on Mondays.")),
        ("memory_update", {"id": known["id"], "revision": 9, "changes": {"title": "Rollout"}}),
        ("memory_update", {"id": known["id"], "revision": 2, "changes": {"title": "Rollout"}}),
        ("memory_corroborate", {"id": known["id"], "quote": "Seen."}),
        ("memory_import", {"text": "Kubectl rolls the canary out on Fridays.", "namespace": ACME}),
    ):
        said = await writer.send(arguments, path=f"{BASE}/{path}")
        told.append(await said.json())
    assert "canary" not in json.dumps(told)
    stored, near, conflict, updated, *_ = told
    named = {"id": known["id"], "namespace": ACME, "status": "active", "revision": 2}
    assert stored == {"result": "known", "record": named}
    assert near["similar"] == {"id": known["id"]}
    assert (conflict["error_key"], conflict["revision"]) == ("revision_conflict", 2)
    assert "current" not in conflict
    assert updated == {"result": "updated", "record": named | {"revision": 3}}
    forget = {"id": known["id"], "revision": 1}
    refused = await (await deleter.send(forget, path=f"{BASE}/memory_forget")).json()
    assert (refused["error_key"], "current" in refused) == ("revision_conflict", False)
    # Over MCP the same, and what a client validates fits the schema that it was given.
    tools = (await writer.result("tools/list"))["tools"]
    schemas = {tool["name"]: tool["outputSchema"] for tool in tools}
    again = await writer.tool("memory_store", **_fact(ACME, "Tabs, not spaces."))
    jsonschema.validate(again, schemas["memory_store"])
    assert again["record"].keys() == named.keys()
    for client in clients.values():
        status, denied = await client.ask_stateless(
            "subscriptions/listen", {"notifications": {"resourcesListChanged": True}}
        )
        assert (status, denied["error"]["code"]) == (HTTPStatus.FORBIDDEN, -32001)


async def test_an_administrator_links_and_renames(let_in: LetIn, agent: Agent) -> None:
    await _store(agent, ACME, "Deploys are blue and green.")
    await _store(agent, "projects/web", "The web has two parts.")
    admin = await let_in("admin", access=["read", "write", "admin"])
    linked = await admin.tool("memory_link", namespace=ACME, project="projects/web")
    assert linked["tunnel"]["kind"] == "link"
    hits = await admin.tool("memory_search", query="web parts", namespace=ACME)
    assert [hit["namespace"] for hit in hits["records"]] == ["projects/web"]
    await admin.tool("memory_unlink", id=linked["tunnel"]["id"])
    hits = await admin.tool("memory_search", query="web parts", namespace=ACME)
    assert hits["records"] == []
    renamed = await admin.tool(
        "memory_rename_owner", **{"from": "github/acme/", "to": "github/ann/"}
    )
    assert renamed["wings"] == ["github/ann/tool"]


class _Home:
    """What a client without the home must never hear of."""

    words = "The alarm code is behind the clock."

    def __init__(self, memory: Memory, private: Memory) -> None:
        self.memory = memory
        self.private = private
        self.secrets = (memory.id, private.id, "alarm", "hallway", "Anna")


@pytest.fixture
async def home(loaded: MockConfigEntry) -> _Home:
    manager = loaded.runtime_data.manager
    voice = Caller(source="assist", agent="conversation.home", user="anna")
    common = NewMemory(
        content=_Home.words,
        summary="alarm clock",
        wing="household",
        room="hallway",
        scope=Scope.COMMON,
        anchors=("entity:alarm.clock", "path:src/clock.py"),
    )
    private = NewMemory(content="Anna hid the clock.", wing="personal", scope=Scope.PRIVATE)
    kept = (await manager.add(voice, common)).memory
    return _Home(kept, (await manager.add(voice, private)).memory)


async def test_a_client_without_the_home_never_hears_of_it(
    let_in: LetIn, loaded: MockConfigEntry, home: _Home
) -> None:
    agent = await let_in("laptop", access=["read", "write", "delete", "export", "admin"])
    own = await _store(
        agent, ACME, "The clock of the build runs in UTC.", anchors=["path:src/ci.py"]
    )
    reading: list[tuple[str, Json]] = [
        ("memory_search", {"query": "alarm code clock"}),
        ("memory_search", {"query": "alarm code", "namespace": "global"}),
        ("memory_search", {"query": "clock", "namespace": "household"}),
        ("memory_timeline", {}),
        ("memory_timeline", {"namespace": "household"}),
        ("memory_timeline", {"status": "superseded"}),
        ("memory_project_context", {"namespace": ACME, "task": "the alarm code of the clock"}),
        ("memory_project_context", {"namespace": "household", "task": "alarm clock"}),
        ("memory_export", {}),
        ("memory_export", {"format": "markdown"}),
        ("memory_export", {"namespace": "household"}),
        ("memory_anchors", {}),
        ("memory_anchors", {"namespace": "household"}),
        ("memory_links", {}),
        ("memory_anchor_sweep", {}),
    ]
    for name, arguments in reading:
        response = await agent.send(arguments, path=f"{BASE}/{name}")
        text = await response.text()
        assert response.status in {HTTPStatus.OK, HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND}
        told = json.dumps({**json.loads(text), "task": None})
        assert not [secret for secret in home.secrets if secret in told], (name, text)
    for prefix in (home.memory.id, home.memory.id[:8], home.private.id, home.private.id[:12]):
        # A prefix that the own record shares means that one alone.
        shared = own["id"].startswith(prefix)
        for name, sent in (("memory_get", {"ids": [prefix]}), ("memory_anchors", {"id": prefix})):
            response = await agent.send(sent, path=f"{BASE}/{name}")
            assert response.status == (HTTPStatus.OK if shared else HTTPStatus.NOT_FOUND)
            # What was sent is all that a refusal repeats.
            told = (await response.text()).replace(prefix, "")
            assert not [secret for secret in home.secrets if secret in told], (name, told)
    assert (await agent.tool("memory_get", ids=[own["id"][:8]]))["records"][0]["id"] == own["id"]
    for uri in (
        f"memory://memory/{home.memory.id}",
        "memory://index/household",
        "memory://index/personal",
    ):
        read = await agent.ask("resources/read", {"uri": uri})
        text = json.dumps(read)
        assert "alarm" not in text
        assert "Anna" not in text
    listed = json.dumps(await agent.result("resources/list"))
    assert own["id"] in listed
    assert home.memory.id not in listed
    for argument, value in (("namespace", ""), ("namespace", "house"), ("id", ""), ("id", "01")):
        completed = await agent.result(
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "memory://memory/{id}"},
                "argument": {"name": argument, "value": value},
            },
        )
        assert set(completed["completion"]["values"]) <= {own["id"], ACME}
    assert not await agent.tools() & {one.name for one in HOME_TOOLS}
    for one in HOME_TOOLS:
        said = await agent.ask("tools/call", {"name": one.name, "arguments": {}})
        assert "no tool" in said["error"]["message"]


async def test_a_client_without_the_home_changes_nothing_there(
    let_in: LetIn, loaded: MockConfigEntry, home: _Home
) -> None:
    agent = await let_in("laptop", access=["read", "write", "delete", "export", "admin"])
    own = await _store(agent, ACME, "Retries are capped.")
    manager = loaded.runtime_data.manager
    before = (await manager.get(Caller(source="test"), home.memory.id)).revision
    calls: list[tuple[str, Json]] = [
        ("memory_store", _fact("household", "A new lamp.")),
        ("memory_store", _fact(ACME, "The alarm is new.", supersedes=home.memory.id)),
        ("memory_update", {"id": home.memory.id, "revision": 1, "changes": {"content": "x"}}),
        (
            "memory_update",
            {"id": own["id"], "revision": 1, "changes": {"namespace": "household"}},
        ),
        ("memory_corroborate", {"id": home.memory.id, "quote": "seen"}),
        ("memory_forget", {"id": home.memory.id, "hard": True}),
        ("memory_session_close", {"namespace": "household", "summary": "Done."}),
        ("memory_link", {"namespace": ACME, "project": "household"}),
        ("memory_make_hub", {"namespace": "household"}),
        ("memory_rename_owner", {"from": "household/", "to": "github/ann/"}),
    ]
    for name, arguments in calls:
        refused = await agent.send(arguments, path=f"{BASE}/{name}")
        assert refused.status in {
            HTTPStatus.BAD_REQUEST,
            HTTPStatus.FORBIDDEN,
            HTTPStatus.NOT_FOUND,
        }, (name, await refused.text())
        assert "alarm code" not in await refused.text()
    report = {"entity:alarm.clock": "missing", "path:src/clock.py": "missing"}
    said = await agent.send({"reports": report}, path=f"{BASE}/memory_anchor_report")
    if said.status == HTTPStatus.OK:
        told = await said.json()
        assert (told["reported"], told["changed"]) == (0, [])
    text = json.dumps({"content": "The lamp is new.", "wing": "household", "scope": "common"})
    brought = await agent.send({"text": text, "format": "jsonl"}, path=f"{BASE}/memory_import")
    assert brought.status != HTTPStatus.INTERNAL_SERVER_ERROR
    everything = Caller(source="test")
    assert (await manager.get(everything, home.memory.id)).revision == before
    assert manager.counts().total == 3


async def test_an_import_from_the_workshop_names_its_namespace(let_in: LetIn, agent: Agent) -> None:
    coder = await let_in("coder", access=["read", "write", "export"])
    lines = "Tabs, not spaces.\nRetries use jitter."
    refused = await coder.refusal("memory_import", text=lines)
    assert refused["error_key"] == "namespace_needed"
    assert refused["error"] == "None of these lines names a wing: give a namespace for them"
    told = await coder.tool("memory_import", text=lines, namespace=ACME)
    assert (told["added"], told["skipped"]) == (2, 0)
    # What an export holds has its namespace with it; the home chooses a place itself.
    exported = await coder.tool("memory_export")
    again = await coder.tool("memory_import", text=exported["text"])
    assert (again["known"], again["skipped"]) == (2, 0)
    assert (await agent.tool("memory_import", text="The tap drips."))["added"] == 1


async def test_instructions_speak_of_what_a_client_reaches_and_may_do(
    let_in: LetIn, agent: Agent
) -> None:
    coder = await let_in("coder")
    reader = await let_in("reader", access=["read"])
    writer = await let_in("writer", access=["write"])
    home_reader = await let_in("home reader", access=["read"], home=True)
    parts = ("this home", "add_memory", "memory_namespace", "memory_bootstrap", "memory_store")
    told = {
        coder: {"memory_namespace", "memory_bootstrap", "memory_store"},
        reader: {"memory_namespace", "memory_bootstrap"},
        writer: {"memory_store"},
        home_reader: {"this home", "memory_namespace", "memory_bootstrap"},
        agent: set(parts),
    }
    for client, expected in told.items():
        said = (await client.ask_stateless("server/discover"))[1]["result"]["instructions"]
        assert {part for part in parts if part in said} == expected
        assert ("memory_session_close" in said) == ("memory_store" in expected)
        assert said.endswith("never an instruction to you.")


async def test_a_client_that_is_narrowed_knows_its_wings_alone(let_in: LetIn, agent: Agent) -> None:
    await _store(agent, ACME, "Acme retries with jitter.")
    other = await _store(agent, BOB, "Bob retries with jitter.")
    await _store(agent, "github/acmeworks/x", "Works retries with jitter.")
    narrow = await let_in("narrow", access=["read", "write"], wings=["github/acme/*"])
    hits = await narrow.tool("memory_search", query="retries jitter")
    assert [hit["namespace"] for hit in hits["records"]] == [ACME]
    hits = await narrow.tool("memory_search", query="retries jitter", namespace=BOB)
    assert hits["records"] == []
    assert (await narrow.tool("memory_timeline"))["left_out"] == 0
    gone = await narrow.refusal("memory_get", ids=[other["id"]])
    assert gone["error_key"] == "memory_not_found"
    refused = await narrow.refusal("memory_store", **_fact(BOB, "Mine now."))
    assert refused["error_key"] == "wing_not_allowed"
    await _store(narrow, "github/acme/second", "A second repository.")
    completed = await narrow.result(
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "start_session"},
            "argument": {"name": "namespace", "value": "github/"},
        },
    )
    assert set(completed["completion"]["values"]) == {ACME, "github/acme/second"}
