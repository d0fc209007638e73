"""`expert` is told of no constraint: it feels them, and learns as much as a prompt tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bbllm.bench.household_expert.lessons import Surprise
from bbllm.bench.household_expert.model import HouseholdExpert
from bbllm.bench.household_expert.replay import Replay, Tried
from bbllm.bench.log.episodes import Job, Played, Setup
from bbllm.bench.log.results import EpisodeKey
from bbllm.bench.runner.play_household import play
from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.house_goals import HouseholdGoal
from bbllm.bench.suites.suite import load_suite, parse_suite
from bbllm.core.protocols import Message
from bbllm.core.types import SkillCall, Task
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.planners.belief.prompting import StatePrompts
from bbllm.planners.common.low_level_plan import low_level_actions, parse_low_level_plan
from bbllm.planners.common.open_state import OpenState
from bbllm.planners.common.short_names import ShortNames
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm.worlds.household.world import HouseholdWorld

LONG = load_suite('household_long')
EXPERT = ModelConfig(provider='expert')
STARS = ('two_toasts_one_by_one', 'take_away_three')
TASK = Task('t', 'x')


def book_case(**changes: Any) -> Case:
    """Somebody wants a book; the one that is chosen first gets no grip."""
    task = {
        'name': 'a',
        'instruction': 'Take a book.',
        'difficulty': 'easy',
        'least_loops': 0,
        'limit_steps': 20,
        'houses': ['studio'],
        'goal': {'kind': 'household', 'all': [{'held': 'book'}]},
        'constraints': [{'not_graspable': {'thing': 'book', 'count': 1}}],
        **changes,
    }
    return make_case(
        parse_suite(yaml.safe_dump({'tasks': [task]}), Path('/x/mine.yaml')), 'a', seed=0, trial=0
    )


def expert_on(case: Case) -> HouseholdExpert:
    assert isinstance(case.house_goal, HouseholdGoal)
    return HouseholdExpert(case.house, case.house_goal)


def played(planner: str, case: Case, *, k: int = 0) -> Played:
    setup = Setup(
        planner=planner,
        brain=None,
        body=None,
        mapping='auto',
        llm=LlmConfig(brain=EXPERT, body=EXPERT),
    )
    return play(Job(key=EpisodeKey('a', 0, k), case=case, setup=setup))


def failed_steps(planner: str, case: Case, *, k: int = 0) -> int:
    result = played(planner, case, k=k).result
    assert result.passed, result.reason
    return result.attempted - result.executable


class Policy:
    """The prompts of LLM-State's policy about a case, and what `expert` plans by them."""

    def __init__(self, case: Case):
        self._expert = expert_on(case)
        self.world = HouseholdWorld(case.house.build(), constraints=case.house.constraints)
        self.names = ShortNames()
        self.names.see(self.world.observe())
        self._prompts = StatePrompts(self.names)
        self._history: list[Any] = []

    def do(self, *lines: str) -> None:
        actions = low_level_actions(self.world.observe())
        for call in parse_low_level_plan('\n'.join(lines), actions).calls:
            skill = {'move': 'walk', 'pickup': 'grab'}.get(call.action, call.action)
            things = tuple(self.names.name(arg) or arg for arg in call.args)
            self._history.append(self.world.execute(SkillCall(skill, things)))

    def plan(self, state: OpenState | None) -> list[str]:
        scene = self.world.observe()
        prompt = self._prompts.policy(TASK, state, self._history, scene)
        reply = self._expert.complete([Message('user', prompt)]).text
        return [str(call) for call in parse_low_level_plan(reply, low_level_actions(scene)).calls]


# --- what it knows ---------------------------------------------------------------------------


def test_expert_is_told_a_house_without_what_nobody_sees() -> None:
    case = book_case()
    household, _ = expert_on(case).case()
    walk, grab = (ScriptLine(action, (('book', 128),)) for action in (Action.WALK, Action.GRAB))

    household.step(walk)
    real = case.house.household()
    real.step(walk)

    assert household.can(grab)
    assert not real.can(grab)


@pytest.mark.parametrize('task', STARS)
def test_what_is_hidden_is_felt_once_and_then_gone_about(task: str) -> None:
    case = make_case(LONG, task, seed=0, trial=0)
    run = played('llm_state', case)

    assert run.result.passed, run.result.reason
    assert run.result.attempted - run.result.executable == 1
    journal = [json.loads(line) for line in run.journal.splitlines()]
    summaries = [line['data']['summary'] for line in journal if line['kind'] == 'estimated']
    said = {
        'two_toasts_one_by_one': 'there is room for only 1 at toaster1',
        'take_away_three': 'fryingpan1 cannot be picked up',
    }
    assert said[task] not in summaries[0]
    assert said[task] in summaries[-1]


@pytest.mark.parametrize('task', [pytest.param(STARS[0], marks=pytest.mark.slow), STARS[1]])
def test_without_a_summary_the_policy_learns_from_the_flags_of_its_history(task: str) -> None:
    case = make_case(LONG, task, seed=0, trial=0)

    assert failed_steps('llm_state:summary=no', case) >= failed_steps('llm_state', case) == 1


def test_planners_that_are_told_of_failures_find_another_thing() -> None:
    case = book_case()

    assert failed_steps('llm_state', case) == 1
    assert failed_steps('llm_state:states=no', case) == 1
    assert failed_steps('llm_state:summary=no', case) == 1
    assert failed_steps('llm_state:states=no,messages=yes', case) == 1
    assert failed_steps('inner_monologue', case) == 1
    assert failed_steps('brain_body', case, k=3) == 1
    # Told classes alone, it first tries again what could have meant another book.
    assert failed_steps('prog_prompt:replan=yes,grounding=nearest', case) == 2
    assert not played('prog_prompt:grounding=nearest', case).result.passed  # told nothing


@pytest.mark.slow
def test_what_has_scrolled_out_of_the_window_is_tried_again() -> None:
    case = make_case(LONG, 'two_toasts_one_by_one', seed=0, trial=0)

    def failures(window: str) -> int:
        result = played(f'inner_monologue:window={window}', case).result
        return result.attempted - result.executable

    assert failures('5') > failures('all') > 0


# --- what the policy reads --------------------------------------------------------------------


def test_the_policy_believes_the_summary_and_the_flags_beside_it() -> None:
    policy = Policy(book_case())
    first, second = policy.plan(OpenState().with_summary('0 actions succeeded.'))
    book = second.removeprefix('pickup(').removesuffix(')')
    policy.do(first, second)

    told = policy.plan(OpenState().with_summary(f'Likely {book} cannot be picked up.'))
    untold = policy.plan(OpenState().with_summary('1 action succeeded and 1 failed.'))
    by_flags = policy.plan(None)

    assert second not in told and told[-1].startswith('pickup(')
    assert second not in untold and untold[-1].startswith('pickup(')
    assert second not in by_flags and by_flags[-1].startswith('pickup(')


def test_the_policy_believes_what_the_state_says_of_a_door() -> None:
    policy = Policy(book_case(goal={'kind': 'household', 'all': [{'held': 'milk'}]}))
    fridge = policy.names.name('fridge1')
    assert fridge is not None

    def opens(*words: str) -> bool:
        return 'open(fridge1)' in policy.plan(OpenState().with_attributes(fridge, words))

    assert opens('closed')
    assert not opens('open')
    assert opens()  # nothing is said of it


def test_the_policy_believes_what_the_state_says_has_become_of_a_thing() -> None:
    goal = {'kind': 'household', 'all': [{'thing': 'milk', 'is': 'heated'}]}
    policy = Policy(book_case(goal=goal))
    milk = policy.names.name('milk1')
    assert milk is not None

    assert policy.plan(OpenState().with_attributes(milk, ['inside fridge1']))
    assert policy.plan(OpenState().with_attributes(milk, ['inside fridge1', 'heated'])) == []


# --- replay -----------------------------------------------------------------------------------


def test_a_replay_tells_surprises_from_steps_that_break_a_known_rule() -> None:
    told = expert_on(book_case())
    names = Replay(told, []).names
    book = names.short('book_128')

    replay = Replay(
        told,
        [
            Tried(f'pickup({book})', succeeded=False),
            Tried(f'move({book})', succeeded=True),
            Tried(f'pickup({book})', succeeded=False),
        ],
    )

    assert replay.causes == {0: 'not_close', 2: ''}
    assert replay.surprises == {2: Surprise(Action.GRAB, (128,))}
