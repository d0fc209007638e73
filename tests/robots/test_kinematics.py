import numpy as np

from bbllm.robots.fr3 import FR3
from bbllm.robots.joint_limits import Q_MARGIN_RAD

LOW, HIGH = FR3.limits.lower_rad + Q_MARGIN_RAD, FR3.limits.upper_rad - Q_MARGIN_RAD


def inverse(T_base_tcp: np.ndarray, q7: np.ndarray | None = None) -> np.ndarray:
    rows = FR3.kinematics.inverse_branches(
        T_base_tcp, FR3.kinematics.q7_grid() if q7 is None else q7
    ).reshape(-1, 7)
    return rows[~np.isnan(rows[:, 0])]


def postures(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(LOW, HIGH, size=(n, 7))


def test_jacobian_is_the_derivative_of_forward_kinematics() -> None:
    step = 1e-6
    for q in postures(20, seed=1):
        rows = FR3.kinematics.jacobian(q)
        for joint in range(7):
            shift = np.eye(7)[joint] * step
            change = (FR3.kinematics.forward(q + shift) - FR3.kinematics.forward(q - shift)) / (
                2 * step
            )
            spin = change[:3, :3] @ FR3.kinematics.forward(q)[:3, :3].T
            np.testing.assert_allclose(rows[:3, joint], change[:3, 3], atol=1e-8)
            np.testing.assert_allclose(
                rows[3:, joint], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8
            )


def test_every_inverse_solution_reaches_the_pose() -> None:
    for T_base_tcp in FR3.kinematics.forward(postures(100, seed=2)):
        solutions = inverse(T_base_tcp)

        assert FR3.limits.within(solutions).all()
        np.testing.assert_allclose(
            FR3.kinematics.forward(solutions),
            np.broadcast_to(T_base_tcp, (len(solutions), 4, 4)),
            atol=1e-9,
        )


def test_poses_that_share_values_of_joint_7_are_solved_as_each_of_them_alone() -> None:
    poses, q7 = FR3.kinematics.forward(postures(3, seed=4)), np.linspace(-2.0, 2.0, 15)

    together = FR3.kinematics.inverse_branches(poses, np.tile(q7, 3)).reshape(8, 3, 15, 7)

    for i, pose in enumerate(poses):
        np.testing.assert_array_equal(together[:, i], FR3.kinematics.inverse_branches(pose, q7))


def test_upright_upper_arm_is_solved_although_two_joints_share_an_axis() -> None:
    for q1, q3 in ((0.0, 0.4), (1.5, 1.5), (-2.0, -1.0)):
        q = np.array([q1, 0.0, q3, -1.5, 0.1, 1.6, 0.5])
        solutions = inverse(FR3.kinematics.forward(q), q7=q[6:])

        assert len(solutions) > 0
        np.testing.assert_allclose(
            FR3.kinematics.forward(solutions)[0], FR3.kinematics.forward(q), atol=1e-9
        )
