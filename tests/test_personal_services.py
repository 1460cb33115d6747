"""Asking about oneself and being forgotten: the actions, and the tool of a voice agent."""

from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.const import DOMAIN
from tests.assist.agent import call, contents, context


@pytest.fixture
async def persons(hass: HomeAssistant, loaded: MockConfigEntry) -> dict[str, str]:
    """Return the users of Anna, who administrates, and of Ben; each told two agents something."""
    anna = await hass.auth.async_create_user("Anna", group_ids=["system-admin"])
    ben = await hass.auth.async_create_user("Ben", group_ids=["system-users"])
    users = {"Anna": anna.id, "Ben": ben.id}
    config = [{"id": name.lower(), "name": name, "user_id": users[name]} for name in users]
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    assert await async_setup_component(hass, "person", {"person": config})
    for platform in ("ollama", "anthropic"):
        for name, user in (*users.items(), ("Nobody", None)):
            instance = await llm.async_get_api(hass, "ai_memory", context(platform, user=user))
            content = f"{name} with {platform}"
            await call(instance, "add_memory", content=content, scope="private")
    return users


async def _run(hass: HomeAssistant, action: str, user: str | None, **data: Any) -> Any:
    return await hass.services.async_call(
        DOMAIN, action, data, blocking=True, return_response=True, context=Context(user_id=user)
    )


async def test_a_person_is_told_what_is_kept_with_every_agent_or_with_one(
    hass: HomeAssistant, persons: dict[str, str]
) -> None:
    told = await _run(hass, "about_me", persons["Ben"])
    assert {one["content"] for one in told["memories"]} == {
        "Ben with ollama",
        "Ben with anthropic",
    }
    assert (told["count"], told["total"]) == (2, 2)
    told = await _run(hass, "about_me", persons["Ben"], agent_id="ollama", limit=1)
    assert [one["content"] for one in told["memories"]] == ["Ben with ollama"]
    assert told["others"] == {"agent": 1, "common": 0}


async def test_nobody_known_is_refused(hass: HomeAssistant, persons: dict[str, str]) -> None:
    for action in ("about_me", "forget_me"):
        with pytest.raises(ServiceValidationError) as refused:
            await _run(hass, action, None)
        assert refused.value.translation_key == "person_unknown"


async def test_a_person_without_an_account_is_named(
    hass: HomeAssistant, persons: dict[str, str]
) -> None:
    hass.states.async_set("person.guest", "home", {"friendly_name": "Guest"})
    for person in ("person.gone", "person.guest"):
        with pytest.raises(ServiceValidationError) as refused:
            await _run(hass, "forget_me", persons["Anna"], person=person)
        assert refused.value.translation_key == "person_without_account"
        assert refused.value.translation_placeholders == {"person": person}


async def test_a_person_is_forgotten_after_confirming(
    hass: HomeAssistant, persons: dict[str, str]
) -> None:
    asked = await _run(hass, "forget_me", persons["Ben"])
    assert (asked["result"], asked["count"]) == ("confirmation_needed", 2)
    assert (await _run(hass, "about_me", persons["Ben"]))["total"] == 2
    # YAML and some models make a number of it.
    done = await _run(hass, "forget_me", persons["Ben"], confirm=int(asked["confirm"]))
    assert (done["result"], done["deleted"], len(done["memory_ids"])) == ("deleted", 2, 2)
    assert (await _run(hass, "about_me", persons["Ben"]))["total"] == 0
    assert (await _run(hass, "about_me", persons["Anna"]))["total"] == 2
    assert await _run(hass, "forget_me", persons["Ben"]) == {
        "result": "nothing_to_forget",
        "count": 0,
    }


async def test_an_administrator_may_have_somebody_forgotten_without_reading(
    hass: HomeAssistant, persons: dict[str, str]
) -> None:
    asked = await _run(hass, "forget_me", persons["Anna"], person="person.ben")
    assert asked["count"] == 2
    assert "Ben" not in str(asked)
    confirm = {"person": "person.ben", "confirm": asked["confirm"]}
    assert (await _run(hass, "forget_me", persons["Anna"], **confirm))["deleted"] == 2
    assert (await _run(hass, "about_me", persons["Anna"]))["total"] == 2
    for user in (persons["Ben"], None):
        with pytest.raises(ServiceValidationError) as refused:
            await _run(hass, "forget_me", user, person="person.anna")
        assert refused.value.translation_key == "administrators_only"
    own = await _run(hass, "forget_me", persons["Ben"], person="person.ben")
    assert own["result"] == "nothing_to_forget"


async def test_an_agent_asks_before_it_forgets(
    hass: HomeAssistant, persons: dict[str, str]
) -> None:
    agent = await llm.async_get_api(hass, "ai_memory", context(user=persons["Ben"]))
    asked, error = await call(agent, "forget_me")
    assert (error, asked["result"], asked["count"]) == (False, "confirmation_needed", 1)
    assert "Only after a yes" in asked["next_step"]
    refused, error = await call(agent, "forget_me", confirm="yes")
    assert (error, refused["error_key"]) == (True, "confirmation_outdated")
    assert await contents(agent) == {"Ben with ollama", "Nobody with ollama"}
    done, error = await call(agent, "forget_me", confirm=f" {asked['confirm']} ")
    assert (error, done["deleted"]) == (False, 1)
    assert await contents(agent) == {"Nobody with ollama"}
    assert (await _run(hass, "about_me", persons["Ben"]))["total"] == 1
    voice = await llm.async_get_api(hass, "ai_memory", context())
    unknown, error = await call(voice, "forget_me")
    assert (error, unknown["error_key"]) == (True, "person_unknown")
