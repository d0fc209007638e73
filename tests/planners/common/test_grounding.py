"""Which of several things a word means is for a policy to say, and is told."""

from random import Random
from typing import Any

import pytest
from made_scenes import made_scene
from symbolic_table import Diary

from bbllm.core.types import Scene
from bbllm.planners.common.grounding import Policy, ground
from bbllm.planners.common.scene_graph import class_scene, meant_by, scene_graph

HOUSE = 'kitchen_1 bath_2 cup_11 cup_12 cup_13 cup_14 kitchencabinet_20 character_40'
ROOMS = (
    'character_40 in_room bath_2',
    'cup_11 in_room kitchen_1',
    'cup_12 in_room bath_2',
    'cup_13 in_room kitchen_1',
    'cup_14 in_room bath_2',
)


def chosen(scene: Scene, policy: Policy, context: Any, word: str = 'cup', seed: int = 0) -> Any:
    return ground(word, scene, policy, Random(seed), context=context)


@pytest.mark.parametrize(
    ('facts', 'nearest', 'held_first'),
    [
        ((), 'cup_11', 'cup_11'),
        (ROOMS, 'cup_12', 'cup_12'),
        ((*ROOMS, 'cup_13 close_to character_40'), 'cup_13', 'cup_13'),
        (
            (*ROOMS, 'cup_13 close_to character_40', 'cup_14 held_by character_40'),
            'cup_13',
            'cup_14',
        ),
        (
            (*ROOMS, 'cup_11 close_to character_99', 'cup_13 held_by character_99'),
            'cup_12',
            'cup_12',
        ),
    ],
)
def test_what_is_near_goes_by_reach_then_by_room_and_what_is_held_may_go_first(
    facts: tuple[str, ...], nearest: str, held_first: str
) -> None:
    scene = made_scene(HOUSE, *facts)

    assert chosen(scene, Policy.NEAREST, Diary()) == nearest
    assert chosen(scene, Policy.HELD_FIRST, Diary()) == held_first


def test_chance_takes_each_of_them_and_the_seed_decides() -> None:
    scene = made_scene(HOUSE, *ROOMS)

    taken = [chosen(scene, Policy.RANDOM, Diary(), seed=seed) for seed in range(40)]

    assert {*taken} == {'cup_11', 'cup_12', 'cup_13', 'cup_14'}
    assert taken == [chosen(scene, Policy.RANDOM, Diary(), seed=seed) for seed in range(40)]


def test_a_choice_is_told_with_its_policy_and_a_thing_s_own_name_is_no_choice() -> None:
    scene, context = made_scene(HOUSE), Diary()

    assert chosen(scene, Policy.NEAREST, context, 'cup_13') == 'cup_13'
    assert context.lines == []
    assert chosen(scene, Policy.NEAREST, context, 'cup') == 'cup_11'
    assert context.lines == ['cup is cup_11 (nearest of 4)']


@pytest.mark.parametrize(
    ('word', 'meant'),
    [
        ('cup', ['cup_11', 'cup_12', 'cup_13', 'cup_14']),
        ('Cup', ['cup_11', 'cup_12', 'cup_13', 'cup_14']),
        ('cup_12', ['cup_12']),
        ('CUP 12', ['cup_12']),
        ('kitchen cabinet', ['kitchencabinet_20']),
        ('kitchen', ['kitchen_1']),
        ('cu', []),
    ],
)
def test_a_word_means_a_class_or_one_thing(word: str, meant: list[str]) -> None:
    assert meant_by(word, HOUSE.split()) == meant


def test_a_scene_of_classes_has_each_once_and_what_is_held() -> None:
    scene = class_scene(
        made_scene(HOUSE, 'cup_12 held_by character_40', 'cup_11 is dirty', skills='grab/1')
    )

    assert scene.names == ('bath', 'cup', 'kitchen', 'kitchencabinet')
    assert scene.held == 'cup'
    assert [skill.name for skill in scene.skills] == ['grab']
    assert len(scene.facts) == 1


def test_what_is_inside_something_closed_is_hidden_however_deep_and_circles_end() -> None:
    facts = ('bag_2 inside box_1', 'nut_3 inside bag_2', 'jar_4 on box_1', 'box_1 is closed')
    circle = ('a_5 inside b_6', 'b_6 inside a_5')

    around = scene_graph(made_scene('box_1 bag_2 nut_3 jar_4 a_5 b_6', *facts, *circle))

    assert around.hidden == {'bag_2', 'nut_3'}
