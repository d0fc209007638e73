"""What keeps a belief out is sensed of the same thing; an earlier belief keeps nothing out."""

from __future__ import annotations

import pytest
from made_scenes import made_scene

from bbllm.planners.common.open_facts import is_open, open_facts, with_open_facts
from bbllm.planners.common.open_state import OpenState


def test_what_is_sensed_of_one_thing_keeps_no_belief_of_another_out() -> None:
    scene = made_scene(
        'red_cube blue_cube', 'blue_cube is open', 'blue_cube heavier_than green_cube',
        domain='tabletop',
    )  # fmt: skip
    state = OpenState({'red_cube': ('closed', 'heavier_than blue_cube')})

    told = [str(fact) for fact in open_facts(state, scene)]

    assert told == ['(red_cube is closed)', '(red_cube heavier_than blue_cube)']


def test_an_earlier_belief_gives_way_to_its_opposite_and_may_be_repeated() -> None:
    scene = made_scene('red_cube', domain='tabletop')
    first = with_open_facts(scene, OpenState({'red_cube': ('open', 'sticky')}))

    second = with_open_facts(first, OpenState({'red_cube': ('closed', 'sticky')}))

    assert [str(fact) for fact in second.facts if is_open(fact)] == [
        '(red_cube is closed)',
        '(red_cube is sticky)',
    ]


def test_nothing_is_heavier_than_itself() -> None:
    scene = made_scene('red_cube blue_cube', domain='tabletop')

    assert open_facts(OpenState({'red_cube': ('heavier_than red_cube',)}), scene) == ()


def test_a_place_is_one_however_its_name_is_written() -> None:
    scene = made_scene('red_cube location_A Blue_Box', domain='tabletop')
    words = ('stuck_on_location_a', 'wedged_in_blue_box', 'stuck on Location_A')

    assert open_facts(OpenState({'red_cube': words}), scene) == ()


def told(*words: str) -> list[str]:
    scene = made_scene('red_cube blue_cube bowl', domain='tabletop')
    return [str(fact) for fact in open_facts(OpenState({'red_cube': words}), scene)]


@pytest.mark.parametrize(
    'word',
    [
        *('would not be opened', 'hard to be lifted', 'more_sticky_than blue_cube'),
        *('as_wet_as blue_cube', 'dropped 3 times'),
    ],
)
def test_what_a_thing_would_not_do_and_how_it_compares_is_believed(word: str) -> None:
    assert len(told(word)) == 1


@pytest.mark.parametrize(
    'word',
    [
        *('sticky_than blue_cube', 'more_than blue_cube', 'more_visible_than blue_cube'),
        *('as_hidden_as blue_cube', 'closer_than blue_cube', 'less_reachable_than blue_cube'),
        *('knocked table times', 'pushed very far away twice', 'one two three four five before'),
        *('2', 'a1', 'a1 before', 'bowl or cup', 'bowl before'),
    ],
)
def test_what_speaks_of_places_other_things_or_numbers_alone_is_no_belief(word: str) -> None:
    assert told(word) == []
