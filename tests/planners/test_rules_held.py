"""What rules of the open state must not believe: of an empty hand, of another heater."""

from __future__ import annotations

from made_scenes import made_scene

from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.planners.belief.rule_state_estimator import RuleEstimator
from bbllm.planners.common.open_state import OpenState

SCENE = made_scene('milk_2 bread_3 microwave_4 oven_5')


def believed(*history: Outcome) -> dict[str, tuple[str, ...]]:
    state = RuleEstimator().estimate(OpenState(), history, SCENE)
    return {name: words for name, words in state.attributes.items() if words}


def done(text: str, code: Code = Code.NONE) -> Outcome:
    skill, *args = text.split()
    status = Status.SUCCEEDED if code is Code.NONE else Status.FAILED
    return Outcome(call=SkillCall(skill, tuple(args)), status=status, code=code)


def test_what_was_put_down_is_not_what_is_lost_or_misplaced_afterwards() -> None:
    given = [done('pick red_cube'), done('place location_A')]

    assert believed(*given, done('place location_B', Code.OBJECT_LOST)) == {}
    assert believed(*given, done('place location_B', Code.MISPLACED)) == {}


def test_a_heater_warms_what_is_in_it_and_nothing_in_another() -> None:
    history = ['putin milk_2 microwave_4', 'putin bread_3 oven_5', 'switchon microwave_4']

    assert believed(*map(done, history)) == {'milk_2': ('warm',)}
