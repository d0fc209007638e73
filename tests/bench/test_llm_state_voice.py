"""`expert` as LLM-State's roles: by what prompts tell, under every option and visibility."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from household_cases import SUITE, case_of, world_of

from bbllm.bench.household_expert.model import HouseholdExpert
from bbllm.bench.household_expert.replay import Replay, Tried
from bbllm.bench.log.episodes import Job, Played, Setup
from bbllm.bench.log.results import EpisodeKey
from bbllm.bench.runner.play_household import play
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.core.protocols import Message
from bbllm.core.types import Task
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.planners.belief.grammar import parse_attention, parse_estimate
from bbllm.planners.belief.prompting import PLAN_LIMIT, StatePrompts
from bbllm.planners.common.low_level_hands import Hands
from bbllm.planners.common.low_level_plan import low_level_actions, parse_low_level_plan
from bbllm.planners.common.open_state import OpenState

SALMON = 'put_salmon_in_the_fridge'
EXPERT = ModelConfig(provider='expert')


def case_seen(task: str, seen: str = 'full', trial: int = 2) -> Case:
    case = case_of(task, trial)
    return replace(case, scene=case.house.model_copy(update={'visibility': seen}))


def played(task: str, planner: str = 'llm_state', seen: str = 'full') -> Played:
    setup = Setup(
        planner=planner,
        brain=None,
        body=None,
        mapping='auto',
        llm=LlmConfig(brain=EXPERT, body=EXPERT),
    )
    case = case_seen(task, seen)
    return play(Job(key=EpisodeKey(task, 2, 0), case=case, setup=setup))


@pytest.mark.parametrize(
    ('task', 'seen'),
    [
        *((task.name, 'rooms_seen') for task in SUITE.tasks),
        (SALMON, 'full'),
        ('bring_coffeepot_and_cupcake', 'full'),
        ('bring_coffeepot_and_cupcake', 'room'),
        ('wash_the_plate', 'room'),
    ],
)
def test_every_task_is_done_without_a_failed_step_however_little_is_seen(
    task: str, seen: str
) -> None:
    result = played(task, seen=seen).result

    assert result.passed, result.reason
    assert result.executable == result.attempted
    assert result.discarded == 0


@pytest.mark.parametrize('option', ['states=no', 'summary=no', 'objects=no', 'messages=yes'])
@pytest.mark.parametrize('task', ['brush_teeth', 'microwave_salmon'])
def test_every_ablation_has_prompts_that_it_answers(option: str, task: str) -> None:
    result = played(task, f'llm_state:{option}', 'rooms_seen').result

    assert result.passed, result.reason
    assert result.discarded == 0


def test_what_matters_is_watched_and_what_becomes_of_it_is_told() -> None:
    journal = [json.loads(line) for line in played('microwave_salmon').journal.splitlines()]

    believed = [line['data'] for line in journal if line['kind'] == 'estimated']
    (salmon,) = [name for name in believed[0]['attributes'] if name.startswith('salmon_')][:1]
    assert 'heated' not in believed[0]['attributes'][salmon]
    assert 'heated' in believed[-1]['attributes'][salmon]
    assert believed[-1]['summary'].endswith('and 0 failed.')


class Quiet:
    """An EpisodeContext to whom nothing matters."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: None


class Asked:
    """A planner's side of a case, with the expert on the other."""

    def __init__(self, case: Case) -> None:
        assert isinstance(case.house_goal, HouseholdGoal)
        self.expert = HouseholdExpert(case.house, case.house_goal)
        self.hands = Hands(world_of(case), Quiet())
        self.prompts = StatePrompts(self.hands.names)
        self.actions = low_level_actions(self.hands.scene)

    def answer(self, prompt: str) -> str:
        return self.expert.complete([Message('user', prompt)]).text

    def plan(self) -> list[str]:
        prompt = self.prompts.policy(Task('t', 'x'), None, self.hands.history, self.hands.scene)
        plan = parse_low_level_plan(self.answer(prompt), self.actions)
        return [str(call) for call in plan.calls]

    def do(self, *lines: str) -> None:
        self.hands.carry_out(parse_low_level_plan('\n'.join(lines), self.actions).calls)


def test_a_plan_goes_on_from_what_the_history_says_was_done() -> None:
    asked = Asked(case_seen(SALMON, trial=1))
    whole = asked.plan()

    asked.do(*whole[:3])

    assert asked.plan() == whole[3:]
    assert len(whole) < PLAN_LIMIT


def test_it_looks_at_no_world_but_at_the_history_it_is_told() -> None:
    asked = Asked(case_seen(SALMON, trial=1))
    whole = asked.plan()
    asked.do(*whole[:3])
    asked.hands.history.clear()  # done, and not told

    assert asked.plan() == whole


def test_a_failed_step_is_told_with_its_likely_cause() -> None:
    asked = Asked(case_seen(SALMON))
    asked.do('open(fridge1)')
    prompt = asked.prompts.estimator(
        OpenState().with_objects(['nothing']), asked.hands.history, asked.hands.scene
    )

    found = parse_estimate(asked.answer(prompt))

    assert found.summary == (
        '0 actions succeeded and 1 failed. Action 1, open(fridge1), failed, most likely by: not '
        'close.'
    )


def test_attention_names_only_what_the_prompt_tells_and_nothing_twice() -> None:
    case = case_seen(SALMON, 'full')
    asked = Asked(case)
    task = Task('t', 'x')
    first = parse_attention(
        asked.answer(asked.prompts.attention(task, OpenState(), [], asked.hands.scene))
    )
    names = [asked.hands.names.name(thing) for thing in first.things]
    state = OpenState().with_objects([name for name in names if name])

    again = parse_attention(
        asked.answer(asked.prompts.attention(task, state, [], asked.hands.scene))
    )

    assert {'salmon1', 'fridge1'} <= {*first.things}
    assert None not in names
    assert again.things == ()


def test_what_fails_three_times_against_its_own_rules_is_given_up() -> None:
    asked = Asked(case_seen(SALMON))
    (first, *_) = asked.plan()
    failed = [Tried(first, succeeded=False)] * 3
    assert Replay(asked.expert, failed).causes == {0: '', 1: '', 2: ''}
    history = '\n'.join(f'{first} Fail' for _ in failed)
    prompt = asked.prompts.policy(Task('t', 'x'), None, [], asked.hands.scene)

    reply = asked.answer(prompt.replace('\nnone yet\n', f'\n{history}\n'))

    assert reply == f'cannot: {first} failed 3 times, and nothing else would do.'
