"""Fixtures of the end-to-end tests: a running Home Assistant and a scripted model server.

The test plugin forbids sockets; these tests are about them, so they are allowed again, to this
machine only.
"""

from collections.abc import Iterator

import pytest
import pytest_socket

from .fake_ollama import FakeOllama
from .home import Home, Loop


@pytest.fixture(autouse=True)
def _allow_sockets(socket_enabled: None) -> None:
    """Allow sockets for the length of each test."""


@pytest.fixture(scope="module")
def loop() -> Iterator[Loop]:
    """Return the loop for what outlives a single test."""
    # Fixtures of a module are made while the plugin still forbids sockets.
    pytest_socket.enable_socket()
    running = Loop()
    yield running
    running.close()


@pytest.fixture(scope="module")
def home(loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Return a started Home Assistant with the memory set up through its config flow."""
    running = Home(loop, tmp_path_factory.mktemp("home"))
    try:
        running.start()
        running.set_up()
        yield running
    finally:
        running.stop()
    running.verify_clean()


@pytest.fixture(scope="module")
def ollama(loop: Loop) -> Iterator[FakeOllama]:
    """Return a running model server that waits for its script."""
    fake = FakeOllama()
    loop.run(fake.start())
    yield fake
    loop.run(fake.stop())
