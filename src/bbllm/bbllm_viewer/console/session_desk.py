"""A session with a robot, in this process or on a stack, as the page directs it."""

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress

from bbllm.api.session import Session
from bbllm.cli.views.question import person
from bbllm.core.approval import Answer
from bbllm.core.errors import BbllmError, ConfigError, LostNodeError
from bbllm.core.events import Episode, EpisodeStarted, Event
from bbllm.core.journal import read_damaged
from bbllm.core.paths import episodes_dir
from bbllm.core.tasks import make_task
from bbllm.core.types import SceneObject
from bbllm_viewer.console.desk import REMARK_S
from bbllm_viewer.console.examples import examples_of
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.view3d.drawn_scene import DrawnScene, plain_row

CHECK_EVERY = 4
"""One check for requests and for nodes that have gone for so many pictures."""
END_S = 5.0
"""How long the thread may take to end, wall clock [s]."""
STOPPED = 'Stopped in the browser.'
PERIOD_S = 0.05
"""Between two pictures, wall clock [s]."""


class SessionDesk(AbstractContextManager['SessionDesk']):
    """
    Directs a session from the page, and shows every episode of its robot, whoever began it.

    Use it with `with`: a task that the page began and that is under way at the end is stopped.
    """

    def __init__(self, session: Session):
        self.feed = Feed()
        self.session = session
        self.feed.set('robot', session.name)
        with suppress(BbllmError):  # the page shows the scene once there is one
            scene = session.world.observe()
            self.feed.show_scene(scene)
            self.feed.set('examples', examples_of(scene))
        session.watch(self._receive)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name='session_desk', daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(END_S)
        self.session.end(STOPPED)

    def begin(self, instruction: str) -> None:
        """Begin a task; see `Desk`. A refusal of a stack is shown when it comes."""
        task = make_task(instruction)

        def show_fault(future: Future[Episode]) -> None:
            error = future.exception()
            if isinstance(error, LostNodeError) and self._has_ended(task.id):
                return  # its ending shows that
            if isinstance(error, BbllmError):
                self.feed.set('fault', str(error))
            elif error is not None:
                self.feed.set('fault', f'Fault in the program: {type(error).__name__}: {error}')

        future = self.session.start(task)
        self.feed.set('fault', '')
        future.add_done_callback(show_fault)

    def say(self, text: str) -> str:
        """Send a remark; see `Desk`."""
        return self.session.say(text, REMARK_S)

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        """Approve or deny; see `Desk`."""
        self.session.approvals.answer(hash, Answer(granted=granted, reason=reason, by=person()))

    def stop(self) -> None:
        """Stop whatever moves the arm; see `Desk`."""
        self.session.stop(STOPPED)

    def _receive(self, episode_id: str, event: Event) -> None:
        is_start = isinstance(event.data, EpisodeStarted)
        if episode_id != self.feed.episode_id and not is_start:
            self._catch_up(episode_id, event.stamp_s)
        if episode_id == self.feed.episode_id or is_start:
            self.feed.take(event)

    def _catch_up(self, episode_id: str, before_s: float) -> None:
        """Show what is on record of an episode before this process was there."""
        with suppress(ConfigError):
            episode, _ = read_damaged(episodes_dir() / f'{episode_id}.jsonl')
            for event in episode.events:
                if event.stamp_s < before_s:
                    self.feed.take(event)

    def _has_ended(self, episode_id: str) -> bool:
        return self.feed.episode_id == episode_id and not self.feed.running

    def _watch(self) -> None:
        """Show what waits and what has gone, and where all is while anybody watches."""
        drawing, shown, turn = LiveScene(self.feed), None, 0
        while not self._done.wait(PERIOD_S):
            if turn % CHECK_EVERY == 0:
                approvals = self.session.approvals
                self.feed.show_request(approvals.waiting, approvals.doubt)
                missing, text = self.session.check()
                self.feed.set('nodes', {'missing': [*missing], 'text': text})
            if self.feed.watched:
                seen = self.session.snapshot()
                if seen.scene is not None and seen.scene is not shown:
                    shown = seen.scene
                    self.feed.show_scene(shown)
                if seen.objects and seen.joints_rad is not None and seen.width_m is not None:
                    drawing.show(seen.objects, seen.joints_rad.tolist(), seen.width_m)
            turn += 1


class LiveScene:
    """Shows where the arm and the objects are; of one thread."""

    def __init__(self, feed: Feed):
        self._feed = feed
        self._kinds: tuple[object, ...] = ()
        """What there is to draw, apart from where it is."""
        self._drawn: DrawnScene | None = None

    def show(
        self, objects: Iterable[SceneObject], joints_rad: Sequence[float], width_m: float
    ) -> None:
        """Show objects, in the frame of the base, and the arm, with joints of shape (7,)."""
        objects = tuple(objects)
        kinds = tuple((item.name, item.kind, item.color, item.size_m) for item in objects)
        if self._drawn is None or kinds != self._kinds:
            self._kinds, self._drawn = kinds, DrawnScene(objects)
            self._feed.set('drawn', self._drawn.description)
        poses = {item.name: item.pose for item in objects}
        self._feed.set('qpos', plain_row(self._drawn.qpos(joints_rad, width_m, poses)))
