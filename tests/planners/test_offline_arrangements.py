"""Algorithm 1 with `offline` where things can be arranged in many ways, or in none."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from offline_runs import DiaryType, Tabletop, run

from bbllm.core.errors import GaveUpError
from bbllm.core.types import Code

PAIRS = (
    'Arrange the objects so that the left side and the right side each have exactly one cube and '
    'one cylinder. Give every object a location of its own.'
)
TRIANGLE = 'Create a triangle in the right part of the working space using reddish cubes.'

FIVE_CUBES = {
    'red_cube': (0.40, 0.20),
    'green_cube': (0.50, 0.20),
    'blue_cube': (0.60, 0.20),
    'yellow_cube': (0.40, 0.32),
    'white_cube': (0.50, 0.32),
}
CYLINDERS = {'grey_cylinder': (0.40, -0.30), 'black_cylinder': (0.55, -0.35)}
LOCATIONS = {
    'location_A': (0.50, 0.10),
    'location_B': (0.35, 0.10),
    'location_C': (0.50, -0.10),
    'location_D': (0.35, -0.10),
}
REDDISH = {
    'red_cube': (0.40, 0.20),
    'pink_cube': (0.50, 0.20),
    'crimson_cube': (0.60, 0.20),
    'green_cube': (0.50, 0.32),
}


@pytest.mark.parametrize(
    ('instruction', 'things', 'unreachable', 'reason'),
    [
        (
            'create a plus sign using the cubes',
            FIVE_CUBES,
            ['red_cube'],
            '4 things can be used and 5 are needed.* red_cube is out of the workspace',
        ),
        (
            'form a capital L with the cubes',
            FIVE_CUBES,
            ['red_cube', 'blue_cube'],
            '3 things can be used and 5 or 4 are needed.*blue_cube is out of the workspace',
        ),
        (TRIANGLE, REDDISH, ['pink_cube'], '2 things can be used and 3 are needed.*pink_cube is'),
        (
            PAIRS,
            FIVE_CUBES | CYLINDERS | LOCATIONS,
            ['black_cylinder'],
            "of 'cylinders', 1 can be used, but 2 must be. black_cylinder is out of",
        ),
        (
            PAIRS,
            FIVE_CUBES | CYLINDERS | LOCATIONS,
            ['location_D'],
            '2 locations are needed on each side; 2 on the left and 1 on the right.*location_D is',
        ),
    ],
)
def test_where_there_is_no_solution_the_true_reason_is_told(
    instruction: str,
    things: dict[str, Any],
    unreachable: list[str],
    reason: str,
    tabletop: Tabletop,
    diary: DiaryType,
) -> None:
    with pytest.raises(GaveUpError, match=reason):
        run(instruction, tabletop(things, unreachable=unreachable), diary(), k=5)


def test_what_is_one_too_many_goes_to_neither_side(tabletop: Tabletop, diary: DiaryType) -> None:
    world = tabletop(FIVE_CUBES | CYLINDERS | LOCATIONS, unreachable=['white_cube'])

    run(PAIRS, world, diary())

    names = [name for name in (*FIVE_CUBES, *CYLINDERS) if name != 'white_cube']
    sides = {side: [name for name in names if side * world.at(name)[1] > 0.02] for side in (1, -1)}
    for there in sides.values():
        assert sorted(name.split('_')[1] for name in there) == ['cube', 'cylinder']
        assert all(world.on(name) in LOCATIONS for name in there)
    assert world.at('white_cube')[:2] == FIVE_CUBES['white_cube']


def test_two_groups_part_with_as_few_moves_as_can_be(tabletop: Tabletop, diary: DiaryType) -> None:
    cubes = {name: (x, -y) for name, (x, y) in FIVE_CUBES.items()}
    cylinders = {name: (x, -y) for name, (x, y) in CYLINDERS.items()}
    world = tabletop(cubes | cylinders | LOCATIONS | {'pink_cube': (0.62, 0.05)})

    run('Separate the objects by shape into left and right.', world, diary())

    assert [call for call in world.calls if call.startswith('pick')] == ['pick(pink_cube)']
    assert world.at('pink_cube')[1] < -0.02


def test_on_a_side_locations_are_taken_in_the_order_listed(
    tabletop: Tabletop, diary: DiaryType
) -> None:
    right = {
        'location_A': (0.62, -0.25),
        'location_B': (0.48, -0.10),
        'location_C': (0.35, -0.40),
    }
    world = tabletop(FIVE_CUBES | right)

    run('move the red, the green and the blue cube to the right', world, diary())

    assert [world.on(f'{c}_cube') for c in ('red', 'green', 'blue')] == [*right]


def test_a_stranger_leaves_the_place_of_a_pattern(tabletop: Tabletop, diary: DiaryType) -> None:
    crowd = {
        f'{color}_cube': (0.35 + 0.11 * (i % 4), -0.10 - 0.11 * (i // 4))
        for i, color in enumerate(('green', 'blue', 'white', 'lime', 'aqua', 'navy', 'teal'))
    }
    reds = {name: at for name, at in REDDISH.items() if name != 'green_cube'}
    world = tabletop(crowd | reds)

    run(TRIANGLE, world, diary())

    corners = [world.at(name) for name in reds]
    assert all(y < -0.02 for _, y, _ in corners)
    for name in crowd:
        x, y, _ = world.at(name)
        assert min((x - u) ** 2 + (y - v) ** 2 for u, v, _ in corners) >= 0.08**2


def test_a_line_closes_where_a_cube_drops_out(tabletop: Tabletop, diary: DiaryType) -> None:
    cubes = {name: (x, y + 0.12) for name, (x, y) in FIVE_CUBES.items()}
    world, context = tabletop(cubes, unreachable=['green_cube']), diary()

    run('line the cubes up by colour in the center of the work space', world, context)

    line = [world.at(f'{color}_cube') for color in ('red', 'yellow', 'blue', 'white')]
    assert len(context.repairs) == 1
    assert max(x for x, _, _ in line) - min(x for x, _, _ in line) < 0.001
    assert all(0.05 < a[1] - b[1] < 0.10 for a, b in itertools.pairwise(line))
    assert abs(line[0][1] + line[-1][1]) / 2 <= 0.05


def test_what_stands_beside_a_place_is_taken_before_that_is_filled(
    tabletop: Tabletop, diary: DiaryType
) -> None:
    cubes = FIVE_CUBES | {'white_cube': (0.50, -0.06)}  # red_cube goes to location_A beside it
    world = tabletop(cubes | {'location_A': (0.50, 0.0), 'location_B': (0.40, -0.20)})

    run('put the red cube and the white cube on location_A and location_B', world, diary())

    picks = [call for call in world.calls if call.startswith('pick')]
    assert picks == ['pick(white_cube)', 'pick(red_cube)']


@pytest.mark.parametrize(
    'sentence',
    [
        'no free way to red_cube was found: green_cube is in the way.',
        'red_cube cannot be picked because green_cube leaves no room for the fingers.',
    ],
)
def test_what_keeps_the_hand_from_a_thing_is_put_aside(
    sentence: str, tabletop: Tabletop, diary: DiaryType
) -> None:
    cubes = FIVE_CUBES | {'green_cube': (0.45, 0.20)}
    fault = ('pick(red_cube)', Code.NO_PATH, sentence)
    world, context = tabletop(cubes | LOCATIONS, faults=[fault]), diary()

    run('put the red cube on location_C', world, context)

    assert world.on('red_cube') == 'location_C'
    assert world.calls[1] == 'pick(green_cube)'
    assert len(context.repairs) == 1
