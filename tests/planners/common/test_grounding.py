"""Which of several things a word means is for a policy to say, and is told."""

from random import Random
from typing import Any

import pytest

from bbllm.core.types import Kind, Scene, SkillCall
from bbllm.planners.common.grounding import Policy, Referents, absent_text, ground
from bbllm.planners.domains.scene_graph import class_scene, meant_by, scene_graph
from bbllm.worlds.household.visibility import Visibility
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_planners.prog_prompt.program import meant_text
from tests.planners.made_scenes import made_scene
from tests.planners.symbolic_table import Diary

HOUSE = 'kitchen_1 bath_2 cup_11 cup_12 cup_13 cup_14 kitchencabinet_20 character_40'
ROOMS = (
    'character_40 in_room bath_2',
    'cup_11 in_room kitchen_1',
    'cup_12 in_room bath_2',
    'cup_13 in_room kitchen_1',
    'cup_14 in_room bath_2',
)


def chosen(
    scene: Scene, policy: Policy, context: Any, word: str = 'cup', seed: int = 0, skill: str = ''
) -> Any:
    return ground(word, scene, policy, Random(seed), context=context, skill=skill)


CLOSE = 'cup_13 close_to character_40'
HELD = 'cup_14 held_by character_40'
SHUT = ('kitchencabinet_20 in_room bath_2', 'kitchencabinet_20 is closed')


def shut(name: str) -> tuple[str, ...]:
    return (*SHUT, f'{name} inside kitchencabinet_20')


@pytest.mark.parametrize(
    ('facts', 'skill', 'nearest'),
    [
        ((), 'grab', 'cup_11'),
        (ROOMS, 'grab', 'cup_12'),
        ((*ROOMS, CLOSE), 'grab', 'cup_13'),
        ((*ROOMS, 'cup_11 close_to character_99', 'cup_13 held_by character_99'), '', 'cup_12'),
        # What is in a hand is no cup to take or to find, and the cup to drink from.
        ((*ROOMS, HELD), 'grab', 'cup_12'),
        ((*ROOMS, HELD), 'find', 'cup_12'),
        ((*ROOMS, CLOSE, HELD), 'drink', 'cup_14'),
        (
            ('cup_11 held_by character_40', *shut('cup_12'), *shut('cup_13'), HELD),
            'find',
            'cup_12',
        ),
        # What is visible is nearer than what is inside something closed, also elsewhere.
        ((*ROOMS, *shut('cup_12')), 'find', 'cup_14'),
        ((*ROOMS, *shut('cup_12'), *shut('cup_14'), 'cup_12 close_to character_40'), '', 'cup_11'),
    ],
)
def test_the_nearest_is_what_the_action_needs_least_effort_for(
    facts: tuple[str, ...], skill: str, nearest: str
) -> None:
    scene = made_scene(HOUSE, *facts)

    assert chosen(scene, Policy.NEAREST, Diary(), skill=skill) == nearest


def test_of_hidden_objects_the_one_in_the_container_at_hand_is_nearest() -> None:
    scene = made_scene(
        'kitchen_1 bath_2 cup_11 cup_12 box_20 box_21 character_40',
        *(
            'character_40 in_room kitchen_1',
            'cup_11 in_room kitchen_1',
            'cup_12 in_room kitchen_1',
        ),
        *('box_20 is closed', 'box_21 is closed', 'cup_11 inside box_20', 'cup_12 inside box_21'),
        *('box_21 close_to character_40', 'cup_12 close_to character_40'),
    )

    assert chosen(scene, Policy.NEAREST, Diary(), skill='find') == 'cup_12'
    assert chosen(scene, Policy.NEAREST, Diary(), 'box', skill='open') == 'box_21'


@pytest.mark.parametrize('house', ['family_flat', 'studio', 'old_house'])
def test_cabinet_sink_and_faucet_of_one_room_are_chosen_together(house: str) -> None:
    world = HouseholdWorld(house)
    rooms = [item.name for item in world.observe().objects if item.kind is Kind.LOCATION]
    chosen_rooms = []
    for room in rooms:
        referents = Referents(Policy.NEAREST, Random(0), Diary())
        assert world.execute(SkillCall('walk', (room,))).succeeded
        for word in ('sink', 'faucet', 'sink'):
            call = referents.resolve(SkillCall('find', (word,)), world.observe())
            assert world.execute(call).succeeded
            chosen_rooms.append(scene_graph(world.observe()).rooms[call.args[0]])
        assert len({*chosen_rooms[-3:]}) == 1, room

    assert len({*chosen_rooms}) > 1  # a kitchen and a bathroom have one each


def test_an_absent_name_is_answered_with_the_nearest_or_with_what_is_left_to_search() -> None:
    room = Visibility(reach='rooms_seen')
    partly, whole = HouseholdWorld('studio', visibility=room), HouseholdWorld('studio')
    assert partly.execute(SkillCall('walk', ('kitchen_3',))).succeeded

    assert absent_text('bread', whole.observe()).startswith(
        "There is no 'bread' in the scene. The nearest names: breadslice, "
    )
    assert absent_text('juice', partly.observe()) == (
        "No 'juice' was seen so far. Not seen yet: the rooms bathroom, home_office; what is "
        'inside the closed nightstand, closet, fridge, kitchencabinet, microwave, '
        'kitchencounterdrawer, stove, dishwasher.'
    )
    assert 'The nearest names: kitchencounter' in absent_text(
        'kitchen counter 1', partly.observe()
    )


def test_a_reported_call_names_the_place_of_an_object_chosen_among_several() -> None:
    facts = ('cup_11 inside box_20', 'box_20 is closed', 'cup_12 on desk_21', 'cup_13 in_room a_1')
    scene = made_scene('a_1 cup_11 cup_12 cup_13 cup_14 box_20 desk_21 character_40', *facts, HELD)

    def reported(*names: str) -> str:
        words = tuple(name.partition('_')[0] for name in names)
        return meant_text(SkillCall('x', words), SkillCall('x', names), scene)

    assert reported('cup_11') == 'the one in the closed box'
    assert reported('cup_12') == 'the one on the desk'
    assert reported('cup_13') == 'the one in the a'
    assert reported('cup_14', 'box_20') == 'the cup in a hand'
    assert reported('box_20') == ''


def test_chance_takes_each_of_them_and_the_seed_decides() -> None:
    scene = made_scene(HOUSE, *ROOMS)

    taken = [chosen(scene, Policy.RANDOM, Diary(), seed=seed) for seed in range(40)]

    assert {*taken} == {'cup_11', 'cup_12', 'cup_13', 'cup_14'}
    assert taken == [chosen(scene, Policy.RANDOM, Diary(), seed=seed) for seed in range(40)]


def test_a_choice_is_reported_with_its_policy_and_an_exact_name_is_none() -> None:
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
def test_a_word_means_a_class_or_one_object(word: str, meant: list[str]) -> None:
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
