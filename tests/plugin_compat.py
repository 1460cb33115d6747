"""Lets the test plugin run on a Home Assistant that is newer than the plugin.

Loaded by ``-p`` before the plugin itself. Home Assistant must be imported before anything imports
httpx, which it replaces, and the plugin looks for a function where it used to be.
"""

from importlib import import_module

import homeassistant.const  # noqa: F401 - importing is the point

_logger = import_module("homeassistant.components.logger")

if not hasattr(_logger, "_clear_logger_overwrites"):
    _helpers = import_module("homeassistant.components.logger.helpers")
    _logger._clear_logger_overwrites = _helpers._clear_logger_overwrites  # type: ignore[attr-defined]
