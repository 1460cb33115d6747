"""How each Home Assistant version turns a tool's schema into JSON for models."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def json_schema(schema: Any) -> dict[str, Any]:
    """Return the JSON schema as core's own integrations show it to a model."""
    if find_spec("probatio"):
        probatio = import_module("probatio")
        return dict(probatio.to_openapi(schema, openapi_version="3.1.0"))
    return dict(import_module("voluptuous_openapi").convert(schema))
