"""From goals and a scene to steps in plain words: arrangements, towers, sides and moves."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bbllm.bench.oracle.table_board import TIGHT_M, Board, Lessons, pose_of
from bbllm.bench.oracle.table_goals import (
    Act,
    Move,
    PerSide,
    RefusalError,
    Select,
    Separate,
    Shape,
    Side,
    TableGoal,
    TableObject,
    Target,
)
from bbllm.bench.oracle.table_layout import (
    FREE_M,
    NEAR_M,
    POSE_PITCH_M,
    POSES_X_M,
    SIZES,
    TIGHT_PITCH_M,
    Place,
    Rectangle,
    cell_of,
    color_rows,
    named_patterns,
    offsets,
    on_side,
    patterns_through,
    pose_cell,
    pose_patterns,
)
from bbllm.core.types import Scene

Pairs = list[tuple[str, Place]]

KEEP_OUT_M = 0.085
"""How far a pattern is at least from objects of the kind that it is made of [m]."""
MORE_THAN_PITCH_M = 0.015
"""How much further than its own neighbours they are at least [m]."""
CLEARING = 2.0
"""Cost of putting something aside that is in the way [moves]."""
UNNAMED = 1.0
"""Cost of poses rather than named locations [moves]."""
PULL, STRONG_PULL = 3.0, 100.0
"""Cost of a metre off the middle, and off `CENTRE_M` if the middle is asked for [moves/m]."""
CENTRE_M = 0.05
"""How far from the middle is still in the middle [m]."""
SIDES: tuple[Side, Side] = ('left', 'right')


def steps_for(
    task: Sequence[TableGoal], scene: Scene, lessons: Lessons, wishes: Sequence[TableGoal] = ()
) -> list[str]:
    """
    Return the steps that reach all goals, and end at the base if something moved.

    Args:
        task: What the task asks for.
        scene: The table as it is.
        lessons: What failures and people have shown.
        wishes: What people asked for later, even where that undoes some of the task.

    Raises:
        RefusalError: It cannot be done, with the reason.
    """
    return _Planning(Board(scene, lessons), lessons).steps_for(task, wishes)


class _Planning:
    def __init__(self, board: Board, lessons: Lessons):
        self._board = board
        self._lessons = lessons
        self._away: list[Rectangle] = []
        """Places that goals name; nothing is put aside there."""
        self._ends: dict[str, tuple[str, Callable[[], bool]]] = {}
        """Where objects are to be in the end, in words, and whether they are there."""

    def steps_for(self, task: Sequence[TableGoal], wishes: Sequence[TableGoal]) -> list[str]:
        task, wishes = _bottom_first(task), _bottom_first(wishes)
        goals = [*task, *wishes]
        for target in filter(None, map(_target_of, goals)):
            for name in (name for select in target.spots for name in select.names):
                if self._board.things[name].at is not None:
                    self._away.append(Rectangle.around([self._board.cell(name)]))
        for i, goal in enumerate(goals):
            if i == len(task):
                self._check_ends()
            self._plan(goal, goals[i + 1 :])
        self._check_ends()
        steps = self._board.steps
        placed = any(step.startswith('place') for step in steps)
        if not isinstance(goals[-1], Act) and (placed or not steps) and not self._board.held:
            steps.append('return to base')
        return steps

    def _plan(self, goal: TableGoal, later: Sequence[TableGoal]) -> None:
        match goal:
            case Act():
                self._act(goal, later)
            case Shape(shape='tower'):
                self._tower(goal)
            case Shape():
                pairs, box, strangers = arrange(goal, self._board)
                self._settle(pairs, box, strangers)
            case Move():
                self._move(goal, later)
            case Separate():
                for move in _moves_apart(goal, self._board):
                    self._move(move, later)
            case PerSide():
                pairs, extras = share(goal, self._board)
                self._settle(pairs)
                for name, cell in _to_the_middle(extras, self._board):
                    self._board.pick(name, self._away)
                    self._board.place(cell)

    def _check_ends(self) -> None:
        """Refuse goals of which a later one has undone an earlier one."""
        for name, (said, is_there) in self._ends.items():
            if not is_there():
                raise RefusalError(
                    f'I cannot do all of this: {name} is to be {said}, and another part of the '
                    'task takes it away from there. Ask for one of the two.'
                )
        self._ends.clear()

    def _ends_on(self, name: str, base: str) -> None:
        self._ends[name] = f'on {base}', lambda: self._board.below(name) == base

    def _ends_at(self, name: str, cell: Place) -> None:
        self._ends[name] = f'at {cell.key}', lambda: cell.holds(self._board.things[name])

    def _act(self, act: Act, later: Sequence[TableGoal]) -> None:
        if act.verb == 'pick':
            (select,) = act.items
            for name in select.names:
                self._ends.pop(name, None)
            # One that was in the hand once, and that a later goal names, is done with.
            done = later and any(self._lessons.done[f'pick {name}'] for name in select.names)
            if self._board.held not in select.names and not done:
                self._board.pick(self._board.choose(select)[0], self._away)
            return
        text = {
            'home': 'return to base',
            'open': 'open the gripper',
            'close': 'close the gripper',
            'wait': f'wait {act.seconds:g} seconds',
            'reach': f'reach over {self._reached(act.target)}' if act.target else '',
        }[act.verb]
        if self._lessons.done[text] > 0:
            self._lessons.done[text] -= 1
            return
        self._board.steps.append(text)
        if act.verb == 'open':
            self._board.held = None

    def _reached(self, target: Target) -> str:
        names = [name for one in target.spots for name in one.names]
        usable = [name for name in names if name not in self._lessons.bad_places]
        if not usable and not target.pose:
            raise RefusalError(f'the hand cannot get there. {self._lessons.reasons(names)}')
        return target.pose or usable[0]

    # --- moves --------------------------------------------------------------------------------

    def _move(self, move: Move, later: Sequence[TableGoal]) -> None:
        target = move.target
        names = [name for base in target.spots for name in base.names]
        into = all(self._board.things[name].kind == 'container' for name in names)
        if target.kind == 'on' and len(move.items) == 1 and move.items[0].count == 1:
            self._move_onto(move.items[0], names)
        elif target.kind == 'on' and into:
            for item in move.items:
                for name in item.names if item.count is None else self._board.choose(item):
                    self._move_onto(Select(name, (name,)), names)
        elif target.kind == 'on':
            self._tower(Shape('tower', (*target.spots, *move.items)))
        elif target.kind == 'pose':
            self._move_to_pose(move, target)
        elif target.kind == 'spots':
            self._move_to_spots(move, target, later)
        else:
            self._move_somewhere(move, target)

    def _move_onto(self, item: Select, bases: Sequence[str]) -> None:
        board = self._board
        there = [name for name in item.names if board.below(name) in bases]
        (name,) = board.choose(item, there)
        board.used.add(name)
        if name in there:
            self._ends_on(name, board.below(name) or '')
            return
        free = [base for base in bases if base not in (name, *self._lessons.bad_places)]
        if not free:
            raise RefusalError(f'nothing can be put there. {self._lessons.reasons(bases)}')
        base = min(free, key=lambda base: board.on_top_of(base) is not None)
        top = board.on_top_of(base)
        if top is not None and board.things[base].kind != 'container':
            board.pick(top, self._away)
            board.put_aside(self._away)
        board.pick(name, self._away)
        board.place_on(base)
        self._ends_on(name, base)

    def _move_to_pose(self, move: Move, target: Target) -> None:
        cell = pose_of(target.pose)
        there = self._board.standing_at(cell)
        settled = [there.name] if there else []
        names = [name for item in move.items for name in self._board.choose(item, settled)]
        if len(names) != 1:
            raise RefusalError(f"'{target.said}' has room for one object.")
        self._board.used.update(names)
        self._ends_at(names[0], cell)
        if names == settled:
            return
        ruled_out = self._lessons.bad_places.get(' '.join(target.pose.split()[:2]))
        if ruled_out is not None:
            raise RefusalError(ruled_out)
        self._board.pick(names[0], self._away)
        self._board.place_at_pose(target.pose)

    def _move_to_spots(self, move: Move, target: Target, later: Sequence[TableGoal]) -> None:
        spots = [name for select in target.spots for name in select.names]
        cells = [self._board.cell(name) for name in spots]
        there = {cell.key: self._board.standing_at(cell) for cell in cells}
        settled = [thing.name for thing in there.values() if thing is not None]
        chosen = [name for item in move.items for name in self._board.choose(item, settled)]
        chosen = [name for name in dict.fromkeys(chosen) if not self._moved_on(name, spots, later)]
        most = sum(len(item.names) if item.count is None else item.count for item in move.items)
        if len(cells) > most:
            raise RefusalError(
                f"'{target.said}' are {len(cells)} places, but one place is needed for each of "
                f'{most} objects.'
            )
        if len(chosen) > len(cells):
            raise RefusalError(
                f"'{target.said}' has room for {len(cells)}, but there are {len(chosen)} objects: "
                f'{", ".join(chosen)}.'
            )
        if len(move.items) == len(cells) > 1:  # `the red and the blue cube to A and B`: in order
            self._settle(list(zip(chosen, cells, strict=False)), named=True)
        else:
            self._settle(list(_keeping(chosen, cells, there)), named=True)

    def _moved_on(self, name: str, spots: Sequence[str], later: Sequence[TableGoal]) -> bool:
        """Whether an object was at its place already and a later goal has taken it away."""
        was_there = any(self._lessons.done[f'place {name} on {spot}'] for spot in spots)
        return was_there and any(name in one.names for goal in later for one in goal.items)

    def _move_somewhere(self, move: Move, target: Target) -> None:
        """Move objects to a side, or to any free place."""
        settled = [name for item in move.items for name in item.names if self._is_at(name, target)]
        chosen = [name for item in move.items for name in self._board.choose(item, settled)]
        self._board.used.update(chosen)
        for name in self._board.ranked(chosen):
            self._ends.pop(name, None)
            if target.kind == 'side':
                self._ends[name] = target.said, partial(self._is_at, name, target)
            if name in settled:
                continue
            cells = self._board.free_cells(target.side)
            preferred = [cell for cell in cells if cell.key in self._lessons.preferred]
            if not cells:
                raise RefusalError(f"there is no free place for {name} at '{target.said}'.")
            self._board.pick(name, self._away)
            self._board.place((preferred or cells)[0])

    def _is_at(self, name: str, target: Target) -> bool:
        thing = self._board.things[name]
        if name == self._board.held:
            return False
        if target.kind == 'side':
            return thing.side == target.side
        return name in self._lessons.moved

    def _tower(self, shape: Shape) -> None:
        names = _tower_of(shape, self._board)
        self._board.used.update(names)
        if shape.base is not None:
            self._move(Move((Select(names[0], (names[0],)),), shape.base), ())
        for below, name in itertools.pairwise(names):
            self._move_onto(Select(name, (name,)), [below])

    def _settle(
        self,
        pairs: Pairs,
        box: Rectangle | None = None,
        strangers: Sequence[str] = (),
        *,
        named: bool = False,
    ) -> None:
        """
        Bring objects to their places: what is held first, then in order where that is possible.

        Args:
            pairs: Objects and places.
            box: What is to stay free of other objects; just the places where not given.
            strangers: Objects that have to leave first.
            named: Whether the task names the places. Then what stands in the way is only put
                aside after feedback said so.
        """
        board = self._board
        board.used.update(name for name, _ in pairs)
        for name, cell in pairs:
            self._ends_at(name, cell)
        cells = dict(pairs)
        todo = {name: cell for name, cell in pairs if not cell.holds(board.things[name])}
        there = {name for name, _ in pairs if name not in todo}
        away = [*([box] if box else [Rectangle.around([cell]) for _, cell in pairs]), *self._away]
        if strangers and board.held is not None:
            board.put_aside(away)
        for name in strangers:
            board.pick(name, away)
            board.put_aside(away)
        while todo:
            name = self._next(todo, there)
            cell = todo.pop(name)
            if cell.key in self._lessons.bad_places:
                raise RefusalError(self._lessons.bad_places[cell.key])
            if not named or cell.key in self._lessons.taken:
                while (found := board.in_the_way(cell, {name, *there})) is not None:
                    board.pick(found, away)
                    board.put_aside(away)
            board.pick(name, away)
            board.place(cell)
            there.add(name)
            for other in [one for one in there if not cells[one].holds(board.things[one])]:
                there.remove(other)  # it had to leave so that something else could be picked
                todo[other] = cells[other]

    def _next(self, todo: Mapping[str, Place], there: set[str]) -> str:
        """
        Return what is held, else the first object whose place is free, else the first.

        What stands beside a place that is yet to be filled goes before all others: later, the
        hand would find no room beside it.
        """
        board = self._board
        if board.held is not None and board.held in todo:
            return board.held
        near = [
            name
            for name in todo
            if any(c.near(board.things[name], 0.12) for o, c in todo.items() if o != name)
        ]
        ready = (
            name for name in (*near, *todo) if board.in_the_way(todo[name], {name, *there}) is None
        )
        return next(ready, next(iter(todo)))


# --- the order of goals -----------------------------------------------------------------------


def _bottom_first(goals: Sequence[TableGoal]) -> list[TableGoal]:
    """Sort goals so that an object is moved before another is put on it, else keep their order."""
    ordered: list[TableGoal] = []
    for acts, group in itertools.groupby(goals, lambda goal: isinstance(goal, Act)):
        left = list(group)
        while left:
            ready = (goal for i, goal in enumerate(left) if acts or not _must_wait(i, left))
            goal = next(ready, left[0])
            left.remove(goal)
            ordered.append(goal)
    return ordered


def _must_wait(i: int, goals: Sequence[TableGoal]) -> bool:
    moved, bases = _moved(goals[i]), _bases(goals[i])
    earlier = any(_moved(goal) & moved for goal in goals[:i])
    return earlier or any(_moved(goal) & bases for goal in goals if goal is not goals[i])


def _moved(goal: TableGoal) -> set[str]:
    """Return the objects that a goal names and moves."""
    stays = isinstance(goal, Shape) and goal.shape == 'tower' and goal.base is None
    return _named(goal.items[stays:])


def _bases(goal: TableGoal) -> set[str]:
    """Return what has to stand still under a goal."""
    if isinstance(goal, Shape):
        return _named(goal.items[:1]) if goal.shape == 'tower' and goal.base is None else set()
    target = _target_of(goal)
    return _named(target.spots) if target is not None and target.kind == 'on' else set()


def _named(selects: Sequence[Select]) -> set[str]:
    return {select.names[0] for select in selects if len(select.names) == 1}


def _target_of(goal: TableGoal) -> Target | None:
    if isinstance(goal, Shape):
        return goal.base
    return goal.target if isinstance(goal, Move | Act) else None


# --- patterns and towers ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    pairs: Pairs
    box: Rectangle
    strangers: tuple[str, ...]
    cost: float


def arrange(shape: Shape, board: Board) -> tuple[Pairs, Rectangle, tuple[str, ...]]:
    """
    Give each place of a pattern an object, in the pattern that takes the fewest moves.

    Returns:
        Objects and places in the order in which they are filled, the box around them, and what
        has to be put aside first.

    Raises:
        RefusalError: Too few objects, or no room, with what ruled them out.
    """
    things = list(dict.fromkeys(name for item in shape.items for name in board.choose(item)))
    sizes = SIZES.get(shape.shape, (max(len(things), 1),))
    for n in (n for n in sizes if n <= len(things)):
        best: _Layout | None = None
        for cells, penalty in _places(shape, n, things, board):
            floor = penalty + _way_off(shape, cells)
            # Most places are no better than the best so far even if all that is there may stay.
            if best is None or floor + n - _inside(cells, things, board) < best.cost:
                found = _layout(shape, things, cells, floor, board)
                best = found if found and (best is None or found.cost < best.cost) else best
        if best is not None:
            return best.pairs, best.box, best.strangers
    names = [name for item in shape.items for name in item.names]
    names += [location.name for location in board.locations]
    raise RefusalError(
        f'{len(things)} things can be used and {" or ".join(map(str, sizes))} are needed, with as '
        f'many free places in the pattern that was asked for. {board.lessons.reasons(names)}'
    )


def _inside(cells: Sequence[Place], things: Sequence[str], board: Board) -> int:
    """Return how many objects may be in their places already."""
    box = Rectangle.around(cells)
    places = (board.things[name].at for name in things)
    return sum(at is not None and box.gap(at[0], at[1]) < NEAR_M for at in places)


def _way_off(shape: Shape, cells: Sequence[Place]) -> float:
    """Return the cost of being off the middle [moves]."""
    off = Rectangle.around(cells).off_middle
    return PULL * off + shape.centred * STRONG_PULL * max(0.0, off - CENTRE_M)


def _places(
    shape: Shape, n: int, things: Sequence[str], board: Board
) -> Iterator[tuple[Sequence[Place], float]]:
    """Yield patterns of places, and the cost of taking one."""
    begun = [board.things[name] for name in things if name in board.lessons.moved]
    if shape.by_color:
        for cells, named in color_rows(n, begun, board.locations, shape.side):
            yield cells[::-1] if shape.reverse else cells, 0.0 if named else UNNAMED
        return
    steps = offsets(shape.shape, n)
    for cells in named_patterns(steps, board.locations, shape.side):
        yield cells, 0.0
    standing = [pose_cell(*thing.at[:2]) for thing in begun if thing.at]
    for cells in patterns_through(standing, steps, shape.side):
        yield cells, UNNAMED
    for pitch, penalty in ((POSE_PITCH_M, UNNAMED), (TIGHT_PITCH_M, UNNAMED + 0.5)):
        for cells in pose_patterns(steps, shape.side, pitch):
            yield cells, penalty


def _layout(
    shape: Shape, things: Sequence[str], cells: Sequence[Place], cost: float, board: Board
) -> _Layout | None:
    """Fill a pattern; None where that is not possible."""
    there = {cell.key: board.standing_at(cell) for cell in cells}
    bad_places, bad_things = board.lessons.bad_places, board.lessons.bad_things
    if any(found is None and key in bad_places for key, found in there.items()):
        return None
    if shape.by_color:
        ordered = sorted(things, key=lambda name: board.things[name].hue)
        pairs = list(zip(ordered, cells, strict=True))
    else:
        settled = [thing.name for thing in there.values() if thing is not None]
        pairs = list(_keeping(board.ranked(things, settled)[: len(cells)], cells, there))
    members = {name for name, _ in pairs}
    box = Rectangle.around((cell for _, cell in pairs), _room(shape, cells))
    kinds = {board.things[name].kind for name in members}
    strangers = tuple(
        thing.name
        for thing in board.things.values()
        if thing.movable
        and thing.at
        and thing.name not in members
        and box.gap(*thing.at[:2]) < (box.room if thing.kind in kinds else FREE_M)
    )
    if any(name in bad_things for name in strangers):
        return None
    cost += sum(not cell.holds(board.things[name]) for name, cell in pairs)
    return _Layout(pairs, box, strangers, cost + CLEARING * len(strangers))


def _room(shape: Shape, cells: Sequence[Place]) -> float:
    """Return how far other objects must be, so that they do not seem part of a pattern [m]."""
    if shape.shape in ('row', 'column') or len(cells) < 2:
        return FREE_M
    pairs = itertools.combinations(cells, 2)
    pitch = min(max(abs(one.x - two.x), abs(one.y - two.y)) for one, two in pairs)
    return max(KEEP_OUT_M, pitch + MORE_THAN_PITCH_M)


def _keeping(
    chosen: Sequence[str], cells: Sequence[Place], there: Mapping[str, TableObject | None]
) -> Iterator[tuple[str, Place]]:
    """Pair objects with places; what stands in one of them stays there."""
    stays = {key: thing.name for key, thing in there.items() if thing and thing.name in chosen}
    waiting = iter([name for name in chosen if name not in stays.values()])
    for cell in cells:
        if (name := stays.get(cell.key) or next(waiting, None)) is not None:
            yield name, cell


def _tower_of(shape: Shape, board: Board) -> list[str]:
    """Return the objects of a tower, bottom first."""
    chosen: list[str] = []
    for item in shape.items:
        # What cannot be put down upon may still be picked, but not be part of a tower.
        fit = tuple(name for name in item.names if name not in board.lessons.bad_places)
        chosen += board.choose(replace(item, names=fit or item.names))
    chosen = list(dict.fromkeys(chosen))
    if shape.by_color:
        chosen.sort(key=lambda name: board.things[name].hue)
    elif any(item.count is None for item in shape.items):  # begin with the tower that stands
        towers = [
            list(_upwards(board, name)) for name in chosen if board.below(name) not in chosen
        ]
        standing = [name for name in max(towers, key=len, default=[]) if name in chosen]
        chosen = standing + [name for name in chosen if name not in standing]
    if len(chosen) < 2 and shape.base is None:
        names = [name for item in shape.items for name in item.names]
        raise RefusalError(f'a tower takes two things at least. {board.lessons.reasons(names)}')
    return chosen


def _upwards(board: Board, name: str | None) -> Iterator[str]:
    while name is not None:
        yield name
        name = board.on_top_of(name)


# --- sides ------------------------------------------------------------------------------------


def _moves_apart(goal: Separate, board: Board) -> list[Move]:
    """Return what goes where so that two groups part, in as few moves as possible."""

    def strays(group: Select, side: Side) -> tuple[str, ...]:
        return tuple(
            name
            for name in group.names
            if name == board.held
            or (board.things[name].side != side and name not in board.lessons.bad_things)
        )

    ways = [way for way in (SIDES, SIDES[::-1]) if goal.first in (None, way[0])]
    plans = [
        [(group, strays(group, side), side) for group, side in zip(goal.items, way, strict=True)]
        for way in ways
    ]
    best = min(plans, key=lambda plan: sum(len(names) for _, names, _ in plan))
    return [
        Move((Select(group.said, names, None),), Target('side', f'{side} side', side=side))
        for group, names, side in best
        if names
    ]


def share(goal: PerSide, board: Board) -> tuple[Pairs, list[str]]:
    """
    Give both sides their objects, each on a location of its own.

    Returns:
        Objects and places, in the scene's order; and the objects of these kinds that are too many.

    Raises:
        RefusalError: Too few objects or locations, with what ruled them out.
    """
    bad = board.lessons.bad_things
    members = [
        board.choose(Select(f'{item.said}s', item.names, 2 * (item.count or 1)))
        for item in goal.items
    ]
    staying = {name for names in members for name in names}
    others = [n for item in goal.items for n in item.names if n not in staying and n not in bad]
    cells = [cell for cell in map(cell_of, board.locations) if _usable(cell, staying, board)]
    best: tuple[float, Pairs] | None = None
    halves = (itertools.combinations(names, len(names) // 2) for names in members)
    for lefts in itertools.product(*halves):
        left = {name for names in lefts for name in names}
        found = _assigned(left, staying - left, cells, board)
        best = found if found and (best is None or found[0] < best[0]) else best
    if best is None:
        many = sum(item.count or 1 for item in goal.items)
        counts = [sum(on_side(cell, side) for cell in cells) for side in SIDES]
        names = [location.name for location in board.locations]
        raise RefusalError(
            f'{many} locations are needed on each side; {counts[0]} on the left and {counts[1]} '
            f'on the right can be used. {board.lessons.reasons(names)}'
        )
    order = list(board.things)
    pairs = sorted(best[1], key=lambda pair: order.index(pair[0]))
    far = _presumed_reach([cell for _, cell in pairs], staying, board)
    return pairs, [name for name in others if _distance(board.things[name]) < far]


def _presumed_reach(cells: Sequence[Place], members: set[str], board: Board) -> float:
    """
    Return from which distance on what is too many is not worth a try [m].

    It is halfway between what the plan uses and the nearest object that feedback called out of
    reach; before there is such feedback, everything is worth a try.
    """
    out = [
        _distance(board.things[name])
        for name, said in board.lessons.bad_things.items()
        if name in board.things and re.search(r'workspace|reach', said)
    ]
    used = [math.hypot(cell.x, cell.y) for cell in cells]
    used += [_distance(board.things[name]) for name in members]
    return (min(out) + max(used)) / 2 if out else math.inf


def _distance(thing: TableObject) -> float:
    return math.hypot(*thing.at[:2]) if thing.at else 0.0


def _usable(cell: Place, members: set[str], board: Board) -> bool:
    """Whether a location can be reached and has room, perhaps once members have left it."""
    if cell.key in board.lessons.bad_places:
        held_there = board.standing_at(cell)
        return held_there is not None and held_there.name in members
    blocker = board.in_the_way(cell, members)
    return blocker is None or blocker not in board.lessons.bad_things


def _assigned(
    left: set[str], right: set[str], cells: Sequence[Place], board: Board
) -> tuple[float, Pairs] | None:
    """Give the objects of both sides locations, and return what that costs [moves]."""

    def price(cell: Place) -> float:
        return CLEARING * (board.in_the_way(cell, ()) is not None)

    pairs: Pairs = []
    for names, side in ((left, SIDES[0]), (right, SIDES[1])):
        free = [cell for cell in cells if on_side(cell, side)]
        waiting: list[str] = []
        for name in sorted(names):
            home = next((cell for cell in free if cell.holds(board.things[name])), None)
            if home is None:
                waiting.append(name)
            else:
                free.remove(home)
                pairs.append((name, home))
        free.sort(key=price)  # else they stay in the scene's order
        if len(free) < len(waiting):
            return None
        pairs += zip(waiting, free, strict=False)
    moved = [cell for name, cell in pairs if not cell.holds(board.things[name])]
    return sum(1 + price(cell) for cell in moved), pairs


def _to_the_middle(names: Sequence[str], board: Board) -> Iterator[tuple[str, Place]]:
    """Give what belongs to neither side places on the line between the sides, one by one."""
    for name in names:
        at = board.things[name].at
        if at is not None and abs(at[1]) < TIGHT_M / 5:
            continue
        free = [cell for cell in (pose_cell(x, 0.0) for x in POSES_X_M) if board.free(cell)]
        roomy = (
            cell
            for within in (FREE_M, TIGHT_M)
            for cell in free
            if board.has_room(cell, locations=False, within=within)
        )
        if (cell := next(roomy, None)) is None:
            raise RefusalError(f'there is no free place for {name} between the two sides.')
        yield name, cell
