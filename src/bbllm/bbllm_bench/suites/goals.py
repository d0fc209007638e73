"""
What a settled table must be like, as data: the goals that a suite's tasks state.

A goal has every tolerance that its checker uses, so that the case file alone defines what counts.
No planner ever sees a goal. Lengths in metres; edges are lengths in edges of a cube. Left is
y > 0, right is y < 0, as the robot sees it; x points away from it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from bbllm.files.yaml_files import FileRecord
from bbllm.worlds.scene.table_tolerances import DEFAULTS, TableTolerances


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f'{pattern!r} is no regular expression: {error}') from error
    return pattern


Pattern = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_compiled)]
"""A regular expression that is searched for, whatever the case of letters."""
Positive = Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)]
Degrees = Annotated[float, Field(gt=0, lt=45, allow_inf_nan=False)]
Bar = Annotated[int, Field(ge=1, le=12)]


def _least_first(limits: tuple[float, float]) -> tuple[float, float]:
    if limits[0] > limits[1]:
        raise ValueError(f'give the least first: [{limits[1]:g}, {limits[0]:g}]')
    return limits


Ordered = AfterValidator(_least_first)
Range = Annotated[tuple[Positive, Positive], Ordered]


def _without_circles(on: Mapping[str, str]) -> Mapping[str, str]:
    try:
        TopologicalSorter({above: [below] for above, below in on.items()}).prepare()
    except CycleError as error:
        circle = ' on '.join(reversed(error.args[1]))
        raise ValueError(f'{circle}: something must rest on a table or a location') from error
    return on


Held = Literal['heaviest', 'second_heaviest', 'lightest', 'odd']
"""Which of the blocks by weight."""


class GoalRecord(FileRecord):
    """What all goals share; there are no defaults that hide a tolerance."""

    level_m: Positive
    """How far an underside may be from the surface that an object stands on [m]."""
    tilt_deg: Degrees
    """How far an object that stands may lean: a cube off a face of its own, a cylinder off its
    axis [deg]."""


class GridGoal(GoalRecord):
    """What patterns of cubes on the cells of a grid share."""

    edge_m: Positive
    """Edge of the cubes [m]."""
    pitch_edges: Range
    """Least and greatest distance of neighbours [edges]."""
    residual_edges: Positive
    """How far a cube may be from its place in the best fit [edges]."""
    turn_deg: Degrees
    """How far it may be turned against x and y, and the bars of a letter against a right angle."""

    @property
    def pitch_m(self) -> tuple[float, float]:
        return self.pitch_edges[0] * self.edge_m, self.pitch_edges[1] * self.edge_m

    @property
    def residual_m(self) -> float:
        return self.residual_edges * self.edge_m


class LetterL(GridGoal):
    """Cubes as a capital L, seen from the robot: an upright bar, and a foot to its right."""

    kind: Literal['letter_l']
    least_cubes: Annotated[int, Field(ge=4, le=14)]
    least_up: Bar
    """How many cubes the upright needs beside the corner."""
    least_right: Bar
    """How many cubes the foot needs beside the corner."""


class ColorLine(GoalRecord):
    """All cubes within reach in one line across the table, from left to right by colour."""

    kind: Literal['color_line']
    colors: tuple[str, ...]
    """The order of the visible spectrum, red first."""
    straight_m: Positive
    """How far an x may be from the mean x [m]."""
    centre: tuple[float, float]
    """Middle of the work space [m]."""
    centre_m: Positive
    """How far the middle of the line may be from there [m]."""
    gap_m: Range
    """Least and greatest distance between the centres of neighbours, along the line [m]."""


class Triangle(GoalRecord):
    """Cubes of some colours as a triangle on one side."""

    kind: Literal['triangle']
    colors: tuple[str, ...]
    """Colours that a cube of the triangle may have."""
    side: Literal['left', 'right']
    margin_m: Positive
    edge_m: Positive
    side_edges: Range
    """Least and greatest distance between its corners [edges]."""
    angle_deg: Degrees
    """Least angle at a corner [deg]."""
    apart_edges: Positive
    """How near other cubes may be to it [edges]."""


class PlusSign(GridGoal):
    """
    Five cubes: one in the middle of four others on two crossing lines.

    Other cubes must be further from each of them than a pitch and the tolerance of a place.
    """

    kind: Literal['plus_sign']
    level_edges: Positive
    """How far the middles of the arms may be above or below that of the centre [edges]."""

    @property
    def rise_m(self) -> float:
        return self.level_edges * self.edge_m


ConditionsText = Annotated[str, Field(min_length=1, max_length=4000)]


class Conditions(GoalRecord):
    """Conditions in the grammar of `core.goals`, checked as at the end of any episode."""

    kind: Literal['conditions']
    text: ConditionsText | tuple[ConditionsText, ...]
    """For example `on(red_cube, blue_cube); side(all of cubes, left)`; of several, the one that a
    table fits best counts."""
    limits: TableTolerances = DEFAULTS

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text,) if isinstance(self.text, str) else self.text


class Tower(GoalRecord):
    """Some of the blocks one on the other, on the table, and nothing else on top."""

    kind: Literal['tower']
    height: Annotated[int, Field(ge=2, le=14)]
    """How many blocks, the one at the bottom included."""
    order: Literal['any', 'lighter_up', 'on_fixed', 'lighter_up_on_fixed']
    """`lighter_up`: each is lighter than the one under it; `on_fixed`: the one at the bottom is
    fixed to the table; `lighter_up_on_fixed`: both, what the fixed one weighs left aside."""
    near_m: Positive
    """How far a middle may be from that of the block under it [m]."""
    still_m: Positive
    """How far what is fixed to the table may be from where it was [m]."""


class Corners(GoalRecord):
    """Blocks on the table, each at a corner of its own."""

    kind: Literal['corners']
    which: Literal['all', 'movable']
    """`movable`: all within reach but those that are fixed to the table."""
    corner_m: Positive
    """How near the middle of a block must be to a corner of the table, seen from above [m]."""
    still_m: Positive
    """How far what is fixed to the table may be from where it was [m]."""


class Hold(GoalRecord):
    """One of the blocks in the hand, above the table, and all others at rest."""

    kind: Literal['hold']
    which: Held
    """`odd`: all others weigh the same as each other, and it does not."""
    raised_m: Positive
    """How far its lowest point must be above the table [m]."""

    def wanted(self, mass_kg: Mapping[str, float]) -> str:
        """Return the name of the block that is meant; '' where the masses leave it open."""
        counts = Counter(mass_kg.values())
        single = sorted(mass for mass, n in counts.items() if n == 1)
        if self.which == 'odd':
            meant = single if len(counts) == 2 and len(mass_kg) > 2 else []
        else:
            rank = {'heaviest': -1, 'second_heaviest': -2, 'lightest': 0}[self.which]
            ordered = sorted(mass_kg.values())
            meant = [m for m in ordered[rank:][:1] if m in single] if len(ordered) > 1 else []
        return next((name for name, mass in mass_kg.items() if mass in meant[:1]), '')


class Layout(GoalRecord):
    """
    What a puzzle asks for: what rests on what and where, and by which moves.

    A suite states the tolerances; the puzzle of a trial fills in the rest, where '' and () ask for
    nothing (scene_sampling.puzzles). A move is a pick that succeeded.
    """

    kind: Literal['layout']
    near_m: Positive
    """How far a centre may be from the middle of what it rests on [m]."""
    still_m: Positive
    """How far what is to stay may be from where it was [m]."""
    on: Annotated[Mapping[str, str], AfterValidator(_without_circles)] = {}
    """What is to rest on what, by name."""
    still: tuple[str, ...] = ()
    """What is to be where it was."""
    moves: Annotated[int, Field(ge=1, le=99)] | None = None
    """How many moves there may be."""
    untouched: tuple[str, ...] = ()
    """What no move may be of."""
    on_places: bool = False
    """Whether everything has to be put down on a location or on another object of its kind."""
    tallest: Annotated[int, Field(ge=1, le=9)] | None = None
    """How many objects may stand on each other, at any moment."""


class Spoken(GoalRecord):
    """An answer to the person, and everything where it was."""

    kind: Literal['spoken']
    says: Annotated[tuple[Pattern, ...], Field(min_length=1)]
    """What the answer has to contain, each of them."""
    never_says: tuple[Pattern, ...] = ()
    still_m: Positive
    """How far an object may be from where it was [m]."""


Goal = Annotated[
    LetterL
    | ColorLine
    | Triangle
    | PlusSign
    | Conditions
    | Tower
    | Corners
    | Hold
    | Layout
    | Spoken,
    Field(discriminator='kind'),
]

Needs = Literal['none', 'weights', 'movable']
"""What no scene shows and a task cannot be done without: what each block weighs, or which of them
can be moved. `scorers.information` checks whether a planner had found it out before it acted."""
NEEDING = (Tower, Corners, Hold)
"""Goals for which it is defined which action commits to them, and so what had to come before."""
