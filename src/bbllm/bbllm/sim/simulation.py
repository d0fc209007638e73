"""
The physics: arm, hand and objects, stepped by commands and read out.

Nothing here decides anything; `sim.robot` adds the controllers.
"""

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Protocol

import mujoco
import numpy as np

from bbllm.arm.driver import N_JOINTS, Array, JointState
from bbllm.bags.motion_recorder import Moved
from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.errors import UnknownNameError, WorldError
from bbllm.core.types import Pose, SceneObject
from bbllm.robots.registry import load_robot
from bbllm.robots.robot_model import FLANGE_SITE
from bbllm.scene.scene_file import FORCE_NOISE_N, TORQUE_NOISE_NM, ForceNoise, SceneFile
from bbllm.sim.build import build_model

MAX_ACCELERATION = 1e10
AT_ONCE = 256
"""How many readings' scatter is drawn at once, for speed."""
STILL = 1e-7
"""Velocities of a held arm and of what lies are far below this, by rounding [rad/s, m/s]."""
MOST_SKIPPED_S = 0.2
"""How long time may pass without physics: what nobody said it would move begins that late [s]."""
NO_TORQUE_NM = (0.0,) * N_JOINTS
NO_SENSORS = int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
"""In force for all steps of a call but the last: the sensors cost a tenth of a step."""


class WrenchNoise:
    """
    What is added to the readings of a wrench: a bias that stays, and scatter.

    The scatter of single readings is drawn as they are taken. That of a mean is drawn by a number,
    so that it does not depend on what was read before, nor on when.
    """

    def __init__(self, noise: ForceNoise, seed: int):
        self._scatter = _scale(noise.sd)
        self._bias_scale = _scale(noise.bias)
        self._seed = seed
        self._dice, self._bias_dice = np.random.default_rng(seed).spawn(2)
        self._drawn: Iterator[list[float]] = iter(())
        self._bias: Array = np.zeros(6)
        self._bias_numbers = self._bias.tolist()

    def draw_bias(self) -> None:
        self._bias = self._bias_dice.standard_normal(6) * self._bias_scale
        self._bias_numbers = self._bias.tolist()

    def draw(self) -> list[float]:
        """Return what the next reading is off by: force, then torque, shape (6,) [N, Nm]."""
        scatter = next(self._drawn, None)
        if scatter is None:
            drawn = self._dice.standard_normal((AT_ONCE, 6)) * self._scatter
            self._drawn = iter(drawn.tolist())
            scatter = next(self._drawn)
        return [bias + off for bias, off in zip(self._bias_numbers, scatter, strict=True)]

    def of_mean(self, number: int, count: int) -> Array:
        """Return what the mean of a number of readings is off by: as `draw`; equal for equals."""
        dice = np.random.default_rng((self._seed, number))
        scatter = self._scatter / math.sqrt(count)
        return np.asarray(self._bias + dice.standard_normal(6) * scatter)


def _scale(force_n: float) -> Array:
    return np.repeat([force_n, force_n / FORCE_NOISE_N * TORQUE_NOISE_NM], 3)


class Sampler(Protocol):
    """What reads the state at steps of its own choice; changes nothing."""

    next_step: int
    """At the end of which step it reads next, counted as `Simulation.steps`."""

    def take(self) -> None:
        """Read the state, and choose a later step; called in the thread that steps."""
        ...


class Simulation:
    """The robot of a scene and its objects in MuJoCo; not thread-safe, see `sim.robot`."""

    def __init__(
        self, scene: SceneFile, *, timestep_s: float = 0.001, seed: int | None = None
    ) -> None:
        """
        Build the model and put everything at its start.

        A *seed* adds the scene's noise to the wrench; without one readings are exact.
        """
        stop_timers()
        self.scene = scene
        self.robot_model = robot = load_robot(scene.robot)
        self.timestep_s = timestep_s
        self.model = build_model(scene, timestep_s)
        self.data = mujoco.MjData(self.model)
        model = self.model
        fingers = [int(model.joint(name).qposadr[0]) for name in robot.hand.joints]
        self._objects = {
            item.name: (int(joint.qposadr[0]), int(joint.dofadr[0]))
            for item in scene.movables
            if item.name not in scene.fixed
            for joint in [model.joint(item.name)]
        }
        self._start_mass = {item.name: item.mass for item in scene.objects if not item.fixed}
        arm = [int(model.joint(name).qposadr[0]) for name in robot.joints]
        if arm + fingers != list(range(N_JOINTS + 2)):
            raise WorldError('The robot must come first in the model.')
        if np.flatnonzero(model.dof_frictionloss).tolist() != list(range(N_JOINTS)):
            raise WorldError('Joint friction must be that of the arm, in each of its joints.')
        # views of memory that stays: fetching them anew costs more than reading them
        data = self.data
        self._qpos, self._qvel, self._ctrl, self._qacc = data.qpos, data.qvel, data.ctrl, data.qacc
        self._q, self._dq = data.qpos[:N_JOINTS], data.qvel[:N_JOINTS]
        self._constraint_nm = data.qfrc_constraint[:N_JOINTS]
        self._option = model.opt
        self._flags = int(model.opt.disableflags)
        self._hand_actuator = int(model.actuator(robot.hand.actuator).id)
        flange, hand = int(model.site(FLANGE_SITE).id), int(model.body(robot.hand.body).id)
        self._R_world_flange = data.site_xmat[flange].reshape(3, 3)
        self._flange_m, self._hand_com_m = data.site_xpos[flange], data.subtree_com[hand]
        wrench = int(model.sensor('flange_force').adr[0])  # force, then torque
        self._wrench = data.sensordata[wrench : wrench + 6]
        self._hand_weight_n = float(model.body_subtreemass[hand]) * GRAVITY_M_S2
        self._noise = None if seed is None else WrenchNoise(scene.force_noise_n, seed)
        self.sampler: Sampler | None = None
        """Reads the state in the very step that it chose, also in the middle of a call; the states
        are the same to the last bit with and without it."""
        self.steps = 0
        self.skips_rest = False
        """Whether `stand` lets time pass without physics where nothing moves."""
        self._touched = True
        """Whether anything was set since the last step that may make something move."""
        self._skipped = 0
        self._grip_n = 0.0
        self.reset()

    @property
    def time_s(self) -> float:
        """Time since the simulation was made; `reset` does not set it back."""
        return self.steps * self.timestep_s

    @property
    def servo_gains(self) -> tuple[Array, Array]:
        """Stiffness and damping of the joint servos, each of shape (7,) [Nm/rad, Nm s/rad]."""
        model = self.model
        return model.actuator_gainprm[:N_JOINTS, 0].copy(), -model.actuator_biasprm[:N_JOINTS, 2]

    def set_servo_gains(self, stiffness: Array, damping: Array) -> None:
        """Set stiffness and damping of the joint servos, shape (7,) each."""
        model, self._touched = self.model, True
        model.actuator_gainprm[:N_JOINTS, 0] = stiffness
        model.actuator_biasprm[:N_JOINTS, 1] = -stiffness
        model.actuator_biasprm[:N_JOINTS, 2] = -damping

    def reset(self) -> None:
        """Put robot and objects back to what they were at the start; the clock goes on."""
        data, robot, self._touched = self.data, self.robot_model, True
        for name, mass_kg in self._start_mass.items():
            if self.model.body(name).mass != mass_kg:
                self.set_object_mass(name, mass_kg)
        mujoco.mj_resetData(self.model, data)
        data.qpos[:N_JOINTS] = robot.home_rad
        data.ctrl[:N_JOINTS] = robot.home_rad
        data.qpos[N_JOINTS : N_JOINTS + 2] = robot.hand.max_width_m / 2
        data.ctrl[self._hand_actuator] = robot.hand.max_width_m
        data.time = self.time_s
        if self._noise is not None:
            self._noise.draw_bias()
        mujoco.mj_forward(self.model, data)

    def step(self, n: int = 1) -> None:
        for count in self._stretches(n):
            if count > 1:
                self._option.disableflags = self._flags | NO_SENSORS
                mujoco.mj_step(self.model, self.data, nstep=count - 1)
                self._option.disableflags = self._flags
            mujoco.mj_step(self.model, self.data)
            self._after(count)

    def step_along(self, ctrl: Array) -> None:
        """Advance by one step per row of commands, shape (n, 8): joint servos, width [rad, m]."""
        model, data, now, step = self.model, self.data, self._ctrl, mujoco.mj_step
        end, self._touched = 0, True
        for count in self._stretches(len(ctrl)):
            begin, end = end, end + count
            self._option.disableflags = self._flags | NO_SENSORS
            for row in ctrl[begin : end - 1]:
                now[:] = row
                step(model, data)
            self._option.disableflags = self._flags
            now[:] = ctrl[end - 1]
            step(model, data)
            self._after(count)

    def hold(self, ctrl: Array) -> None:
        """Set the commands, shape (8,), for the steps to come."""
        self._ctrl[:], self._touched = ctrl, True

    def stand(self, ctrl: Array, n: int) -> None:
        """
        Advance by n steps with the same commands, shape (8,).

        With `skips_rest` the physics of these steps are left out where they would change nothing
        above rounding, but not for longer than `MOST_SKIPPED_S`.
        """
        if not np.array_equal(ctrl, self._ctrl):
            self.hold(ctrl)
        if self.skips_rest and self._rests(n):
            self._skipped += n
            self.steps += n
            self.data.time = self.time_s
        else:
            self.step(n)
            self._skipped, self._touched = 0, False

    def _rests(self, n: int) -> bool:
        """Return whether nothing will move in n steps, as nothing moved after the last."""
        return (
            not self._touched
            and (self._skipped + n) * self.timestep_s <= MOST_SKIPPED_S
            and self.sampler is None
            and float(np.abs(self._qvel).max()) < STILL
        )

    def limit_grip(self, force_n: float) -> None:
        if force_n != self._grip_n:
            self._grip_n, self._touched = force_n, True
            self.model.actuator_forcerange[self._hand_actuator] = (-force_n / 2, force_n / 2)

    def joint_state(self) -> JointState:
        return JointState(
            position_rad=self._q.copy(),
            velocity_rad_s=self._dq.copy(),
            width_m=self.width_m,
            stamp_s=self.time_s,
        )

    def arm_state(self) -> tuple[Array, Array]:
        """Return copies of the arm's positions and velocities, shape (7,) each [rad, rad/s]."""
        return self._q.copy(), self._dq.copy()

    @property
    def width_m(self) -> float:
        return float(self._qpos[N_JOINTS] + self._qpos[N_JOINTS + 1])

    @property
    def width_set_point_m(self) -> float:
        """Distance between the fingers that the hand is commanded to have now [m]."""
        return float(self._ctrl[self._hand_actuator])

    @property
    def width_speed_m_s(self) -> float:
        """Rate of that distance, positive when the hand opens [m/s]."""
        return float(self._qvel[N_JOINTS] + self._qvel[N_JOINTS + 1])

    def object_poses(self) -> dict[str, Pose]:
        """Return where the objects are, fixed ones too, in the scene's order."""
        free = self._objects
        return {
            item.name: self._pose(free[item.name][0]) if item.name in free else item.pose
            for item in self.scene.movables
        }

    def objects(self) -> tuple[SceneObject, ...]:
        poses = self.object_poses()
        moved = tuple(replace(item, pose=poses[item.name]) for item in self.scene.movables)
        return (*self.scene.fixtures, *moved, *self.scene.places)

    def moved(self) -> Moved:
        """Return where the arm and the objects are, for a recording."""
        return Moved(self.arm_state()[0].tolist(), self.width_m, self.object_poses())

    def set_object_pose(self, name: str, pose: Pose) -> None:
        """Put an object somewhere, at rest; raises as `set_object_mass`."""
        qpos, qvel = self._addresses(name)
        x, y, z, w = np.asarray(pose.quat_xyzw) / np.linalg.norm(pose.quat_xyzw)
        self.data.qpos[qpos : qpos + 7] = (*pose.position_m, w, x, y, z)
        self.data.qvel[qvel : qvel + 6] = 0.0
        self._wake()

    def set_arm(self, q: Array, width_m: float) -> None:
        """Put the arm at joint positions, shape (7,) [rad], and the hand at a width; both rest."""
        data, hand = self.data, slice(N_JOINTS, N_JOINTS + 2)
        data.qpos[:N_JOINTS] = data.ctrl[:N_JOINTS] = q
        data.qpos[hand], data.ctrl[self._hand_actuator] = width_m / 2, width_m
        data.qvel[: N_JOINTS + 2] = 0.0
        self._wake()

    def scale_friction(self, factor: float) -> None:
        """Multiply the friction of all surfaces, those of the fingers too."""
        self.model.geom_friction *= factor
        self._wake()

    def set_object_mass(self, name: str, mass_kg: float) -> None:
        """Change the mass of an object; raises UnknownNameError, or WorldError if it is fixed."""
        self._addresses(name)
        if not mass_kg > 0:
            raise WorldError(f'The mass of {name} must be above 0 kg, not {mass_kg}.')
        body = self.model.body(name).id
        self.model.body_inertia[body] *= mass_kg / self.model.body_mass[body]
        self.model.body_mass[body] = mass_kg
        # on data of its own: setting constants moves the state to the reference pose
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))
        self._wake()

    def flange_wrench(self) -> Array:
        """
        Return the wrench of the world on the hand, without the hand's own weight.

        Force then torque in the flange frame, shape (6,) [N, Nm]: with 0.1 kg in the hand at rest
        the force points down and is 0.98 N. Includes the inertial force of the hand while it
        accelerates. Noisy where the simulation has a seed.
        """
        return np.array(self.with_noise(self.exact_wrench()))

    def with_noise(self, wrench: list[float]) -> list[float]:
        """Return a wrench as it is read next, shape (6,) [N, Nm]."""
        if self._noise is None:
            return wrench
        return [exact + off for exact, off in zip(wrench, self._noise.draw(), strict=True)]

    def exact_wrench(self) -> list[float]:
        """Return the wrench without noise, as `flange_wrench`, in plain numbers."""
        # arithmetic on arrays of three takes twice as long
        # rows of R_world_flange: the world's axes in the flange frame
        x_axis, y_axis, (z0, z1, z2) = self._R_world_flange.tolist()
        (hand_x, hand_y, _), (flange_x, flange_y, _) = (
            self._hand_com_m.tolist(),
            self._flange_m.tolist(),
        )
        weight_n = self._hand_weight_n
        pitch, roll = weight_n * (hand_y - flange_y), weight_n * (hand_x - flange_x)
        # the sensor tells what the flange does to the hand
        f0, f1, f2, *torque = self._wrench.tolist()
        return [
            weight_n * z0 - f0,
            weight_n * z1 - f1,
            weight_n * z2 - f2,
            *[(pitch * x - roll * y) - t for x, y, t in zip(x_axis, y_axis, torque, strict=True)],
        ]

    def force_noise(self, number: int, count: int) -> list[float]:
        """
        Return what a mean of *count* readings of the force is off by, world axes, shape (3,) [N].

        The same again for the same *number* of a mean until `reset`; zero without a seed.
        """
        if self._noise is None:
            return [0.0, 0.0, 0.0]
        return self.to_world(self._noise.of_mean(number, count)[:3].tolist())

    def to_world(self, vector: Iterable[float]) -> list[float]:
        """Turn a vector of the flange frame into the axes of the world, shape (3,)."""
        x, y, z = vector
        return [a * x + b * y + c * z for a, b, c in self._R_world_flange.tolist()]

    @property
    def fastest_rad_s(self) -> float:
        """Speed of the fastest joint of the arm [rad/s]."""
        return float(max(map(abs, self._dq.tolist())))

    def external_torque(self) -> Sequence[float]:
        """Return what contacts do to the arm joints, friction left out, shape (7,) [Nm]."""
        data = self.data
        before, friction = data.ne, data.nf
        if data.nefc == before + friction:  # no contact, no joint at its stop
            return NO_TORQUE_NM
        # rows are sorted by kind: equalities, then joint friction, which only the arm has
        torque: list[float] = (
            self._constraint_nm - data.efc_force[before : before + friction]
        ).tolist()
        return torque

    def _stretches(self, n: int) -> Iterator[int]:
        """Part n steps where the sampler reads, and let it read between two parts."""
        while self.sampler is not None and 0 < (due := self.sampler.next_step - self.steps) <= n:
            yield due
            self.sampler.take()
            n -= due
        if n > 0:
            yield n

    def _after(self, n: int) -> None:
        """Keep the clock, and notice a state that has blown up."""
        self.steps += n
        acceleration = self._qacc
        if not acceleration.dot(acceleration) < MAX_ACCELERATION**2:  # also true of NaN
            raise WorldError(
                f'The physics became unstable at {self.time_s:.3f} s of simulated time. '
                'Reset the simulation; a smaller timestep may help.'
            )

    def _pose(self, address: int) -> Pose:
        x, y, z, qw, qx, qy, qz = self.data.qpos[address : address + 7].tolist()
        return Pose(position_m=(x, y, z), quat_xyzw=(qx, qy, qz, qw))

    def _addresses(self, name: str) -> tuple[int, int]:
        if name in self.scene.fixed:
            free = ', '.join(self._objects) or 'nothing'
            raise WorldError(
                f'{name} is fixed to its table (`fixed: true` in the scene file), so neither its '
                f'place nor its mass can change. In this scene {free} can be changed.'
            )
        try:
            return self._objects[name]
        except KeyError:
            raise UnknownNameError('movable object', name, self._objects) from None

    def _wake(self) -> None:
        """Wake what sleeps, since something near it may have changed."""
        self._touched = True
        for _, qvel in self._objects.values():
            # MuJoCo wakes what has any velocity at all
            self.data.qvel[qvel + 2] -= 1e-12
        mujoco.mj_forward(self.model, self.data)


@cache
def stop_timers() -> None:
    """
    Let no step of this process read the clock for `MjData.timer`, which nothing here reads.

    That is `mjcb_time = NULL` in C; the Python bindings set it at their import, and have no way to
    take it back. Where it cannot be reached, the timers stay.
    """
    for path in Path(mujoco.__file__).parent.glob('libmujoco.*'):
        with suppress(OSError, ValueError):
            ctypes.c_void_p.in_dll(ctypes.CDLL(str(path)), 'mjcb_time').value = None
