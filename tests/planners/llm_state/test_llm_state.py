"""LLM-State: who is asked when, what is remembered, and what is left out."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EventKind, Limits
from bbllm.core.protocols import ModelRequest
from bbllm.core.types import Code, Outcome, SkillCall, Task
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.visibility import Visibility
from bbllm_planners.llm_state import planner as llm_state
from bbllm_planners.llm_state.grammar import MAX_ATTRIBUTES_LENGTH
from bbllm_planners.llm_state.planner import LLMState
from bbllm_planners.llm_state.prompting import PLAN_LIMIT
from tests.planners.chosen import chosen, opening
from tests.planners.small_house import SmallHouse

NOBODY: Any = None
TASK = Task('t', 'put a salmon in the fridge')
WHOLE = """Low-level Action Plan:
1. move(salmon1)
2. pickup(salmon1)
3. move(fridge1)
4. open(fridge1)
5. placein(salmon1, fridge1)"""
DONE = 'Low-level Action Plan:\ndone'
PUT_IN_SINK = """1. move(mug1)
2. pickup(mug1)
3. move(sink1)
4. placein(mug1, sink1)"""


_BLOCK = r'^==== {0} ====\n(.*?)\n==== end of {0} ====$'

Role = Callable[[str], str]
"""What a role answers to its prompt."""


def roles(
    policy: Role,
    *,
    attention: Role = lambda prompt: 'none',
    estimator: Role = lambda prompt: 'none',
) -> ScriptedModel:
    """Return a model with a rule for each role."""

    def answer(request: ModelRequest) -> str:
        rules = {'attention': attention, 'memory': estimator, 'policy': policy}
        return rules[role_of(request.prompt)](request.prompt)

    return ScriptedModel([answer] * 1000)


def role_of(prompt: str) -> str:
    """Return whose prompt it is: `attention`, `memory` or `policy`."""
    if prompt.startswith('You plan for a robot.'):
        return 'policy'
    found = re.match(r'You are the (attention|memory) of a robot\.', prompt)
    assert found is not None, prompt[:200]
    return found[1]


def block(name: str, prompt: str) -> str:
    """Return what a prompt tells under a heading, such as `history actions`."""
    found = re.search(_BLOCK.format(name), prompt, re.MULTILINE | re.DOTALL)
    assert found is not None, f'There is no {name} in:\n{prompt}'
    return found[1]


def play(
    model: ScriptedModel, world: Any, *, steps: int = 50, estimate: str = 'model', **options: Any
) -> Episode:
    """Play the paper's planner, whose model estimates all, or the one with other options."""
    options['estimate'] = estimate
    run = EpisodeRun(TASK, planner='llm_state', brain='b', body='b', limits=Limits(steps=steps))
    return run.execute(
        LLMState(run.model(model, 'brain'), NOBODY, options=chosen('llm_state', **options)), world
    )


def events_of(episode: Episode, kind: EventKind) -> list[Any]:
    return [event.data for event in episode.events if event.kind is kind]


def in_turn(*texts: str) -> Role:
    left = list(texts)
    return lambda prompt: left.pop(0)


def prompts_of(model: ScriptedModel, role: str) -> list[str]:
    asked = [opening(request) for request in model.requests]
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


def test_a_failed_step_ends_the_plan_and_the_history_omits_the_reason() -> None:
    world = SmallHouse()
    model = roles(in_turn('1. move(mug1)\n2. open(fridge1)\n3. pickup(mug1)', DONE))

    episode = play(model, world)

    assert world.calls == ['walk(mug_12)', 'open(fridge_33)']
    assert block('history actions', prompts_of(model, 'policy')[1]).splitlines() == [
        'move(mug1) Success',
        'open(fridge1) Fail',
    ]
    (repair,) = events_of(episode, EventKind.REPAIR)
    assert (repair.index, 'is not close to' in repair.cause) == (1, True)


def test_objects_are_only_ever_added() -> None:
    attention = in_turn('add_related_objects("washingmachine1")', 'add_related_objects("mug1")')
    model = roles(in_turn('1. move(kitchen1)', '1. move(mug1)', DONE), attention=attention)

    episode = play(model, SmallHouse(Visibility(reach='rooms_seen')))

    objects = [list(item.attributes) for item in events_of(episode, EventKind.ESTIMATED)]
    assert objects == [['washingmachine_37', 'mug_12']] * 2
    assert block('current state', prompts_of(model, 'attention')[1]) == 'washingmachine1: []'


def test_attention_is_asked_about_new_names_only_and_the_estimator_about_actions() -> None:
    plans = in_turn('1. move(kitchen1)', '1. move(mug1)', '1. move(bathroom1)', DONE)
    model = roles(plans)

    play(model, SmallHouse(Visibility(reach='rooms_seen')))

    asked = [role_of(request.prompt) for request in model.requests]
    assert asked == [
        *('attention', 'policy'),  # nothing was done that could be estimated from
        *('attention', 'memory', 'policy'),  # the kitchen is new
        *('memory', 'policy', 'memory', 'policy'),
    ]


@pytest.mark.parametrize(
    ('plans', 'asked'),
    [
        (('1. move(mug1)\n2. pickup(mug1)', '1. move(fridge1)\n2. open(fridge1)'), []),
        (('1. move(mug1)', '1. open(fridge1)', '1. move(fridge1)'), [2]),
        (('1. move(faucet1)\n2. switchon(faucet1)', '1. move(mug1)\n2. pickup(mug1)'), [1]),
        (('1. move(faucet1)', '2. switchon(faucet1)', PUT_IN_SINK), [2, 3]),
        (('1. move(faucet1)', '2. switchon(faucet1)\n3. switchoff(faucet1)', PUT_IN_SINK), [2]),
    ],
)
def test_the_estimator_is_asked_after_failures_and_what_devices_do_unless_it_estimates_all(
    plans: tuple[str, ...], asked: list[int]
) -> None:
    model = roles(in_turn(*plans, DONE))

    play(model, SmallHouse(), estimate='listed')

    order = [role_of(request.prompt) for request in model.requests]
    rounds = ''.join({'attention': '', 'memory': 'm', 'policy': 'p'}[role] for role in order)
    assert [i for i, text in enumerate(rounds.split('p')) if text] == asked


def test_the_state_is_what_the_scene_lists_and_what_the_model_added_to_it() -> None:
    remark = 'update_state("mug1", "on table1 | chipped")\nupdate_reasoning("The fridge is far.")'
    plans = ('1. open(fridge1)', '1. move(mug1)\n2. pickup(mug1)', DONE)
    attention = in_turn('add_related_objects("mug1")')
    model = roles(in_turn(*plans), attention=attention, estimator=in_turn(remark))

    episode = play(model, SmallHouse(), estimate='listed')

    first, second, third = (block('current state', p) for p in prompts_of(model, 'policy'))
    assert first == 'mug1: dirty | on table1'
    assert second.splitlines() == [
        'mug1: dirty | on table1 | chipped',
        'fridge1: closed',
        'Reasoning: The fridge is far.',
    ]
    assert third.splitlines() == [
        'mug1: dirty | in hand | chipped',
        'fridge1: closed',
        'Reasoning: (up to action 1) The fridge is far.',
    ]
    believed = events_of(episode, EventKind.ESTIMATED)[-1]
    assert believed.attributes['mug_12'] == ('dirty', 'in hand', 'chipped')


def test_attributes_replace_those_of_before_and_are_estimated_anew_from_the_first_step() -> None:
    estimator = in_turn(
        'update_state("mug1", "dirty | on table1")\nupdate_reasoning("It began.")',
        'update_state("mug1", ["in hand", "cold"])',
        'none',
    )
    policy = in_turn('1. move(mug1)', '1. pickup(mug1)', '1. move(sink1)', DONE)
    model = roles(
        policy, attention=lambda prompt: 'add_related_objects("mug1")', estimator=estimator
    )

    episode = play(model, SmallHouse())

    believed = [
        (item.attributes['mug_12'], item.summary)
        for item in events_of(episode, EventKind.ESTIMATED)
    ]
    assert believed == [(('dirty', 'on table1'), 'It began.'), (('in hand', 'cold'), ''), ((), '')]
    second, third = prompts_of(model, 'memory')[1:]
    for prompt in (second, third):
        assert block('current state', prompt) == 'mug1: []'
        assert 'dirty' not in prompt and 'It began' not in prompt
    assert block('robot actions', third).splitlines() == [
        'move(mug1) Success',
        'pickup(mug1) Success',
        'move(sink1) Success',
    ]


def test_an_unreadable_line_ends_the_plan_and_the_next_prompt_has_the_reason() -> None:
    lines = '1. move(mug1)\n2. polish(mug1)\n3. pickup(mug1)'
    model, world = roles(in_turn(lines, '1. pickup(mug1)', DONE)), SmallHouse()

    play(model, world)

    assert world.calls == ['walk(mug_12)', 'grab(mug_12)']
    first, second, third = (
        block('history actions', prompt) for prompt in prompts_of(model, 'policy')
    )
    assert second.startswith(
        'move(mug1) Success\nThe last plan ended here, before a line that could not be read: '
        '2. polish(mug1) - There is no action polish. Known: move, pickup, '
    )
    assert 'could not be read' not in first + third


def test_malformed_lines_and_unknown_objects_are_omitted_and_reported() -> None:
    much = 'x' * 10_000
    model = roles(
        in_turn('1. move(mug1)\n2. fly(mug1)', '1. move(mug1)\n2. placein(mug1)\n3. go', DONE),
        attention=in_turn('add_related_objects("unicorn1")\nadd_related_objects("mug1")'),
        estimator=in_turn(
            f'update_state("mug1", "{much}")\nupdate_state("unicorn1", "white")\n'
            'update_state("sink1")\nforget("mug1")\nupdate_reasoning("Nothing yet.")',
            'none',
        ),
    )
    world = SmallHouse()

    episode = play(model, world)

    discarded = events_of(episode, EventKind.DISCARDED)
    assert [item.why.partition('.')[0] for item in discarded] == [
        'There is nothing named unicorn1',
        'There is no action fly',
        f'Its attributes have 10000 characters; at most {MAX_ATTRIBUTES_LENGTH} are accepted',
        'update_state takes a thing and its attributes',
        'The functions are: update_reasoning, update_state',
        'There is nothing named unicorn1',
        'placein takes 2 things, but this has 1',
        "Left out behind the line '2",
    ]
    codes = [item.code for item in discarded if item.code]
    assert codes == [Code.UNKNOWN_SKILL, Code.BAD_ARGUMENTS]
    assert max(len(str(item.text)) for item in discarded) <= 400
    (first, _) = events_of(episode, EventKind.ESTIMATED)
    assert first.attributes == {'mug_12': ()}
    assert world.calls == ['walk(mug_12)'] * 2
    assert much not in '\n'.join(request.prompt for request in model.requests)


def test_all_attributes_together_have_a_limit_and_the_excess_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(llm_state, 'MAX_STATE_LENGTH', 10)
    both = 'update_state("fridge1", "closed")\nupdate_state("salmon1", "cooked")'
    model = roles(
        lambda prompt: 'move(fridge1)' if 'fridge1: closed' not in prompt else DONE,
        estimator=lambda prompt: both,
    )

    episode = play(model, SmallHouse())

    (line,) = (e.data for e in episode.events if e.kind is EventKind.DISCARDED)
    assert line.text == 'update_state("salmon1", ...)'
    assert 'at most 10 characters' in line.why


def test_long_plans_are_cut_and_an_endless_model_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(llm_state, 'MAX_ROUNDS', 4)
    model = roles(lambda prompt: '\n'.join(['1. move(fridge1)', '1. move(sink1)'] * 15))
    world = SmallHouse()

    episode = play(model, world, steps=200)

    assert episode.ending is Ending.GAVE_UP
    assert 'After 4 plans' in episode.message
    assert len(prompts_of(model, 'policy')) == 4
    assert len(world.calls) == 4 * (PLAN_LIMIT - 1)
    assert len(events_of(episode, EventKind.DISCARDED)) == 4 * (31 - PLAN_LIMIT)
    waiting = ScriptedModel(['1. wait()\n2. wait()'] * 20)
    assert 'In 3 rounds in a row' in play(waiting, SmallHouse(), states='no').message


def test_a_remark_is_in_all_later_prompts_of_the_policy() -> None:
    run = EpisodeRun(TASK, planner='llm_state', brain='b', body='b')
    plan = in_turn('1. move(mug1)', '1. move(sink1)', DONE)
    model = roles(plan)
    planner = LLMState(run.model(model, 'brain'), NOBODY)
    world = SmallHouse()
    walk = world.execute

    def walk_and_remark(call: SkillCall) -> Outcome:
        if len(world.calls) == 0:
            run.add_feedback('mind the\ncat')
        return walk(call)

    world.execute = walk_and_remark
    run.execute(planner, world)

    line = '\nThe person added: mind the cat\n'
    remark = [line in prompt for prompt in prompts_of(model, 'policy')]
    assert remark == [False, True, True]


@pytest.mark.parametrize(
    ('options', 'hot', 'summary'),
    [({}, True, True), ({'summary': 'no'}, True, False), ({'objects': 'no'}, False, True)],
)
def test_an_estimator_cannot_add_what_an_ablation_omits(
    options: dict[str, str], hot: bool, summary: bool
) -> None:
    remark = 'update_state("salmon1", "hot")\nupdate_reasoning("So far so.")'
    attention = in_turn('add_related_objects("salmon1")')
    model = roles(in_turn('move(mug1)', 'done'), attention=attention, estimator=in_turn(remark))

    play(model, SmallHouse(), **options)

    policy = prompts_of(model, 'policy')[1]
    assert ('salmon1: hot' in policy, 'So far so' in policy) == (hot, summary)


def test_full_width_digits_and_brackets_are_read() -> None:
    world = SmallHouse()

    play(roles(in_turn('１．ｍｏｖｅ（ｍｕｇ１）', '1. pickup(mug１)', DONE)), world)

    assert world.calls == ['walk(mug_12)', 'grab(mug_12)']
