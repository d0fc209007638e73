"""A robot that carries out one task at a time: in this process, or behind a running stack."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from queue import SimpleQueue
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.conversation import Turn
from bbllm.core.errors import TaskError
from bbllm.core.events import Episode, Event
from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import EventSink, World
from bbllm.core.stop_words import is_stop
from bbllm.core.types import Outcome, Plan, Scene, SceneObject, SkillCall, Task

if TYPE_CHECKING:
    from bbllm.arm.driver import Array

T = TypeVar('T')
Listener = Callable[[str, Event], None]
"""Called with the id of an episode and an event of it, from any thread."""
END_S = 5.0
"""How long an episode that was cancelled may take to end, wall clock [s]."""


class Seen(NamedTuple):
    """The robot and the objects as they were seen last; None for what is not known."""

    scene: Scene | None = None
    objects: tuple[SceneObject, ...] | None = None
    """In the frame of the base; these may be newer than the scene."""
    joints_rad: Array | None = None
    """Shape (7,)."""
    width_m: float | None = None
    """Distance of the fingers [m]."""
    pictures: Mapping[str, bytes] = MappingProxyType({})
    """The newest picture of each camera with what was found in it, a JPEG file by its name."""


class Health(NamedTuple):
    """What of a robot does not answer."""

    missing: tuple[str, ...] = ()
    """Names of nodes that do not serve."""
    text: str = ''
    """Which of them have gone, in words; '' where none has."""


class Approvals(Protocol):
    """What waits for the answer of a person; any thread may use it."""

    @property
    def waiting(self) -> ApprovalRequest | None: ...

    @property
    def doubt(self) -> str:
        """Why it may come from another program than the robot's; '' for no reason."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether a program may answer in place of a person."""
        ...

    def answer(self, hash: str, answer: Answer) -> object:
        """Answer what waits, by its whole hash; ApprovalError with the reason if not taken."""
        ...


@dataclass(slots=True, kw_only=True)
class Running:
    """An episode that can be executed, once."""

    task: Task
    execute: Callable[[], Episode]
    cancel: Callable[[str], object]
    """Stops it from any thread, with a reason."""
    say: Callable[..., str]
    """`say(text, wait_s, by, question='')`: sends its planner a remark of a person or of a named
    program, from any thread, perhaps as the answer to a question. Returns what became of it, or
    what was still waited for after a time [s]; TaskError where it is refused."""
    warn: Callable[[str], object] = lambda text: None
    """Puts a warning on record."""
    leave: Callable[[str], object]
    """Puts the end of an episode on record that does not end after its cancel, with the reason;
    raises WorldError where another process writes the record."""
    journal: JournalWriter | None = None
    """Its journal, where this process writes one."""
    future: Future[Episode] | None = None
    """Its end, once it was started."""

    @property
    def is_under_way(self) -> bool:
        return self.future is not None and not self.future.done()

    def start(self) -> Future[Episode]:
        """Execute it in a thread."""
        self.future = run_in_thread(self.execute)
        return self.future


class Session(ABC):
    """
    A robot that carries out the tasks it is given here, one at a time; any thread may use it.

    Every method raises BbllmError where something was not done, with the reason. Package bbllm_ros
    registers functions that return one of a running stack, as entry points of the group
    `bbllm.stacks`: `join(namespace, of_task)`, and the context manager
    `find(verb, stack, output, of_task)` for verbs.
    """

    world: World
    approvals: Approvals
    name = ''
    """What people call the robot."""
    attended = False
    """Whether a person reads the questions of planners here, and can answer them."""

    def __init__(self) -> None:
        self.running: Running | None = None
        """The episode that was started last; None once nobody waits for it."""
        self.episode: Episode | None = None
        """The record of the last task whose `events` were read."""
        self._lock = threading.Lock()
        self._listener: Listener | None = None

    @abstractmethod
    def begin(self, task: Task, on_event: EventSink, *, goal: str | None = None) -> Running:
        """
        Return an episode, which is not executed yet.

        *on_event* may be called from any thread. *goal* is what is checked at the end, where that
        is another than for all tasks of the session.
        """

    def start(
        self, task: Task, on_event: EventSink = lambda event: None, *, goal: str | None = None
    ) -> Future[Episode]:
        """Execute a task in a thread; raises TaskError while another one is under way."""
        with self._lock:
            if self.running is not None and self.running.is_under_way:
                raise TaskError('A task is under way. Wait for its end, or stop it.')
            running = self.begin(task, on_event, goal=goal)
            self.running = running
            return running.start()

    def events(self, task: Task, *, goal: str | None = None) -> Generator[Event, None, None]:
        """
        Execute a task and yield each event as it happens; `episode` has the record afterwards.

        Leaving the iterator stops the robot. An episode that does not end then is left behind.
        """
        queue = SimpleQueue[Event | None]()
        future = self.start(task, queue.put, goal=goal)
        future.add_done_callback(lambda _: queue.put(None))
        try:
            while (event := queue.get()) is not None:
                yield event
        finally:
            self.end('The program stopped the task.')
            self.running = None
            if future.done():
                self.episode = future.result()

    def end(self, reason: str) -> None:
        """Stop the task under way that was begun here, if one is, and wait for its end."""
        running = self.running
        if running is not None and running.future is not None and running.is_under_way:
            running.cancel(reason)
            wait((running.future,), END_S)

    def watch(self, listener: Listener) -> None:
        """Pass on each event of the robot's episodes from now on, whoever begins them."""
        self._listener = listener

    @property
    @abstractmethod
    def turns(self) -> tuple[Turn, ...]:
        """The tasks of the robot so far, whoever gave them, and what came of them."""

    @abstractmethod
    def say(self, text: str, wait_s: float, question: str = '') -> str:
        """
        Send a person's remark on the task under way, whoever began it.

        It answers the question that waits, where one does; with *question*, that one alone.
        Returns what became of it, or what was still waited for after a time [s].
        """

    @abstractmethod
    def stop(self, reason: str) -> None:
        """Stop whatever moves the arm, whoever began it; the hand keeps its object."""

    def stopped_by(self, text: str) -> bool:
        """Stop at once for a text that is a word such as `stop`; return whether it is one."""
        if found := is_stop(text):
            self.stop(f'A person wrote: {text.strip()}')
        return found

    def execute(self, call: SkillCall) -> Outcome:
        """Execute one call of a program to its end."""
        return self.world.execute(call)

    @abstractmethod
    def plan(self, task: Task) -> Plan:
        """Return the plan of a task; nothing moves."""

    @abstractmethod
    def snapshot(self) -> Seen:
        """Return where the arm and the objects are, without waiting for either."""

    def check(self) -> Health:
        """Return what does not answer; here nothing can be lost."""
        return Health()

    @abstractmethod
    def close(self) -> None:
        """Release the world, or leave the stack."""


def run_in_thread(call: Callable[[], T]) -> Future[T]:
    """Make a call in a daemon thread: a model that never answers must not delay the exit."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # raised again in the thread that asks for the result
            future.set_exception(error)

    threading.Thread(target=work, name='episode', daemon=True).start()
    return future
