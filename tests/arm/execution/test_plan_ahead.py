"""Ways that are planned ahead: where they are used, and that no outcome depends on them."""

import random
from dataclasses import replace

import numpy as np
import pytest

from bbllm.arm.driver import FollowError, FollowResult, GoalStatus, GripperResult
from bbllm.arm.execution.executor import SkillExecutor
from bbllm.core.cancel import CancelToken
from bbllm.core.types import Code, Outcome, SkillCall, Status
from tests.arm.kinematic_arm import KinematicArm, cube, executor_on, location, place

CUBES = ('red_cube', 'green_cube', 'blue_cube', 'yellow_cube')
SPOTS = tuple((x, y) for x in (0.36, 0.48, 0.6) for y in (-0.3, -0.15, 0.0, 0.15, 0.3))
PLACE = place('location_A')
CALLS = [
    SkillCall('pick', ('red_cube',)),
    PLACE,
    SkillCall('pick', ('green_cube',)),
    place('red_cube'),
    SkillCall('return_to_base'),
]


def table(seed: int) -> KinematicArm:
    rng = random.Random(seed)
    spots = rng.sample(SPOTS, len(CUBES) + 1)
    entities = [
        cube(name, x, y, yaw_deg=rng.uniform(-40, 40))
        for name, (x, y) in zip(CUBES, spots, strict=False)
    ]
    return KinematicArm(*entities, location('location_A', *spots[-1]))


def move(arm: KinematicArm, name: str, dx_m: float) -> None:
    item = arm.objects[name]
    x, y, z = item.pose.position_m
    pose = replace(item.pose, position_m=(x + dx_m, y, z))
    arm.objects[name] = replace(item, pose=pose)


def count_plans(monkeypatch: pytest.MonkeyPatch, executor: SkillExecutor) -> list[str]:
    """Note what is planned at its turn."""
    at_turn: list[str] = []
    planner = executor._planner
    plan_above, plan_to_base = planner.above, planner.to_base

    def above(motion, q_now):  # type: ignore[no-untyped-def]
        at_turn.append(motion.target)
        return plan_above(motion, q_now)

    def to_base(q_now):  # type: ignore[no-untyped-def]
        at_turn.append('base')
        return plan_to_base(q_now)

    monkeypatch.setattr(planner, 'above', above)
    monkeypatch.setattr(planner, 'to_base', to_base)
    return at_turn


def play(arm: KinematicArm, executor: SkillExecutor) -> None:
    for number, call in enumerate(CALLS):
        executor.expect(CALLS[number + 1 :])
        outcome = executor.execute(call)
        assert outcome.succeeded, outcome.message


def test_only_the_first_of_calls_that_are_expected_is_planned_at_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arm = table(3)
    executor = executor_on(arm)
    at_turn = count_plans(monkeypatch, executor)

    play(arm, executor)

    assert at_turn == ['red_cube']
    for before, after in zip(arm.sent, arm.sent[1:], strict=False):
        np.testing.assert_allclose(before.position_rad[-1], after.position_rad[0], atol=1e-9)


def test_a_call_that_is_expected_only_while_the_one_before_moves_is_planned_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arm = table(3)
    executor = executor_on(arm)
    at_turn = count_plans(monkeypatch, executor)
    executor.expect(CALLS[3:4])  # so that states are forecast; it does not come
    arm.on_follow = lambda: executor.expect(CALLS[1:2]) if len(arm.sent) == 2 else None

    assert all(executor.execute(call).succeeded for call in CALLS[:2])

    assert at_turn == ['red_cube']


@pytest.mark.parametrize('moved', ['green_cube', 'yellow_cube', 'red_cube'])
def test_a_way_is_planned_anew_where_an_object_is_moved_meanwhile(
    monkeypatch: pytest.MonkeyPatch, moved: str
) -> None:
    arm = table(3)
    executor = executor_on(arm)
    at_turn = count_plans(monkeypatch, executor)
    executor.expect([PLACE])
    assert executor.execute(CALLS[0]).succeeded

    move(arm, moved, 0.002)  # what is to be avoided, or what is in the hand

    assert executor.execute(PLACE).succeeded
    assert at_turn == ['red_cube', 'location_A']
    assert arm.position('red_cube')[:2] == pytest.approx(arm.position('location_A')[:2], abs=1e-3)


@pytest.mark.parametrize(
    'discards', ['nothing is expected any more', 'another call', 'the arm is moved']
)
def test_a_way_is_planned_anew_where_it_is_not_what_comes(
    monkeypatch: pytest.MonkeyPatch, discards: str
) -> None:
    arm = table(3)
    executor = executor_on(arm)
    at_turn = count_plans(monkeypatch, executor)
    executor.expect([PLACE])
    if discards == 'nothing is expected any more':
        arm.on_follow = lambda: executor.expect(())
    assert executor.execute(CALLS[0]).succeeded

    call = SkillCall('return_to_base') if discards == 'another call' else PLACE
    if discards == 'the arm is moved':
        arm._move_to(arm.q + 0.04)

    assert executor.execute(call).succeeded
    assert len(at_turn) == 2


def test_nothing_is_planned_from_what_a_failed_call_would_have_led_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arm = table(3)
    executor = executor_on(arm)
    at_turn = count_plans(monkeypatch, executor)
    executor.expect([PLACE])
    arm.slips_after = 2  # after the ascent: the state was forecast

    assert not executor.execute(CALLS[0]).succeeded
    arm.slips_after = None
    assert executor.execute(CALLS[0]).succeeded
    assert executor.execute(PLACE).succeeded
    assert at_turn == ['red_cube', 'red_cube', 'location_A']


def test_a_call_that_is_planned_ahead_moves_nothing_before_it_is_permitted() -> None:
    arm = table(3)
    refused = [PLACE]

    def permit(call: SkillCall, provenance: object, cancel: CancelToken) -> Outcome | None:
        if call not in refused:
            return None
        refused.remove(call)
        return Outcome(call=call, status=Status.REJECTED, code=Code.NOT_APPROVED)

    executor = SkillExecutor(arm, arm.observe, permit=permit)
    executor.expect([PLACE])
    assert executor.execute(CALLS[0]).succeeded
    before = len(arm.sent)

    assert executor.execute(PLACE).code is Code.NOT_APPROVED
    assert len(arm.sent) == before
    assert executor.execute(PLACE).succeeded


def random_calls(rng: random.Random) -> list[SkillCall]:
    calls = []
    for _ in range(8):
        name, other = rng.sample(CUBES, 2)
        calls += [SkillCall('pick', (name,)), place(rng.choice(['location_A', other]))]
        if rng.random() < 0.3:
            calls.append(SkillCall('return_to_base'))
    return calls


def failing(arm: KinematicArm, rng: random.Random) -> None:
    """Let a motion or a grasp of the next call fail, now and then, or move something."""
    arm.grip_result = None
    luck, nth = rng.random(), len(arm.sent) + rng.randint(1, 3)
    if luck < 0.15:
        failure = FollowResult(
            status=GoalStatus.ABORTED, error_code=FollowError.PATH_TOLERANCE_VIOLATED
        )
        arm.on_follow = lambda: arm.replies.append(failure) if len(arm.sent) == nth else None
    elif luck < 0.25:
        arm.grip_result = GripperResult(status=GoalStatus.ABORTED, width_m=0.0)
    elif luck < 0.4 and arm.held is None:
        move(arm, rng.choice(CUBES), rng.uniform(-0.01, 0.01))


def played(
    monkeypatch: pytest.MonkeyPatch, seed: int, *, ahead: bool
) -> tuple[list[Outcome], KinematicArm, int]:
    """Play calls; return their outcomes, the arm, and how many ways were planned at their turn."""
    arm, rng = table(seed), random.Random(seed)
    executor = executor_on(arm)
    at_turn = count_plans(monkeypatch, executor)
    calls, outcomes = random_calls(rng), []
    for number, call in enumerate(calls):
        hints = calls[number + 1 : number + 3]
        wrong = rng.random() < 0.2
        if ahead:
            executor.expect(hints[::-1] if wrong else hints)
        failing(arm, rng)
        outcomes.append(executor.execute(call))
        arm.replies.clear()
        arm.on_follow = lambda: None
    return outcomes, arm, len(at_turn)


@pytest.mark.parametrize('seed', range(12))
def test_no_outcome_depends_on_planning_ahead(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    alone, arm, n_alone = played(monkeypatch, seed, ahead=False)
    planned, other, n_planned = played(monkeypatch, seed, ahead=True)

    assert [replace(each, duration_s=0.0) for each in planned] == [
        replace(each, duration_s=0.0) for each in alone
    ]
    np.testing.assert_allclose(
        [each.duration_s for each in planned], [each.duration_s for each in alone], atol=0.05
    )
    for name in CUBES:
        assert other.position(name) == pytest.approx(arm.position(name), abs=1e-3)
    assert n_planned < n_alone
