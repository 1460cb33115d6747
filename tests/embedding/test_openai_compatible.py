"""The OpenAI-compatible engine against scripted servers: what differs from one to the next."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
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
    EngineUnavailableError,
)
from custom_components.ai_memory.embedding.http import (
    BATCH_SIZE,
    MAX_BODY_BYTES,
    MAX_TEXT_CHARACTERS,
)
from custom_components.ai_memory.embedding.openai_compatible import (
    OpenAICompatibleEngine,
    base_url,
    list_models,
)
from custom_components.ai_memory.embedding.protocol import EngineError

from .servers import (
    BAD_VECTORS,
    BROKEN,
    HUGE_BYTES,
    KEY,
    ScriptedServer,
    Settings,
    hang,
    knowing,
    redirect,
    running_server,
    stream_endlessly,
    text_answer,
)

_MODELS, _EMBEDDINGS = "/v1/models", "/v1/embeddings"
_MODEL = "qwen3-emb-0.6b"
_UPSTREAM = f"/upstream/{_MODEL}/v1/models"
_SHORT = 0.2
_QWEN_INSTRUCTION = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

pytestmark = pytest.mark.usefixtures("socket_enabled")


@pytest.fixture
async def server(socket_enabled: None) -> AsyncIterator[ScriptedServer]:
    async with running_server() as running:
        running.answer(_MODELS, {"object": "list", "data": [{"id": _MODEL, "object": "model"}]})
        running.answers[_EMBEDDINGS] = _embed
        yield running


@pytest.fixture
async def session(socket_enabled: None) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
def settings(server: ScriptedServer, session: aiohttp.ClientSession) -> Settings:
    return Settings(session, server.url, model=_MODEL, query_instruction="")


@pytest.fixture
def engine(settings: Settings) -> OpenAICompatibleEngine:
    return OpenAICompatibleEngine(settings)


async def _embed(request: web.Request) -> web.StreamResponse:
    """Answer with vectors that tell how long each text is."""
    texts = (await request.json())["input"]
    return web.json_response(_answer([[3.0, 4.0, float(len(text))] for text in texts]))


def _answer(vectors: list[Any]) -> dict[str, Any]:
    """Return vectors in OpenAI's envelope, in order."""
    data = [
        {"object": "embedding", "index": place, "embedding": vector}
        for place, vector in enumerate(vectors)
    ]
    return {"object": "list", "data": data, "model": _MODEL, "usage": {"total_tokens": 1}}


def _packed(vector: list[float]) -> str:
    return base64.b64encode(np.array(vector, dtype="<f4").tobytes()).decode()


async def test_a_batch_is_one_request_and_comes_back_as_unit_rows(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    rows = await engine.embed(["tea", "coffee"], TextKind.DOCUMENT)
    assert rows.dtype == np.float32
    expected = np.array([[3, 4, 3], [3, 4, 6]]) / np.sqrt([[34], [61]])
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert server.bodies(_EMBEDDINGS) == [
        {"model": _MODEL, "input": ["tea", "coffee"], "encoding_format": "float"}
    ]


async def test_many_texts_are_sent_in_batches_and_keep_their_order(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    texts = ["x" * length for length in range(1, 2 * BATCH_SIZE + 4)]
    rows = await engine.embed(texts, TextKind.DOCUMENT)
    sizes = [len(body["input"]) for body in server.bodies(_EMBEDDINGS)]
    assert sizes == [BATCH_SIZE, BATCH_SIZE, 3]
    lengths = rows[:, 2] / rows[:, 0] * 3
    np.testing.assert_allclose(lengths, [len(text) for text in texts], rtol=1e-5)


async def test_large_vectors_of_a_whole_batch_fit(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    wordy = [0.123456789012345678e-10] * 8192
    server.answer(_EMBEDDINGS, _answer([wordy] * BATCH_SIZE))
    rows = await engine.embed(["tea"] * BATCH_SIZE, TextKind.DOCUMENT)
    assert rows.shape == (BATCH_SIZE, 8192)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "//", "/v1//", " "])
async def test_the_address_may_end_in_the_version_or_not(
    server: ScriptedServer, settings: Settings, suffix: str
) -> None:
    engine = OpenAICompatibleEngine(replace(settings, url=server.url + suffix))
    await engine.probe()
    await engine.embed(["tea"], TextKind.QUERY)
    assert settings.session is not None
    await list_models(settings.session, server.url + suffix, None, 5)
    assert {asked.path for asked in server.asked} == {_MODELS, _UPSTREAM, _EMBEDDINGS}


def test_only_a_whole_version_is_taken_off_the_address() -> None:
    assert base_url("http://host/proxy/v1/") == "http://host/proxy"
    assert base_url("http://host/modelv1") == "http://host/modelv1"
    assert base_url("http://v1") == "http://v1"
    assert base_url("http://host/v1beta") == "http://host/v1beta"


async def test_a_server_may_stand_below_a_path(server: ScriptedServer, settings: Settings) -> None:
    server.answers["/proxy/v1/embeddings"] = _embed
    engine = OpenAICompatibleEngine(replace(settings, url=server.url + "/proxy/v1"))
    assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 3)


async def test_base64_is_read_though_floats_were_asked_for(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    server.answer(_EMBEDDINGS, _answer([_packed([3.0, 4.0]), [0.0, 2.0], _packed([-1.0, 0.0])]))
    rows = await engine.embed(["a", "b", "c"], TextKind.DOCUMENT)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]], rtol=1e-6)


async def test_bad_floats_do_not_hide_in_base64(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    for bad in ([float("nan"), 1.0], [float("inf"), 1.0], [0.0, 0.0], []):
        server.answer(_EMBEDDINGS, _answer([_packed(bad)]))
        with pytest.raises(EngineResponseError):
            await engine.embed(["tea"], TextKind.QUERY)


async def test_vectors_out_of_order_find_their_texts(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    content = _answer([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    for order in ([2, 0, 1], [1, 2, 0], [2, 1, 0]):
        server.answer(_EMBEDDINGS, content | {"data": [content["data"][place] for place in order]})
        rows = await engine.embed(["a", "b", "c"], TextKind.DOCUMENT)
        np.testing.assert_allclose(rows, [[1, 0], [0, 1], [-1, 0]])


async def test_without_any_index_the_order_is_that_of_the_texts(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    server.answer(_EMBEDDINGS, {"data": [{"embedding": [1.0, 0.0]}, {"embedding": [0.0, 1.0]}]})
    rows = await engine.embed(["a", "b"], TextKind.DOCUMENT)
    np.testing.assert_allclose(rows, [[1, 0], [0, 1]])


@pytest.mark.parametrize("index", [7, -1, None, "0", True])
async def test_of_a_single_vector_nobody_asks_the_index(
    server: ScriptedServer, engine: OpenAICompatibleEngine, index: Any
) -> None:
    server.answer(_EMBEDDINGS, {"data": [{"embedding": [0.0, 2.0], "index": index}]})
    np.testing.assert_allclose(await engine.embed(["a"], TextKind.QUERY), [[0, 1]])


@pytest.mark.parametrize(
    "indexes", [[0, 0], [1, 1], [1, 2], [-1, 0], [0, None], ["0", "1"], [False, True], [0.0, 1.0]]
)
async def test_without_knowing_which_is_whose_nothing_comes_back(
    server: ScriptedServer, engine: OpenAICompatibleEngine, indexes: list[Any]
) -> None:
    data = [{"embedding": [1.0, 2.0], "index": index} for index in indexes]
    server.answer(_EMBEDDINGS, {"data": data})
    with pytest.raises(EngineResponseError):
        await engine.embed(["a", "b"], TextKind.DOCUMENT)


async def test_a_dimension_is_asked_for_only_when_chosen(
    server: ScriptedServer, settings: Settings
) -> None:
    shorter = OpenAICompatibleEngine(settings, dimensions=2)
    server.answer(_EMBEDDINGS, _answer([[3.0, 4.0]]))
    assert (await shorter.embed(["tea"], TextKind.QUERY)).shape == (1, 2)
    assert server.bodies(_EMBEDDINGS)[-1]["dimensions"] == 2
    assert shorter.fingerprint == f"openai_compatible/{_MODEL}@/2-plain"
    # A server that takes no notice does not get through.
    server.answer(_EMBEDDINGS, _answer([[3.0, 4.0, 5.0]]))
    fresh = OpenAICompatibleEngine(settings, dimensions=2)
    with pytest.raises(EngineResponseError):
        await fresh.embed(["tea"], TextKind.QUERY)
    with pytest.raises(EngineResponseError):
        await shorter.embed(["tea"], TextKind.QUERY)
    assert OpenAICompatibleEngine(settings).fingerprint != shorter.fingerprint


async def test_the_asked_dimension_holds_for_another_revision(
    server: ScriptedServer, settings: Settings
) -> None:
    engine = OpenAICompatibleEngine(settings, dimensions=2)
    server.answer(_MODELS, {"data": [{"id": _MODEL, "root": "/models/new.gguf"}]})
    await engine.probe()
    server.answer(_EMBEDDINGS, _answer([[3.0, 4.0, 5.0]]))
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)


async def test_the_spec_query_text_stands_before_a_query(
    server: ScriptedServer, settings: Settings
) -> None:
    engine = OpenAICompatibleEngine(replace(settings, query_instruction=None))
    await engine.embed(["where is the key"], TextKind.QUERY)
    await engine.embed(["The key is here."], TextKind.DOCUMENT)
    assert [body["input"] for body in server.bodies(_EMBEDDINGS)] == [
        [_QWEN_INSTRUCTION + "where is the key"],
        ["The key is here."],
    ]


async def test_every_request_carries_the_key(
    server: ScriptedServer, engine: OpenAICompatibleEngine, session: aiohttp.ClientSession
) -> None:
    await engine.probe()
    await engine.embed(["tea"], TextKind.QUERY)
    await list_models(session, server.url, KEY, 5)
    assert {asked.path for asked in server.asked} == {_MODELS, _UPSTREAM, _EMBEDDINGS}
    assert {asked.authorization for asked in server.asked} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("root", "revision"),
    [
        ("Qwen/Qwen3-Embedding-0.6B", "Qwen3-Embedding-0.6B"),
        ("/cache/models--Qwen/snapshots/c54f2e6e80/", "c54f2e6e80"),
        ("plain", "plain"),
        ("", ""),
        (None, ""),
        (7, ""),
    ],
)
async def test_the_last_part_of_the_root_is_the_revision(
    server: ScriptedServer, engine: OpenAICompatibleEngine, root: Any, revision: str
) -> None:
    others = [{"id": "other", "root": "/models/other"}, {"root": "/models/nameless"}]
    server.answer(_MODELS, {"data": [*others, {"id": _MODEL, "root": root}]})
    await engine.probe()
    assert engine._revision == revision
    assert engine.fingerprint == f"openai_compatible/{_MODEL}@{revision}/plain"


async def test_a_llama_swap_is_asked_for_the_server_behind_it(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    server.answer(_UPSTREAM, {"data": [{"id": "own-name", "root": "/models/snapshots/c54f2e6e80"}]})
    await engine.probe()
    assert engine._revision == "c54f2e6e80"


async def test_a_model_name_with_a_slash_is_one_part_of_the_path(
    server: ScriptedServer, settings: Settings
) -> None:
    server.answer(
        "/upstream/Qwen%2FQwen3/v1/models",
        {"data": [{"id": "Qwen/Qwen3", "root": "a/b"}, {"id": "other", "root": "a/c"}]},
    )
    engine = OpenAICompatibleEngine(replace(settings, model="Qwen/Qwen3"))
    await engine.probe()
    assert engine._revision == "b"


@pytest.mark.parametrize("answer", [("", 404), ("<html></html>", 200), ('{"error": "no"}', 200)])
async def test_a_server_that_is_no_llama_swap_is_asked_only_once(
    server: ScriptedServer, engine: OpenAICompatibleEngine, answer: tuple[str, int]
) -> None:
    server.answers[_UPSTREAM] = text_answer(*answer)
    for _ in range(3):
        await engine.probe()
    assert len(server.bodies(_UPSTREAM)) == 1
    assert engine._revision == ""


async def test_a_model_on_its_way_keeps_the_known_revision(
    server: ScriptedServer, settings: Settings
) -> None:
    engine = knowing(
        OpenAICompatibleEngine(replace(settings, timeout_seconds=_SHORT)), "c54f2e6e80"
    )
    for answer in (text_answer("loading", 503), hang):
        server.answers[_UPSTREAM] = answer
        await engine.probe()
        assert engine._revision == "c54f2e6e80"
    server.answer(_UPSTREAM, {"data": [{"id": _MODEL, "root": "/models/newer"}]})
    await engine.probe()
    assert engine._revision == "newer"


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_server_without_a_list_is_there_all_the_same(
    server: ScriptedServer,
    engine: OpenAICompatibleEngine,
    session: aiohttp.ClientSession,
    status: int,
) -> None:
    server.answers[_MODELS] = text_answer("", status)
    await engine.probe()
    with pytest.raises(EngineError) as caught:
        await list_models(session, server.url, KEY, 5)
    assert not isinstance(caught.value, EngineUnavailableError) or caught.value.status == status


async def test_a_model_that_is_not_listed_may_be_served(
    server: ScriptedServer, settings: Settings
) -> None:
    engine = OpenAICompatibleEngine(replace(settings, model="alias"))
    await engine.probe()
    assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 3)


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (404, {"error": {"message": "No", "type": "invalid", "code": "model_not_found"}}),
        (404, {"object": "error", "message": "The model `x` does not exist.", "code": 404}),
        (404, {"error": {"message": 'model "x" not found, try pulling it first'}}),
        (400, {"error": {"message": "Invalid model identifier x", "param": "model"}}),
        (400, {"error": "could not find real modelID for x"}),
        (500, {"error": "could not find suitable inference handler for x"}),
        (200, {"error": {"message": "Model x was not found"}}),
        (404, "model 'x' not found"),
    ],
)
async def test_a_missing_model_is_recognised_in_the_words_of_many_servers(
    server: ScriptedServer, engine: OpenAICompatibleEngine, status: int, content: Any
) -> None:
    server.answer(_EMBEDDINGS, content, status)
    with pytest.raises(EngineModelMissingError) as caught:
        await engine.embed(["tea"], TextKind.QUERY)
    assert caught.value.reason is EngineReason.MODEL_MISSING


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (404, {"detail": "Not Found"}),
        (405, {"detail": "Method Not Allowed"}),
        (413, {"error": "Input validation error: must have less than 512 tokens"}),
        (422, {"detail": [{"type": "missing", "loc": ["body", "input"], "msg": "required"}]}),
        (500, {"error": {"message": "input is too large to process. increase the batch size"}}),
        (500, {"error": "failed to encode response: json: unsupported value: NaN"}),
        (400, {"error": {"message": "This model does not support embeddings"}}),
        (400, {"error": {"message": "This model's maximum context length is 512 tokens"}}),
    ],
)
async def test_an_error_that_no_waiting_mends_is_a_bad_response(
    server: ScriptedServer, engine: OpenAICompatibleEngine, status: int, content: Any
) -> None:
    server.answer(_EMBEDDINGS, content, status)
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)


async def test_no_error_repeats_a_text_or_the_key(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    for status in (200, 400, 401, 404, 413, 422, 429, 500):
        message = f"cannot read: my secret is 1234, key {KEY}"
        server.answer(_EMBEDDINGS, {"error": {"message": message}}, status)
        with pytest.raises(EngineError) as caught:
            await engine.embed(["my secret is 1234"], TextKind.QUERY)
        assert "1234" not in str(caught.value)
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("path", [_MODELS, _EMBEDDINGS])
async def test_a_broken_server_is_named_and_nothing_comes_back(
    server: ScriptedServer, settings: Settings, path: str, broken: str
) -> None:
    handler, kind, reason = BROKEN[broken]
    patience = _SHORT if reason is EngineReason.TIMEOUT else 10.0
    engine = knowing(OpenAICompatibleEngine(replace(settings, timeout_seconds=patience)), "abc")
    server.answers[path] = handler
    with pytest.raises(kind) as caught:
        if path == _EMBEDDINGS:
            await engine.embed(["tea"], TextKind.QUERY)
        else:
            await engine.probe()
    assert caught.value.reason is reason
    assert KEY not in str(caught.value)
    assert engine._revision == "abc"
    assert engine.dimension is None
    assert server.sent_bytes < HUGE_BYTES / 2


@pytest.mark.parametrize("vectors", BAD_VECTORS.values(), ids=BAD_VECTORS)
async def test_no_bad_vector_gets_through(
    server: ScriptedServer, engine: OpenAICompatibleEngine, vectors: list[Any]
) -> None:
    server.answer(_EMBEDDINGS, _answer(vectors))
    with pytest.raises(EngineResponseError) as caught:
        await engine.embed(["tea", "coffee"], TextKind.DOCUMENT)
    assert caught.value.reason is EngineReason.BAD_RESPONSE
    assert engine.dimension is None


@pytest.mark.parametrize("data", [[1.0, 2.0], [[1.0], [2.0]], [None, {}], "ab", {"0": {}}])
async def test_data_of_another_shape_does_not_get_through(
    server: ScriptedServer, engine: OpenAICompatibleEngine, data: Any
) -> None:
    server.answer(_EMBEDDINGS, {"data": data})
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea", "coffee"], TextKind.DOCUMENT)


async def test_the_first_dimension_holds(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    await engine.embed(["tea"], TextKind.QUERY)
    server.answer(_EMBEDDINGS, _answer([[1.0, 2.0]]))
    with pytest.raises(EngineResponseError, match="2 numbers instead of 3"):
        await engine.embed(["tea"], TextKind.QUERY)
    server.answers[_EMBEDDINGS] = _embed
    assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 3)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_the_key_does_not_follow_to_another_host(
    server: ScriptedServer, engine: OpenAICompatibleEngine, status: int
) -> None:
    async with running_server() as other:
        other.answers[_EMBEDDINGS] = _embed
        other.answer(_MODELS, {"data": []})
        for path in (_EMBEDDINGS, _MODELS):
            server.answers[path] = redirect(status, other.url + path)
        for call in (engine.embed(["tea"], TextKind.QUERY), engine.probe()):
            with pytest.raises(EngineResponseError) as caught:
                await call
            assert caught.value.reason is EngineReason.BAD_RESPONSE
        assert other.asked == []


async def test_a_redirect_within_the_server_is_followed_once(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    server.answers["/v1/embeddings/"] = _embed
    server.answers[_EMBEDDINGS] = redirect(307, "/v1/embeddings/")
    assert (await engine.embed(["tea"], TextKind.QUERY)).shape == (1, 3)
    assert server.asked[-1].authorization == f"Bearer {KEY}"
    server.answers["/v1/embeddings/"] = redirect(307, _EMBEDDINGS)
    with pytest.raises(EngineResponseError):
        await engine.embed(["tea"], TextKind.QUERY)


async def test_a_busy_server_says_when_to_come_back(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    dates = {
        "Retry-After": "Mon, 30 Nov 2026 08:01:00 GMT",
        "Date": "Mon, 30 Nov 2026 08:00:00 GMT",
    }
    for headers, seconds in (({"Retry-After": "20"}, 20.0), (dates, 60.0), ({}, None)):
        server.answers[_EMBEDDINGS] = text_answer("slow down", 429, headers)
        with pytest.raises(EngineUnavailableError) as caught:
            await engine.embed(["tea"], TextKind.QUERY)
        assert caught.value.reason is EngineReason.RATE_LIMITED
        assert caught.value.retry_after_seconds == seconds


async def test_a_huge_list_is_dropped_early_and_takes_no_memory(
    server: ScriptedServer, session: aiohttp.ClientSession
) -> None:
    server.answers[_MODELS] = partial(stream_endlessly, announced=False)
    tracemalloc.start()
    try:
        with pytest.raises(EngineResponseError, match="more than"):
            await list_models(session, server.url, KEY, 10)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * MAX_BODY_BYTES
    assert server.sent_bytes < HUGE_BYTES / 2


async def test_models_are_listed_in_the_servers_order(
    server: ScriptedServer, session: aiohttp.ClientSession
) -> None:
    ids = ["b", "a", "b", "", None, 7]
    server.answer(_MODELS, {"data": [{"id": name} for name in ids] + [{}]})
    assert await list_models(session, server.url, None, 5) == ["b", "a"]
    assert server.asked[0].authorization is None


@pytest.mark.parametrize("broken", BROKEN)
async def test_no_list_comes_from_a_broken_server(
    server: ScriptedServer, session: aiohttp.ClientSession, broken: str
) -> None:
    handler, kind, reason = BROKEN[broken]
    server.answers[_MODELS] = handler
    patience = _SHORT if reason is EngineReason.TIMEOUT else 10.0
    with pytest.raises(kind) as caught:
        await list_models(session, server.url, KEY, patience)
    assert caught.value.reason is reason


async def test_nobody_there_is_unreachable(settings: Settings) -> None:
    async with running_server() as gone:
        url = gone.url
    engine = OpenAICompatibleEngine(replace(settings, url=url))
    for call in (engine.probe(), engine.embed(["tea"], TextKind.QUERY)):
        with pytest.raises(EngineUnavailableError) as caught:
            await call
        assert caught.value.reason is EngineReason.UNREACHABLE
        assert caught.value.status is None


async def test_blank_and_long_texts_are_handled_before_they_are_sent(
    server: ScriptedServer, engine: OpenAICompatibleEngine
) -> None:
    rows = await engine.embed(["", "x" * 100_000, "\t"], TextKind.QUERY)
    assert not rows[[0, 2]].any()
    assert rows[1].any()
    assert server.bodies(_EMBEDDINGS)[0]["input"] == ["x" * MAX_TEXT_CHARACTERS]


async def test_the_rest_of_the_protocol_asks_nobody(
    server: ScriptedServer, settings: Settings
) -> None:
    engine: EmbeddingEngine = OpenAICompatibleEngine(settings)
    await engine.start()
    await engine.observe(["tea"], [])
    await engine.reset(["tea"])
    assert (engine.name, engine.local) == ("openai_compatible", False)
    assert engine.document_count is None
    await engine.stop()
    assert server.asked == []
