"""The node `task_menu`: menus on objects, places and the robot in rviz, and a status."""

import threading
import time
from dataclasses import replace
from typing import Any

from bbllm_interfaces.action import ExecuteSkill
from bbllm_interfaces.msg import Approval, EpisodeEvent
from bbllm_interfaces.msg import Scene as SceneMsg
from visualization_msgs.msg import MarkerArray

from bbllm.core.errors import ApprovalError, LostNodeError
from bbllm.core.tasks import load_suite
from bbllm.core.types import Scene
from bbllm.worlds.tabletop.menu import Numbers, robot_menu, scene_menus
from bbllm.worlds.tabletop.status import StatusBoard
from bbllm_ros.convert.approval import approval_from_msg
from bbllm_ros.convert.events import event_from_msg
from bbllm_ros.convert.records import EVENTS, LATCHED, from_msg
from bbllm_ros.parameters.node_params import TaskMenuParams
from bbllm_ros.rclpy_support.entities import rivals
from bbllm_ros.rclpy_support.stack_node import StackNode, run
from bbllm_ros.rviz.interactive import InteractiveMarkers
from bbllm_ros.rviz.markers import menu_marker, status_markers
from bbllm_ros.rviz.menu_actions import ChoiceDesk
from bbllm_ros.stack.stack import REAL_NODES


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
        self._desk = ChoiceDesk(self, self._note)
        self._status = self.create_publisher(MarkerArray, 'status_markers', LATCHED)
        for kind, topic, receive, qos in (
            (SceneMsg, 'scene', self._see, LATCHED),
            (Approval, 'approval', self._ask, LATCHED),
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
            self._board = self._board.saw(self._scene)

    def _ask(self, msg: Approval) -> None:
        try:
            request = approval_from_msg(msg)
        except ApprovalError as error:
            self._note(str(error))
            return
        with self._lock:
            self._board = self._board.asked(request)
        if request is not None and (doubt := rivals(self, 'approval')):
            self._note(doubt)

    def _receive_event(self, msg: EpisodeEvent) -> None:
        try:
            event = event_from_msg(msg)
        except ValueError as error:
            self.get_logger().warning(f'An event {msg.kind!r} is left out: {error}')
            return
        with self._lock:
            self._board = self._board.heard(event)

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
