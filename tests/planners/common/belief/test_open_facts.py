"""What is believed as triples: beside what was sensed, and never in its place."""

from dataclasses import replace

import pytest

from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.planners.common.belief.interaction_history import InteractionHistory
from bbllm.planners.common.belief.open_state import OpenState, open_facts, with_open_facts
from bbllm.planners.common.belief.rules import concluded
from bbllm.planners.domains.scene_graph import is_open, sensed_only
from tests.planners.made_scenes import made_scene

SCENE = made_scene(
    'red_cube blue_cube',
    'red_cube is clear',
    'red_cube on table',
    'blue_cube reachable yes',
    domain='tabletop',
)


@pytest.mark.parametrize(
    ('sensed', 'word'),
    [
        ('red_cube is warm', 'warm'),
        ('red_cube heavier_than blue_cube', 'heavier_than blue_cube'),
        ('red_cube heavier_than green_cube', 'heavier_than blue_cube'),
        ('red_cube reachable yes', 'out_of_workspace'),
    ],
)
def test_a_sensed_fact_is_neither_overwritten_nor_contradicted_nor_repeated(
    sensed: str, word: str
) -> None:
    state = OpenState({'red_cube': (word,)})
    plain = made_scene('red_cube blue_cube', domain='tabletop')
    scene = made_scene('red_cube blue_cube', sensed, domain='tabletop')

    assert len(open_facts(state, plain)) == 1  # it is that fact alone which keeps it out
    assert with_open_facts(scene, state).facts == scene.facts


def test_what_was_believed_before_is_replaced_and_no_inferred_pose_is_a_belief() -> None:
    first = with_open_facts(SCENE, OpenState({'red_cube': ('failed_grasp_once',)}))
    second = with_open_facts(first, OpenState({'red_cube': ('failed_grasp_twice',)}))

    assert [str(fact) for fact in second.facts if is_open(fact)] == [
        '(red_cube is failed_grasp_twice)'
    ]
    assert sensed_only(second) == SCENE
    inferred = tuple(replace(fact, estimated=True) for fact in SCENE.facts)
    assert sensed_only(replace(SCENE, facts=inferred)).facts == inferred


def test_each_belief_of_the_rules_becomes_a_fact() -> None:
    history = [
        Outcome(call=SkillCall(skill, (name,)), status=Status.FAILED, code=code)
        for skill, name, code in (
            ('pick', 'red_cube', Code.GRASP_FAILED),
            ('pick', 'red_cube', Code.WOULD_NOT_RISE),
            ('pick', 'red_cube', Code.OBJECT_LOST),
            ('pick', 'red_cube', Code.MISPLACED),
            ('pick', 'red_cube', Code.OUT_OF_WORKSPACE),
        )
    ]
    done = [('open', 'fridge_3'), ('switchon', 'stove_4'), ('putin', 'egg_5', 'stove_4')]
    history += [
        Outcome(call=SkillCall(skill, tuple(args)), status=Status.SUCCEEDED)
        for skill, *args in done
    ]
    scene = made_scene('red_cube fridge_3 stove_4 egg_5')

    past = InteractionHistory()
    for outcome in history:
        past.add(outcome)
    state = concluded(past)

    words = [word for each in state.attributes.values() for word in each]
    assert len(words) == 7
    assert [fact.object for fact in open_facts(state, scene)] == words
