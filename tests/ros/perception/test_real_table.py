"""Tables of which the stack knows only what a noisy camera in a frame of its own tells."""

import math
import os
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from bbllm_interfaces.msg import Detection, Detections, ObjectStates
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from bbllm.core.events import Ending
from bbllm.core.types import Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.robots.fr3 import FR3
from bbllm.scene.catalogue import Catalogue, load_catalogue
from bbllm.scene.transforms import compose, inverse, multiply, normalized
from bbllm_ros.convert.arm import arm_from_msg
from bbllm_ros.convert.records import (
    LATCHED,
    WORLD_FRAME,
    objects_from_msg,
    pose_to_msg,
    transform_to_msg,
)
from bbllm_ros.driver.joint_feed import ARM_TOPIC
from bbllm_ros.rclpy_support.own_nodes import OwnNodes
from tests.ros.stacks import Running, started, until

pytestmark = pytest.mark.ros

MOUNT = Pose(position_m=(0.9, -0.6, 0.9), quat_xyzw=normalized((0.3, 0.8, -0.4, 0.2)))
"""The camera's housing in the world, turned any way: nothing may depend on it."""
LENS = Pose(position_m=(0.0, 0.03, 0.01), quat_xyzw=normalized((-0.5, 0.5, -0.5, 0.5)))
"""The optical frame in the housing."""
HOUSING, OPTICAL = 'camera_link', 'camera_color_optical_frame'
NOISE_M, NOISE_RAD = 0.002, 0.02
"""Standard deviations of each coordinate and of each axis of rotation [m, rad]."""
DROPOUT = 0.1
"""Share of objects that a picture does not show."""
HAND_COVERS_M = 0.08
"""What is this near to the TCP, seen from above, the camera does not see [m]."""


class Camera(AbstractContextManager['Camera']):
    """Publishes detections, or tag frames, of what it sees; a node in a thread of the test."""

    def __init__(
        self,
        *,
        tags: Catalogue | None = None,
    ):
        """Join the graph of the stack; publish *tags* on /tf in place of detections, if given."""
        self.blind = False
        """Whether it sends no pictures."""
        self.truth: dict[str, SceneObject] = {}
        """Where things are."""
        self._tags = tags
        self._random = random.Random(7)
        self._objects: ObjectStates | None = None
        self._tcp: tuple[float, float] | None = None
        self._own = OwnNodes(args=[], domain_id=int(os.environ['ROS_DOMAIN_ID']))
        self.node = self._own.join('camera', '/bbllm')
        self._publish = self._publisher()
        static = self.node.create_publisher(TFMessage, 'tf_static', LATCHED)
        links = [(WORLD_FRAME, HOUSING, MOUNT), (HOUSING, OPTICAL, LENS)]
        static.publish(TFMessage(transforms=[transform_to_msg(*link, 0.0) for link in links]))
        self.node.create_subscription(ObjectStates, 'objects', self._receive, 1)
        self.node.create_subscription(JointState, ARM_TOPIC, self._receive_arm, 1)
        self.node.create_timer(0.2, self._observe)
        self._own.spin(self.node, 'camera')

    def __exit__(self, *_: object) -> None:
        self._own.close()

    def _publisher(self) -> Callable[[Any], None]:
        kind, topic = (Detections, 'detections') if self._tags is None else (TFMessage, 'tf')
        publisher = self.node.create_publisher(kind, topic, 10)
        return publisher.publish

    def _receive(self, msg: ObjectStates) -> None:
        self._objects = msg
        self.truth = {item.name: item for item in objects_from_msg(msg)}

    def _receive_arm(self, msg: JointState) -> None:
        measured = arm_from_msg(msg)
        if measured is not None:
            x, y, _ = FR3.kinematics.forward(measured[0])[:3, 3].tolist()
            self._tcp = (x, y)

    def _observe(self) -> None:
        if self.blind or self._objects is None or self._tcp is None:
            return
        seen = [item for item in objects_from_msg(self._objects) if self._sees(item)]
        stamp = self._objects.header.stamp
        if self._tags is None:
            msg = Detections(detections=[self._detection(item) for item in seen])
            msg.header.stamp, msg.header.frame_id = stamp, OPTICAL
            self._publish(msg)
            return
        found = [self._tag(item) for item in seen]
        for item in found:
            item.header.stamp = stamp
        self._publish(TFMessage(transforms=found))

    def _sees(self, item: SceneObject) -> bool:
        if item.kind not in (Kind.CUBE, Kind.CYLINDER):
            return False
        if self._tags is not None and self._tags.named(item.name) is None:
            return False
        assert self._tcp is not None  # says who calls
        covered = math.dist(item.pose.position_m[:2], self._tcp) < HAND_COVERS_M
        return not covered and self._random.random() >= DROPOUT

    def _detection(self, item: SceneObject) -> Detection:
        # Name and pose alone: what it is, the catalogue or the scene file has to say.
        return Detection(name=item.name, pose=pose_to_msg(self._seen(item.pose)), confidence=0.9)

    def _tag(self, item: SceneObject) -> TransformStamped:
        assert self._tags is not None
        entry = self._tags.named(item.name)
        assert entry is not None and entry.tag is not None
        pose = compose(item.pose, inverse(entry.tag.T_tag_centre))
        return transform_to_msg(OPTICAL, entry.tag.frame, self._seen(pose), 0.0)

    def _seen(self, pose: Pose) -> Pose:
        """Return a pose of the world as the camera measures it."""
        noise = self._random.gauss
        x, y, z = (value + noise(0.0, NOISE_M) for value in pose.position_m)
        turn = normalized((*(noise(0.0, NOISE_RAD) / 2 for _ in range(3)), 1.0))
        seen = Pose(position_m=(x, y, z), quat_xyzw=multiply(turn, pose.quat_xyzw))
        return compose(inverse(compose(MOUNT, LENS)), seen)


def is_on(camera: Camera, thing: str, place: str) -> bool:
    """Tell by the simulator's own truth, which the stack under test does not hear."""
    at, to = (camera.truth[name].pose.position_m for name in (thing, place))
    return math.dist(at[:2], to[:2]) < 0.02


def test_what_the_hand_carries_is_inferred_and_marked_as_such(ros_domain: int) -> None:
    """The stack has only a scene file and the hand; the camera is for the test."""
    given = {'state_estimator': {'sources': 'static', 'scene': 'tabletop'}}
    nodes = ('state_estimator', 'fr3_executor', 'mujoco_sim')
    with Camera() as camera, started(nodes, params=given, namespace='bbllm') as stack:
        until(lambda: camera.truth, 'truth of the simulator')
        picked = stack.client.execute(SkillCall('pick', ('green_cube',)))
        scene = stack.client.scene()
        placed = stack.client.execute(SkillCall('place', ('location_E',)))
        after = stack.client.scene()
        until(lambda: is_on(camera, 'green_cube', 'location_E'), 'green cube on location_E')

    assert (picked.message, placed.message) == ('', '')
    assert scene.held == 'green_cube'
    assert estimated(scene, 'held_by') == ['green_cube']
    assert after.held is None
    assert 'green_cube' in estimated(after, 'on')
    assert 'yellow_cube' not in estimated(after, 'on')


def estimated(scene: Scene, predicate: str) -> list[str]:
    return [f.subject for f in scene.facts if f.predicate == predicate and f.estimated]


@pytest.fixture(
    scope='module', params=['detections', pytest.param('apriltag', marks=pytest.mark.slow)]
)
def seen(ros_domain: int, request: pytest.FixtureRequest) -> Iterator[tuple[Running, Camera]]:
    tags = load_catalogue('tabletop') if request.param == 'apriltag' else None
    params = {'sources': request.param, 'scene': 'tabletop', 'catalogue': 'tabletop'}
    given = {'state_estimator': params, 'mujoco_sim': {'speed': 1.0}}
    with Camera(tags=tags) as camera, started(params=given) as stack:
        yield stack, camera


def test_task_is_carried_out_on_what_a_noisy_camera_sees(seen: tuple[Running, Camera]) -> None:
    running, camera = seen

    result = running.run('put the red cube on location_B')

    assert (result.ending, result.message) == (Ending.FINISHED, '')
    until(lambda: is_on(camera, 'red_cube', 'location_B'), 'red cube on location_B')


def test_camera_that_falls_silent_makes_the_scene_stale(seen: tuple[Running, Camera]) -> None:
    running, camera = seen
    camera.blind = True

    until(lambda: running.scene_error(), 'error of get_scene')
    output = running.scene_error()
    camera.blind = False
    until(lambda: not running.scene_error(), 'scene of a camera that sends again')

    assert 'The scene is stale' in output
    assert OPTICAL in output
