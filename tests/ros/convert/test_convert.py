"""Records to messages and back, field by field, and constants that are twins of enums."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bbllm_interfaces.action import ExecuteSkill, RunTask
from bbllm_interfaces.msg import Approval, EpisodeEvent, ObjectState
from bbllm_interfaces.msg import SceneObject as SceneObjectMsg
from bbllm_interfaces.srv import GetScene, InjectFault, MapStep
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from bbllm.arm.controllers.trajectory_goal import goal_from_trajectory
from bbllm.arm.driver import FollowError, JointTrajectory, Tolerances
from bbllm.core.approval import Answer, ApprovalRequest, Provenance, RequestKind
from bbllm.core.errors import ApprovalError
from bbllm.core.events import (
    Ending,
    Episode,
    EpisodeStarted,
    Event,
    EventKind,
    Limits,
    ModelCall,
    PlanMade,
    PlanRehearsed,
    PromptText,
    RepairBegun,
    SceneRecorded,
    WarningRaised,
)
from bbllm.core.observation import observed
from bbllm.core.records import to_json
from bbllm.core.types import (
    Code,
    Kind,
    Outcome,
    Plan,
    PlanStep,
    Scene,
    SceneObject,
    SkillCall,
    Status,
    Task,
)
from bbllm.robots.fr3 import FR3
from bbllm.sim.faults import Fault
from bbllm_ros.convert import arm as convert_arm
from bbllm_ros.convert import records as convert
from bbllm_ros.convert.approval import (
    answer_from_request,
    answer_to_request,
    approval_from_msg,
    approval_to_msg,
    provenance_from_goal,
)
from bbllm_ros.convert.events import event_from_msg, event_to_msg, feedback_event
from bbllm_ros.nodes.body_mapper import error_code
from bbllm_ros.planner.ros_world import MAP_ERRORS
from tests.doubles.paper_world import PaperWorld
from tests.ros.any_records import any_of, objects, stamps, texts

pytestmark = pytest.mark.ros


@given(st.lists(objects, max_size=3).map(tuple), stamps)
def test_objects_survive_the_round_trip(items: tuple[SceneObject, ...], stamp_s: float) -> None:
    msg = convert.objects_to_msg(items, stamp_s)

    assert convert.objects_from_msg(msg) == items
    assert msg.header.frame_id == 'fr3_link0'


def test_episode_result_sums_up_the_episode() -> None:
    call = ModelCall(role='brain', model='m', prompt_tokens=5, completion_tokens=2)
    episode = Episode(
        id='e',
        task=Task('e', 'tidy up'),
        planner='brain_body',
        brain='m',
        body='m',
        ending=Ending.GAVE_UP,
        message='why',
        feedback_loops=2,
        steps=3,
        passed_steps=2,
        model_calls=(call, call),
        wall_s=4.0,
        robot_s=1.5,
    )

    result = convert.episode_to_result(episode)

    assert result == RunTask.Result(
        episode_id='e', ending=1, message='why', feedback_loops=2, steps=3, passed_steps=2,
        model_calls=2, prompt_tokens=10, completion_tokens=4, wall_s=4.0, robot_s=1.5,
    )  # fmt: skip


def test_unknown_numbers_of_a_newer_version_are_failures() -> None:
    call = SkillCall('pick', ('a',))

    outcome = convert.from_msg(Outcome, ExecuteSkill.Result(status=1, code=250), call=call)

    assert outcome.code is Code.INTERNAL
    assert convert_arm.follow_error(-77) is FollowError.INVALID_GOAL
    assert convert.from_msg(SceneObject, ObjectState(kind='sphere')).kind is Kind.OTHER


def test_orientation_of_zeros_is_upright() -> None:
    msg = SceneObjectMsg()
    msg.pose.orientation.w = 0.0
    assert convert.from_msg(SceneObject, msg).pose.quat_xyzw == (0.0, 0.0, 0.0, 1.0)


def constants(interface: type, prefix: str = '') -> dict[str, Any]:
    # rosidl's generated classes keep them as properties of their metaclass.
    return {
        name.removeprefix(prefix): getattr(interface, name)
        for name, value in vars(type(interface)).items()
        if isinstance(value, property) and name.isupper() and name.startswith(prefix)
        if not name.endswith('__DEFAULT')
    }


@pytest.mark.parametrize(
    ('found', 'enum'),
    [
        (constants(RunTask.Result), Ending),
        (constants(ExecuteSkill.Result, 'CODE_'), Code),
        (
            {
                name: value
                for name, value in constants(ExecuteSkill.Result).items()
                if not name.startswith('CODE_')
            },
            Status,
        ),
        (constants(SceneObjectMsg), Kind),
        (constants(Approval), RequestKind),
        (constants(EpisodeEvent), EventKind),
        (constants(InjectFault.Request), Fault),
        (constants(FollowJointTrajectory.Result), FollowError),
    ],
    ids=['ending', 'code', 'status', 'kind', 'request', 'event', 'fault', 'follow_error'],
)
def test_constants_of_the_interfaces_are_the_enums(found: dict[str, Any], enum: Any) -> None:
    assert found == {item.name: item.value for item in enum}


def test_codes_of_get_scene_are_those_of_execute_skill() -> None:
    known = constants(ExecuteSkill.Result, 'CODE_')

    assert {name: known[name] for name in constants(GetScene.Response)} == constants(
        GetScene.Response
    )


def test_every_error_of_map_step_is_raised_again_as_it_was() -> None:
    errors = {name: value for name, value in constants(MapStep.Response).items() if value}

    assert set(MAP_ERRORS) == set(errors.values())
    for code, kind in MAP_ERRORS.items():
        assert error_code(kind('why')) == code


def test_results_that_nobody_filled_in_are_failures() -> None:
    assert RunTask.Result().ending != RunTask.Result.FINISHED
    assert ExecuteSkill.Result().status != ExecuteSkill.Result.SUCCEEDED
    assert MapStep.Response().error != MapStep.Response.NONE
    assert GetScene.Response().code != GetScene.Response.NONE
    assert (RunTask.Goal().episode_id, RunTask.Goal().feedback_loops) == ('', -1)  # the defaults


sensed = any_of(
    Scene,
    objects=st.lists(objects, max_size=3, unique_by=lambda item: item.name).map(tuple),
    skills=st.just(()),
    facts=st.just(()),
).map(observed)
some = st.integers(1, 1000)
limits = any_of(
    Limits,
    **dict.fromkeys(('steps', 'model_calls', 'tokens'), st.none() | some),
    wall_s=st.none() | st.floats(1.0, 1e5),
)
words = st.from_regex(r'[a-z]{1,8}( [a-z]{1,8}){0,3}', fullmatch=True)
requests = any_of(
    ApprovalRequest,
    kind=st.sampled_from([kind for kind in RequestKind if kind is not RequestKind.NOTHING]),
    timeout_s=st.floats(1, 1e5),
    since_s=st.floats(1, 2**31 - 1).map(lambda t: round(t, 6)),
)
answers = any_of(Answer, reason=st.just('') | words, by=words)
SPECIAL: dict[EventKind, st.SearchStrategy[Any]] = {
    EventKind.STARTED: any_of(EpisodeStarted, episode_id=st.just('e'), limits=limits),
    EventKind.SENSED: sensed,
    EventKind.REHEARSAL: any_of(PlanRehearsed, index=st.integers(-1, 99)),
    EventKind.REPAIR: any_of(RepairBegun, loop=some),
    EventKind.APPROVAL: st.builds(Answer.event_about, answers, requests),
}
"""Kinds of events whose data is not any value of its types."""


def sent(event: Event) -> EpisodeEvent:
    """Return an event as a subscriber receives it."""
    return deserialize_message(serialize_message(event_to_msg(event, 'e')), EpisodeEvent)


def assert_survives(event: Event) -> None:
    back = event_from_msg(sent(event))

    assert (back.kind, back.stamp_s) == (event.kind, pytest.approx(event.stamp_s, abs=1e-8))
    assert_same(to_json(back.data), to_json(event.data))


def assert_same(back: Any, given: Any) -> None:
    """Compare JSON values; a number may differ by a nanosecond, since stamps have no more."""
    if isinstance(given, dict):
        assert back.keys() == given.keys()
        for key, value in given.items():
            assert_same(back[key], value)
    elif isinstance(given, list):
        assert len(back) == len(given)
        for one, other in zip(back, given, strict=True):
            assert_same(one, other)
    elif isinstance(given, float):
        assert back == pytest.approx(given, abs=1e-8)
    else:
        assert back == given


@pytest.mark.parametrize('kind', list(EventKind))
@given(data=st.data(), stamp_s=stamps)
def test_every_kind_survives_the_round_trip(
    kind: EventKind, data: st.DataObject, stamp_s: float
) -> None:
    drawn = SPECIAL[kind] if kind in SPECIAL else any_of(kind.record)
    event = Event(stamp_s, data.draw(drawn))

    assert_survives(event)


def test_events_have_only_the_hashes_of_prompts_and_replies_to_map_step_have_the_texts() -> None:
    prompt = (PromptText.of('user', 'pick it up'),)
    call = ModelCall(role='body', model='m', image_tokens=7, prompt=prompt)

    (in_event,) = sent(Event(0.0, call)).model_call
    in_reply = convert.to_msg(call)

    assert [(text.hash, text.text) for text in in_event.prompt] == [(call.prompt[0].hash, '')]
    assert convert.from_msg(ModelCall, in_reply).prompt[0].text == 'pick it up'
    assert convert.from_msg(ModelCall, in_reply).image_tokens == in_event.image_tokens == 7


def test_a_stamp_of_today_survives_to_the_last_bit() -> None:
    for stamp_s in (1795367923.1234567, 1795367923.9999998, 0.1, 12.5):
        event = Event(stamp_s, WarningRaised(text='careful'))

        assert event_from_msg(sent(event)).stamp_s == stamp_s


def test_feedback_has_of_a_scene_only_its_header() -> None:
    scene = PaperWorld('tabletop').observe()
    event = Event(5.0, SceneRecorded('before', scene))

    whole = event_to_msg(event, 'e', 7.0)
    short = feedback_event(whole)

    assert len(serialize_message(whole)) > 4000
    assert len(serialize_message(short)) < 500
    assert short.scene[0].scene.header == whole.scene[0].scene.header
    assert (short.scene[0].moment, short.text) == ('before', whole.text)
    assert (short.header.stamp.sec, short.wall_stamp.sec, short.episode_id) == (7, 5, 'e')
    other = event_to_msg(Event(5.0, WarningRaised(text='careful')), 'e')
    assert feedback_event(other) is other


def test_an_event_without_its_payload_or_of_no_known_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="'outcome' has its data in 'outcome'"):
        event_from_msg(EpisodeEvent(kind=EpisodeEvent.OUTCOME))
    with pytest.raises(ValueError, match='of another version'):
        event_from_msg(EpisodeEvent(kind='of another version'))


def test_trajectory_reaches_the_controller_as_it_was_planned() -> None:
    rng = np.random.default_rng(1)
    position, velocity, acceleration = (rng.normal(size=(4, 7)) for _ in range(3))
    velocity[-1] = acceleration[-1] = 0.0
    trajectory = JointTrajectory(
        time_s=np.array([0.0, 0.1, 0.25, 1.5]),
        position_rad=position,
        velocity_rad_s=velocity,
        acceleration_rad_s2=acceleration,
    )
    tolerances = Tolerances(path_rad=0.2, goal_rad=0.03, goal_time_s=0.5)

    msg = convert_arm.trajectory_to_goal(trajectory, tolerances)
    record = convert_arm.goal_to_record(msg, lambda stamp_s: stamp_s)

    wanted = goal_from_trajectory(FR3, trajectory, tolerances)
    assert record.joint_names == FR3.joints
    assert record.time_s == pytest.approx(wanted.time_s)
    for name in ('position_rad', 'velocity_rad_s', 'acceleration_rad_s2'):
        np.testing.assert_array_equal(getattr(record, name), getattr(wanted, name))
    for name in ('path_rad', 'path_rad_s', 'goal_rad', 'goal_rad_s'):
        seen = getattr(record.tolerances, name)
        np.testing.assert_array_equal(seen, getattr(wanted.tolerances, name))
    assert (record.tolerances.goal_time_s, record.start_s) == (0.5, None)
    assert record.tolerances.legible


def test_joint_states_are_read_by_name_in_any_order() -> None:
    names = (*reversed(FR3.joints), 'other')
    values = np.arange(8.0)
    msg = convert_arm.joint_state_to_msg(names, values, values + 10, values, 1.5)

    position, velocity = convert_arm.arm_from_msg(msg) or pytest.fail('not read')

    np.testing.assert_array_equal(position, [6, 5, 4, 3, 2, 1, 0])
    np.testing.assert_array_equal(velocity, [16, 15, 14, 13, 12, 11, 10])
    msg.name[0] = 'unknown'
    assert convert_arm.arm_from_msg(msg) is None
    assert convert_arm.width_from_msg(msg) is None


@given(requests, st.booleans())
def test_request_survives_the_round_trip(request: ApprovalRequest, simulated: bool) -> None:
    msg = approval_to_msg(request, simulated, 5.0)
    back = approval_from_msg(msg)

    assert back is not None
    assert back.since_s == pytest.approx(request.since_s, abs=1e-6)
    assert replace(back, since_s=request.since_s) == request
    assert msg.hash == back.hash == request.hash
    assert msg.simulated is simulated
    assert msg.header.stamp.sec == 5
    assert approval_from_msg(approval_to_msg(None, simulated, 5.0)) is None


@pytest.mark.parametrize(
    ('field', 'value', 'why'),
    [
        ('steps', ['wave hello'], 'is not that of its words'),
        ('rehearsal', ['3 of 3 simulations succeeded'], 'is not that of its words'),
        ('revision', 7, 'is not that of its words'),
        ('hash', '', 'is not that of its words'),
        ('wall_stamp', Time(), 'has no time stamp'),
        ('kind', 'wish', "'wish'"),
    ],
)
def test_question_with_other_words_than_its_hash_or_without_a_time_is_not_shown(
    field: str, value: Any, why: str
) -> None:
    request = ApprovalRequest(
        kind=RequestKind.PLAN, title='The plan.', steps=('pick red_cube',), since_s=5.0
    )
    msg = approval_to_msg(request, True, 5.0)
    assert approval_from_msg(msg) == request

    setattr(msg, field, value)

    with pytest.raises(ApprovalError, match=why):
        approval_from_msg(msg)


@given(texts, answers)
def test_answer_survives_the_round_trip(hash: str, answer: Answer) -> None:
    msg = answer_to_request(hash, answer)

    assert msg.hash == hash
    assert answer_from_request(msg) == answer
    assert answer_from_request(answer_to_request('a', Answer(granted=True))).by == 'somebody'


@given(st.lists(texts, min_size=1, max_size=4), st.integers(0, 1000), st.integers(-1, 3))
def test_plan_of_an_event_and_of_a_goal_are_the_same(
    lines: list[str], revision: int, step: int
) -> None:
    reported = Event(1.0, PlanMade(steps=tuple(lines), start=0, revision=revision))

    goal = ExecuteSkill.Goal(plan=event_to_msg(reported, 'e').plan[0], step=step)

    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(lines)))
    wanted = Provenance(episode_id='e', revision=revision, plan=plan, step=step)
    found = provenance_from_goal(goal)
    assert found is not None
    assert (found, found.hash) == (wanted, wanted.hash)
    assert provenance_from_goal(ExecuteSkill.Goal()) is None  # of no plan
