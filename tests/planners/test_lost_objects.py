"""What Brain and Body are told of lost things: enough to hear of them, never another thing."""

from __future__ import annotations

import pytest

from bbllm.bench.oracle.model import offline
from bbllm.core.delimiters import without_delimiters
from bbllm.core.missing_objects import LostObject, lost_facts
from bbllm.core.types import (
    Code,
    Kind,
    PlanStep,
    Pose,
    Scene,
    SceneObject,
    SkillCall,
    Task,
)
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.body.language_model import BodyLLM
from bbllm.planners.common.call_grammar import body_schema, parse_call
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.common.prompting import Prompts
from bbllm.skills.catalog import SKILLS, CallError, check_call

LOST = LostObject(name='red_cube', position_m=(0.45, 0.16, 0.02), seen_s=88.0)
STEP = PlanStep(0, 'pick red_cube')


def scene() -> Scene:
    things = tuple(
        SceneObject(
            name=name,
            kind=Kind.CUBE,
            pose=Pose(position_m=(0.5, y, 0.02)),
            size_m=(0.04, 0.04, 0.04),
            color=name.split('_')[0],
        )
        for name, y in (('blue_cube', 0.0), ('green_cube', 0.2))
    )
    return Scene(things, SKILLS, lost_facts([LOST], 100.0), 100.0)


def test_brain_reads_that_a_thing_is_lost_and_does_not_find_it_among_the_objects() -> None:
    prompt = Prompts().planning(Task('t', 'put the red cube on the blue cube'), scene())

    assert '(red_cube is lost)' in prompt
    assert '(red_cube last_seen_at 0.450 0.160 0.020)' in prompt
    assert '(red_cube unseen_for 12 s)' in prompt
    assert 'Objects in the scene: blue_cube, green_cube\n' in without_delimiters(prompt)


def test_body_knows_the_name_of_a_lost_thing() -> None:
    prompt = Prompts().execution(STEP, scene())

    assert 'Objects in the scene: <data>blue_cube, green_cube, red_cube</data>' in prompt


def test_step_about_a_lost_thing_becomes_a_call_that_is_refused() -> None:
    for body in (BodyLLM(offline()), MatchingBody(LexicalEmbedder())):
        call = body.map(STEP, scene())

        assert call == SkillCall('pick', ('red_cube',))
        with pytest.raises(CallError) as caught:
            check_call(call, scene())
        assert caught.value.code is Code.OBJECT_LOST


def test_reply_that_names_a_lost_thing_is_no_slip_of_the_body() -> None:
    assert parse_call('<rob0>[pick] <red_cube>', scene()) == SkillCall('pick', ('red_cube',))


def test_schema_lets_a_body_name_a_lost_thing_instead_of_forcing_another_on_it() -> None:
    properties = body_schema(scene())['properties']

    assert properties['args']['items']['enum'] == ['blue_cube', 'green_cube', 'red_cube']
