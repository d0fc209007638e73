"""Faithfulness: every call that was tried is checked against the rules of its world."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode, LineDiscarded, RepairBegun, StepFailed
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.types import Code, Outcome, PlanStep, SkillCall, Status, Task
from bbllm.worlds.household.household import Mode
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.metrics.metrics import Figures
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scorers.faithfulness import (
    RULES,
    Broken,
    Faithfulness,
    faithfulness_of,
    untold_rules,
)
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite
from tests.bench.household_cases import case_of, played, world_of
from tests.bench.made_results import make_result

SALMON = case_of('put_salmon_in_the_fridge')


class Hand:
    """A planner that makes the calls that it is given, those in words on the first of a class."""

    def __init__(self, calls: Sequence[str | SkillCall]):
        self._calls = calls

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        for line in self._calls:
            if isinstance(line, SkillCall):
                world.execute(line)
                continue
            skill, *words = line.split()
            names = world.observe().names
            args = (
                next((n for n in names if n.rpartition('_')[0] == word), word) for word in words
            )
            world.execute(SkillCall(skill, tuple(args)))


def done(case: Case, *calls: str | SkillCall, world: Any = None) -> Episode:
    """Make calls in the house of a case; things are said by their class, the first is meant."""
    run = EpisodeRun(Task('t', 'do it'), planner='hand', brain='b', body='b')
    return run.execute(Hand(calls), world or world_of(case))


def judged(case: Case, *calls: str | SkillCall, world: Any = None) -> Faithfulness:
    return faithfulness_of(case, done(case, *calls, world=world))


def rules(found: Faithfulness) -> list[tuple[str, int]]:
    return [(item.rule, item.step) for item in found.broken]


@pytest.mark.parametrize(
    ('calls', 'broken'),
    [
        (['find salmon', 'grab salmon', 'find cereal', 'grab cereal'], [('two_at_once', 3)]),
        (['find microwave', 'open microwave', 'open microwave'], [('already_open', 2)]),
        (['find microwave', 'open microwave', 'switchon microwave'], [('on_while_open', 2)]),
        (['find salmon', 'grab unicorn'], [('unknown_object', 1)]),
        (['levitate salmon', 'find salmon'], [('unknown_action', 0)]),
        # It failed because it is far, and would have been unfaithful all the same.
        (['find toilet', 'grab salmon'], [('not_in_room', 1)]),
        (['find toilet', 'switchon tv'], [('not_in_room', 1)]),
        (
            ['find salmon', 'grab salmon', 'find toilet', 'putin salmon fridge'],
            [('not_in_room', 3)],
        ),
        (['find toilet', 'turnto salmon', 'watch tv'], []),
    ],
)
def test_each_rule_is_broken_by_the_call_that_breaks_it(
    calls: list[str], broken: list[tuple[str, int]]
) -> None:
    found = judged(SALMON, *calls)

    assert rules(found) == broken
    assert found.steps == len(calls)
    assert found.first == (broken[0][1] if broken else None)


def test_what_is_taken_out_of_something_closed_breaks_a_rule_however_deep() -> None:
    shut_in = ('find salmon', 'grab salmon', 'find fridge', 'open fridge', 'putin salmon fridge')
    found = judged(SALMON, *shut_in, 'close fridge', 'grab salmon', 'open fridge', 'grab salmon')

    assert rules(found) == [('inside_closed', 6)]
    assert found.broken == (Broken('inside_closed', 6, found.broken[0].call),)
    assert found.broken[0].call.startswith('grab(salmon_')


def test_what_is_carried_along_is_in_no_other_room_under_any_rules() -> None:
    calls = ('find salmon', 'grab salmon', 'find bed', 'putback salmon bed')
    for mode in Mode:
        house = SALMON.house.model_copy(update={'mode': mode})
        case = dataclasses.replace(SALMON, scene=house)
        world = HouseholdWorld(house.build(), mode=mode)

        assert rules(judged(case, *calls, world=world)) == [], mode


def test_a_name_that_cannot_be_grounded_breaks_a_rule_without_reaching_the_world():
    program = "    # 1: go\n    find('unicorn')\n    levitate('salmon')\n    find('salmon')"
    result, _ = played(program, program)  # it is asked again, and insists

    assert result.broken_rules == {'unknown_object': 1, 'unknown_action': 1}
    assert result.first_broken == 0
    assert (result.faithful, result.faithful_strict) == (False, False)


def test_a_line_of_a_plan_that_was_left_out_counts_and_one_of_beliefs_does_not() -> None:
    class Lines:
        def run(self, task: Task, world: World, context: EpisodeContext) -> None:
            context.emit(LineDiscarded('unicorn1 is warm', 'There is no unicorn1.'))
            context.emit(LineDiscarded('grab(unicorn1)', 'None.', code=Code.UNKNOWN_OBJECT))
            context.emit(RepairBegun.of(PlanStep(0, 'fly'), 'No.', code=Code.UNKNOWN_SKILL))
            context.emit(StepFailed.of(PlanStep(0, 'stand'), 'No.', code=Code.NOT_HOLDING))

    run = EpisodeRun(Task('t', 'do it'), planner='lines', brain='b', body='b')
    found = faithfulness_of(SALMON, run.execute(Lines(), world_of(SALMON)))

    assert rules(found) == [('unknown_object', 0), ('unknown_action', 1)]
    assert found.steps == 3


def test_a_planner_whose_prompts_have_two_hands_may_fill_both() -> None:
    calls = ("find('salmon')", "grab('salmon')", "find('cereal')", "grab('cereal')")
    result, _ = played('\n'.join(['# 1: take two', *calls]))

    assert result.broken_rules == {'two_at_once': 1}
    assert (result.faithful, result.faithful_strict) == (True, False)


@pytest.mark.parametrize(
    ('planner', 'untold'),
    [
        ('fltrnn', ()),
        ('fltrnn:rule_cot=no', ()),
        ('planning_only', ()),
        ('planning_reasoning', ()),
        ('brain_body', ('two_at_once',)),
        ('llm_state', ('two_at_once',)),
        ('of_somebody_else', ('two_at_once',)),
    ],
)
def test_only_planners_whose_prompts_allow_one_object_are_judged_by_that_rule(
    planner: str, untold: tuple[str, ...]
) -> None:
    assert untold_rules(SALMON, planner) == untold
    assert untold_rules(make_case(load_suite('partial'), 'stack', seed=0, trial=0), planner) == ()


def opened_house(case: Case) -> Case:
    """Return a case in which everything is open that is closed."""
    graph = json.loads(json.dumps(case.house.graph).replace('"CLOSED"', '"OPEN"'))
    return dataclasses.replace(case, scene=case.house.model_copy(update={'graph': graph}))


def test_a_journal_of_another_house_is_refused() -> None:
    episode = done(SALMON, 'find microwave', 'open microwave')

    with pytest.raises(ValueError, match='that is another case'):
        faithfulness_of(opened_house(SALMON), episode)


def test_on_a_table_codes_of_refusals_reveal_broken_rules() -> None:
    codes = (Code.NONE, Code.ALREADY_HOLDING, Code.NO_PATH, Code.UNKNOWN_OBJECT, Code.NONE)

    class Table:
        skills = ()

        def __init__(self) -> None:
            self._codes = iter(codes)

        def observe(self) -> Any:
            return world_of(SALMON).observe()

        def execute(self, call: SkillCall) -> Outcome:
            code = next(self._codes)
            status = Status.SUCCEEDED if code is Code.NONE else Status.REJECTED
            return Outcome(call=call, status=status, code=code)

        def stop(self) -> None: ...

    table = make_case(load_suite('tabletop'), 'plus_sign', seed=0, trial=0)
    found = judged(table, *['pick red_cube'] * 5, world=Table())

    assert rules(found) == [('two_at_once', 1), ('unknown_object', 3)]
    assert set(found.counts) < set(RULES)


BROKE = {'broken_rules': {'two_at_once': 2}, 'first_broken': 3}
WORSE = {'broken_rules': {'two_at_once': 1, 'already_open': 1}, 'first_broken': 0, 'discarded': 2}

MIXED = (
    make_result(trial=0, broken_rules={}),
    make_result(trial=1, **BROKE),
    make_result(trial=2, verdict='failed', **WORSE),
    make_result(trial=3),  # of before there were rules
    make_result(trial=4, verdict='lost'),
)


def test_figures_are_over_the_episodes_that_were_held_against_the_rules() -> None:
    figures = Figures.of(MIXED)

    rate = figures.rate('faithful')
    assert (rate.value, rate.n) == (pytest.approx(1 / 3), 3)
    assert figures.rate('faithful_strict').value == pytest.approx(1 / 3)
    reported = [dataclasses.replace(one, untold_rules=('two_at_once',)) for one in MIXED]
    assert Figures.of(reported).rate('faithful').value == pytest.approx(2 / 3)
    assert Figures.of(reported).rate('faithful_strict').value == pytest.approx(1 / 3)
    assert figures.broken_rules == {'two_at_once': 3, 'already_open': 1}
    assert figures.discarded == 2


STATELESS = 'llm_state:states=no'


def named(kind: str) -> str:
    names = HouseholdWorld(SALMON.house.build()).observe().names
    return next(name for name in names if name.rpartition('_')[0] == kind)


@pytest.mark.parametrize('spelled', [('_', ' '), ('_', '-'), ('f', 'F')])
def test_a_call_is_judged_however_a_world_lets_it_be_spelled(spelled: tuple[str, str]) -> None:
    fridge = named('fridge').replace(*spelled)
    world = HouseholdWorld(SALMON.house.build())

    calls = (SkillCall(skill, (fridge,)) for skill in ('Walk', 'open', 'open'))
    found = judged(SALMON, *calls, world=world)

    assert len(world.lines) == 2, 'the world accepts the spelling'
    assert rules(found) == [('already_open', 2)]


def test_a_journal_that_cannot_be_done_again_leaves_only_faithfulness_unjudged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = case_of('put_salmon_in_the_fridge')
    opened = opened_house(other)
    judge = faithfulness_of
    monkeypatch.setattr(
        'bbllm_bench.scorers.scoring.faithfulness_of', lambda case, episode: judge(opened, episode)
    )

    result, _ = played("find('microwave')\nopen('microwave')")

    assert (result.verdict, result.executable) == ('failed', 2)
    assert (result.faithful, result.broken_rules) == (None, None)


def test_an_object_out_of_sight_counts_as_unknown_only() -> None:
    world = HouseholdWorld(SALMON.house.build(), visibility=Visibility(reach='room'))
    shut_in = named('milk')
    assert shut_in not in world.observe().names

    found = judged(SALMON, SkillCall('grab', (shut_in,)), world=world)

    assert rules(found) == [('unknown_object', 0)]


def test_what_is_in_no_room_is_in_no_other_room() -> None:
    graph = SALMON.house.graph
    salmon = next(node['id'] for node in graph['nodes'] if node['class_name'] == 'salmon')
    nowhere = [edge for edge in graph['edges'] if salmon not in (edge['from_id'], edge['to_id'])]
    house = SALMON.house.model_copy(update={'graph': {**graph, 'edges': nowhere}})
    case = dataclasses.replace(SALMON, scene=house)
    calls = ('find toilet', 'grab salmon')

    assert rules(judged(SALMON, *calls)) == [('not_in_room', 1)]
    assert rules(judged(case, *calls, world=HouseholdWorld(house.build()))) == []


def test_who_does_nothing_is_not_faithful_and_in_no_denominator() -> None:
    gave_up, _ = played('cannot: no', planner=STATELESS)
    unreadable, _ = played('Well.', 'Well.', planner=STATELESS)
    moved, _ = played(f'1. move({named("fridge")})', 'done', planner=STATELESS)

    assert [item.faithful for item in (gave_up, unreadable, moved)] == [None, None, True]
    assert gave_up.faithful_strict is None
    assert Figures.of([gave_up, unreadable]).rate('faithful').n == 0
    both = Figures.of([make_result(trial=0, broken_rules=None), make_result(broken_rules={})])
    assert (both.rate('faithful').value, both.rate('faithful').n) == (1, 1)


def test_replies_of_nothing_but_unknown_actions_break_that_rule() -> None:
    result, _ = played('1. fly(fridge1)', '1. swim()', planner=STATELESS)
    repeated, _ = played('1. fly(fridge1)', '1. fly(fridge1)', planner=STATELESS)

    assert result.ending == 'MODEL_FAILED'
    assert result.broken_rules == {'unknown_action': 2}
    assert repeated.broken_rules == {'unknown_action': 1}, 'what the second repeats counts once'
    assert (result.faithful, result.discarded, result.refused) == (False, 2, 2)
