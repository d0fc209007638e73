"""FLTRNN's cells: what is checked, told again and done after a plan that is refused or fails."""

from __future__ import annotations

from typing import Any

import pytest
from house_player import Studio, asked, bring, call, cells, discarded, lines, play, player
from house_player import told as memory_told

from bbllm.core.events import Ending, Episode, EventKind
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.fltrnn.planner import FLTRNN, NOTHING_DONE, ROUNDS
from bbllm.worlds.household.visibility import Visibility

MILK = 'on_milk_coffeetable: 1'
FETCHED = (call('walk', 'fridge'), call('open', 'fridge'), *bring('milk', 'coffeetable'))
TV = (call('walk', 'tv'), call('switchon', 'tv'))


def told(episode: Episode, kind: EventKind) -> list[Any]:
    return [event.data for event in episode.events if event.kind is kind]


def retries(model: ScriptedModel) -> list[str]:
    """Return what the model was told against a reply, in order."""
    return [r.messages[-1].content for r in model.requests if len(r.messages) > 1]


def planning(*plans: tuple[str, ...]) -> ScriptedModel:
    """Return a model that has one part, the milk, and these plans for it; the last for ever."""
    left = [*plans]
    return player(
        f'subgoal{{{MILK}}}', lambda prompt: lines(*(left.pop(0) if left[1:] else left[0]))
    )


def test_each_plan_of_a_verified_sub_goal_is_checked_by_the_graph_once() -> None:
    episode = play(FLTRNN, planning(FETCHED[:2], FETCHED[2:]), MILK, Studio())

    found = [(data.condition, data.holds, data.by) for data in told(
        episode, EventKind.CHECKED
    )]  # fmt: skip
    assert found == [(MILK, False, 'graph'), (MILK, True, 'graph')]
    assert episode.ending is Ending.FINISHED


def test_a_sub_goal_that_is_never_reached_is_planned_three_times_and_then_given_up() -> None:
    model = planning(FETCHED[:1])

    episode = play(FLTRNN, model, MILK, Studio())

    assert len(cells(model)) == ROUNDS == 3
    assert episode.ending is Ending.GAVE_UP
    assert f'after 3 plans each: {MILK} (of {MILK} there are 0; the plan ended without' in (
        episode.message
    )


def test_why_a_plan_was_not_enough_is_told_with_the_next_one_and_not_with_the_first() -> None:
    model = planning(FETCHED[:1])

    play(FLTRNN, model, MILK, Studio())

    tried = ['# Tried before, and not reached: ' in prompt for prompt in cells(model)]
    assert tried == [False, True, True]


def test_of_several_calls_that_are_refused_the_first_is_said_and_the_others_counted() -> None:
    refused = (call('grab', 'tv'), call('open', 'tv'), call('switchoff', 'tv'))
    model = planning((call('walk', 'livingroom'), *refused), FETCHED)

    episode = play(FLTRNN, model, MILK, Studio())

    (said,) = retries(model)
    assert 'grab(tv' in said and ' 2 more calls cannot be done either.' in said
    assert 'Write a plan that keeps all rules.' in said
    assert len(discarded(episode)) == 3
    assert not [text for text in episode_calls(episode) if 'tv' in text]


def episode_calls(episode: Episode) -> list[str]:
    return [str(data.call) for data in told(episode, EventKind.OUTCOME)]


@pytest.mark.parametrize('ablated', ['rule_cot', 'long_memory'])
def test_where_rules_are_ablated_a_refusal_says_that_it_was_one_and_no_rule(ablated: str) -> None:
    model = planning((*FETCHED[:1], call('grab', 'milk')), FETCHED)

    play(FLTRNN, model, MILK, Studio(), **{ablated: 'no'})

    (said,) = retries(model)
    assert 'was refused' in said
    assert 'closed' not in said and 'keeps all rules' not in said


def test_a_name_that_does_not_exist_is_said_also_where_rules_are_ablated() -> None:
    model = planning(("walk('unicorn(id:1)')",), FETCHED)

    play(FLTRNN, model, MILK, Studio(), rule_cot='no')

    assert 'there is no' in retries(model)[0]


def test_the_published_program_asks_nobody_again_for_a_call_that_cannot_be_done() -> None:
    model = planning(("fly('tv(id:1)')", *FETCHED))

    episode = play(FLTRNN, model, MILK, Studio(), paper_code='yes')

    assert len(cells(model)) == 1
    assert retries(model) == []
    assert discarded(episode) == ['fly(tv_1)']


def test_of_a_plan_that_nobody_can_read_a_verified_sub_goal_is_planned_anew() -> None:
    model = planning(('robot.walk(milk)',), ('robot.walk(milk)',), FETCHED)

    episode = play(FLTRNN, model, MILK, Studio())

    assert episode.ending is Ending.FINISHED, episode.message
    assert 'none of its 1 lines can be read as a call' in cells(model)[-1]


def test_a_sub_goal_in_words_counts_only_if_something_was_done_for_it() -> None:
    plans = [(), TV]
    model = player('subgoal{watch tv}', lambda prompt: lines(*plans.pop(0)))

    episode = play(FLTRNN, model, 'watch tv', Studio())

    assert episode.ending is Ending.FINISHED, episode.message
    assert NOTHING_DONE in cells(model)[1]
    assert [data.text for data in told(episode, EventKind.DISCARDED)] == ['# done']


def test_what_comes_into_sight_while_a_plan_is_done_is_told_with_the_next() -> None:
    model = planning((call('walk', 'kitchen'),), FETCHED[:2], FETCHED[2:])
    world = Studio(Visibility(reach='room', accumulating=True))

    episode = play(FLTRNN, model, MILK, world)

    seen = ['milk(id:' in memory_told(prompt) for prompt in cells(model)]
    assert seen == [False, False, True]
    assert episode.ending is Ending.FINISHED, episode.message


def test_a_part_that_is_said_twice_is_remembered_as_completed_once() -> None:
    model = player(
        'subgoal{watch tv}, subgoal{watch tv}, subgoal{rest}', lambda prompt: lines(*TV[:1])
    )

    play(FLTRNN, model, 'watch tv and rest', Studio())

    last = next(prompt for prompt in cells(model) if asked(prompt) == 'rest')
    assert '# Completed so far: watch tv\n' in last
