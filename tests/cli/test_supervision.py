"""Ctrl-C, also when nobody answers any more."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from bbllm.api.local_session import running_of
from bbllm.cli.support import supervision
from bbllm.cli.support.supervision import supervise
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Event, EventKind
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.types import Task
from tests.doubles.paper_world import PaperWorld


class Deaf:
    """A planner that waits for something that never comes, and looks at nothing meanwhile."""

    def __init__(self) -> None:
        self.waiting = threading.Event()
        self.released = threading.Event()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        self.waiting.set()
        self.released.wait()


class Broken:
    """A planner with a bug."""

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        raise ZeroDivisionError('a bug')


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def received() -> list[Event]:
    return []


@pytest.fixture
def run(received: list[Event]) -> EpisodeRun:
    task = Task('t', 'do it')
    return EpisodeRun(task, planner='p', brain='b', body='b', sinks=[received.append])


@pytest.fixture
def deaf() -> Iterator[Deaf]:
    planner = Deaf()
    yield planner
    planner.released.set()


def test_an_episode_that_hangs_is_left_behind_with_a_complete_journal(
    run: EpisodeRun, received: list[Event], deaf: Deaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, 'GRACE_S', 0.2)
    threading.Thread(target=lambda: deaf.waiting.wait() and press_ctrl_c()).start()

    world = PaperWorld('plus_sign')
    episode, interrupted = supervise(running_of(run, lambda: run.execute(deaf, world)))

    assert (episode, interrupted) == (None, True)
    assert received[-1].data.ending is Ending.CANCELLED


def test_a_fault_in_the_planner_reaches_the_caller(run: EpisodeRun, received: list[Event]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError):
        supervise(running_of(run, lambda: run.execute(Broken(), PaperWorld('plus_sign'))))

    assert signal.getsignal(signal.SIGINT) is before
    assert received[-1].kind is EventKind.ENDED
