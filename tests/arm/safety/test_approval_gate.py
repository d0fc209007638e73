"""The approval gate: modes, plans, stops, ends of episodes, and random stories."""

import itertools
import math
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bbllm.arm.safety.approval_gate import ApprovalGate, plan_request
from bbllm.core.approval import (
    Answer,
    ApprovalMode,
    ApprovalRequest,
    Provenance,
    RequestKind,
)
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import CancelledError, SceneError
from bbllm.core.text import hidden_fault
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Plan,
    PlanStep,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Status,
)
from bbllm.skills.catalog import SKILLS
from bbllm.skills.constraints import parse_never
from tests.skills.declared import SWEEP

YES = Answer(granted=True, by='ann')
NO = Answer(granted=False, reason='the red cube is glued', by='ann')
STOPPED = 'the robot was stopped since it was approved'
STEPS = ('pick up the red cube', 'place it on location_A', 'return to base')
CALLS = (
    SkillCall('pick', ('red_cube',)),
    SkillCall('place', ('location_A',)),
    SkillCall('return_to_base'),
)


def entity(name: str, kind: Kind, x: float) -> SceneObject:
    return SceneObject(name=name, kind=kind, pose=Pose(position_m=(x, 0.0, 0.02)))


SCENE = Scene(
    objects=(
        entity('red_cube', Kind.CUBE, 0.5),
        entity('blue_cube', Kind.CUBE, 0.6),
        entity('location_A', Kind.LOCATION, 0.4),
    ),
    skills=SKILLS,
    facts=(),
    stamp_s=0.0,
)
HELD = replace(SCENE, facts=(Fact('red_cube', 'held_by', 'hand'),))
"""The same scene, with the red cube in the hand."""


@dataclass
class Person:
    """Answers what is asked, in turn; whoever asks more often than expected fails."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[ApprovalRequest] = field(default_factory=list)

    def __call__(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        self.asked.append(request)
        cancel.raise_if_cancelled()
        return self.answers.pop(0)

    @property
    def kinds(self) -> list[RequestKind]:
        return [request.kind for request in self.asked]


def gate(person: Person, mode: str = 'plan', scene: Scene = SCENE) -> ApprovalGate:
    return ApprovalGate(person, lambda: scene, mode=ApprovalMode(mode))


def asking(
    *answers: Answer, mode: str = 'plan', scene: Scene = SCENE
) -> tuple[Person, ApprovalGate]:
    person = Person([*answers])
    return person, gate(person, mode, scene)


def of_plan(
    step: int, steps: tuple[str, ...] = STEPS, episode: str = 'e', revision: int = 0
) -> Provenance:
    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))
    return Provenance(episode_id=episode, revision=revision, plan=plan, step=step)


def ended(call: SkillCall, status: Status, code: Code = Code.NONE) -> Outcome:
    return Outcome(call=call, status=status, code=code)


def run(
    gate: ApprovalGate, step: int, status: Status = Status.SUCCEEDED, **where: int
) -> Outcome | None:
    """Ask for the call of a step and, where it is permitted, end it so."""
    gate.begin(of_plan(step, **where))
    refusal = gate.permit(CALLS[step], of_plan(step, **where), CancelToken())
    gate.settle(refusal or ended(CALLS[step], status))
    return refusal


CALLS_OF_MODES = [
    ('plan', SkillCall('pick', ('blue_cube',)), 'its step does not name blue_cube'),
    ('step', SkillCall('pick', ('red_cube',)), ''),
    ('risky', SkillCall('place', ('blue_cube',)), 'it puts red_cube on top of blue_cube'),
]
"""A call of each mode that is asked for by itself, and why."""


def scene_of_mode(mode: str) -> Scene:
    """Return the scene in which the call of a mode is asked for by itself."""
    return HELD if mode == 'risky' else SCENE


def test_a_plan_is_asked_for_once_and_its_steps_then_go_on() -> None:
    person, here = asking(YES)

    assert [run(here, step) for step in range(3)] == [None, None, None]

    (asked,) = person.asked
    assert asked.kind is RequestKind.PLAN
    assert (asked.steps, asked.revision, asked.episode_id) == (STEPS, 0, 'e')
    assert asked.lines == tuple(f'{i}: {text}' for i, text in enumerate(STEPS))
    assert asked.goal == ()


def test_what_is_checked_and_left_out_is_part_of_what_is_approved() -> None:
    plain = of_plan(0)
    stated = replace(plain, goal=('red_cube is on blue_cube',), rest='the moon is far')

    asked = plan_request(stated, '')

    assert (asked.goal, asked.rest) == (stated.goal, stated.rest)
    assert asked.lines[len(STEPS) :] == (
        'the planner states: left undone: the moon is far',
        'the planner states: checked at the end: red_cube is on blue_cube',
    )
    assert len({plain.hash, stated.hash, replace(stated, rest='').hash}) == 3


def test_a_plan_is_shown_with_the_constraints_that_are_in_force() -> None:
    person = Person([NO])
    never = (parse_never('touch the blue cube'),)
    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, never=never)

    run(here, 0)

    (asked,) = person.asked
    assert asked.steps == STEPS
    assert asked.lines[-1] == 'enforced: never touch the blue cube (blue_cube)'


@pytest.mark.parametrize(
    ('answer', 'message'),
    [
        (NO, 'A person did not approve this plan: the red cube is glued.'),
        (
            Answer(granted=False, reason='nobody answered within 300 s'),
            'A person has to approve this plan, and nobody answered within 300 s.',
        ),
    ],
)
def test_a_denial_or_no_answer_holds_for_all_steps_of_the_plan_with_its_reason(
    answer: Answer, message: str
) -> None:
    person, here = asking(answer)

    refusals = [run(here, step) for step in range(3)]

    assert len(person.asked) == 1
    for refusal in refusals:
        assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
        assert refusal.message == message


def test_a_repaired_plan_another_episode_and_a_plan_that_was_forgotten_are_asked_for_anew() -> (
    None
):
    person, here = asking(YES, YES, YES, YES)

    for episode, revision in (('e', 0), ('e', 1), ('f', 0), ('e', 1)):
        plan = of_plan(0, episode=episode, revision=revision)
        assert here.permit(CALLS[0], plan, CancelToken()) is None

    assert person.kinds == [RequestKind.PLAN] * 4
    assert len({request.hash for request in person.asked}) == 4


@pytest.mark.parametrize(
    'call',
    [SkillCall('pick', ('red_cube',)), SkillCall('return_to_base'), SkillCall('open_gripper')],
    ids=str,
)
def test_a_call_without_a_plan_is_refused_at_once_with_what_would_work(call: SkillCall) -> None:
    person = Person()

    refusal = gate(person).permit(call, None, CancelToken())

    assert refusal.code is Code.NOT_APPROVED
    assert 'bbllm run' in refusal.message
    assert 'approval:=step' in refusal.message
    assert person.asked == []


@pytest.mark.parametrize('mode', ['plan', 'risky', 'none'])
def test_waiting_needs_nobody(mode: str) -> None:
    assert gate(Person(), mode).permit(SkillCall('wait', ('2',)), None, CancelToken()) is None


def test_a_goal_with_other_steps_under_an_approved_revision_is_refused() -> None:
    person, here = asking(YES)
    run(here, 0)

    forged = of_plan(1, steps=(STEPS[0], 'place it on the blue cube', STEPS[2]))
    refusal = here.permit(SkillCall('place', ('blue_cube',)), forged, CancelToken())

    assert refusal.code is Code.NOT_APPROVED
    assert 'revision 0 of this episode is another plan' in refusal.message
    assert len(person.asked) == 1
    assert run(here, 1) is None


def test_a_plan_that_was_replaced_is_refused() -> None:
    person, here = asking(YES, YES)
    run(here, 0)
    run(here, 0, revision=1)

    refusal = run(here, 1, revision=0)

    assert 'was replaced by revision 1' in refusal.message
    assert len(person.asked) == 2


@pytest.mark.parametrize(
    ('step', 'indexes', 'message'),
    [
        (-1, (0, 1, 2), 'names step -1'),
        (3, (0, 1, 2), 'names step 3'),
        (0, (0, 0, 1), 'numbered'),
        (0, (1, 2, 3), 'numbered'),
        (0, (0, 2, 1), 'numbered'),
        (0, (0, 1, 3), 'numbered'),
    ],
)
def test_a_step_that_the_plan_does_not_have_and_a_plan_out_of_order_are_refused(
    step: int, indexes: tuple[int, ...], message: str
) -> None:
    steps = tuple(PlanStep(i, text) for i, text in zip(indexes, STEPS, strict=True))
    odd = replace(of_plan(step), plan=Plan(steps))

    assert message in gate(Person()).permit(CALLS[0], odd, CancelToken()).message


@pytest.mark.parametrize(
    ('story', 'asked', 'reason'),
    [
        ([(0, Status.REJECTED), (0, Status.SUCCEEDED)], 0, ''),
        ([(0, Status.SUCCEEDED), (0, Status.SUCCEEDED)], 1, 'step 0 was tried already'),
        ([(0, Status.FAILED), (0, Status.SUCCEEDED)], 1, 'step 0 was tried already'),
        ([(0, None), (0, None)], 1, 'step 0 was tried already'),
        ([(0, Status.FAILED), (1, Status.SUCCEEDED), (2, None)], 2, 'step 0 of the plan failed'),
        ([(0, Status.SUCCEEDED), (2, Status.SUCCEEDED), (1, None)], 1, 'comes after step 2'),
    ],
)
def test_a_step_that_is_not_the_next_of_its_plan_is_asked_for_by_itself(
    story: list[tuple[int, Status | None]], asked: int, reason: str
) -> None:
    person, here = asking(YES, YES, YES)

    for step, status in story:
        assert here.permit(CALLS[step], of_plan(step), CancelToken()) is None
        if status is not None:
            here.settle(ended(CALLS[step], status))

    assert person.kinds == [RequestKind.PLAN] + [RequestKind.CALL] * asked
    assert reason in person.asked[min(asked, 1)].reason


def test_a_call_that_fails_before_it_was_permitted_fails_its_step_and_gives_none_back() -> None:
    person, here = asking(YES, YES, NO)
    run(here, 0)

    # What a robot does that is found stopped before the next call.
    here.begin(of_plan(1))
    here.settle(ended(CALLS[1], Status.FAILED, Code.REFLEX))
    run(here, 2)
    run(here, 0)

    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL, RequestKind.CALL]
    assert 'step 1 of the plan failed' in person.asked[1].reason
    assert 'step 0 was tried already' in person.asked[2].reason


def test_a_call_beyond_the_words_of_its_step_is_asked_for_by_itself() -> None:
    person, here = asking(YES, NO, YES)
    other = SkillCall('pick', ('Blue cube',))

    refusal = here.permit(other, of_plan(0), CancelToken())

    assert refusal.message == ('A person did not approve pick(blue_cube): the red cube is glued.')
    asked = person.asked[1]
    assert asked.kind is RequestKind.CALL
    assert asked.reason == 'its step does not name blue_cube'
    assert asked.lines == ('pick(blue_cube)', 'for step 0: pick up the red cube')
    assert here.permit(other, of_plan(0), CancelToken()) is None


FORBIDDEN = [
    ('leave blue_cube where it is', 'leave'),
    ('never touch the blue cube, it is fragile', 'never'),
    ('check that blue_cube is not moved', 'not'),
]
"""Steps that forbid a call which names the same object, and the word that shows it."""


@pytest.mark.parametrize(('step', 'word'), FORBIDDEN)
def test_an_approved_step_that_forbids_a_call_does_not_cover_it(step: str, word: str) -> None:
    person, here = asking(YES, NO)
    call = SkillCall('pick', ('blue_cube',))

    refusal = here.permit(call, of_plan(0, (step,)), CancelToken())

    assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL]
    assert person.asked[1].reason.startswith(f'its step contains the word {word},')


def test_an_approved_step_that_waits_does_not_cover_a_motion() -> None:
    person, here = asking(YES, NO)
    step = 'wait for the person beside red_cube'

    assert here.permit(CALLS[0], of_plan(0, (step,)), CancelToken()) is not None
    assert person.asked[1].reason == 'its step asks for wait, not pick'


def test_a_call_that_cannot_be_is_refused_without_troubling_anybody_for_it() -> None:
    person, here = asking(YES)

    refusal = here.permit(SkillCall('pick', ('red_cub',)), of_plan(0), CancelToken())

    assert refusal.code is Code.UNKNOWN_OBJECT
    assert person.kinds == [RequestKind.PLAN]
    assert run(here, 0) is None


@pytest.mark.parametrize(
    ('reported', 'code'),
    [('The scene is stale: 3 s.', Code.STALE_SCENE), ('The scene is empty: x', Code.EMPTY_SCENE)],
)
def test_without_a_scene_nothing_is_permitted(reported: str, code: Code) -> None:
    def observe() -> Scene:
        raise SceneError(reported)

    here = ApprovalGate(Person([YES]), observe, mode=ApprovalMode.PLAN)

    refusal = here.permit(CALLS[0], of_plan(0), CancelToken())

    assert (refusal.status, refusal.code) == (Status.REJECTED, code)


def test_a_wait_that_is_ended_neither_grants_nor_denies() -> None:
    person, here = asking(YES, YES)

    def cancelled() -> None:
        raise CancelledError('It was cancelled.')

    with pytest.raises(CancelledError):
        here.permit(CALLS[0], of_plan(0), CancelToken(cancelled))

    assert run(here, 0) is None
    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]


def test_in_mode_none_no_person_is_asked_and_no_scene_is_observed() -> None:
    def observe() -> Scene:
        raise AssertionError('the scene was asked for')

    here = ApprovalGate(Person(), observe, mode=ApprovalMode.NONE)

    assert all(here.permit(call, None, CancelToken()) is None for call in CALLS)


def test_in_mode_step_every_call_is_asked_for_with_or_without_a_plan() -> None:
    person, here = asking(YES, NO, YES, YES, mode='step')

    assert run(here, 0) is None
    assert run(here, 0) is not None
    assert here.permit(SkillCall('wait', ('2',)), None, CancelToken()) is None
    assert here.permit(CALLS[2], None, CancelToken()) is None

    assert person.kinds == [RequestKind.CALL] * 4
    assert len({request.hash for request in person.asked}) == 4


def test_in_mode_risky_only_risks_are_asked_for_with_the_reason() -> None:
    person, here = asking(NO, mode='risky', scene=HELD)

    assert here.permit(SkillCall('place', ('location_A',)), None, CancelToken()) is None
    refusal = here.permit(SkillCall('place', ('blue_cube',)), None, CancelToken())

    assert refusal.code is Code.NOT_APPROVED
    assert [request.reason for request in person.asked] == ['it puts red_cube on top of blue_cube']


@pytest.mark.parametrize('code', [Code.REFLEX, Code.USER_STOP, Code.JOINT_LIMIT])
def test_in_mode_risky_all_is_risky_after_a_stop_until_the_episode_ends(code: Code) -> None:
    person, here = asking(YES, YES, mode='risky')

    assert here.permit(CALLS[2], of_plan(2), CancelToken()) is None
    here.settle(ended(CALLS[2], Status.FAILED, code))
    assert here.permit(CALLS[2], of_plan(2), CancelToken()) is None
    assert here.permit(CALLS[2], None, CancelToken()) is None
    assert here.permit(CALLS[2], of_plan(2, revision=1), CancelToken()) is None
    assert here.permit(CALLS[2], of_plan(2, episode='f'), CancelToken()) is None

    assert [request.reason for request in person.asked] == [
        'the robot had stopped in this episode'
    ] * 2


@pytest.mark.parametrize('mode', list(ApprovalMode))
def test_calls_of_an_episode_that_has_ended_are_refused_and_those_of_no_other(
    mode: ApprovalMode,
) -> None:
    person = Person([YES] * 4)
    here = gate(person, mode.value)
    run(here, 0)

    here.end_episode('f')
    assert run(here, 1) is None
    asked = len(person.asked)
    here.end_episode('e')
    refusal = run(here, 2)

    assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert refusal.message == 'return_to_base() was not tried: its episode has ended.'
    assert len(person.asked) == asked
    assert here.permit(SkillCall('wait', ('2',)), of_plan(0, episode='g'), CancelToken()) is None


@pytest.mark.parametrize(('mode', 'call', 'why'), CALLS_OF_MODES)
def test_a_yes_does_nothing_for_an_episode_that_has_ended_meanwhile(
    mode: str, call: SkillCall, why: str
) -> None:
    asked: list[RequestKind] = []

    def person(request: ApprovalRequest, cancel: CancelToken) -> Answer:
        asked.append(request.kind)
        if request.kind is RequestKind.CALL:
            here.end_episode('e')
        return YES if asked.count(RequestKind.CALL) < 2 else NO

    here = ApprovalGate(person, lambda: scene_of_mode(mode), mode=ApprovalMode(mode))
    refusal = here.permit(call, of_plan(0), CancelToken())

    assert refusal.message.endswith('its episode has ended.')
    assert asked.count(RequestKind.CALL) == 1


def test_a_yes_to_a_plan_does_nothing_when_its_episode_has_ended_meanwhile() -> None:
    asked: list[RequestKind] = []

    def person(request: ApprovalRequest, cancel: CancelToken) -> Answer:
        asked.append(request.kind)
        here.end_episode('e')
        return YES if len(asked) == 1 else NO

    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN)
    refusals = [run(here, 0), run(here, 0)]

    assert {refusal and refusal.message for refusal in refusals} == {
        'pick(red_cube) was not tried: its episode has ended.'
    }
    assert asked == [RequestKind.PLAN]


def test_an_episode_that_begins_anew_under_its_old_id_is_asked_for_anew() -> None:
    person, here = asking(YES, YES)
    run(here, 0)
    here.end_episode('e')

    here.begin_episode('e')

    assert run(here, 1) is None
    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]
    assert person.asked[1].reason == 'its episode has ended since it was approved'
    assert person.asked[0].hash != person.asked[1].hash


@pytest.mark.parametrize(('idle_s', 'asked'), [(299.0, 1), (301.0, 2)])
def test_what_was_approved_ends_when_nothing_of_it_is_done_for_long(
    idle_s: float, asked: int
) -> None:
    person = Person([YES, YES])
    clock = [0.0]
    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, clock=lambda: clock[0])

    for step in range(2):
        run(here, step)
        clock[0] += idle_s if step else 250.0
    run(here, 2)

    assert len(person.asked) == asked
    assert person.asked[-1].reason == ('' if asked == 1 else 'nothing of it was done for 300 s')


def test_a_long_call_that_needs_nobody_keeps_its_plan_alive() -> None:
    person = Person([YES])
    clock = [0.0]
    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, clock=lambda: clock[0])
    run(here, 0)

    for _ in range(3):
        here.begin(of_plan(1))
        clock[0] += 200.0
        here.settle(ended(SkillCall('wait', ('60',)), Status.SUCCEEDED))

    assert run(here, 2) is None
    assert len(person.asked) == 1


def test_episode_that_begins_ends_the_one_before_and_what_was_approved_in_it() -> None:
    here = gate(Person([YES]))
    here.begin_episode('e')
    assert run(here, 0) is None

    here.begin_episode('f')

    assert here.running == 'f'
    assert 'e' in here.ended
    refusal = run(here, 1)
    assert refusal.message.endswith('was not tried: its episode has ended.')


@pytest.mark.parametrize(
    ('episode', 'brain', 'by'),
    [
        ('e', 'gpt-4o', ' by gpt-4o'),
        ('e', 'offline', ' by offline (a deterministic stand-in, not a language model)'),
        ('e', '', ''),
        ('f', 'gpt-4o', ''),
    ],
)
def test_question_about_a_plan_names_the_model_that_wrote_it_and_marks_a_stand_in(
    episode: str, brain: str, by: str
) -> None:
    person, here = asking(YES)
    here.begin_episode(episode, brain)

    run(here, 0)

    assert person.asked[0].title == f'The plan of 3 steps{by}. May it be done?'


@pytest.mark.parametrize('code', [Code.USER_STOP, Code.NEEDS_PERSON])
def test_after_a_user_stop_the_same_plan_is_asked_for_again(code: Code) -> None:
    person, here = asking(YES, YES)
    run(here, 0)
    here.permit(CALLS[1], of_plan(1), CancelToken())
    here.settle(ended(CALLS[1], Status.FAILED, code))

    run(here, 2)

    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]
    assert person.asked[1].reason == 'the robot was stopped since it was approved'


def test_a_person_is_asked_before_a_robot_that_stopped_goes_on_and_permits_are_gone() -> None:
    person, here = asking(YES, YES, NO, YES)
    run(here, 0)

    assert here.resume('the user stop was pressed.', CancelToken()) is True
    assert here.resume('the user stop was pressed.', CancelToken()) is False
    run(here, 1)

    assert person.kinds == [RequestKind.PLAN, *[RequestKind.RESUME] * 2, RequestKind.PLAN]
    assert person.asked[1].lines == ('the user stop was pressed.',)
    assert person.asked[1].hash != person.asked[2].hash


@pytest.mark.parametrize('mode', list(ApprovalMode))
def test_in_every_mode_a_person_decides_whether_a_stopped_robot_goes_on(
    mode: ApprovalMode,
) -> None:
    person = Person([NO])

    assert gate(person, mode.value).resume('communication was lost.', CancelToken()) is False
    assert person.kinds == [RequestKind.RESUME]


def test_after_a_stop_between_two_calls_that_others_recovered_the_plan_is_asked_for_again() -> (
    None
):
    person = Person([YES, YES])
    stops = [1]
    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, stops=lambda: stops[0])
    run(here, 0)

    stops[0] += 1
    allowed = [run(here, 1), run(here, 2)]

    assert allowed == [None, None]
    assert person.kinds == [RequestKind.PLAN, RequestKind.PLAN]
    assert person.asked[1].reason == 'the robot was stopped since it was approved'


@pytest.mark.parametrize('why', [STOPPED, 'brain_planner has gone since it was approved'])
def test_a_yes_to_a_plan_during_which_it_was_stopped_or_revoked_is_asked_for_again(
    why: str,
) -> None:
    stops = [0]
    asked = []

    def person(request: ApprovalRequest, cancel: CancelToken) -> Answer:
        asked.append(request.reason)
        if len(asked) > 1:
            return NO
        if why == STOPPED:
            stops[0] += 1
        else:
            here.revoke(why)
        return YES

    here = ApprovalGate(person, lambda: SCENE, mode=ApprovalMode.PLAN, stops=lambda: stops[0])

    assert run(here, 0) is not None
    assert asked == ['', why]


class StoppedWhileAsked:
    """
    A person who allows plans and a call; while that is allowed, the robot is stopped, or all is
    revoked for a reason.
    """

    def __init__(self, mode: str, *, again: Answer, revoked: str = '') -> None:
        self.asked: list[ApprovalRequest] = []
        """About calls."""
        self._again = again
        self._revoked = revoked
        self._stops = 0
        self.gate = ApprovalGate(
            self._answer,
            lambda: scene_of_mode(mode),
            mode=ApprovalMode(mode),
            stops=lambda: self._stops,
        )

    def _answer(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        if request.kind is not RequestKind.CALL:
            return YES
        self.asked.append(request)
        if len(self.asked) > 1:
            return self._again
        if self._revoked:
            self.gate.revoke(self._revoked)
        else:
            self._stops += 1
        return YES


@pytest.mark.parametrize('again', [NO, YES])
@pytest.mark.parametrize('revoked', ['', 'its episode has lost its client'])
@pytest.mark.parametrize(('mode', 'call', 'why'), CALLS_OF_MODES)
def test_a_yes_to_a_call_during_which_the_robot_was_stopped_or_all_was_revoked_is_asked_for_again(
    mode: str, call: SkillCall, why: str, revoked: str, again: Answer
) -> None:
    person = StoppedWhileAsked(mode, again=again, revoked=revoked)

    refusal = person.gate.permit(call, of_plan(0), CancelToken())

    assert (refusal and refusal.code) == (None if again.granted else Code.NOT_APPROVED)
    stopped = revoked or STOPPED
    first, second = person.asked
    assert [first.reason, second.reason] == [why, f'{stopped}; {why}' if why else stopped]
    assert first.hash != second.hash


@pytest.mark.parametrize('why', [STOPPED, 'it has lost'])
def test_a_call_is_asked_for_where_the_plan_was_revoked_while_the_scene_was_waited_for(
    why: str,
) -> None:
    person = Person([YES, NO])
    stops = [0]
    turn = itertools.count(1)

    def observe() -> Scene:
        if next(turn) == 3:  # neither for the question about the plan nor for its answer
            if why == 'it has lost':
                here.revoke(why)
            else:
                stops[0] += 1
        return SCENE

    here = ApprovalGate(person, observe, mode=ApprovalMode.PLAN, stops=lambda: stops[0])

    assert run(here, 0) is not None
    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL]
    assert person.asked[1].reason == why


def test_a_plan_that_is_asked_for_once_more_bears_another_name() -> None:
    person, here = asking(YES, YES, YES, YES)

    run(here, 0)
    here.revoke('the robot was stopped')
    run(here, 1)
    here.revoke('the robot was stopped')
    run(here, 2)
    run(here, 0, revision=1)

    assert len({request.hash for request in person.asked}) == 4


def test_a_yes_to_a_plan_is_worth_nothing_to_the_next_process() -> None:
    (first, before), (second, after) = asking(YES), asking(YES)
    run(before, 0)
    run(after, 0)

    assert first.asked[0].lines == second.asked[0].lines
    assert first.asked[0].hash != second.asked[0].hash


def shifted(name: str, off_m: float, scene: Scene = SCENE) -> Scene:
    """Return a scene in which one object is elsewhere; without it where *off_m* is infinite."""

    def at_its_place(item: SceneObject) -> SceneObject:
        x, y, z = item.pose.position_m
        return (
            replace(item, pose=Pose(position_m=(x, y + off_m, z))) if item.name == name else item
        )

    kept = (item for item in scene.objects if item.name != name or math.isfinite(off_m))
    return replace(scene, objects=tuple(map(at_its_place, kept)))


@dataclass
class Mover:
    """Approves everything, and moves an object while the first question of a kind waits."""

    kind: RequestKind
    name: str
    off_m: float
    scene: Scene = SCENE
    asked: list[ApprovalRequest] = field(default_factory=list)

    def __call__(self, request: ApprovalRequest, cancel: CancelToken) -> Answer:
        if request.kind is self.kind:
            self.asked.append(request)
            if len(self.asked) == 1:
                self.scene = shifted(self.name, self.off_m, self.scene)
        return YES

    def gate(self, mode: str = 'plan') -> ApprovalGate:
        return ApprovalGate(self, lambda: self.scene, mode=ApprovalMode(mode))


@pytest.mark.parametrize(
    ('name', 'off_m', 'reason'),
    [
        ('red_cube', 0.29, 'moved since the last question: red_cube by 29 cm'),
        ('location_A', -0.031, 'moved since the last question: location_A by 3 cm'),
        ('location_A', math.inf, 'no longer seen since the last question: location_A'),
    ],
)
def test_a_plan_is_asked_for_again_where_what_it_names_was_moved_before_the_yes(
    name: str, off_m: float, reason: str
) -> None:
    person = Mover(RequestKind.PLAN, name, off_m)

    assert run(person.gate(), 0) is None

    assert [request.reason for request in person.asked] == ['', reason]
    assert person.asked[0].hash != person.asked[1].hash


@pytest.mark.parametrize(('name', 'off_m'), [('red_cube', 0.029), ('blue_cube', 0.29)])
def test_a_plan_is_not_asked_for_again_for_little_or_for_what_it_does_not_name(
    name: str, off_m: float
) -> None:
    person = Mover(RequestKind.PLAN, name, off_m)

    assert run(person.gate(), 0) is None
    assert len(person.asked) == 1


def test_what_the_plan_itself_has_moved_asks_for_nothing() -> None:
    person = Mover(RequestKind.PLAN, 'red_cube', 0.0)
    here = person.gate()

    run(here, 0)
    person.scene = shifted('red_cube', 0.3, HELD)
    allowed = [run(here, 1), run(here, 2)]

    assert allowed == [None, None]
    assert len(person.asked) == 1


def test_a_call_is_asked_for_again_where_what_it_names_was_moved_before_the_yes() -> None:
    person = Mover(RequestKind.CALL, 'red_cube', 0.29)

    assert run(person.gate('step'), 0) is None

    assert [request.reason for request in person.asked] == [
        '',
        'moved since the last question: red_cube by 29 cm',
    ]


def test_a_plan_is_asked_for_again_where_nothing_was_seen_when_it_was_approved() -> None:
    person = Person([YES, YES])
    turn = itertools.count(1)

    def observe() -> Scene:
        if next(turn) == 2:
            raise SceneError('The scene is stale: 3 s.')
        return SCENE

    here = ApprovalGate(person, observe, mode=ApprovalMode.PLAN)

    assert run(here, 0) is None
    assert person.asked[1].reason == 'what it names could not be seen when it was approved last'


def test_a_user_stop_does_not_lift_a_denial() -> None:
    person, here = asking(NO)
    run(here, 0)

    here.revoke('the robot was stopped')

    assert run(here, 0) is not None
    assert len(person.asked) == 1


PAINTED = 'throw knife\x1b[1A\x1b[2K\r  1: place red_cube'


@pytest.mark.parametrize('mode', ['plan', 'step', 'risky', 'none'])
@pytest.mark.parametrize(
    ('text', 'named'),
    [
        (PAINTED, 'U+001B'),
        ('pick red_cube\n1: return to base', 'U+000A'),
        ('pick \u202eebuc_der', 'U+202E (RIGHT-TO-LEFT OVERRIDE)'),
        ('pick red\u200b_cube', 'U+200B (ZERO WIDTH SPACE)'),
        ('pick red\u200d_cube', 'U+200D'),
        ('pick \x9b2Jred_cube', 'U+009B'),
    ],
)
def test_a_plan_with_a_character_that_nobody_sees_is_refused_and_names_it(
    mode: str, text: str, named: str
) -> None:
    person = Person([YES])

    refusal = gate(person, mode).permit(CALLS[0], of_plan(0, (STEPS[0], text)), CancelToken())

    assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert 'step 1 of its plan contains the character' in refusal.message
    assert named in refusal.message
    assert hidden_fault(refusal.message) == ''
    assert not person.asked


@pytest.mark.parametrize('mode', ['plan', 'step', 'risky', 'none'])
@pytest.mark.parametrize(
    ('steps', 'named'),
    [
        (('pick red_cube',) * 201, 'its plan has 201 steps, and 200 at most'),
        ((*STEPS, 'x' * 301), 'step 3 of its plan has 301 characters, and 300 at most'),
    ],
)
def test_a_plan_that_nobody_reads_to_its_end_is_refused(
    mode: str, steps: tuple[str, ...], named: str
) -> None:
    person = Person([YES])

    refusal = gate(person, mode).permit(CALLS[0], of_plan(0, steps), CancelToken())

    assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert named in refusal.message
    assert not person.asked


def test_a_long_plan_is_asked_for() -> None:
    person = Person([YES])
    steps = ('pick red_cube', *['x' * 300] * 199)

    assert gate(person).permit(CALLS[0], of_plan(0, steps), CancelToken()) is None
    assert person.asked[0].steps == steps


def test_spaces_and_statements_without_end_do_not_hide_what_is_asked() -> None:
    person = Person([NO])
    plan = replace(
        of_plan(0, (f'pick{" " * 250}red_cube',)),
        goal=(f'a is{" " * 200}on b',),
        rest='r' * 900,
        rehearsal=('never: touch red_cube (checked)\x1b[2J',) * 500,
    )

    gate(person).permit(CALLS[0], plan, CancelToken())

    (asked,) = person.asked
    assert asked.steps == ('pick red_cube',)
    assert asked.goal == ('a is on b',)
    assert len(asked.rest) < 310
    assert len(asked.rehearsal) == 200
    assert not any(map(hidden_fault, asked.lines))
    assert asked.lines[-1].startswith('the planner states: rehearsed: never: touch red_cube')


def test_an_episode_id_with_an_escape_sequence_is_refused() -> None:
    person = Person([YES])

    refusal = gate(person).permit(CALLS[0], of_plan(0, episode='e\x1b[2J'), CancelToken())

    assert 'its episode id contains the character U+001B' in refusal.message
    assert not person.asked


def test_plans_in_any_script_are_asked_for() -> None:
    steps = ('plocka röd_kub', '拿起红色方块', 'التقط المكعب الأحمر')
    person = Person([YES, YES])

    gate(person).permit(CALLS[0], of_plan(0, steps), CancelToken())

    assert person.asked[0].lines == tuple(f'{i}: {text}' for i, text in enumerate(steps))


def test_what_stopped_the_robot_is_asked_about_in_characters_that_are_seen() -> None:
    person = Person([YES])

    gate(person).resume(f'waiting for {SkillCall("pick", (PAINTED,))}', CancelToken())

    (asked,) = person.asked
    assert hidden_fault(asked.lines[0]) == ''
    assert '\\x1b[1A' in asked.lines[0]


moments = st.one_of(
    st.tuples(
        st.just('call'),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 2),
        st.sampled_from(list(Status)),
    ),
    st.sampled_from([('stop',), ('stop outside',), ('end',), ('begin',), ('idle',)]),
)
sayings = st.sampled_from(['yes', 'no', 'yes, but it was stopped', 'yes, but it was taken back'])


@given(st.lists(moments, max_size=30), st.lists(sayings, max_size=40))
@settings(deadline=None)
def test_no_call_is_ever_tried_that_no_person_has_allowed(
    story: list[tuple[object, ...]], wording: list[str]
) -> None:
    granted: set[str] = set()
    used: set[tuple[str, int]] = set()
    named_by_hash: set[str] = set()
    stops, clock = [0], [0.0]
    allowed_now = over = False
    where = of_plan(0)

    def person(request: ApprovalRequest, cancel: CancelToken) -> Answer:
        nonlocal allowed_now
        assert request.hash not in named_by_hash
        named_by_hash.add(request.hash)
        answer = wording.pop(0) if wording else 'no'
        if answer == 'yes, but it was stopped':
            stops[0] += 1
        elif answer == 'yes, but it was taken back':
            here.revoke('lost')
        if 'but' in answer:
            granted.clear()
        if request.kind is RequestKind.PLAN and answer == 'yes':
            granted.add(where.hash)
        if request.kind is RequestKind.CALL:
            allowed_now = answer == 'yes'
        return NO if answer == 'no' else YES

    here = ApprovalGate(
        person, lambda: SCENE,
        mode=ApprovalMode.PLAN, stops=lambda: stops[0], clock=lambda: clock[0],
    )  # fmt: skip
    for moment in story:
        if len(moment) == 1:
            match moment[0]:
                case 'stop':
                    here.revoke('stopped')
                case 'stop outside':
                    stops[0] += 1
                case 'end':
                    here.end_episode('e')
                    over = True
                case 'begin':
                    here.begin_episode('e')
                    over = False
                    continue  # told twice, it is the same episode, and what was allowed stays so
                case 'idle':
                    clock[0] += 1000.0
            granted.clear()
            continue
        _, step, named, revision, status = moment
        allowed_now = False
        where = of_plan(int(str(named)), revision=int(str(revision)))
        call = CALLS[int(str(step))]
        if here.permit(call, where, CancelToken()) is None:
            key = (where.hash, where.step)
            assert not over
            by_its_plan = where.hash in granted and step == named and key not in used
            assert allowed_now or by_its_plan
            if status is not Status.REJECTED:
                used.add(key)
            here.settle(ended(call, Status(status)))


def test_a_refusal_of_a_later_call_does_not_give_an_earlier_step_back() -> None:
    person, here = asking(YES, NO)
    run(here, 0)

    here.settle(ended(CALLS[1], Status.REJECTED))
    run(here, 0)

    assert 'step 0 was tried already' in person.asked[1].reason


def test_question_about_a_stopped_robot_bears_the_episode_whose_call_finds_it_so() -> None:
    person, here = asking(YES, NO)
    run(here, 0)

    here.begin(of_plan(0, episode='f'))
    here.resume('the user stop was pressed.', CancelToken())

    assert [request.episode_id for request in person.asked] == ['e', 'f']


def test_a_value_that_is_not_the_one_of_its_step_is_asked_for_by_itself() -> None:
    scene = replace(SCENE, skills=(SWEEP.signature,))
    steps = ('sweep the red cube 5 cm to the left', 'never sweep the blue cube 5 cm to the left')
    calls = (
        SkillCall('sweep', ('red_cube', 'left', '0.05')),
        SkillCall('sweep', ('blue_cube', 'left', '0.05')),
    )
    person, here = asking(YES, NO, scene=scene)

    permitted = here.permit(calls[0], of_plan(0, steps), CancelToken())
    here.settle(ended(calls[0], Status.SUCCEEDED))
    forbidden = here.permit(calls[1], of_plan(1, steps), CancelToken())

    assert permitted is None
    assert forbidden is not None and forbidden.code is Code.NOT_APPROVED
    assert person.kinds == [RequestKind.PLAN, RequestKind.CALL]
    assert 'contains the word never' in person.asked[1].reason
