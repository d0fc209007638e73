"""Algorithm 1 with `offline` as Brain and Body, on a table that is honest about failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bbllm.core.errors import GaveUpError
from bbllm.core.types import Code, Task
from bbllm.llm.offline import OfflineModel
from bbllm.planners.body_llm import BodyLLM
from bbllm.planners.brain_body import BrainBody

Tabletop = Callable[..., Any]
DiaryType = Callable[..., Any]

PLUS_SIGN = 'create a plus sign in the working space using the cubes'
PLUS_AT_C = ('location_A', 'location_B', 'location_C', 'location_D', 'location_E')


def run(instruction: str, world: Any, context: Any) -> None:
    planner = BrainBody(OfflineModel(), BodyLLM(OfflineModel()))
    planner.run(Task('t', instruction), world, context)
    assert not context.failed
    assert not [line for line in context.lines if line.startswith('pass')]


def cubes_form_a_plus_sign(world: Any) -> bool:
    """Look at positions alone: one cube with four neighbours and nothing else near."""
    cubes = {
        item.name: item.pose.position_m
        for item in world.observe().objects
        if item.name.endswith('cube')
    }
    for x, y, z in cubes.values():
        for pitch in (0.06, 0.065, 0.08):
            arms = [(x + pitch, y), (x - pitch, y), (x, y + pitch), (x, y - pitch)]
            taken = [
                abs(a - u) < 0.005 and abs(b - v) < 0.005 and abs(z - w) < 0.005
                for a, b in arms
                for u, v, w in cubes.values()
            ]
            near = [(u, v) for u, v, _ in cubes.values() if abs(u - x) + abs(v - y) < 2.2 * pitch]
            if sum(taken) == 4 and len(near) == 5:
                return True
    return False


@pytest.mark.parametrize(
    ('instruction', 'where'),
    [
        ('put the red cube on location_B', {'red_cube': 'location_B'}),
        ('Could you please move the red cube over to location B?', {'red_cube': 'location_B'}),
        ('the red cube should go to location B', {'red_cube': 'location_B'}),
        ('I want the yellow cube on location_J.', {'yellow_cube': 'location_J'}),
        ('Take the purple block to location D!', {'purple_cube': 'location_D'}),
        (
            'pick up the blue cube and place it on location_C, then return to base',
            {'blue_cube': 'location_C'},
        ),
        (
            'put the red cube on location_A and the blue cube on location_B',
            {'red_cube': 'location_A', 'blue_cube': 'location_B'},
        ),
        (
            'Put the red cube, the green cube and the blue cube on locations A, B and C.',
            {'red_cube': 'location_A', 'green_cube': 'location_B', 'blue_cube': 'location_C'},
        ),
        ('put the red cube on location_A and then on location_B', {'red_cube': 'location_B'}),
        ('stack the red cube on the blue cube', {'red_cube': 'blue_cube'}),
        ('put red_cube on top of blue_cube', {'red_cube': 'blue_cube'}),
        ('Set the pink block on the grey cylinder', {'pink_cube': 'grey_cylinder'}),
        (
            'stack the red, green and blue cubes',
            {'green_cube': 'red_cube', 'blue_cube': 'green_cube'},
        ),
        (
            'stack the blue cube on the red cube and the green cube on the blue cube',
            {'blue_cube': 'red_cube', 'green_cube': 'blue_cube'},
        ),
        (
            'stack the red cube on the blue cube and the blue cube on the yellow cube',
            {'red_cube': 'blue_cube', 'blue_cube': 'yellow_cube'},
        ),
        (
            'stack the red cube on the blue cube. stack the blue cube on the yellow cube',
            {'red_cube': 'blue_cube', 'blue_cube': 'yellow_cube'},
        ),
        (
            'put the red cube on the blue cube and the blue cube on location_C',
            {'red_cube': 'blue_cube', 'blue_cube': 'location_C'},
        ),
        (
            'put red_cube on blue_cube, then blue_cube on location_B, then red_cube on location_A',
            {'red_cube': 'location_A', 'blue_cube': 'location_B'},
        ),
        (
            'build a tower of red, green and blue cubes on location_A',
            {'red_cube': 'location_A', 'green_cube': 'red_cube', 'blue_cube': 'green_cube'},
        ),
        (
            'first put the red cube on location A, then put the green cube on top of it',
            {'red_cube': 'location_A', 'green_cube': 'red_cube'},
        ),
        ('place any cube on location_F', {'red_cube': 'location_F'}),
        (
            'put two of the blueish cubes on locations A and B',
            {'blue_cube': 'location_A', 'aqua_cube': 'location_B'},
        ),
    ],
)
def test_things_end_where_the_task_says(
    instruction: str, where: dict[str, str], busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table()

    run(instruction, world, diary())

    assert {name: world.on(name) for name in where} == where
    assert world.held is None


@pytest.mark.parametrize(
    ('instruction', 'movers'),
    [
        ('move all cylinders to the right side', 'grey_cylinder black_cylinder'),
        ('put both cylinders on the right', 'grey_cylinder black_cylinder'),
        ('bring every blue thing to the right part of the table', 'blue_cube'),
        ('move the reddish cubes to the right', 'red_cube pink_cube'),
        (
            'Move the cubes to the right side of the environment only.',
            'red_cube green_cube blue_cube yellow_cube orange_cube purple_cube aqua_cube '
            'pink_cube white_cube',
        ),
        (
            'put all cubes except the red one on the right side',
            'green_cube blue_cube yellow_cube orange_cube purple_cube aqua_cube pink_cube '
            'white_cube',
        ),
        (
            'Segregate objects based on geometric shapes into left and right part of work space.',
            'grey_cylinder black_cylinder',
        ),
    ],
)
def test_just_the_things_described_go_to_the_right(
    instruction: str, movers: str, busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table()
    before = {item.name: world.at(item.name) for item in world.observe().objects}

    run(instruction, world, diary())

    moved = [name for name in before if world.at(name) != before[name]]
    assert moved == movers.split()
    assert all(world.at(name)[1] < -0.02 for name in moved)


@pytest.mark.parametrize(
    ('instruction', 'calls'),
    [
        ('pick the white cube', 'pick(white_cube)'),
        ('grab the pink cube and hold it', 'pick(pink_cube)'),
        ('open the gripper', 'open_gripper()'),
        ('close your fingers', 'close_gripper()'),
        ('go back to base', 'return_to_base()'),
        ('wait five seconds', 'wait(5)'),
        ('hover over location_B', 'reach(location_B)'),
        (
            'put the red cube at 0.45 -0.10 0.02',
            'pick(red_cube) place(0.45 -0.1 0.02) return_to_base()',
        ),
        ('grasp the red cube, wait 2 seconds, go home', 'pick(red_cube) wait(2) return_to_base()'),
    ],
)
def test_single_actions_are_what_they_say(
    instruction: str, calls: str, busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table()
    run(instruction, world, diary())

    assert ' '.join(world.calls) == calls


@pytest.mark.parametrize(
    'instruction',
    [
        PLUS_SIGN,
        'Create a plus sign in the working place using the cubes.',
        "please make a '+' out of the cubes",
        'form a cross with five cubes',
    ],
)
def test_the_plus_sign_is_built(instruction: str, busy_table: Tabletop, diary: DiaryType) -> None:
    world, context = busy_table(), diary()

    run(instruction, world, context)

    assert len(world.things_on(*PLUS_AT_C)) == 5
    assert cubes_form_a_plus_sign(world)
    assert not context.repairs


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

    run(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert len(context.repairs) == repairs
    assert all('out of the workspace' in cause for cause in context.repairs)


def test_the_brain_is_not_told_what_is_out_of_reach(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(unreachable=['red_cube'])

    run(PLUS_SIGN, world, diary())

    assert world.calls[0] == 'pick(red_cube)'


def test_a_plus_sign_goes_on_around_what_stands_already(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(unreachable=['location_B']), diary()

    run(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert world.on('red_cube') == 'location_C'
    assert len(context.repairs) == 1


def test_a_held_cube_whose_place_is_out_of_reach_is_placed_elsewhere(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(unreachable=['location_A'])

    run('move the red cube to the right', world, diary())

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
    run('build a tower of all the cubes', world, diary())
    assert world.on('green_cube') != 'red_cube'
    assert world.on('white_cube') == 'pink_cube'

    world = busy_table(unreachable=['red_cube'])
    run('put a cube on location_B', world, diary())
    assert world.on('green_cube') == 'location_B'


@pytest.mark.parametrize('name', ['red_cube', 'location_B'])
def test_what_the_task_names_is_not_replaced_but_given_up(
    name: str, busy_table: Tabletop, diary: DiaryType
) -> None:
    with pytest.raises(GaveUpError, match=f'{name} is out of the workspace'):
        run('put the red cube on location_B', busy_table(unreachable=[name]), diary())


def test_an_occupied_place_is_cleared_once_feedback_says_so(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(moved={'green_cube': (0.48, -0.12)}), diary()

    run('put the red cube on location_B', world, context)

    assert world.on('red_cube') == 'location_B'
    assert world.on('green_cube') not in ('location_B', 'red_cube')
    assert context.repairs == ['location_B is occupied by green_cube.']


def test_what_is_in_the_way_and_out_of_reach_ends_the_task(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(moved={'green_cube': (0.48, -0.12)}, unreachable=['green_cube'])

    with pytest.raises(GaveUpError, match='green_cube is in the way'):
        run('put the red cube on location_B', world, diary())


def test_what_stands_on_a_cube_is_put_aside_first(busy_table: Tabletop, diary: DiaryType) -> None:
    world, context = busy_table(moved={'green_cube': (0.35, 0.12, 0.06)}), diary()

    run('put the red cube on location_B', world, context)

    assert world.calls[0] == 'pick(green_cube)'
    assert world.on('red_cube') == 'location_B'
    assert not context.repairs


def test_a_slip_of_the_fingers_is_tried_again_once(busy_table: Tabletop, diary: DiaryType) -> None:
    slip = ('pick(red_cube)', Code.GRASP_FAILED, 'grasp of red_cube failed: fingers closed.')
    world = busy_table(faults=[slip])
    run('put the red cube on location_B', world, diary())
    assert world.on('red_cube') == 'location_B'

    with pytest.raises(GaveUpError, match='fingers closed'):
        run('put the red cube on location_B', busy_table(faults=[slip, slip]), diary())


def test_a_repair_does_not_repeat_what_is_done(busy_table: Tabletop, diary: DiaryType) -> None:
    fault = ('place(location_B)', Code.CONTROLLER_ABORTED, 'The controller gave up.')
    world = busy_table(faults=[fault])

    run(
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

    run(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert world.on('blue_cube') == 'table'
    assert {name: world.on(name) for name in on} == on


def test_what_a_person_said_holds_also_after_the_next_failure(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world, context = busy_table(unreachable=['yellow_cube']), diary({1: 'not the blue cube'})

    run(PLUS_SIGN, world, context)

    assert cubes_form_a_plus_sign(world)
    assert world.on('blue_cube') == 'table'
    assert len(context.repairs) == 2


def test_a_person_may_add_to_the_task(busy_table: Tabletop, diary: DiaryType) -> None:
    world, context = busy_table(), diary({1: 'also put the green cube on location_B'})

    run('put the red cube on location_A', world, context)

    assert world.on('red_cube') == 'location_A'
    assert world.on('green_cube') == 'location_B'


def test_cubes_are_lined_up_by_the_spectrum_from_left_to_right(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(unreachable=['orange_cube'])

    run(
        'Arrange cubes in a horizontal line in the center of the work space, ordering them from '
        'left to right based on their color in sequence of the visible spectrum.',
        world,
        diary(),
    )

    names = [f'{color}_cube' for color in ('red', 'yellow', 'green', 'aqua', 'blue', 'purple')]
    places = [world.at(name) for name in names]
    assert max(x for x, _, _ in places) - min(x for x, _, _ in places) < 0.01
    assert all(a[1] - b[1] > 0.05 for a, b in zip(places, places[1:], strict=False))


def test_a_capital_l_has_its_foot_on_the_right(busy_table: Tabletop, diary: DiaryType) -> None:
    world = busy_table()

    run(
        "Use the cubes to form the shape of the capital letter 'L'. The shape consists of a "
        'horizontal and a vertical line intersecting at a right angle.',
        world,
        diary(),
    )

    top, middle, corner, foot = (world.at(f'{color}_cube') for color in CORNERS_OF_L)
    assert top[0] > middle[0] > corner[0]
    assert top[1] == middle[1] == corner[1] > foot[1]
    assert foot[0] == corner[0]


CORNERS_OF_L = ('red', 'green', 'blue', 'yellow')
