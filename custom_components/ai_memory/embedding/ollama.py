"""The engine that asks an Ollama server, in Ollama's own protocol.

The registry makes one, the manager in ``core`` calls it, and the config flow uses
:func:`list_models` and :func:`pull_model`. A model's revision is its digest, so a model that was
pulled anew never shares vectors with the one before. Servers from before ``/api/embed`` are asked
text by text.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from http import HTTPStatus
import json
from typing import Final

import aiohttp

from .errors import EngineModelMissingError, EngineResponseError, EngineUnavailableError
from .http import (
    ModelServer,
    RemoteEngine,
    RemoteSettings,
    Reply,
    body_limit_bytes,
    misses_model,
    reply_of,
)

ENGINE_NAME: Final = "ollama"
DEFAULT_URL: Final = "http://127.0.0.1:11434"
DEFAULT_MODEL: Final = "bge-m3"
PULL_TIMEOUT_SECONDS: Final = 300.0

_DEFAULT_TAG: Final = ":latest"
_REVISION_CHARACTERS: Final = 12
_MAX_LINE_BYTES: Final = 64 * 1024
# Fewer steps than a person can see would only make work.
_PROGRESS_STEP: Final = 0.01


class OllamaEngine(RemoteEngine):
    """Embeds with a model that an Ollama server runs."""

    def __init__(self, settings: RemoteSettings) -> None:
        """Prepare the engine; nothing is sent before it is used."""
        super().__init__(ENGINE_NAME, short_name(settings.model), settings)
        self._one_by_one = False

    async def probe(self) -> None:
        """Ask whether the server answers, and which digest it has of the model."""
        version = (await self._server.ask("GET", "api/version")).fields().get("version")
        if not isinstance(version, str):
            raise EngineResponseError("The server is not an Ollama server")
        digest = (await _digests(self._server)).get(self._model)
        if digest is None:
            raise EngineModelMissingError
        # The server may be another one than before.
        self._one_by_one = False
        self._learn_revision(digest.removeprefix("sha256:")[:_REVISION_CHARACTERS])

    async def _vectors(self, texts: Sequence[str]) -> Sequence[object]:
        if not self._one_by_one:
            reply = await self._ask("api/embed", len(texts), input=list(texts))
            if reply.status != HTTPStatus.NOT_FOUND or reply.misses_model:
                return _vectors_of(reply.fields())
            self._one_by_one = True
        replies = [await self._ask("api/embeddings", 1, prompt=text) for text in texts]
        return [reply.fields().get("embedding") for reply in replies]

    async def _ask(self, path: str, count: int, **payload: object) -> Reply:
        return await self._server.ask(
            "POST", path, {"model": self._model, **payload}, limit_bytes=body_limit_bytes(count)
        )


async def list_models(
    session: aiohttp.ClientSession, url: str, api_key: str | None, timeout_seconds: float
) -> list[str]:
    """Return the names of the models that the server has. Raises EngineError.

    An EngineResponseError means that somebody answers there, but not with a list.
    """
    return list(await _digests(ModelServer(session, url, api_key, timeout_seconds)))


async def pull_model(
    session: aiohttp.ClientSession,
    url: str,
    model: str,
    on_progress: Callable[[float], None],
    *,
    api_key: str | None = None,
    timeout_seconds: float = PULL_TIMEOUT_SECONDS,
) -> None:
    """Let the server fetch a model, and tell how far it is, from 0 to 1. Raises EngineError.

    A pull that was cut off goes on where it was when it is asked for again.
    """
    server = ModelServer(session, url, api_key, timeout_seconds)
    progress = _PullProgress(on_progress)
    async with server.open("POST", "api/pull", {"model": model, "stream": True}) as response:
        if response.status != HTTPStatus.OK:
            (await reply_of(response)).fields()
            raise EngineResponseError("The model server does not know how to pull a model")
        async for line in _lines(response.content):
            if progress.take(line):
                return
    raise EngineUnavailableError("The model server stopped before it had the whole model")


def short_name(model: str) -> str:
    """Return a model's name as people write it: without the tag that goes without saying."""
    return model.strip().removesuffix(_DEFAULT_TAG)


async def _digests(server: ModelServer) -> dict[str, str]:
    """Return the digests of the server's models by their short names."""
    models = (await server.ask("GET", "api/tags")).fields().get("models")
    if not isinstance(models, list):
        raise EngineResponseError("The model server did not answer with a list of models")
    digests: dict[str, str] = {}
    for model in models:
        fields = model if isinstance(model, dict) else {}
        name, digest = fields.get("name") or fields.get("model"), fields.get("digest")
        if isinstance(name, str):
            digests[short_name(name)] = digest if isinstance(digest, str) else ""
    return digests


def _vectors_of(fields: Mapping[str, object]) -> Sequence[object]:
    vectors = fields.get("embeddings")
    if not isinstance(vectors, list):
        raise EngineResponseError("The model server did not answer with vectors")
    return vectors


class _PullProgress:
    """How far a pull is, over all layers that the server has begun with."""

    def __init__(self, on_progress: Callable[[float], None]) -> None:
        """Tell this function, and never a smaller number than before."""
        self._on_progress = on_progress
        self._layers: dict[str, tuple[float, float]] = {}
        self._told = 0.0

    def take(self, line: bytes) -> bool:
        """Read a line of the stream; True says that the model is there. Raises EngineError."""
        fields = _event(line)
        if error := fields.get("error"):
            if misses_model(str(error)) or "does not exist" in str(error):
                raise EngineModelMissingError
            raise EngineResponseError("The model server could not pull the model")
        if fields.get("status") == "success":
            self._on_progress(1.0)
            return True
        total, completed = fields.get("total"), fields.get("completed", 0)
        if isinstance(total, int | float) and isinstance(completed, int | float) and total > 0:
            self._layers[str(fields.get("digest"))] = (min(completed, total), total)
            self._tell()
        return False

    def _tell(self) -> None:
        """Tell the share of all bytes known so far, unless it hardly changed."""
        completed = sum(layer[0] for layer in self._layers.values())
        share = completed / sum(layer[1] for layer in self._layers.values())
        if share >= self._told + _PROGRESS_STEP:
            self._told = share
            self._on_progress(share)


def _event(line: bytes) -> Mapping[str, object]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise EngineResponseError("The model server did not answer with the progress of a pull")
    return event


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of a stream, none of them longer than a line may be."""
    rest = bytearray()
    async for chunk in stream.iter_any():
        *lines, last = (rest + chunk).split(b"\n")
        rest = last
        for line in lines:
            if line.strip():
                yield bytes(line)
        if len(rest) > _MAX_LINE_BYTES:
            raise EngineResponseError("The model server sent a line without an end")
    if rest.strip():
        yield bytes(rest)
