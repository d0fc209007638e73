"""Algorithm 1 with `offline` as Brain and Body when calls fail, or a person says something."""

from __future__ import annotations

import pytest
from offline_runs import PLUS_SIGN, DiaryType, Tabletop, cubes_form_a_plus_sign, run_cleanly

from bbllm.core.errors import GaveUpError
from bbllm.core.types import Code


@pytest.mark.parametrize(
    ('unreachable', 'repairs'),
    [
        (['green_cube', 'blue_cube'], 2),
        (['red_cube', 'yellow_cube', 'purple_cube'], 3),
        (['location_A'], 1),
        (['location_D', 'green_cube'], 2),
        (['location_D', 'green_cube', 'blue_cube'], 3),
        (['location_A', 'location_F', 'red_cube'], 2),
    ],
)
def test_the_plus_sign_is_built_although_things_are_out_of_reach(
    unreachable: list[str], repairs: int, busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(unreachable=unreachable), diary()

    run_cleanly(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert len(context.repairs) == repairs
    assert all('out of the workspace' in cause for cause in context.repairs)


def test_the_brain_is_not_told_what_is_out_of_reach(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(unreachable=['red_cube'])

    run_cleanly(PLUS_SIGN, world, diary())

    assert world.calls[0] == 'pick(red_cube)'


def test_a_plus_sign_goes_on_around_what_stands_already(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(unreachable=['location_B']), diary()

    run_cleanly(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert world.on('red_cube') == 'location_C'
    assert len(context.repairs) == 1


def test_a_held_cube_whose_place_is_out_of_reach_is_placed_elsewhere(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(unreachable=['location_A'])

    run_cleanly('move the red cube to the right', world, diary())

    assert world.calls == [
        'pick(red_cube)',
        'place(location_A)',
        'place(location_B)',
        'return_to_base()',
    ]


def test_a_cube_out_of_reach_is_left_out_of_all_and_replaced_where_any_will_do(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(unreachable=['red_cube'])
    run_cleanly('build a tower of all the cubes', world, diary())
    assert world.on('green_cube') != 'red_cube'
    assert world.on('white_cube') == 'pink_cube'

    world = busy_table(unreachable=['red_cube'])
    run_cleanly('put a cube on location_B', world, diary())
    assert world.on('green_cube') == 'location_B'


@pytest.mark.parametrize('name', ['red_cube', 'location_B'])
def test_what_the_task_names_is_not_replaced_but_given_up(
    name: str, busy_table: Tabletop, diary: DiaryType
) -> None:
    with pytest.raises(GaveUpError, match=f'{name} is out of the workspace'):
        run_cleanly('put the red cube on location_B', busy_table(unreachable=[name]), diary())


def test_an_occupied_place_is_cleared_once_feedback_says_so(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(moved={'green_cube': (0.48, -0.12)}), diary()

    run_cleanly('put the red cube on location_B', world, context)

    assert world.on('red_cube') == 'location_B'
    assert world.on('green_cube') not in ('location_B', 'red_cube')
    assert context.repairs == ['location_B is occupied by green_cube.']


def test_what_is_in_the_way_and_out_of_reach_ends_the_task(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(moved={'green_cube': (0.48, -0.12)}, unreachable=['green_cube'])

    with pytest.raises(GaveUpError, match='green_cube is in the way'):
        run_cleanly('put the red cube on location_B', world, diary())


def test_a_slip_of_the_fingers_is_tried_again_once(busy_table: Tabletop, diary: DiaryType) -> None:
    slip = ('pick(red_cube)', Code.GRASP_FAILED, 'grasp of red_cube failed: fingers closed.')
    world = busy_table(faults=[slip])
    run_cleanly('put the red cube on location_B', world, diary())
    assert world.on('red_cube') == 'location_B'

    with pytest.raises(GaveUpError, match='fingers closed'):
        run_cleanly('put the red cube on location_B', busy_table(faults=[slip, slip]), diary())


def test_a_repair_does_not_repeat_what_is_done(busy_table: Tabletop, diary: DiaryType) -> None:
    fault = ('place(location_B)', Code.CONTROLLER_ABORTED, 'The controller gave up.')
    world = busy_table(faults=[fault])

    run_cleanly(
        'put the red cube on location_A, wait 2 seconds, put the blue cube on location_B, go home',
        world,
        diary(),
    )

    assert ' '.join(world.calls) == (
        'pick(red_cube) place(location_A) wait(2) pick(blue_cube) place(location_B) '
        'place(location_B) return_to_base()'
    )


@pytest.mark.parametrize(
    ('said', 'on'),
    [
        ('use the white cube instead of the blue one', {'white_cube': 'location_B'}),
        ('not the blue cube please', {'yellow_cube': 'location_B'}),
        ("don't touch blue_cube, or the yellow cube", {'orange_cube': 'location_B'}),
    ],
)
def test_what_a_person_says_about_things_changes_the_plan(
    said: str, on: dict[str, str], busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(), diary({3: said})

    run_cleanly(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert world.on('blue_cube') == 'table'
    assert {name: world.on(name) for name in on} == on


def test_what_a_person_said_holds_also_after_the_next_failure(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(unreachable=['yellow_cube']), diary({1: 'not the blue cube'})

    run_cleanly(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert world.on('blue_cube') == 'table'
    assert len(context.repairs) == 2


def test_a_person_may_add_to_the_task(busy_table: Tabletop, diary: DiaryType) -> None:
    world, context = busy_table(), diary({1: 'also put the green cube on location_B'})

    run_cleanly('put the red cube on location_A', world, context)

    assert world.on('red_cube') == 'location_A'
    assert world.on('green_cube') == 'location_B'
