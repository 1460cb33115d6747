"""Two clients at once: one wins at one revision, and an operation belongs to who began it."""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Caller, Reach

from .conftest import Agent, Json, LetIn

PLACE: Final = "github/acme/tool"
BASE: Final = "/api/ai_memory/tools"
ROUNDS: Final = 20


async def _store(agent: Agent, text: str) -> Json:
    fact = {"namespace": PLACE, "type": "fact", "title": text, "content": text}
    record: Json = (await agent.tool("memory_store", **fact))["record"]
    return record


async def _update(agent: Agent, record: Json, text: str) -> tuple[int, Json]:
    change = {"id": record["id"], "revision": record["revision"], "changes": {"content": text}}
    response = await agent.send(change, path=f"{BASE}/memory_update")
    return response.status, await response.json()


async def test_of_two_updates_at_once_exactly_one_wins(
    let_in: LetIn, loaded: MockConfigEntry
) -> None:
    one, two = await let_in("one"), await let_in("two")
    record = await _store(one, "The cache lives for an hour.")
    for number in range(ROUNDS):
        texts = (f"The cache lives {number} days.", f"The cache lives {number} weeks.")
        outcomes = await asyncio.gather(
            _update(one, record, texts[0]), _update(two, record, texts[1])
        )
        assert sorted(status for status, _ in outcomes) == [HTTPStatus.OK, HTTPStatus.CONFLICT]
        (won,) = (said for status, said in outcomes if status == HTTPStatus.OK)
        (lost,) = (said for status, said in outcomes if status == HTTPStatus.CONFLICT)
        assert won["record"]["revision"] == record["revision"] + 1
        assert lost["revision"] == won["record"]["revision"]
        assert lost["current"]["content"] == won["record"]["content"]
        record = won["record"]
    (read,) = (await one.tool("memory_get", ids=[record["id"]]))["records"]
    assert (read["revision"], read["content"]) == (ROUNDS + 1, record["content"])
    caller = Caller(source="test", reach=Reach(workshop=True))
    history = await loaded.runtime_data.manager.lifecycle.history(caller, record["id"], 100)
    assert len(history) == ROUNDS + 1


async def test_many_that_store_the_same_store_it_once(let_in: LetIn) -> None:
    one, two = await let_in("one"), await let_in("two")
    stored = await asyncio.gather(*(_store(agent, "Lint first.") for agent in (one, two) * 8))
    assert len({record["id"] for record in stored}) == 1
    assert len((await one.tool("memory_timeline", namespace=PLACE))["records"]) == 1


async def _close(agent: Agent, **arguments: Any) -> tuple[int, Json]:
    close = {"namespace": PLACE, "summary": "Done.", "op_id": "close-0001", **arguments}
    response = await agent.send(close, path=f"{BASE}/memory_session_close")
    return response.status, await response.json()


async def test_an_operation_is_replayed_to_its_client_alone(let_in: LetIn) -> None:
    one, two = await let_in("one"), await let_in("two")
    told = await asyncio.gather(*(_close(one) for _ in range(6)))
    assert {status for status, _ in told} == {HTTPStatus.OK}
    assert sorted(said["replayed"] for _, said in told) == [False] + [True] * 5
    status, refused = await _close(two)
    assert (status, refused["error_key"]) == (HTTPStatus.CONFLICT, "receipt_mismatch")
    status, refused = await _close(one, summary="Something else.")
    assert (status, refused["error_key"]) == (HTTPStatus.CONFLICT, "receipt_mismatch")
    status, said = await _close(two, op_id="close-0002")
    assert (status, said["replayed"]) == (HTTPStatus.OK, False)
    status, refused = await _close(two, op_id="short")
    assert status == HTTPStatus.BAD_REQUEST
