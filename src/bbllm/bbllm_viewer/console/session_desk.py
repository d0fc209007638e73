"""A session with a robot, in this process or on a stack, as the page directs it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from typing import Protocol

from bbllm.api.session import Session
from bbllm.cli.views.question import person
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.errors import BbllmError, ConfigError, LostNodeError, TaskError
from bbllm.core.events import Episode, EpisodeStarted, Event, SceneRecorded
from bbllm.core.journal import read_damaged
from bbllm.core.paths import episodes_dir
from bbllm.core.protocols import data_url, features_of
from bbllm.core.records import to_json
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene, SceneObject
from bbllm_viewer.console.desk import REMARK_S
from bbllm_viewer.console.examples import examples_of
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.view3d.drawn_scene import DrawnScene, plain_row, position_of
from bbllm_viewer.view3d.ghosts import ghosts_of, imagined
from bbllm_viewer.viz.house import rooms_of

CHECK_EVERY = 4
"""One check for requests and for nodes that have gone for so many pictures."""
END_S = 5.0
"""How long the thread may take to end, wall clock [s]."""
STOPPED = 'Stopped in the browser.'
PERIOD_S = 0.05
"""Between two pictures, wall clock [s]."""


class Choices(Protocol):
    """The robots that a page can begin anew with; each takes the place of the one before."""

    scene: str
    model: str
    scenes: tuple[str, ...]
    """Names of all scenes."""
    models: tuple[str, ...]
    """Names of some models that may plan; others can be used too."""

    def open(self, scene: str, model: str) -> Session:
        """Return a session at its start; BbllmError with the reason where there is none."""
        ...

    def close(self) -> None:
        """Release all but the session that was opened last."""
        ...


class SessionDesk(AbstractContextManager['SessionDesk']):
    """
    Directs a session from the page, and shows every episode of its robot, whoever began it.

    Use it with `with`: a task that the page began and that is under way at the end is stopped.
    """

    def __init__(self, session: Session, choices: Choices | None = None):
        self.feed = Feed()
        self._choices = choices
        self._changing = threading.Lock()
        """While one session takes the place of another."""
        self._scene: Scene | None = None
        """The newest."""
        self._imagined: tuple[str, Scene | None] = '', None
        """The hash of the question and the scene of what is shown as imagined."""
        self._use(session)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name='session_desk', daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(END_S)
        self.session.end(STOPPED)

    def begin(self, instruction: str) -> None:
        """Begin a task; see `Desk`. A refusal of a stack is shown when it comes."""
        if self.session.stopped_by(instruction):
            return
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

    def say(self, text: str, question: str = '') -> str:
        """Send a remark, an answer, or a word that stops; see `Desk`."""
        if self.session.stopped_by(text):
            return 'Stopped.'
        return self.session.say(text, REMARK_S, question)

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        """Approve or deny, or stop where the reason is a word that stops; see `Desk`."""
        if not granted and self.session.stopped_by(reason):
            return
        self.session.approvals.answer(hash, Answer(granted=granted, reason=reason, by=person()))

    def stop(self) -> None:
        """Stop whatever moves the arm; see `Desk`."""
        self.session.stop(STOPPED)

    def choose(self, scene: str, model: str) -> None:
        """Begin anew; see `Desk`."""
        if self._choices is None:
            raise TaskError('The scene and the models of a stack are chosen when it is started.')
        with self._changing:
            running = self.session.running
            if running is not None and running.is_under_way:
                raise TaskError('A task is under way. Wait for its end, or stop it.')
            self._use(self._choices.open(scene, model))
            self._choices.close()

    def _use(self, session: Session) -> None:
        """Direct and show a session from now on."""
        self.session = session
        session.attended = True
        self.feed.set('robot', session.name)
        if (chosen := self._choices) is not None:
            names = {'scenes': [*chosen.scenes], 'models': [*chosen.models]}
            self.feed.set('choices', {**names, 'scene': chosen.scene, 'model': chosen.model})
        self._drawing = LiveScene(self.feed)
        for name in ('house', 'drawn'):  # of the scene before
            self.feed.set(name, None)
        with suppress(BbllmError):  # the page shows the scene once there is one
            self._scene = scene = session.world.observe()
            self.feed.show_scene(scene)
            self.feed.set('examples', examples_of(scene))
        session.watch(self._receive)

    def _receive(self, episode_id: str, event: Event) -> None:
        is_start = isinstance(event.data, EpisodeStarted)
        if isinstance(event.data, SceneRecorded) and event.data.moment != 'predicted':
            self._scene = event.data.scene
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
        turn = 0
        while not self._done.wait(PERIOD_S):
            with self._changing:
                if self.feed.watched:
                    self._show()
                if turn % CHECK_EVERY == 0:
                    self._check()
            turn += 1

    def _show(self) -> None:
        """Show where all is."""
        seen = self.session.snapshot()
        if seen.scene is not None and seen.scene is not self._scene:
            self._scene = seen.scene
            self.feed.show_scene(seen.scene)
        if seen.pictures:
            shown = {name: data_url(picture) for name, picture in seen.pictures.items()}
            self.feed.set('pictures', shown)
        if seen.objects and seen.joints_rad is not None and seen.width_m is not None:
            self._drawing.show(seen.objects, seen.joints_rad.tolist(), seen.width_m)

    def _check(self) -> None:
        """Show what waits, and what has gone."""
        approvals = self.session.approvals
        request = approvals.waiting
        asked, (imagined, scene) = request.hash if request else '', self._imagined
        if imagined != asked or scene is not self._scene:
            self._imagined = asked, self._scene
            self._show_imagined(request)
        self.feed.show_request(request, approvals.doubt)
        missing, text = self.session.check()
        self.feed.set('nodes', {'missing': [*missing], 'text': text})

    def _show_imagined(self, request: ApprovalRequest | None) -> None:
        """Show where what is asked for would leave the objects: on a table as ghosts."""
        scene = self._scene
        if scene is None:
            return
        after = scene
        if request is not None:
            done = self.feed.done_steps
            texts = [text for at, text in enumerate(request.steps) if at not in done]
            copy = features_of(self.session.world).copy
            after = imagined(texts or request.about[:1], scene, copy)
        if scene.is_symbolic:
            rooms = rooms_of(scene, after, ahead=True)
            self.feed.set('house', [to_json(room) for room in rooms])
            return
        ghosts = [[x.name, plain_row(position_of(x.pose))] for x in ghosts_of(after, scene)]
        self.feed.set('ghosts', ghosts)


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
