"""Bodies by the name of their method, and the whole loop with each of them."""

from pathlib import Path
from typing import Any

import pytest
from symbolic_table import busy_table

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending
from bbllm.core.types import PlanStep, SkillCall, Task
from bbllm.llm.models.factory import parse_config
from bbllm.llm.scripted import Request, ScriptedModel
from bbllm.planners.assembly import build_planner
from bbllm.planners.body.mapping import BodyLLM, MappingMethod, body_of, models_for
from bbllm.planners.brain_body.base_llm import BASE_LLM
from bbllm.planners.brain_body.planner import BRAIN_BODY

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
    with pytest.raises(ConfigError, match=r'offline cannot .*`--mapping text`.*`--body`'):
        models_for(MappingMethod.SCHEMA, CONFIG, body='offline', environ={})
    with pytest.raises(ConfigError, match='--mapping text'):
        body_of(MappingMethod.SCHEMA, ScriptedModel(), None)


def test_a_server_that_turns_schemas_down_ends_what_was_to_measure_them() -> None:
    model = ScriptedModel(supports_schema=True)

    def refuse(request: Request) -> str:
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
