"""
A robot as one value: what its arm and hand are, for whatever plans, checks, simulates or draws it.

`spec` is the robot to build a simulation around; `arm_model` is the arm alone, seven joints with
the hand as a rigid piece, for kinematics and inverse dynamics.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from bbllm.core.errors import ConfigError
from bbllm.robots.joint_limits import Array, JointLimits
from bbllm.robots.kinematics import ArmKinematics, pose_of_matrix
from bbllm.skills.grasps import Hand

TCP_SITE = 'tcp'
"""Of every model: between the finger tips."""
FLANGE_SITE = 'flange'
"""Of every model: where the hand is mounted; the force sensors `flange_force` and `flange_torque`
measure there."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HandModel:
    """A hand with two fingers that move together; names are those of the MuJoCo model."""

    body: str
    fingers: tuple[str, ...]
    """Bodies, the left one first."""
    joints: tuple[str, ...]
    pads: tuple[str, ...]
    """Geoms that touch what is gripped."""
    actuator: str
    """A position servo of the distance between the fingers."""
    max_width_m: float
    """Largest distance between the fingers."""
    max_speed_m_s: float
    """At which that distance changes."""
    max_force_n: float
    """Of both fingers together, at its peak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """What the robot allows its tool."""

    speed_m_s: float
    acceleration_m_s2: float
    turn_speed_rad_s: float
    turn_acceleration_rad_s2: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServoModel:
    """How joints give way that are held back, arrays of shape (7,) [Nm/rad]."""

    stiffness_nm_rad: Array
    """Of the simulated arm, as in its MuJoCo model."""
    controller_stiffness_nm_rad: Array
    """Of the real arm, by the gains of its controller."""
    lag_s: float
    """Damping by stiffness: of the simulated arm, and at most of the real one [s]."""
    overshoot: float
    """How many times the final pull an arm pulls on the way at most where nothing gives."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobotModel:
    """An arm of seven joints with a hand; equal to itself alone, arrays of shape (7,)."""

    name: str
    title: str
    """What people call it."""
    source: Callable[[], mujoco.MjSpec]
    """Reads the MuJoCo model of arm and hand anew; see `spec`."""
    links: tuple[str, ...]
    """Bodies of the arm, the base, which is the world's frame, and one for each joint."""
    flange_link: str
    """Frame of the flange in the robot's description; `FLANGE_SITE` in the model."""
    tcp_link: str
    """Frame between the finger tips in the description; `TCP_SITE` in the model."""
    joints: tuple[str, ...]
    """Names of the joints in their order; their actuators have the same."""
    limits: JointLimits
    tool: ToolLimits
    kinematics: ArmKinematics
    home_rad: Array
    """Hand over the table, fingers down."""
    comfort_s_rad2: Array
    """How much each joint's distance from the ready posture counts where a posture is chosen."""
    lever_m: Array
    """How far a turn of each joint moves any part of the arm at most, nearly [m/rad]."""
    servos: ServoModel
    hand: HandModel

    @property
    def base_link(self) -> str:
        return self.links[0]

    @property
    def all_joints(self) -> tuple[str, ...]:
        """Joints of the arm, then of the hand, as the model has them."""
        return (*self.joints, *self.hand.joints)

    @property
    def bodies(self) -> tuple[str, ...]:
        """All bodies of the model: links, hand and fingers."""
        return (*self.links, self.hand.body, *self.hand.fingers)

    def hand_at(self, q: Array, width_m: float) -> Hand:
        """Return the hand at joint positions, shape (7,) [rad], and a finger distance [m]."""
        return Hand(tcp=pose_of_matrix(self.kinematics.forward(q)), width_m=width_m)

    def spec(self) -> mujoco.MjSpec:
        """
        Return a fresh, editable model of arm and hand.

        The base lies in the world's origin. Geom groups: 2 visuals, 3 solid, 4 capsules that only
        meet the robot itself; contact bit 1 is the world, bit 2 the robot. The finger boxes and
        pads are solid and in group 2.

        Raises:
            ConfigError: The joints or bodies of the model are not those of this record.
        """
        spec = self.source()
        for kind, wanted, found in (
            ('joints', self.all_joints, spec.joints),
            ('bodies', self.bodies, spec.bodies[1:]),  # the first is the world
        ):
            names = tuple(part.name for part in found)
            if names != wanted:
                raise ConfigError(
                    f'The robot {self.name} does not match its MuJoCo model: its record names '
                    f'the {kind} {", ".join(wanted)}, the model has {", ".join(names) or "none"}. '
                    'Both need the same names in the same order.'
                )
        return spec

    def arm_model(self, width_m: float | None = None, *, shapes: bool = True) -> mujoco.MjModel:
        """
        Compile the arm alone: nq = nv = nu = 7, the fingers fixed at a width, by default open.

        Without *shapes* all geoms are left out, which halves the cost of inverse dynamics.
        """
        spec, hand = self.spec(), self.hand
        width_m = hand.max_width_m if width_m is None else width_m
        spec.delete(spec.actuator(hand.actuator))
        for part in (*spec.keys, *spec.equalities, *spec.tendons):
            spec.delete(part)
        for joint in hand.joints:
            spec.delete(spec.joint(joint))
        if not shapes:
            for geom in list(spec.geoms):
                spec.delete(geom)
        for finger, sign in zip(hand.fingers, (1.0, -1.0), strict=True):
            body = spec.body(finger)
            body.pos = np.asarray(body.pos) + np.array([0.0, sign * width_m / 2, 0.0])
        return spec.compile()
