"""
Whether and where spans of episodes are sent, by OpenTelemetry's own environment variables.

Spans are made where OTEL_TRACES_EXPORTER names an exporter, or OTEL_EXPORTER_OTLP_ENDPOINT (or
OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) a collector. They contain prompts and replies only with
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true. All other variables of the SDK hold too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import bbllm
from bbllm.core.events import EpisodeEnded, Event
from bbllm.core.protocols import EventSink

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

EXPORTER = 'OTEL_TRACES_EXPORTER'
COLLECTORS = ('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT')
PROTOCOLS = ('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL')
DISABLED = 'OTEL_SDK_DISABLED'
CONTENT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'
GROUP = 'opentelemetry_traces_exporter'
"""Entry points by which packages of OpenTelemetry offer their exporters."""


def span_sinks(environ: Mapping[str, str] = os.environ) -> list[EventSink]:
    """
    Return the sink that makes spans of one episode; none where no spans are asked for.

    Where the packages are missing, that is logged once: no episode fails for its spans.
    """
    name = exporter_name(environ)
    if not name:
        return []
    provider = _provider(name)
    if provider is None:
        return []
    from bbllm.telemetry.spans import EpisodeSpans

    content = environ.get(CONTENT, '').strip().lower() in ('true', '1', 'span_only')
    spans = EpisodeSpans(provider.get_tracer('bbllm', bbllm.__version__), content=content)

    def sink(event: Event) -> None:
        spans(event)
        # Nodes and workers of a bench end without a word, so nothing may be left to send.
        if isinstance(event.data, EpisodeEnded):
            provider.force_flush()

    return [sink]


def exporter_name(environ: Mapping[str, str]) -> str:
    """Return the entry point of the exporter that the environment asks for, '' for none."""
    if environ.get(DISABLED, '').strip().lower() == 'true':
        return ''
    asked = environ.get(EXPORTER, '').strip()
    if not asked and any(environ.get(name, '').strip() for name in COLLECTORS):
        asked = 'otlp'
    if asked != 'otlp':
        return '' if asked == 'none' else asked
    protocol = next((environ[name] for name in PROTOCOLS if environ.get(name)), '')
    return 'otlp_proto_grpc' if protocol.strip() == 'grpc' else 'otlp_proto_http'


@cache
def _provider(name: str) -> TracerProvider | None:
    """Return what sends spans by an exporter, None where it is not installed."""
    found = entry_points(group=GROUP, name=name)
    try:
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        (exporter,) = found
        ours = {'service.name': 'bbllm', 'service.version': bbllm.__version__}
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over what is given here.
        resource = Resource.create(ours).merge(OTELResourceDetector().detect())
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(BatchSpanProcessor(exporter.load()()))
    except (ImportError, ValueError):
        installed = ', '.join(sorted(entry.name for entry in entry_points(group=GROUP))) or 'none'
        logging.getLogger('bbllm').warning(
            'No spans are sent: the environment asks for the OpenTelemetry exporter %r, and '
            "installed are: %s. Install them with pip install 'bbllm[otel]', or unset %s.",
            name,
            installed,
            ', '.join((EXPORTER, *COLLECTORS)),
        )
        return None
    return provider
