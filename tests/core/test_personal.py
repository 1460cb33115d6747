"""What a person may ask about itself, and forgetting it only when that was confirmed."""

from dataclasses import replace
import sqlite3

import pytest

from custom_components.ai_memory.core import (
    Caller,
    Filters,
    InvalidInputError,
    Layer,
    MemoryChanges,
    MemoryManager,
    NewMemory,
    Profile,
    Reach,
    Scope,
)
from custom_components.ai_memory.operations import CATALOGUE, run
from tests.conftest import Opener, SteppingClock

PROFILE = Profile("", 400)

BEN = Caller(source="assist", agent="conversation.home", provider="ollama", user="ben")
VOICE = replace(BEN, user=None)
ACCOUNT = Caller(source="service", user="anna")


async def _add(
    memory: MemoryManager, caller: Caller, content: str, scope: Scope = Scope.PRIVATE
) -> str:
    new = NewMemory(content=content, scope=scope, layer=Layer.CRITICAL)
    return (await memory.add(caller, new)).memory.id


async def _fill(memory: MemoryManager, anna: Caller) -> dict[str, str]:
    """Store one of everything; returns the ids by text."""
    elsewhere = replace(anna, agent="conversation.other", provider="openai")
    before = replace(anna, agent="ollama")
    return {
        "Anna's": await _add(memory, anna, "Anna's"),
        "Anna's, from before": await _add(memory, before, "Anna's, from before"),
        "Anna's, elsewhere": await _add(memory, elsewhere, "Anna's, elsewhere"),
        "Ben's": await _add(memory, BEN, "Ben's"),
        "The agent's": await _add(memory, VOICE, "The agent's"),
        "Everyone's": await _add(memory, anna, "Everyone's", Scope.COMMON),
    }


async def _left(memory: MemoryManager, anna: Caller) -> set[str]:
    seen: set[str] = set()
    for caller in (anna, replace(anna, agent="conversation.other", provider="openai"), BEN, VOICE):
        seen |= {one.content for one in (await memory.latest(caller, Filters(), 100)).memories}
    return seen


async def test_a_person_is_told_its_own_and_how_much_else_there_is(
    memory: MemoryManager, anna: Caller
) -> None:
    await _fill(memory, anna)
    told = await memory.personal.about(anna, 10)
    assert {one.content for one in told.memories} == {"Anna's", "Anna's, from before"}
    assert (told.total, told.agents, told.common) == (2, 1, 1)
    one = await memory.personal.about(anna, 1)
    assert (len(one.memories), one.total, one.agents) == (1, 2, 1)
    account = await memory.personal.about(ACCOUNT, 10)
    assert {one.content for one in account.memories} == {
        "Anna's",
        "Anna's, from before",
        "Anna's, elsewhere",
    }
    assert (account.total, account.agents, account.common) == (3, 0, 1)
    beyond = replace(ACCOUNT, reach=Reach(wings=("household",)))
    assert (await memory.personal.about(beyond, 10)).total == 0


async def test_nobody_can_ask_about_nobody(memory: MemoryManager) -> None:
    for caller in (VOICE, Caller(source="service"), replace(VOICE, user="")):
        with pytest.raises(InvalidInputError) as about:
            await memory.personal.about(caller, 10)
        with pytest.raises(InvalidInputError) as forget:
            await memory.personal.forget(caller)
        assert (about.value.key, forget.value.key) == ("person_unknown", "person_unknown")


async def test_forgetting_asks_first_and_takes_the_persons_own_with_this_agent(
    memory: MemoryManager, anna: Caller
) -> None:
    everything = set(await _fill(memory, anna))
    asked = await memory.personal.forget(anna)
    assert (asked.count, asked.forgotten) == (2, None)
    assert await _left(memory, anna) == everything
    assert '"Anna\'s"' in memory.standing_text(anna, PROFILE)
    done = await memory.personal.forget(anna, confirmation=asked.confirmation)
    assert (done.count, len(done.forgotten or ())) == (2, 2)
    assert await _left(memory, anna) == everything - {"Anna's", "Anna's, from before"}
    assert '"Anna\'s"' not in memory.standing_text(anna, PROFILE)
    assert memory.counts().total == 4
    nothing = await memory.personal.forget(anna)
    assert nothing.count == 0


async def test_an_account_forgets_with_every_agent(memory: MemoryManager, anna: Caller) -> None:
    everything = set(await _fill(memory, anna))
    asked = await memory.personal.forget(ACCOUNT)
    assert asked.count == 3
    await memory.personal.forget(ACCOUNT, confirmation=asked.confirmation)
    left = await _left(memory, anna)
    assert everything - left == {"Anna's", "Anna's, from before", "Anna's, elsewhere"}


async def test_a_confirmation_is_of_one_person_one_agent_and_what_was_there(
    memory: MemoryManager, anna: Caller, clock: SteppingClock
) -> None:
    ids = await _fill(memory, anna)
    asked = (await memory.personal.forget(anna)).confirmation
    assert asked is not None
    assert len(asked) == 6
    assert asked.isdigit()
    assert asked[0] != "0"
    wrong = "100000" if asked != "100000" else "100001"
    for caller, confirmation in ((anna, wrong), (BEN, asked), (ACCOUNT, asked), (anna, "yes")):
        with pytest.raises(InvalidInputError) as refused:
            await memory.personal.forget(caller, confirmation=confirmation)
        assert refused.value.key == "confirmation_outdated"
    clock.advance(minutes=9)
    assert (await memory.personal.forget(anna, confirmation=asked)).forgotten is not None
    # The same again, but too late; and after something changed.
    await _add(memory, anna, "Anna's, new")
    asked = (await memory.personal.forget(anna)).confirmation
    clock.advance(minutes=20)
    with pytest.raises(InvalidInputError):
        await memory.personal.forget(anna, confirmation=asked)
    asked = (await memory.personal.forget(anna)).confirmation
    await _add(memory, anna, "Anna's, newer")
    with pytest.raises(InvalidInputError):
        await memory.personal.forget(anna, confirmation=asked)
    assert ids["Ben's"] in {one.id for one in (await memory.latest(BEN, Filters(), 9)).memories}


async def test_what_was_replaced_or_said_before_is_forgotten_too(
    open_memory: Opener, anna: Caller
) -> None:
    memory = await open_memory()
    ids = await _fill(memory, anna)
    path = memory._database.path
    await memory.close()
    with sqlite3.connect(path) as file:
        file.execute(
            "UPDATE memories SET status = 'superseded' WHERE id = ?", (ids["Anna's, from before"],)
        )
        for text, agent, user in (
            ("Anna said", "conversation.home", "anna"),
            ("Ben said", "conversation.home", "ben"),
            ("Anna said elsewhere", "conversation.other", "anna"),
        ):
            file.execute(
                "INSERT INTO earlier_texts (sequence, revision, content, summary, scope,"
                " owner_agent, owner_user, written_ms, replaced_ms)"
                " SELECT sequence, 1, ?, '', 'private', ?, ?, 0, 0 FROM memories WHERE id = ?",
                (text, agent, user, ids["Everyone's"]),
            )
    file.close()
    memory = await open_memory()
    assert (await memory.personal.about(anna, 10)).total == 1
    asked = await memory.personal.forget(anna)
    assert asked.count == 3
    await memory.personal.forget(anna, confirmation=asked.confirmation)
    await memory.close()
    with sqlite3.connect(path) as file:
        said = {text for (text,) in file.execute("SELECT content FROM earlier_texts")}
        kept = {text for (text,) in file.execute("SELECT content FROM memories")}
    file.close()
    assert said == {"Ben said", "Anna said elsewhere"}
    assert not {"Anna's", "Anna's, from before"} & kept


async def test_what_was_the_persons_own_is_forgotten_where_nothing_else_is_left(
    memory: MemoryManager, anna: Caller
) -> None:
    one = await _add(memory, anna, "Anna has an illness and eats no nuts")
    told = MemoryChanges(content="Anna eats no nuts", scope=Scope.COMMON)
    await memory.update(anna, one, told)
    asked = await run(memory, CATALOGUE["forget_me"], anna, {})
    assert (asked["result"], asked["count"]) == ("confirmation_needed", 1)
    assert len(await memory.lifecycle.history(anna, one, 9)) == 2
    done = await run(memory, CATALOGUE["forget_me"], anna, {"confirm": asked["confirm"]})
    assert done == {"result": "deleted", "deleted": 1, "memory_ids": []}
    assert [one.content for one in await memory.lifecycle.history(anna, one, 9)] == [
        "Anna eats no nuts"
    ]
    again = await run(memory, CATALOGUE["forget_me"], anna, {})
    assert again == {"result": "nothing_to_forget", "count": 0}
