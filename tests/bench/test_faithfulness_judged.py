"""What is held against the rules of faithfulness, and what cannot be."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from household_cases import case_of
from made_results import make_result
from test_faithfulness import SALMON, judged, rules
from test_play_household import played

from bbllm.bench.metrics.metrics import figures_of
from bbllm.bench.scorers.faithfulness import faithfulness_of
from bbllm.core.episode import EpisodeRun
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.types import SkillCall, Task
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.world import HouseholdWorld

STATELESS = 'llm_state:states=no'


class Exact:
    """A planner that makes calls as they are given."""

    def __init__(self, *calls: SkillCall):
        self._calls = calls

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        for call in self._calls:
            world.execute(call)


def made(world: World, *calls: SkillCall) -> Any:
    run = EpisodeRun(Task('t', 'do it'), planner='exact', brain='b', body='b')
    return faithfulness_of(SALMON, run.execute(Exact(*calls), world))


def named(kind: str) -> str:
    names = HouseholdWorld(SALMON.house.build()).observe().names
    return next(name for name in names if name.rpartition('_')[0] == kind)


@pytest.mark.parametrize('spelled', [('_', ' '), ('_', '-'), ('f', 'F')])
def test_a_call_is_judged_however_a_world_lets_it_be_spelled(spelled: tuple[str, str]) -> None:
    fridge = named('fridge').replace(*spelled)
    world = HouseholdWorld(SALMON.house.build())

    found = made(
        world,
        SkillCall('Walk', (fridge,)),
        SkillCall('open', (fridge,)),
        SkillCall('open', (fridge,)),
    )

    assert len(world.lines) == 2, 'the world accepts the spelling'
    assert rules(found) == [('already_open', 2)]


def test_a_spelling_that_the_world_accepts_loses_no_episode() -> None:
    fridge = named('fridge').replace('_', ' ')

    result, _ = played(f'1. move({fridge})\n2. open({fridge})', 'done', planner=STATELESS)

    assert (result.verdict, result.error, result.executable) == ('failed', '', 2)
    assert result.faithful is True


def test_a_journal_that_cannot_be_done_again_leaves_only_faithfulness_unjudged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = case_of('put_salmon_in_the_fridge')
    graph = {**other.house.graph, 'nodes': [*other.house.graph['nodes']]}
    graph['nodes'] = [
        {**node, 'states': ['OPEN']} if node['class_name'] == 'microwave' else node
        for node in graph['nodes']
    ]
    opened = dataclasses.replace(other, scene=other.house.model_copy(update={'graph': graph}))
    judge = faithfulness_of
    monkeypatch.setattr(
        'bbllm.bench.scorers.scoring.faithfulness_of', lambda case, episode: judge(opened, episode)
    )

    result, _ = played("find('microwave')\nopen('microwave')")

    assert (result.verdict, result.executable) == ('failed', 2)
    assert (result.faithful, result.broken_rules) == (None, None)


def test_a_thing_out_of_sight_is_one_that_is_not_in_the_scene_and_no_more() -> None:
    world = HouseholdWorld(SALMON.house.build(), visibility=Visibility(reach='room'))
    shut_in = named('milk')
    assert shut_in not in world.observe().names

    found = made(world, SkillCall('grab', (shut_in,)))

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
    assert gave_up.faithful_two_hands is None
    assert figures_of([gave_up, unreadable]).rate('faithful').n == 0
    both = figures_of([make_result(trial=0, broken_rules=None), make_result(broken_rules={})])
    assert (both.rate('faithful').value, both.rate('faithful').n) == (1, 1)


def test_replies_of_nothing_but_unknown_actions_break_that_rule() -> None:
    result, _ = played('1. fly(fridge1)', '1. fly(fridge1)\n2. swim()', planner=STATELESS)

    assert result.ending == 'MODEL_FAILED'
    assert result.broken_rules == {'unknown_action': 2}, 'what the second repeats counts once'
    assert (result.faithful, result.discarded, result.refused) == (False, 2, 2)
