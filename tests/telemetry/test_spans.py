"""The spans of an episode, and whether they are made at all."""

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip('opentelemetry.sdk', reason='the extra `otel` is not installed: make extras')
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bbllm.core.events import (
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    ModelCall,
    ModelReplied,
    PlanMade,
    PromptText,
    RepairBegun,
    StepBegun,
)
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.telemetry import export
from bbllm.telemetry.export import COLLECTORS, CONTENT, EXPORTER, exporter_names, span_sinks
from bbllm.telemetry.spans import EpisodeSpans

PICK = SkillCall('pick', ('red_cube',))
ASKED = PromptText.of('user', 'Plan: tidy up')
PLANNED = ModelCall(
    role='brain',
    model='gpt-x-2026',
    prompt_tokens=50,
    completion_tokens=6,
    cached_tokens=40,
    duration_s=1.5,
    prompt_chars=13,
    prompt=(ASKED, PromptText.of('schema', '{}')),
)
FAILED = Outcome(
    call=PICK, status=Status.REJECTED, code=Code.OUT_OF_WORKSPACE, message='red_cube is too far'
)
EPISODE: list[tuple[float, EventData]] = [
    (0, EpisodeStarted(episode_id='e1', task='tidy up', planner='p', brain='gpt-x', body='gpt-y')),
    (2, PLANNED),
    (2, ModelReplied('brain', '0: pick red_cube')),
    (2, PlanMade(('pick red_cube',), 0)),
    (3, StepBegun(0, 'pick red_cube')),
    (4, ModelCall(role='body', model='gpt-y', prompt_chars=5, error='ModelError: it is down')),
    (5, PICK),
    (7, FAILED),
    (7, RepairBegun(0, 'pick red_cube', 'red_cube is too far', loop=1)),
    (8, EpisodeEnded(Ending.MODEL_FAILED, 'It is down.', 'ModelError')),
]


def spans_of(*, content: bool) -> dict[str, ReadableSpan]:
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    sink = EpisodeSpans(provider.get_tracer('test'), content=content)
    for stamp_s, data in EPISODE:
        sink(Event(100.0 + stamp_s, data))
    return {span.name: span for span in memory.get_finished_spans()}


def parent_of(span: ReadableSpan, spans: dict[str, ReadableSpan]) -> str:
    ids = {each.context.span_id: name for name, each in spans.items()}
    return ids[span.parent.span_id] if span.parent else ''


def attributes(span: ReadableSpan, *names: str) -> Sequence[Any]:
    return [(span.attributes or {}).get(name) for name in names]


def test_an_episode_is_a_tree_of_spans_with_the_times_and_tokens_of_each() -> None:
    spans = spans_of(content=False)

    assert {name: parent_of(span, spans) for name, span in spans.items()} == {
        'invoke_agent p': '',
        'chat gpt-x': 'invoke_agent p',
        'step 0': 'invoke_agent p',
        'chat gpt-y': 'step 0',
        'execute_tool pick': 'step 0',
    }
    times = {
        name: (span.start_time / 1e9 - 100, span.end_time / 1e9 - 100)
        for name, span in spans.items()
        if span.start_time and span.end_time
    }
    assert times == {
        'invoke_agent p': (0, 8),
        'chat gpt-x': (0.5, 2),
        'step 0': (3, 8),
        'chat gpt-y': (4, 4),
        'execute_tool pick': (5, 7),
    }
    usage = ('input_tokens', 'output_tokens', 'cache_read.input_tokens')
    assert attributes(spans['chat gpt-x'], *(f'gen_ai.usage.{name}' for name in usage)) == [
        *(50, 6, 40)
    ]
    assert attributes(
        spans['chat gpt-x'], 'gen_ai.request.model', 'gen_ai.response.model', 'bbllm.role'
    ) == ['gpt-x', 'gpt-x-2026', 'brain']
    assert attributes(spans['invoke_agent p'], 'gen_ai.conversation.id', 'bbllm.ending') == [
        *('e1', 'MODEL_FAILED')
    ]
    errors = {name: attributes(span, 'error.type')[0] for name, span in spans.items()}
    assert errors == {
        'invoke_agent p': 'ModelError',
        'chat gpt-x': None,
        'step 0': 'step_failed',
        'chat gpt-y': 'ModelError',
        'execute_tool pick': 'OUT_OF_WORKSPACE',
    }


def test_what_people_and_models_wrote_is_in_spans_only_where_that_is_asked_for() -> None:
    silent = ''.join(span.to_json() for span in spans_of(content=False).values())
    with_content = spans_of(content=True)

    assert not any(text in silent for text in ('tidy up', 'red_cube', 'It is down'))
    (sent,), (replied,) = (
        json.loads(text)
        for text in attributes(
            with_content['chat gpt-x'], 'gen_ai.input.messages', 'gen_ai.output.messages'
        )
    )
    assert sent == {'role': 'user', 'parts': [{'type': 'text', 'content': 'Plan: tidy up'}]}
    assert replied['parts'][0]['content'] == '0: pick red_cube'
    assert with_content['execute_tool pick'].status.description == 'red_cube is too far'


@pytest.mark.parametrize(
    ('environ', 'names'),
    [
        ({}, ()),
        ({CONTENT: 'true'}, ()),
        ({EXPORTER: 'none', COLLECTORS[1]: 'http://x'}, ()),
        ({COLLECTORS[1]: 'http://x'}, ('otlp_proto_http',)),
        ({COLLECTORS[0]: 'http://x', 'OTEL_EXPORTER_OTLP_PROTOCOL': 'grpc'}, ('otlp_proto_grpc',)),
        ({EXPORTER: 'console'}, ('console',)),
        ({EXPORTER: 'otlp, console'}, ('otlp_proto_http', 'console')),
        ({EXPORTER: 'console', 'OTEL_SDK_DISABLED': 'True'}, ()),
    ],
)
def test_spans_are_asked_for_by_the_variables_of_opentelemetry(
    environ: dict[str, str], names: tuple[str, ...]
) -> None:
    assert exporter_names(environ) == names


def test_an_exporter_that_is_not_installed_is_named_and_fails_no_episode(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert span_sinks({EXPORTER: 'zipkin'}) == []

    assert "exporter 'zipkin'" in caplog.text
    assert 'console' in caplog.text


@pytest.mark.parametrize('fault', [ValueError('no number'), RuntimeError('no file')])
def test_an_exporter_that_cannot_be_made_is_logged_with_its_reason_and_fails_no_episode(
    fault: Exception, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*_: object) -> None:
        raise fault

    monkeypatch.setattr(ConsoleSpanExporter, '__init__', make)
    export._provider.cache_clear()

    with caplog.at_level(logging.WARNING):
        assert span_sinks({EXPORTER: 'console'}) == []

    export._provider.cache_clear()
    assert f'{type(fault).__name__}: {fault}. Correct the variables OTEL_*' in caplog.text
    assert 'pip install' not in caplog.text


def test_a_collector_that_does_not_answer_delays_an_episode_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = threading.Event()
    monkeypatch.setattr(ConsoleSpanExporter, 'export', lambda *_: released.wait(20))
    monkeypatch.setattr(export, 'FLUSH_S', 0.05)
    export._provider.cache_clear()
    (sink,) = span_sinks({EXPORTER: 'console,console'})

    begun_s = time.monotonic()
    for stamp_s, data in EPISODE:
        sink(Event(stamp_s, data))

    assert time.monotonic() - begun_s < 5
    released.set()
    export._provider.cache_clear()


def test_nothing_of_it_is_imported_where_it_is_not_asked_for() -> None:
    program = (
        'import sys; from bbllm.telemetry.export import span_sinks; assert span_sinks({}) == []; '
        'import bbllm.api.setup; sys.exit(any(name.startswith("opentelemetry") '
        'for name in sys.modules))'
    )

    assert subprocess.run([sys.executable, '-c', program], check=False).returncode == 0
