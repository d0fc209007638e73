"""The gate before the arm in mode plan: what a person is asked, and what may be tried without."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gates import CALLS, NO, STEPS, YES, Person, ended, gate, nothing, of_plan, run

from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import Answer, ApprovalMode, RequestKind, plan_hash
from bbllm.core.errors import CancelledError, SceneError
from bbllm.core.types import Code, Plan, PlanStep, Scene, SkillCall, Status


def test_a_plan_is_asked_for_once_and_its_steps_then_go_on() -> None:
    person = Person([YES])
    here = gate(person)

    assert [run(here, step) for step in range(3)] == [None, None, None]

    (asked,) = person.asked
    assert asked.kind is RequestKind.PLAN
    assert asked.hash == plan_hash('e', 0, of_plan(0).plan)
    assert asked.lines == tuple(f'{i}: {text}' for i, text in enumerate(STEPS))


def test_a_denial_holds_for_all_steps_of_the_plan_and_carries_the_reason() -> None:
    person = Person([NO])
    here = gate(person)

    refusals = [run(here, step) for step in range(3)]

    assert len(person.asked) == 1
    for refusal in refusals:
        assert refusal is not None
        assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
        assert refusal.message == 'A person did not approve this plan: the red cube is glued.'


def test_nobody_in_time_is_told_and_holds_for_the_plan_too() -> None:
    person = Person([Answer(granted=False, reason='nobody answered within 300 s')])
    here = gate(person)

    refusals = [run(here, step) for step in range(2)]

    assert len(person.asked) == 1
    assert {refusal and refusal.message for refusal in refusals} == {
        'A person has to approve this plan, and nobody answered within 300 s.'
    }


def test_a_repaired_plan_and_another_episode_are_asked_for_anew() -> None:
    person = Person([YES, YES, YES])
    here = gate(person)

    run(here, 0)
    here.permit(CALLS[0], of_plan(0, revision=1), nothing)
    here.permit(CALLS[0], of_plan(0, episode='f'), nothing)

    assert person.kinds == [RequestKind.PLAN] * 3
    assert len({request.hash for request in person.asked}) == 3


def test_a_denied_plan_does_not_bar_the_repaired_one() -> None:
    person = Person([NO, YES])
    here = gate(person)

    assert run(here, 0) is not None
    assert run(here, 0, revision=1) is None


@pytest.mark.parametrize(
    'call',
    [SkillCall('pick', ('red_cube',)), SkillCall('return_to_base'), SkillCall('open_gripper')],
    ids=str,
)
def test_a_call_without_a_plan_is_refused_at_once_with_what_would_work(call: SkillCall) -> None:
    person = Person()

    refusal = gate(person).permit(call, None, nothing)

    assert refusal is not None
    assert refusal.code is Code.NOT_APPROVED
    assert 'bbllm run' in refusal.message
    assert 'approval:=step' in refusal.message
    assert person.asked == []


@pytest.mark.parametrize('mode', ['plan', 'risky', 'none'])
def test_waiting_needs_nobody(mode: str) -> None:
    assert gate(Person(), mode).permit(SkillCall('wait', ('2',)), None, nothing) is None


def test_a_goal_with_other_steps_under_an_approved_revision_is_refused() -> None:
    person = Person([YES])
    here = gate(person)
    run(here, 0)

    forged = of_plan(1, steps=(STEPS[0], 'place it on the blue cube', STEPS[2]))
    refusal = here.permit(SkillCall('place', ('blue_cube',)), forged, nothing)

    assert refusal is not None
    assert refusal.code is Code.NOT_APPROVED
    assert forged.hash[:12] in refusal.message
    assert len(person.asked) == 1
    assert run(here, 1) is None


def test_a_plan_that_was_replaced_is_refused() -> None:
    person = Person([YES, YES])
    here = gate(person)
    run(here, 0)
    run(here, 0, revision=1)

    refusal = run(here, 1, revision=0)

    assert refusal is not None
    assert 'was replaced by revision 1' in refusal.message
    assert len(person.asked) == 2


@pytest.mark.parametrize('step', [-1, 3, 99])
def test_a_step_that_the_plan_does_not_have_is_refused(step: int) -> None:
    refusal = gate(Person()).permit(CALLS[0], of_plan(step), nothing)

    assert refusal is not None
    assert f'names step {step}' in refusal.message


@pytest.mark.parametrize('indexes', [(0, 0, 1), (1, 2, 3), (0, 2, 1), (0, 1, 3)])
def test_a_plan_that_is_not_numbered_in_order_is_refused(indexes: tuple[int, ...]) -> None:
    steps = tuple(PlanStep(i, text) for i, text in zip(indexes, STEPS, strict=True))
    odd = replace(of_plan(0), plan=Plan(steps))

    refusal = gate(Person()).permit(CALLS[0], odd, nothing)

    assert refusal is not None
    assert 'numbered' in refusal.message


def test_a_rejected_call_does_not_use_its_step_up() -> None:
    person = Person([YES])
    here = gate(person)

    run(here, 0, Status.REJECTED)

    assert run(here, 0) is None
    assert person.kinds == [RequestKind.PLAN]


@pytest.mark.parametrize('first', [Status.SUCCEEDED, Status.FAILED])
def test_a_step_that_was_tried_is_asked_for_by_itself_when_it_comes_again(first: Status) -> None:
    person = Person([YES, NO])
    here = gate(person)

    run(here, 0, first)
    refusal = run(here, 0)

    assert refusal is not None
    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL]
    assert 'step 0 was tried already' in person.asked[1].reason


def test_a_call_whose_end_nobody_told_has_used_its_step_up() -> None:
    person = Person([YES, NO])
    here = gate(person)

    here.permit(CALLS[0], of_plan(0), nothing)
    here.permit(CALLS[0], of_plan(0), nothing)

    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL]


def test_what_follows_a_failed_step_of_the_same_plan_is_asked_for_by_itself() -> None:
    person = Person([YES, YES, YES])
    here = gate(person)

    run(here, 0, Status.FAILED)
    run(here, 1)
    run(here, 2)

    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL, RequestKind.CALL]
    assert 'step 0 of the plan failed' in person.asked[1].reason


def test_a_call_that_fails_before_it_was_permitted_fails_its_step_and_gives_none_back() -> None:
    person = Person([YES, YES, NO])
    here = gate(person)
    run(here, 0)

    # What a robot does that is found stopped before the next call.
    here.begin(of_plan(1))
    here.settle(ended(CALLS[1], Status.FAILED, Code.REFLEX))
    run(here, 2)
    run(here, 0)

    assert [request.kind for request in person.asked] == [
        RequestKind.PLAN,
        RequestKind.CALL,
        RequestKind.CALL,
    ]
    assert 'step 1 of the plan failed' in person.asked[1].reason
    assert 'step 0 was tried already' in person.asked[2].reason


def test_a_refusal_of_a_later_call_does_not_give_an_earlier_step_back() -> None:
    person = Person([YES, NO])
    here = gate(person)
    run(here, 0)

    here.settle(ended(CALLS[1], Status.REJECTED))
    run(here, 0)

    assert 'step 0 was tried already' in person.asked[1].reason


def test_a_step_may_be_passed_over_but_not_come_late() -> None:
    person = Person([YES, NO])
    here = gate(person)

    assert run(here, 0) is None
    assert run(here, 2) is None
    assert run(here, 1) is not None
    assert 'comes after step 2' in person.asked[1].reason


def test_a_call_beyond_the_words_of_its_step_is_asked_for_by_itself() -> None:
    person = Person([YES, NO, YES])
    here = gate(person)
    other = SkillCall('pick', ('Blue cube',))

    refusal = here.permit(other, of_plan(0), nothing)

    assert refusal is not None
    assert refusal.message == ('A person did not approve pick(blue_cube): the red cube is glued.')
    asked = person.asked[1]
    assert asked.kind is RequestKind.CALL
    assert asked.reason == 'its step does not name blue_cube'
    assert asked.lines == ('pick(blue_cube)', 'for step 0: pick up the red cube')
    assert here.permit(other, of_plan(0), nothing) is None


def test_a_call_that_cannot_be_is_refused_without_troubling_anybody_for_it() -> None:
    person = Person([YES])
    here = gate(person)

    refusal = here.permit(SkillCall('pick', ('red_cub',)), of_plan(0), nothing)

    assert refusal is not None
    assert refusal.code is Code.UNKNOWN_OBJECT
    assert person.kinds == [RequestKind.PLAN]
    assert run(here, 0) is None


@pytest.mark.parametrize(
    ('told', 'code'),
    [('The scene is stale: 3 s.', Code.STALE_SCENE), ('The scene is empty: x', Code.EMPTY_SCENE)],
)
def test_without_a_scene_nothing_is_permitted(told: str, code: Code) -> None:
    def observe() -> Scene:
        raise SceneError(told)

    here = ApprovalGate(Person([YES]), observe, mode=ApprovalMode.PLAN)

    refusal = here.permit(CALLS[0], of_plan(0), nothing)

    assert refusal is not None
    assert (refusal.status, refusal.code) == (Status.REJECTED, code)


def test_a_wait_that_is_ended_neither_grants_nor_denies() -> None:
    person = Person([YES, YES])
    here = gate(person)

    def cancelled() -> None:
        raise CancelledError('It was cancelled.')

    with pytest.raises(CancelledError):
        here.permit(CALLS[0], of_plan(0), cancelled)

    assert run(here, 0) is None
    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]
