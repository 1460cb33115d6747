"""The guide for coding agents holds exactly what the flow shows, and every tool that there is."""

from collections.abc import Iterable
from pathlib import Path
import re
from typing import Final

import pytest

from custom_components.ai_memory.core import Report, Stance
from custom_components.ai_memory.core.models import MEMORY_TYPES
from custom_components.ai_memory.core.transfer import ExportFormat, TransferFormat
from custom_components.ai_memory.mcp.connecting import Instruction, instructions
from custom_components.ai_memory.mcp.tools import ADMINISTRATION_TOOLS, HOME_TOOLS, WORKSHOP_TOOLS
from custom_components.ai_memory.operations import Publication
from custom_components.ai_memory.operations.workshop.writing import _CHANGES

GUIDE: Final = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
SHOWN: Final = instructions("http://homeassistant.local:8123/api/ai_memory/mcp", "<token>")
TOOLS: Final = (*WORKSHOP_TOOLS, *ADMINISTRATION_TOOLS, *HOME_TOOLS)


@pytest.mark.parametrize("one", SHOWN, ids=lambda one: one.client)
def test_the_guide_says_what_the_flow_shows(one: Instruction) -> None:
    place = f" in `{one.place}`" if one.place else ""
    told = f"### {one.client}{place}\n\n```{one.language}\n{one.text}\n```\n"
    assert told in GUIDE


def test_the_guide_names_no_other_way_to_connect() -> None:
    part = GUIDE.partition("## Connecting each agent")[2].partition("### Anything else")[0]
    assert re.findall(r"^### ([\w ]+?)(?: in `.*)?$", part, re.MULTILINE) == [
        one.client for one in SHOWN
    ]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_guide_tells_of_every_tool_what_it_takes(tool: Publication) -> None:
    names = [f"`{one.name}`{'*' if one.required else ''}" for one in tool.parameters()]
    access = ", ".join(sorted(tool.needed))
    assert f"| `{tool.name}` | {access} | {', '.join(names) or 'none'} |\n" in GUIDE


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("`type`", MEMORY_TYPES),
        ("`changes`", [one.name for one in _CHANGES]),
        ("`stance`", Stance),
        ("`reports`", Report),
        ("`format`", [*ExportFormat, *TransferFormat]),
    ],
)
def test_the_guide_tells_of_an_argument_which_words_it_takes(
    argument: str, words: Iterable[str]
) -> None:
    (row,) = re.findall(rf"^\| {argument} \| (.*) \|$", GUIDE, re.MULTILINE)
    assert {str(word) for word in words} <= set(re.findall(r"\w+", row))


def test_the_guide_tells_of_no_tool_that_there_is_not() -> None:
    part = GUIDE.partition("## Tools")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) == [tool.name for tool in TOOLS]
