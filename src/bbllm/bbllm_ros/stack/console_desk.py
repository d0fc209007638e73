"""A running stack, simulated or real, as the page directs it."""

import threading
import time
from contextlib import AbstractContextManager, suppress

from bbllm.api.backends import episode_on_stack, run_in_thread
from bbllm.cli.views.question import person
from bbllm.core.approval import Answer
from bbllm.core.errors import BbllmError, ConfigError, LostNodeError, TaskError
from bbllm.core.events import Ending, Episode, EpisodeEnded, EpisodeStarted, Event
from bbllm.core.journal import end_journal, read_damaged
from bbllm.core.paths import episodes_dir
from bbllm.core.tasks import make_remark, make_task
from bbllm_ros.rclpy_support.stop_client import StopClient
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.newest_states import NewestStates
from bbllm_ros.stack.stack import NODES, REAL_NODES
from bbllm_viewer.console.desk import REMARK_S
from bbllm_viewer.console.feed import Feed
from bbllm_viewer.console.live_scene import PERIOD_S, LiveScene

CHECK_EVERY = 4
"""One check for requests and for nodes that have gone for so many pictures."""
END_S = 5.0
"""How long the thread may take to end, wall clock [s]."""


class StackDesk(AbstractContextManager['StackDesk']):
    """
    Gives a stack tasks, shows every episode of it, whoever began it, and names nodes that go.

    Use it with `with`. A task that is under way at the end is cancelled, as the stack does for
    each client that leaves.
    """

    def __init__(self, client: StackClient):
        self.feed = Feed()
        self._client = client
        self._stop = StopClient(client.node, client.group)
        self._lock = threading.Lock()
        self._is_busy = False
        self._done = threading.Event()
        self.feed.set('robot', f'stack /{client.namespace}')
        self._states = NewestStates(client.node)
        client.on_any_event = self._receive
        self._thread = threading.Thread(target=self._watch, name='stack_desk', daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._client.cancel()
        self._done.set()
        self._thread.join(END_S)

    def begin(self, instruction: str) -> None:
        """Begin a task; see `Desk`. A refusal of the stack is shown when it comes."""
        task = make_task(instruction)
        with self._lock:
            if self._is_busy:
                raise TaskError('A task is under way. Wait for its end, or stop it.')
            self._is_busy = True
        self.feed.set('fault', '')

        def run() -> Episode | None:
            try:
                return episode_on_stack(self._client, task, None, lambda event: None)
            except BbllmError as error:
                is_lost = isinstance(error, LostNodeError)
                if not (is_lost and self._has_ended(task.id, str(error))):
                    self.feed.set('fault', str(error))
            finally:
                self._is_busy = False
            return None

        run_in_thread(run)

    def say(self, text: str) -> str:
        """Send a remark; see `Desk`."""
        words = make_remark(text)
        self._client.heartbeats.check_serving(['brain_planner'])
        return self._client.say(words, wait_s=REMARK_S)

    def answer(self, hash: str, granted: bool, reason: str) -> None:
        """Approve or deny; see `Desk`."""
        self._client.approvals.answer(hash, Answer(granted=granted, reason=reason, by=person()))

    def stop(self) -> None:
        """Stop whatever moves the arm, whoever began it; see `Desk`."""
        self._stop.stop_all()

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

    def _watch(self) -> None:
        drawing = LiveScene(self.feed)
        turn = 0
        while not self._done.wait(PERIOD_S):
            if turn % CHECK_EVERY == 0:
                approvals = self._client.approvals
                self.feed.show_request(approvals.waiting, approvals.doubt)
                self._check_nodes()
            if self.feed.watched:
                seen = self._states.look()
                if seen.scene is not None:
                    self.feed.show_scene(seen.scene)
                if seen.objects and seen.joints_rad is not None and seen.width_m is not None:
                    drawing.show(seen.objects, seen.joints_rad.tolist(), seen.width_m)
            turn += 1

    def _check_nodes(self) -> None:
        """Show which nodes have gone; an episode whose planner has gone has ended."""
        lost = ''
        try:
            self._client.heartbeats.check_serving(NODES)
        except LostNodeError as error:
            lost = str(error)
        missing = self._client.missing(REAL_NODES)
        self.feed.set('nodes', {'missing': missing, 'text': lost})
        if lost and self.feed.running:
            self._has_ended(self.feed.episode_id, lost)

    def _has_ended(self, episode_id: str, message: str) -> bool:
        """Return whether the planner has gone, which wrote the journal, and end its episode."""
        if not self._client.heartbeats.has_ended('brain_planner'):
            return False
        end_journal(episodes_dir() / f'{episode_id}.jsonl', Ending.WORLD_FAILED, message)
        if self.feed.running and self.feed.episode_id == episode_id:
            end = EpisodeEnded(Ending.WORLD_FAILED, message, 'LostNodeError')
            self.feed.take(Event(time.time(), end))
        return True
