"""The executor on an arm without physics: what it sends, and what it refuses to begin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from kinematic_arm import PICK_RED, KinematicArm, cube, executor_on, location, place, run

from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.kinematics import forward
from bbllm.arm.limits import Q_READY
from bbllm.core.errors import SceneError
from bbllm.core.types import Code, Scene, SceneObject, SkillCall, Status
from bbllm.skills.grasps import Hand
from bbllm.skills.shapes import pose_of_matrix
from bbllm.worlds.scene.relations import find_held


def test_a_cube_is_picked_and_placed_on_a_location() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15, yaw_deg=20), location('location_A', 0.5, -0.2))

    results = run(arm, PICK_RED, place('location_A'))

    assert [result[0] for result in results] == [Status.SUCCEEDED, Status.SUCCEEDED]
    assert arm.position('red_cube') == pytest.approx((0.5, -0.2, 0.02), abs=1e-3)


def test_every_trajectory_starts_where_the_last_one_ended_and_ends_at_rest() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), location('location_A', 0.5, -0.2))

    run(arm, PICK_RED, place('location_A'), SkillCall('return_to_base'))

    end = np.array(Q_READY)
    for trajectory in arm.sent:
        assert trajectory.position_rad[0] == pytest.approx(end, abs=1e-9)
        assert not trajectory.velocity_rad_s[-1].any()
        assert not trajectory.acceleration_rad_s2[-1].any()
        end = trajectory.position_rad[-1]
    assert end == pytest.approx(Q_READY)


def test_a_cube_is_stacked_on_another_in_line_with_it() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), cube('green_cube', 0.5, -0.1, yaw_deg=30))

    results = run(arm, PICK_RED, place('green_cube'))

    assert [result[0] for result in results] == [Status.SUCCEEDED, Status.SUCCEEDED]
    assert arm.position('red_cube') == pytest.approx((0.5, -0.1, 0.06), abs=1e-3)


def test_activities_are_told_in_words() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    run(arm, PICK_RED)

    assert arm.activities[0] == 'moving above red_cube'
    assert 'closing the hand on red_cube' in arm.activities


@pytest.mark.parametrize(
    ('call', 'code', 'message'),
    [
        (
            SkillCall('pick', ('aqua_cube',)),
            Code.OUT_OF_WORKSPACE,
            'aqua_cube is out of the workspace of the robot.',
        ),
        (
            place('location_A'),
            Code.NOT_HOLDING,
            'nothing is in the hand, so nothing can be placed; pick an object first.',
        ),
        (
            SkillCall('pick', ('location_A',)),
            Code.NOT_GRASPABLE,
            'location_A is a location, and that cannot be picked.',
        ),
    ],
)
def test_what_cannot_be_done_is_rejected_and_nothing_moves(
    call: SkillCall, code: Code, message: str
) -> None:
    arm = KinematicArm(
        cube('red_cube', 0.45, 0.15), cube('aqua_cube', 0.95, 0.1), location('location_A', 0.5, 0)
    )

    assert run(arm, call) == [(Status.REJECTED, code, message)]
    assert arm.sent == []


def test_a_target_out_of_reach_is_rejected_with_the_thing_still_in_the_hand() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), location('location_G', 0.95, -0.3))

    results = run(arm, PICK_RED, place('location_G'))

    assert results[1] == (
        Status.REJECTED,
        Code.OUT_OF_WORKSPACE,
        'location_G is out of the workspace of the robot.',
    )
    assert arm.held == 'red_cube'


def test_an_unknown_object_is_rejected_with_the_known_ones() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    [(status, code, message)] = run(arm, SkillCall('pick', ('pink_cube',)))

    assert (status, code) == (Status.REJECTED, Code.UNKNOWN_OBJECT)
    assert 'red_cube' in message


def test_stop_ends_the_call_that_runs_and_what_is_held_stays_held() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15), location('location_A', 0.5, -0.2))
    executor = executor_on(arm)
    executor.execute(PICK_RED)
    arm.on_follow = executor.stop

    outcome = executor.execute(place('location_A'))

    assert (outcome.status, outcome.code) == (Status.FAILED, Code.CANCELLED)
    assert arm.held == 'red_cube'
    assert len(arm.sent) == 4


def test_stop_does_nothing_when_nothing_runs() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))
    executor = executor_on(arm)

    executor.stop()

    assert not arm.stopped.is_set()
    assert executor.execute(PICK_RED).succeeded


@pytest.mark.parametrize(
    ('text', 'code'),
    [
        ('The scene is stale: it was sensed 3.0 s ago.', Code.STALE_SCENE),
        ('The scene is empty: no objects were sensed.', Code.EMPTY_SCENE),
    ],
)
def test_nothing_moves_on_a_scene_that_is_stale_or_empty(text: str, code: Code) -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    def observe() -> Scene:
        raise SceneError(text)

    outcome = SkillExecutor(arm, observe).execute(PICK_RED)

    assert (outcome.status, outcome.code, outcome.message) == (Status.REJECTED, code, text)
    assert arm.sent == []


def test_waiting_takes_its_time_on_the_worlds_clock() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    outcome = executor_on(arm).execute(SkillCall('wait', ('2.5',)))

    assert outcome.duration_s == pytest.approx(2.5)


def test_opening_the_hand_lets_go_of_what_is_held() -> None:
    arm = KinematicArm(cube('red_cube', 0.45, 0.15))

    run(arm, PICK_RED, SkillCall('open_gripper'))

    assert find_held(tuple(arm.objects.values()), executor_hand(arm)) is None
    assert arm.width_m == pytest.approx(0.08)


def executor_hand(arm: KinematicArm) -> Hand:
    return Hand(tcp=pose_of_matrix(forward(arm.q).tolist()), width_m=arm.width_m)


def test_the_hand_opens_just_enough_between_neighbours() -> None:
    ring: Sequence[SceneObject] = [
        cube(f'cube_{i}', 0.5 + dx, dy)
        for i, (dx, dy) in enumerate(((0.06, 0), (-0.06, 0), (0, 0.06), (0, -0.06)))
    ]
    arm = KinematicArm(cube('red_cube', 0.5, 0.0), *ring)

    [(status, _, message)] = run(arm, PICK_RED)

    assert status is Status.SUCCEEDED, message
    assert arm.openings[0] < 0.05
