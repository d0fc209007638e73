"""`expert`, who is told what goes into which container, with every planner that can play it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bbllm.bench.briefs import brief_of
from bbllm.bench.log.episodes import Job, Played, Setup
from bbllm.bench.log.results import EpisodeKey
from bbllm.bench.runner.play_tabletop import play
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.suite import load_suite
from bbllm.core.protocols import Message
from bbllm.core.registry import find_planner, plain_name
from bbllm.core.types import Fact, Plan, Scene, Task
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.llm.expert import ExpertModel
from bbllm.llm.expert.containing import PLANNERS
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.prompting import Failure, Prompts
from bbllm.planners.prog_prompt.prompting import ProgPrompts
from bbllm.worlds.tabletop.tabletop import TabletopWorld

SUITE = load_suite('table_sorting')
TWO = 'banana_on_plate_pear_in_bowl_3'
TASK = Task('t', 'put the banana on the plate and the pear in the bowl')


def case_of(task: str = TWO, trial: int = 0) -> Case:
    return make_case(SUITE, task, seed=1, trial=trial)


def played(planner: str, task: str, mapping: str = 'auto') -> Played:
    offline = ModelConfig(provider='offline')
    setup = Setup(
        planner=planner,
        brain=None,
        body='lexical' if mapping == 'embedding' else None,
        mapping=mapping,
        llm=LlmConfig(brain=ModelConfig(provider='expert'), body=offline),
    )
    return play(Job(key=EpisodeKey(task, 0, 0), case=case_of(task), setup=setup))


def answer(prompt: str, case: Case | None = None) -> str:
    expert = ExpertModel(brief_of(case or case_of(), 1))
    return expert.complete([Message('user', prompt)]).text


@pytest.fixture(scope='module')
def scene() -> Scene:
    return TabletopWorld(case_of().table).observe()


@pytest.mark.parametrize(
    ('planner', 'mapping'),
    [
        ('prog_prompt', 'auto'),
        ('prog_prompt:comments=no,feedback=no', 'auto'),
        ('lang_prompt', 'auto'),
        ('huang', 'embedding'),
        ('huang:correction=no', 'embedding'),
        ('brain_body', 'auto'),
        ('base_llm', 'auto'),
    ],
)
def test_two_things_come_into_their_containers_with_every_planner(
    planner: str, mapping: str
) -> None:
    result = played(planner, TWO, mapping).result

    assert result.passed, result.reason
    assert result.executable == result.attempted == 2
    assert plain_name(planner) in PLANNERS


def test_each_planner_that_it_reads_says_so_of_itself() -> None:
    assert all('expert' in find_planner(name).stand_ins for name in PLANNERS)


def test_a_program_has_comments_where_those_in_the_prompt_have_them(scene: Scene) -> None:
    with_comments = answer(ProgPrompts().plan(TASK, scene))
    without = answer(ProgPrompts(comments=False).plan(TASK, scene))

    assert with_comments.splitlines()[:2] == [
        '# 1: put the banana in the plate',
        "grab_and_putin('banana', 'plate')",
    ]
    assert without == "grab_and_putin('banana', 'plate')\ngrab_and_putin('pear', 'bowl')"


def test_what_the_prompt_does_not_list_is_not_made_up(scene: Scene) -> None:
    less = replace(scene, objects=tuple(item for item in scene.objects if item.name != 'pear'))

    reply = answer(ProgPrompts().plan(TASK, less))

    assert reply == 'cannot: there is no pear among the objects.'


def test_a_new_plan_puts_away_what_is_held_and_leaves_what_is_in_its_place(scene: Scene) -> None:
    facts = [fact for fact in scene.facts if fact.subject not in ('banana', 'pear', 'hand')]
    held = replace(scene, facts=(*facts, Fact('pear', 'held_by', 'hand')))
    done = replace(scene, facts=(*facts, Fact('banana', 'on', 'plate')))
    plan = Plan(parse_plan(answer(Prompts().planning(TASK, scene))))
    failure = Failure(plan.steps[1], 'pear fell', '')

    first = answer(Prompts().feedback(TASK, held, plan, failure, []))
    second = answer(Prompts().feedback(TASK, done, plan, failure, []))

    pear, banana = (
        'grab the pear and put it in the bowl',
        'grab the banana and put it in the plate',
    )
    assert [step.text for step in parse_plan(first, 1)] == [pear, banana]
    assert [step.text for step in parse_plan(second, 1)] == [pear]


def test_a_prompt_of_another_planner_is_refused_with_those_that_work() -> None:
    reply = answer('You judge how far a robot has come with its task.')

    assert reply.startswith('cannot: ')
    assert reply.endswith('prog_prompt, lang_prompt, huang, brain_body, base_llm.')
