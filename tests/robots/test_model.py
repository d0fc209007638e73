"""The robot model against the published tables, by arithmetic of its own."""

import mujoco
import numpy as np
import pytest

from bbllm.robots.fr3 import FR3
from bbllm.robots.robot_model import FLANGE_SITE, TCP_SITE
from tests.robots.fr3_published import INERTIALS

# franka_description 1.0.1, robots/fr3/kinematics.yaml: origin of each joint, rpy about x only.
ORIGINS_M = [
    (0, 0, 0.333),
    (0, 0, 0),
    (0, -0.316, 0),
    (0.0825, 0, 0),
    (-0.0825, 0.384, 0),
    (0, 0, 0),
    (0.088, 0, 0),
]
ROLLS_RAD = [0, -np.pi / 2, np.pi / 2, np.pi / 2, -np.pi / 2, np.pi / 2, np.pi / 2]

MASSES_KG = {name: inertial[0] for name, inertial in INERTIALS.items()}
# Old limits (before system image 5.9.0) and new ones, lower then upper [rad].
OLD_RAD = (
    [-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159],
    [2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159],
)
NEW_RAD = (
    [-2.9007, -1.8361, -2.9007, -3.0770, -2.8763, 0.4398, -3.0508],
    [2.9007, 1.8361, 2.9007, -0.1169, 2.8763, 4.6216, 3.0508],
)


def transform(xyz: tuple[float, ...], roll: float = 0.0, yaw: float = 0.0) -> np.ndarray:
    """Return Trans(xyz) Rx(roll) Rz(yaw), shape (4, 4)."""
    cr, sr, cy, sy = np.cos(roll), np.sin(roll), np.cos(yaw), np.sin(yaw)
    T = np.eye(4)
    T[:3, :3] = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]]) @ np.array(
        [[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]
    )
    T[:3, 3] = xyz
    return T


def published_chain(q_rad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return flange and TCP poses in the base frame, each of shape (4, 4)."""
    T = np.eye(4)
    for xyz, roll, angle in zip(ORIGINS_M, ROLLS_RAD, q_rad, strict=True):
        T = T @ transform(xyz, roll, angle)
    flange = T @ transform((0, 0, 0.107))
    return flange, flange @ transform((0, 0, 0.1034), yaw=-np.pi / 4)


def site_pose(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> np.ndarray:
    site = model.site(name).id
    T = np.eye(4)
    T[:3, :3] = data.site_xmat[site].reshape(3, 3)
    T[:3, 3] = data.site_xpos[site]
    return T


def test_forward_kinematics_equal_the_published_chain_to_a_micrometre() -> None:
    model = FR3.arm_model()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    for q_rad in rng.uniform(*model.jnt_range.T, size=(300, 7)):
        data.qpos[:] = q_rad
        mujoco.mj_kinematics(model, data)
        flange, tcp = published_chain(q_rad)
        assert np.abs(site_pose(model, data, FLANGE_SITE) - flange).max() < 1e-6
        assert np.abs(site_pose(model, data, TCP_SITE) - tcp).max() < 1e-6


def test_joint_ranges_are_the_intersection_of_old_and_new_limits() -> None:
    model = FR3.arm_model()
    lower = np.maximum(OLD_RAD[0], NEW_RAD[0])
    upper = np.minimum(OLD_RAD[1], NEW_RAD[1])
    for i, name in enumerate(FR3.joints):
        assert model.joint(name).range == pytest.approx([lower[i], upper[i]])


def test_torques_are_limited_to_87_and_12_newton_metres() -> None:
    model = FR3.spec().compile()
    for name, limit in zip(FR3.joints, [87.0] * 4 + [12.0] * 3, strict=True):
        assert model.actuator(name).forcerange == pytest.approx([-limit, limit])


def test_masses_are_the_published_ones() -> None:
    model = FR3.spec().compile()
    found = {model.body(i).name: float(model.body_mass[i]) for i in range(1, model.nbody)}
    assert found == pytest.approx(MASSES_KG)


def test_the_arm_model_has_seven_joints_and_rigid_fingers_at_the_width_asked_for() -> None:
    for width_m in (FR3.hand.max_width_m, 0.04):
        model = FR3.arm_model(width_m)
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        assert (model.nq, model.nv, model.nu) == (7, 7, 7)
        faces = []
        for side in ('left', 'right'):
            pad = model.geom(f'fr3_{side}finger_pad')
            centre = data.geom_xpos[pad.id]
            normal = data.geom_xmat[pad.id].reshape(3, 3)[:, 1]
            faces.append(centre - normal * pad.size[1])
        assert np.linalg.norm(faces[0] - faces[1]) == pytest.approx(width_m, abs=1e-9)


def test_gravity_torque_equals_the_published_masses_at_their_published_places() -> None:
    """The shoulder carries the sum of m g x of the published links beyond it."""
    model = FR3.arm_model()
    data = mujoco.MjData(model)
    data.qpos[:] = FR3.home_rad
    mujoco.mj_forward(model, data)
    shoulder = data.xanchor[model.joint('fr3_joint2').id]
    moment = 0.0
    for name, (mass_kg, centre_m, _) in INERTIALS.items():
        if name not in ('fr3_link0', 'fr3_link1'):
            body = data.body(name)
            centre = body.xpos + body.xmat.reshape(3, 3) @ centre_m
            moment += mass_kg * 9.81 * (centre[0] - shoulder[0])
    # joint 2 turns about +y at this pose, and gravity pulls along -z
    assert data.qfrc_bias[1] == pytest.approx(-moment, rel=1e-6)


def test_the_fingers_are_as_thin_as_the_real_ones_where_they_pass_neighbours() -> None:
    model = FR3.arm_model()
    pad = model.geom('fr3_leftfinger_pad')
    middle = model.geom('fr3_leftfinger_middle')
    assert 2 * pad.size[1] == pytest.approx(0.0144)
    assert middle.pos[1] + middle.size[1] == pytest.approx(0.019)
    # the tip reaches less below the TCP than half a cube, so that a cube on a table can be held
    tip_below_tcp = 0.0584 + pad.pos[2] + pad.size[2] - 0.1034
    assert 0 < tip_below_tcp < 0.02
