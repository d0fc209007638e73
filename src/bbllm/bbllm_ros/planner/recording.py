"""Keeps the events of an episode of the graph: a journal and a picture."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import EventSink
from bbllm_viewer.viz.predicted import PredictedPicture


@contextmanager
def recorded(folder: Path, episode_id: str) -> Iterator[list[EventSink]]:
    """Open the journal of an episode; yields the sinks that keep its events."""
    with JournalWriter(folder, episode_id) as journal:
        yield [journal, PredictedPicture(journal.path)]
