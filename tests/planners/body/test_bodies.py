"""Bodies by the name of their method, and the whole loop with each of them."""

import re
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError, ParseError
from bbllm.core.events import Ending
from bbllm.core.protocols import PASS, ModelRequest, Pass
from bbllm.core.types import PlanStep, SkillCall, Task
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


STEPS = tuple(
    PlanStep(i, text)
    for i, text in enumerate(
        ['pick red_cube', 'set it right of blue_cube', 'pick blue_cube', 'wave', 'lift the mug']
    )
)
BESIDE = SkillCall('place', ('0.48 0.14 0.02',))
REPLY = '1: <rob0>[place] <0.48 0.14 0.02>\n3: <pass> no action waves\n4: [pick] <green_cube>'
JSON_REPLY = (
    '{"calls": [{"step": 1, "skill": "place", "args": [], "numbers": [0.48, 0.14, 0.02], '
    '"reason": ""}, {"step": 3, "skill": null, "args": [], "numbers": [], "reason": '
    '"no action waves"}, {"step": 4, "skill": "pick", "args": ["green_cube"], "numbers": [], '
    '"reason": ""}]}'
)


def test_a_step_that_is_a_call_costs_no_request() -> None:
    model = ScriptedModel()

    assert BodyLLM(model).map_ahead(STEPS, busy_table().observe()) == [PICK]
    assert model.requests == []


@pytest.mark.parametrize(('supports', 'reply'), [(False, REPLY), (True, JSON_REPLY)])
def test_the_first_step_that_is_no_call_asks_for_all_others_of_the_plan(
    supports: bool, reply: str
) -> None:
    model = ScriptedModel([reply], supports_schema=supports)

    mapped = BodyLLM(model).map_ahead(STEPS[1:], busy_table().observe())

    later = SkillCall('pick', ('green_cube',))
    assert mapped == [BESIDE, None, Pass('no action waves.'), later]
    (request,) = model.requests
    assert request.prompt.endswith('\nSteps to turn into calls: 1, 3 and 4\nCalls:')
    assert '2: pick blue_cube' in request.prompt
    assert 'blue_cube cube blue 0.' in request.prompt  # where it is, as the Brain is shown
    assert ('{"calls"' in request.prompt) is supports  # one form in prompt and schema
    assert ('<rob0>' in request.prompt) is not supports
    assert (request.schema is not None) is supports


def test_a_step_that_cannot_be_read_is_asked_for_again_with_the_whole_form_and_then_fails() -> (
    None
):
    wrong = REPLY.replace('green_cube', 'pyramid')
    model = ScriptedModel([wrong, wrong])

    mapped = BodyLLM(model).map_ahead(STEPS[1:], busy_table().observe())

    assert mapped[0] == BESIDE
    assert isinstance(mapped[3], ParseError)
    again = model.requests[1].messages[-1].content
    assert "Step 4: There is no object named 'pyramid'" in again
    assert 'Reply with one line for each of the steps 1, 3, 4, such as `1: <rob0>[pick] <' in again


def test_a_model_that_cannot_answer_for_several_steps_is_asked_for_one_at_a_time() -> None:
    model = ScriptedModel(['eh?', 'eh?', '<rob0>[place] <0.48 0.14 0.02>', '3: <pass>'])
    body, scene = BodyLLM(model), busy_table().observe()

    assert body.map_ahead(STEPS[1:], scene) == [BESIDE, None, None, None]
    assert body.map_ahead(STEPS[3:], scene) == [PASS, None]
    assert [r.prompt.rpartition('calls: ')[2] for r in model.requests[2:]] == [
        '1\nCalls:',
        '3\nCalls:',
    ]


def test_two_passes_of_a_plan_cost_one_loop_and_the_brain_reads_both_reasons() -> None:
    brain = ScriptedModel(
        ['0: wave\n1: pick red_cube\n2: sing a song\n3: Done', 'New plan:\n0: pick red_cube']
    )
    body = ScriptedModel(['0: <pass> no arm for it\n2: <pass> no voice'])
    run, world = new_run(), busy_table()

    planner = BRAIN_BODY.build(run.model(brain, 'brain'), BodyLLM(run.model(body, 'body')), k=3)
    episode = run.execute(planner, world)

    assert world.calls == ['pick(red_cube)']
    assert episode.feedback_loops == 1
    expected = (
        'The Body found no action for this step: no arm for it. Nor for 2: sing a song: no voice.'
    )
    assert expected in brain.requests[1].prompt


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
