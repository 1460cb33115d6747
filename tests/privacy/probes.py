"""What is asked at every door: one table of operations, with arguments out of the world.

Probes are asked in order. Those of ``READING`` and ``WRITING`` may change nothing that the caller
cannot see; ``ARRANGING`` holds what is done to the whole house, by administrators.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
import json
from typing import Final

from .world import BY_NAME, DEN, DEVICES, JOINED, NOOK, TOOL, WORLD, id_of

SEARCHED: Final = "the key of the blue lantern"
MANY: Final = 1_000
NO_SUCH_ID: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
NO_SUCH_REVISION: Final = 999

HUB: Final = "github/hub/center"

type Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Probe:
    """One call of an operation, with its own names of parameters."""

    operation: str
    arguments: Arguments


WINGS: Final = tuple(dict.fromkeys(told.place[0] for told in WORLD))
PLACES: Final = tuple(dict.fromkeys(told.place for told in WORLD))
SECRET_PLACES: Final = (
    *(NOOK, DEN, ("larder", "shelf"), ("github/hidden/repo", "decision"), TOOL, DEVICES),
    ("nowhere", "at_all"),
)
"""Places of which somebody must not know, two that hold memories of many, and none."""
MEMORIES: Final = tuple(BY_NAME)
TUNNELS: Final = tuple(one.name for one in JOINED if len(one.ends) > 1)


def _each(operation: str, name: str, values: Iterable[object], **more: object) -> list[Probe]:
    return [Probe(operation, {name: value, **more}) for value in values]


def _by_id(operation: str, **more: object) -> list[Probe]:
    ids = [id_of(name) for name in MEMORIES]
    return _each(operation, "memory_id", [*ids, NO_SUCH_ID, "nonsense"], **more)


def _places(operation: str, **more: object) -> Iterator[Probe]:
    for wing, room in SECRET_PLACES:
        yield Probe(operation, {"wing": wing, "room": room, **more})
        yield Probe(operation, {"wing": wing, **more})


def _exported(name: str, **more: object) -> str:
    """Return a line of an export that claims to be a memory of the world."""
    told = BY_NAME[name]
    memory = {
        "kind": "memory",
        "id": id_of(name),
        "content": told.text,
        "wing": told.place[0],
        "room": told.place[1],
        "scope": told.scope.value,
        "revision": 1,
        "created": "2026-01-01T00:00:00+00:00",
        "updated": "2026-01-01T00:00:00+00:00",
    }
    return json.dumps(memory | more)


def _palace_lines() -> Iterator[str]:
    """Return lines of an export about every place that somebody must not know, and its tunnels."""
    for wing, room in dict.fromkeys((*SECRET_PLACES, *PLACES)):
        yield json.dumps({"kind": "place", "wing": wing, "room": room, "description": "Mine."})
        yield json.dumps(
            {"kind": "place", "wing": wing, "description": "", "default_scope": "private"}
        )
        yield json.dumps({"kind": "place", "wing": wing, "description": "All mine."})
        for kind, start in (("tunnel", room), ("tunnel", None), ("link", None)):
            end = "maintenance" if start else None
            ends = {"from_wing": wing, "from_room": start, "to_wing": "household", "to_room": end}
            yield json.dumps({"kind": "tunnel", "tunnel": kind, "reason": "Mine.", **ends})
        yield json.dumps({"kind": "tunnel", "tunnel": "hub", "from_wing": wing})


EVERYTHING_LISTED: Final = Probe("list", {"limit": 20})
EVERYTHING_FOUND: Final = Probe("search", {"query": SEARCHED, "limit": 20})
EVERY_RECORD: Final = Probe("memory_timeline", {"limit": 50, "budget_tokens": 8_000})
EVERY_PLACE: Final = Probe("palace", {})
PROMPT: Final = Probe("prompt", {})
"""No operation: what a conversation agent is told beforehand."""

READING: Final = (
    *_by_id("get"),
    EVERYTHING_LISTED,
    Probe("list", {"limit": MANY}),
    Probe("list", {"limit": MANY, "excerpts": True}),
    Probe("list", {"limit": 1}),
    *_each("list", "wing", WINGS),
    *(Probe("list", {"wing": wing, "room": room}) for wing, room in PLACES),
    *_each("list", "room", ("alcove", "corner", "health")),
    *_each("list", "scope", ("private", "common")),
    EVERYTHING_FOUND,
    Probe("search", {"query": SEARCHED, "limit": 100}),
    Probe("search", {"query": SEARCHED, "limit": 2}),
    Probe("search", {"query": SEARCHED, "history": True, "limit": 100}),
    Probe("search", {"query": SEARCHED, "layer": 3}),
    Probe("search", {"query": SEARCHED, "min_score": 0.99}),
    Probe("search", {"query": SEARCHED, "recall": True}),
    *_each("search", "query", MEMORIES),
    *_each("search", "query", ("tapirr", "zebras", "nook alcove", "den corner", "safe nas")),
    *_each("search", "wing", WINGS, query=SEARCHED),
    *_each("search", "room", ("alcove", "corner", "health", "shelf"), query=SEARCHED),
    *_each("search", "scope", ("private", "common"), query=SEARCHED),
    *_by_id("history"),
    Probe("timeline", {"limit": 200}),
    Probe("timeline", {"status": "superseded", "limit": 200}),
    *_each("timeline", "wing", WINGS),
    *_by_id("timeline"),
    Probe("about_me", {}),
    EVERY_PLACE,
    *_each("palace", "wing", WINGS),
    Probe("tunnels", {}),
    *_each("tunnels", "wing", WINGS),
    Probe("tunnels", {"wing": "nook", "room": "alcove"}),
    *_each("tunnels", "state", ("open", "proposed", "dismissed")),
    Probe("anchors", {}),
    *_each("anchors", "wing", WINGS),
    *_each("anchors", "kind", ("entity", "host", "path")),
    *_each("anchors", "state", ("unchecked", "ok", "missing")),
    *_by_id("anchors"),
    Probe("export", {"format": "jsonl"}),
    Probe("export", {"format": "markdown"}),
    *_each("export", "cursor", (f"memory {id_of(name)} 0000" for name in MEMORIES)),
    *_each("export", "cursor", ("place nook alcove", f"tunnel {id_of(TUNNELS[0])}", "nonsense")),
    *_each("export", "wing", WINGS),
    Probe("forget_me", {}),
    Probe("forget_me", {"confirm": "123456"}),
    Probe("maintain", {"dry_run": True}),
)

RESTATED: Final = ("zebra", "otter", "camel", "gecko", "bison", "hyena", "hornet", "okapi")
"""Those that somebody else happens to say as well."""

WRITING: Final = (
    # Somebody else's words, said again in the same place: new to whoever may not know them.
    *(
        Probe(
            "add",
            {
                "content": BY_NAME[name].text,
                "wing": BY_NAME[name].place[0],
                "room": BY_NAME[name].place[1],
                "scope": scope,
            },
        )
        for name in RESTATED
        for scope in ("private", "common")
    ),
    *_each(
        "add",
        "supersedes",
        [id_of(name) for name in MEMORIES if BY_NAME[name].agent],
        content="It replaces something.",
        scope="private",
    ),
    Probe("add", {"content": "A memory without a scope.", "wing": "den", "room": "corner"}),
    Probe("add", {"content": "A memory without a room.", "wing": "den", "scope": "common"}),
    *_each("palace", "wing", ("den", "nook", "larder")),
    Probe("search", {"query": SEARCHED, "limit": 100}),
    *_by_id("update", content="Something else.", scope="common", revision=NO_SUCH_REVISION),
    *(
        Probe(
            "update",
            {
                "memory_id": id_of("okapi"),
                "content": BY_NAME[name].text,
                "wing": BY_NAME[name].place[0],
                "room": BY_NAME[name].place[1],
            },
        )
        for name in (*RESTATED, "newt", "toad")
    ),
    *_each(
        "update",
        "memory_id",
        [id_of(name) for name in MEMORIES if BY_NAME[name].agent],
        summary="Changed",
    ),
    *_by_id("corroborate", quote="I saw it.", stance="corroborates"),
    *_by_id("forget", revision=NO_SUCH_REVISION),
    *_by_id("restore"),
    *_places("connect", to_wing="household", to_room="maintenance"),
    *_places("connect", to_wing="household"),
    *_places("describe_place", description="A place."),
    *(
        Probe(operation, {"tunnel_id": tunnel_id})
        for tunnel_id in (*(id_of(name) for name in TUNNELS), NO_SUCH_ID)
        for operation in ("accept_tunnel", "dismiss_tunnel", "disconnect")
    ),
    Probe("propose_tunnels", {}),
    Probe("propose_tunnels", {"names": ["Anna"]}),
    Probe("import", {"text": "\n".join(map(_exported, MEMORIES)), "dry_run": True}),
    Probe(
        "import",
        {"text": "\n".join(BY_NAME[name].text for name in RESTATED), "scope": "private"},
    ),
    Probe(
        "import",
        {"text": "\n".join(_exported(name, revision=7, scope="private") for name in RESTATED)},
    ),
    Probe("list", {"limit": MANY}),
    Probe("tunnels", {}),
    Probe("delete", {"wing": "den", "room": "corner", "restorable": True}),
    Probe("delete", {"memory_id": NO_SUCH_ID, "restorable": True}),
    *_by_id("delete"),
    *_places("delete"),
    *_each("delete", "scope", ("private", "common")),
    Probe("list", {"limit": MANY}),
    Probe("palace", {}),
)

ARRANGING: Final = (
    *_places("describe_place", default_scope="private"),
    Probe("maintain", {"dry_run": False}),
    Probe("sweep_anchors", {}),
    Probe("rename_place", {"wing": "nook", "new_wing": "attic"}),
    Probe("rename_place", {"wing": "nook", "room": "alcove", "new_room": "corner"}),
    Probe("rename_place", {"wing": "garden", "new_wing": "nook"}),
    Probe("rename_place", {"wing": "garden", "new_wing": "den", "merge": True}),
    Probe("delete_place", {"wing": "larder"}),
    Probe("delete_place", {"wing": "larder", "room": "shelf"}),
    Probe("delete_place", {"wing": "larder", "move_to_wing": "general"}),
    Probe("delete_place", {"wing": "nowhere"}),
    Probe("rename_owner", {"from": "github/hidden/", "to": "github/shown/"}),
    Probe("rename_owner", {"from": "github/nobody/", "to": "github/shown/"}),
    Probe("make_hub", {"wing": "github/hidden/repo"}),
    Probe("palace", {}),
    Probe("tunnels", {}),
    Probe("list", {"limit": MANY}),
)

NAMESPACES: Final = tuple(dict.fromkeys((*(w for w in WINGS if "/" in w), "global", HUB, "nook")))
RECORDS: Final = (*(told.name for told in WORLD if "/" in told.place[0]), "moth", "zebra", "okapi")
PREFIXES: Final = (
    *(id_of(name)[:14] for name in RECORDS),
    *(id_of(name)[:characters] for name in ("wasp", "hornet", "panda") for characters in (8, 26)),
)


WORKSHOP: Final = (
    Probe("memory_namespace", {"remote": "https://github.com/hidden/repo.git"}),
    Probe("memory_bootstrap", {}),
    *_each("memory_bootstrap", "namespace", NAMESPACES),
    Probe("memory_search", {"query": SEARCHED, "limit": 50}),
    *_each("memory_search", "query", MEMORIES),
    *_each("memory_search", "namespace", NAMESPACES, query=SEARCHED),
    Probe("memory_search", {"query": SEARCHED, "exclude": [id_of("wasp")]}),
    *_each("memory_get", "ids", [[one] for one in PREFIXES]),
    EVERY_RECORD,
    Probe("memory_timeline", {}),
    *_each("memory_timeline", "status", ("active", "candidate", "superseded")),
    *_each("memory_timeline", "namespace", NAMESPACES),
    Probe("memory_anchors", {}),
    *_each("memory_anchors", "namespace", (*NAMESPACES, "den")),
    *_each("memory_anchors", "kind", ("entity", "host", "path")),
    *_each("memory_anchors", "id", PREFIXES),
    *_each("memory_project_context", "namespace", NAMESPACES, task=SEARCHED),
    *_each(
        "memory_store",
        "supersedes",
        PREFIXES,
        namespace="github/acme/tool",
        type="decision",
        title="It replaces something",
        content="Something new.",
    ),
    *(
        Probe(
            "memory_store",
            {
                "namespace": namespace,
                "type": "decision",
                "title": "Said again",
                "content": BY_NAME[name].text,
            },
        )
        for name in ("hornet", "mantis", "wasp")
        for namespace in ("github/acme/tool", "github/hidden/repo")
    ),
    *_each("memory_update", "id", PREFIXES, revision=NO_SUCH_REVISION, changes={"title": "Other"}),
    *_each("memory_corroborate", "id", PREFIXES, quote="I saw it."),
    *_each("memory_forget", "id", PREFIXES, revision=NO_SUCH_REVISION),
    Probe("memory_anchor_report", {"reports": {"host:nas": "missing", "path:a.txt": "missing"}}),
    Probe("memory_anchor_report", {"reports": {"path:src/secret.py": "missing"}}),
    *_each("memory_anchor_report", "namespace", ("nook", "den"), reports={"host:nas": "ok"}),
    *_each("memory_anchor_report", "id", PREFIXES, reports={"host:nas": "unavailable"}),
    Probe("memory_session_close", {"namespace": HUB, "summary": "Done.", "op_id": "operation"}),
    Probe("memory_session_close", {"namespace": HUB, "summary": "Done.", "op_id": "operation"}),
    *_each("memory_bootstrap", "namespace", (HUB, "github/hidden/repo")),
)

PROBED: Final = frozenset(probe.operation for probe in (*READING, *WORKSHOP, *WRITING, *ARRANGING))
EVERY: Final = (*READING, *WORKSHOP, *WRITING, *ARRANGING)
SAMPLED: Final = frozenset(
    {
        *("okapi", "newt", "zebra", "tapir", "otter", "camel", "puma", "dingo", "gecko", "bison"),
        *("hyena", "koala", "panda", "wasp", "hornet", "mantis"),
    }
)
"""One of each kind: a door has no say in what an operation does with the others."""


def _sampled(probe: Probe) -> bool:
    about = {name for name in MEMORIES if id_of(name)[:14] in str(probe.arguments)}
    about |= {name for name in MEMORIES if probe.arguments.get("query") == name}
    return len(about) != 1 or about <= SAMPLED


ASKED: Final = tuple(probe for probe in EVERY if _sampled(probe))
"""What is asked at the doors."""

CONVERSATION_SIGHTS: Final = (PROMPT,)
REST_SIGHTS: Final = tuple(Probe("get", {"path": path}) for path in ("health", "openapi.json"))
MCP_SIGHTS: Final = (
    *(
        Probe(method, {})
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
    ),
    *(
        Probe("resources/read", {"uri": f"memory://memory/{id_of(name)}"})
        for name in sorted(SAMPLED)
    ),
    *(Probe("resources/read", {"uri": f"memory://index/{wing}"}) for wing in NAMESPACES),
    *(
        Probe(
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "memory://index/{+namespace}"},
                "argument": {"name": argument, "value": value},
            },
        )
        for argument, values in (("namespace", ("", "github/h", "n")), ("id", ("", "01KBM")))
        for value in values
    ),
)
SIGHTS: Final = {
    "llm": CONVERSATION_SIGHTS,
    "assist": CONVERSATION_SIGHTS,
    "service": (),
    "mcp": MCP_SIGHTS,
    "rest": REST_SIGHTS,
}
"""What a door shows beside its operations."""

_OWN: Final = {"format": "ai_memory"}
BRINGING: Final = (
    *(
        Probe("import", {"text": _exported(name, **more), "dry_run": True, **_OWN})
        for name in MEMORIES
        for more in ({}, {"revision": 9, "content": "Changed."})
    ),
    *_each("import", "text", _palace_lines(), dry_run=True, **_OWN),
    *_each("import", "text", _palace_lines(), **_OWN),
    Probe("import", {"text": "\n".join(_palace_lines()), **_OWN}),
    EVERY_PLACE,
    Probe("tunnels", {}),
    Probe("export", {"format": "jsonl"}),
    *_each("export", "wing", WINGS),
)
"""What somebody asks who brings an export in, without being an administrator."""
