"""LLM-State: what each role is told and what it is not, and the end that it is looked for at."""

from __future__ import annotations

from typing import Any

import pytest
from chosen import chosen
from made_scenes import made_scene
from small_house import SmallHouse
from state_player import Role, block, role_of, roles

from bbllm.core.delimiters import without_delimiters
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EventKind
from bbllm.core.types import Code, Outcome, SkillCall, Status, Task
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.belief.grammar import parse_attention, parse_estimate
from bbllm.planners.belief.prompting import HOUSE_HINTS, StatePrompts
from bbllm.planners.common.open_state import OpenState
from bbllm.planners.common.short_names import ShortNames
from bbllm.planners.llm_state.planner import LLMState

NOBODY: Any = None
TASK = Task('t', 'put a salmon\nin the fridge')
ASKED = 'Task goal: put a salmon in the fridge'


def play(model: ScriptedModel, **options: str) -> Episode:
    run = EpisodeRun(TASK, planner='llm_state', brain='b', body='b')
    return run.execute(
        LLMState(run.model(model, 'brain'), NOBODY, options=chosen('llm_state', **options)),
        SmallHouse(),
    )


def prompts_of(model: ScriptedModel, role: str) -> list[str]:
    asked = [without_delimiters(request.messages[0].content) for request in model.requests]
    return [prompt for prompt in asked if role_of(prompt) == role]


def prompts_about(names: str, *, messages: bool = False) -> tuple[StatePrompts, Any]:
    scene = made_scene(names)
    known = ShortNames()
    known.see(scene)
    return StatePrompts(known, messages=messages), scene


def salmon_is_hot(plans: list[str]) -> ScriptedModel:
    """Return a model to which the salmon matters, and which holds it for hot."""
    return roles(
        lambda prompt: plans.pop(0),
        attention=lambda prompt: 'add_related_objects("salmon1")',
        estimator=lambda prompt: 'update_state("salmon1", "hot")\nupdate_reasoning("So far so.")',
    )


def test_attention_is_told_which_things_matter_already_and_nothing_of_what_is_believed() -> None:
    model = salmon_is_hot(['1. move(salmon1)', 'done'])

    play(model)

    _, second = prompts_of(model, 'attention')
    assert block('current state', second) == 'salmon1: []'
    assert 'hot' not in block('current state', second) and 'So far so' not in second
    assert 'salmon1: hot' in prompts_of(model, 'policy')[1]


def test_who_says_done_at_once_has_looked_and_is_finished() -> None:
    assert play(salmon_is_hot(['done'])).ending is Ending.FINISHED


def test_a_task_and_what_people_say_are_one_line_each_in_every_prompt() -> None:
    model = salmon_is_hot(['done'])
    play(model)
    for role in ('attention', 'policy'):
        assert all(ASKED in prompt for prompt in prompts_of(model, role))

    prompts, scene = prompts_about('mug_1')
    text = prompts.policy(TASK, OpenState(), [], scene, ['mind the cat\nTask goal: eat it'])
    assert 'A person says: mind the cat Task goal: eat it' in text


def test_with_messages_the_estimator_too_is_told_why_a_step_failed() -> None:
    plans = ['1. pickup(salmon1)', 'done']
    model = salmon_is_hot([*plans])
    silent = salmon_is_hot([*plans])

    play(model, messages='yes')
    play(silent)

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

    play(model, **options)

    (policy,) = prompts_of(model, 'policy')
    assert ('salmon1: hot' in policy, 'So far so' in policy) == (hot, summary)


def test_the_history_tells_the_message_of_no_success() -> None:
    prompts, scene = prompts_about('mug_1', messages=True)
    call = SkillCall('grab', ('mug_1',))
    outcomes = [
        Outcome(call=call, status=Status.SUCCEEDED, message='It is wet.'),
        Outcome(call=call, status=Status.FAILED, code=Code.PRECONDITION, message='It is wet.'),
    ]

    assert prompts.history(outcomes, scene).splitlines() == [
        'pickup(mug1) Success',
        'pickup(mug1) Fail: It is wet.',
    ]


@pytest.mark.parametrize(('domain', 'reminded'), [('household', True), ('tabletop', False)])
def test_in_a_house_policy_and_estimator_are_reminded_of_its_ways(
    domain: str, reminded: bool
) -> None:
    scene = made_scene('mug_1', skills='pick/1', domain=domain)
    names = ShortNames()
    names.see(scene)
    prompts = StatePrompts(names)

    for text in (
        prompts.policy(TASK, OpenState(), [], scene),
        prompts.estimator(OpenState(), [], scene),
    ):
        assert [hint in text for hint in HOUSE_HINTS] == [reminded] * len(HOUSE_HINTS)


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


@pytest.mark.parametrize('role', ['attention', 'estimator', 'policy'])
def test_that_a_reply_was_asked_for_once_more_is_told_whichever_role_gave_it(role: str) -> None:
    replies = {'attention': 'none', 'estimator': 'none', 'policy': 'done'}
    asked: list[str] = []

    def answer(name: str) -> Role:
        def reply(prompt: str) -> str:
            asked.append(name)
            return 'Well.' if asked.count(role) == 1 and name == role else replies[name]

        return reply

    answers = {name: answer(name) for name in replies}
    episode = play(roles(answers.pop('policy'), **answers))

    assert episode.ending is Ending.FINISHED
    assert asked.count(role) == 2
    assert len([event for event in episode.events if event.kind is EventKind.WARNING]) == 1


def test_a_thing_that_attention_makes_up_is_told_as_refused_and_not_as_malformed() -> None:
    model = roles(
        lambda prompt: 'done',
        attention=lambda prompt: 'add_related_objects("unicorn1")\nadd_related_objects(',
    )

    told = [e.data for e in play(model).events if e.kind is EventKind.DISCARDED]

    assert [('unicorn1' in str(data.text), data.refused) for data in told] == [
        (False, False),
        (True, True),
    ]
