"""LLM-State: who is asked when, what is remembered, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest
from chosen import chosen
from small_house import ROOMS, SmallHouse
from state_player import Role, block, role_of, roles

from bbllm.core.budget import Limits
from bbllm.core.delimiters import without_delimiters
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EventKind
from bbllm.core.types import Code, Outcome, SkillCall, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.belief.grammar import MAX_ATTRIBUTES_LENGTH
from bbllm.planners.belief.prompting import PLAN_LIMIT
from bbllm.planners.llm_state import planner as llm_state
from bbllm.planners.llm_state.planner import LLMState
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.world import HouseholdWorld

NOBODY: Any = None
TASK = Task('t', 'put a salmon in the fridge')
WHOLE = """Low-level Action Plan:
1. move(salmon1)
2. pickup(salmon1)
3. move(fridge1)
4. open(fridge1)
5. placein(salmon1, fridge1)"""
DONE = 'Low-level Action Plan:\ndone'


def play(model: ScriptedModel, world: Any, *, steps: int = 50, **options: Any) -> Episode:
    run = EpisodeRun(TASK, planner='llm_state', brain='b', body='b', limits=Limits(steps=steps))
    return run.execute(
        LLMState(run.model(model, 'brain'), NOBODY, options=chosen('llm_state', **options)), world
    )


def told(episode: Episode, kind: EventKind) -> list[Any]:
    return [event.data for event in episode.events if event.kind is kind]


def in_turn(*texts: str) -> Role:
    left = list(texts)
    return lambda prompt: left.pop(0)


def prompts_of(model: ScriptedModel, role: str) -> list[str]:
    asked = [without_delimiters(request.messages[0].content) for request in model.requests]
    return [prompt for prompt in asked if role_of(prompt) == role]


def test_a_plan_is_carried_out_with_the_names_and_actions_of_the_house() -> None:
    world = SmallHouse()

    episode = play(roles(in_turn(WHOLE, DONE)), world)

    assert episode.ending is Ending.FINISHED
    assert world.calls == [
        'walk(salmon_13)',
        'grab(salmon_13)',
        'walk(fridge_33)',
        'open(fridge_33)',
        'putin(salmon_13, fridge_33)',
    ]
    assert world.has('salmon_13', 'inside', 'fridge_33')


def test_each_plan_comes_after_attention_and_estimate() -> None:
    model = roles(in_turn(WHOLE, DONE))

    play(model, SmallHouse())

    asked = [role_of(request.prompt) for request in model.requests]
    assert asked == ['attention', 'memory', 'policy'] * 2


def test_a_step_that_fails_ends_the_plan_and_the_history_says_that_it_failed_and_not_why() -> None:
    world = SmallHouse()
    model = roles(in_turn('1. move(mug1)\n2. open(fridge1)\n3. pickup(mug1)', DONE))

    episode = play(model, world)

    assert world.calls == ['walk(mug_12)', 'open(fridge_33)']
    assert block('history actions', prompts_of(model, 'policy')[1]).splitlines() == [
        'move(mug1) Success',
        'open(fridge1) Fail',
    ]
    (repair,) = told(episode, EventKind.REPAIR)
    assert (repair.index, 'is not close to' in repair.cause) == (1, True)


def test_a_new_plan_takes_the_place_of_the_step_that_failed() -> None:
    model = roles(in_turn('1. move(mug1)\n2. open(fridge1)', '1. move(fridge1)', DONE))

    episode = play(model, SmallHouse())

    plans = told(episode, EventKind.PLAN)
    assert [plan.steps for plan in plans][-1] == ('move(mug1)', 'move(fridge1)')
    assert [plan.start for plan in plans] == [0, 1]


def test_things_are_only_ever_added() -> None:
    attention = in_turn('add_related_objects("fridge1")', 'add_related_objects("salmon2")', 'none')
    model = roles(in_turn('1. move(mug1)', '1. move(mug1)', DONE), attention=attention)

    episode = play(model, SmallHouse())

    things = [list(item.attributes) for item in told(episode, EventKind.ESTIMATED)]
    assert things == [['fridge_33'], ['fridge_33', 'salmon_14'], ['fridge_33', 'salmon_14']]
    assert block('current state', prompts_of(model, 'attention')[2]) == 'fridge1: []\nsalmon2: []'


def test_attributes_replace_those_of_before_and_are_estimated_anew_from_the_first_step() -> None:
    estimator = in_turn(
        'update_state("mug1", "dirty | on table1")\nupdate_reasoning("It began.")',
        'update_state("mug1", "in hand")',
        'none',
    )
    policy = in_turn('1. move(mug1)\n2. pickup(mug1)', '1. move(sink1)', DONE)
    model = roles(
        policy, attention=lambda prompt: 'add_related_objects("mug1")', estimator=estimator
    )

    episode = play(model, SmallHouse())

    believed = [
        (item.attributes['mug_12'], item.summary) for item in told(episode, EventKind.ESTIMATED)
    ]
    assert believed == [(('dirty', 'on table1'), 'It began.'), (('in hand',), ''), ((), '')]
    second, third = prompts_of(model, 'memory')[1:]
    for prompt in (second, third):
        assert block('current state', prompt) == 'mug1: []'
        assert 'dirty' not in prompt and 'It began' not in prompt
    assert block('robot actions', third).splitlines() == [
        'move(mug1) Success',
        'pickup(mug1) Success',
        'move(sink1) Success',
    ]


def test_the_policy_reads_what_is_believed_and_the_estimator_does_not_know_the_task() -> None:
    estimator = in_turn(
        'update_reasoning("All is\nquiet.")\nupdate_state("mug1", "empty | cold")', 'none'
    )
    model = roles(
        in_turn('1. move(mug1)', DONE),
        attention=lambda prompt: 'add_related_objects("mug1")\nadd_related_objects("sink1")',
        estimator=estimator,
    )

    play(model, SmallHouse())

    first = prompts_of(model, 'policy')[0]
    assert block('current state', first).splitlines() == [
        'mug1: empty | cold',
        'sink1: []',
        'Reasoning: All is quiet.',
    ]
    assert TASK.instruction in first
    assert all(TASK.instruction not in prompt for prompt in prompts_of(model, 'memory'))


def test_what_is_malformed_or_of_no_such_thing_is_left_out_and_told() -> None:
    much = 'x' * 10_000
    model = roles(
        in_turn('1. fly(mug1)\n2. move(mug1)\n3. placein(mug1)\n4. look around', DONE),
        attention=in_turn('add_related_objects("unicorn1")\nadd_related_objects("mug1")', 'none'),
        estimator=in_turn(
            f'update_state("mug1", "{much}")\nupdate_state("unicorn1", "white")\n'
            'update_state("sink1")\nforget("mug1")\nupdate_reasoning("Nothing yet.")',
            'none',
        ),
    )
    world = SmallHouse()

    episode = play(model, world)

    discarded = told(episode, EventKind.DISCARDED)
    assert [item.why.partition('.')[0] for item in discarded] == [
        'There is nothing named unicorn1',
        f'Its attributes have 10000 characters; at most {MAX_ATTRIBUTES_LENGTH} are accepted',
        'update_state takes a thing and its attributes',
        'The functions are: update_reasoning, update_state',
        'There is nothing named unicorn1',
        'There is no action fly',
        'placein takes 2 things, but this has 1',
        'It is no call such as move(object)',
    ]
    codes = [item.code for item in discarded if item.code]
    assert codes == [Code.UNKNOWN_SKILL, Code.BAD_ARGUMENTS]
    assert max(len(str(item.text)) for item in discarded) <= 400
    (first, _) = told(episode, EventKind.ESTIMATED)
    assert first.attributes == {'mug_12': ()}
    assert world.calls == ['walk(mug_12)']
    assert much not in '\n'.join(request.prompt for request in model.requests)


def test_a_thing_that_nobody_has_seen_is_tried_and_refused_by_the_house() -> None:
    model = roles(in_turn('1. move(lightswitch3) (assuming there is one)', DONE))
    world = SmallHouse()

    episode = play(model, world)

    (outcome,) = told(episode, EventKind.OUTCOME)
    assert outcome.code is Code.UNKNOWN_OBJECT
    assert 'move(lightswitch3) Fail' in prompts_of(model, 'policy')[1]


def test_a_plan_is_cut_before_its_twentieth_step_and_what_is_cut_is_told() -> None:
    long = '\n'.join(f'{i}. move(mug1)' for i in range(1, 31))
    world = SmallHouse()

    episode = play(roles(in_turn(long, DONE)), world)

    assert len(world.calls) == PLAN_LIMIT - 1
    assert len(told(episode, EventKind.DISCARDED)) == 30 - (PLAN_LIMIT - 1)


def test_waiting_does_nothing_in_a_house_and_counts_as_done() -> None:
    world = SmallHouse()
    model = roles(in_turn('1. wait()\n2. move(mug1)', DONE))

    play(model, world)

    assert world.calls == ['walk(mug_12)']
    assert 'wait() Success\nmove(mug1) Success' in prompts_of(model, 'policy')[1]


def test_who_never_says_done_is_ended_by_the_number_of_plans(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(llm_state, 'MAX_ROUNDS', 4)
    model = roles(lambda prompt: '1. move(fridge1)')

    episode = play(model, SmallHouse())

    assert episode.ending is Ending.GAVE_UP
    assert 'After 4 plans' in episode.message
    assert len(prompts_of(model, 'policy')) == 4


def test_an_empty_house_is_given_up_before_a_model_is_asked() -> None:
    nodes = [
        {'id': 1, 'class_name': 'kitchen', 'category': 'Rooms', 'properties': [], 'states': []},
        {'id': 2, 'class_name': 'character', 'category': 'Characters'},
    ]
    nodes[1] |= {'properties': [], 'states': []}
    edges = [{'from_id': 2, 'relation_type': 'INSIDE', 'to_id': 1}]
    model = roles(in_turn(WHOLE))

    episode = play(model, HouseholdWorld(Graph.from_dict({'nodes': nodes, 'edges': edges})))

    assert episode.ending is Ending.GAVE_UP
    assert 'The house is empty' in episode.message
    assert model.requests == []


def test_the_model_can_say_that_it_cannot_be_done() -> None:
    episode = play(roles(in_turn('cannot: there is no salmon left')), SmallHouse())

    assert (episode.ending, episode.message) == (Ending.GAVE_UP, 'there is no salmon left')


def test_what_a_person_says_stands_in_the_prompts_of_all_plans_from_then_on() -> None:
    run = EpisodeRun(TASK, planner='llm_state', brain='b', body='b')
    plan = in_turn('1. move(mug1)', '1. move(sink1)', DONE)
    model = roles(plan)
    planner = LLMState(run.model(model, 'brain'), NOBODY)
    world = SmallHouse()
    walk = world.execute

    def walk_and_hear(call: SkillCall) -> Outcome:
        if len(world.calls) == 0:
            run.hear('mind the\ncat')
        return walk(call)

    world.execute = walk_and_hear
    run.execute(planner, world)

    said = ['A person says: mind the cat' in prompt for prompt in prompts_of(model, 'policy')]
    assert said == [False, True, True]


def test_names_stay_when_more_of_the_house_is_seen() -> None:
    seen = Visibility(reach='room', accumulating=True)
    plans = [f'1. move({room.rpartition("_")[0]}1)' for room in (*ROOMS, ROOMS[1])]
    model = roles(in_turn(*plans, DONE))

    play(model, SmallHouse(seen))

    first, *_, last = (block('current observation', p) for p in prompts_of(model, 'attention'))
    assert 'clothespile1 IN bathroom1' in first and 'salmon' not in first
    assert 'salmon1 ON table1, salmon2 ON table1' in last
    assert 'clothespile1 IN bathroom1' in last
