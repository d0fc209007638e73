"""From goals and a scene to steps in plain words: arrangements, towers, sides and moves."""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bbllm.bench.oracle.table_board import FREE_M, TIGHT_M, Board, Lessons
from bbllm.bench.oracle.table_goals import (
    Act,
    Move,
    RefusalError,
    Select,
    Shape,
    Side,
    TableGoal,
    TableObject,
    Target,
)
from bbllm.bench.oracle.table_layout import (
    NEAR_M,
    POSE_PITCH_M,
    POSES_X_M,
    SIZES,
    TIGHT_PITCH_M,
    Place,
    Rectangle,
    cell_of,
    named_patterns,
    offsets,
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

    Wishes are what people asked for later, even where that undoes some of the task.

    Raises:
        RefusalError: It cannot be done, with the reason.
    """
    planning = _Planning(Board(scene, lessons), lessons)
    goals = [*_bottom_first(task), *_bottom_first(wishes)]
    planning.reserve(goals)
    for i, goal in enumerate(goals):
        if i == len(task):
            planning.check_ends()
        planning.plan(goal, goals[i + 1 :])
    planning.check_ends()
    board = planning.board
    placed = any(step.startswith('place') for step in board.steps)
    if not isinstance(goals[-1], Act) and (placed or not board.steps) and not board.held:
        board.steps.append('return to base')
    return board.steps


class _Planning:
    """Adds the steps of one goal after the other."""

    def __init__(self, board: Board, lessons: Lessons):
        self.board = board
        self._lessons = lessons
        self._ends: dict[str, tuple[str, Callable[[str], bool]]] = {}
        """Where objects are to be in the end, in words, and whether they are there."""

    def reserve(self, goals: Sequence[TableGoal]) -> None:
        """Keep the places that goals name free of what is put aside."""
        for name in (name for goal in goals for name in _names_of_target(goal)):
            if self.board.things[name].at is not None:
                self.board.away.append(Rectangle.around([cell_of(self.board.things[name])]))

    def check_ends(self) -> None:
        """Refuse goals of which a later one has undone an earlier one."""
        for name, (said, is_there) in self._ends.items():
            if not is_there(name):
                raise RefusalError(
                    f'I cannot do all of this: {name} is to be {said}, and another part of the '
                    'task takes it away from there. Ask for one of the two.'
                )
        self._ends.clear()

    def plan(self, goal: TableGoal, later: Sequence[TableGoal]) -> None:
        """Add the steps of a goal."""
        match goal:
            case Act():
                self._act(goal, later)
            case Move():
                self._move(goal, later)
            case Shape(shape='tower'):
                self._tower(goal)
            case Shape(shape='parted'):
                for move in _moves_apart(goal, self.board):
                    self._move(move, later)
            case Shape(shape='per side'):
                pairs, extras = share(goal, self.board)
                self._settle(pairs)
                for name, cell in _to_the_middle(extras, self.board):
                    self.board.pick(name)
                    self.board.place(cell)
            case Shape():
                layout = arrange(goal, self.board)
                self._settle(layout.pairs, [layout.box], layout.strangers)

    def _act(self, act: Act, later: Sequence[TableGoal]) -> None:
        if act.verb == 'pick':
            (select,) = act.items
            for name in select.names:
                self._ends.pop(name, None)
            # One that was in the hand once, and that a later goal names, is done with.
            done = later and any(self._lessons.done[f'pick {name}'] for name in select.names)
            if self.board.held not in select.names and not done:
                self.board.pick(self.board.choose([select])[0])
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
        self.board.steps.append(text)
        if act.verb == 'open':
            self.board.held = None

    def _reached(self, target: Target) -> str:
        usable = [name for name in target.names if name not in self._lessons.bad_places]
        if not usable and not target.pose:
            why = self._lessons.reasons(target.names)
            raise RefusalError(f'the hand cannot get there. {why}')
        return target.pose or usable[0]

    # --- moves --------------------------------------------------------------------------------

    def _move(self, move: Move, later: Sequence[TableGoal]) -> None:
        target = move.target
        if target.kind in ('spots', 'pose'):
            self._move_to_places(move, later)
        elif target.kind != 'on':
            self._move_somewhere(move)
        elif len(move.items) == 1 and move.items[0].count == 1:
            self._move_onto(move.items[0], target.names)
        elif all(self.board.things[name].kind == 'container' for name in target.names):
            for item in move.items:
                for name in item.names if item.count is None else self.board.choose([item]):
                    self._move_onto(Select(name, (name,)), target.names)
        else:
            self._tower(Shape('tower', (*target.spots, *move.items)))

    def _move_onto(self, item: Select, bases: Sequence[str]) -> None:
        board = self.board
        there = [name for name in item.names if board.below(name) in bases]
        (name,) = board.choose([item], there)
        board.used.add(name)
        if name not in there:
            free = [base for base in bases if base not in (name, *self._lessons.bad_places)]
            if not free:
                raise RefusalError(f'nothing can be put there. {self._lessons.reasons(bases)}')
            base = min(free, key=lambda base: board.on_top_of(base) is not None)
            top = board.on_top_of(base)
            if top is not None and board.things[base].kind != 'container':
                board.clear_away(top)
            board.pick(name)
            board.place_on(base)
        below = board.below(name)
        self._ends[name] = f'on {below}', lambda name: board.below(name) == below

    def _move_to_places(self, move: Move, later: Sequence[TableGoal]) -> None:
        """Move objects to locations, or one to a pose in numbers."""
        target, board = move.target, self.board
        cells = [cell_of(board.things[name]) for name in target.names]
        if target.kind == 'pose':
            x, y, *_ = target.pose.split()
            cells = [Place(f'{x} {y}', float(x), float(y), target.pose)]
        there = {cell.key: board.standing_at(cell) for cell in cells}
        settled = [thing.name for thing in there.values() if thing is not None]
        # What was at its place already and a later goal has taken away is done with.
        done = {name for goal in later for one in goal.items for name in one.names}
        done = {n for n in done for c in cells if self._lessons.done[f'place {n} on {c.key}']}
        chosen = [name for name in board.choose(move.items, settled) if name not in done]
        most = sum(item.most for item in move.items)
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

    def _move_somewhere(self, move: Move) -> None:
        """Move objects to a side, or to any free place."""
        board, side = self.board, move.target.side

        def is_there(name: str) -> bool:
            there = board.things[name].side == side if side else name in self._lessons.moved
            return name != board.held and there

        settled = [name for item in move.items for name in item.names if is_there(name)]
        chosen = board.choose(move.items, settled)
        board.used.update(chosen)
        for name in board.ranked(chosen):
            self._ends.pop(name, None)
            if side:
                self._ends[name] = move.target.said, is_there
            if name in settled:
                continue
            cells = board.free_cells(side)
            if not cells:
                raise RefusalError(f"there is no free place for {name} at '{move.target.said}'.")
            preferred = [cell for cell in cells if cell.key in self._lessons.preferred]
            board.pick(name)
            board.place((preferred or cells)[0])

    def _tower(self, shape: Shape) -> None:
        names = _tower_of(shape, self.board)
        self.board.used.update(names)
        if shape.base is not None:
            self._move(Move((Select(names[0], (names[0],)),), shape.base), ())
        for below, name in itertools.pairwise(names):
            self._move_onto(Select(name, (name,)), [below])

    def _settle(
        self,
        pairs: Pairs,
        boxes: Sequence[Rectangle] = (),
        strangers: Sequence[str] = (),
        *,
        named: bool = False,
    ) -> None:
        """
        Bring objects to their places: what is held first, then in order where that is possible.

        Strangers leave before, and nothing is put aside in the boxes, by default the places. Where
        the task names the places, what stands in the way leaves only after feedback said so.
        """
        board, cells = self.board, dict(pairs)
        board.used.update(cells)
        for name, cell in pairs:
            self._ends[name] = f'at {cell.key}', partial(self._stands_at, cell)
        todo = {name: cell for name, cell in pairs if not cell.holds(board.things[name])}
        there = {name for name, _ in pairs if name not in todo}
        away = boxes or [Rectangle.around([cell]) for _, cell in pairs]
        if strangers and board.held is not None:
            board.put_aside(away)
        for name in strangers:
            board.clear_away(name, away)
        while todo:
            name = self._next(todo, there)
            cell = todo.pop(name)
            if cell.key in self._lessons.bad_places:
                raise RefusalError(self._lessons.bad_places[cell.key])
            if not named or cell.key in self._lessons.taken:
                while (found := board.in_the_way(cell, {name, *there})) is not None:
                    board.clear_away(found, away)
            board.pick(name, away)
            board.place(cell)
            there.add(name)
            for other in [one for one in there if not cells[one].holds(board.things[one])]:
                there.remove(other)  # it had to leave so that something else could be picked
                todo[other] = cells[other]

    def _stands_at(self, cell: Place, name: str) -> bool:
        return cell.holds(self.board.things[name])

    def _next(self, todo: Mapping[str, Place], there: set[str]) -> str:
        """
        Return what is held, else the first object whose place is free, else the first.

        One that stands beside the place of another leaves before that place is filled.
        """
        board = self.board
        if board.held is not None and board.held in todo:
            return board.held
        near = [
            name
            for name in todo
            if any(c.near(board.things[name], 0.12) for o, c in todo.items() if o != name)
        ]
        ready = (n for n in (*near, *todo) if board.in_the_way(todo[n], {n, *there}) is None)
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
    moved, bases = _moved_and_bases(goals[i])
    earlier = any(_moved_and_bases(goal)[0] & moved for goal in goals[:i])
    others = (goal for goal in goals if goal is not goals[i])
    return earlier or any(_moved_and_bases(goal)[0] & bases for goal in others)


def _moved_and_bases(goal: TableGoal) -> tuple[set[str], set[str]]:
    """Return the objects that a goal names and moves, and what has to stand still under them."""
    items, target = goal.items, _target_of(goal)
    bases = target.spots if target is not None and target.kind == 'on' else ()
    if isinstance(goal, Shape) and goal.shape == 'tower' and target is None:
        items, bases = items[1:], items[:1]
    moved, still = (
        {select.names[0] for select in selects if len(select.names) == 1}
        for selects in (items, bases)
    )
    return moved, still


def _target_of(goal: TableGoal) -> Target | None:
    return goal.base if isinstance(goal, Shape) else goal.target


def _names_of_target(goal: TableGoal) -> list[str]:
    target = _target_of(goal)
    return target.names if target is not None else []


# --- patterns and towers ----------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Objects in a pattern of places."""

    pairs: Pairs
    """Objects and places in the order in which they are filled."""
    box: Rectangle
    strangers: tuple[str, ...]
    """What has to be put aside first."""
    cost: float


def arrange(shape: Shape, board: Board) -> Layout:
    """
    Give each place of a pattern an object, in the pattern that takes the fewest moves.

    Raises:
        RefusalError: Too few objects, or no room, with what ruled them out.
    """
    things = board.choose(shape.items)
    sizes = SIZES.get(shape.shape, (max(len(things), 1),))
    for n in (n for n in sizes if n <= len(things)):
        best: Layout | None = None
        for cells, penalty in _places(shape, n, things, board):
            around = Rectangle.around(cells)
            off = around.off_middle
            floor = penalty + PULL * off + shape.centred * STRONG_PULL * max(0.0, off - CENTRE_M)
            places = (board.things[name].at for name in things)
            inside = sum(at is not None and around.gap(*at[:2]) < NEAR_M for at in places)
            # Most places are no better than the best so far even if all that is there may stay.
            if best is None or floor + n - inside < best.cost:
                found = _layout(shape, things, cells, floor, board)
                best = found if found and (best is None or found.cost < best.cost) else best
        if best is not None:
            return best
    names = [name for item in shape.items for name in item.names]
    names += [location.name for location in board.locations]
    raise RefusalError(
        f'{len(things)} things can be used and {" or ".join(map(str, sizes))} are needed, with as '
        f'many free places in the pattern that was asked for. {board.lessons.reasons(names)}'
    )


def _places(
    shape: Shape, n: int, things: Sequence[str], board: Board
) -> Iterator[tuple[Sequence[Place], float]]:
    """Yield patterns of places, and the cost of taking one."""
    steps = offsets(shape.shape, n)
    if shape.reverse:
        steps = steps[::-1]
    for cells in named_patterns(steps, board.locations, shape.side):
        yield cells, 0.0
    begun = (board.things[name].at for name in things if name in board.lessons.moved)
    standing = [pose_cell(*at[:2]) for at in begun if at]
    for cells in patterns_through(standing, steps, shape.side):
        yield cells, UNNAMED
    for pitch, penalty in ((POSE_PITCH_M, UNNAMED), (TIGHT_PITCH_M, UNNAMED + 0.5)):
        for cells in pose_patterns(steps, shape.side, pitch):
            yield cells, penalty


def _layout(
    shape: Shape, things: Sequence[str], cells: Sequence[Place], cost: float, board: Board
) -> Layout | None:
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
    return Layout(pairs, box, strangers, cost + CLEARING * len(strangers))


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
    # What cannot be put down upon may still be picked, but not be part of a tower.
    bad = board.lessons.bad_places
    fit = [tuple(name for name in item.names if name not in bad) for item in shape.items]
    items = [
        replace(item, names=n or item.names) for item, n in zip(shape.items, fit, strict=True)
    ]
    chosen = board.choose(items)
    if any(item.count is None for item in shape.items):  # begin with the tower that stands
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


def _moves_apart(goal: Shape, board: Board) -> list[Move]:
    """Return what goes where so that two groups part, in as few moves as possible."""

    def move(group: Select, side: Side) -> Move:
        bad = board.lessons.bad_things
        strays = tuple(
            name
            for name in group.names
            if name == board.held or (board.things[name].side != side and name not in bad)
        )
        return Move((Select(group.said, strays, None),), Target('side', f'{side} side', side=side))

    ways = [way for way in (SIDES, SIDES[::-1]) if goal.side in (None, way[0])]
    plans = [[move(*pair) for pair in zip(goal.items, way, strict=True)] for way in ways]
    best = min(plans, key=lambda plan: sum(one.items[0].most for one in plan))
    return [one for one in best if one.items[0].names]


def share(goal: Shape, board: Board) -> tuple[Pairs, list[str]]:
    """
    Return locations for the objects of both sides, and the objects that are too many.

    Raises:
        RefusalError: Too few objects or locations, with what ruled them out.
    """
    bad = board.lessons.bad_things
    members = [
        board.choose([Select(f'{item.said}s', item.names, 2 * item.most)]) for item in goal.items
    ]
    staying = {name for names in members for name in names}
    others = [n for item in goal.items for n in item.names if n not in staying and n not in bad]
    cells = [cell for cell in map(cell_of, board.locations) if _usable(cell, staying, board)]
    halves = (itertools.combinations(names, len(names) // 2) for names in members)
    lefts = [{*itertools.chain(*parts)} for parts in itertools.product(*halves)]
    found = [one for left in lefts if (one := _assigned(left, staying - left, cells, board))]
    if not found:
        counts = [sum(cell.on_side(side) for cell in cells) for side in SIDES]
        names = [location.name for location in board.locations]
        raise RefusalError(
            f'{sum(item.most for item in goal.items)} locations are needed on each side; '
            f'{counts[0]} on the left and {counts[1]} on the right can be used. '
            f'{board.lessons.reasons(names)}'
        )
    _, pairs = min(found, key=lambda one: one[0])
    order = list(board.things)
    pairs.sort(key=lambda pair: order.index(pair[0]))
    far = _presumed_reach([cell for _, cell in pairs], staying, board)
    return pairs, [name for name in others if _distance(board.things[name]) < far]


def _presumed_reach(cells: Sequence[Place], members: set[str], board: Board) -> float:
    """
    Return from which distance on what is too many is not worth a try [m].

    Feedback has to have called something out of reach; then it is halfway to that.
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
    return board.in_the_way(cell, members) not in board.lessons.bad_things


def _assigned(
    left: set[str], right: set[str], cells: Sequence[Place], board: Board
) -> tuple[float, Pairs] | None:
    """Give the objects of both sides locations, and return what that costs [moves]."""

    def price(cell: Place) -> float:
        return CLEARING * (board.in_the_way(cell, ()) is not None)

    pairs: Pairs = []
    for names, side in ((left, SIDES[0]), (right, SIDES[1])):
        free = [cell for cell in cells if cell.on_side(side)]
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
