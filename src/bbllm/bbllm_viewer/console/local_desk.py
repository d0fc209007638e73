"""The simulated robot in this process, as the page directs it."""

import threading
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager

from bbllm.api.backends import LocalBackend, Record, Running, run_in_thread
from bbllm.api.setup import EpisodeSetup
from bbllm.cli.views.question import person
from bbllm.core.approval import Answer, ApprovalQueue, ApprovalRequest
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import BbllmError, TaskError
from bbllm.core.events import Episode, Event
from bbllm.core.observation import Observed
from bbllm.core.tasks import make_remark, make_task
from bbllm.skills.constraints import Never
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_viewer.console.desk import REMARK_S
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.console.live_scene import PERIOD_S, LiveScene

ANSWER_S = 3600.0
"""How long a plan waits for a person, wall clock [s]."""
END_S = 5.0
"""How long a task that is stopped may take to end, wall clock [s]."""
STOPPED = 'Stopped in the browser.'


class LocalDesk(AbstractContextManager['LocalDesk']):
    """
    Gives a table in this process tasks, one at a time, which stays as it is between them.

    With *asks* no plan moves anything before it is approved, by the same gate as `Robot`'s, and is
    shown with the constraints *never* of the table. Use it with `with`: a task that is under way
    at the end is stopped.
    """

    def __init__(
        self,
        world: TabletopWorld,
        setup: EpisodeSetup,
        *,
        asks: bool,
        record: Record | None = None,
        never: tuple[Never, ...] = (),
    ):
        self.feed = Feed()
        self._world = world
        self._queue = ApprovalQueue(
            timeout_s=ANSWER_S, simulated=True, on_change=self.feed.show_request
        )
        self._backend = LocalBackend(
            world=world,
            setup=setup.keeping(never),
            approve=self._ask if asks else None,
            journal=True,
            close=lambda: None,
            record=record,
            never=never,
        )
        self._lock = threading.Lock()
        self._future: Future[Episode] | None = None
        self._running: Running | None = None
        self._token = CancelToken()
        self.feed.show_scene(world.observe())
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name='local_desk', daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(END_S)
        self.stop()
        if self._future is not None:
            wait((self._future,), END_S)

    def begin(self, instruction: str) -> None:
        """Begin a task; see `Desk`."""
        task = make_task(instruction)
        with self._lock:
            if self._future is not None and not self._future.done():
                raise TaskError('A task is under way. Wait for its end, or stop it.')
            self.feed.set('fault', '')
            self._token = CancelToken()
            self._running = self._backend.begin(task, self._take, None)
            self._future = run_in_thread(self._running.execute)
            self._future.add_done_callback(self._show_fault)

    def say(self, text: str) -> str:
        """Send a remark; see `Desk`."""
        running = self._under_way('There is no task under way that a remark could be for.')
        return running.say(make_remark(text), REMARK_S)

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        """Approve or deny; see `Desk`."""
        self._queue.answer(hash, Answer(granted=granted, reason=reason, by=person()))

    def stop(self) -> None:
        """Stop the task; see `Desk`."""
        self._token.cancel(STOPPED)
        if self._running is not None:
            self._running.cancel(STOPPED)

    def _watch(self) -> None:
        """Show where the robot and the objects are, while anybody watches."""
        drawing = LiveScene(self.feed)
        while not self._done.wait(PERIOD_S):
            if self.feed.watched:
                with self._world.robot.paused() as simulation:
                    state, objects = simulation.joint_state(), simulation.objects()
                drawing.show(objects, state.position_rad.tolist(), state.width_m)

    def _under_way(self, fault: str) -> Running:
        if self._running is None or self._future is None or self._future.done():
            raise TaskError(fault)
        return self._running

    def _ask(self, request: ApprovalRequest) -> Answer:
        running = self._running
        checks = () if running is None else (running.interrupt,)
        return self._queue.ask(request, self._token.with_checks(*checks))

    def _take(self, event: Event) -> None:
        self.feed.take(event)
        if isinstance(event.data, Observed):
            # In the thread that has just observed, so the world is not moving.
            self.feed.show_scene(self._world.observe())

    def _show_fault(self, future: Future[Episode]) -> None:
        error = future.exception()
        if isinstance(error, BbllmError):
            self.feed.set('fault', str(error))
        elif error is not None:
            self.feed.set('fault', f'Fault in the program: {type(error).__name__}: {error}')
