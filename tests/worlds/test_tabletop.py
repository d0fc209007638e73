"""The whole arm in physics: calls go in, settled poses come out."""

from __future__ import annotations

import math
import threading

import pytest
from small_tables import RED, Meddler, run, world_of

from bbllm.bench.scorers.plus_fit import check_plus
from bbllm.core.errors import UnknownNameError
from bbllm.core.types import Code, Pose, Status
from bbllm.sim.scene_file import ObjectSpec
from bbllm.worlds.tabletop.tabletop import TabletopWorld

GREEN = ObjectSpec(name='green_cube', kind='cube', xy=(0.5, -0.05), yaw_deg=-10)
CAN = ObjectSpec(name='can', kind='cylinder', xy=(0.4, -0.2), size=(0.05, 0.1))
ELSEWHERE = Pose(position_m=(0.3, 0.5, 0.02))


def test_a_cube_comes_to_rest_on_the_location_it_was_placed_on() -> None:
    world = world_of(RED, GREEN)

    outcomes = run(world, 'pick red_cube', 'place location_A')

    assert [outcome.message for outcome in outcomes] == ['', '']
    rests = world.settled()['red_cube'].position_m
    assert rests == pytest.approx((0.55, -0.2, 0.02), abs=2e-3)
    assert world.observe().has('red_cube', 'on', 'location_A')
    assert world.observe().has('hand', 'is', 'empty')


def test_between_pick_and_place_the_scene_says_what_is_held() -> None:
    world = world_of(RED)

    run(world, 'pick red_cube')

    assert world.observe().held == 'red_cube'


def test_a_tall_cylinder_is_placed_upright() -> None:
    world = world_of(CAN)

    outcomes = run(world, 'pick can', 'place 0.5 0.2 0.05')

    assert [outcome.message for outcome in outcomes] == ['', '']
    assert world.settled()['can'].position_m == pytest.approx((0.5, 0.2, 0.05), abs=2e-3)


def test_a_cube_is_turned_as_asked() -> None:
    world = world_of(RED)

    run(world, 'pick red_cube', 'place 0.5 0.1 0.02 35')

    x, y, z, w = world.settled()['red_cube'].quat_xyzw
    yaw = math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    assert yaw % 90 == pytest.approx(35, abs=0.5)


def test_a_small_tower_stands() -> None:
    world = world_of(RED, GREEN, ObjectSpec(name='blue_cube', kind='cube', xy=(0.4, 0.3)))

    run(world, 'pick red_cube', 'place green_cube', 'pick blue_cube', 'place red_cube')

    scene = world.observe()
    assert scene.has('red_cube', 'on', 'green_cube')
    assert scene.has('blue_cube', 'on', 'red_cube')
    [covered] = run(world, 'pick green_cube')
    assert (covered.status, covered.code) == (Status.REJECTED, Code.COVERED)


def test_the_plus_sign_of_the_demo_scene_is_one_and_what_is_out_of_reach_is_told() -> None:
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
    verdict = check_plus(poses, 0.04)
    assert verdict.passed, verdict.reason
    assert verdict.cubes[0] == 'red_cube'


def test_a_location_out_of_reach_is_rejected_and_the_cube_stays_in_the_hand() -> None:
    world = world_of(RED)

    outcomes = run(world, 'pick red_cube', 'place location_G', 'place location_A')

    assert outcomes[1].status is Status.REJECTED
    assert outcomes[1].message == 'location_G is out of the workspace of the robot.'
    assert outcomes[2].succeeded


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


def test_fingers_close_on_nothing_when_the_cube_is_taken_away() -> None:
    meddler = Meddler()
    world = world_of(RED, GREEN, meddler=meddler)
    meddler.deed = lambda: world.robot.set_object_pose('red_cube', ELSEWHERE)

    [outcome] = run(world, 'pick red_cube')

    assert outcome.code is Code.GRASP_FAILED
    assert outcome.message == 'grasp of red_cube failed: fingers closed on nothing.'
    [again] = run(world, 'pick red_cube')
    assert again.succeeded, again.message


def test_a_cube_that_is_snatched_from_the_hand_is_lost_on_the_way() -> None:
    meddler = Meddler()
    world = world_of(RED, meddler=meddler)
    run(world, 'pick red_cube')

    meddler.deed = lambda: world.robot.set_object_pose('red_cube', ELSEWHERE)

    [outcome] = run(world, 'place location_A')

    assert outcome.code is Code.OBJECT_LOST
    assert outcome.message == 'red_cube was lost on the way to location_A.'


def test_the_plain_skills_do_what_they_say() -> None:
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


def test_the_arm_moves_on_with_a_closed_hand() -> None:
    outcomes = run(world_of(RED), 'close_gripper', 'return_to_base', 'pick red_cube')

    assert [outcome.message for outcome in outcomes] == [''] * 3


def test_the_same_scene_and_calls_give_the_same_end() -> None:
    ends = []
    for _ in range(2):
        world = world_of(RED, GREEN)
        run(world, 'pick red_cube', 'place green_cube')
        ends.append(world.settled()['red_cube'].position_m)

    assert ends[0] == ends[1]


def test_an_unknown_scene_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match='tabletop'):
        TabletopWorld('tabeltop')
