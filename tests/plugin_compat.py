"""What pytest itself needs: to run on a Home Assistant newer than the test plugin, and to end.

Loaded by ``-p`` before the test plugin. Home Assistant must be imported before anything imports
httpx, which it replaces, and the plugin looks for a function where it used to be.
"""

from importlib import import_module
import os
import sys
import threading

import homeassistant.const  # noqa: F401 - importing is the point
import pytest

_logger = import_module("homeassistant.components.logger")

if not hasattr(_logger, "_clear_logger_overwrites"):
    _helpers = import_module("homeassistant.components.logger.helpers")
    _logger._clear_logger_overwrites = _helpers._clear_logger_overwrites  # type: ignore[attr-defined]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave at once where a failed test left a database open.

    Its thread would keep the finished process alive, and who waits for it would never be told.
    """
    session = config.pluginmanager.get_plugin("session")
    left_behind = [
        thread
        for thread in threading.enumerate()
        if not thread.daemon and thread is not threading.main_thread()
    ]
    if left_behind and session is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(session.exitstatus))
