"""Each part of LLM-State, and a model that goes wrong in the way that this part prevents."""

from __future__ import annotations

from typing import Any

import pytest
from chosen import chosen
from small_house import SmallHouse
from state_player import Role, block, role_of, roles

from bbllm.core.budget import Limits
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode
from bbllm.core.types import Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.llm_state.planner import LLMState

NOBODY: Any = None
LIMIT = 30
"""How many steps an episode may have here; who does not get on uses them all."""
FETCH = '1. move(salmon1)\n2. pickup(salmon1)\n3. move(kitchencabinet1)'
PUT = '1. placein(salmon1, kitchencabinet1)'
OPEN_FIRST = '1. open(kitchencabinet1)\n2. placein(salmon1, kitchencabinet1)'
WASH = '1. move(mug1)\n2. pickup(mug1)\n3. move(sink1)\n4. placein(mug1, sink1)'
RINSE = '1. move(faucet1)\n2. switchon(faucet1)\n3. switchoff(faucet1)'


def play(model: ScriptedModel, world: Any, **options: Any) -> Episode:
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

    episode = play(puts_away(state_of), world)

    assert episode.ending is Ending.FINISHED
    assert world.has('salmon_13', 'inside', 'kitchencabinet_31')


def test_without_a_summary_the_same_step_is_tried_until_the_steps_run_out() -> None:
    world = SmallHouse()

    episode = play(puts_away(state_of), world, summary='no')

    assert episode.ending is Ending.OUT_OF_BUDGET
    assert world.calls.count('putin(salmon_13, kitchencabinet_31)') == LIMIT - 3
    assert not world.has('salmon_13', 'inside', 'kitchencabinet_31')


def test_with_attributes_it_is_known_what_has_become_of_a_thing() -> None:
    world = SmallHouse()

    episode = play(washes(state_of), world)

    assert episode.ending is Ending.FINISHED
    assert world.calls.count('switchon(faucet_35)') == 1
    assert world.has('mug_12', 'is', 'washed')


@pytest.mark.parametrize('option', ['objects', 'states'])
def test_without_attributes_it_is_washed_again_and_again(option: str) -> None:
    world = SmallHouse()

    episode = play(washes(state_of), world, **{option: 'no'})

    assert episode.ending is Ending.OUT_OF_BUDGET
    assert world.calls.count('switchon(faucet_35)') > 5


def test_without_states_the_policy_is_all_there_is_and_sees_observation_and_history() -> None:
    model = puts_away(state_of)

    play(model, SmallHouse(), states='no')

    assert {role_of(request.prompt) for request in model.requests} == {'policy'}
    last = model.requests[-1].prompt
    assert 'placein(salmon1, kitchencabinet1) Fail' in block('history actions', last)
    assert 'kitchencabinet1 IN kitchen1' in block('current observation', last)
    assert 'current state' not in last


@pytest.mark.parametrize(
    ('options', 'asked', 'functions'),
    [
        ({}, {'attention', 'memory', 'policy'}, {'update_reasoning', 'update_state'}),
        ({'summary': 'no'}, {'attention', 'memory', 'policy'}, {'update_state'}),
        ({'objects': 'no'}, {'memory', 'policy'}, {'update_reasoning'}),
        ({'objects': 'no', 'summary': 'no'}, {'policy'}, set()),
    ],
)
def test_an_ablation_leaves_out_the_role_or_the_function_that_it_is_about(
    options: dict[str, str], asked: set[str], functions: set[str]
) -> None:
    model = puts_away(state_of)

    play(model, SmallHouse(), **options)

    assert {role_of(request.prompt) for request in model.requests} == asked
    memories = [r.prompt for r in model.requests if role_of(r.prompt) == 'memory']
    for prompt in memories:
        offered = {name for name in ('update_reasoning', 'update_state') if name in prompt}
        assert offered == functions
    assert bool(memories) == bool(functions)


def test_with_messages_the_history_itself_tells_the_cause_in_short_names() -> None:
    world = SmallHouse()

    def told(prompt: str) -> str:
        return block('history actions', prompt)

    episode = play(puts_away(told), world, states='no', messages='yes')

    assert episode.ending is Ending.FINISHED
    model = puts_away(told)
    play(model, SmallHouse(), states='no', messages='yes')
    (failed,) = {
        line
        for request in model.requests
        for line in told(request.prompt).splitlines()
        if ' Fail' in line
    }
    assert 'Fail: kitchencabinet1 is not open' in failed
    assert '_31' not in failed and '(31)' not in failed
