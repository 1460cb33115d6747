"""What core integrations need from the package index when something loads them.

Home Assistant installs an integration's requirements when it first loads it, which neither a test
nor an offline machine can do. ``scripts/setup`` runs this file with the interpreter of a new
environment and installs what it prints. It reads the manifests of the Home Assistant that is
installed there and never imports an integration.

Usage: python component_requirements.py [--voice]
"""

from collections.abc import Iterable, Mapping
import json
from pathlib import Path
import sys

import homeassistant.const
from homeassistant.const import BASE_PLATFORMS

# What tests and the development instance use, and what newer versions load whether used or not.
CORE_INTEGRATIONS = (
    "ai_task",
    "analytics",
    "api",
    "backup",
    "config",
    "conversation",
    "diagnostics",
    "frontend",
    "hassio",
    "homeassistant",
    "http",
    "intent",
    "llm",
    "mcp_server",
    "ollama",
    "onboarding",
    "recorder",
    "repairs",
    "search",
    "system_health",
    *BASE_PLATFORMS,
)
# The dialog in the frontend needs these, and they need a compiler; without one there is no dialog.
VOICE_INTEGRATIONS = ("assist_pipeline", "assist_satellite")

type Manifest = Mapping[str, object]


def main() -> None:
    """Print one requirement a line."""
    project = Path(__file__).resolve().parent.parent / "custom_components"
    core = Path(homeassistant.const.__file__).with_name("components")
    own = [path.parent.name for path in project.glob("*/manifest.json")]
    leave_out = () if "--voice" in sys.argv else VOICE_INTEGRATIONS
    print(*collect_requirements((project, core), (*own, *CORE_INTEGRATIONS), leave_out), sep="\n")


def collect_requirements(
    folders: Iterable[Path], integrations: Iterable[str], leave_out: Iterable[str] = ()
) -> list[str]:
    """Return the requirements of the integrations and of all that they depend on.

    One that this Home Assistant does not have needs nothing: the supported versions differ in some.
    """
    folders = tuple(folders)
    requirements: set[str] = set()
    waiting = list(integrations)
    seen = set(leave_out)
    while waiting:
        integration = waiting.pop()
        if integration in seen:
            continue
        seen.add(integration)
        manifest = read_manifest(folders, integration)
        requirements.update(_texts(manifest, "requirements"))
        waiting.extend(_texts(manifest, "dependencies"))
    return sorted(requirements)


def read_manifest(folders: Iterable[Path], integration: str) -> Manifest:
    """Return an integration's manifest from the first folder that has one, else an empty one."""
    for folder in folders:
        path = folder / integration / "manifest.json"
        if path.is_file():
            manifest: Manifest = json.loads(path.read_text(encoding="utf-8"))
            return manifest
    return {}


def _texts(manifest: Manifest, key: str) -> list[str]:
    values = manifest.get(key, [])
    return [str(value) for value in values] if isinstance(values, list) else []


if __name__ == "__main__":
    main()
