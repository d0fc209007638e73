"""The newest objects, and an error that names the node that fell silent."""

import math
from functools import partial

from bbllm_interfaces.msg import ObjectStates
from rclpy.node import Node

from bbllm.core.constants import SAME_S
from bbllm.core.errors import SceneError, UnknownNameError
from bbllm.core.naming import objects_fault
from bbllm.core.types import SceneObject
from bbllm.skills.catalog import known_skills
from bbllm.worlds.tabletop.table import TableView
from bbllm_ros.convert.records import objects_from_msg
from bbllm_ros.convert.serialized import StampedMessage
from bbllm_ros.driver.joint_feed import JointFeed
from bbllm_ros.estimator.table_feed import TableFeed
from bbllm_ros.parameters.node_params import StateEstimatorParams
from bbllm_ros.parameters.scene_sources import SceneSource, read_sources
from bbllm_ros.rclpy_support.entities import rivals, sources_of
from bbllm_ros.rclpy_support.fast_subscription import LatestMessage, Poller
from bbllm_ros.rclpy_support.stack_node import StackNode

TOPIC = 'objects'
LOG_S = 10.0
CATCH_UP_S = 1.0
"""How long joint states may be behind the objects, before the last ones are used [s]."""


class ObjectFeed:
    """
    Subscribes to the topic `objects`, which has every object.

    Older ones than *max_age_s* by the wall clock are stale [s]; *fixed* are furniture and places
    of a scene file.
    """

    def __init__(
        self,
        node: Node,
        poller: Poller,
        joints: JointFeed,
        max_age_s: float,
        fixed: tuple[SceneObject, ...] = (),
    ):
        self._node = node
        self._poller = poller
        self._joints = joints
        self._max_age_s = max_age_s
        self._fixed = fixed
        self._latest = LatestMessage[StampedMessage[ObjectStates]](
            node, poller, ObjectStates, TOPIC, read=partial(StampedMessage, ObjectStates)
        )
        self._last: tuple[bytes, tuple[SceneObject, ...]] = (b'', ())
        """What was read last, as it came and as records."""
        self.skills: tuple[str, ...] = ()
        """What that message offers beside the skills of every table."""

    @property
    def seen(self) -> bool:
        newest = self._latest.message
        return newest is not None and len(self._objects_of(newest)) > 0

    @property
    def fresh(self) -> bool:
        return self._latest.age_s <= self._max_age_s

    def observe(
        self, not_before_s: float, wait_s: float, *, or_stopped: bool = False
    ) -> TableView:
        """
        Return the objects at a time on the world's clock or later, and the hand then [s].

        *wait_s* is by the wall clock; with 0, joint states on their way are not waited for either.
        Raises SceneError where there are none, or one breaks the rule of `core.naming`;
        LostNodeError where no states of arm or hand are received.
        """
        newest = self._since(not_before_s, wait_s)
        reported, stamp_s = self._objects_of(newest), newest.stamp_s
        if fault := self._fault(reported):
            text = f'The scene cannot be used: {fault}'
            self._node.get_logger().error(text, throttle_duration_sec=LOG_S)
            raise SceneError(text)
        names = {item.name for item in reported}
        return TableView(
            objects=(*reported, *(item for item in self._fixed if item.name not in names)),
            hand=self._joints.hand(stamp_s, CATCH_UP_S if wait_s else 0.0, or_stopped=or_stopped),
            stamp_s=stamp_s,
        )

    def _fault(self, reported: tuple[SceneObject, ...]) -> str:
        """Return why no scene can be made of some objects, in a sentence; empty if one can."""
        topic = self._latest.topic
        # A simulator that was killed and its successor have one name, and send the same table.
        if self._node.count_publishers(topic) > 1 and len({*sources_of(self._node, topic)}) > 1:
            return f'{rivals(self._node, topic)} End the others.'
        # As a whole: an arm that knows of a part of the scene runs into the rest.
        fault = objects_fault(reported) or next(filter(None, map(_number_fault, reported)), '')
        fault = fault or _skill_fault(self.skills)
        source = self._latest.source or topic
        return f'{fault.rstrip(".")}. Correct it at its source, {source}.' if fault else ''

    def _objects_of(self, newest: StampedMessage[ObjectStates]) -> tuple[SceneObject, ...]:
        """Return the objects of a message; those of the last one where they lie as they did."""
        content, reported = self._last
        if newest.content != content:
            reported = objects_from_msg(newest.message)
            self.skills = tuple(newest.message.skills)
            self._last = (newest.content, reported)
        return reported

    def _since(self, not_before_s: float, wait_s: float) -> StampedMessage[ObjectStates]:
        self._poller.refresh()
        self._latest.wait_for(lambda: self.fresh and self._is_new(not_before_s), wait_s)
        newest = self._latest.message
        if newest is None:
            raise SceneError(
                f'The scene is empty: no message came on {self._latest.topic}. Is '
                'mujoco_sim, or whatever sees the real table, running?'
            )
        if not self.fresh:
            raise SceneError(
                f'The scene is stale: {self._latest.source or "the source of the objects"} has '
                f'sent nothing for {self._latest.age_s:.1f} s.'
            )
        behind_s = not_before_s - newest.stamp_s
        if behind_s > SAME_S:
            raise SceneError(
                f'The scene is stale: within {wait_s:g} s nothing newer came than from '
                f'{behind_s:.2f} s before the moment that was asked for.'
            )
        return newest

    def _is_new(self, not_before_s: float) -> bool:
        newest = self._latest.message
        return newest is not None and not_before_s - newest.stamp_s <= SAME_S


def _number_fault(item: SceneObject) -> str:
    numbers = (*item.pose.position_m, *item.pose.quat_xyzw, *item.size_m)
    fits = all(map(math.isfinite, numbers))
    return '' if fits else f'{item.name} has a pose or size that is not finite'


def _skill_fault(names: tuple[str, ...]) -> str:
    try:
        known_skills(names)
    except UnknownNameError as error:
        return str(error)
    return ''


def make_source(
    node: StackNode, poller: Poller, joints: JointFeed, params: StateEstimatorParams
) -> ObjectFeed | TableFeed:
    """Return what locates objects for a node, by its parameters; raises ConfigError."""
    config = read_sources(params.sources, params.scene, params.catalogue)
    if SceneSource.OBJECTS in config.sources:
        return ObjectFeed(node, poller, joints, params.max_age_s, config.fixed)
    return TableFeed(node, poller, joints, params, config)
