"""The engine that asks a server which speaks OpenAI's embeddings protocol.

Such are llama.cpp's ``llama-server``, llama-swap, LM Studio, vLLM, LocalAI, Infinity, Hugging Face
TEI and OpenAI itself. The registry makes one, the manager in ``core`` calls it, and the config flow
uses :func:`list_models`. These servers load their models at their own start: nothing is pulled.

What such a server calls its models is its own affair, and some have no list at all. So a probe
only wants an answer that makes sense; whether the model is there, embedding shows.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
import re
from typing import Final
from urllib.parse import quote

import aiohttp

from .errors import EngineResponseError, EngineUnavailableError
from .http import ModelServer, RemoteEngine, RemoteSettings, body_limit_bytes
from .protocol import EngineError

ENGINE_NAME: Final = "openai_compatible"

# A host may be called v1 as well.
_VERSION_PATH: Final = re.compile(r"(?<!:/)/v1$")
_MODELS: Final = "v1/models"
_NO_SUCH_DOOR: Final = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)


class OpenAICompatibleEngine(RemoteEngine):
    """Embeds with whatever model stands behind ``/v1/embeddings``."""

    def __init__(self, settings: RemoteSettings, *, dimensions: int | None = None) -> None:
        """Prepare the engine; ``dimensions`` asks a model that can for shorter vectors."""
        super().__init__(ENGINE_NAME, settings.model.strip(), settings, dimension=dimensions)
        self._may_be_llama_swap = True

    async def probe(self) -> None:
        """Ask whether the server answers, and which revision it serves if it tells."""
        reply = await self._server.ask("GET", _MODELS)
        if reply.status in _NO_SUCH_DOOR:
            return
        entries = _entries(reply.fields())
        self._learn_revision(_revision(entries, self._model) or await self._upstream_revision())

    async def _upstream_revision(self) -> str:
        """Return the revision that the server behind a llama-swap tells, or nothing."""
        if not self._may_be_llama_swap:
            return ""
        path = f"upstream/{quote(self._model, safe='')}/{_MODELS}"
        try:
            entries = _entries((await self._server.ask("GET", path)).fields())
        except EngineUnavailableError:
            return ""  # The server itself has just answered: its model may be on its way.
        except EngineError:
            self._may_be_llama_swap = False
            return ""
        # A server of one model may call it otherwise than llama-swap does.
        own_name = str(entries[0].get("id")) if len(entries) == 1 else self._model
        return _revision(entries, own_name)

    async def _vectors(self, texts: Sequence[str]) -> Sequence[object]:
        payload: dict[str, object] = {
            "model": self._model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._asked_dimension is not None:
            payload["dimensions"] = self._asked_dimension
        reply = await self._server.ask(
            "POST", "v1/embeddings", payload, limit_bytes=body_limit_bytes(len(texts))
        )
        entries = _entries(reply.fields())
        return [entry.get("embedding") for entry in _in_order(entries, len(texts))]

    @staticmethod
    def _base_url(url: str) -> str:
        return base_url(url)


async def list_models(
    session: aiohttp.ClientSession, url: str, api_key: str | None, timeout_seconds: float
) -> list[str]:
    """Return the names of the models that the server offers. Raises EngineError.

    An EngineResponseError means that somebody answers there, but not with a list.
    """
    server = ModelServer(session, base_url(url), api_key, timeout_seconds)
    entries = _entries((await server.ask("GET", _MODELS)).fields())
    names = [entry.get("id") for entry in entries]
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def base_url(url: str) -> str:
    """Return the address without the ``/v1`` that people may or may not write."""
    return _VERSION_PATH.sub("", url.strip().rstrip("/")).rstrip("/")


def _entries(fields: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the objects in which both lists of this protocol keep what they list."""
    data = fields.get("data")
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise EngineResponseError("The model server did not answer with a list")
    return data


def _revision(entries: Sequence[Mapping[str, object]], model: str) -> str:
    """Return the last part of the path that the server loaded the model from, if it tells."""
    for entry in entries:
        root = entry.get("root")
        if entry.get("id") == model and isinstance(root, str):
            return root.rstrip("/").rpartition("/")[2]
    return ""


def _in_order(entries: Sequence[Mapping[str, object]], count: int) -> list[Mapping[str, object]]:
    """Return the entries in the order of the texts; servers may send them in any."""
    if len(entries) != count:
        raise EngineResponseError(f"The model server sent {len(entries)} vectors for {count} texts")
    if count == 1 or not any("index" in entry for entry in entries):
        return list(entries)
    places = {
        place: entry
        for entry in entries
        if isinstance(place := entry.get("index"), int) and not isinstance(place, bool)
    }
    if places.keys() != set(range(count)):
        raise EngineResponseError("The model server did not say which vector is whose")
    return [places[place] for place in range(count)]
