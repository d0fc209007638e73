"""
A robot as one value: what its arm and hand are, for whatever plans, checks, simulates or draws it.

`spec` is the robot to build a simulation around; `arm_model` is the arm alone, seven joints with
the hand as a rigid piece, for kinematics and inverse dynamics.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import mujoco
import numpy as np

from bbllm.core.errors import ConfigError
from bbllm.robots.joint_limits import Q_MARGIN_RAD, Array, JointLimits
from bbllm.robots.kinematics import ArmKinematics, pose_of_matrix
from bbllm.skills.grasps import Hand

TCP_SITE = 'tcp'
"""Of every model: between the finger tips."""
FLANGE_SITE = 'flange'
"""Of every model: where the hand is mounted; the force sensors `flange_force` and `flange_torque`
measure there."""
_NEAR_M, _NEAR_DEG = 0.001, 0.5
"""How far apart kinematics and MuJoCo model may have the tool."""


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


def fault_of(robot: RobotModel) -> str:
    """
    Return what is wrong with a robot, as what follows its name, '' where nothing is.

    Raises:
        ConfigError: As `RobotModel.spec`.
    """
    kinematics: object = robot.kinematics
    limits, home = robot.limits, robot.home_rad
    if not isinstance(kinematics, ArmKinematics):
        kind = type(kinematics).__name__
        return f'has kinematics that are {kind}, and needs ArmKinematics(lengths, lower, upper)'
    names = [field.name for field in fields(limits) if field.name != 'braking']
    for name, array in (*((each, getattr(limits, each)) for each in names), ('home_rad', home)):
        if not isinstance(array, np.ndarray) or array.shape != (7,):
            kind = f'{type(array).__name__} of shape {np.shape(array)}'
            return f'has {name} as {kind}, and needs a numpy array of shape (7,), one each joint'
    if not limits.within(home):
        low, high = limits.lower_rad + Q_MARGIN_RAD, limits.upper_rad - Q_MARGIN_RAD
        return (
            f'has home_rad {_listed(home)}, and needs one from {_listed(low)} to {_listed(high)}'
        )
    try:
        model = robot.arm_model()
    except ConfigError:
        raise
    except Exception as error:  # whatever `source` of another package and the compiler raise
        return f'has a source() that does not compile ({type(error).__name__}: {error})'
    wrong = 'does not match its MuJoCo model:'
    ends = np.stack([limits.lower_rad, limits.upper_rad], 1)
    over = ((ends - model.jnt_range) * (-1.0, 1.0) > 1e-6).any(1) & (model.jnt_limited > 0)
    for i in np.flatnonzero(over):
        return (
            f'{wrong} the limits of {robot.joints[i]} are {_listed(ends[i])} rad, and have to lie '
            f'in its range in the model, {_listed(model.jnt_range[i])} rad'
        )
    if missing := {TCP_SITE, FLANGE_SITE} - {model.site(i).name for i in range(model.nsite)}:
        return f'{wrong} that has no site {sorted(missing)[0]!r}, which source() has to add'
    data = mujoco.MjData(model)
    inside = 0.75 * limits.lower_rad + 0.25 * limits.upper_rad  # turns joints that are 0 at home
    for where, q in (('at home', home), (f'at {_listed(inside)} rad', inside)):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        T_tool, tool = kinematics.forward(q), data.site(TCP_SITE)
        cosine = (np.trace(T_tool[:3, :3].T @ tool.xmat.reshape(3, 3)) - 1.0) / 2
        turn_deg = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
        if np.linalg.norm(T_tool[:3, 3] - tool.xpos) > _NEAR_M or turn_deg > _NEAR_DEG:
            turned = f', turned by {turn_deg:.0f} degrees' if turn_deg > _NEAR_DEG else ''
            return (
                f'{wrong} {where} its kinematics put the tool at {_listed(T_tool[:3, 3])} m, '
                f'the model at {_listed(tool.xpos)} m{turned}. Lengths in ChainLengths and bodies '
                'in source() have to agree'
            )
    return ''


def _listed(numbers: Array) -> str:
    return f'({", ".join(f"{number:.3f}" for number in numbers)})'
