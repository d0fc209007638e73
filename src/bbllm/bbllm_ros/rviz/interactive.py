"""
Interactive markers served over the graph, for rviz.

The protocol of the ROS package interactive_markers (2.5), which PyPI does not have: a client
requests `<name>/get_interactive_markers` for everything, follows `<name>/update` from that number
on without a gap, and publishes on `<name>/feedback` what a person did. Only menus are served.
"""

import math
import threading
from collections.abc import Callable, Iterable

from geometry_msgs.msg import Pose
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from visualization_msgs import msg as msgs
from visualization_msgs.srv import GetInteractiveMarkers

UPDATES = QoSProfile(depth=100)
SAME_M = 0.001
"""A marker that moved by less has not moved; poses of what is seen are never still [m]."""
SAME_QUAT = 1e-3
"""The same for each component of its unit quaternion; about a tenth of a degree."""

OnSelect = Callable[[str, int, str], None]
"""With the name of the marker, the number of the entry and the name of the client."""


class InteractiveMarkers:
    """Shows menus to every client, and receives what is chosen."""

    def __init__(self, node: Node, name: str, group: CallbackGroup, on_select: OnSelect):
        self._on_select = on_select
        self._lock = threading.Lock()
        self._number = 0
        self._shown: dict[str, msgs.InteractiveMarker] = {}
        self._updates = node.create_publisher(
            msgs.InteractiveMarkerUpdate, f'{name}/update', UPDATES
        )
        node.create_subscription(
            msgs.InteractiveMarkerFeedback,
            f'{name}/feedback',
            self._receive,
            10,
            callback_group=group,
        )
        node.create_service(
            GetInteractiveMarkers,
            f'{name}/get_interactive_markers',
            self._get,
            callback_group=group,
        )

    def show(self, markers: Iterable[msgs.InteractiveMarker]) -> bool:
        """Show these instead of those before; returns whether anything had changed."""
        wanted = {marker.name: marker for marker in markers}
        with self._lock:
            update = msgs.InteractiveMarkerUpdate(type=msgs.InteractiveMarkerUpdate.UPDATE)
            update.erases = [name for name in self._shown if name not in wanted]
            for name in update.erases:
                del self._shown[name]
            for name, marker in wanted.items():
                self._add(update, name, marker)
            if not (update.erases or update.markers or update.poses):
                return False
            self._number += 1
            update.seq_num = self._number
            self._updates.publish(update)
        return True

    def _add(
        self, update: msgs.InteractiveMarkerUpdate, name: str, marker: msgs.InteractiveMarker
    ) -> None:
        """Add what changed of one marker: a pose alone is cheap, and closes no open menu."""
        shown = self._shown.get(name)
        if shown is not None and _same_but_pose(shown, marker):
            if _same_pose(shown.pose, marker.pose):
                return
            shown.pose = marker.pose
            moved = msgs.InteractiveMarkerPose(header=marker.header, pose=marker.pose, name=name)
            update.poses.append(moved)
        else:
            self._shown[name] = marker
            update.markers.append(marker)

    def _get(
        self, request: GetInteractiveMarkers.Request, reply: GetInteractiveMarkers.Response
    ) -> GetInteractiveMarkers.Response:
        with self._lock:
            reply.sequence_number = self._number
            reply.markers = list(self._shown.values())
        return reply

    def _receive(self, feedback: msgs.InteractiveMarkerFeedback) -> None:
        if feedback.event_type == msgs.InteractiveMarkerFeedback.MENU_SELECT:
            self._on_select(feedback.marker_name, feedback.menu_entry_id, feedback.client_id)


def _same_but_pose(one: msgs.InteractiveMarker, other: msgs.InteractiveMarker) -> bool:
    names = ('menu_entries', 'controls', 'description', 'scale', 'header')
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _same_pose(one: Pose, other: Pose) -> bool:
    p, q, a, b = one.position, other.position, one.orientation, other.orientation
    far_m = math.dist((p.x, p.y, p.z), (q.x, q.y, q.z))
    turned = max(abs(a.x - b.x), abs(a.y - b.y), abs(a.z - b.z), abs(a.w - b.w))
    return far_m < SAME_M and turned < SAME_QUAT
