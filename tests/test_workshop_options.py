"""The options for coding agents: what the form takes, refuses and shows again, and what obeys."""

from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.ai_memory.core import Caller, InvalidInputError, MemoryManager, Reach
from custom_components.ai_memory.core.workshop_rules import WorkshopRules
from custom_components.ai_memory.operations import CATALOGUE, run
from custom_components.ai_memory.workshop_options import workshop_rules

CODER: Final = Caller(source="mcp:a", agent="client:a", reach=Reach(home=False, workshop=True))
USUAL: Final = {
    "context_budget_tokens": 4000,
    "hard_context_limit_tokens": 8000,
    "summary_candidates": False,
}


async def _sent(hass: HomeAssistant, entry: MockConfigEntry, **workshop: Any) -> dict[str, Any]:
    form = await hass.config_entries.options.async_init(entry.entry_id)
    sent = {"workshop": workshop}
    result = await hass.config_entries.options.async_configure(form["flow_id"], sent)
    await hass.async_block_till_done()
    return dict(result)


def _manager(entry: MockConfigEntry) -> MemoryManager:
    manager: MemoryManager = entry.runtime_data.manager
    return manager


async def _namespace(manager: MemoryManager, remote: str) -> Any:
    reply = await run(manager, CATALOGUE["memory_namespace"], CODER, {"remote": remote})
    return reply["namespace"]


async def test_what_is_chosen_holds_at_once(hass: HomeAssistant, loaded: MockConfigEntry) -> None:
    saved = await _sent(
        hass,
        loaded,
        github_owner=" Acme ",
        forge_hosts=["Git.Example.org", "https://example.org/forge", "git.example.org"],
        context_budget_tokens=600,
        hard_context_limit_tokens=700,
        summary_candidates=True,
    )
    assert saved["type"] is FlowResultType.CREATE_ENTRY
    assert loaded.options["workshop"] == {
        "github_owner": "acme",
        "forge_hosts": ["git.example.org", "https://example.org/forge"],
        "context_budget_tokens": 600,
        "hard_context_limit_tokens": 700,
        "summary_candidates": True,
    }
    manager = _manager(loaded)
    assert await _namespace(manager, "https://github.com/Acme/tool") == "github/acme/tool"
    assert await _namespace(manager, "git@git.example.org:me/tool.git") == "gitea/me/tool"
    assert await _namespace(manager, "https://example.org/forge/me/tool") == "gitea/me/tool"
    with pytest.raises(InvalidInputError, match="owner_refused"):
        await _namespace(manager, "https://github.com/other/tool")
    close = {"namespace": "github/acme/tool", "summary": "The parser was split in two."}
    closed = await run(manager, CATALOGUE["memory_session_close"], CODER, close)
    assert closed["summary_id"] is not None
    task = {"namespace": "github/acme/tool", "task": "split the parser", "budget_tokens": 30_000}
    packet = await run(manager, CATALOGUE["memory_project_context"], CODER, task)
    assert packet["estimated_tokens"] <= 700  # type: ignore[operator]
    # The form shows it again.
    form = await hass.config_entries.options.async_init(loaded.entry_id)
    sections = {str(key): value for key, value in form["data_schema"].schema.items()}  # type: ignore[union-attr]
    inner = {str(key): key for key in sections["workshop"].schema.schema}
    assert inner["github_owner"].description == {"suggested_value": "acme"}
    assert sections["workshop"].options == {"collapsed": True}


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"github_owner": "a/b"}, "forge_owner_invalid"),
        ({"forge_owner": "größe"}, "forge_owner_invalid"),
        ({"forge_hosts": ["user:word@git.example.org"]}, "forge_hosts_invalid"),
        ({"forge_hosts": ["git.example.org:port"]}, "forge_hosts_invalid"),
        ({"forge_hosts": ["git example"]}, "forge_hosts_invalid"),
        ({"forge_hosts": ["a/?token=1"]}, "forge_hosts_invalid"),
        ({"forge_hosts": [f"h{number}.example" for number in range(21)]}, "forge_hosts_invalid"),
        ({"context_budget_tokens": 499}, "context_tokens_out_of_range"),
        ({"context_budget_tokens": 8001}, "context_tokens_out_of_range"),
        ({"hard_context_limit_tokens": 32_001}, "context_tokens_out_of_range"),
    ],
)
async def test_what_makes_no_sense_is_explained(
    hass: HomeAssistant, loaded: MockConfigEntry, wrong: dict[str, Any], error: str
) -> None:
    refused = await _sent(hass, loaded, **wrong)
    assert refused["errors"] == {"base": error}
    assert "workshop" not in loaded.options


async def test_who_leaves_it_alone_gets_the_usual(
    hass: HomeAssistant, loaded: MockConfigEntry
) -> None:
    await _sent(hass, loaded)
    assert loaded.options["workshop"] == USUAL
    await _sent(hass, loaded, github_owner=" ", forge_hosts=[" "])
    assert loaded.options["workshop"] == USUAL
    assert _manager(loaded).workshop == WorkshopRules()


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        "on",
        {"context_budget_tokens": "many"},
        {"context_budget_tokens": float("nan")},
        {"forge_hosts": [5]},
        {"forge_hosts": ["git.example.org:port"]},
        {"unheard": 1},
    ],
)
def test_a_damaged_setting_is_the_usual_one(damaged: object) -> None:
    assert workshop_rules({"workshop": damaged}) == WorkshopRules()
