"""What the fingers tell of the thing between them, with no camera at all."""

import math
from dataclasses import replace

import pytest

from bbllm.core.types import Pose, SceneObject
from bbllm.scene.relations import find_held
from bbllm.scene.transforms import angle_between, compose
from bbllm.skills.grasps import Hand
from bbllm.worlds.perception.grasp_tracker import (
    GraspTracker,
    HandChange,
    HandEvent,
    in_fingers,
    rest_below,
)
from tests.worlds.tracked_tables import TABLE, cube

DOWN = (1.0, 0.0, 0.0, 0.0)


def hand(x: float, y: float, z: float, width_m: float) -> Hand:
    return Hand(tcp=Pose(position_m=(x, y, z), quat_xyzw=DOWN), width_m=width_m)


class Arm:
    """Plays measurements of a hand to `GraspTracker`."""

    def __init__(self, *objects: SceneObject):
        self.carrying = GraspTracker()
        self.objects = objects
        self.now_s = 10.0

    def measure(self, where: Hand, times: int = 1) -> list[HandEvent]:
        events = []
        for _ in range(times):
            self.now_s += 0.03
            event = self.carrying.update(where, self.now_s, self.objects)
            events += [] if event is None else [event]
        return events

    def close(self, x: float, y: float, z: float, *, at_m: float = 0.04) -> list[HandEvent]:
        """Close from wide open to a width, and stay there."""
        events = []
        for width_m in (0.08, 0.07, 0.06, 0.05):
            events += self.measure(hand(x, y, z, max(width_m, at_m)))
        return events + self.measure(hand(x, y, z, at_m), times=6)


def changes(events: list[HandEvent]) -> list[tuple[HandChange, str]]:
    return [(event.change, event.name) for event in events]


def test_fingers_that_stop_at_the_width_of_what_is_between_them_hold_it() -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))

    assert changes(arm.close(0.5, 0.1, 0.03)) == [(HandChange.GRASPED, 'red_cube')]
    assert arm.carrying.name == 'red_cube'


def test_what_was_not_quite_in_the_middle_is_pushed_there() -> None:
    arm = Arm(cube('red_cube', 0.503, 0.109, yaw_deg=8.0))

    assert changes(arm.close(0.5, 0.1, 0.03)) == [(HandChange.GRASPED, 'red_cube')]
    pose = arm.carrying.pose

    assert pose.position_m == pytest.approx((0.503, 0.1, 0.02))
    assert angle_between(pose.quat_xyzw, (0.0, 0.0, 0.0, 1.0)) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ('x', 'width_m'),
    [(0.5, 0.0), (0.5, 0.03), (0.5, 0.05), (0.6, 0.04)],
    ids=['closed', 'too narrow', 'too wide', 'elsewhere'],
)
def test_fingers_that_stop_otherwise_hold_nothing(x: float, width_m: float) -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))

    assert arm.close(x, 0.1, 0.03, at_m=width_m) == []
    assert arm.carrying.name is None
    assert arm.carrying.decided


def test_fingers_that_still_move_have_decided_nothing() -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))
    arm.measure(hand(0.5, 0.1, 0.03, 0.08), times=6)
    assert arm.carrying.decided

    arm.measure(hand(0.5, 0.1, 0.03, 0.06))

    assert not arm.carrying.decided


def test_fingers_that_open_to_the_width_of_an_object_do_not_hold_it() -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))
    arm.measure(hand(0.5, 0.1, 0.03, 0.0), times=6)

    assert arm.measure(hand(0.5, 0.1, 0.03, 0.04), times=6) == []


def test_arm_that_has_gone_on_before_it_was_clear_carries_it_all_the_same() -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))
    arm.measure(hand(0.5, 0.1, 0.03, 0.08))
    arm.measure(hand(0.5, 0.1, 0.03, 0.04))  # only one measurement where it gripped

    events = [e for z in (0.08, 0.13, 0.18, 0.23) for e in arm.measure(hand(0.5, 0.1, z, 0.04))]

    assert changes(events) == [(HandChange.GRASPED, 'red_cube')]
    pose = arm.carrying.pose
    assert pose.position_m == pytest.approx((0.5, 0.1, 0.22))


@pytest.mark.parametrize(
    ('before_m', 'after_m', 'width_m', 'change', 'bottom_m'),
    [
        (0.033, 0.033, 0.045, HandChange.RELEASED, 0.023),
        (0.1, 0.033, 0.06, HandChange.RELEASED, 0.023),
        (0.033, 0.1, 0.06, HandChange.RELEASED, 0.023),
        (0.3, 0.3, 0.035, HandChange.SLIPPED, 0.29),
    ],
)
def test_fingers_that_open_let_go_at_the_bottom_of_the_way_and_those_that_close_have_lost_it(
    before_m: float, after_m: float, width_m: float, change: HandChange, bottom_m: float
) -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))
    arm.close(0.5, 0.1, 0.03)
    arm.measure(hand(0.4, -0.2, before_m, 0.04))

    (event,) = arm.measure(hand(0.4, -0.2, after_m, width_m))

    assert (event.change, event.name) == (change, 'red_cube')
    assert event.pose.position_m == pytest.approx((0.4, -0.2, bottom_m))
    assert arm.carrying.name is None


def test_width_that_trembles_changes_nothing() -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))
    arm.close(0.5, 0.1, 0.03)

    for i in range(20):
        assert arm.measure(hand(0.5, 0.1, 0.3, 0.04 + 0.0008 * math.sin(i))) == []


def test_object_that_a_camera_sees_elsewhere_is_not_taken_up_again() -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))
    arm.close(0.5, 0.1, 0.03)

    arm.carrying.forget()

    assert arm.measure(hand(0.5, 0.1, 0.03, 0.04), times=10) == []


def test_what_is_in_the_hand_at_the_start_is_known_when_it_is_seen_there() -> None:
    arm = Arm()
    arm.measure(hand(0.5, 0.1, 0.4, 0.04), times=6)

    arm.objects = (cube('red_cube', 0.5, 0.1, 0.39),)

    assert changes(arm.measure(hand(0.5, 0.1, 0.4, 0.04))) == [(HandChange.GRASPED, 'red_cube')]


def test_old_measurement_is_left_out() -> None:
    arm = Arm(cube('red_cube', 0.5, 0.1))
    arm.close(0.5, 0.1, 0.03)

    assert arm.carrying.update(hand(0.5, 0.1, 0.03, 0.08), 1.0, arm.objects) is None
    assert arm.carrying.name == 'red_cube'


def test_object_in_the_fingers_has_a_side_on_each_pad() -> None:
    tcp = Pose(position_m=(0.5, 0.1, 0.03), quat_xyzw=DOWN)
    item = cube('red_cube', 0.5, 0.1, yaw_deg=-75.0)

    pose = compose(tcp, in_fingers(item.pose, tcp))

    held = find_held([replace(item, pose=pose)], Hand(tcp=tcp, width_m=0.04))
    assert held == 'red_cube'


def test_released_object_rests_on_the_highest_support_below() -> None:
    below = cube('blue_cube', 0.41, 0.0)
    beside = cube('green_cube', 0.46, 0.0, 0.06)

    rests = rest_below(cube('red_cube', 0.4, 0.0, 0.065), [TABLE, below, beside])

    assert rests.pose.position_m == pytest.approx((0.4, 0.0, 0.06))
