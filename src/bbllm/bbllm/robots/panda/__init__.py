"""
The Franka Emika Panda with the Franka Hand: the chain of the FR3 with other limits and masses.

Its lengths, torques and hand are those of the FR3, and so are the shapes of the MuJoCo model, for
which franka_description has the same capsules. Joint friction, armature and the gains of the
servos are taken over from the model of the FR3: none were identified on a Panda here.

Sources: Franka's "Robot and interface specifications" of the Franka Control Interface (limits of
joints and tool), libfranka 0.9 `rate_limiting.h` (velocities do not depend on the position), and
C. Gaz et al., "Dynamic identification of the Franka Emika Panda robot with retrieval of feasible
parameters using penalty-based optimization", IEEE Robotics and Automation Letters 4 (2019)
(masses and inertias of the links).
"""

from dataclasses import replace
from importlib.resources import files

import mujoco
import numpy as np

from bbllm.robots.fr3 import FR3, LENGTHS
from bbllm.robots.joint_limits import JointLimits
from bbllm.robots.kinematics import ArmKinematics
from bbllm.robots.robot_model import ToolLimits

_LIMITS = JointLimits(
    lower_rad=np.array([-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973]),
    upper_rad=np.array([2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973]),
    velocity_rad_s=np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61]),
    acceleration_rad_s2=np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]),
    jerk_rad_s3=np.array([7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0]),
    torque_nm=FR3.limits.torque_nm,
    collision_stop_rad_s2=FR3.limits.collision_stop_rad_s2,
)
_INERTIALS = (
    # Mass [kg], centre [m], inertia xx yy zz xy xz yz about it [kg m^2], of links 0 to 7.
    (0.629769, (-0.041018, -0.00014, 0.049974),
     (0.00315, 0.00388, 0.004285, 8.2904e-7, 0.00015, 8.2299e-6)),
    (4.970684, (0.003875, 0.002081, -0.04762),
     (0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495),
     (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (3.228604, (0.027518, 0.039252, -0.066502),
     (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454),
     (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (1.225946, (-0.011953, 0.041065, -0.038437),
     (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    (1.666555, (0.060149, -0.014117, -0.010517),
     (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    (0.735522, (0.010517, -0.004252, 0.061597),
     (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)  # fmt: skip


def _named(name: str) -> str:
    """Return the Panda's name of a part of the FR3."""
    return name.replace('fr3', 'panda')


def _source() -> mujoco.MjSpec:
    """Return the model of the FR3 with the names, ranges, masses and inertias of the Panda."""
    text = files('bbllm.robots.fr3').joinpath('fr3.xml').read_text('utf-8')
    spec = mujoco.MjSpec.from_string(_named(text))
    for link, (mass_kg, centre_m, inertia) in zip(PANDA.links, _INERTIALS, strict=True):
        body = spec.body(link)
        body.mass, body.ipos, body.fullinertia = mass_kg, centre_m, inertia
    for joint, *ends in zip(PANDA.joints, _LIMITS.lower_rad, _LIMITS.upper_rad, strict=True):
        spec.joint(joint).range = ends
    return spec


PANDA = replace(
    FR3,
    name='panda',
    title='Franka Emika Panda',
    source=_source,
    links=tuple(map(_named, FR3.links)),
    flange_link=_named(FR3.flange_link),
    tcp_link=_named(FR3.tcp_link),
    joints=tuple(map(_named, FR3.joints)),
    limits=_LIMITS,
    tool=ToolLimits(
        speed_m_s=1.7, acceleration_m_s2=13.0, turn_speed_rad_s=2.5, turn_acceleration_rad_s2=25.0
    ),
    kinematics=ArmKinematics(LENGTHS, _LIMITS.lower_rad, _LIMITS.upper_rad),
    hand=replace(
        FR3.hand,
        body=_named(FR3.hand.body),
        fingers=tuple(map(_named, FR3.hand.fingers)),
        joints=tuple(map(_named, FR3.hand.joints)),
        pads=tuple(map(_named, FR3.hand.pads)),
        actuator=_named(FR3.hand.actuator),
    ),
)
