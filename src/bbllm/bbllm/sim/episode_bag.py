"""
What a stack publishes, of an episode in this process: a bag that is written without ROS.

The time of a message is that of its header: the wall clock at which the recording began, and the
simulated time since, as on a stack. So a bag plays at the robot's speed, whatever the speed of
the simulation was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.bags.bag_file import check_bag
from bbllm.bags.events import event_fields
from bbllm.bags.records import fields_of
from bbllm.bags.templates import (
    MARK_S,
    WORLD_FRAME,
    JointsTemplate,
    MessageTemplate,
    Numbers,
    ObjectsTemplate,
    header_of,
    pose_of,
    stamp_of,
    xyz,
)
from bbllm.bags.topic_writer import TopicWriter
from bbllm.bags.topics import GOALS_TOPIC, TF, WRENCH, WRENCH_TOPIC
from bbllm.core.events import EpisodeStarted, Event, PlanMade, SceneRecorded
from bbllm.core.observation import Observed
from bbllm.core.types import Scene
from bbllm.robots.urdf import BASE_LINK, DescribedFrames, FrameJoint, robot_description
from bbllm.sim.controllers.trajectory_goal import TrajectoryGoal
from bbllm.sim.reading import read_wrenches
from bbllm.sim.robot import GoalSeen, SimulatedRobot

LYING_S = 0.25
"""Time between two messages of objects that lie still, as on a stack [s]."""
BROADCAST_FRAME = 'base_link'
"""The joint state broadcaster's own frame_id."""


class EpisodeBag:
    """
    Writes states, goals, scenes and events of a simulated robot to a new file; close it.

    Nothing is raised where the file cannot be written, because no arm stops for it: see `broken`.
    Readings change no state, and have no noise.
    """

    def __init__(self, path: Path, robot: SimulatedRobot, observe: Callable[[], Scene]) -> None:
        """
        Begin a bag; ConfigError where that cannot be.

        Args:
            path: A file that does not exist.
            robot: Whose goals are written from now on; `write_state` writes its states.
            observe: Returns the scene as it was observed last.
        """
        check_bag(path)
        self._robot, self._observe = robot, observe
        self._lock = threading.RLock()
        self._file = TopicWriter(path)
        with robot.paused() as simulation:
            self._epoch_s = time.time() - simulation.time_s
            objects = simulation.objects()
        self._objects = ObjectsTemplate(objects)
        places = [(WORLD_FRAME, f'{self._file.namespace}/{item.name}') for item in objects]
        self._places = _tf_template(places)
        self._episode_id = ''
        self._lying_s = -np.inf
        arm = robot.robot_model
        self._names = arm.all_joints
        self._joints = JointsTemplate(self._names, moving=True)
        self._arm = JointsTemplate(arm.joints, BROADCAST_FRAME, moving=True)
        self._hand = JointsTemplate(arm.hand.joints, moving=True)
        self._wrench = MessageTemplate(
            WRENCH,
            lambda rows: {
                'header': header_of(MARK_S, BASE_LINK),
                'wrench': {'force': xyz(rows[0][:3]), 'torque': xyz(rows[0][3:])},
            },
            width=6,
        )
        description = robot_description(arm)
        self._frames = DescribedFrames(description)
        self._tf = _tf_template(_links(self._frames.moving))
        self._file.add_fields('robot_description', {'data': description}, self._now_s)
        links = _links(self._frames.fixed)
        fixed = [_numbers(*joint.at(0.0)) for joint in self._frames.fixed]
        if arm.base_link != WORLD_FRAME:  # in which objects are
            links.append((arm.base_link, WORLD_FRAME))
            fixed.append((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        static = _transforms(links, fixed, self._now_s)
        self._file.add_fields('tf_static', static, self._now_s)
        robot.on_goal = self._take_goal

    @property
    def broken(self) -> str:
        """Why not everything was written, in one sentence; empty where it was."""
        return self._file.broken

    @property
    def path(self) -> Path:
        return self._file.path

    def __enter__(self) -> EpisodeBag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the index of the file; nothing is written any more."""
        self._file.close()

    def write_state(self) -> None:
        """Write joint states, wrench, transforms and objects as they are now."""
        if not self._file.is_open:
            return
        with self._lock, self._robot.paused() as simulation:
            stamp_s = self._epoch_s + simulation.time_s
            measured = simulation.joint_state()
            q, dq = measured.position_rad.tolist(), measured.velocity_rad_s.tolist()
            torques = simulation.data.actuator_force[:N_JOINTS].tolist()
            half_m, still = [measured.width_m / 2] * 2, [0.0, 0.0]
            _, wrench = read_wrenches(self._robot, exact=True)
            moved = self._objects.take(simulation.object_poses())
            arm = self._arm.filled(stamp_s, q, dq, torques)
            whole = (q + half_m, dq + still, torques + still)
            self._file.add('franka/joint_states', arm, stamp_s)
            hand = self._hand.filled(stamp_s, half_m, still, still)
            self._file.add('franka_gripper/joint_states', hand, stamp_s)
            self._file.add('joint_states', self._joints.filled(stamp_s, *whole), stamp_s)
            self._file.add(WRENCH_TOPIC, self._wrench.filled(stamp_s, [wrench.tolist()]), stamp_s)
            positions = dict(zip(self._names, q + half_m, strict=True))
            frames = [_numbers(*at) for _, *at in self._frames.moved(positions)]
            self._file.add('tf', self._tf.filled(stamp_s, frames), stamp_s)
            if moved or stamp_s >= self._lying_s + LYING_S:
                self._lying_s = stamp_s
                self._file.add('objects', self._objects.filled(stamp_s), stamp_s)
                places = self._places.filled(stamp_s, self._objects.poses)
                self._file.add('tf', places, stamp_s)
        self._file.flush()

    def hear(self, event: Event) -> None:
        """Write an event, and with it the plan or the scene that it brings."""
        data, now_s = event.data, self._now_s
        if isinstance(data, EpisodeStarted):
            self._episode_id = data.episode_id
        if isinstance(data, SceneRecorded):
            scene = self._on_the_clock(data.scene)
            event = replace(event, data=replace(data, scene=scene))
            if data.moment != 'predicted':
                self._file.add_fields('scene', fields_of(scene, SCENE), now_s)
        elif isinstance(data, Observed):
            # In the thread that has just observed, so the world is not moving.
            self._file.add_fields(
                'scene', fields_of(self._on_the_clock(self._observe()), SCENE), now_s
            )
        fields = event_fields(event, self._episode_id, now_s)
        if isinstance(data, PlanMade):
            plans: Any = fields['plan']
            self._file.add_fields('plan', plans[0], now_s)
        self._file.add_fields('episode_events', fields, now_s)
        self._file.flush()

    @property
    def _now_s(self) -> float:
        return self._epoch_s + self._robot.time_s

    def _on_the_clock(self, scene: Scene) -> Scene:
        return replace(scene, stamp_s=self._epoch_s + scene.stamp_s)

    def _take_goal(self, goal: GoalSeen) -> None:
        if goal.trajectory is not None:
            stamp_s = self._epoch_s + goal.stamp_s
            self._file.add_fields(
                GOALS_TOPIC, trajectory_fields(goal.trajectory, stamp_s), stamp_s
            )


SCENE = 'bbllm_interfaces/Scene'


def trajectory_fields(goal: TrajectoryGoal, stamp_s: float) -> dict[str, object]:
    """Return the fields of a trajectory_msgs/JointTrajectory of a goal that came at a time [s]."""
    columns = {
        'positions': goal.position_rad,
        'velocities': goal.velocity_rad_s,
        'accelerations': goal.acceleration_rad_s2,
    }
    points = [
        {
            'time_from_start': stamp_of(time_s),
            **{name: list(rows[i]) for name, rows in columns.items() if rows},
        }
        for i, time_s in enumerate(goal.time_s)
    ]
    return {
        'header': header_of(stamp_s, ''),
        'joint_names': list(goal.joint_names),
        'points': points,
    }


def _numbers(position_m: Array, quat_wxyz: Array) -> Numbers:
    """Return a transform as its message has it, x y z and the quaternion with the scalar last."""
    w, *vector = quat_wxyz.tolist()
    return (*position_m.tolist(), *vector, w)


Link = tuple[str, str]
"""Names of a frame and of one that hangs on it."""


def _links(joints: Sequence[FrameJoint]) -> list[Link]:
    return [(joint.parent, joint.child) for joint in joints]


def _tf_template(links: Sequence[Link]) -> MessageTemplate:
    return MessageTemplate(TF, lambda rows: _transforms(links, rows), width=7, n_rows=len(links))


def _transforms(
    links: Sequence[Link], rows: Sequence[Sequence[float]], stamp_s: float = MARK_S
) -> dict[str, object]:
    """Return the fields of a TFMessage with a transform for each link; *rows* as `_numbers`."""
    transforms = []
    for (parent, child), row in zip(links, rows, strict=True):
        pose = pose_of(row)
        transforms.append({
            'header': header_of(stamp_s, parent),
            'child_frame_id': child,
            'transform': {'translation': pose['position'], 'rotation': pose['orientation']},
        })  # fmt: skip
    return {'transforms': transforms}
