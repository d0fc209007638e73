"""
What the joint servos are told, so that the arm is where the trajectory says.

A position servo alone sags by millimetres and lags by centimetres. With velocity and torque
feed-forward put into its set point,

    ctrl = q + (kv dq + tau(q, dq, ddq)) / kp,

it follows to tenths of a millimetre. tau is inverse dynamics of the arm with hand and known load.
"""

from __future__ import annotations

import mujoco
import numpy as np

from bbllm.arm.driver import N_JOINTS, Array
from bbllm.arm.model import arm_model


class Servo:
    """Turns desired joint motion into servo set points; stateless but for the known load."""

    def __init__(self, stiffness: Array, damping: Array, spacing: int = 4) -> None:
        """
        Make a servo for gains of shape (7,) [Nm/rad, Nm s/rad].

        Args:
            stiffness: kp of the model's actuators.
            damping: kv of the model's actuators.
            spacing: Inverse dynamics is computed for every so-many-th sample; between them the
                torque is interpolated.
        """
        self._kp = stiffness
        self._kv = damping
        self._spacing = spacing
        self._model = arm_model(shapes=False)
        self._data = mujoco.MjData(self._model)
        self._hand = int(self._model.body('fr3_hand').id)
        self._bare = _mass_centre_inertia(self._model, self._hand)

    @property
    def stiffness(self) -> Array:
        """Of the servos, shape (7,) [Nm/rad]."""
        return self._kp

    def set_gains(self, stiffness: Array, damping: Array) -> None:
        """Go on with other gains, shape (7,) each [Nm/rad, Nm s/rad]; the model needs the same."""
        self._kp, self._kv = stiffness, damping

    def set_load(self, mass_kg: float, centre_m: Array, inertia_kg_m2: Array) -> None:
        """
        Tell what is in the hand.

        Args:
            mass_kg: 0 for nothing [kg].
            centre_m: Its centre of mass in the hand's frame, shape (3,) [m].
            inertia_kg_m2: About that, in the axes of the hand's frame, shape (3, 3) [kg m^2].
        """
        mass, centre, bare = self._bare
        total = mass + mass_kg
        middle = (mass * centre + mass_kg * centre_m) / total
        inertia = inertia_kg_m2 + bare
        for part_kg, part_m in ((mass, centre), (mass_kg, centre_m)):
            way = part_m - middle
            inertia = inertia + part_kg * (way @ way * np.eye(3) - np.outer(way, way))
        moments, axes = np.linalg.eigh(inertia)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        model, hand = self._model, self._hand
        model.body_mass[hand], model.body_ipos[hand] = total, middle
        model.body_inertia[hand] = moments
        mujoco.mju_mat2Quat(model.body_iquat[hand], np.ascontiguousarray(axes).ravel())

    def set_points(self, q: Array, dq: Array, ddq: Array) -> Array:
        """
        Return the servo set points for desired motions.

        Args:
            q: Shape (n, 7) [rad].
            dq: Shape (n, 7) [rad/s].
            ddq: Shape (n, 7) [rad/s^2].

        Returns:
            Shape (n, 7) [rad].
        """
        return np.asarray(q + (self._kv * dq + self.torque(q, dq, ddq)) / self._kp)

    def torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Return the torque that the motion takes, shape (n, 7) [Nm]; arguments as above."""
        n = len(q)
        knots = np.arange(0, n, self._spacing)
        if knots[-1] != n - 1:
            knots = np.append(knots, n - 1)
        exact = np.empty((len(knots), N_JOINTS))
        model, data, inverse = self._model, self._data, mujoco.mj_inverse
        for row, i in zip(exact, knots.tolist(), strict=True):
            data.qpos[:] = q[i]
            data.qvel[:] = dq[i]
            data.qacc[:] = ddq[i]
            inverse(model, data)
            row[:] = data.qfrc_inverse
        if len(knots) == n:
            return exact
        samples = np.arange(n)
        return np.column_stack([np.interp(samples, knots, column) for column in exact.T])


def _mass_centre_inertia(model: mujoco.MjModel, body: int) -> tuple[float, Array, Array]:
    """Return mass, centre of mass and inertia about it, in the axes of the body's frame."""
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[body])
    axes = turn.reshape(3, 3)
    inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
    return float(model.body_mass[body]), model.body_ipos[body].copy(), inertia
