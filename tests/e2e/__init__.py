"""Tests that drive a real ``hass`` process over HTTP and websocket, as people and agents do."""

import pytest

pytest.register_assert_rewrite("tests.e2e.home")
