"""
Whether and where spans of episodes are sent, by OpenTelemetry's own environment variables.

Spans are made where OTEL_TRACES_EXPORTER names an exporter, or OTEL_EXPORTER_OTLP_ENDPOINT (or
OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) a collector. They contain prompts and replies only with
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true. All other variables of the SDK hold too.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from bbllm.core.events import EpisodeEnded, Event
from bbllm.core.plugins import how_to_install
from bbllm.core.protocols import EventSink
from bbllm.core.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

EXPORTER = 'OTEL_TRACES_EXPORTER'
COLLECTORS = ('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT')
PROTOCOLS = ('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL')
DISABLED = 'OTEL_SDK_DISABLED'
CONTENT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'
FLUSH_S = 2.0
"""How long the end of an episode waits for its spans to be sent, wall clock [s]."""
GROUP = 'opentelemetry_traces_exporter'
"""Entry points by which packages of OpenTelemetry offer their exporters."""


def span_sinks(environ: Mapping[str, str] = os.environ) -> list[EventSink]:
    """
    Return the sink that makes spans of one episode; none where no spans are asked for.

    What keeps spans from being made is logged once: no episode fails for its spans.
    """
    names = exporter_names(environ)
    provider = _provider(names) if names else None
    if provider is None:
        return []
    from bbllm.telemetry.spans import EpisodeSpans

    content = environ.get(CONTENT, '').strip().lower() in ('true', '1', 'span_only')
    spans = EpisodeSpans(provider.get_tracer('bbllm', VERSION), content=content)

    def sink(event: Event) -> None:
        spans(event)
        # Nodes and workers of a bench end without a word, so nothing may be left to send. The SDK
        # has no limit for how long this takes: with a collector that is down, 8 s.
        if isinstance(event.data, EpisodeEnded):
            flush = threading.Thread(target=provider.force_flush, daemon=True)
            flush.start()
            flush.join(FLUSH_S)

    return [sink]


def exporter_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the entry points of the exporters that the environment asks for."""
    if environ.get(DISABLED, '').strip().lower() == 'true':
        return ()
    asked = [name.strip() for name in environ.get(EXPORTER, '').split(',') if name.strip()]
    if not asked and any(environ.get(name, '').strip() for name in COLLECTORS):
        asked = ['otlp']
    protocol = next((environ[name] for name in PROTOCOLS if environ.get(name)), '')
    otlp = 'otlp_proto_grpc' if protocol.strip() == 'grpc' else 'otlp_proto_http'
    return tuple(otlp if name == 'otlp' else name for name in asked if name != 'none')


@cache
def _provider(names: tuple[str, ...]) -> TracerProvider | None:
    """Return what sends spans by some exporters, None where one of them cannot be had."""
    try:
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        ours = {'service.name': 'bbllm', 'service.version': VERSION}
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over what is given here.
        resource = Resource.create(ours).merge(OTELResourceDetector().detect())
        # Each episode is flushed; at exit the SDK would wait for the collector once more.
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        for name in names:
            exporter = next(iter(entry_points(group=GROUP, name=name)), None)
            if exporter is None:
                raise ImportError(name)
            provider.add_span_processor(BatchSpanProcessor(exporter.load()()))
        return provider
    except ImportError:
        installed = ', '.join(sorted(entry.name for entry in entry_points(group=GROUP))) or 'none'
        why = f'installed are: {installed}. Install them {how_to_install("otel")}'
    except Exception as error:  # of an exporter, such as for a setting that it cannot read
        why = f'it cannot be used: {type(error).__name__}: {error}. Correct the variables OTEL_*'
    logging.getLogger('bbllm').warning(
        'No spans are sent: the environment asks for the OpenTelemetry exporter %r, and %s, or '
        'unset %s.',
        ','.join(names),
        why,
        ', '.join((EXPORTER, *COLLECTORS)),
    )
    return None
