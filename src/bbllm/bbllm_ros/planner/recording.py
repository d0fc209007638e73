"""What keeps the events of an episode of the graph: journal, spans and a picture."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import EventSink
from bbllm.telemetry.export import span_sinks
from bbllm_viewer.viz.predicted import PredictedPicture


@contextmanager
def recorded(folder: Path, episode_id: str) -> Iterator[list[EventSink]]:
    """Open the journal of an episode; yields all that is to receive its events."""
    with JournalWriter(folder, episode_id) as journal:
        yield [journal, PredictedPicture(journal.path), *span_sinks()]
