"""Short names, what is told of a scene with them, and the state that is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_scenes import made_scene
from small_house import SmallHouse

from bbllm.core.types import SkillCall
from bbllm.planners.common.observation_text import observation_text, situation_text
from bbllm.planners.common.open_state import OpenState
from bbllm.planners.common.short_names import ShortNames


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
