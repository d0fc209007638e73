"""LLM-State: who is asked when, what is remembered, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest
from chosen import chosen
from small_house import SmallHouse
from state_player import Role, block, role_of, roles

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EventKind, Limits
from bbllm.core.text import without_delimiters
from bbllm.core.types import Code, Outcome, SkillCall, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.belief.grammar import (
    MAX_ATTRIBUTES_LENGTH,
    parse_attention,
    parse_estimate,
)
from bbllm.planners.common.belief.prompting import PLAN_LIMIT
from bbllm.planners.llm_state import planner as llm_state
from bbllm.planners.llm_state.planner import LLMState

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


def test_a_plan_is_cut_before_its_twentieth_step_and_what_is_cut_is_told() -> None:
    long = '\n'.join(f'{i}. move(mug1)' for i in range(1, 31))
    world = SmallHouse()

    episode = play(roles(in_turn(long, DONE)), world)

    assert len(world.calls) == PLAN_LIMIT - 1
    assert len(told(episode, EventKind.DISCARDED)) == 30 - (PLAN_LIMIT - 1)


def test_who_never_says_done_is_ended_by_the_number_of_plans(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(llm_state, 'MAX_ROUNDS', 4)
    model = roles(lambda prompt: '1. move(fridge1)')

    episode = play(model, SmallHouse())

    assert episode.ending is Ending.GAVE_UP
    assert 'After 4 plans' in episode.message
    assert len(prompts_of(model, 'policy')) == 4


def test_what_a_person_says_stands_in_the_prompts_of_all_plans_from_then_on() -> None:
    run = EpisodeRun(TASK, planner='llm_state', brain='b', body='b')
    plan = in_turn('1. move(mug1)', '1. move(sink1)', DONE)
    model = roles(plan)
    planner = LLMState(run.model(model, 'brain'), NOBODY)
    world = SmallHouse()
    walk = world.execute

    def walk_and_hear(call: SkillCall) -> Outcome:
        if len(world.calls) == 0:
            run.add_feedback('mind the\ncat')
        return walk(call)

    world.execute = walk_and_hear
    run.execute(planner, world)

    said = ['A person says: mind the cat' in prompt for prompt in prompts_of(model, 'policy')]
    assert said == [False, True, True]


TASK_HELD = Task('t', 'put a salmon\nin the fridge')


def play_held(model: ScriptedModel, **options: str) -> Episode:
    run = EpisodeRun(TASK_HELD, planner='llm_state', brain='b', body='b')
    return run.execute(
        LLMState(run.model(model, 'brain'), NOBODY, options=chosen('llm_state', **options)),
        SmallHouse(),
    )


def salmon_is_hot(plans: list[str]) -> ScriptedModel:
    """Return a model to which the salmon matters, and which holds it for hot."""
    return roles(
        lambda prompt: plans.pop(0),
        attention=lambda prompt: 'add_related_objects("salmon1")',
        estimator=lambda prompt: 'update_state("salmon1", "hot")\nupdate_reasoning("So far so.")',
    )


def test_with_messages_the_estimator_too_is_told_why_a_step_failed() -> None:
    plans = ['1. pickup(salmon1)', 'done']
    model = salmon_is_hot([*plans])
    silent = salmon_is_hot([*plans])

    play_held(model, messages='yes')
    play_held(silent)

    told = block('robot actions', prompts_of(model, 'memory')[1])
    assert told.startswith('pickup(salmon1) Fail: ') and 'close' in told
    assert block('robot actions', prompts_of(silent, 'memory')[1]) == 'pickup(salmon1) Fail'


@pytest.mark.parametrize(
    ('options', 'hot', 'summary'),
    [({}, True, True), ({'summary': 'no'}, True, False), ({'objects': 'no'}, False, True)],
)
def test_what_an_ablation_leaves_out_is_believed_of_no_estimator_that_says_it_all_the_same(
    options: dict[str, str], hot: bool, summary: bool
) -> None:
    model = salmon_is_hot(['done'])

    play_held(model, **options)

    (policy,) = prompts_of(model, 'policy')
    assert ('salmon1: hot' in policy, 'So far so' in policy) == (hot, summary)


@pytest.mark.parametrize('call', ['add_related_objects("")', 'add_related_objects("cup1", )'])
def test_a_call_with_a_name_missing_is_left_out_as_a_whole(call: str) -> None:
    found = parse_attention(f'add_related_objects("mug1")\n{call}')

    assert found.things == ('mug1',)
    assert ['takes the name of a thing' in item.why for item in found.discarded] == [True]


@pytest.mark.parametrize('end', [';', '.', '`', ' ;  '])
def test_a_summary_without_quotes_ends_with_its_line_whatever_stands_behind_the_bracket(
    end: str,
) -> None:
    assert parse_estimate(f'update_reasoning(All went well.){end}\nGood luck!').summary == (
        'All went well.'
    )


LIMIT = 30
"""How many steps an episode may have here; who does not get on uses them all."""
FETCH = '1. move(salmon1)\n2. pickup(salmon1)\n3. move(kitchencabinet1)'
PUT = '1. placein(salmon1, kitchencabinet1)'
OPEN_FIRST = '1. open(kitchencabinet1)\n2. placein(salmon1, kitchencabinet1)'
WASH = '1. move(mug1)\n2. pickup(mug1)\n3. move(sink1)\n4. placein(mug1, sink1)'
RINSE = '1. move(faucet1)\n2. switchon(faucet1)\n3. switchoff(faucet1)'


def play_ablations(model: ScriptedModel, world: Any, **options: Any) -> Episode:
    run = EpisodeRun(
        Task('t', 'work'), planner='llm_state', brain='b', body='b', limits=Limits(steps=LIMIT)
    )
    return run.execute(
        LLMState(run.model(model, 'brain'), NOBODY, options=chosen('llm_state', **options)), world
    )


def puts_away(sees_cause: Role) -> ScriptedModel:
    """
    Return a model that finds a closed cabinet closed only where it is told that it is.

    Args:
        sees_cause: Returns the part of a policy's prompt in which it looks for that.
    """

    def policy(prompt: str) -> str:
        done = block('history actions', prompt)
        if 'placein(salmon1, kitchencabinet1) Success' in done:
            return 'done'
        if 'pickup(salmon1) Success' not in done:
            return FETCH
        return OPEN_FIRST if 'not open' in sees_cause(prompt) else PUT

    def estimator(prompt: str) -> str:
        done = block('robot actions', prompt)
        lines = ['update_state("salmon1", "in hand")'] if 'update_state("' in prompt else []
        if 'update_reasoning("' in prompt and 'placein(' in done:
            lines += ['update_reasoning("It could not put it in. The cabinet may be not open.")']
        return '\n'.join(lines) or 'none'

    def attention(prompt: str) -> str:
        return 'add_related_objects("salmon1")\nadd_related_objects("kitchencabinet1")'

    return roles(policy, attention=attention, estimator=estimator)


def washes(believes: Role) -> ScriptedModel:
    """
    Return a model that has lost count of what it did, and knows what is clean by the state only.

    Args:
        believes: Returns the part of a policy's prompt in which it looks for that.
    """

    def policy(prompt: str) -> str:
        if 'mug1: washed' in believes(prompt):
            return 'done'
        return RINSE if 'placein(mug1, sink1) Success' in prompt else WASH

    def estimator(prompt: str) -> str:
        rinsed = 'switchon(faucet1) Success' in block('robot actions', prompt)
        lines = ['update_reasoning("It works at the sink.")']
        if 'update_state("' in prompt and rinsed:
            lines += ['update_state("mug1", "washed")']
        return '\n'.join(lines)

    def attention(prompt: str) -> str:
        return 'add_related_objects("mug1")'

    return roles(policy, attention=attention, estimator=estimator)


def state_of(prompt: str) -> str:
    return block('current state', prompt) if '==== current state ====' in prompt else ''


def test_with_a_summary_the_cause_of_a_failure_is_in_the_next_plan_s_prompt() -> None:
    world = SmallHouse()

    episode = play_ablations(puts_away(state_of), world)

    assert episode.ending is Ending.FINISHED
    assert world.has('salmon_13', 'inside', 'kitchencabinet_31')


def test_without_a_summary_the_same_step_is_tried_until_the_steps_run_out() -> None:
    world = SmallHouse()

    episode = play_ablations(puts_away(state_of), world, summary='no')

    assert episode.ending is Ending.OUT_OF_BUDGET
    assert world.calls.count('putin(salmon_13, kitchencabinet_31)') == LIMIT - 3
    assert not world.has('salmon_13', 'inside', 'kitchencabinet_31')


def test_with_attributes_it_is_known_what_has_become_of_a_thing() -> None:
    world = SmallHouse()

    episode = play_ablations(washes(state_of), world)

    assert episode.ending is Ending.FINISHED
    assert world.calls.count('switchon(faucet_35)') == 1
    assert world.has('mug_12', 'is', 'washed')


@pytest.mark.parametrize('option', ['objects', 'states'])
def test_without_attributes_it_is_washed_again_and_again(option: str) -> None:
    world = SmallHouse()

    episode = play_ablations(washes(state_of), world, **{option: 'no'})

    assert episode.ending is Ending.OUT_OF_BUDGET
    assert world.calls.count('switchon(faucet_35)') > 5


TASK_REPLIES = Task('t', 'put salmon1 in the fridge')


def play_replies(replies: list[str], **limits: int) -> Episode:
    run = EpisodeRun(TASK_REPLIES, planner='p', brain='b', body='b', limits=Limits(**limits))
    planner = LLMState(
        run.model(ScriptedModel(replies), 'brain'),
        NOBODY,
        options=chosen('llm_state', states='no'),
    )
    return run.execute(planner, SmallHouse())


def test_plans_that_only_wait_end_it_with_a_reason_before_the_limit_of_plans() -> None:
    wait = '1. wait()\n2. wait()'
    episode = play_replies([wait, wait, '1. wait()\n2. move(fridge1)', *[wait] * 20], steps=10)

    assert episode.ending is Ending.GAVE_UP
    assert 'In 3 rounds in a row' in episode.message
    assert len(episode.model_calls) == 6


def test_actions_of_a_reply_that_is_refused_are_told_with_what_is_wrong_with_them() -> None:
    episode = play_replies(['1. fly(fridge1)', '1. fly(fridge1)\n2. swim(sink1)'])

    told = [event.data for event in episode.events if event.kind is EventKind.DISCARDED]
    assert episode.ending is Ending.MODEL_FAILED
    assert [data.text for data in told] == ['1. fly(fridge1)', '2. swim(sink1)']
    assert {data.code.name for data in told} == {'UNKNOWN_SKILL'}
