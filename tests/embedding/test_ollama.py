"""The Ollama engine against scripted servers: its protocol, and all that can go wrong in it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
import json
import tracemalloc
from typing import Any

import aiohttp
from aiohttp import web
import numpy as np
import pytest

from custom_components.ai_memory.embedding import EmbeddingEngine, TextKind
from custom_components.ai_memory.embedding.errors import (
    EngineModelMissingError,
    EngineReason,
    EngineResponseError,
    EngineUnauthorizedError,
    EngineUnavailableError,
)
from custom_components.ai_memory.embedding.http import (
    BATCH_SIZE,
    MAX_TEXT_CHARACTERS,
    body_limit_bytes,
)
from custom_components.ai_memory.embedding.ollama import (
    DEFAULT_MODEL,
    DEFAULT_URL,
    OllamaEngine,
    list_models,
    pull_model,
)
from custom_components.ai_memory.embedding.protocol import EngineError

from .servers import (
    BAD_VECTORS,
    BROKEN,
    HUGE_BYTES,
    KEY,
    Handler,
    ScriptedServer,
    Settings,
    close_mid_body,
    hang,
    json_answer,
    knowing,
    redirect,
    running_server,
    stream_endlessly,
    text_answer,
)

_DIGEST = "7907646426070047a77226ac3e684fbbe8410524f7b4a74d02837e43f2146bab"
_VERSION, _TAGS, _PULL = "/api/version", "/api/tags", "/api/pull"
_EMBED, _EMBEDDINGS = "/api/embed", "/api/embeddings"
_MISSING = {"error": 'model "bge-m3" not found, try pulling it first'}
_SHORT = 0.2

pytestmark = pytest.mark.usefixtures("socket_enabled")


@pytest.fixture
async def server(socket_enabled: None) -> AsyncIterator[ScriptedServer]:
    async with running_server() as running:
        running.answer(_VERSION, {"version": "0.12.0"})
        running.answer(_TAGS, {"models": [{"name": "bge-m3:latest", "digest": _DIGEST}]})
        running.answers[_EMBED] = _embed
        yield running


@pytest.fixture
async def session(socket_enabled: None) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
def settings(server: ScriptedServer, session: aiohttp.ClientSession) -> Settings:
    return Settings(session, server.url)


@pytest.fixture
def engine(settings: Settings) -> OllamaEngine:
    return OllamaEngine(settings)


@pytest.fixture
def impatient(settings: Settings) -> OllamaEngine:
    return OllamaEngine(replace(settings, timeout_seconds=_SHORT))


async def _embed(request: web.Request) -> web.StreamResponse:
    """Answer with vectors that tell how long each text is."""
    texts = (await request.json())["input"]
    vectors = [[3.0, 4.0, float(len(text))] for text in texts]
    return web.json_response({"model": "bge-m3", "embeddings": vectors})


def _lines(*events: Any) -> Handler:
    return text_answer("".join(json.dumps(event) + "\n" for event in events))


async def test_a_batch_is_one_request_and_comes_back_as_unit_rows(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    rows = await engine.embed(["tea", "coffee"], TextKind.DOCUMENT)
    assert rows.dtype == np.float32
    expected = np.array([[3, 4, 3], [3, 4, 6]]) / np.sqrt([[34], [61]])
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert server.bodies(_EMBED) == [{"model": "bge-m3", "input": ["tea", "coffee"]}]
    assert engine.dimension == 3


async def test_many_texts_are_sent_in_batches_and_keep_their_order(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    texts = ["x" * length for length in range(1, 2 * BATCH_SIZE + 4)]
    rows = await engine.embed(texts, TextKind.DOCUMENT)
    sizes = [len(body["input"]) for body in server.bodies(_EMBED)]
    assert sizes == [BATCH_SIZE, BATCH_SIZE, 3]
    np.testing.assert_allclose(
        rows[:, 2] / rows[:, 0] * 3, [len(text) for text in texts], rtol=1e-5
    )
    assert engine.batch_size == BATCH_SIZE


async def test_a_blank_text_gets_zeros_and_is_not_sent(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    rows = await engine.embed(["", "tea", " \n"], TextKind.QUERY)
    assert not rows[[0, 2]].any()
    assert np.linalg.norm(rows[1]) == pytest.approx(1.0)
    assert server.bodies(_EMBED) == [{"model": "bge-m3", "input": ["tea"]}]


async def test_nothing_to_embed_asks_nobody(server: ScriptedServer, engine: OllamaEngine) -> None:
    assert (await engine.embed([], TextKind.QUERY)).shape == (0, 0)
    assert server.asked == []


async def test_a_text_is_cut_to_what_a_model_may_read(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    await engine.embed(["x" * 100_000], TextKind.QUERY)
    assert server.bodies(_EMBED)[0]["input"] == ["x" * MAX_TEXT_CHARACTERS]


@pytest.mark.parametrize(
    "text", ["🏠🔑", "?!…", "the of and", "ключ κλειδί 鍵 مفتاح", "a\0b\u2028"]
)
async def test_any_text_arrives_as_it_is(
    server: ScriptedServer, engine: OllamaEngine, text: str
) -> None:
    await engine.embed([text], TextKind.QUERY)
    assert server.bodies(_EMBED)[0]["input"] == [text]


async def test_a_family_gets_its_instructions_and_a_person_their_own(
    server: ScriptedServer, settings: Settings
) -> None:
    nomic = OllamaEngine(replace(settings, model="nomic-embed-text"))
    await nomic.embed(["tea"], TextKind.QUERY)
    await nomic.embed(["tea"], TextKind.DOCUMENT)
    chosen = OllamaEngine(
        replace(settings, model="nomic-embed-text", query_instruction="", document_instruction="D:")
    )
    await chosen.embed(["tea"], TextKind.QUERY)
    await chosen.embed(["tea"], TextKind.DOCUMENT)
    sent = [body["input"][0] for body in server.bodies(_EMBED)]
    assert sent == ["search_query: tea", "search_document: tea", "tea", "D:tea"]
    assert nomic.fingerprint != chosen.fingerprint


async def test_every_request_carries_the_key(server: ScriptedServer, settings: Settings) -> None:
    server.answers[_PULL] = _lines({"status": "success"})
    engine = OllamaEngine(settings)
    await engine.probe()
    await engine.embed(["tea"], TextKind.QUERY)
    del server.answers[_EMBED]
    server.answer(_EMBEDDINGS, {"embedding": [1.0, 2.0, 2.0]})
    await engine.embed(["tea"], TextKind.QUERY)
    assert settings.session is not None
    await list_models(settings.session, server.url, KEY, 5)
    await pull_model(settings.session, server.url, "bge-m3", lambda _: None, api_key=KEY)
    assert {asked.path for asked in server.asked} == {
        _VERSION,
        _TAGS,
        _EMBED,
        _EMBEDDINGS,
        _PULL,
    }
    assert {asked.authorization for asked in server.asked} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("key", [None, "", "  "])
async def test_without_a_key_none_is_sent(
    server: ScriptedServer, settings: Settings, key: str | None
) -> None:
    await OllamaEngine(replace(settings, api_key=key)).embed(["tea"], TextKind.QUERY)
    assert server.asked[0].authorization is None


@pytest.mark.parametrize("shape", ["{}/", " {} ", "{}//"])
async def test_the_address_may_end_in_slashes(
    server: ScriptedServer, settings: Settings, shape: str
) -> None:
    await OllamaEngine(replace(settings, url=shape.format(server.url))).probe()
    assert [asked.path for asked in server.asked] == [_VERSION, _TAGS]


async def test_the_address_may_lack_its_scheme(settings: Settings) -> None:
    await OllamaEngine(replace(settings, url=settings.url.removeprefix("http://"))).probe()


async def test_a_probe_learns_the_digest(engine: OllamaEngine) -> None:
    assert engine.fingerprint == "ollama/bge-m3@/plain"
    await engine.probe()
    assert engine.fingerprint == "ollama/bge-m3@790764642607/plain"
    assert engine._revision == "790764642607"


async def test_the_known_revision_counts_until_the_server_is_back(
    server: ScriptedServer, settings: Settings
) -> None:
    engine = knowing(OllamaEngine(settings), "790764642607")
    server.answers[_VERSION] = text_answer("", 502)
    with pytest.raises(EngineUnavailableError):
        await engine.probe()
    assert engine.fingerprint == "ollama/bge-m3@790764642607/plain"


async def test_the_tag_latest_goes_without_saying(
    server: ScriptedServer, settings: Settings
) -> None:
    server.answer(
        _TAGS,
        {"models": [{"name": "bge-m3", "digest": "sha256:" + _DIGEST}, {"model": "e5:small"}]},
    )
    named = OllamaEngine(replace(settings, model="bge-m3:latest"))
    await named.probe()
    assert named.fingerprint == "ollama/bge-m3@790764642607/plain"
    other = OllamaEngine(replace(settings, model="e5:small"))
    await other.probe()
    assert other._revision == ""


@pytest.mark.parametrize("models", [[], [{"name": "bge-m3:567m", "digest": _DIGEST}], [None, {}]])
async def test_a_probe_says_that_the_model_is_missing(
    server: ScriptedServer, engine: OllamaEngine, models: list[Any]
) -> None:
    server.answer(_TAGS, {"models": models})
    with pytest.raises(EngineModelMissingError) as caught:
        await engine.probe()
    assert caught.value.reason == "model_missing"


async def test_embedding_says_that_the_model_is_missing(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    server.answer(_EMBED, _MISSING, 404)
    server.answer(_EMBEDDINGS, {"embedding": [1.0]})
    with pytest.raises(EngineModelMissingError):
        await engine.embed(["tea"], TextKind.QUERY)
    assert server.bodies(_EMBEDDINGS) == []


async def test_an_old_server_is_asked_text_by_text(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    del server.answers[_EMBED]
    server.answer(_EMBEDDINGS, {"embedding": [0.0, 3.0, 4.0]})
    for _ in range(2):
        rows = await engine.embed(["tea", "coffee"], TextKind.DOCUMENT)
        np.testing.assert_allclose(rows, [[0.0, 0.6, 0.8]] * 2, rtol=1e-6)
    assert len(server.bodies(_EMBED)) == 1
    prompts = [body["prompt"] for body in server.bodies(_EMBEDDINGS)]
    assert prompts == ["tea", "coffee"] * 2
    # After an update of the server, the next probe brings the batches back.
    server.answers[_EMBED] = _embed
    await engine.probe()
    await engine.embed(["tea", "coffee"], TextKind.DOCUMENT)
    assert server.bodies(_EMBED)[-1]["input"] == ["tea", "coffee"]


async def test_a_server_with_neither_door_is_not_one(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    del server.answers[_EMBED]
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("path", [_VERSION, _TAGS, _EMBED])
async def test_a_broken_server_is_named_and_nothing_comes_back(
    server: ScriptedServer, settings: Settings, path: str, broken: str
) -> None:
    handler, kind, reason = BROKEN[broken]
    patience = _SHORT if reason is EngineReason.TIMEOUT else 10.0
    engine = knowing(OllamaEngine(replace(settings, timeout_seconds=patience)), "abc")
    server.answers[path] = handler
    with pytest.raises(kind) as caught:
        if path == _EMBED:
            await engine.embed(["tea"], TextKind.QUERY)
        else:
            await engine.probe()
    assert caught.value.reason is reason
    assert KEY not in str(caught.value)
    assert engine.fingerprint == "ollama/bge-m3@abc/plain"
    assert engine.dimension is None
    assert server.sent_bytes < HUGE_BYTES / 2
    if path == _EMBED:
        server.answers[_EMBED] = _embed
        assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 3)


@pytest.mark.parametrize("vectors", BAD_VECTORS.values(), ids=BAD_VECTORS)
async def test_no_bad_vector_gets_through(
    server: ScriptedServer, engine: OllamaEngine, vectors: list[Any]
) -> None:
    server.answer(_EMBED, {"embeddings": vectors})
    with pytest.raises(EngineResponseError) as caught:
        await engine.embed(["tea", "coffee"], TextKind.DOCUMENT)
    assert caught.value.reason is EngineReason.BAD_RESPONSE
    assert engine.dimension is None


async def test_a_bad_vector_of_an_old_server_does_not_get_through(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    del server.answers[_EMBED]
    contents: list[dict[str, Any]] = [{"embedding": []}, {"embedding": [float("nan")]}, {}]
    for content in contents:
        server.answer(_EMBEDDINGS, content)
        with pytest.raises(EngineResponseError):
            await engine.embed(["tea"], TextKind.QUERY)


async def test_the_first_dimension_holds(server: ScriptedServer, engine: OllamaEngine) -> None:
    await engine.embed(["tea"], TextKind.QUERY)
    server.answer(_EMBED, {"embeddings": [[1.0, 2.0]]})
    with pytest.raises(EngineResponseError, match="2 numbers instead of 3"):
        await engine.embed(["tea"], TextKind.QUERY)
    assert engine.dimension == 3


async def test_the_dimension_holds_between_the_batches_of_one_call(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    async def shrink(request: web.Request) -> web.StreamResponse:
        texts = (await request.json())["input"]
        size = 3 if len(server.bodies(_EMBED)) == 1 else 2
        return web.json_response({"embeddings": [[1.0] * size] * len(texts)})

    server.answers[_EMBED] = shrink
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"] * (BATCH_SIZE + 1), TextKind.DOCUMENT)
    assert engine.dimension is None


async def test_another_revision_may_have_another_dimension(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    await engine.probe()
    await engine.embed(["tea"], TextKind.QUERY)
    server.answer(_TAGS, {"models": [{"name": "bge-m3", "digest": "f" * 64}]})
    server.answer(_EMBED, {"embeddings": [[1.0, 2.0]]})
    await engine.probe()
    assert engine.fingerprint == "ollama/bge-m3@ffffffffffff/plain"
    assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 2)


async def test_a_model_replaced_meanwhile_returns_nothing(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    await engine.probe()

    async def replaced(request: web.Request) -> web.StreamResponse:
        server.answer(_TAGS, {"models": [{"name": "bge-m3", "digest": "f" * 64}]})
        await engine.probe()
        return await _embed(request)

    server.answers[_EMBED] = replaced
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)
    assert engine.dimension is None


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_the_key_does_not_follow_to_another_host(
    server: ScriptedServer, engine: OllamaEngine, status: int
) -> None:
    async with running_server() as other:
        other.answers[_EMBED] = _embed
        other.answer(_VERSION, {"version": "0.12.0"})
        for path in (_EMBED, _VERSION):
            server.answers[path] = redirect(status, other.url + path)
        with pytest.raises(EngineResponseError) as embedding:
            await engine.embed(["tea"], TextKind.QUERY)
        with pytest.raises(EngineResponseError) as probing:
            await engine.probe()
        assert embedding.value.reason is probing.value.reason is EngineReason.BAD_RESPONSE
        assert other.asked == []


async def test_the_same_port_under_another_name_is_another_host(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    server.answers[_EMBED] = redirect(307, server.url.replace("127.0.0.1", "localhost") + "/moved")
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)
    assert [asked.path for asked in server.asked] == [_EMBED]


async def test_a_redirect_within_the_server_is_followed_once(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    server.answers["/moved/embed"] = _embed
    server.answers[_EMBED] = redirect(308, "/moved/embed")
    assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 3)
    moved = server.asked[-1]
    assert (moved.method, moved.path) == ("POST", "/moved/embed")
    assert moved.authorization == f"Bearer {KEY}"
    assert moved.body == server.asked[0].body
    server.answers["/moved/embed"] = redirect(308, "/moved/again")
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)


@pytest.mark.parametrize(
    ("text", "headers", "expected"),
    [
        ("seconds", {"Retry-After": "7"}, 7.0),
        (
            "a date by the server's clock",
            {
                "Retry-After": "Mon, 30 Nov 2026 08:02:00 GMT",
                "Date": "Mon, 30 Nov 2026 08:00:30 GMT",
            },
            90.0,
        ),
        ("a date long gone", {"Retry-After": "Mon, 02 Nov 2015 08:00:00 GMT"}, 0.0),
        ("a date without a zone", {"Retry-After": "Mon, 02 Nov 2015 08:00:00 -0000"}, 0.0),
        ("a date far ahead", {"Retry-After": "Mon, 30 Nov 2099 08:00:00 GMT"}, 86400.0),
        ("far too many seconds", {"Retry-After": "9" * 400}, 86400.0),
        ("nonsense", {"Retry-After": "soon"}, None),
        ("a negative number", {"Retry-After": "-1"}, None),
        ("nothing", {}, None),
    ],
)
async def test_a_busy_server_says_when_to_come_back(
    server: ScriptedServer,
    engine: OllamaEngine,
    text: str,
    headers: dict[str, str],
    expected: float | None,
) -> None:
    for status, reason in ((429, EngineReason.RATE_LIMITED), (503, EngineReason.UNREACHABLE)):
        server.answers[_EMBED] = text_answer(text, status, headers)
        with pytest.raises(EngineUnavailableError) as caught:
            await engine.embed(["tea"], TextKind.QUERY)
        assert caught.value.reason is reason
        assert caught.value.status == status
        assert caught.value.retry_after_seconds == expected


@pytest.mark.parametrize(
    "message",
    [
        "failed to encode response: json: unsupported value: NaN",
        "this model does not support embeddings",
        "the input length exceeds the context length",
    ],
)
async def test_a_text_that_will_never_work_is_no_illness_of_the_server(
    server: ScriptedServer, engine: OllamaEngine, message: str
) -> None:
    server.answer(_EMBED, {"error": message}, 500)
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)


async def test_no_error_repeats_a_text(server: ScriptedServer, engine: OllamaEngine) -> None:
    for status in (400, 401, 404, 413, 422, 429, 500):
        server.answer(_EMBED, {"error": "cannot read: my secret is 1234"}, status)
        with pytest.raises(EngineError) as caught:
            await engine.embed(["my secret is 1234"], TextKind.QUERY)
        assert "1234" not in str(caught.value)


async def test_a_huge_body_is_dropped_early_and_takes_no_memory(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    for announced in (True, False):
        server.sent_bytes = 0
        server.answers[_EMBED] = partial(stream_endlessly, announced=announced)
        tracemalloc.start()
        try:
            with pytest.raises(EngineResponseError, match="more than"):
                await engine.embed(["tea"], TextKind.QUERY)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 16 * body_limit_bytes(1)
        assert server.sent_bytes < HUGE_BYTES / 4


async def test_nobody_there_is_unreachable(settings: Settings) -> None:
    async with running_server() as gone:
        url = gone.url
    engine = OllamaEngine(replace(settings, url=url))
    for call in (engine.probe(), engine.embed(["tea"], TextKind.QUERY)):
        with pytest.raises(EngineUnavailableError) as caught:
            await call
        assert caught.value.reason is EngineReason.UNREACHABLE
        assert caught.value.status is None


@pytest.mark.parametrize(
    "url",
    ["", "http://", "http://[::1", "ftp://127.0.0.1", "http://a:99999", "no address"],
)
async def test_an_unusable_address_is_unreachable(settings: Settings, url: str) -> None:
    engine = OllamaEngine(replace(settings, url=url, timeout_seconds=_SHORT * 10))
    with pytest.raises(EngineUnavailableError):
        await engine.probe()


async def test_an_address_with_a_password_is_not_repeated(settings: Settings) -> None:
    url = settings.url.replace("http://", "http://anna:opensesame@")
    with pytest.raises(EngineUnavailableError) as caught:
        await OllamaEngine(replace(settings, url=url)).probe()
    assert "opensesame" not in f"{caught.value!r} {caught.value.__cause__!r}"


async def test_a_key_of_two_lines_is_not_sent(server: ScriptedServer, settings: Settings) -> None:
    with pytest.raises(EngineUnavailableError):
        await OllamaEngine(replace(settings, api_key="a\r\nX-Evil: b")).probe()
    assert server.asked == []


async def test_a_server_that_speaks_no_http_is_a_bad_response(settings: Settings) -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as secure_shell:
        port = secure_shell.sockets[0].getsockname()[1]
        engine = OllamaEngine(replace(settings, url=f"http://127.0.0.1:{port}"))
        with pytest.raises(EngineResponseError):
            await engine.probe()


async def test_an_engine_needs_a_session() -> None:
    with pytest.raises(ValueError, match="session"):
        OllamaEngine(Settings(None, DEFAULT_URL))


async def test_a_closed_session_is_unreachable(
    session: aiohttp.ClientSession, engine: OllamaEngine
) -> None:
    await session.close()
    with pytest.raises(EngineUnavailableError):
        await engine.probe()


async def test_giving_up_early_is_the_callers_right(
    server: ScriptedServer, engine: OllamaEngine
) -> None:
    server.answers[_EMBED] = hang
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(_SHORT):
            await engine.embed(["tea"], TextKind.QUERY)
    server.answers[_EMBED] = _embed
    assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 3)


async def test_the_rest_of_the_protocol_asks_nobody(
    server: ScriptedServer, settings: Settings
) -> None:
    engine: EmbeddingEngine = OllamaEngine(replace(settings, model=DEFAULT_MODEL))
    await engine.start()
    await engine.observe(["tea"], [])
    await engine.reset(["tea"])
    assert (engine.name, engine.local, engine.document_count) == ("ollama", False, None)
    await engine.stop()
    assert server.asked == []


async def test_models_are_listed_by_their_short_names(
    server: ScriptedServer, session: aiohttp.ClientSession
) -> None:
    names = ["bge-m3:latest", "nomic-embed-text:v1.5", "bge-m3"]
    server.answer(_TAGS, {"models": [{"name": name} for name in names] + [{"model": "e5"}, 1]})
    listed = await list_models(session, server.url, None, 5)
    assert listed == ["bge-m3", "nomic-embed-text:v1.5", "e5"]


@pytest.mark.parametrize("broken", BROKEN)
async def test_no_list_comes_from_a_broken_server(
    server: ScriptedServer, session: aiohttp.ClientSession, broken: str
) -> None:
    handler, kind, reason = BROKEN[broken]
    server.answers[_TAGS] = handler
    patience = _SHORT if reason is EngineReason.TIMEOUT else 10.0
    with pytest.raises(kind) as caught:
        await list_models(session, server.url, KEY, patience)
    assert caught.value.reason is reason


async def test_a_pull_tells_its_progress_and_never_goes_back(
    server: ScriptedServer, session: aiohttp.ClientSession
) -> None:
    server.answers[_PULL] = _lines(
        {"status": "pulling manifest"},
        {"status": "pulling a", "digest": "a", "total": 900},
        *({"status": "pulling a", "digest": "a", "total": 900, "completed": n} for n in (90, 95)),
        {"status": "pulling a", "digest": "a", "total": 900, "completed": 810},
        {"status": "pulling b", "digest": "b", "total": 100, "completed": 0},
        {"status": "pulling b", "digest": "b", "total": 100, "completed": 100},
        {"status": "pulling a", "digest": "a", "total": 900, "completed": 900},
        {"status": "verifying sha256 digest"},
        {"status": "success"},
    )
    told: list[float] = []
    await pull_model(session, server.url, "bge-m3", told.append)
    # 95 of 900 is too small a step; beginning with a second layer would be a step back.
    assert told == pytest.approx([0.1, 0.9, 0.91, 1.0, 1.0])
    assert server.bodies(_PULL) == [{"model": "bge-m3", "stream": True}]


async def test_a_pull_reads_lines_however_they_are_cut(
    server: ScriptedServer, session: aiohttp.ClientSession
) -> None:
    async def in_pieces(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in (b'{"digest":"a","total":2,', b'"completed":1}\n\n{"sta', b'tus":"success"}'):
            await response.write(piece)
            await asyncio.sleep(0.01)
        return response

    server.answers[_PULL] = in_pieces
    told: list[float] = []
    await pull_model(session, server.url, "bge-m3", told.append)
    assert told == [0.5, 1.0]


_ENDLESS_LINE = partial(stream_endlessly, announced=False)
_ENDLESS_STATUS = partial(
    stream_endlessly, announced=False, line=b'{"status":"pulling manifest"}\n' * 1000
)

_FAILED_PULLS: dict[str, tuple[Handler, type[EngineError], EngineReason]] = {
    "no such model": (
        _lines(
            {"status": "pulling manifest"}, {"error": "pull model manifest: file does not exist"}
        ),
        EngineModelMissingError,
        EngineReason.MODEL_MISSING,
    ),
    "a full disk": (
        _lines({"error": "no space left on device"}),
        EngineResponseError,
        EngineReason.BAD_RESPONSE,
    ),
    "an end before the end": (
        _lines({"status": "pulling manifest"}),
        EngineUnavailableError,
        EngineReason.UNREACHABLE,
    ),
    "closed mid-body": (close_mid_body, EngineUnavailableError, EngineReason.UNREACHABLE),
    "hangs": (hang, EngineUnavailableError, EngineReason.TIMEOUT),
    "HTML": (text_answer("<html></html>"), EngineResponseError, EngineReason.BAD_RESPONSE),
    "a list": (_lines([]), EngineResponseError, EngineReason.BAD_RESPONSE),
    "a line without an end": (_ENDLESS_LINE, EngineResponseError, EngineReason.BAD_RESPONSE),
    "a key is wanted": (
        text_answer("", 401),
        EngineUnauthorizedError,
        EngineReason.UNAUTHORIZED,
    ),
    "404": (text_answer("", 404), EngineResponseError, EngineReason.BAD_RESPONSE),
    "404 for the model": (
        json_answer(_MISSING, 404),
        EngineModelMissingError,
        EngineReason.MODEL_MISSING,
    ),
    "201": (json_answer({}, 201), EngineResponseError, EngineReason.BAD_RESPONSE),
    "500": (text_answer("", 500), EngineUnavailableError, EngineReason.UNREACHABLE),
}


@pytest.mark.parametrize("failed", _FAILED_PULLS)
async def test_a_pull_that_fails_says_why(
    server: ScriptedServer, session: aiohttp.ClientSession, failed: str
) -> None:
    handler, kind, reason = _FAILED_PULLS[failed]
    server.answers[_PULL] = handler
    patience = _SHORT if reason is EngineReason.TIMEOUT else 10.0
    told: list[float] = []
    with pytest.raises(kind) as caught:
        await pull_model(session, server.url, "bge-m3", told.append, timeout_seconds=patience)
    assert caught.value.reason is reason
    assert told == []
    assert server.sent_bytes < HUGE_BYTES / 4


async def test_an_endless_pull_ends_with_its_time_and_keeps_nothing(
    server: ScriptedServer, session: aiohttp.ClientSession
) -> None:
    server.answers[_PULL] = _ENDLESS_STATUS
    with pytest.raises(EngineUnavailableError) as caught:
        await pull_model(session, server.url, "bge-m3", lambda _: None, timeout_seconds=_SHORT)
    assert caught.value.reason is EngineReason.TIMEOUT
