"""`expert` answers each planner of households in its own format, and is told of as what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from household_cases import SUITE, case_of

from bbllm.bench.household_expert import answering
from bbllm.bench.household_expert.model import PLANNERS, HouseholdExpert
from bbllm.bench.household_expert.prompts import verdict
from bbllm.bench.log.episodes import Job, Setup
from bbllm.bench.log.results import EpisodeKey, EpisodeResult
from bbllm.bench.runner.episode_models import models_of
from bbllm.bench.runner.play_household import play
from bbllm.bench.runner.run_setup import Prepared, RunRequest, prepare
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.core.delimiters import without_delimiters
from bbllm.core.errors import ConfigError
from bbllm.core.protocols import Message
from bbllm.core.types import Plan, SkillCall, Task
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.planners.common.house_actions import shown_to_body
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.program import Condition
from bbllm.planners.common.prompting import Failure, Prompts
from bbllm.planners.prog_prompt.assertion_checking import holds
from bbllm.planners.prog_prompt.prompting import ProgPrompts
from bbllm.worlds.household.world import HouseholdWorld

SALMON = 'put_salmon_in_the_fridge'
TASK = Task('t', 'put salmon in the fridge')
SHORT = """0: walk to the salmon
1: grab the salmon
2: walk to the fridge
3: put the salmon in the fridge
4: Done"""


def expert_on(task: str = SALMON, trial: int = 0) -> HouseholdExpert:
    case = case_of(task, trial)
    assert isinstance(case.house_goal, HouseholdGoal)
    return HouseholdExpert(case.house, case.house_goal)


def answer(expert: HouseholdExpert, *prompts: str) -> str:
    return expert.complete([Message('user', prompt) for prompt in prompts]).text


def job_of(planner: str, task: str, *, mapping: str = 'auto', trial: int = 0, k: int = 0) -> Job:
    expert = ModelConfig(provider='expert')
    setup = Setup(
        planner=planner,
        brain=None,
        body='lexical' if mapping == 'embedding' else None,
        mapping=mapping,
        llm=LlmConfig(brain=expert, body=expert),
    )
    return Job(key=EpisodeKey(task, trial, k), case=case_of(task, trial), setup=setup)


@pytest.mark.parametrize('task', [task.name for task in SUITE.tasks])
@pytest.mark.parametrize(
    ('planner', 'mapping'),
    [
        ('prog_prompt:grounding=nearest', 'auto'),
        ('prog_prompt:grounding=nearest,check=graph,comments=no', 'auto'),
        ('prog_prompt:grounding=nearest,feedback=no', 'auto'),
        ('prog_prompt:grounding=nearest,replan=yes', 'auto'),
        ('lang_prompt:grounding=nearest', 'auto'),
        ('huang:grounding=nearest', 'embedding'),
        ('brain_body', 'auto'),
        ('brain_body:grounding=held_first', 'auto'),
        ('base_llm', 'auto'),
        ('inner_monologue', 'auto'),
    ],
)
def test_every_task_is_done_with_every_planner_and_ablation(
    planner: str, mapping: str, task: str
) -> None:
    if mapping == 'embedding' and task == 'brush_teeth':
        # To `lexical` the paste in the brush is the brush in the paste: it knows no order.
        pytest.skip('words without their order cannot say this')

    result = play(job_of(planner, task, mapping=mapping, trial=2)).result

    assert result.passed, result.reason
    assert result.loops == 0
    assert result.executable == result.attempted


@pytest.mark.parametrize('task', [task.name for task in SUITE.tasks])
@pytest.mark.parametrize(
    'planner',
    [pytest.param('brain_body', marks=pytest.mark.slow), 'lang_prompt:grounding=nearest'],
)
def test_a_body_that_matches_by_embedding_does_tasks_in_a_house(planner: str, task: str) -> None:
    result = play(job_of(planner, task, mapping='embedding', trial=1)).result

    assert result.passed, result.reason
    assert result.executable == result.attempted


def test_the_page_on_models_names_every_planner_that_expert_answers() -> None:
    page = (Path(__file__).parents[2] / 'docs' / 'models.md').read_text('utf-8')
    (row,) = (line for line in page.splitlines() if line.startswith('| `expert` |'))

    assert {*PLANNERS} <= {*row.replace('--planner ', '').split('`')}


def test_a_plan_goes_on_from_the_step_that_failed() -> None:
    scene = HouseholdWorld(case_of(SALMON, 1).house.build()).observe()
    plan = Plan(parse_plan(SHORT))
    failure = Failure(plan.steps[3], 'the fridge is not open', 'not_open')

    reply = answer(expert_on(trial=1), Prompts().feedback(TASK, scene, plan, failure, []))

    texts = [step.text for step in parse_plan(reply, 3)]
    assert texts == ['open the fridge', 'put the salmon in the fridge']


def test_a_step_that_should_have_worked_is_tried_again_from_near() -> None:
    scene = HouseholdWorld(case_of(SALMON, 1).house.build()).observe()
    plan = Plan(parse_plan(SHORT))
    failure = Failure(plan.steps[1], 'not close', 'not_close')

    reply = answer(expert_on(trial=1), Prompts().feedback(TASK, scene, plan, failure, []))

    texts = [step.text for step in parse_plan(reply, 1)]
    assert texts[:2] == ['walk to the salmon', 'grab the salmon']


def test_a_wrong_choice_by_chance_is_repaired_with_loops() -> None:
    results = [
        play(job_of('brain_body:grounding=random', 'make_toast', trial=trial, k=3)).result
        for trial in range(6)
    ]

    assert any(result.loops for result in results)
    assert any(result.passed and result.loops for result in results)


def test_a_program_that_chance_spoilt_is_mended_by_another_where_it_is_planned_anew() -> None:
    def played(planner: str) -> list[EpisodeResult]:
        trials = range(6)
        return [play(job_of(planner, 'wash_the_plate', trial=trial)).result for trial in trials]

    once, anew = played('prog_prompt'), played('prog_prompt:replan=yes')

    # Not all: `expert` takes words for what is nearest, and chance may have meant others.
    assert sum(result.passed for result in once) < sum(result.passed for result in anew)
    assert any(result.passed and result.loops for result in anew)


def test_the_body_passes_what_the_expert_would_not_write() -> None:
    scene = shown_to_body(HouseholdWorld('studio').observe())
    plan = Plan(parse_plan('0: sing a song\n1: put the milk on the desk\n2: Done'))

    replies = [answer(expert_on(), Prompts().execution(step, scene)) for step in plan.steps]

    assert replies == ['<pass>', '<char0>[put] <milk><desk>']


def test_a_verdict_by_the_prompt_agrees_with_the_graph_wherever_the_prompt_tells_enough() -> None:
    world = HouseholdWorld('studio')
    prompts = ProgPrompts()
    conditions = [
        Condition(thing, 'close') for thing in ('fridge', 'salmon', 'toilet', 'microwave')
    ] + [
        Condition('fridge', 'is', 'closed'),
        Condition('fridge', 'is', 'opened'),
        Condition('fridge', 'is', 'opened', negated=True),
        Condition('salmon', 'in', 'hands'),
        Condition('milk', 'in', 'hands', negated=True),
    ]
    calls = ('walk', 'salmon'), ('open', 'fridge'), ('grab', 'salmon'), ('walk', 'microwave')
    seen = set()
    for skill, word in calls:
        name = next(name for name in world.observe().names if name.rsplit('_', 1)[0] == word)
        assert world.execute(SkillCall(skill, (name,))).succeeded
        scene = world.observe()
        for condition in conditions:
            so = holds(condition, scene, None)
            hidden = skill == 'walk' and word == 'salmon' and condition.subject == 'salmon'
            near = condition.relation != 'is' or holds(Condition('fridge', 'close'), scene, None)
            if near and not hidden:  # what is shut in, or far, is not told
                assert verdict(without_delimiters(prompts.check(condition, scene))) is so, (
                    skill,
                    condition,
                )
                seen.add((str(condition), so))

    assert len(seen) >= 14  # most of them held at one time and not at another


def test_what_is_no_prompt_of_a_household_is_answered_with_a_reason() -> None:
    assert answer(expert_on(), 'Who are you?').startswith('cannot: expert reads only the prompts')
    case = case_of(SALMON)
    scene = HouseholdWorld(case.house.build()).observe()
    nobody = HouseholdExpert()
    assert 'was told no case' in answer(nobody, Prompts().planning(TASK, scene))


def test_the_latest_prompt_of_a_conversation_counts_and_complaints_are_none() -> None:
    scene = HouseholdWorld(case_of(SALMON).house.build()).observe()
    prompt = Prompts().planning(TASK, scene)
    expert = expert_on()

    assert answer(expert, prompt, 'That reply cannot be used.') == answer(expert, prompt)


def test_brain_and_body_of_a_case_are_one_expert_and_another_case_has_another() -> None:
    models = models_of(job_of('brain_body', SALMON))
    others = models_of(job_of('brain_body', SALMON, trial=1))

    assert models.brain is models.body
    assert isinstance(models.brain, HouseholdExpert)
    assert models.brain is not others.brain


def prepared(folder: Path, **changes: Any) -> Prepared:
    values: dict[str, Any] = {
        'suite': 'household',
        'planner': 'brain_body',
        'brain': 'expert',
        'body': 'expert',
    }
    return prepare(RunRequest(**{**values, **changes}), folder)


def test_a_run_says_of_both_roles_that_it_measures_the_plumbing(tmp_path: Path) -> None:
    run = prepared(tmp_path)

    assert (run.plan.settings.brain, run.plan.settings.body) == ('expert', 'expert')
    assert run.plan.settings.llm == {
        'brain': {'provider': 'expert'},
        'body': {'provider': 'expert'},
    }
    (notice,) = (text for text in run.notices if 'plumbing' in text)
    assert notice.startswith('The Brain and the Body `expert` is a deterministic stand-in')


@pytest.mark.parametrize(
    ('changes', 'told'),
    [
        ({'planner': 'llm_pop', 'body': 'offline'}, 'plays in no world of the kind household'),
        ({'brain': 'offline'}, 'knows nothing of houses'),
        ({'planner': 'lang_prompt', 'body': 'offline'}, 'say --body expert'),
        ({'brain': 'uninformed'}, 'cannot work with `uninformed`'),
        ({'suite': 'partial', 'body': 'offline'}, 'cannot work with `expert` on a table'),
        (
            {'suite': 'tabletop', 'planner': 'prog_prompt', 'body': 'offline'},
            'has the goal one_side, of which expert and uninformed know nothing',
        ),
        (
            {'planner': 'prog_prompt', 'brain': 'offline'},
            'in `bbllm bench household` and `bbllm bench table_sorting` also',
        ),
        ({'planner': 'llm_state', 'brain': 'offline'}, 'in `bbllm bench household` also'),
    ],
)
def test_what_it_cannot_answer_is_said_before_anything_starts(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        prepared(tmp_path / 'out', **changes)

    assert told in str(caught.value)
    assert not (tmp_path / 'out').exists()


def test_a_planner_of_houses_whose_prompts_it_does_not_read_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, 'PLANNERS', ('prog_prompt',))

    with pytest.raises(ConfigError, match='base_llm cannot work with `expert` in houses'):
        prepared(tmp_path, planner='base_llm')
