"""The part of rviz that shows interactive markers: the client's side of their protocol."""

import threading
from typing import Any

import yaml
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerUpdate,
    MarkerArray,
)
from visualization_msgs.srv import GetInteractiveMarkers

from bbllm.core.paths import config_dir
from bbllm_ros.convert.records import LATCHED
from tests.ros.stacks import until

SETTINGS = yaml.safe_load((config_dir() / 'rviz' / 'bbllm.rviz').read_text())[
    'Visualization Manager'
]
DISPLAYS: dict[str, dict[str, Any]] = {
    display['Name']: {**display, 'Class': display['Class'].removeprefix('rviz_default_plugins/')}
    for display in SETTINGS['Displays']
}
"""What rviz shows of a stack, by its file of the view."""


class RvizClient:
    def __init__(self, node: Node, name: str = 'task_menu'):
        self._lock = threading.Lock()
        self._early: list[InteractiveMarkerUpdate] | None = []
        self._number = 0
        self.markers: dict[str, InteractiveMarker] = {}
        self.updates: list[InteractiveMarkerUpdate] = []
        self.gaps: list[tuple[int, int]] = []
        """Numbers of updates that did not follow the last; rviz asks for everything again."""
        self.status = ''
        group = ReentrantCallbackGroup()
        self._feedback = node.create_publisher(InteractiveMarkerFeedback, f'{name}/feedback', 100)
        node.create_subscription(
            InteractiveMarkerUpdate, f'{name}/update', self._receive, 100, callback_group=group
        )
        node.create_subscription(
            MarkerArray, 'status_markers', self._observe, LATCHED, callback_group=group
        )
        client = node.create_client(
            GetInteractiveMarkers, f'{name}/get_interactive_markers', callback_group=group
        )
        until(client.service_is_ready, f'service {name}/get_interactive_markers')
        until(lambda: node.count_publishers(f'{name}/update'), f'publisher of {name}/update')
        until(lambda: node.count_subscribers(f'{name}/feedback'), f'listener to {name}/feedback')
        answer = client.call_async(GetInteractiveMarkers.Request())
        until(answer.done, f'answer of {name}/get_interactive_markers')
        self._begin(answer.result())

    def titles(self, marker: str) -> list[str]:
        """List the lines of a menu, each with those above it: `put on > location_B`."""
        with self._lock:
            return list(_paths(self.markers[marker])) if marker in self.markers else []

    def number(self, marker: str, title: str) -> int:
        """Return the number of a line, once it is in the menu."""
        until(lambda: title in self.titles(marker), f'{title!r} in the menu of {marker}')
        with self._lock:
            return _paths(self.markers[marker])[title]

    def choose(self, marker: str, title: str) -> None:
        """Click on a line of a menu, once it is there."""
        self.send(marker, self.number(marker, title))

    def send(self, marker: str, number: int) -> None:
        self._feedback.publish(
            InteractiveMarkerFeedback(
                client_id='test',
                marker_name=marker,
                control_name='menu',
                event_type=InteractiveMarkerFeedback.MENU_SELECT,
                menu_entry_id=number,
            )
        )

    def _begin(self, reply: GetInteractiveMarkers.Response) -> None:
        with self._lock:
            self._number = reply.sequence_number
            self.markers = {marker.name: marker for marker in reply.markers}
            early, self._early = self._early or [], None
            for update in early:
                if update.seq_num > self._number:
                    self._apply(update)

    def _receive(self, update: InteractiveMarkerUpdate) -> None:
        with self._lock:
            if self._early is not None:
                self._early.append(update)
            else:
                self._apply(update)

    def _apply(self, update: InteractiveMarkerUpdate) -> None:
        if update.seq_num != self._number + 1:
            self.gaps.append((self._number, update.seq_num))
        self._number = update.seq_num
        self.updates.append(update)
        for marker in update.markers:
            self.markers[marker.name] = marker
        for moved in update.poses:
            self.markers[moved.name].pose = moved.pose
        for name in update.erases:
            del self.markers[name]

    def _observe(self, shown: MarkerArray) -> None:
        self.status = '\n'.join(marker.text for marker in shown.markers)


def _paths(marker: InteractiveMarker) -> dict[str, int]:
    """Return the numbers of all lines; a line that comes before its parent is a fault."""
    found: dict[int, str] = {0: ''}
    for entry in marker.menu_entries:
        above = found[entry.parent_id]
        assert entry.id not in found, f'{entry.id} twice in the menu of {marker.name}'
        found[entry.id] = f'{above} > {entry.title}' if above else entry.title
    numbers: dict[Any, int] = {path: number for number, path in found.items() if number}
    return numbers
