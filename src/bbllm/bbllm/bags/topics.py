"""
The topics that are written without ROS, with their types and qualities of service.

Names and types are those of a stack, relative to its namespace; a test compares them with the
publishers of one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

JOINT_STATE = 'sensor_msgs/msg/JointState'
OBJECT_STATES = 'bbllm_interfaces/msg/ObjectStates'
EPISODE_EVENT = 'bbllm_interfaces/msg/EpisodeEvent'
PLAN = 'bbllm_interfaces/msg/Plan'
SCENE = 'bbllm_interfaces/msg/Scene'
STRING = 'std_msgs/msg/String'
TF = 'tf2_msgs/msg/TFMessage'
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
WRENCH = 'geometry_msgs/msg/WrenchStamped'

ENDLESS_NS = 2**63 - 1
"""What DDS writes for no limit of a time [ns]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """A quality of service as rosbag2 writes it: the words of rmw for its policies."""

    reliability: str = 'reliable'
    durability: str = 'volatile'
    history: str = 'keep_last'
    depth: int = 10
    liveliness: str = 'automatic'
    deadline_ns: int = ENDLESS_NS
    lifespan_ns: int = ENDLESS_NS
    lease_ns: int = ENDLESS_NS

    def __str__(self) -> str:
        """Return it as an item of `offered_qos_profiles`, in YAML."""

        def time(ns: int) -> str:
            seconds, nanoseconds = divmod(ns, 1_000_000_000)
            return f'\n    sec: {seconds}\n    nsec: {nanoseconds}'

        return (
            f'- history: {self.history}\n  depth: {self.depth}\n'
            f'  reliability: {self.reliability}\n  durability: {self.durability}\n'
            f'  deadline:{time(self.deadline_ns)}\n  lifespan:{time(self.lifespan_ns)}\n'
            f'  liveliness: {self.liveliness}\n'
            f'  liveliness_lease_duration:{time(self.lease_ns)}\n'
            '  avoid_ros_namespace_conventions: false\n'
        )


STREAM = Quality()
NEWEST = Quality(depth=1)
SENSOR = Quality(reliability='best_effort', depth=1)
LATCHED = Quality(durability='transient_local', depth=1)
EVENTS = Quality(durability='transient_local', depth=500)


@dataclass(frozen=True, slots=True)
class WrittenTopic:
    """What is published under one name."""

    message: str
    quality: Quality


WRENCH_TOPIC = 'franka_robot_state_broadcaster/external_wrench_in_base_frame'
GOALS_TOPIC = 'trajectory_goals'
"""Copies of the arm's goals; no controller listens to it."""
WRITTEN: Mapping[str, WrittenTopic] = {
    'episode_events': WrittenTopic(EPISODE_EVENT, EVENTS),
    'plan': WrittenTopic(PLAN, LATCHED),
    'scene': WrittenTopic(SCENE, LATCHED),
    'objects': WrittenTopic(OBJECT_STATES, NEWEST),
    'joint_states': WrittenTopic(JOINT_STATE, STREAM),
    'franka/joint_states': WrittenTopic(JOINT_STATE, STREAM),
    'franka_gripper/joint_states': WrittenTopic(JOINT_STATE, NEWEST),
    WRENCH_TOPIC: WrittenTopic(WRENCH, SENSOR),
    GOALS_TOPIC: WrittenTopic(TRAJECTORY, STREAM),
    'robot_description': WrittenTopic(STRING, LATCHED),
    'tf': WrittenTopic(TF, STREAM),
    'tf_static': WrittenTopic(TF, LATCHED),
}
"""By name, relative to the namespace."""
WRITTEN_TYPES = tuple(sorted({topic.message for topic in WRITTEN.values()}))
