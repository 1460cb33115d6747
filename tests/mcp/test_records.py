"""The tools of coding agents over HTTP: the flow of a session, its budgets and its refusals."""

from http import HTTPStatus
import json
from typing import Any, Final

from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Access, Caller, Filters, NewMemory, Reach, Scope
from custom_components.ai_memory.mcp.engine import JsonObject

from .conftest import Agent, Json, LetIn, request_body

REPOSITORY: Final = "github/acme/tool"
BASE: Final = "/api/ai_memory/tools"


async def _store(agent: Agent, title: str, **arguments: Any) -> Json:
    stored = await agent.tool(
        "memory_store",
        **{
            "namespace": REPOSITORY,
            "type": "decision",
            "title": title,
            "content": f"{title}, decided after a measurement.",
            **arguments,
        },
    )
    record: Json = stored["record"]
    return record


async def _bootstrap(agent: Agent, **arguments: Any) -> Json:
    call: Json = {"name": "memory_bootstrap", "arguments": {"namespace": REPOSITORY, **arguments}}
    result = await agent.result("tools/call", call)
    assert "structuredContent" not in result
    told: Json = json.loads(result["content"][0]["text"])
    return told


async def test_a_session_from_its_beginning_to_its_end(agent: Agent) -> None:
    remote = "https://github.com/Acme/Tool.git"
    assert (await agent.tool("memory_namespace", remote=remote)) == {"namespace": REPOSITORY}
    record = await _store(agent, "Retries are capped at five", anchors=["path:src/retry.py"])
    assert (record["type"], record["status"], record["revision"]) == ("decision", "active", 1)
    index = await _bootstrap(agent)
    (entry,) = index["records"]
    assert entry == {
        "id": record["id"][: len(entry["id"])],
        "type": "decision",
        "title": "Retries are capped at five",
    }
    found = await agent.tool("memory_search", query="how many retries", namespace=REPOSITORY)
    assert [hit["id"] for hit in found["records"]] == [entry["id"]]
    read = await agent.tool("memory_get", ids=[entry["id"]])
    assert (
        read["records"][0]["content"] == "Retries are capped at five, decided after a measurement."
    )
    assert read["records"][0]["anchors"] == ["path:src/retry.py"]
    packet = await agent.tool("memory_project_context", namespace=REPOSITORY, task="change retries")
    assert packet["records"][0]["reason"].startswith("matches the task")
    seen = await agent.tool(
        "memory_corroborate", id=entry["id"], quote="MAX_RETRIES = 5", stance="corroborates"
    )
    assert (seen["proof_count"], seen["revision"]) == (1, 2)
    changed = await agent.tool(
        "memory_update", id=record["id"], revision=2, changes={"title": "Retries end after five"}
    )
    assert (changed["result"], changed["record"]["revision"]) == ("updated", 3)
    closed = await agent.tool(
        "memory_session_close", namespace=REPOSITORY, summary="Retries were looked at."
    )
    assert closed == {"result": "closed", "summary_id": None, "notes": "not_kept"}
    gone = await agent.tool("memory_forget", id=entry["id"])
    assert gone == {"result": "forgotten", "id": record["id"], "kept_days": 30}
    assert (await _bootstrap(agent))["records"] == []


async def test_an_index_is_within_its_budget_and_says_what_it_leaves_out(agent: Agent) -> None:
    for number in range(60):
        await _store(agent, f'The "decision" number {number} has a title of some length')
    call: Json = {"name": "memory_bootstrap", "arguments": {"namespace": REPOSITORY}}
    response = await agent.send(
        request_body("tools/call", call), headers={"MCP-Protocol-Version": "2025-11-25"}
    )
    assert response.status == HTTPStatus.OK
    wire = await response.read()
    assert len(wire) <= 2_000
    told = json.loads(json.loads(wire)["result"]["content"][0]["text"])
    assert len(told["records"]) >= 10
    assert told["left_out"] == 60 - len(told["records"])
    assert told["estimated_tokens"] <= 500
    rest = await agent.send({"namespace": REPOSITORY}, path=f"{BASE}/memory_bootstrap")
    assert len(await rest.read()) <= 2_000


async def test_a_packet_counts_what_lies_beyond_what_it_looks_at(agent: Agent) -> None:
    for number in range(23):
        # One that matches the task best and is too old for the page of its kind, and others.
        word = "backoff" if number == 0 else "rule"
        await _store(agent, f"The {word} has number {number}", type="constraint")
    for number in range(12):
        await _store(agent, f"The backoff of attempt {number}", type="fact")
    packet = await agent.tool(
        "memory_project_context", namespace=REPOSITORY, task="backoff", budget_tokens=8_000
    )
    reasons = [one["reason"].split(" (")[0] for one in packet["records"]]
    matches = [one["title"] for one in packet["records"][:10]]
    assert reasons == ["matches the task"] * 10 + ["constraint of the namespace"] * 20
    assert sum("backoff" in title for title in matches) == 10
    # 35 are known: ten matches and the twenty newest constraints are told.
    assert packet["left_out"] == 35 - 30
    assert packet["truncated"] is True
    assert list(packet)[:3] == ["namespace", "task", "ranking"]
    assert packet["estimated_tokens"] * 4 >= len(json.dumps(packet, separators=(",", ":")))
    small = await agent.tool(
        "memory_project_context", namespace=REPOSITORY, task="backoff", budget_tokens=500
    )
    assert 0 < len(small["records"]) < 30
    assert small["left_out"] == 35 - len(small["records"])


async def test_ids_of_nothing_are_named_beside_the_records_of_the_others(agent: Agent) -> None:
    first = await _store(agent, "The queue is durable")
    second = await _store(agent, "The queue is bounded")
    gone = await _store(agent, "The queue is sorted")
    await agent.tool("memory_forget", id=gone["id"])
    read = await agent.tool(
        "memory_get", ids=[gone["id"], first["id"], "no id at all", "01KBM", second["id"]]
    )
    assert [one["id"] for one in read["records"]] == [first["id"], second["id"]]
    assert read["unknown"] == [gone["id"], "no id at all", "01KBM"]
    assert (read["left_out"], read["truncated"]) == (0, False)
    assert "unknown" not in await agent.tool("memory_get", ids=[first["id"]])
    for ids in ([gone["id"]], [gone["id"], "no id at all"]):
        refusal = await agent.refusal("memory_get", ids=ids)
        assert refusal["error_key"] == "memory_not_found"
        assert gone["id"] in refusal["error"]
    many = [first["id"], *(f"NO{number:022}" for number in range(40))]
    refusal = await agent.refusal("memory_get", ids=many, budget_tokens=100)
    assert refusal["error_key"] == "reply_too_small"


async def test_two_clients_cannot_both_change_one_revision(agent: Agent) -> None:
    record = await _store(agent, "The cache lives for an hour")
    first = {"id": record["id"], "revision": 1, "changes": {"content": "The cache lives a day."}}
    await agent.tool("memory_update", **first)
    refusal = await agent.refusal("memory_update", **first)
    assert refusal["error_key"] == "revision_conflict"
    assert refusal["revision"] == 2
    (read,) = (await agent.tool("memory_get", ids=[record["id"]]))["records"]
    assert refusal["current"] == read
    assert read["content"] == "The cache lives a day."
    response = await agent.send(first, path=f"{BASE}/memory_update")
    assert response.status == HTTPStatus.CONFLICT


async def test_a_replaced_record_leaves_the_index_and_can_still_be_read(agent: Agent) -> None:
    old = await _store(agent, "Python 3.12 is the oldest")
    new = await _store(agent, "Python 3.13 is the oldest", supersedes=old["id"][:20])
    assert [entry["title"] for entry in (await _bootstrap(agent))["records"]] == [new["title"]]
    (read,) = (await agent.tool("memory_get", ids=[old["id"]]))["records"]
    assert (read["status"], read["superseded_by"]) == ("superseded", new["id"])


async def test_a_candidate_waits_for_review(agent: Agent) -> None:
    record = await _store(agent, "Logs rotate weekly")
    await agent.tool("memory_update", id=record["id"], revision=1, changes={"status": "candidate"})
    assert (await _bootstrap(agent))["candidates_pending"] == 1
    listed = await agent.tool("memory_timeline", namespace=REPOSITORY, status="candidate")
    assert [(one["id"], one["revision"]) for one in listed["records"]] == [(record["id"], 2)]


async def test_witnesses_are_counted_wherever_the_reason_of_a_record_is_told(agent: Agent) -> None:
    witnessed = await _store(agent, "Retries end after five")
    asserted = await _store(agent, "Timeouts grow with every attempt")
    for stance in ("corroborates", "contradicts", "contradicts"):
        await agent.tool("memory_corroborate", id=witnessed["id"], quote="seen", stance=stance)
    evidence = {one["title"]: one.get("evidence") for one in (await _bootstrap(agent))["records"]}
    assert evidence == {witnessed["title"]: "1 for/2 against", asserted["title"]: None}
    found = await agent.tool("memory_search", query="retries timeouts", namespace=REPOSITORY)
    reasons = {one["title"]: one["why"] for one in found["records"]}
    assert reasons[witnessed["title"]].endswith("; evidence x0.25; 1 for/2 against")
    assert reasons[asserted["title"]].endswith("; asserted, unwitnessed")
    packet = await agent.tool("memory_project_context", namespace=REPOSITORY, task="timeouts")
    assert packet["records"][0]["reason"].endswith("; asserted, unwitnessed)")
    ids = [witnessed["id"], asserted["id"]]
    read = (await agent.tool("memory_get", ids=ids))["records"]
    assert [(one.get("proof_count"), one.get("refutation_count")) for one in read] == [
        (1, 2),
        (None, None),
    ]
    assert read[0]["effective_confidence"] == 0.25
    refusal = await agent.refusal(
        "memory_update", id=ids[0], revision=1, changes={"title": "Retries end"}
    )
    assert refusal["current"] == read[0]


async def test_what_is_gone_shows_wherever_a_record_is_told(agent: Agent) -> None:
    record = await _store(agent, "Retries live in one file", anchors=["path:src/retry.py"])
    await agent.tool("memory_anchor_report", reports={"path:src/retry.py": "missing"})
    told = [
        await _bootstrap(agent),
        await agent.tool("memory_search", query="retries", namespace=REPOSITORY),
        await agent.tool("memory_get", ids=[record["id"]]),
        await agent.tool("memory_timeline", namespace=REPOSITORY),
        await agent.tool("memory_project_context", namespace=REPOSITORY, task="retries"),
    ]
    gone = [[one.get("missing_anchors") for one in reply["records"]] for reply in told]
    assert gone == [[["path:src/retry.py"]]] * 5


async def test_anchors_are_asked_for_and_reported_by_the_beginning_of_an_id(agent: Agent) -> None:
    anchors = ["host:nas", "path:src/retry.py"]
    first = await _store(agent, "Retries live in one file", anchors=anchors)
    await _store(agent, "Backups go to the store", namespace="local/b", anchors=["host:nas"])
    # The ids of two that are stored within a second begin alike for longer than eight characters.
    told = await agent.tool("memory_search", query="retries", namespace=REPOSITORY)
    short = told["records"][0]["id"]
    assert len(short) < len(first["id"])
    listed = await agent.tool("memory_anchors", id=short)
    assert listed["anchors"] == [
        {
            "anchor": anchor,
            "state": "unchecked",
            "checked": None,
            "unavailable_since": None,
            "id": first["id"],
            "namespace": REPOSITORY,
        }
        for anchor in anchors
    ]
    reported = await agent.tool(
        "memory_anchor_report", id=short, reports={"host:nas": "missing", "host:other": "ok"}
    )
    assert reported == {"reported": 1, "changed": [first["id"]], "unknown": ["host:other"]}
    states = await agent.tool("memory_anchors", kind="host")
    assert {one["namespace"]: one["state"] for one in states["anchors"]} == {
        REPOSITORY: "missing",
        "local/b": "unchecked",
    }
    for tool, more in (("memory_anchors", None), ("memory_anchor_report", {"host:nas": "ok"})):
        sent: Json = {"id": first["id"][:7]} | ({"reports": more} if more else {})
        assert (await agent.refusal(tool, **sent))["error_key"] == "memory_not_found"


async def test_a_close_that_is_repeated_happens_once(agent: Agent) -> None:
    close = {"namespace": REPOSITORY, "summary": "Nothing new.", "op_id": "close-0001"}
    assert (await agent.tool("memory_session_close", **close))["replayed"] is False
    assert (await agent.tool("memory_session_close", **close))["replayed"] is True
    refusal = await agent.refusal("memory_session_close", **(close | {"summary": "Else."}))
    assert refusal["error_key"] == "receipt_mismatch"


async def test_notes_not_to_be_stored_are_refused_and_the_close_goes_on(agent: Agent) -> None:
    closed = await agent.tool(
        "memory_session_close",
        namespace=REPOSITORY,
        summary="Done.",
        notes="The rest is do-not-store material.",
    )
    assert closed["notes"] == "refused"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({}, "missing"),
        ({"owner": "me"}, "unknown_change"),
        ({"status": "superseded"}, "unknown_choice"),
        ({"confidence": 2}, "out_of_range"),
    ],
)
async def test_a_wrong_change_is_refused(agent: Agent, changes: Json, key: str) -> None:
    record = await _store(agent, "Tests run in random order")
    refusal = await agent.refusal("memory_update", id=record["id"], revision=1, changes=changes)
    assert refusal["error_key"] == key
    (read,) = (await agent.tool("memory_get", ids=[record["id"]]))["records"]
    assert read["revision"] == 1


async def test_a_secret_is_refused_by_name_of_its_pattern(agent: Agent) -> None:
    secret = "ghp_" + "a1B2" * 9
    refusal = await agent.refusal(
        "memory_store",
        namespace=REPOSITORY,
        type="procedure",
        title="Deploy",
        content=f"Push with {secret}",
    )
    assert refusal["error_key"] == "screened"
    assert secret not in json.dumps(refusal)
    fields = {"namespace": REPOSITORY, "type": "procedure", "title": "Deploy", "content": "Push"}
    for name, value, told in (
        ("title", secret, "title holds what looks like a secret"),
        ("title", "Push, do-not-store", "title is marked do-not-store"),
        ("title", "x" * 501, "title has 501 characters"),
        ("namespace", f"local/{secret}", "namespace holds what looks like a secret"),
    ):
        refusal = await agent.refusal("memory_store", **fields | {name: value})
        assert refusal["error"].startswith(told)
    refusal = await agent.refusal(
        "memory_session_close", namespace=REPOSITORY, summary=f"Pushed with {secret}"
    )
    assert refusal["error"].startswith("summary holds what looks like a secret")
    assert (await _bootstrap(agent))["records"] == []


async def test_a_namespace_is_searched_with_its_topics_and_what_is_global(agent: Agent) -> None:
    await _store(agent, "Retry with jitter here")
    await _store(agent, "Retry with jitter in general", namespace="global")
    await _store(agent, "Retry with jitter as a topic", namespace="topics/network")
    await _store(agent, "Retry with jitter elsewhere", namespace="github/acme/other")
    near = await agent.tool("memory_search", query="retry jitter", namespace=REPOSITORY)
    assert {hit["namespace"] for hit in near["records"]} == {REPOSITORY, "global"}
    wider = await agent.tool(
        "memory_search", query="retry jitter", namespace=REPOSITORY, topics=[" Topics/Network"]
    )
    assert {hit["namespace"] for hit in wider["records"]} == {
        REPOSITORY,
        "global",
        "topics/network",
    }


@pytest.mark.parametrize(
    ("topic", "key"),
    [
        ("machine learning", "invalid_namespace"),
        ("a/b", "invalid_namespace"),
        ("größe", "invalid_namespace"),
        ("..", "invalid_namespace"),
        ("x" * 41, "too_long"),
        ("topics/", "too_long"),
    ],
)
async def test_what_can_be_no_topic_is_refused(agent: Agent, topic: str, key: str) -> None:
    for tool, more in (
        ("memory_search", {"query": "retries"}),
        ("memory_bootstrap", {"namespace": REPOSITORY}),
    ):
        refusal = await agent.refusal(tool, topics=["network", topic], **more)
        assert refusal["error_key"] == key


async def test_what_a_hook_already_showed_is_left_out(agent: Agent) -> None:
    first = await _store(agent, "The queue is durable")
    second = await _store(agent, "The queue is bounded")
    found = await agent.tool("memory_search", query="queue", exclude=[first["id"]], recall=True)
    assert [second["id"].startswith(hit["id"]) for hit in found["records"]] == [True]


async def test_the_home_stays_out_of_the_workshop(
    hass: HomeAssistant, agent: Agent, loaded: MockConfigEntry
) -> None:
    manager = loaded.runtime_data.manager
    await manager.add(
        Caller(source="test", agent="voice"),
        NewMemory(content="The retry button is in the hall.", scope=Scope.COMMON),
    )
    await _store(agent, "The retry button is blue")
    coder = Caller(
        source="test",
        agent="client:x",
        reach=Reach(home=False, workshop=True),
        access=frozenset({Access.READ}),
    )
    found = await manager.search(coder, Filters(), "retry button", 10)
    assert {hit.memory.wing for hit in found.hits} == {REPOSITORY}


@pytest.mark.parametrize("given", [{}, {"namespace": "  "}])
async def test_a_prompt_without_a_namespace_has_it_found_first(
    agent: Agent, given: JsonObject
) -> None:
    listed = (await agent.result("prompts/list"))["prompts"]
    assert not [one for prompt in listed for one in prompt["arguments"] if one["required"]]
    for name, then in (
        ("start_session", "Call memory_bootstrap with it.\n"),
        ("close_session", "Go through what was decided"),
    ):
        prompt = await agent.result("prompts/get", {"name": name, "arguments": {**given}})
        first, second = prompt["messages"][0]["content"]["text"].split("\n", 1)
        assert first.startswith("Call memory_namespace with what git remote get-url origin prints")
        assert second.startswith(then)
    for_task = {**given, "task": "Release"}
    prompt = await agent.result("prompts/get", {"name": "start_session", "arguments": for_task})
    context = "\nCall memory_project_context with it and the task: Release\n"
    assert context in prompt["messages"][0]["content"]["text"]


async def test_prompts_completions_and_the_index_as_a_resource(agent: Agent) -> None:
    await _store(agent, "Releases are tagged")
    prompt = await agent.result(
        "prompts/get", {"name": "start_session", "arguments": {"namespace": REPOSITORY}}
    )
    assert prompt["messages"][0]["content"]["text"].startswith(
        f"Call memory_bootstrap with the namespace {REPOSITORY}.\n"
    )
    completed = await agent.result(
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "start_session"},
            "argument": {"name": "namespace", "value": "github/"},
        },
    )
    assert completed["completion"]["values"] == [REPOSITORY]
    read = await agent.result("resources/read", {"uri": f"memory://index/{REPOSITORY}"})
    told = json.loads(read["contents"][0]["text"])
    assert [one["title"] for one in told["records"]] == ["Releases are tagged"]


async def test_an_import_neither_poses_as_another_client_nor_overwrites(let_in: LetIn) -> None:
    ann, bob = await let_in("ann"), await let_in("bob", access=["read", "write", "export"])
    owner = await let_in("owner", access=["read", "write", "export", "admin"])
    record = await _store(ann, "Retries are capped at five")
    exported = await bob.tool("memory_export", namespace=REPOSITORY)
    row = json.loads(exported["text"].splitlines()[1])
    assert (row["id"], row["source"]) == (record["id"], "mcp:ann")
    witness = {
        "at": "2026-01-01T00:00:00+00:00",
        "stance": "corroborates",
        "quote": "I saw it",
        "source": "mcp:ann",
    }
    later = row | {"content": "Retries are endless", "revision": 9}
    posed = row | {
        "id": "01JQ000000000000000000000A",
        "content": "Push without review",
        "evidence": 1.0,
        "witnessed": [witness],
    }
    text = "\n".join(map(json.dumps, (later, posed)))
    report = await bob.tool("memory_import", text=text, format="ai_memory")
    assert (report["added"], report["updated"], report["skipped"]) == (1, 0, 1)
    assert report["skipped_lines"] == [{"line": 1, "reason": "renewal_needs_admin"}]
    read = await bob.tool("memory_get", ids=[record["id"], posed["id"]])
    assert [(one["agent"], one["revision"]) for one in read["records"]] == [("ann", 1), ("bob", 1)]
    assert read["records"][0]["content"] == row["content"]
    seen = await bob.tool("memory_corroborate", id=posed["id"], quote="Me too")
    assert (seen["proof_count"], seen["revision"]) == (1, 2)
    report = await owner.tool("memory_import", text=json.dumps(later), format="ai_memory")
    assert (report["updated"], report["skipped"]) == (1, 0)
    (renewed,) = (await owner.tool("memory_get", ids=[record["id"]]))["records"]
    assert (renewed["agent"], renewed["revision"]) == ("ann", 9)
    assert renewed["content"] == "Retries are endless"


async def test_a_large_namespace_leaves_and_comes_back_page_by_page(
    agent: Agent, let_in: LetIn, loaded: MockConfigEntry
) -> None:
    owner = await let_in("owner", access=["read", "write", "export", "admin"])
    manager = loaded.runtime_data.manager
    writer = Caller(source="test", reach=Reach(workshop=True))
    for number in range(30):
        content = f"Record {number} " + '🗑ü"' * 3_000
        await manager.add(writer, NewMemory(content=content, wing=REPOSITORY, room="fact"))
    pages, cursor = [], None
    while True:
        arguments = {"namespace": REPOSITORY} | ({"cursor": cursor} if cursor else {})
        page = await owner.tool("memory_export", **arguments)
        pages.append(page)
        if (cursor := page["next_cursor"]) is None:
            break
    assert (len(pages) > 2, sum(page["count"] for page in pages)) == (True, 30)
    await manager.delete(writer, None, Filters(wing=REPOSITORY))
    for page in reversed(pages):
        said = await owner.send({"text": page["text"]}, path=f"{BASE}/memory_import")
        assert said.status == HTTPStatus.OK, await said.text()
        report = await said.json()
        assert (report["added"], report["skipped"]) == (page["count"], 0)
    assert (await manager.latest(writer, Filters(wing=REPOSITORY), 1)).total == 30
