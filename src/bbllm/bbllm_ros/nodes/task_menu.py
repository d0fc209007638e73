"""The node `task_menu`: menus on objects, places and the robot in rviz, and a status."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from bbllm_interfaces.action import ExecuteSkill, RunTask
from bbllm_interfaces.msg import EpisodeEvent
from bbllm_interfaces.msg import Scene as SceneMsg
from visualization_msgs.msg import MarkerArray

from bbllm.core.approval import Answer
from bbllm.core.errors import ApprovalError, BbllmError, LostNodeError
from bbllm.core.events import Ending
from bbllm.core.tasks import load_suite
from bbllm.core.types import Scene
from bbllm_ros.convert.events import event_from_msg
from bbllm_ros.convert.records import EVENTS, LATCHED, from_msg
from bbllm_ros.parameters.node_params import TaskMenuParams
from bbllm_ros.rclpy_support.calls import ActionCall, StopClient, not_begun
from bbllm_ros.rclpy_support.stack_node import StackNode, run
from bbllm_ros.rviz.interactive import InteractiveMarkers
from bbllm_ros.rviz.markers import menu_marker, status_markers
from bbllm_ros.rviz.menu import ChoiceKind, MenuChoice, Numbers, robot_menu, scene_menus
from bbllm_ros.rviz.status import StatusBoard
from bbllm_ros.stack.service_clients import ApprovalClient
from bbllm_ros.stack.stack import REAL_NODES

REASON = 'It was denied from the menu in rviz.'
STOPPED = 'stopped, as asked'


class ChoiceDesk:
    """
    Blocks no caller: the outcome of a choice is given to *note* in one line when it is there.

    Tasks, answers and stops wait in threads, since what a client sends that has only just found
    its server may be lost (see `ServiceCall`).
    """

    def __init__(self, node: StackNode, note: Callable[[str], None], approvals: ApprovalClient):
        self._note, self._approvals = note, approvals
        self._run_task = ActionCall(node, RunTask, 'run_task', 'brain_planner', node.group)
        self._stops = StopClient(node, node.group)
        self._answers = SimpleQueue[tuple[str, Answer]]()
        _in_background('answers', self._give_answers)

    def carry_out(self, choice: MenuChoice, *, by: str) -> None:
        """Begin what was chosen; *by* is the person, for logs."""
        if choice.kind is ChoiceKind.TASK:
            _in_background('task', self._run, choice.instruction)
        elif choice.kind is ChoiceKind.STOP:
            self._stop()
        else:
            self._answer(choice, by)

    def _run(self, instruction: str) -> None:
        self._note(f'asked for {instruction!r}')
        try:
            status, result = self._run_task.run(RunTask.Goal(task=instruction))
        except BbllmError as error:
            self._note(f'{instruction!r} was not carried out: {error}')
            return
        if result is None:
            self._note(not_begun(status, repr(instruction), 'brain_planner'))
        elif not result.episode_id:
            self._note(f'{instruction!r} was refused: {result.message}')
        elif result.ending == Ending.FINISHED:
            self._note(f'{instruction!r} is done')

    def _answer(self, choice: MenuChoice, by: str) -> None:
        granted = choice.kind is ChoiceKind.GRANT
        answer = Answer(granted=granted, reason='' if granted else REASON, by=by)
        self._note('approving' if granted else 'denying')
        self._answers.put((choice.hash, answer))

    def _give_answers(self) -> None:
        """Give one answer after the other, in the order of the clicks."""
        while True:
            self._give(*self._answers.get())

    def _give(self, hash: str, answer: Answer) -> None:
        try:
            self._approvals.answer(hash, answer)
        except ApprovalError as error:
            self._note(f'the answer was not taken: {error}')
        except BbllmError as error:
            self._note(f'the answer was not given: {error}')
        else:
            self._note('approved' if answer.granted else 'denied')

    def _stop(self) -> None:
        self._note('asked for a stop')
        _in_background('stop of the arm', self._stop_arm)
        _in_background('stop', self._stop_all)

    def _stop_arm(self) -> None:
        with suppress(BbllmError):  # `_stop_all` reports it
            self._stops.stop_arm()

    def _stop_all(self) -> None:
        try:
            self._stops.stop_all()
        except BbllmError as error:
            self._note(f'not all was stopped: {error}')
        else:
            self._note(STOPPED)


def _in_background(name: str, call: Callable[..., None], *args: Any) -> None:
    # Daemon: an answer that never comes must not keep the node from ending.
    threading.Thread(target=call, args=args, name=name, daemon=True).start()


class TaskMenu(StackNode):
    """Keeps menus and status up to date, and hands on what is chosen."""

    def __init__(self) -> None:
        super().__init__('task_menu', TaskMenuParams)

    def build(self) -> None:
        params = self.params
        self._tasks = {task.name: task.instruction for task in load_suite(params.suite).tasks}
        self._numbers = Numbers()
        self._board = StatusBoard()
        self._shown: StatusBoard | None = None
        self._scene: Scene | None = None
        self._scene_s = time.monotonic()
        self._lock = threading.RLock()
        approvals = ApprovalClient(self, self.group, on_change=self._ask)
        self._desk = ChoiceDesk(self, self._note, approvals)
        self._status = self.create_publisher(MarkerArray, 'status_markers', LATCHED)
        for kind, topic, receive, qos in (
            (SceneMsg, 'scene', self._see, LATCHED),
            (EpisodeEvent, 'episode_events', self._receive_event, EVENTS),
            (
                ExecuteSkill.Impl.FeedbackMessage,
                'execute_skill/_action/feedback',
                self._watch_arm,
                10,
            ),
        ):
            self.create_subscription(kind, topic, receive, qos, callback_group=self.group)

    def begin(self) -> None:
        self._menus = InteractiveMarkers(self, 'task_menu', self.group, self._choose)
        self.every(1.0 / self.params.rate_hz, self._show, self.group)

    def _choose(self, marker: str, number: int, client: str) -> None:
        choice = self._numbers.choice(number)
        if choice is None:
            self._note(f'there is no entry {number} in the menu of {marker}')
        else:
            self.get_logger().info(f'{client} chose in the menu of {marker}: {choice}')
            self._desk.carry_out(choice, by=f'rviz {client}')

    def _see(self, msg: SceneMsg) -> None:
        with self._lock:
            self._scene, self._scene_s = from_msg(Scene, msg), time.monotonic()
            self._board = self._board.with_scene(self._scene)

    def _ask(self, approvals: ApprovalClient) -> None:
        with self._lock:
            self._board = self._board.with_request(approvals.waiting)
        if doubt := approvals.doubt:
            self._note(doubt)

    def _receive_event(self, msg: EpisodeEvent) -> None:
        try:
            event = event_from_msg(msg)
        except ValueError as error:
            self.get_logger().warning(f'An event {msg.kind!r} is left out: {error}')
            return
        with self._lock:
            self._board = self._board.with_event(event)

    def _watch_arm(self, msg: Any) -> None:
        with self._lock:
            self._board = replace(self._board, activity=msg.feedback.activity)

    def _note(self, notice: str) -> None:
        with self._lock:
            self._board = replace(self._board, notice=notice)

    def _show(self) -> None:
        with self._lock:
            board = self._board = replace(self._board, missing=self._missing())
            menus = [robot_menu(self._tasks, board.waiting)]
            if self._scene is not None:
                menus += scene_menus(self._scene)
            self._menus.show(menu_marker(menu, self._numbers) for menu in menus)
            if board != self._shown:
                self._status.publish(status_markers(board.lines(), board.mood))
                self._shown = board

    def _missing(self) -> str:
        try:
            self.heartbeats.check(REAL_NODES)
        except LostNodeError as error:
            return str(error)
        silence_s = time.monotonic() - self._scene_s
        if silence_s > self.params.max_scene_age_s:
            return 'no scene is heard of, so the menus show the last one'
        return ''


def main() -> None:
    run(TaskMenu)


if __name__ == '__main__':
    main()
