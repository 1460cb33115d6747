"""What hassfest and HACS check of the repository, as far as that can be told without a network."""

import ast
from collections.abc import Iterator
import importlib
import json
import os
from pathlib import Path
import re
import struct
import sys
import tomllib
from typing import Any, Final

from awesomeversion import AwesomeVersion, AwesomeVersionStrategy
from homeassistant.const import Platform
from homeassistant.helpers.selector import validate_selector
from homeassistant.util.yaml import load_yaml_dict
from packaging.requirements import Requirement
import pytest

from custom_components.ai_memory.const import DOMAIN, NAME

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "custom_components" / DOMAIN

REQUIRED_KEYS: Final = frozenset(
    {
        "codeowners",
        "documentation",
        "domain",
        "integration_type",
        "iot_class",
        "issue_tracker",
        "name",
        "version",
    }
)
OPTIONAL_KEYS: Final = frozenset(
    {
        "after_dependencies",
        "config_flow",
        "dependencies",
        "loggers",
        "requirements",
        "single_config_entry",
    }
)
INTEGRATION_TYPES: Final = frozenset(
    {"device", "entity", "hardware", "helper", "hub", "service", "system"}
)
IOT_CLASSES: Final = frozenset(
    {
        "assumed_state",
        "calculated",
        "cloud_polling",
        "cloud_push",
        "local_polling",
        "local_push",
    }
)
VERSION_STRATEGIES: Final = (
    AwesomeVersionStrategy.CALVER,
    AwesomeVersionStrategy.SEMVER,
    AwesomeVersionStrategy.SIMPLEVER,
    AwesomeVersionStrategy.BUILDVER,
    AwesomeVersionStrategy.PEP440,
)
HACS_KEYS: Final[dict[str, type | tuple[type, ...]]] = {
    "content_in_root": bool,
    "country": (str, list),
    "filename": str,
    "hacs": str,
    "hide_default_branch": bool,
    "homeassistant": str,
    "name": str,
    "persistent_directory": str,
    "render_readme": bool,
    "zip_release": bool,
}
ALWAYS_THERE: Final = frozenset(
    {"conversation", "frontend", "panel_custom", "persistent_notification", "person"}
    | {"system_health", "websocket_api"}
)
"""Integrations of Home Assistant that may be imported without being declared."""

ICON_PIXELS: Final = {"icon.png": 256, "icon@2x.png": 512}
LOGO_PIXELS: Final = {"logo.png": (128, 256), "logo@2x.png": (256, 512)}
"""The least and the greatest length of the shorter side."""

INNER_PACKAGES: Final = ("core", "embedding", "operations", "history")
"""The memory itself, which runs without Home Assistant."""

PROTOCOL_ENGINE: Final = "mcp/engine"
"""The protocol alone, which knows neither Home Assistant nor a memory nor HTTP."""

FOREIGN: Final = frozenset({"homeassistant", "probatio", "voluptuous"})


def _json(file: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


def _manifest() -> dict[str, Any]:
    return _json(PACKAGE / "manifest.json")


def _hacs() -> dict[str, Any]:
    return _json(ROOT / "hacs.json")


def _files(*names: str) -> Iterator[Path]:
    """Find the files whose names end like that, outside what tools and environments keep."""
    for folder, below, files in os.walk(ROOT):
        below[:] = [name for name in below if not name.startswith(".") and name != "node_modules"]
        yield from (Path(folder) / file for file in files if file.endswith(names))


def _imports(file: Path) -> Iterator[str]:
    """Yield the full name of each module, and of each name in it, that a file imports."""
    package = file.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*above, *filter(None, (node.module,))))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _pixels(image: Path) -> tuple[int, int]:
    header = image.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n", image
    assert header[12:16] == b"IHDR", image
    width, height = struct.unpack(">II", header[16:24])
    return int(width), int(height)


def test_the_manifest_has_what_is_required_and_nothing_unknown() -> None:
    assert set(_manifest()) >= REQUIRED_KEYS
    assert set(_manifest()) <= REQUIRED_KEYS | OPTIONAL_KEYS


def test_the_manifest_begins_with_domain_and_name_and_is_sorted_from_there() -> None:
    first, second, *others = _manifest()
    assert (first, second) == ("domain", "name")
    assert others == sorted(others)


def test_the_manifest_describes_this_integration() -> None:
    manifest = _manifest()
    assert (manifest["domain"], manifest["name"]) == (DOMAIN, NAME)
    assert manifest["integration_type"] in INTEGRATION_TYPES
    assert manifest["iot_class"] in IOT_CLASSES
    assert manifest["config_flow"] is (PACKAGE / "config_flow.py").exists()
    for address in (manifest["documentation"], manifest["issue_tracker"]):
        assert re.fullmatch(r"https://[\w.-]+/\S+", address)
    assert manifest["codeowners"]
    assert all(re.fullmatch(r"@[\w-]+", owner) for owner in manifest["codeowners"])


def test_the_version_is_one_that_home_assistant_can_compare() -> None:
    AwesomeVersion(_manifest()["version"], ensure_strategy=list(VERSION_STRATEGIES))


@pytest.mark.parametrize("requirement", _manifest()["requirements"])
def test_a_requirement_leaves_home_assistant_the_choice_of_the_version(requirement: str) -> None:
    assert " " not in requirement
    assert not [part for part in Requirement(requirement).specifier if part.operator == "=="]


def test_every_imported_integration_is_declared() -> None:
    manifest = _manifest()
    declared = {*manifest.get("dependencies", ()), *manifest.get("after_dependencies", ())}
    known = declared | ALWAYS_THERE | {platform.value for platform in Platform}
    for file in PACKAGE.rglob("*.py"):
        for module in _imports(file):
            if found := re.match(r"homeassistant\.components\.(\w+)", module):
                used = found[1]
                assert used in known or (PACKAGE / f"{used}.py").exists(), f"{file.name}: {used}"


def test_persons_are_known_before_anybody_is_heard() -> None:
    # Until then what is said at a satellite would be nobody's, so that everybody would see it.
    assert "person" in _manifest()["after_dependencies"]


def test_the_integration_says_that_it_is_not_configured_in_yaml() -> None:
    integration = importlib.import_module(f"custom_components.{DOMAIN}")
    assert hasattr(integration, "async_setup")
    assert integration.CONFIG_SCHEMA({}) == {}


def test_the_repository_holds_exactly_one_manifest() -> None:
    assert [file for file in _files("manifest.json") if file.name == "manifest.json"] == [
        PACKAGE / "manifest.json"
    ]
    integrations = [file.parent for file in (ROOT / "custom_components").glob("*/__init__.py")]
    assert integrations == [PACKAGE]


def test_every_json_file_can_be_read() -> None:
    for file in _files(".json"):
        json.loads(file.read_text(encoding="utf-8"))


def test_every_selector_of_the_services_is_valid() -> None:
    for name, service in load_yaml_dict(str(PACKAGE / "services.yaml")).items():
        assert set(service) <= {"fields"}, name
        for field in service["fields"].values():
            assert set(field) <= {"default", "example", "required", "selector"}, name
            validate_selector(field["selector"])


@pytest.mark.parametrize(("name", "pixels"), ICON_PIXELS.items())
def test_an_icon_is_a_square_of_the_right_size(name: str, pixels: int) -> None:
    assert _pixels(PACKAGE / "brand" / name) == (pixels, pixels)


@pytest.mark.parametrize(("name", "pixels"), LOGO_PIXELS.items())
def test_a_logo_is_within_the_limits(name: str, pixels: tuple[int, int]) -> None:
    least, greatest = pixels
    assert least <= min(_pixels(PACKAGE / "brand" / name)) <= greatest


def test_the_description_for_hacs_has_only_what_hacs_knows() -> None:
    hacs = _hacs()
    assert hacs["name"] == NAME
    for key, value in hacs.items():
        assert isinstance(value, HACS_KEYS[key]), key
    assert not hacs.get("zip_release") or hacs["filename"] == f"{DOMAIN}.zip"


def test_hacs_offers_the_integration_from_the_oldest_tested_version_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert _hacs()["homeassistant"] == project["tool"][DOMAIN]["oldest-home-assistant"]


def test_hacs_finds_a_page_to_show() -> None:
    assert (ROOT / "README.md").stat().st_size > 0


@pytest.mark.parametrize("package", INNER_PACKAGES)
def test_the_memory_imports_neither_home_assistant_nor_a_door(package: str) -> None:
    inner = tuple(f"custom_components.{DOMAIN}.{name}." for name in INNER_PACKAGES)
    for file in (PACKAGE / package).rglob("*.py"):
        for module in _imports(file):
            assert module.partition(".")[0] not in FOREIGN, f"{file.name}: {module}"
            own = module.startswith("custom_components.")
            assert not own or f"{module}.".startswith(inner), f"{file.name}: {module}"


def test_the_protocol_engine_imports_only_itself_and_the_standard_library() -> None:
    own = f"custom_components.{DOMAIN}.{PROTOCOL_ENGINE.replace('/', '.')}."
    files = list((PACKAGE / PROTOCOL_ENGINE).rglob("*.py"))
    assert files
    for file in files:
        for module in _imports(file):
            standard = module.partition(".")[0] in sys.stdlib_module_names
            assert standard or f"{module}.".startswith(own), f"{file.name}: {module}"
