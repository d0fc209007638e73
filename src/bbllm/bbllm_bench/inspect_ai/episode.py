"""Plays one sample of inspect_ai, an episode in a separate thread, and shows it in the log."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType

from anyio import from_thread

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import CancelledError
from bbllm.core.events import (
    ApprovalAnswered,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    ModelCall,
    ModelReplied,
    SceneRecorded,
    describe,
)
from bbllm.core.observation import Observed
from bbllm.core.protocols import EventSink
from bbllm.core.types import SkillCall
from bbllm.llm.models.factory import Models
from bbllm_bench.inspect_ai.model import STOPPED
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import EpisodeResult
from bbllm_bench.runner.episode_setup import Alone
from bbllm_bench.runner.play_here import play_with

PHYSICS = threading.Lock()
"""Taken while a world of this process moves or is observed: samples run side by side in threads,
where models are what takes time, and not all of MuJoCo's users here were made for threads."""
POLL_S = 0.1
"""How often a sample that waits for the physics checks whether it was stopped [s]."""

HIDDEN = (
    *(EpisodeStarted, SceneRecorded, SkillCall, Observed),
    *(ModelReplied, ModelCall, FeedbackReceived, ApprovalAnswered),
)
"""What the viewer shows by itself (what models were asked and replied), what only pictures need,
and calls, which their outcomes repeat."""


def entry_of(event: Event) -> tuple[str, str] | None:
    """Return title and text (markdown) of an event, None where the viewer does not show it."""
    if isinstance(event.data, HIDDEN):
        return None
    lines = describe(event.data)
    return lines[0][0], '\n\n'.join(text.strip() for _, text in lines)


def play_sample(job: EpisodeSpec, models: Models, sink: EventSink) -> EpisodeResult:
    """
    Play an episode with given models and judge it; to be called in a worker thread of anyio.

    Where its sample is stopped, the arm stops within 20 ms of simulated time.
    """
    return play_with(job, models, sink, _AmongSamples())


class _AmongSamples(Alone):
    """Other samples are played in other threads, and inspect_ai may stop this one."""

    settings = MappingProxyType({'runner': 'inspect_ai'})

    def turn(self) -> AbstractContextManager[None]:
        return _physics()

    def stopped(self) -> str:
        return STOPPED if _stopped() else ''

    def taking_remarks(self, run: EpisodeRun) -> AbstractContextManager[None]:
        # A log does not say which sample it is about.
        return nullcontext()


@contextmanager
def _physics() -> Iterator[None]:
    while not PHYSICS.acquire(timeout=POLL_S):
        if _stopped():
            raise CancelledError(STOPPED)
    try:
        yield
    finally:
        PHYSICS.release()


def _stopped() -> bool:
    """Whether inspect_ai has cancelled the sample that this thread works for."""
    try:
        from_thread.check_cancelled()
    except BaseException:  # its class is up to the event loop; here it is asked for, not obeyed
        return True
    return False
