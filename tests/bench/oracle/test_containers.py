"""`expert`, who is told what goes into which container, with every planner that can play it."""

from dataclasses import replace

import pytest

from bbllm.core.protocols import Message, ModelRequest, PromptRequest, Situation, in_episode
from bbllm.core.types import Fact, Scene, Task
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.oracle.case_goals import brief_of
from bbllm_bench.oracle.model import expert
from bbllm_bench.runner.play_here import play
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite

SUITE = load_suite('table_sorting')
TWO = 'banana_on_plate_pear_in_bowl_3'
TASK = Task('t', 'put the banana on the plate and the pear in the bowl')


def case_of(task: str = TWO, trial: int = 0) -> Case:
    return make_case(SUITE, task, seed=1, trial=trial)


def played(planner: str, task: str) -> EpisodeRecord:
    offline = ModelConfig(provider='offline')
    llm = LlmConfig(brain=ModelConfig(provider='expert'), body=offline)
    config = RunConfig(planner=planner, llm=llm)
    return play(EpisodeSpec(key=EpisodeKey(task, 0, 0), case=case_of(task), config=config))


def answer(planner: str, request: PromptRequest) -> str:
    model = expert(brief_of(case_of(), 1).model_dump())
    model = in_episode(model, Situation(task=TASK, planner=planner))
    return model.ask(ModelRequest([Message('user', '', request)])).text


@pytest.fixture(scope='module')
def scene() -> Scene:
    return TabletopWorld(case_of().table).observe()


@pytest.mark.parametrize(
    'planner', ['prog_prompt:comments=no,feedback=no', 'lang_prompt', 'brain_body', 'base_llm']
)
def test_two_objects_come_into_their_containers_with_every_planner(planner: str) -> None:
    result = played(planner, TWO).result

    assert result.passed, result.reason
    assert result.executable == result.attempted == 2


def test_a_new_plan_puts_away_what_is_held_and_leaves_what_is_in_its_place(scene: Scene) -> None:
    facts = [fact for fact in scene.facts if fact.subject not in ('banana', 'pear', 'hand')]
    held = replace(scene, facts=(*facts, Fact('pear', 'held_by', 'hand')))
    done = replace(scene, facts=(*facts, Fact('banana', 'on', 'plate')))

    first, second = (
        answer('brain_body', PromptRequest(kind='repair', scene=one, start=1))
        for one in (held, done)
    )

    pear = 'grab the pear and put it in the bowl'
    banana = 'grab the banana and put it in the plate'
    assert [step.text for step in parse_plan(first, 1)] == [pear, banana]
    assert [step.text for step in parse_plan(second, 1)] == [pear]
