"""Algorithm 1 with `offline` as Brain and Body: what a task in words comes to on the table."""

from __future__ import annotations

import pytest
from offline_runs import PLUS_SIGN, DiaryType, Tabletop, cubes_form_a_plus_sign, run_cleanly

PLUS_AT_C = ('location_A', 'location_B', 'location_C', 'location_D', 'location_E')


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

    run_cleanly(instruction, world, diary())

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

    run_cleanly(instruction, world, diary())

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
        (
            'put the red cube at 0.45 -0.10 0.03 1 0 0 0',
            'pick(red_cube) place(0.45 -0.1 0.03 1 0 0 0) return_to_base()',
        ),
        ('grasp the red cube, wait 2 seconds, go home', 'pick(red_cube) wait(2) return_to_base()'),
    ],
)
def test_single_actions_are_what_they_say(
    instruction: str, calls: str, busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table()
    run_cleanly(instruction, world, diary())

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

    run_cleanly(instruction, world, context)

    assert len(world.things_on(*PLUS_AT_C)) == 5
    assert cubes_form_a_plus_sign(world)
    assert not context.repairs


def test_what_stands_on_a_cube_is_put_aside_first(busy_table: Tabletop, diary: DiaryType) -> None:
    world, context = busy_table(moved={'green_cube': (0.35, 0.12, 0.06)}), diary()

    run_cleanly('put the red cube on location_B', world, context)

    assert world.calls[0] == 'pick(green_cube)'
    assert world.on('red_cube') == 'location_B'
    assert not context.repairs


def test_cubes_are_lined_up_by_the_spectrum_from_left_to_right(
    busy_table: Tabletop, diary: DiaryType
) -> None:
    world = busy_table(unreachable=['orange_cube'])

    run_cleanly(
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

    run_cleanly(
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
