"""Bodies by the name of their method, and the whole loop with each of them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError, ParseError
from bbllm.core.events import Ending
from bbllm.core.protocols import ModelRequest
from bbllm.core.types import Kind, PlanStep, SceneObject, SkillCall, Task
from bbllm.llm.models.factory import parse_config
from bbllm.planners.assembly import build_planner
from bbllm.planners.body.mapping import BodyLLM, MappingMethod, body_of, models_for
from bbllm.planners.brain_body.base_llm import BASE_LLM
from bbllm.planners.brain_body.planner import BRAIN_BODY
from bbllm.testing import ScriptedModel
from bbllm_planners.prog_prompt.lang_prompt import LANG_PROMPT
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import Diary, busy_table

TASK = Task('t', 'put the red cube on location_B')
CONFIG = parse_config('', 'f')
LINE = '<rob0>[pick] <red_cube>'
JSON = '{"pass": false, "skill": "pick", "args": ["red_cube"], "numbers": []}'
PICK = SkillCall('pick', ('red_cube',))
STEP = PlanStep(0, 'pick red_cube')


def new_run() -> EpisodeRun:
    return EpisodeRun(TASK, planner='brain_body', brain='b', body='b')


@pytest.mark.parametrize(
    ('method', 'supports', 'reply', 'has_schema'),
    [
        (MappingMethod.AUTO, True, JSON, True),
        (MappingMethod.AUTO, False, LINE, False),
        (MappingMethod.TEXT, True, LINE, False),
        (MappingMethod.TEXT, False, LINE, False),
        (MappingMethod.SCHEMA, True, JSON, True),
    ],
)
def test_a_schema_is_sent_only_where_the_method_wants_it(
    method: MappingMethod, supports: bool, reply: str, has_schema: bool
) -> None:
    model = ScriptedModel([reply], supports_schema=supports)

    call = body_of(method, model, None).map(STEP, busy_table().observe())

    assert call == PICK
    assert (model.requests[0].schema is not None) is has_schema


def test_a_schema_is_required_of_a_model_that_has_none() -> None:
    with pytest.raises(
        ConfigError, match=r'offline supports no JSON schema.*`--mapping text`.*`--body`'
    ):
        models_for(MappingMethod.SCHEMA, CONFIG, body='offline', environ={})
    with pytest.raises(ConfigError, match='--mapping text'):
        body_of(MappingMethod.SCHEMA, ScriptedModel(), None)


def test_a_server_that_turns_schemas_down_ends_what_was_to_measure_them() -> None:
    model = ScriptedModel(supports_schema=True)

    def refuse(request: ModelRequest) -> str:
        model.supports_schema = False
        return LINE

    model = ScriptedModel([refuse, LINE], supports_schema=True)
    body = BodyLLM(model, MappingMethod.SCHEMA)

    with pytest.raises(ConfigError, match='JSON schema'):
        body.map(STEP, busy_table().observe())


def test_requests_of_an_embedder_are_on_the_account() -> None:
    models = models_for(MappingMethod.EMBEDDING, CONFIG, brain='offline', body='lexical')
    run = new_run()

    planner = build_planner(run, BRAIN_BODY, models, 0, MappingMethod.EMBEDDING)
    episode = run.execute(planner, busy_table())

    assert episode.ending is Ending.FINISHED
    assert [(call.role, call.model) for call in episode.model_calls] == [
        ('brain', 'offline'),
        *[('body', 'lexical')] * 3,
    ]


@pytest.mark.parametrize('make', [BRAIN_BODY, BASE_LLM])
@pytest.mark.parametrize(
    'method', [MappingMethod.AUTO, MappingMethod.TEXT, MappingMethod.EMBEDDING]
)
def test_an_episode_is_recorded_and_replayed_without_a_key(
    tmp_path: Path, method: MappingMethod, make: Any
) -> None:
    path = tmp_path / 'talk.jsonl'
    calls = []
    for options in ({'brain': 'offline', 'body': 'offline', 'record': path}, {'replay': path}):
        models, world, run = models_for(method, CONFIG, environ={}, **options), busy_table(), None
        run = new_run()
        episode = run.execute(build_planner(run, make, models, 3, method), world)
        assert episode.ending is Ending.FINISHED, episode.message
        calls.append(world.calls)

    assert calls[0] == calls[1] == ['pick(red_cube)', 'place(location_B)', 'return_to_base()']


STEP_IN_WORDS = PlanStep(4, 'set it right of blue_cube')


@pytest.mark.parametrize(
    ('supports', 'reply'),
    [
        (False, '4: <rob0>[place] <0.48 0.14 0.02>'),
        (
            True,
            '{"calls": [{"step": 4, "skill": "place", "args": [], "numbers": [0.48, 0.14, 0.02], '
            '"reason": ""}]}',
        ),
    ],
)
def test_a_step_in_words_is_asked_for_with_its_scene_in_one_form(
    supports: bool, reply: str
) -> None:
    model = ScriptedModel([reply], supports_schema=supports)

    mapped = BodyLLM(model).map(STEP_IN_WORDS, busy_table().observe())

    assert mapped == SkillCall('place', ('0.48 0.14 0.02',))
    (request,) = model.requests
    assert request.prompt.endswith('\nStep: 4: set it right of blue_cube\nCall:')
    assert 'blue_cube cube blue 0.' in request.prompt  # where it is, as the Brain is shown
    assert ('{"calls"' in request.prompt) is supports  # one form in prompt and schema
    assert ('<rob0>' in request.prompt) is not supports
    assert (request.schema is not None) is supports


def test_a_reply_that_cannot_be_read_is_asked_for_again_with_the_whole_form() -> None:
    model = ScriptedModel(['4: [pick] <pyramid>', '4: [pick] <pyramid>'])

    scene = busy_table().observe()
    table = SceneObject(name='a_table', kind=Kind.FIXTURE, pose=scene.objects[0].pose)
    scene = replace(scene, objects=(table, *scene.objects))

    with pytest.raises(ParseError, match="There is no object named 'pyramid'") as caught:
        BodyLLM(model).map(STEP_IN_WORDS, scene)

    again = model.requests[1].messages[-1].content
    assert "There is no object named 'pyramid'" in again
    assert 'Reply with one line for step 4, such as `4: <rob0>[pick] <' in again
    assert '[pick] <a_table>' not in again
    assert 'Reply with' not in str(caught.value)  # the Brain has another form


@pytest.mark.parametrize('make', [BRAIN_BODY, LANG_PROMPT])
def test_examples_are_of_the_actions_that_the_brain_is_offered_too(make: Any) -> None:
    world = SmallHouse()
    brain = ScriptedModel(['0: go over to the lime\n1: Done'])
    body = ScriptedModel(['<char0>[walk] <lime>'])

    make.build(brain, BodyLLM(body), k=0).run(TASK, world, Diary())

    prompt = body.requests[0].prompt
    actions = re.findall(r'^- (\w+)\(', prompt, re.MULTILINE)
    expected = brain.requests[0].prompt
    assert all(re.search(rf'\b{action}\b', expected) for action in actions)
    assert {*re.findall(r'^\d: <char0>\[(\w+)\]', prompt, re.MULTILINE)} <= {*actions}
    assert len(actions) < 20
