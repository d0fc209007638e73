"""`expert` answers each planner of households in its own format, from data, not from prompts."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import Event
from bbllm.core.naming import class_of, id_of
from bbllm.core.protocols import ChatModel, Message, ModelRequest, PromptRequest, Situation
from bbllm.core.types import Code, Outcome, SkillCall, Status, Task
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.planners.common.grounding import Policy, Referents
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.domains.languages import HOUSEHOLD
from bbllm.worlds.household.derived import DerivedStates
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.houses import load_house
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.oracle.household import replies
from bbllm_bench.oracle.household.house_state import HouseState, NoPlanError
from bbllm_bench.oracle.household.replies import house_oracle
from bbllm_bench.oracle.household.subplan import plan_for
from bbllm_bench.runner.play_here import play
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import prepare
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.house_goals import HouseholdGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.scores import Verdict
from bbllm_bench.suites.suite import load_suite, parse_suite
from bbllm_planners.llm_state.grammar import REASON, UPDATE
from bbllm_planners.low_level_plan import parse_low_level_plan
from tests.bench.household_cases import SUITE, TASKS, case_of, world_of

TASK = Task('t', 'tidy up')
SALMON = 'put_salmon_in_the_fridge'
LONG = load_suite('household_long')
STARS = ('two_toasts_one_by_one', 'take_away_three')
"""Tasks of `household_long` with a constraint that no scene shows."""


def job_of(
    planner: str,
    case: Case,
    *,
    k: int = 0,
    seen: str | None = None,
) -> EpisodeSpec:
    expert = ModelConfig(provider='expert')
    llm = LlmConfig(brain=expert, body=expert)
    config = RunConfig(planner=planner, llm=llm)
    if seen is not None:
        case = dataclasses.replace(case, scene=case.house.model_copy(update={'visibility': seen}))
    return EpisodeSpec(key=EpisodeKey(case.task, case.trial, k), case=case, config=config)


def played(planner: str, case: Case, **words: Any) -> EpisodeRecord:
    return play(job_of(planner, case, **words))


def failed_steps(result: EpisodeResult) -> int:
    return result.attempted - result.executable


# --- every planner ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('planner', 'task', 'seen'),
    [
        ('llm_state', 'wash_the_plate', 'rooms_seen'),
        ('inner_monologue:window=5', 'microwave_salmon', 'rooms_seen'),
        *(('brain_body', task, None) for task in TASKS),
        *(
            (planner, task, None)
            for planner in (
                'prog_prompt',
                'prog_prompt:comments=no,feedback=no',
                'prog_prompt:replan=yes',
                'lang_prompt',
                'brain_body:grounding=random',
                'base_llm',
                'llm_state',
                'inner_monologue',
                'fltrnn',
                'planning_only',
                'planning_reasoning',
            )
            for task in ('eat_chips_on_the_sofa', 'microwave_salmon')
        ),
        *(
            (planner, 'microwave_salmon', None)
            for planner in (
                *(f'llm_state:{option}' for option in ('states=no', 'summary=no', 'objects=no')),
                'llm_state:messages=yes',
                'llm_state:estimate=model',
                *(f'fltrnn:{option}' for option in ('rule_cot=no', 'long_memory=no', 'verify=no')),
            )
        ),
    ],
)
def test_tasks_are_done_with_every_planner_and_ablation(
    planner: str, task: str, seen: str | None
) -> None:

    result = played(planner, case_of(task, 2), seen=seen).result

    assert result.passed, result.reason
    assert result.loops == 0
    assert failed_steps(result) == 0
    assert result.discarded == 0


@pytest.mark.slow
def test_planners_with_feedback_reach_goals_that_planners_without_it_lose() -> None:
    def n_passed(planner: str, k: int = 0) -> int:
        cases = [case_of('wash_the_plate', trial) for trial in range(6)]
        return sum(played(planner, case, k=k).result.passed for case in cases)

    program = 'prog_prompt:grounding=random'
    assert n_passed(program) < n_passed(f'{program},replan=yes')
    assert n_passed('brain_body:grounding=random') < n_passed('brain_body:grounding=random', k=3)


@pytest.mark.parametrize('house', ['family_flat', 'studio'])
@pytest.mark.parametrize('seed', range(3))
def test_the_oracle_means_by_a_class_what_planners_mean(house: str, seed: int) -> None:
    rng, world, n_succeeded = Random(seed), HouseholdWorld(house), 0
    referents = Referents(Policy.NEAREST, rng, EpisodeRun(TASK, planner='', brain='', body=''))
    for _ in range(150):
        scene = world.observe()
        word = rng.choice(sorted({class_of(name) for name in scene.names}))
        action = rng.choice([Action.FIND, Action.GRAB, Action.OPEN, Action.CLOSE, Action.SWITCHON])
        found = id_of(referents.found) if referents.found else None
        state = HouseState(world.household, found=found, by_class=True)
        call = referents.resolve(SkillCall(action.skill, (word,)), scene)
        assert state._meant(action, 0, word) == id_of(call.args[0]), call
        n_succeeded += world.execute(call).succeeded

    assert n_succeeded > 20


# --- constraints that no scene shows ----------------------------------------------------------


def book_case(**changes: Any) -> Case:
    """A book is wanted; the first of its class cannot be gripped."""
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
    suite = parse_suite(yaml.safe_dump({'tasks': [task]}), Path('/x/mine.yaml'))
    return make_case(suite, 'a', seed=0, trial=0)


@pytest.mark.parametrize(
    ('planner', 'k'),
    [
        ('llm_state:states=no', 0),
        ('brain_body', 3),
    ],
)
def test_a_constraint_is_felt_once_and_then_another_object_is_taken(planner: str, k: int) -> None:
    result = played(planner, book_case(), k=k).result

    assert result.passed, result.reason
    assert failed_steps(result) == 1


@pytest.mark.parametrize('task', STARS)
def test_tasks_with_a_constraint_are_done_where_failures_lead_to_another_plan(task: str) -> None:
    case = make_case(LONG, task, seed=0, trial=0)

    result = played('inner_monologue:window=5', case).result
    assert result.passed, result.reason
    assert failed_steps(result) <= 1


# --- requests ---------------------------------------------------------------------------------


class Episode:
    """The oracle in an episode of which only events are told."""

    def __init__(self, case: Case) -> None:
        assert isinstance(case.house_goal, HouseholdGoal)
        self.world = world_of(case)
        self.events: list[Event] = []
        situation = Situation(
            task=Task('t', case.instruction), planner='any', events=lambda: self.events
        )
        self.model: ChatModel = house_oracle(case.house, case.house_goal).in_episode(situation)

    def ask(self, kind: str, prompt: str = 'not read', **words: Any) -> str:
        request = PromptRequest(kind=kind, **words)
        return self.model.ask(ModelRequest([Message('user', prompt, request)])).text

    def plan(self) -> list[str]:
        actions = HOUSEHOLD.low_level_actions(self.world.observe())
        return [str(c) for c in parse_low_level_plan(self.ask('actions'), actions).calls]

    def do(self, skill: str, *classes: str) -> Outcome:
        names = self.world.observe().names
        args = tuple(next(n for n in names if n.startswith(f'{word}_')) for word in classes)
        outcome = self.world.execute(SkillCall(skill, args))
        self.events.append(Event(0.0, outcome))
        return outcome


def texts(reply: str, start: int = 0) -> list[str]:
    return [step.text for step in parse_plan(reply, start)]


def test_a_plan_continues_from_the_executed_steps_whatever_the_prompt_is() -> None:
    episode = Episode(case_of(SALMON, 1))
    whole = texts(episode.ask('plan'))
    n_calls = len(episode.plan())

    for step in whole[:2]:
        skill, word = step.split()[0], step.split()[-1]
        assert episode.do(skill, word).succeeded

    assert texts(episode.ask('repair', 'Nothing was done.', start=2), 2) == whole[2:]
    assert len(episode.plan()) == n_calls - 2


def test_a_call_that_fails_again_and_again_is_given_up() -> None:
    episode = Episode(case_of('make_toast', 1))
    first = texts(episode.ask('plan'))[0].split()
    call = SkillCall(first[0], (next(
        n for n in episode.world.observe().names if n.startswith(f'{first[-1]}_')
    ),))  # fmt: skip
    failed = Outcome(call=call, status=Status.FAILED, code=Code.PRECONDITION, message='no')
    episode.events += [Event(0.0, failed)] * 3

    assert episode.ask('repair', start=0).startswith('cannot: ')
    assert 'failed 3 times' in episode.ask('actions')


def test_the_state_estimator_writes_what_is_asked_for_and_what_has_become_of_objects() -> None:
    believed = [
        line['data']
        for line in map(
            json.loads, played('llm_state', case_of('microwave_salmon', 2)).journal.splitlines()
        )
        if line['kind'] == 'estimated'
    ]
    at_first = Episode(case_of('microwave_salmon', 2))
    at_first.ask('attention')
    assert 'salmon1' in (text := at_first.ask('estimate', text=f'{REASON} {UPDATE}'))
    assert 'heated' not in text and '0 actions succeeded' in text
    salmon = next(name for name in believed[-1]['attributes'] if name.startswith('salmon_'))
    assert 'heated' in believed[-1]['attributes'][salmon]
    assert believed[-1]['summary'].endswith('and 0 failed.')


def test_a_request_that_it_has_no_reply_for_is_answered_with_a_reason() -> None:
    episode = Episode(case_of(SALMON))

    assert episode.ask('poem').startswith('cannot: expert has no reply')
    undeclared = episode.model.ask(ModelRequest.of('Who are you?')).text
    assert 'declares no request' in undeclared
    request = PromptRequest(kind='plan')
    alone = house_oracle().ask(ModelRequest([Message('user', 'plan', request)])).text
    assert 'has no case' in alone


# --- runs -------------------------------------------------------------------------------------


def test_a_planner_whose_requests_it_does_not_answer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, 'PLANNERS', ('prog_prompt',))

    request = BenchRequest(suite=SUITE.name, planner='base_llm', brain='expert', body='expert')

    with pytest.raises(ConfigError, match='base_llm cannot work with `expert` in houses'):
        prepare(request, tmp_path)


# --- The oracle's plans reach the goals of the suites in every house, and name what they cannot


def goal_of(*conditions: dict[str, object], same: Sequence[str] = ()) -> HouseholdGoal:
    return HouseholdGoal.model_validate(
        {'kind': 'household', 'all': conditions, 'same': tuple(same)}
    )


def studio() -> Household:
    return Household(load_house('studio').graph)


def lines_for(
    household: Household, goal: HouseholdGoal, **words: object
) -> tuple[ScriptLine, ...]:
    state = HouseState.beginning(household, **words)  # type: ignore[arg-type]
    return plan_for(state, goal).lines


def reaches(household: Household, goal: HouseholdGoal, lines: Sequence[ScriptLine]) -> bool:
    """Whether lines succeed one after the other in a household and end in a goal."""
    copy, seen = household.copy(), DerivedStates()
    seen.update(copy.graph)
    for line in lines:
        if not copy.step(line).succeeded:
            return False
        seen.update(copy.graph, line)
    return judge_household(goal, copy.graph, seen.now).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ('mode', 'by_class'), [(Mode.SANE, True), (Mode.FRESH, True), (Mode.PERSISTENT, False)]
)
@pytest.mark.parametrize('task', [task.name for task in SUITE.tasks])
def test_every_task_is_solved_in_every_house_by_the_rules_of_each_mode(
    task: str, by_class: bool, mode: Mode
) -> None:
    for trial in range(len(SUITE.houses[task])):
        case = case_of(task, trial)
        goal = case.house_goal
        assert isinstance(goal, HouseholdGoal)
        household = Household(case.house.build(), mode=mode)

        lines = lines_for(household, goal, by_class=by_class)

        assert not reaches(household, goal, ())
        assert reaches(household, goal, lines), (trial, lines)


@pytest.mark.parametrize(
    'words',
    [
        {'thing': 'book', 'on': 'sofa', 'count': 3},
        {'thing': 'milk', 'inside': 'microwave'},
        {'thing': 'fridge', 'is': 'open'},
        {'thing': 'lightswitch', 'is': 'off', 'count': 2},
        {'thing': 'wallphone', 'is': 'used'},
        {'person': 'sitting', 'on': 'chair'},
        {'thing': 'milk', 'is': 'heated', 'by': 'microwave'},
        {'thing': 'anything', 'on': 'desk', 'not': True},
    ],
)
def test_conditions_of_every_kind_are_reached(words: dict[str, object]) -> None:
    household, goal = studio(), goal_of(words)
    before = household.graph.copy()

    lines = lines_for(household, goal)

    assert lines
    assert reaches(household, goal, lines)
    assert household.graph == before  # planning changes nothing


@pytest.mark.parametrize(
    'words',
    [
        {'thing': 'sofa', 'on': 'desk'},  # cannot be grabbed
        {'thing': 'plate', 'is': 'dirty'},
        {'thing': 'book', 'is': 'toasted'},  # is no food
    ],
)
def test_a_goal_without_a_plan_is_an_error_that_names_the_condition(
    words: dict[str, object],
) -> None:
    goal = goal_of(words)

    with pytest.raises(NoPlanError, match='so that') as caught:
        lines_for(studio(), goal)

    assert str(goal.all[0]) in str(caught.value)
