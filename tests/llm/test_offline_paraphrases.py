"""The seven tabletop tasks in other words: the stand-in plans the same for each of them."""

from __future__ import annotations

import pytest

from bbllm.core.errors import GaveUpError
from bbllm.core.protocols import Message
from bbllm.core.types import Kind, Pose, Scene, SceneObject, Task
from bbllm.llm.offline import OfflineModel
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.prompting import Prompts
from bbllm.skills.catalog import SKILLS

PROMPTS = Prompts()
PLACES = {
    'green_cube': (0.40, 0.20), 'red_cube': (0.55, 0.22), 'crimson_cube': (0.62, 0.10),
    'violet_cube': (0.42, -0.30), 'pink_cube': (0.34, 0.34), 'grey_cylinder': (0.36, -0.20),
    'black_cylinder': (0.55, 0.38),
    'location_A': (0.50, 0.30), 'location_B': (0.40, -0.10), 'location_C': (0.50, -0.20),
    'location_D': (0.62, -0.14), 'location_E': (0.45, 0.40),
}  # fmt: skip


def _thing(name: str) -> SceneObject:
    color, _, word = name.partition('_')
    kind = Kind.LOCATION if color == 'location' else Kind(word)
    z = 0.0 if kind is Kind.LOCATION else 0.02
    return SceneObject(
        name=name,
        kind=kind,
        pose=Pose(position_m=(*PLACES[name], z)),
        color='' if kind is Kind.LOCATION else color,
    )


SCENE = Scene(tuple(_thing(name) for name in PLACES), SKILLS, (), 0.0)


def plan(instruction: str) -> list[str]:
    prompt = PROMPTS.planning(Task('t', instruction), SCENE)
    reply = OfflineModel().complete([Message('user', prompt)]).text
    return [step.text for step in parse_plan(reply)]


PARAPHRASES = {
    'Move the cubes to the right side of the environment only.': (
        'Move only the cubes to the right side of the environment.',
        'Bring every block over to the right-hand side of the table.',
        'Put all cubes on the right, but leave the cylinders where they are.',
        'Please shift only the cubes onto the right half of the workspace.',
        'All cubes should end up on the right side; do not move anything else.',
        'I want all of the boxes on the right part of the table and nothing else moved.',
        'Get the cubes to the right. The other objects stay.',
        'The right side should contain all cubes.',
        'Only the cubes go to the right side.',
        'Relocate each cube so that it is on the right side, and do not touch the cylinders.',
        'Could you put the cubes in the right half, please? Everything else stays in place.',
    ),
    "Use the cubes to form the shape of the capital letter 'L'. The shape consists of a "
    'horizontal and a vertical line intersecting at a right angle.': (
        "Use the cubes to form the shape of the capital letter 'L': a vertical and a horizontal "
        'line that meet at a right angle.',
        'Arrange the blocks in the shape of a capital L.',
        'Make an L out of the cubes.',
        'Form the upper-case letter L using cubes: one vertical bar and one horizontal bar that '
        'meet at a right angle.',
        'Lay the cubes out so that they look like the letter L.',
        'Build an L-shaped figure with the cubes.',
        "Spell an 'L' with the blocks.",
        'The cubes should form a big letter L.',
        'Take the cubes and form a capital L with them.',
    ),
    'Arrange cubes in a horizontal line in the center of the work space, ordering them from left '
    'to right based on their color in sequence of the visible spectrum.': (
        'Line up all cubes in the middle of the table, sorted by rainbow colours from left to '
        'right.',
        'Put the cubes in a row across the center of the workspace, in the order of the colors '
        'of the rainbow, starting with red on the left.',
        'Sort the blocks by colour into a horizontal line at the centre, following the visible '
        'spectrum from left to right.',
        'Form a straight horizontal row of cubes in the center of the workspace. From left to '
        'right their colours should follow the visible spectrum.',
        'Create a rainbow line with the cubes in the middle of the work area.',
        'Put all cubes in a line in the centre, ordered by hue from right to left, starting '
        'with violet.',
    ),
    'Arrange objects in the scene such that left and right side of the environment has exactly '
    'one cube and one cylinder. Each object needs to be assigned a unique location.': (
        'Arrange the objects so that the left side and the right side of the environment each '
        'have exactly one cube and one cylinder. Give every object a location of its own.',
        'Put exactly one cube and one cylinder on the left side and exactly one cube and one '
        'cylinder on the right side, each on its own location.',
        'Each side of the table should hold one cube and one cylinder, every object at a '
        'different location.',
        'Rearrange the objects so that both halves contain exactly one cube and exactly one '
        'cylinder.',
        'I need one block and one cylinder on the left and one block and one cylinder on the '
        'right. No two objects may share a location.',
        'Distribute the objects: a cube and a cylinder on each side of the workspace, all at '
        'distinct locations.',
        'Make sure that the left half and the right half each have just one cube and one '
        'cylinder, and assign each object a location of its own.',
    ),
    'Create a triangle in the right part of the working space using reddish cubes.': (
        'Build a triangle out of the reddish blocks on the right side of the table.',
        'On the right half of the workspace, form a triangle with cubes of reddish color.',
        'Use the reddish cubes to make a triangular shape in the right part.',
        'Put the reddish cubes into a triangular arrangement in the right half.',
        'Arrange three reddish cubes as a triangle on the right-hand side.',
        'Place the cubes whose colour is close to red as a triangle on the right.',
        'Take the reddish cubes and build a triangle with them on the right side.',
        'Use cubes in shades of red to form a triangle in the right half of the table.',
    ),
    'Create a plus sign in the working place using the cubes.': (
        'Arrange five blocks in the form of a plus.',
        "Build a '+' shape from cubes.",
        'Form a cross-shaped pattern with the blocks in the workspace.',
        'Use the cubes to draw a plus symbol.',
        'I would like a plus made of cubes on the table.',
        'Make a plus sign: one cube in the middle and four cubes around it.',
    ),
    'Segregate objects based on geometric shapes into left and right part of work space. Objects '
    'of different shapes should not be on the same part of work space.': (
        'Separate the objects by shape: cubes on one side, cylinders on the other.',
        'Sort the objects by their geometric shape into the left and right halves of the table.',
        'Put all cubes on one side of the table and all cylinders on the other side.',
        'Divide the objects so that different shapes are on different sides.',
        'Keep cubes and cylinders apart: each kind gets its own half of the table.',
        'Split the things by type between the left and the right side. Do not mix shapes.',
        'All objects of the same shape should be on the same side, and different shapes on '
        'opposite sides.',
        'Group the objects by shape; each group gets its own half of the workspace.',
    ),
}


@pytest.mark.parametrize(
    ('paper', 'other'),
    [(paper, other) for paper, others in PARAPHRASES.items() for other in others],
)
def test_a_task_in_other_words_gets_the_same_plan(paper: str, other: str) -> None:
    steps = plan(paper)

    assert len(steps) > 3
    assert plan(other) == steps


def test_the_seven_tasks_are_not_taken_for_each_other() -> None:
    plans = [tuple(plan(paper)) for paper in PARAPHRASES]

    assert len({*plans}) == len(PARAPHRASES) == 7


@pytest.mark.parametrize(
    ('instruction', 'first', 'last'),
    [
        ('line the cubes up by colour from left to right', 'red', 'violet'),
        ('line the cubes up by colour from right to left', 'violet', 'red'),
        ('sort the cubes in a row by color, from violet on the left to red', 'violet', 'red'),
        ('put the cubes in a row in rainbow order with red on the right', 'violet', 'red'),
    ],
)
def test_a_row_by_colour_begins_where_the_task_says(
    instruction: str, first: str, last: str
) -> None:
    places = {
        step.split()[1]: float(step.split()[4]) for step in plan(instruction) if ' at ' in step
    }

    ordered = sorted(places, key=lambda name: -places[name])
    reds = ('pink_cube', 'crimson_cube', 'red_cube')
    assert (ordered[0] in reds) == (first == 'red')
    assert (ordered[-1] in reds) == (last == 'red')


@pytest.mark.parametrize(
    ('instruction', 'right'),
    [
        ('separate the shapes, cubes to the left and cylinders to the right', 'cylinder'),
        ('separate the shapes, cylinders to the left and cubes to the right', 'cube'),
    ],
)
def test_sides_that_the_task_names_are_kept(instruction: str, right: str) -> None:
    ends = [step.split() for step in plan(instruction) if step.startswith('place')]

    assert ends
    for _, name, *where in ends:
        y = PLACES[where[1]][1] if where[0] == 'on' else float(where[2])
        assert (y < 0) == name.endswith(right)


def test_what_is_to_stay_is_neither_taken_nor_put_aside() -> None:
    steps = plan('put everything on the left but leave the black cylinder alone')

    assert 'pick grey_cylinder' in steps
    assert not [step for step in steps if 'black_cylinder' in step]


@pytest.mark.parametrize(
    'instruction',
    [
        'create a plus sign using the cubes. the red cube in the middle',
        'make a triangle of the reddish cubes. put it away',
        'create a plus sign and a hexagon',
        'make a triangle with the cubes on the left and a plus sign on the right',
        'leave the cylinders where they are',
        'separate the cubes by weight into left and right',
        'put one cube on each corner',
        'create a triangle in the upper part using reddish cubes',
    ],
)
def test_what_goes_beyond_the_seven_is_refused_not_guessed(instruction: str) -> None:
    with pytest.raises(GaveUpError):
        plan(instruction)


@pytest.mark.parametrize(
    ('instruction', 'places'),
    [
        ('put a cube on the left and a cylinder on the right', 0),
        ('put the green cube on the right and the others stay', 1),
        ('move the cubes from the left to the right', 4),
    ],
)
def test_sides_in_a_sentence_do_not_make_it_one_about_both(instruction: str, places: int) -> None:
    assert sum(step.startswith('place') for step in plan(instruction)) == places
