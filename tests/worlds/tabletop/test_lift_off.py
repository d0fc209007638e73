"""Lifting what is fixed, too heavy or just right, in physics, with the noise of the wrist."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import mujoco
import numpy as np
import pytest

from bbllm.arm.driver import (
    ArmDriver,
    FollowResult,
    GoalStatus,
    JointTrajectory,
    Tolerances,
)
from bbllm.arm.motion.trajectory import joint_move
from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.types import Code, Outcome, Pose, SceneObject, Status
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import FORCE_NOISE_N, ObjectSpec, SceneFile
from bbllm.scene.transforms import compose
from bbllm.sim.driver import SimDriver
from bbllm.worlds.tabletop.object_source import TruthSource
from bbllm.worlds.tabletop.table import TableView
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.recording import RecordingDriver
from tests.worlds.small_tables import run

CAP_N = 10.0
FELT_N = 15.0
"""What a block feels at most along the vertical, where the arm is told to stop at once."""
FELT_LATE_N = 25.0
"""The same where nobody stops it on the way."""


class LateDriver(RecordingDriver):
    """An arm whose forces are heard only after a motion, as over a slow network."""

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        return super().follow(trajectory, tolerances)


@dataclass(frozen=True, slots=True)
class Misplacing(TruthSource):
    """Sees each object further along x than it is."""

    off_m: float

    def look(self) -> TableView:
        view = TruthSource.look(self)
        return replace(view, objects=tuple(map(self._off, view.objects)))

    def _off(self, item: SceneObject) -> SceneObject:
        off = Pose(position_m=(self.off_m, 0.0, 0.0))
        return replace(item, pose=compose(item.pose, off)) if item.name == 'it' else item


class FeltBlock:
    """A world with one block, and what it felt at worst in any millisecond, along z [N]."""

    def __init__(
        self,
        block: ObjectSpec,
        *,
        seed: int | None = None,
        wrap_driver: Callable[[ArmDriver], ArmDriver] = lambda driver: driver,
        off_m: float = 0.0,
    ) -> None:
        def source(driver: SimDriver) -> Misplacing:
            return Misplacing(driver, driver.robot.objects, off_m)

        scene = SceneFile(objects=(block,))
        self.world = TabletopWorld(
            scene, seed=seed, wrap_driver=wrap_driver, make_source=source if off_m else None
        )
        self.felt_n = 0.0
        self._simulation = self.world.robot.simulation
        self._block = self._simulation.model.body(block.name).id
        self._steps = self._simulation.step_along
        self._simulation.step_along = self._step_along  # type: ignore[method-assign]

    def pick(self) -> Outcome:
        [outcome] = run(self.world, f'pick {self.world.robot.simulation.scene.objects[0].name}')
        return outcome

    def _step_along(self, ctrl: np.ndarray) -> None:
        for row in ctrl:
            self._steps(row[None])
            self.felt_n = max(self.felt_n, abs(self._force_z()))

    def _force_z(self) -> float:
        """Add up what fingers do to the block; what the table does to a free one is left out."""
        model, data = self._simulation.model, self._simulation.data
        force, total = np.zeros(6), 0.0
        for i in range(data.ncon):
            bodies = [model.geom_bodyid[geom] for geom in data.contact[i].geom]
            if self._block in bodies and 0 not in bodies:
                mujoco.mj_contactForce(model, data, i, force)
                z = data.contact[i].frame.reshape(3, 3)[:, 2] @ force[:3]
                total += z if bodies[1] == self._block else -z
        return float(total)


def block(x: float, y: float, yaw_deg: float = 0.0, **what: object) -> ObjectSpec:
    data = {'name': 'it', 'kind': 'cube', 'xy': (x, y), 'yaw_deg': yaw_deg, **what}
    return ObjectSpec.model_validate(data)


@pytest.mark.parametrize(
    ('x', 'y', 'yaw_deg', 'seed'),
    [(0.5, 0.1, 0.0, None), (0.3, -0.2, 30.0, 3), (0.65, 0.2, -20.0, 4), (0.49, 0.46, 10.0, 5)],
)
def test_a_fixed_block_stays_unhauled_and_the_hand_comes_away_empty(
    x: float, y: float, yaw_deg: float, seed: int | None
) -> None:
    felt = FeltBlock(block(x, y, yaw_deg, fixed=True), seed=seed)
    before = felt.world.robot.objects()

    outcome = felt.pick()

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.WOULD_NOT_RISE)
    assert outcome.message == (
        'it did not rise: the lift took more than 10 N, as it does of what is fixed to the table '
        'or weighs about 1 kg or more; the hand has let go of it.'
    )
    assert CAP_N * 0.9 < felt.felt_n < FELT_N
    assert felt.world.robot.monitor.last_errors == ()
    assert felt.world.robot.objects() == before
    scene = felt.world.observe()
    assert scene.held is None
    assert scene.hand is not None
    assert scene.hand.width_m > 0.04
    assert scene.hand.tcp.position_m[2] > 0.08


@pytest.mark.parametrize(('x', 'y'), [(0.5, 0.1), (0.65, 0.2)])
def test_an_arm_that_nobody_stops_in_time_hauls_hardly_harder(x: float, y: float) -> None:
    felt = FeltBlock(block(x, y, fixed=True), wrap_driver=LateDriver)

    assert felt.pick().code is Code.WOULD_NOT_RISE

    assert CAP_N < felt.felt_n < FELT_LATE_N
    assert felt.world.robot.monitor.last_errors == ()


PRESSED = [(0.4, 0.2, 0.0, 0.001), (0.42, 0.12, 20.0, 0.0016), (0.44, 0.2257, 40.0, 0.0016)]
"""Where a finger comes first, and presses a block down that is free."""


@pytest.mark.parametrize(('x', 'y', 'yaw_deg', 'off_m'), PRESSED)
@pytest.mark.parametrize('fixed', [False, True])
def test_what_closing_pressed_down_is_no_pull(
    x: float, y: float, yaw_deg: float, off_m: float, fixed: bool
) -> None:
    felt = FeltBlock(block(x, y, yaw_deg, fixed=fixed), off_m=off_m)

    outcome = felt.pick()

    assert outcome.code is (Code.WOULD_NOT_RISE if fixed else Code.NONE), outcome.message
    assert felt.world.robot.monitor.last_errors == ()


@pytest.mark.parametrize(('mass', 'seed'), [(0.02, 1), (0.02, 2), (0.15, 3), (0.8, 1), (0.8, 2)])
def test_what_is_not_too_heavy_rises_whatever_the_noise(mass: float, seed: int) -> None:
    felt = FeltBlock(block(0.45, -0.2, 15.0, mass=mass), seed=seed)

    outcome = felt.pick()

    assert outcome.succeeded, outcome.message
    assert felt.world.observe().held == 'it'
    pulls_n = felt.world.driver.vertical_force_n(settled=True)
    assert pulls_n == pytest.approx(-GRAVITY_M_S2 * mass, abs=5 * FORCE_NOISE_N)


@pytest.mark.parametrize('mass', [1.5, 20.0])
def test_what_is_too_heavy_is_reported_as_what_is_fixed_and_put_back(mass: float) -> None:
    felt = FeltBlock(block(0.45, -0.2, 15.0, mass=mass))

    outcome = felt.pick()

    assert outcome.code is Code.WOULD_NOT_RISE
    assert felt.world.robot.monitor.last_errors == ()
    rests = felt.world.settled()['it'].position_m
    assert rests == pytest.approx((0.45, -0.2, 0.02), abs=2e-3)


def test_what_was_felt_on_a_motion_does_not_count_after_it() -> None:
    driver = FeltBlock(block(0.5, 0.1)).world.driver
    q = driver.joint_state().position_rad
    turned = q + np.array([0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    felt: list[float | None] = []

    def look() -> bool:
        felt.append(driver.vertical_force_n())
        return False

    move = joint_move(FR3, q, turned, scale=0.9)
    assert driver.follow(move, Tolerances(), stop_condition=look).status is GoalStatus.SUCCEEDED

    assert driver.vertical_force_n(settled=True) == pytest.approx(0.0, abs=0.1)
    assert driver.vertical_force_n() != pytest.approx(0.0, abs=0.3)  # there is some motion in it
    assert felt
