"""How much of the past a model is asked with: what it has room for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from made_scenes import made_scene
from pop_runs import LIGHTER, UNKNOWN, WEIGH, run, section
from small_house import SmallHouse

from bbllm.core.errors import GaveUpError
from bbllm.core.prompt_size import most_tokens
from bbllm.core.types import SkillCall
from bbllm.llm.scripted import ScriptedModel
from bbllm.planners.common.observation_text import observation_text, situation_text
from bbllm.planners.common.open_state import OpenState
from bbllm.planners.common.prompt_history import BUDGET, PromptHistory, ask_shorter, budget_for
from bbllm.planners.common.short_names import ShortNames
from bbllm.planners.llm_pop.fine_tuned_prompting import HISTORY as FT_HISTORY
from bbllm.planners.llm_pop.fine_tuned_prompting import FtRound
from bbllm.planners.llm_pop.prompting import HISTORY, Round

Tabletop = Callable[..., Any]
DiaryType = Callable[..., Any]
ROUNDS = 6


def pop_past(tell: Callable[[str], None]) -> PromptHistory:
    past = PromptHistory(HISTORY, None, on_short=tell)
    for i in range(ROUNDS):
        past.add(Round(f'Explanation of round {i}, which is as long as words are. ' * 5))
    return past


def ft_past(tell: Callable[[str], None]) -> PromptHistory:
    past = PromptHistory(FT_HISTORY, None, on_short=tell)
    for i in range(ROUNDS):
        past.add(FtRound(f'Words of round {i}, which are as many as they are. ' * 5))
    return past


@pytest.mark.parametrize('make', [pop_past, ft_past])
def test_a_model_that_tells_its_limit_is_asked_with_as_many_rounds_as_fit(
    make: Callable[[Callable[[str], None]], PromptHistory],
) -> None:
    said: list[str] = []
    past = make(said.append)
    limit = most_tokens('?' + past.write()) * 2 // 3
    model = ScriptedModel(['yes', 'yes'], prompt_limit_tokens=limit)

    for _ in range(2):
        ask_shorter(model, '?{}'.format, past, str)

    sent = model.requests[0].prompt
    assert limit / 2 < most_tokens(sent) <= limit
    assert sent.endswith(past.write(ROUNDS - 1, ROUNDS - 1).splitlines()[-1])
    assert len(said) == 1
    assert f'history of {ROUNDS} rounds is longer than the room that `context_tokens`' in said[0]


def test_a_model_with_room_for_all_is_told_all() -> None:
    past = pop_past(pytest.fail)
    model = ScriptedModel(['yes'], prompt_limit_tokens=10 * most_tokens(past.write()))

    ask_shorter(model, '?{}'.format, past, str)

    assert model.requests[0].prompt == f'?{past.write()}'


def test_the_newest_round_is_sent_even_where_there_is_no_room_for_it() -> None:
    past = pop_past(lambda text: None)
    model = ScriptedModel(['yes'], prompt_limit_tokens=1)

    ask_shorter(model, '?{}'.format, past, str)

    assert model.requests[0].prompt == f'?{past.write(ROUNDS - 1, ROUNDS - 1)}'


def test_the_limit_in_characters_holds_where_a_model_tells_none_or_somebody_set_it() -> None:
    limited = ScriptedModel(prompt_limit_tokens=9000)

    assert budget_for(ScriptedModel()) == BUDGET
    assert budget_for(limited) is None
    assert budget_for(limited, 700) == 700


def test_a_planner_keeps_its_prompts_within_the_limit_of_its_model(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    replies = [UNKNOWN, WEIGH] * 3 + [LIGHTER]
    free = ScriptedModel(replies)
    with pytest.raises(GaveUpError):
        run(free, busy_table(), diary(), k=2)
    limit = max(most_tokens(request.prompt) for request in free.requests) * 3 // 4
    context, model = diary(), ScriptedModel(replies, prompt_limit_tokens=limit)

    with pytest.raises(GaveUpError):
        run(model, busy_table(), context, k=2)

    assert max(most_tokens(request.prompt) for request in model.requests) <= limit
    assert 'Round 0 in short: PICK red_cube done' in section(model.requests[-1], 'History')
    assert len(context.warnings) == 1


def seen(*scenes: str) -> ShortNames:
    names = ShortNames()
    for text in scenes:
        names.see(made_scene(text))
    return names


def test_things_of_a_class_are_numbered_as_they_are_seen_and_keep_their_numbers() -> None:
    names = seen('cup_9 bed_3', 'cup_2 cup_9', 'bed_1')

    assert [names.short(name) for name in ('cup_9', 'cup_2', 'bed_3', 'bed_1')] == [
        'cup1',
        'cup2',
        'bed1',
        'bed2',
    ]
    assert [names.name(word) for word in ('cup2', 'Cup 2', 'cup_2')] == ['cup_2'] * 3


def test_a_thing_that_was_never_seen_has_no_short_name() -> None:
    names = seen('cup_9')

    assert names.name('cup2') is None
    assert names.name('') is None
    assert names.short('cup_2') == 'cup_2'


def test_two_things_never_share_a_name_though_a_class_ends_in_a_digit() -> None:
    scene = ' '.join(['box1_100', *(f'box_{i}' for i in range(1, 13))])

    names = seen(scene)

    shorts = [names.short(name) for name in scene.split()]
    assert len({*shorts}) == 13
    assert [names.name(short) for short in shorts] == scene.split()


def test_on_a_table_things_keep_their_names(busy_table: Callable[..., Any]) -> None:
    names = ShortNames()
    scene = busy_table().observe()
    names.see(scene)

    assert [names.short(name) for name in scene.names] == list(scene.names)
    assert names.name('Red cube') == 'red_cube'


def test_messages_of_a_house_are_told_in_short_names() -> None:
    names = seen('character_1 fridge_305')

    assert names.in_short('<character> (1) is not close to <fridge> (305), nor <bed> (7)') == (
        'character1 is not close to fridge1, nor bed_7'
    )


def test_an_observation_lists_things_by_what_can_be_done_to_them_and_tells_no_states() -> None:
    world = SmallHouse()
    for skill, name in (('walk', 'mug_12'), ('grab', 'mug_12')):
        assert world.execute(SkillCall(skill, (name,))).succeeded
    names = ShortNames()
    names.see(world.observe())

    lines = observation_text(world.observe(), names).splitlines()

    told = dict(line.split(': ', 1) for line in lines)
    assert list(told) == [
        'Room List',
        'Container List',
        'Surface List',
        'Object List',
        'Current Holding',
        'You are close to',
        'Current Room',
    ]
    assert 'salmon1 ON table1' in told['Object List']
    assert 'faucet1 IN kitchen1' in told['Object List']
    assert 'mug1' not in told['Object List']
    assert told['Surface List'] == '[table1 IN kitchen1, coffeetable1 IN livingroom1]'
    assert told['Room List'] == '[kitchen1, bathroom1, livingroom1]'
    assert told['Current Holding'] == '[mug1]'
    assert 'table1' in told['You are close to']
    assert told['Current Room'] == 'kitchen1'
    assert 'closed' not in ' '.join(lines).lower()


def test_a_situation_is_the_end_of_an_observation() -> None:
    scene = SmallHouse().observe()
    names = ShortNames()
    names.see(scene)

    assert observation_text(scene, names).endswith('\n' + situation_text(scene, names))


def test_what_nothing_can_be_done_to_is_not_told() -> None:
    scene = made_scene(
        'kitchen_1 wall_2 mug_3', 'mug_3 affords grabbable', 'mug_3 in_room kitchen_1'
    )
    names = ShortNames()
    names.see(scene)

    text = observation_text(scene, names)

    assert 'Object List: [mug1 IN kitchen1]' in text
    assert 'wall' not in text


def test_a_state_is_replaced_and_never_changed() -> None:
    first = OpenState().with_objects(['egg_1', 'pan_2'])
    second = first.with_attributes('egg_1', ['warm', 'cooked']).with_summary('It cooked.')
    third = second.with_attributes('egg_1', ['cold']).with_objects(['egg_1', 'cup_3'])

    assert first == OpenState({'egg_1': (), 'pan_2': ()})
    assert second.attributes['egg_1'] == ('warm', 'cooked')
    assert dict(third.attributes) == {'egg_1': ('cold',), 'pan_2': (), 'cup_3': ()}
    assert list(third.attributes) == ['egg_1', 'pan_2', 'cup_3']
    assert third.summary == 'It cooked.'
    assert third.blank() == OpenState({'egg_1': (), 'pan_2': (), 'cup_3': ()})


def test_a_state_does_not_change_with_what_it_was_made_of() -> None:
    words = {'egg_1': ('warm',)}
    state = OpenState(words)

    words['egg_1'] = ('cold',)

    assert state.attributes['egg_1'] == ('warm',)
