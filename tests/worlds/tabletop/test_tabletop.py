"""The whole arm in physics: calls go in, settled poses come out."""

import math
import threading
from collections.abc import Callable

import pytest

from bbllm.arm.driver import (
    ArmDriver,
    FollowResult,
    GraspGoal,
    GripperResult,
    JointTrajectory,
    Tolerances,
)
from bbllm.core.cancel import CancelToken
from bbllm.core.protocols import picture_of
from bbllm.core.types import Code, Outcome, Status
from bbllm.scene.scene_file import ObjectSpec
from bbllm.sim.drawing import RenderError
from bbllm.sim.faults import Fault
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.limit_audit import audit
from bbllm_bench.safety.recording import RecordingDriver
from bbllm_bench.scorers.patterns import check_plus
from tests.worlds.small_tables import RED, Meddler, run, world_of

GREEN = ObjectSpec(name='green_cube', kind='cube', xy=(0.5, -0.05), yaw_deg=-10)


def test_a_cube_comes_to_rest_on_the_location_it_was_placed_on() -> None:
    world = world_of(RED, GREEN)

    outcomes = run(world, 'pick red_cube', 'place location_A')

    assert [outcome.message for outcome in outcomes] == ['', '']
    rests = world.settled()['red_cube'].position_m
    assert rests == pytest.approx((0.55, -0.2, 0.02), abs=2e-3)
    assert world.observe().has('red_cube', 'on', 'location_A')
    assert world.observe().has('hand', 'is', 'empty')


def test_a_hand_that_is_hardly_wider_than_a_block_closes_on_it() -> None:
    # The block is longer than the hand is open between its neighbours: a goal of the width that it
    # has on average would open the hand.
    long = ObjectSpec(name='red_cube', kind='cube', xy=(0.5, 0.0), size=(0.056, 0.032, 0.038))
    beside = [('blue_cube', 0.052, 0.0), ('yellow_cube', -0.052, 0.0)]
    beside += [('green_cube', 0.0, 0.058), ('orange_cube', 0.0, -0.058)]
    others = [ObjectSpec(name=name, kind='cube', xy=(0.5 + x, y)) for name, x, y in beside]

    (outcome,) = run(world_of(long, *others), 'pick red_cube')

    assert outcome.message == ''


def test_a_cube_at_the_least_depth_within_its_support_stands_and_one_beside_it_is_refused() -> (
    None
):
    world = world_of(RED, ObjectSpec(name='green_cube', kind='cube', xy=(0.5, 0.1)))

    picked, refused, placed = run(
        world, 'pick red_cube', 'place 0.5 0.121 0.06', 'place 0.5 0.1175 0.06'
    )

    assert (picked.succeeded, refused.status) == (True, Status.REJECTED)
    assert 'At 0.5 0.1175 0.06, 4 mm to the right, it would stand.' in refused.message
    assert placed.succeeded, placed.message
    assert world.settled()['red_cube'].position_m[2] == pytest.approx(0.06, abs=2e-3)


def test_the_plus_sign_of_the_demo_scene_is_one_and_what_is_out_of_reach_is_a_fact() -> None:
    world = TabletopWorld('plus_sign')
    reds = [('red_cube', 'C'), ('green_cube', 'A'), ('blue_cube', 'B'),
            ('yellow_cube', 'D'), ('orange_cube', 'E')]  # fmt: skip

    refused = run(world, 'pick aqua_cube', 'pick white_cube')
    for cube, letter in reds:
        run(world, f'pick {cube}', f'place location_{letter}')

    assert [outcome.message for outcome in refused] == [
        'aqua_cube is out of the workspace of the robot.',
        'white_cube is out of the workspace of the robot.',
    ]
    poses = {name: pose for name, pose in world.settled().items() if 'cube' in name}
    reason, fit = check_plus(poses, 0.04)
    assert fit is not None and not reason, reason
    assert fit.names[0] == 'red_cube'


def test_stop_halts_the_arm_and_keeps_what_is_held() -> None:
    meddler = Meddler()
    world = world_of(RED, meddler=meddler)
    run(world, 'pick red_cube')
    start_s = world.time_s

    def stop_from_another_thread() -> None:
        stopper = threading.Thread(target=world.stop)
        stopper.start()
        stopper.join()

    meddler.ready = lambda: world.time_s > start_s + 0.3
    meddler.deed = stop_from_another_thread

    [outcome] = run(world, 'place location_A')

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.CANCELLED)
    assert outcome.duration_s < 0.6
    assert world.observe().held == 'red_cube'
    assert abs(world.robot.joint_state().velocity_rad_s).max() < 0.05
    [after] = run(world, 'place location_A')
    assert after.succeeded, after.message


def test_the_plain_skills_do_what_they_state() -> None:
    world = world_of(RED)

    outcomes = run(
        world, 'close_gripper', 'open_gripper', 'reach 0.4 0.2 0.3', 'wait 1.5', 'return_to_base'
    )

    assert [outcome.message for outcome in outcomes] == [''] * 5
    assert outcomes[3].duration_s == pytest.approx(1.5, abs=0.01)


def test_a_stop_just_before_a_motion_is_sent_still_ends_the_call() -> None:
    world = world_of(RED)
    start_s = world.time_s
    world.set_activity_callback(lambda _: world.stop())

    [outcome] = run(world, 'pick red_cube')

    assert outcome.code is Code.CANCELLED
    assert world.time_s - start_s < 0.3
    world.set_activity_callback(None)
    [again] = run(world, 'pick red_cube')
    assert again.succeeded, again.message
    world.stop()
    assert world.settled()['red_cube'].position_m[2] > 0.05  # held, and time has passed


def test_a_grip_that_was_stopped_half_way_is_closed_before_the_arm_moves_on() -> None:
    meddler = Meddler()
    world = world_of(RED, meddler=meddler)
    activities: list[str] = []
    world.set_activity_callback(activities.append)
    meddler.deed = world.stop
    meddler.ready = lambda: (
        activities[-1:] == ['closing the hand on red_cube']
        and world.driver.joint_state().width_m < 0.0415
    )

    outcomes = run(world, 'pick red_cube', 'place location_A')

    assert outcomes[0].code is Code.CANCELLED
    assert outcomes[1].succeeded, outcomes[1].message
    assert 'closing the hand on red_cube again' in activities


class Commands(RecordingDriver):
    """Notes every goal of arm and hand that is sent while a fault is in force."""

    def __init__(self, driver: ArmDriver) -> None:
        super().__init__(driver)
        self.forbidden = False
        self.broken: list[str] = []

    def follow(
        self,
        trajectory: JointTrajectory,
        tolerances: Tolerances,
        stop_condition: Callable[[], bool] | None = None,
    ) -> FollowResult:
        self._note('trajectory')
        return super().follow(trajectory, tolerances, stop_condition)

    def move_gripper(self, width_m: float, speed_m_s: float) -> GripperResult:
        self._note('move')
        return super().move_gripper(width_m, speed_m_s)

    def grasp(self, goal: GraspGoal) -> GripperResult:
        self._note('grasp')
        return super().grasp(goal)

    def _note(self, what: str) -> None:
        if self.forbidden:
            self.broken.append(what)


MOMENTS = {
    'moving above red_cube': 'pick red_cube',
    'closing the hand on red_cube': 'pick red_cube',
    'lifting red_cube': 'pick red_cube',
    'moving above location_A': 'place location_A',
    'lowering red_cube onto location_A': 'place location_A',
    'opening the hand to let go of red_cube': 'place location_A',
    'lifting the hand': 'place location_A',
}
"""What the arm is about when something happens, and the call that it is then on."""


class Mishap:
    """A world in which one fault comes in the middle of one motion."""

    def __init__(self, fault: Fault, moment: str, *, helper: bool = True) -> None:
        self.asked: list[str] = []
        self.drivers: list[Commands] = []
        self._fault = fault
        self._helper = helper
        meddler = Meddler()
        self.world = world_of(RED, meddler=meddler, ask_person=self._help, wrap_driver=self._wrap)
        self.activities: list[str] = []
        self.world.set_activity_callback(self._receive)
        self._begun_s = math.inf
        self._moment = moment
        meddler.ready = lambda: self.world.time_s > self._begun_s + 0.04
        meddler.deed = self._break

    def run_until_done(self) -> list[Outcome]:
        """Pick and place as somebody would who looks at the scene after every failure."""
        outcomes: list[Outcome] = []
        for _ in range(8):
            scene = self.world.observe()
            if scene.held is None and scene.has('red_cube', 'on', 'location_A'):
                break
            text = 'pick red_cube' if scene.held is None else 'place location_A'
            outcomes += run(self.world, text)
            if outcomes[-1].code is Code.NEEDS_PERSON:
                break
        return outcomes

    def _receive(self, activity: str) -> None:
        self.activities.append(activity)
        if activity == self._moment and self._begun_s == math.inf:
            self._begun_s = self.world.time_s

    def _wrap(self, driver: ArmDriver) -> ArmDriver:
        self.drivers.append(Commands(driver))
        return self.drivers[0]

    def _break(self) -> None:
        self.world.robot.inject(self._fault)
        self.drivers[0].forbidden = self._fault is not Fault.REFLEX

    def _help(self, what: str, cancel: CancelToken) -> bool:
        self.asked.append(what)
        if self._helper:
            self.drivers[0].forbidden = False
            self.world.robot.clear(self._fault)
        return self._helper


@pytest.mark.parametrize('moment', MOMENTS)
def test_a_reflex_at_any_moment_is_recovered_from_and_the_cube_gets_where_it_should(
    moment: str,
) -> None:
    mishap = Mishap(Fault.REFLEX, moment)

    outcomes = mishap.run_until_done()

    assert moment in mishap.activities
    assert 'recovering the robot' in mishap.activities
    assert {outcome.code for outcome in outcomes} <= {Code.NONE, Code.REFLEX}
    assert mishap.asked == []
    assert run(mishap.world, 'return_to_base')[0].succeeded
    rests = mishap.world.settled()['red_cube'].position_m
    assert rests == pytest.approx((0.55, -0.2, 0.02), abs=5e-3)


NEED_A_PERSON = {
    Fault.USER_STOP: Code.USER_STOP,
    Fault.COMMUNICATION_LOSS: Code.COMMUNICATION_LOSS,
    Fault.JOINT_LIMIT: Code.JOINT_LIMIT,
}


@pytest.mark.parametrize('moment', MOMENTS)
@pytest.mark.parametrize('fault', NEED_A_PERSON)
def test_what_needs_a_person_at_any_moment_asks_one_moves_nothing_and_then_goes_on(
    moment: str, fault: Fault
) -> None:
    mishap = Mishap(fault, moment)

    outcomes = mishap.run_until_done()

    assert len(mishap.asked) == 1
    assert mishap.drivers[0].broken == []
    assert [outcome.code for outcome in outcomes if not outcome.succeeded] == [
        NEED_A_PERSON[fault]
    ]
    assert run(mishap.world, 'return_to_base')[0].succeeded
    rests = mishap.world.settled()['red_cube'].position_m
    assert rests == pytest.approx((0.55, -0.2, 0.02), abs=5e-3)


@pytest.mark.parametrize('fault', [Fault.GRIPPER_FAIL, Fault.GRIPPER_MISS])
def test_a_hand_that_fails_or_misses_once_is_reported_and_the_cube_gets_there_all_the_same(
    fault: Fault,
) -> None:
    mishap = Mishap(fault, 'moving above red_cube')

    outcomes = mishap.run_until_done()

    codes = {Fault.GRIPPER_FAIL: Code.GRIPPER_FAILED, Fault.GRIPPER_MISS: Code.GRASP_FAILED}
    assert [outcome.code for outcome in outcomes] == [codes[fault], Code.NONE, Code.NONE]


def test_a_place_comes_down_without_a_stop_and_within_the_limits() -> None:
    recorders: list[RecordingDriver] = []

    def recorded(driver: ArmDriver) -> ArmDriver:
        recorders.append(RecordingDriver(driver))
        return recorders[0]

    world = world_of(RED, wrap_driver=recorded)
    run(world, 'pick red_cube')
    before = len(recorders[0].trajectories)

    run(world, 'place 0.55 -0.2 0.02 30')

    hand = world.observe().hand
    assert hand is not None
    assert hand.width_m == pytest.approx(0.048, abs=1e-3)  # 4 mm from the cube on either side
    down, up = recorders[0].trajectories[before:]
    assert [audit(each).violations for each in (down, up)] == [0, 0]
    assert up.position_rad[0] == pytest.approx(down.position_rad[-1], abs=1e-9)
    rests = world.settled()['red_cube'].position_m
    assert rests == pytest.approx((0.55, -0.2, 0.02), abs=5e-4)


def test_a_picture_shows_the_table_from_above_and_is_the_same_for_the_same_table() -> None:
    worlds = world_of(RED), world_of(RED)
    try:
        first, second = (picture_of(world) for world in worlds)
        run(worlds[0], 'pick red_cube')
        moved = picture_of(worlds[0])
    except RenderError as error:
        pytest.skip(str(error))
    finally:
        for world in worlds:
            world.close()

    assert first == second != moved
    assert first.view == (
        'from above, by the camera table_camera; in it, x points up and y to the left'
    )
