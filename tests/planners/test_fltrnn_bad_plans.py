"""FLTRNN and its baselines with plans that are half Python, half lost, or nothing at all."""

from __future__ import annotations

import pytest
from house_player import Studio, bring, call, cells, discarded, play, player

from bbllm.core.errors import GaveUpError
from bbllm.core.events import Ending, EventKind
from bbllm.core.types import SkillCall
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.goal_predicates import all_in_sight
from bbllm.planners.fltrnn.baselines import PlanningOnly
from bbllm.planners.fltrnn.grammar import LostPlanError, parse_calls
from bbllm.planners.fltrnn.planner import FLTRNN
from bbllm.worlds.household.visibility import Visibility

WALK = "walk('tv(id:3)')"
ON = "switchon('tv(id:3)')"


@pytest.mark.parametrize('mark', ['1. ', '2) ', '- ', '* '])
def test_a_call_may_have_the_mark_of_a_list(mark: str) -> None:
    (found,) = parse_calls(f'{mark}{WALK}\n# done').calls

    assert found.args == ('tv_3',)


@pytest.mark.parametrize(
    'line',
    [
        "robot.grab('tv(id:3)')",
        "Grab('tv(id:3)')",
        "yield grab('tv(id:3)')",
        "x = grab('tv(id:3)')",
    ],
)
def test_what_has_the_form_of_a_call_is_never_taken_for_prose(line: str) -> None:
    ((text, _),) = parse_calls(f'{WALK}\n{line}\n# done').left_out

    assert text == line
    with pytest.raises(LostPlanError) as lost:
        parse_calls(f'{line}\n# done')
    assert [text for text, _ in lost.value.left_out] == [line]


@pytest.mark.parametrize(
    'line', ['Here is the plan:', 'I take milk(id:21), as asked', '# grab(x)']
)
def test_prose_and_comments_are_no_lost_calls(line: str) -> None:
    assert parse_calls(f'{line}\n{WALK}').left_out == ()


@pytest.mark.parametrize(
    'block',
    [
        f'if False:\n    {ON}',
        f'for x in y:\n    {ON}',
        f'if x: {ON}',
        f'def helper(y):\n    {ON}',
        f'def helper():\n    {ON}\ndef task():',
        f'"""\n{ON}\n"""',
    ],
)
def test_nothing_is_done_of_what_stands_in_a_block(block: str) -> None:
    plan = parse_calls(f'{block}\n{WALK}\n# done')

    assert [found.skill for found in plan.calls] == ['walk']
    assert plan.has_blocks and any(ON in text for text, _ in plan.left_out)


def test_a_plan_with_a_block_is_asked_for_once_more_and_counted_once() -> None:
    text = f'if False:\n    {call("switchon", "tv")}\n{call("walk", "tv")}\n# done'
    world = Studio()
    model = ScriptedModel([text, text])

    episode = play(PlanningOnly, model, 'turnon_tv: 1', world)

    assert 'stand in a block' in model.requests[1].messages[-1].content
    assert [line.partition('(')[0] for line in world.calls] == ['walk']
    assert discarded(episode) == ['if False:', call('switchon', 'tv')]


def test_to_give_up_is_the_whole_reply_and_no_thought_above_a_plan() -> None:
    plan = parse_calls(f'# Rule thought:\n# cannot: open what is open already\n{WALK}')

    assert len(plan.calls) == 1
    with pytest.raises(GaveUpError, match='the tv is broken'):
        parse_calls('Well.\ncannot: the tv is broken')


@pytest.mark.parametrize('reply', ['# done', 'robot.grab(mug)\n# done'])
def test_a_goal_in_words_is_never_done_by_nothing(reply: str) -> None:
    model = player('subgoal{rinse a mug}', lambda prompt: reply)
    episode = play(FLTRNN, model, 'rinse a mug', Studio())

    assert episode.ending is Ending.GAVE_UP
    assert 'Not reached after 3 plans' in episode.message
    assert set(discarded(episode)) == {reply.partition('\n')[0]}
    first = {prompt.partition('# Tried before')[2].partition('\n')[0] for prompt in cells(model)}
    assert len(first) == 2  # the next plan is asked for with the reason


def test_a_goal_in_words_of_which_something_was_done_counts() -> None:
    model = player('subgoal{watch}', lambda prompt: f'{call("walk", "tv")}\n# done')

    assert play(FLTRNN, model, 'watch', Studio()).ending is Ending.FINISHED


@pytest.mark.parametrize(
    ('options', 'tells'),
    [({}, True), ({'long_memory': 'no'}, False), ({'rule_cot': 'no'}, False)],
)
def test_rules_that_are_left_out_do_not_come_back_with_a_refusal(
    options: dict[str, str], tells: bool
) -> None:
    two = [call('walk', 'plum'), call('grab', 'plum'), call('grab', 'bananas'), '# done']
    model = player('subgoal{on_plum_coffeetable: 1}', lambda prompt: '\n'.join(two))

    play(FLTRNN, model, 'on_plum_coffeetable: 1', Studio(), **options)

    retries = [r.messages[-1].content for r in model.requests if len(r.messages) > 1]
    assert retries and all('was refused' in text for text in retries)
    later = [prompt.partition('# Tried before')[2] for prompt in cells(model)]
    for text in [*retries, *later]:
        assert ('only one thing' in text) <= tells and ('keeps all rules' in text) <= tells
    assert any('only one thing' in text for text in retries) is tells


def test_a_completed_sub_goal_that_was_undone_is_completed_no_more() -> None:
    goals = ['closed_fridge: 1', 'on_milk_coffeetable: 1', 'turnon_tv: 1']

    def plan(prompt: str) -> str:
        if '# Tried' not in prompt and 'closed_fridge' in prompt.rsplit('# The goal:')[-1]:
            return f'{call("walk", "fridge")}\n{call("close", "fridge")}\n# done'
        if 'tv' in prompt.rsplit('# The goal:')[-1]:
            return f'{call("walk", "tv")}\n{call("switchon", "tv")}\n# done'
        opened = [call('walk', 'fridge'), call('open', 'fridge')]
        return '\n'.join([*opened, *bring('milk', 'coffeetable'), '# done'])

    model = player(', '.join(f'subgoal{{{goal}}}' for goal in goals), plan)
    episode = play(FLTRNN, model, ', '.join(goals), Studio())

    assert episode.ending is Ending.FINISHED, episode.message
    completed = [
        prompt.partition('# Completed so far: ')[2].partition('\n')[0] for prompt in cells(model)
    ]
    assert completed[0] == 'closed_fridge: 1'
    assert completed[-1] == 'on_milk_coffeetable: 1; turnon_tv: 1'


def test_the_published_program_believes_that_each_call_worked() -> None:
    # The milk is shut in, so that to take it fails; what comes after is done nevertheless.
    model = player(
        'subgoal{on_milk_coffeetable: 1}',
        lambda prompt: '\n'.join([*bring('milk', 'coffeetable'), call('switchon', 'tv')]),
    )
    world = Studio()

    episode = play(FLTRNN, model, 'on_milk_coffeetable: 1', world, paper_code='yes')

    assert len(world.calls) == 5
    assert any(e.kind is EventKind.FAILED for e in episode.events)


def test_rooms_that_were_all_seen_with_their_doors_shut_are_not_all_there_is() -> None:
    world = Studio(Visibility(reach='room', accumulating=True))
    rooms = [item.name for item in world.observe().objects if item.kind.value == 'location']
    for room in rooms:
        world.execute(SkillCall('walk', (room,)))

    assert not all_in_sight(world.observe())  # the milk is in the fridge
    assert all_in_sight(Studio().observe())
