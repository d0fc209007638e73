"""Records to messages and back, field by field, and constants that are twins of enums."""

from __future__ import annotations

from typing import Any

import pytest
from any_records import calls, model_calls, objects, outcomes, scenes, stamps, texts
from bbllm_interfaces.action import ExecuteSkill, RunTask
from bbllm_interfaces.msg import EpisodeEvent, ObjectState
from bbllm_interfaces.msg import SceneObject as SceneObjectMsg
from bbllm_interfaces.srv import GetScene, InjectFault, MapStep
from control_msgs.action import FollowJointTrajectory
from hypothesis import given
from hypothesis import strategies as st

from bbllm.arm.driver import FollowError
from bbllm.core.events import Ending, Episode, Event, EventKind, ModelCall, PlanMade
from bbllm.core.observation import Observed
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
from bbllm.ros.convert import arm as convert_arm
from bbllm.ros.convert import records as convert
from bbllm.ros.convert.events import event_to_msg
from bbllm.ros.nodes.body_mapper import error_code
from bbllm.ros.planner.ros_world import MAP_ERRORS
from bbllm.sim.faults import Fault

pytestmark = pytest.mark.ros


@given(scenes)
def test_scene_survives_the_round_trip(scene: Scene) -> None:
    back = convert.from_msg(Scene, convert.to_msg(scene))

    assert back.objects == scene.objects
    assert back.skills == scene.skills
    assert back.facts == scene.facts
    assert back.hand == scene.hand
    assert back.stamp_s == pytest.approx(scene.stamp_s, abs=1e-6)


@given(st.lists(objects, max_size=3).map(tuple), stamps)
def test_objects_survive_the_round_trip(items: tuple[SceneObject, ...], stamp_s: float) -> None:
    msg = convert.objects_to_msg(items, stamp_s)

    assert convert.objects_from_msg(msg) == items
    assert msg.header.frame_id == 'fr3_link0'


@given(calls)
def test_call_survives_the_round_trip(call: SkillCall) -> None:
    assert convert.from_msg(SkillCall, convert.to_msg(call)) == call


@given(st.lists(texts, max_size=4), st.integers(0, 3), stamps)
def test_plan_survives_the_round_trip(lines: list[str], start: int, stamp_s: float) -> None:
    plan = Plan(tuple(PlanStep(i, text) for i, text in enumerate(lines)))
    assert PlanMade.of(plan, start).plan == plan
    msg = convert.plan_to_msg(plan, start, 'id', stamp_s)
    assert convert.from_msg(Plan, msg) == plan
    assert (msg.start, msg.episode_id) == (start, 'id')


@given(model_calls, texts)
def test_model_call_survives_the_round_trip(call: ModelCall, text: str) -> None:
    msg = convert.to_msg(call, text=text)

    assert convert.from_msg(ModelCall, msg) == call
    assert msg.text == text


@given(outcomes, stamps)
def test_outcome_survives_the_round_trip(outcome: Outcome, stamp_s: float) -> None:
    result = convert.outcome_to_result(outcome, stamp_s)

    assert convert.from_msg(Outcome, result, call=outcome.call) == outcome
    assert convert.stamp_from_msg(result.stamp) == pytest.approx(stamp_s, abs=1e-6)


@given(stamps)
def test_stamps_keep_their_order(stamp_s: float) -> None:
    assert convert.stamp_from_msg(convert.stamp_to_msg(stamp_s)) == pytest.approx(
        stamp_s, abs=1e-6
    )


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

    values = {name: getattr(result, name) for name in result.get_fields_and_field_types()}
    assert values == {
        'episode_id': 'e',
        'ending': 1,
        'message': 'why',
        'feedback_loops': 2,
        'steps': 3,
        'passed_steps': 2,
        'model_calls': 2,
        'prompt_tokens': 10,
        'completion_tokens': 4,
        'wall_s': 4.0,
        'robot_s': 1.5,
    }


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


def test_what_was_sensed_is_told_as_it_is_in_prompts() -> None:
    seen = Observed(blocks={'red_cube': (0.4, 0.1, 0.1, 0.0, 0.0, 0.0, 1.0)}, force_n=(0, 0, -1))

    text = event_to_msg(Event(0.0, seen), 'e').text

    assert text == f'sensed: {seen}'


def constants(interface: type, prefix: str = '') -> dict[str, Any]:
    """Return the constants of a message that begin with a prefix, without it."""
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
        (constants(EpisodeEvent), EventKind),
        (constants(InjectFault.Request), Fault),
        (constants(FollowJointTrajectory.Result), FollowError),
    ],
    ids=['ending', 'code', 'status', 'kind', 'event', 'fault', 'follow_error'],
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


def test_goal_with_nothing_but_a_task_asks_for_the_defaults() -> None:
    goal = RunTask.Goal(task='put the red cube on location_B')

    assert (goal.episode_id, goal.feedback_loops) == ('', -1)
