"""The way to a model server: one capped JSON request, checked vectors, and what its engines share.

``ollama.py`` and ``openai_compatible.py`` build on this file. One call is one attempt: retries,
back-off and the circuit belong to the caller. A redirect is followed once and only to the same
origin, so the key never leaves the server it was given for. A body is never read beyond its cap,
and nothing is returned that is not a whole, finite, non-zero set of vectors of one dimension.

Nothing here logs, and no error repeats a server's words, a text or the key.
"""
# ruff: noqa: B027 - much of the engines' protocol is no concern of an engine with a server

from abc import ABC, abstractmethod
import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
import json
import re
from typing import Final, Protocol

import aiohttp
import numpy as np
from numpy.typing import NDArray
from yarl import URL

from .errors import (
    EngineModelMissingError,
    EngineReason,
    EngineResponseError,
    EngineUnauthorizedError,
    EngineUnavailableError,
)
from .instructions import instructions_for
from .protocol import EngineError, FloatMatrix, TextKind
from .ranking import RankingProfile, ranking_of

MAX_BODY_BYTES: Final = 32 * 1024 * 1024
# A vector of 8 192 numbers as wordy as JSON can write them.
MAX_VECTOR_BYTES: Final = 256 * 1024
# More of a text would be cut off by nearly every model, and cost seconds on a small machine.
MAX_TEXT_CHARACTERS: Final = 8192
# Every known server takes this many texts at once, and their vectors are read within a step of the
# event loop: the JSON reader lets no other thread run meanwhile.
BATCH_SIZE: Final = 16

# Reading a body up to this size takes less time than the way to a worker thread and back.
_INLINE_BODY_BYTES: Final = 32 * 1024
_EXPLANATION_CHARACTERS: Final = 2000
_MAX_RETRY_AFTER_SECONDS: Final = 24 * 3600.0
_REDIRECTS: Final = frozenset(
    {
        HTTPStatus.MOVED_PERMANENTLY,
        HTTPStatus.FOUND,
        HTTPStatus.TEMPORARY_REDIRECT,
        HTTPStatus.PERMANENT_REDIRECT,
    }
)
_MODEL_MISSING: Final = re.compile(
    r"model_not_found|no such model|unknown model|invalid model|no models? loaded"
    r"|could not find (?:real model|suitable)"
    r"|\bmodel\b.{0,200}?(?:not found|not exist|n't exist|not available)",
    re.IGNORECASE | re.DOTALL,
)
# Some servers answer 500 to a text or a model that will never work, as if they were ill.
_NEVER_WORKS: Final = re.compile(
    r"unsupported value|not support embedding|context (?:length|size)|input length"
    r"|too (?:large|long)|maximum (?:context|input)",
    re.IGNORECASE,
)


class RemoteSettings(Protocol):
    """What an engine needs to know about its server."""

    @property
    def session(self) -> aiohttp.ClientSession | None:
        """The session to speak through; it belongs to the caller and is never closed here."""

    @property
    def url(self) -> str:
        """Base address of the server."""

    @property
    def api_key(self) -> str | None:
        """Sent as a bearer token with every request, if given."""

    @property
    def model(self) -> str:
        """Name of the model, as the server knows it."""

    @property
    def timeout_seconds(self) -> float:
        """How long one request may take from its first byte to the last of the reply."""

    @property
    def query_instruction(self) -> str | None:
        """What stands in front of a query; None leaves it to the model's family."""

    @property
    def document_instruction(self) -> str | None:
        """What stands in front of a document; None leaves it to the model's family."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply of a server."""

    status: int
    content: object
    """The parsed JSON, or None when the body is not JSON."""
    explanation: str
    """What the server says about an error: to recognise it by, never to be repeated."""
    retry_after_seconds: float | None

    @property
    def misses_model(self) -> bool:
        """Whether the server says that it does not have the model."""
        return misses_model(self.explanation)

    def fields(self) -> Mapping[str, object]:
        """Return the JSON object of a reply that succeeded. Raises EngineError."""
        if error := self._error():
            raise error
        if not isinstance(self.content, dict):
            raise EngineResponseError("The model server did not answer with a JSON object")
        return self.content

    def _error(self) -> EngineError | None:
        """Return what the status or the body says went wrong."""
        status = self.status
        answered = f"The model server answered with HTTP status {status}"
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            return EngineUnauthorizedError(answered)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return EngineUnavailableError(
                answered,
                reason=EngineReason.RATE_LIMITED,
                status=status,
                retry_after_seconds=self.retry_after_seconds,
            )
        if self.misses_model:
            return EngineModelMissingError()
        return self._other_error(answered)

    def _other_error(self, answered: str) -> EngineError | None:
        if _NEVER_WORKS.search(self.explanation):
            return EngineResponseError(f"{answered}: the model cannot embed this")
        if self.status >= HTTPStatus.INTERNAL_SERVER_ERROR or (
            self.status == HTTPStatus.REQUEST_TIMEOUT
        ):
            return EngineUnavailableError(
                answered, status=self.status, retry_after_seconds=self.retry_after_seconds
            )
        if not HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return EngineResponseError(answered)
        if self.explanation:
            return EngineResponseError("The model server answered with an error")
        return None


class ModelServer:
    """One server: its address, its key and how long to wait for it."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        api_key: str | None,
        timeout_seconds: float,
    ) -> None:
        """Remember whom to ask; nothing is sent, and an unusable address fails when it is used."""
        self._session = session
        self._base = url.strip()
        self._timeout_seconds = timeout_seconds
        self._headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if key := (api_key or "").strip():
            self._headers["Authorization"] = f"Bearer {key}"

    async def ask(
        self,
        method: str,
        path: str,
        payload: Mapping[str, object] | None = None,
        *,
        limit_bytes: int = MAX_BODY_BYTES,
    ) -> Reply:
        """Return the whole reply, whatever its status. Raises EngineError."""
        async with self.open(method, path, payload) as response:
            return await reply_of(response, limit_bytes=limit_bytes)

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        payload: Mapping[str, object] | None = None,
        *,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and give its reply to read, all within the time. Raises EngineError."""
        seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        with _network_errors():
            async with asyncio.timeout(seconds):
                async with await self._request(method, path, payload) as response:
                    yield response

    async def _request(
        self, method: str, path: str, payload: Mapping[str, object] | None
    ) -> aiohttp.ClientResponse:
        """Send a request, and once more where a redirect stays within the origin."""
        if self._session.closed:
            raise EngineUnavailableError("The connections are already closed")
        try:
            url = self._url(path)
            response = await self._send(method, url, payload)
            if response.status not in _REDIRECTS:
                return response
            target = _redirect_target(response, url)
            response = await self._send(method, target, payload)
        except ValueError:
            # Also what aiohttp calls an unusable address; its words would repeat the address.
            raise EngineUnavailableError("The address or the key cannot be used") from None
        if response.status in _REDIRECTS:
            response.close()
            raise EngineResponseError("The model server redirects more than once")
        return response

    async def _send(
        self, method: str, url: URL, payload: Mapping[str, object] | None
    ) -> aiohttp.ClientResponse:
        return await self._session.request(
            method,
            url,
            json=payload,
            headers=self._headers,
            allow_redirects=False,
            # The time is limited as a whole, by the caller of this method.
            timeout=aiohttp.ClientTimeout(total=None),
        )

    def _url(self, path: str) -> URL:
        """Return the address of a path. Raises ValueError."""
        base = self._base if "://" in self._base else f"http://{self._base}"
        url = URL(f"{base.rstrip('/')}/{path}")
        if not url.host or " " in url.host:
            raise ValueError("no host")
        return url


class RemoteEngine(ABC):
    """What the engines with a server have in common."""

    batch_size: Final = BATCH_SIZE

    def __init__(
        self, name: str, model: str, settings: RemoteSettings, *, dimension: int | None = None
    ) -> None:
        """Prepare an engine; nothing is sent before it is used."""
        if settings.session is None:
            raise ValueError(f"engine {name!r} needs an HTTP session")
        self._name = name
        self._model = model
        self._server = ModelServer(
            settings.session,
            self._base_url(settings.url),
            settings.api_key,
            settings.timeout_seconds,
        )
        self._instructions = instructions_for(
            model, query=settings.query_instruction, document=settings.document_instruction
        )
        self._revision = ""
        self._asked_dimension = dimension
        self._dimension = dimension

    @property
    def name(self) -> str:
        """Registry name of the engine."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """Changes with the model, with its revision, and with the texts in front of a text."""
        return f"{self._name}/{self._model}@{self._revision}/{self._tag}"

    @property
    def dimension(self) -> int | None:
        """How many numbers a vector has, once one was made or a number was asked for."""
        return self._dimension

    @property
    def local(self) -> bool:
        """Every text takes a way over the network."""
        return False

    @property
    def document_count(self) -> None:
        """A server keeps no statistics of the documents."""

    @property
    def ranking(self) -> RankingProfile:
        """Return the profile of the model's family."""
        return ranking_of(self._model)

    def remember(self, fingerprints: Sequence[str]) -> None:
        """Take the revision that made most of the stored vectors for the server's, for now."""
        opening, ending = f"{self._name}/{self._model}@", f"/{self._tag}"
        for fingerprint in fingerprints:
            if fingerprint.startswith(opening) and fingerprint.endswith(ending):
                self._revision = fingerprint[len(opening) : -len(ending)]
                return

    async def start(self) -> None:
        """Do nothing: a server that is down must not keep anybody from starting."""

    async def stop(self) -> None:
        """Do nothing: the session belongs to the caller."""

    async def observe(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """Do nothing: no vector depends on other texts."""

    async def reset(self, documents: Sequence[str]) -> None:
        """Do nothing: no vector depends on other texts."""

    @abstractmethod
    async def probe(self) -> None:
        """Ask whether the server answers and which revision it serves. Raises EngineError."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> FloatMatrix:
        """Return one unit row per text, all zero for a blank one. Raises EngineError.

        Only as many characters as a model may read are sent. A failure returns nothing at all.
        """
        filled = [place for place, text in enumerate(texts) if text and not text.isspace()]
        prepared = [
            self._instructions.apply(texts[place][:MAX_TEXT_CHARACTERS], kind) for place in filled
        ]
        revision, dimension = self._revision, self._dimension
        parts: list[FloatMatrix] = []
        for start in range(0, len(prepared), BATCH_SIZE):
            part = await self._rows(prepared[start : start + BATCH_SIZE], dimension)
            dimension = part.shape[1]
            parts.append(part)
        if parts:
            self._keep_dimension(revision, dimension)
        result = np.zeros((len(texts), dimension or 0), dtype=np.float32)
        if parts:
            result[filled] = np.concatenate(parts)
        return result

    async def _rows(self, texts: Sequence[str], dimension: int | None) -> FloatMatrix:
        vectors = await self._vectors(texts)
        if len(texts) == 1:
            return unit_rows(vectors, 1, dimension)
        return await _in_worker(unit_rows, vectors, len(texts), dimension)

    @abstractmethod
    async def _vectors(self, texts: Sequence[str]) -> Sequence[object]:
        """Return the vectors of one batch as the server sent them, in the order of the texts."""

    @property
    def _tag(self) -> str:
        tag = self._instructions.tag
        return tag if self._asked_dimension is None else f"{self._asked_dimension}-{tag}"

    @staticmethod
    def _base_url(url: str) -> str:
        """Return the address that the paths of requests are put behind."""
        return url

    def _learn_revision(self, revision: str) -> None:
        """Take over what a server says; silence is no reason to forget what it said before."""
        if revision and revision != self._revision:
            self._revision = revision
            self._dimension = self._asked_dimension

    def _keep_dimension(self, revision: str, dimension: int | None) -> None:
        """Hold the first dimension fast, unless things changed while the server worked."""
        if revision != self._revision or self._dimension not in {None, dimension}:
            raise EngineResponseError("The model was replaced while it worked")
        self._dimension = dimension


def misses_model(explanation: str) -> bool:
    """Return whether a server says in these words that it does not have the model."""
    return _MODEL_MISSING.search(explanation) is not None


async def reply_of(response: aiohttp.ClientResponse, *, limit_bytes: int = MAX_BODY_BYTES) -> Reply:
    """Read a reply to its end, whatever its status. Raises EngineError."""
    body = await _read(response, limit_bytes)
    small = len(body) <= _INLINE_BODY_BYTES
    content = _parsed(body) if small else await _in_worker(_parsed, body)
    return Reply(
        status=response.status,
        content=content,
        explanation=_explanation(response.status, content, body),
        retry_after_seconds=_retry_after_seconds(response.headers),
    )


def body_limit_bytes(texts: int) -> int:
    """Return how large the vectors of so many texts can be on the wire."""
    return min(MAX_BODY_BYTES, (texts + 1) * MAX_VECTOR_BYTES)


def unit_rows(vectors: Sequence[object], count: int, dimension: int | None) -> FloatMatrix:
    """Return the vectors as rows of length 1. Raises EngineResponseError for anything odd."""
    if len(vectors) != count:
        raise EngineResponseError(f"The model server sent {len(vectors)} vectors for {count} texts")
    rows = [_numbers(vector) for vector in vectors]
    expected = rows[0].size if dimension is None else dimension
    if odd := {row.size for row in rows} - {expected}:
        raise EngineResponseError(
            f"The model server sent a vector of {min(odd)} numbers instead of {expected}"
        )
    matrix = np.stack(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EngineResponseError("The model server sent a vector that is not finite")
    if not lengths.all():
        raise EngineResponseError("The model server sent a vector of zeros")
    rows_of_length_one: FloatMatrix = (matrix / lengths).astype(np.float32)
    return rows_of_length_one


def _numbers(vector: object) -> NDArray[np.float64]:
    """Return one vector, sent as a list of numbers or as base64 of 32-bit floats."""
    try:
        if isinstance(vector, str):
            numbers = np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4")
        else:
            numbers = np.asarray(vector if isinstance(vector, list) else None)
    except ValueError:
        numbers = np.asarray(None)
    # Without a type asked for, numbers as text, booleans and null show in the kind of the array.
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "fiu":
        raise EngineResponseError("The model server sent something that is not a vector")
    return numbers.astype(np.float64)


async def _in_worker[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function in a worker thread."""
    call = partial(function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(None, call)


async def _read(response: aiohttp.ClientResponse, limit_bytes: int) -> bytes:
    """Return the body; one that is too large is dropped with its connection."""
    body = bytearray()
    if (response.content_length or 0) <= limit_bytes:
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > limit_bytes:
                break
        else:
            return bytes(body)
    response.close()
    raise EngineResponseError(f"The model server answered with more than {limit_bytes} bytes")


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _explanation(status: int, content: object, body: bytes) -> str:
    """Return the server's words about an error, or nothing if it does not speak of one."""
    if isinstance(content, dict):
        error = content.get("error")
        if not error and status >= HTTPStatus.BAD_REQUEST:
            error = [content.get(key) for key in ("code", "type", "message", "detail")]
        return str(error)[:_EXPLANATION_CHARACTERS] if error else ""
    if status < HTTPStatus.BAD_REQUEST or body.lstrip()[:1] == b"<":
        return ""
    return body[:_EXPLANATION_CHARACTERS].decode(errors="replace")


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return how long the server asks to be left alone: in seconds, or until a date."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdecimal():
        return min(float(value), _MAX_RETRY_AFTER_SECONDS)
    until = _http_date(value)
    if until is None:
        return None
    # Both dates by the server's clock, where it tells the time.
    now = _http_date(headers.get("Date", "")) or datetime.now(UTC)
    return min(max(0.0, (until - now).total_seconds()), _MAX_RETRY_AFTER_SECONDS)


def _http_date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _redirect_target(response: aiohttp.ClientResponse, url: URL) -> URL:
    """Return where a redirect leads within the origin; no other host gets a request at all."""
    response.close()
    try:
        target = url.join(URL(response.headers.get("Location", "")))
        stays = target.origin() == url.origin()
    except ValueError:
        raise EngineResponseError("The model server redirects to nowhere") from None
    if not stays:
        raise EngineResponseError("The model server redirects to another address")
    return target


@contextmanager
def _network_errors() -> Iterator[None]:
    """Name what the network did in the words of this package."""
    try:
        yield
    except TimeoutError as err:
        raise EngineUnavailableError(
            "The model server did not answer in time", reason=EngineReason.TIMEOUT
        ) from err
    except aiohttp.ClientConnectorError as err:
        raise EngineUnavailableError(f"The model server cannot be reached: {err}") from err
    except aiohttp.ClientResponseError as err:
        raise EngineResponseError("The model server does not speak HTTP") from err
    except (aiohttp.ClientError, OSError) as err:
        raise EngineUnavailableError(
            f"The connection to the model server broke: {type(err).__name__}"
        ) from err
