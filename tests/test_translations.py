"""The texts a person reads: every language complete, and every text that the code asks for there.

Compares the files with each other and with what the code publishes and raises; no ``hass`` needed.
"""

import ast
from collections.abc import Iterator
import json
from pathlib import Path
import re
from typing import Any, Final

from homeassistant.helpers.selector import ObjectSelector
from homeassistant.util.yaml import load_yaml_dict
import pytest

from custom_components.ai_memory.const import DOMAIN, TOOLS_FULL, TOOLS_READ_ONLY
from custom_components.ai_memory.core import Access, Action, AiMemoryError, Strictness, database
from custom_components.ai_memory.database_care import SALVAGED_ISSUE
from custom_components.ai_memory.embedding import ENGINE_NAMES
from custom_components.ai_memory.engine_setup import ISSUE_TEXTS
from custom_components.ai_memory.operations import Parameter, Publication
from custom_components.ai_memory.operations.parameters import Kind
from custom_components.ai_memory.place_options import place_fields
from custom_components.ai_memory.profile_setup import REMOVED_ISSUE
from custom_components.ai_memory.service_files import ATTR_PATH
from custom_components.ai_memory.services import (
    ATTR_AGENT_ID,
    ATTR_PERSON,
    SERVICES,
    takes_agent,
    takes_path,
)
from custom_components.ai_memory.takeover import TAKEN_OVER_ISSUE

type Texts = dict[str, str]

PACKAGE: Final = Path(__file__).parent.parent / "custom_components" / DOMAIN
LANGUAGES: Final = ("de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt-BR", "zh-Hans")
TRANSLATED: Final = tuple(language for language in LANGUAGES if language != "en")
SAME_AS_ENGLISH: Final = frozenset(
    {
        ("de", "Client"),
        ("de", "Name"),
        ("de", "Text"),
        ("fr", "Client"),
        ("it", "Client"),
        ("nl", "Client"),
    }
)
"""Words that a language shares with English."""

AFTER_SETUP: Final = frozenset({"database_closed"})
"""The storage errors that opening the database cannot end in."""

_SELECTORS: Final = {
    Kind.TEXT: "text",
    Kind.CHOICE: "select",
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
    Kind.EXPIRY: "text",
    Kind.TEXTS: "text",
}
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_UNUSABLE: Final = "_unusable"


def _json(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((PACKAGE / name).read_text(encoding="utf-8"))
    return loaded


def _flat(tree: dict[str, Any], above: str = "") -> Texts:
    texts: Texts = {}
    for key, value in tree.items():
        place = f"{above}.{key}" if above else key
        texts |= _flat(value, place) if isinstance(value, dict) else {place: value}
    return texts


def _language(language: str) -> Texts:
    return _flat(_json(f"translations/{language}.json"))


def _yaml_services() -> dict[str, dict[str, Any]]:
    loaded = load_yaml_dict(str(PACKAGE / "services.yaml"))
    return {name: service["fields"] for name, service in loaded.items()}


def _fields(service: Publication) -> dict[str, Parameter]:
    """Return the fields of a service as the code takes them."""
    fields = {parameter.name: parameter for parameter in service.parameters()}
    agent = {ATTR_AGENT_ID: Parameter(name=ATTR_AGENT_ID)} if takes_agent(service) else {}
    path = {ATTR_PATH: Parameter(name=ATTR_PATH)} if takes_path(service) else {}
    return fields | agent | path


PUBLISHED: Final = {service.name: _fields(service) for service in SERVICES}
FIELDS: Final = [(service, field) for service, fields in PUBLISHED.items() for field in fields]


def _error_names(kind: type[AiMemoryError] = AiMemoryError) -> set[str]:
    return {kind.__name__}.union(*(_error_names(below) for below in kind.__subclasses__()))


def _keys_in(argument: ast.expr) -> set[str]:
    """Return the keys that an argument can become; a name is that of the table of SQLite codes."""
    keys: set[str] = set()
    for node in ast.walk(argument):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            keys.add(node.value)
        elif isinstance(node, ast.Name) and node.id == "_KEYS":
            keys |= set(database._KEYS.values())
    return keys


def _raised_by(call: ast.Call) -> tuple[set[str], set[str]]:
    """Return the keys of the errors that a call makes, and the placeholders it gives them."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    given = {keyword.arg for keyword in call.keywords if keyword.arg}
    if name == _UNUSABLE:
        given.add("path")
    if name in _error_names() | {_UNUSABLE} and call.args:
        return _keys_in(call.args[0]), given
    if name.endswith("Error"):
        values = [word.value for word in call.keywords if word.arg == "translation_key"]
        return set[str]().union(*map(_keys_in, values)), given
    return set(), given


def _raised(*files: Path) -> Iterator[tuple[str, set[str]]]:
    """Find every literal key with the placeholders that come with it."""
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                keys, given = _raised_by(node)
                yield from ((key, given) for key in keys)


RAISED: Final = list(_raised(*sorted(PACKAGE.rglob("*.py"))))


def _translation_keys() -> set[tuple[str, str]]:
    """Return platform and translation key of every entity class."""
    found: set[tuple[str, str]] = set()
    for platform in ("event", "sensor", "todo"):
        for node in ast.walk(ast.parse((PACKAGE / f"{platform}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                names = {target.id for target in node.targets if isinstance(target, ast.Name)}
                if "_attr_translation_key" in names:
                    found.add((platform, str(node.value.value)))
    return found


def test_the_source_of_the_texts_is_the_english_translation() -> None:
    source, english = PACKAGE / "strings.json", PACKAGE / "translations" / "en.json"
    assert source.read_bytes() == english.read_bytes()


def test_there_is_a_file_for_each_of_the_ten_languages_and_no_other() -> None:
    assert sorted(file.stem for file in (PACKAGE / "translations").iterdir()) == sorted(LANGUAGES)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_language_has_every_text_in_the_same_order(language: str) -> None:
    assert list(_language(language)) == list(_language("en"))


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_language_fills_in_the_same_placeholders(language: str) -> None:
    translated = _language(language)
    for key, english in _language("en").items():
        expected = sorted(_PLACEHOLDER.findall(english))
        assert sorted(_PLACEHOLDER.findall(translated[key])) == expected, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_is_plain_and_safe_to_show(language: str) -> None:
    for key, text in _language(language).items():
        assert isinstance(text, str), key
        assert text, f"{key} is empty"
        assert text == text.strip(), f"{key} has blanks at an edge"
        assert not re.search(r"</?[a-zA-Z]", text), f"{key} has HTML"
        assert not re.search(r"\w+://|www\.", text), f"{key} has an address"
        assert "[%key:" not in text, f"{key} refers to another text"
        # An apostrophe beside a brace would quote it, and the placeholder would stay as it is.
        assert not re.search(r"'\{|\}'", text), f"{key} quotes a placeholder"
        assert not set("{}") & set(_PLACEHOLDER.sub("", text)), f"{key} has a stray brace"


@pytest.mark.parametrize("language", TRANSLATED)
def test_nothing_was_left_in_english(language: str) -> None:
    english = _language("en")
    same = {text for key, text in _language(language).items() if text == english[key]}
    assert same == {text for known, text in SAME_AS_ENGLISH if known == language}


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_name_of_the_product_is_not_translated(language: str) -> None:
    translated = _language(language)
    for key, english in _language("en").items():
        if key.endswith("title") and english.endswith(" AI Memory"):
            assert "AI Memory" in translated[key], key


def test_every_key_of_a_text_is_one_that_home_assistant_accepts() -> None:
    for place in _language("en"):
        for key in place.split("."):
            assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", key), place


def test_every_error_has_a_message_and_every_message_an_error() -> None:
    assert {key for key, _ in RAISED} == set(_json("strings.json")["exceptions"])


def test_every_placeholder_of_a_message_is_given_with_the_error() -> None:
    messages = _json("strings.json")["exceptions"]
    for key, given in RAISED:
        assert set(_PLACEHOLDER.findall(messages[key]["message"])) <= given, key


def test_every_way_that_opening_the_database_or_the_engine_fails_has_a_repair_issue() -> None:
    failures = {key for key, _ in _raised(PACKAGE / "core" / "database.py")} - AFTER_SETUP
    issues = _json("strings.json")["issues"]
    notices = {REMOVED_ISSUE, SALVAGED_ISSUE, TAKEN_OVER_ISSUE}
    assert set(issues) == failures | set(ISSUE_TEXTS.values()) | notices
    assert all(set(issue) == {"title", "description"} for issue in issues.values())


def test_a_repair_issue_names_nothing_that_its_error_does_not_give() -> None:
    issues = _json("strings.json")["issues"]
    for key, given in _raised(PACKAGE / "core" / "database.py"):
        if key in issues:
            assert set(_PLACEHOLDER.findall("".join(issues[key].values()))) <= given, key


def test_a_field_is_only_described_where_it_is_named() -> None:
    strings = _json("strings.json")
    for flow in (strings["config"], strings["options"], *strings["config_subentries"].values()):
        for step in flow["step"].values():
            assert set(step.get("data_description", {})) <= set(step.get("data", {}))


def test_every_service_is_named_and_described_with_all_its_fields() -> None:
    described = _json("strings.json")["services"]
    assert set(described) == set(PUBLISHED)
    for name, fields in PUBLISHED.items():
        assert set(described[name]) == {"name", "description", "fields"}, name
        assert set(described[name]["fields"]) == set(fields), name
        for field in described[name]["fields"].values():
            assert set(field) == {"name", "description"}, name


def test_the_services_shown_are_the_services_offered() -> None:
    shown = _yaml_services()
    assert {name: set(fields) for name, fields in shown.items()} == {
        name: set(fields) for name, fields in PUBLISHED.items()
    }


@pytest.mark.parametrize(("service", "field"), FIELDS)
def test_a_field_is_shown_on_the_terms_it_is_taken(service: str, field: str) -> None:
    shown, taken = _yaml_services()[service][field], PUBLISHED[service][field]
    ((kind, settings),) = shown["selector"].items()
    settings = settings or {}
    assert kind == ("entity" if field == ATTR_PERSON else _SELECTORS[taken.kind])
    assert shown.get("required", False) == taken.required
    assert shown.get("default") == taken.default
    assert tuple(settings.get("options", ())) == taken.choices
    assert (settings.get("min"), settings.get("max")) == (taken.minimum, taken.maximum)
    assert settings.get("multiple", False) == (taken.kind is Kind.TEXTS)
    if kind == "number":
        assert (settings.get("step", 1) == 1) == (taken.kind is Kind.INTEGER)


def test_every_choice_has_a_name() -> None:
    texts = _json("strings.json")["selector"]
    named = {key: set(entry["options"]) for key, entry in texts.items() if "options" in entry}
    expected = {
        "client_access": {access.value for access in Access},
        "embedding_engine": set(ENGINE_NAMES),
        "secret_screen": {strictness.value for strictness in Strictness},
        "tools": {TOOLS_FULL, TOOLS_READ_ONLY},
    }
    for fields in _yaml_services().values():
        for field in fields.values():
            if select := field["selector"].get("select"):
                expected[select["translation_key"]] = set(select["options"])
    assert named == expected
    listed = {key: entry["fields"] for key, entry in texts.items() if "fields" in entry}
    shown: dict[str, set[str]] = {}
    for field in place_fields().values():
        if isinstance(field, ObjectSelector):
            shown[field.config["translation_key"]] = set(field.config["fields"])
    assert {key: set(fields) for key, fields in listed.items()} == shown
    assert all(
        set(text) == {"name", "description"}
        for fields in listed.values()
        for text in fields.values()
    )


def test_every_change_that_the_event_entity_tells_of_has_a_name() -> None:
    changes = _json("strings.json")["entity"]["event"]["changes"]
    named = changes["state_attributes"]["event_type"]["state"]
    assert set(named) == {action.value for action in Action}


def test_every_service_and_entity_has_an_icon() -> None:
    icons = _json("icons.json")
    assert set(icons["services"]) == set(PUBLISHED)
    assert all(set(icon) == {"service"} for icon in icons["services"].values())
    entities = {(platform, key) for platform, keys in icons["entity"].items() for key in keys}
    assert entities == _translation_keys()
    for place, icon in _flat(icons).items():
        assert re.fullmatch(r"mdi:[a-z0-9]+(-[a-z0-9]+)*", icon), place
