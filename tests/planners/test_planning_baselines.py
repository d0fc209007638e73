"""The baselines of FLTRNN: one plan for all, and a reasoner with a planner and no memory."""

from __future__ import annotations

import pytest
from house_player import Studio, bring, call, discarded, id_of, play, told

from bbllm.core.events import Ending, EventKind
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.fltrnn.baselines import PlanningOnly, PlanningReasoning
from bbllm.planners.fltrnn.prompting import ACT, REASON, WHOLE

GOAL = 'on_plum_coffeetable: 1, turnon_tv: 1'
TV = [call('walk', 'tv'), call('switchon', 'tv')]


def test_planning_only_asks_once_and_carries_all_of_it_out() -> None:
    world = Studio()
    model = ScriptedModel(['\n'.join([*bring('plum', 'coffeetable'), *TV])])

    episode = play(PlanningOnly, model, GOAL, world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('plum', 'on', 'coffeetable') and world.has('tv', 'is', 'on')
    (request,) = model.requests
    assert request.prompt.startswith(WHOLE)
    assert request.prompt.count('# The goal: ') == 4  # three demonstrations
    assert 'Only one thing may be held' in request.prompt
    assert 'Rule thought' not in request.prompt and 'Long-term' not in request.prompt


def test_planning_only_does_not_know_that_a_call_failed_and_goes_on() -> None:
    world = Studio()
    model = ScriptedModel(['\n'.join([*bring('milk', 'coffeetable'), 'wash(tv)', *TV])])

    episode = play(PlanningOnly, model, 'on_milk_coffeetable: 1, turnon_tv: 1', world)

    assert episode.ending is Ending.GAVE_UP
    assert 'inside other closed thing' in episode.message
    assert world.has('tv', 'is', 'on') and len(world.calls) == 6
    assert discarded(episode) == ['wash(tv)']
    assert len(model.requests) == 1


def test_the_reasoner_lists_sub_tasks_and_the_planner_sees_things_as_they_are_by_then() -> None:
    world = Studio()
    model = ScriptedModel(
        [
            '#1. put one plum on coffeetable\n#2. switch on one tv',
            '\n'.join(bring('plum', 'coffeetable')),
            '\n'.join(TV),
        ]
    )

    episode = play(PlanningReasoning, model, GOAL, world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert world.has('plum', 'on', 'coffeetable') and world.has('tv', 'is', 'on')
    reasoner, first, second = (request.prompt for request in model.requests)
    assert reasoner.startswith(REASON) and f'Task goal: {GOAL}' in reasoner
    assert first.startswith(ACT) and second.startswith(ACT)
    assert '# The goal: put one plum on coffeetable\ndef task():' in first
    # The examples speak as the reasoner does, and all of the goal's things are told each time.
    assert '# The goal: put three cup on shelf' in first
    assert f"('{id_of('plum')}', 'ON', '{id_of('coffeetable')}')" in told(second)
    assert id_of('tv') in told(first)
    parts = [e.data.text for e in episode.events if e.kind is EventKind.SUB_GOAL]
    assert parts == ['put one plum on coffeetable', 'switch on one tv']


@pytest.mark.parametrize('planner', [PlanningOnly, PlanningReasoning])
def test_what_cannot_be_reached_is_refused_before_any_request(planner: type) -> None:
    model = ScriptedModel([])

    episode = play(planner, model, 'turnon_tv: 1, turnoff_tv: 1', Studio())

    assert episode.ending is Ending.GAVE_UP
    assert 'contradicts itself' in episode.message and model.requests == []
