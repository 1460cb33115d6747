"""Tests that drive a real ``hass`` process over HTTP and websocket, as people and agents do."""
