"""What the graph of a real arm shows; needs no ROS."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Giver:
    """One publisher of a topic."""

    node: str
    type: str
    reliable: bool
    latched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedStates:
    """What came of joint states while they were listened to."""

    names: tuple[str, ...]
    count: int
    rate_hz: float
    news: bool
    """Whether their stamps went on."""
    position: tuple[float, ...]
    """The last ones [rad, m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotGraph:
    """What was found; names are relative to the inspected namespace."""

    nodes: frozenset[str] = frozenset()
    topics: Mapping[str, tuple[Giver, ...]] = field(default_factory=dict)
    """Publishers of each published topic."""
    services: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    controllers: Mapping[str, str] | None = None
    """State of each, as of the hardware; None where the controller manager does not answer."""
    hardware: Mapping[str, str] | None = None
    arm: ReceivedStates | None = None
    """What came on `franka/joint_states`, and on the hand's; None where nothing did."""
    hand: ReceivedStates | None = None
    robot_mode: int | None = None
    """Of FrankaRobotState; None where none came."""
    success_rate: float = 0.0
    """control_command_success_rate; 0 while nothing controls."""
    errors: tuple[str, ...] = ()
    cameras: Mapping[str, str] = field(default_factory=dict)
    """Fault of each camera of the node `perception`, empty where it has none."""
    executor: Mapping[str, Any] | None = None
    """Parameters of fr3_executor; None where it does not answer."""

    @property
    def simulated(self) -> bool:
        return 'mujoco_sim' in self.nodes
