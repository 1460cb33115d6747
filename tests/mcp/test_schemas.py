"""The schemas of tools: every kind of parameter has one, and replies fit what was promised."""

from datetime import UTC, date, datetime
from typing import Any

import jsonschema
import pytest

from custom_components.ai_memory.mcp.schemas import input_schema, parameter_schema
from custom_components.ai_memory.operations import Kind, Parameter

from .conftest import Agent


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_schema(kind: Kind) -> None:
    schema = parameter_schema(
        Parameter(name="p", kind=kind, choices=("a",), minimum=1, maximum=2, description="what")
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] in {"string", "integer", "number", "boolean", "array", "object"}
    assert schema["description"] == "what"


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        (5, 5),
        (False, False),
        (("a", "b"), ["a", "b"]),
        (date(2026, 11, 30), "2026-11-30"),
        (datetime(2026, 11, 30, tzinfo=UTC), "2026-11-30T00:00:00+00:00"),
    ],
)
def test_a_default_is_shown_as_json(default: Any, shown: object) -> None:
    schema = parameter_schema(Parameter(name="p", default=default))
    assert schema["default"] == shown


def test_only_required_parameters_are_required() -> None:
    schema = input_schema((Parameter(name="a", required=True), Parameter(name="b")))
    assert schema["required"] == ["a"]
    assert schema["additionalProperties"] is False
    assert "required" not in input_schema((Parameter(name="b"),))


async def test_replies_fit_the_schemas_that_were_promised(agent: Agent) -> None:
    promised = {
        tool["name"]: tool.get("outputSchema", {})
        for tool in (await agent.result("tools/list"))["tools"]
    }
    checked = set()
    for schema in promised.values():
        jsonschema.Draft202012Validator.check_schema(schema)

    async def check(name: str, **arguments: Any) -> Any:
        reply = await agent.tool(name, **arguments)
        jsonschema.validate(reply, promised[name])
        checked.add(name)
        return reply

    added = await check("add_memory", content="The pump runs at night.", scope="common")
    memory_id = added["memory"]["id"]
    await check("get_memory", memory_id=memory_id)
    await check("list_memories", limit=5)
    assert (await check("search_memory", query="pump"))["count"] == 1
    await check("update_memory", memory_id=memory_id, content="The pump runs at noon.")
    await check("delete_memory", memory_id=memory_id)

    await check("memory_namespace", remote="git@github.com:acme/tool.git")
    place = {"namespace": "github/acme/tool"}
    fact = {"type": "fact", "title": "The lamp", "content": "The lamp is on at night."}
    anchors = ["entity:light.lamp", "path:src/lamp.py"]
    stored = await check("memory_store", **place, **fact, anchors=anchors)
    record_id = stored["record"]["id"]
    found = await check("memory_search", query="lamp", **place)
    assert len(found["records"]) == 1
    await check("memory_get", ids=[record_id])
    await check("memory_timeline", **place)
    await check("memory_project_context", task="the lamp", **place)
    assert (await check("memory_anchors", **place))["count"] == 2
    reported = await check("memory_anchor_report", reports={"path:src/lamp.py": "missing"})
    assert (reported["reported"], reported["changed"]) == (1, [record_id])
    await check("memory_anchor_sweep")
    read = (await check("memory_get", ids=[record_id]))["records"][0]
    changes = {"confidence": 0.5}
    await check("memory_update", id=record_id, revision=read["revision"], changes=changes)
    await check("memory_corroborate", id=record_id, quote="It was on.", stance="corroborates")
    exported = await check("memory_export", **place)
    assert exported["count"] == 1
    await check("memory_forget", id=record_id, hard=True)
    assert (await check("memory_import", text=exported["text"]))["added"] == 1
    await check("memory_session_close", summary="Looked at lamps.", **place)
    linked = await check("memory_link", project="projects/lamps", **place)
    assert (await check("memory_links", **place))["count"] == 1
    await check("memory_unlink", id=linked["tunnel"]["id"])
    await check("memory_make_hub", **place)
    renamed = await check("memory_rename_owner", **{"from": "github/acme/", "to": "github/ann/"})
    assert renamed["wings"] == ["github/ann/tool"]
    assert promised.keys() - checked == {"memory_bootstrap"}
