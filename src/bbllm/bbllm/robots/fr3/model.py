"""
The FR3's MuJoCo model: one file for physics, kinematics and pictures.

`robot_spec` is the robot to build a simulation around; `arm_model` is the arm alone, seven joints
with the hand as a rigid piece, for kinematics and inverse dynamics.
"""

from importlib.resources import files

import mujoco
import numpy as np

from bbllm.robots.fr3.joints import FINGER_JOINTS

TCP_SITE = 'tcp'
"""Between the finger tips: the driver's fr3_hand_tcp."""

FLANGE_SITE = 'flange'
"""The driver's fr3_link8."""

MAX_WIDTH_M = 0.08


def robot_spec() -> mujoco.MjSpec:
    """
    Return a fresh, editable model of arm and hand.

    Body fr3_link0 lies in the world's origin. Geom groups: 2 visuals, 3 solid, 4 capsules that
    only meet the robot itself; contact bit 1 is the world, bit 2 the robot. The finger boxes and
    pads are solid and in group 2.
    """
    return mujoco.MjSpec.from_string(
        files('bbllm.robots.fr3').joinpath('fr3.xml').read_text('utf-8')
    )


def arm_model(width_m: float = MAX_WIDTH_M, *, shapes: bool = True) -> mujoco.MjModel:
    """
    Compile the arm alone: nq = nv = nu = 7, the fingers fixed at a width.

    Without *shapes* all geoms are left out, which halves the cost of inverse dynamics.
    """
    spec = robot_spec()
    for key in list(spec.keys):
        spec.delete(key)
    spec.delete(spec.actuator('fr3_hand'))
    spec.delete(spec.equality('fr3_finger_mimic'))
    spec.delete(spec.tendon('fr3_width'))
    for joint in FINGER_JOINTS:
        spec.delete(spec.joint(joint))
    if not shapes:
        for geom in list(spec.geoms):
            spec.delete(geom)
    for finger, sign in (('fr3_leftfinger', 1.0), ('fr3_rightfinger', -1.0)):
        body = spec.body(finger)
        body.pos = np.asarray(body.pos) + np.array([0.0, sign * width_m / 2, 0.0])
    return spec.compile()
