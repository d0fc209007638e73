"""
From goals and a scene to steps in plain words.

Each goal becomes a place for each of its objects, where it can choose those that cost the fewest
moves. Objects are then brought to their places until all of them are there.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bbllm.bench.oracle.lessons import Lessons
from bbllm.bench.oracle.table_board import FREE_M, Board
from bbllm.bench.oracle.table_goals import Act, Arrange, RefusalError, Select, Side, TableGoal
from bbllm.bench.oracle.table_layout import (
    POSE_PITCH_M,
    SIZES,
    TIGHT_PITCH_M,
    OnTop,
    Rectangle,
    Region,
    TablePlace,
    Where,
    cell_of,
    named_patterns,
    offsets,
    pose_patterns,
)
from bbllm.core.types import Scene

Targets = dict[str, Where]

BESIDE_M = 0.12
"""Up to here an object can keep the hand from another [m]."""
KEEP_OUT_M = 0.085
"""How far a pattern is at least from objects of the kind that it is made of [m]."""
MORE_THAN_PITCH_M = 0.015
"""How much further than its own neighbours they are at least [m]."""
CLEARING = 2.0
"""Cost of putting something aside that is in the way [moves]."""
UNNAMED = 1.0
"""Cost of poses rather than named locations [moves]."""
PULL = 3.0
"""Cost of a metre off the middle of the work space [moves/m]."""
TOO_MUCH = 'I cannot do all of this: {}. Ask for one of the two.'
SIDES: tuple[Side, Side] = ('left', 'right')


def steps_for(task: Sequence[TableGoal], scene: Scene, lessons: Lessons) -> list[str]:
    """
    Return the steps that reach all goals, and end at the base if something moved.

    What people asked for later comes last, even where that undoes some of the task.

    Raises:
        RefusalError: It cannot be done, with the reason.
    """
    board = Board(scene, lessons)
    stages = [
        [*stage]
        for goals in (task, lessons.wishes)
        for _, stage in itertools.groupby(goals, lambda goal: isinstance(goal, Act))
    ]
    for i, stage in enumerate(stages):
        later = {
            select.names[0]
            for goal in itertools.chain(*stages[i + 1 :])
            for select in goal.items
            if len(select.names) == 1
        }
        _arrange([goal for goal in stage if isinstance(goal, Arrange)], board, later)
        for goal in stage:
            if isinstance(goal, Act):
                _act(goal, board, later)
    placed = any(step.startswith('place') for step in board.steps)
    if isinstance(stages[-1][-1], Arrange) and (placed or not board.steps) and not board.held:
        board.steps.append('return to base')
    return board.steps


def _act(act: Act, board: Board, later: set[str]) -> None:
    done = board.lessons.done
    if act.verb == 'pick':
        names = act.items[0].names
        # One that was in the hand once, and that a later goal names, is done with.
        if board.held not in names and not any(n in later and done[f'pick {n}'] for n in names):
            board.pick(board.choose(act.items)[0])
        return
    text = {
        'home': 'return to base',
        'open': 'open the gripper',
        'close': 'close the gripper',
        'wait': f'wait {act.seconds:g} seconds',
        'reach': f'reach over {act.place}',
    }[act.verb]
    if done[text] > 0:
        done[text] -= 1
        return
    if act.place in board.lessons.bad:
        raise RefusalError(f'the hand cannot get there. {board.lessons.bad[act.place]}')
    board.steps.append(text)
    if act.verb == 'open':
        board.held = None


def _arrange(goals: Sequence[Arrange], board: Board, later: set[str]) -> None:
    """Add the steps that make some goals true together."""
    targets: Targets = {}
    strangers: list[str] = []
    board.away = [
        Rectangle.around([cell_of(thing)])
        for goal in goals
        for name in goal.spots
        if (thing := board.things.get(name)) is not None and thing.at is not None
    ]
    for goal in goals:
        if goal.shape in ('spots', 'free', 'side', 'tower', 'parted'):
            targets |= _loose(goal, board, targets)
        elif goal.shape == 'per side':
            targets |= _shared(goal, board)
        else:
            pairs, box, more = _pattern(goal, board)
            targets |= pairs
            strangers += more
            board.away.append(box)
    taken = [where for where in targets.values() if _for_one(where, board)]
    if len({*taken}) < len(taken):
        raise RefusalError(TOO_MUCH.format('two objects cannot have one place'))
    placed = {step.split()[1] for step in board.lessons.done if step.startswith('place ')}
    # What was at its place once, and a later goal names, is done with.
    targets = {name: where for name, where in targets.items() if name not in later & placed}
    board.away += [
        Rectangle.around([cell]) for cell in targets.values() if isinstance(cell, TablePlace)
    ]
    if strangers and board.held is not None:
        board.put(Region(None))
    for name in strangers:
        board.clear_away(name)
    _settle(targets, board)


def _settle(targets: Targets, board: Board) -> None:
    """Bring objects to their places: what has to leave, or is below, before what comes after."""
    for _ in range(3 * len(targets) + 1):
        todo = {name: where for name, where in targets.items() if not board.is_at(name, where)}
        if not todo:
            return
        there = targets.keys() - todo.keys()
        name = _next(todo, there, board)
        where = todo[name]
        key = where.base if isinstance(where, OnTop) else getattr(where, 'key', '')
        if key in board.lessons.bad:
            raise RefusalError(f'nothing can be put there. {board.lessons.bad[key]}')
        while (found := board.in_the_way(where, {name, *there})) is not None:
            board.clear_away(found)
        board.pick(name)
        board.put(where)
    raise RefusalError(TOO_MUCH.format(f'{" and ".join(todo)} cannot be where they are to be'))


def _for_one(where: Where, board: Board) -> bool:
    """Whether there is room for one object only."""
    on_top = isinstance(where, OnTop) and board.things[where.base].movable
    return on_top or isinstance(where, TablePlace)


def _next(todo: Targets, there: Iterable[str], board: Board) -> str:
    """
    Return what is held, else the first object whose place is free, else the first.

    An object comes after the one that it is to stand on, and one that stands beside the place of
    another leaves before that place is filled.
    """
    ready = [n for n, where in todo.items() if getattr(where, 'base', '') not in todo]
    ready = ready or [*todo]
    if board.held in ready:
        return board.held
    cells = {name: where for name, where in todo.items() if isinstance(where, TablePlace)}
    near = [
        name
        for name in ready
        if any(c.near(board.things[name], BESIDE_M) for o, c in cells.items() if o != name)
    ]
    free = (n for n in (*near, *ready) if board.in_the_way(todo[n], {n, *there}) is None)
    return next(free, ready[0])


# --- single objects, towers and sides ---------------------------------------------------------


def _loose(goal: Arrange, board: Board, used: Targets) -> Targets:
    """Return where the objects of a goal go that is no pattern."""
    if goal.shape == 'parted':
        return _apart(goal, board)
    if goal.shape == 'tower':
        return _tower(goal, board, used)
    if goal.shape in ('free', 'side'):
        region = Region(goal.side)
        names = [name for item in goal.items for name in item.names]
        settled = [name for name in names if board.is_at(name, region)]
        return dict.fromkeys(board.ranked(board.choose(goal.items, settled, used)), region)
    first = board.things.get(goal.spots[0])
    if first is not None and first.kind != 'location':
        return _inside(goal, board, used)
    cells = [cell_of(board.things[name]) for name in goal.spots if name in board.things]
    if not cells:
        x, y, *_ = goal.spots[0].split()
        cells = [TablePlace(f'{x} {y}', float(x), float(y), goal.spots[0])]
    there = {cell.key: thing.name for cell in cells if (thing := board.standing_at(cell))}
    chosen = board.choose(goal.items, [*there.values()], used)
    most = sum(len(item.names) if item.count is None else item.count for item in goal.items)
    if len(cells) > most or len(chosen) > len(cells):
        raise RefusalError(
            f'{", ".join(goal.spots)}: {len(cells)} places for {len(chosen)} objects, '
            f'{", ".join(chosen)}. One place is needed for each.'
        )
    if len(goal.items) == len(cells) > 1:  # `the red and the blue cube to A and B`: in order
        return dict(zip(chosen, cells, strict=False))
    return dict(_keeping(chosen, cells, there))


def _inside(goal: Arrange, board: Board, used: Targets) -> Targets:
    """Return in which of some containers objects go."""
    settled = [n for item in goal.items for n in item.names if board.below(n) in goal.spots]
    usable = [spot for spot in goal.spots if spot not in board.lessons.bad]
    targets: Targets = {}
    for name in board.choose(goal.items, settled, used):
        below = board.below(name)
        if below not in goal.spots and not usable:
            why = board.lessons.reasons([*goal.spots])
            raise RefusalError(f'nothing can be put there. {why}')
        targets[name] = OnTop(below if below in goal.spots and below else usable[0])
    return targets


def _tower(goal: Arrange, board: Board, used: Targets) -> Targets:
    """Return the places of the objects of a tower, bottom first."""
    chosen = board.choose(goal.items, (), used)
    if any(item.count is None for item in goal.items):  # begin with the tower that stands
        bottoms = (name for name in chosen if board.below(name) not in chosen)
        towers = [[*board.pile(name)] for name in bottoms]
        standing = [name for name in max(towers, key=len, default=[]) if name in chosen]
        chosen = list(dict.fromkeys([*standing, *chosen]))
    targets: Targets = {name: OnTop(base) for base, name in itertools.pairwise(chosen)}
    if goal.spots or goal.side:
        shape = 'spots' if goal.spots else 'side'
        lowest = Arrange(shape, (Select(chosen[0], (chosen[0],)),), goal.spots, goal.side)
        return _loose(lowest, board, used) | targets
    if len(chosen) < 2:
        names = [name for item in goal.items for name in item.names]
        raise RefusalError(f'a tower takes two things at least. {board.lessons.reasons(names)}')
    return targets


def _apart(goal: Arrange, board: Board) -> Targets:
    """Return what changes sides so that two groups part, in as few moves as possible."""
    plans: list[Targets] = []
    for sides in (SIDES, SIDES[::-1]):
        plans.append({})
        for group, side in zip(goal.items, sides, strict=True):
            strays = [n for n in group.names if not board.is_at(n, Region(side))]
            usable = [n for n in strays if n not in board.lessons.bad]
            plans[-1] |= dict.fromkeys(board.ranked(usable), Region(side))
    return min(plans, key=len)


def _shared(goal: Arrange, board: Board) -> Targets:
    """
    Return locations for so many objects of each kind on both sides.

    Raises:
        RefusalError: Too few objects or locations, with what ruled them out.
    """
    targets: Targets = {}
    halves: tuple[list[str], list[str]] = ([], [])
    cells = {
        side: [
            cell
            for cell in map(cell_of, board.locations)
            if cell.on_side(side) and cell.key not in board.lessons.bad
        ]
        for side in SIDES
    }
    for item in goal.items:
        n = item.count or 1
        chosen = board.choose([Select(item.said, item.names, 2 * n)])

        def leftness(name: str) -> float:
            thing = board.things[name]
            at_home = any(cell.holds(thing) for side in SIDES for cell in cells[side])
            return (thing.at[1] if thing.at else 0.0) * (100 if at_home else 1)

        chosen.sort(key=leftness, reverse=True)  # what has a place already keeps its side
        halves[0].extend(chosen[:n])
        halves[1].extend(chosen[n:])
    members = {*halves[0], *halves[1]}
    for names, side in zip(halves, SIDES, strict=True):
        there = {
            cell.key: thing.name
            for cell in cells[side]
            if (thing := board.standing_at(cell)) and thing.name in names
        }
        blocked = {cell.key: board.in_the_way(cell, members) for cell in cells[side]}
        usable = [c for c in cells[side] if blocked[c.key] not in board.lessons.bad]
        usable.sort(key=lambda cell: (cell.key not in there, blocked[cell.key] is not None))
        if len(usable) < len(names):
            raise RefusalError(
                f'{len(names)} locations are needed on the {side} side, and {len(usable)} can be '
                f'used. {board.lessons.reasons([cell.name for cell in board.locations])}'
            )
        targets |= _keeping(names, usable, there)
    return targets


# --- patterns ---------------------------------------------------------------------------------


def _pattern(shape: Arrange, board: Board) -> tuple[dict[str, TablePlace], Rectangle, list[str]]:
    """
    Return the places of the pattern that takes the fewest moves, and what has to leave it.

    Raises:
        RefusalError: Too few objects, or no room, with what ruled them out.
    """
    things = board.choose(shape.items)
    sizes = SIZES.get(shape.shape, (max(len(things), 1),))
    for n in (n for n in sizes if n <= len(things)):
        best: tuple[dict[str, TablePlace], Rectangle, list[str]] | None = None
        least = math.inf
        for cells, cost in _candidates(shape, n, board):
            # Most places are no better than the best even if all that is there may stay.
            if cost >= least or (filled := _filled(shape, things, cells, board)) is None:
                continue
            pairs, _, strangers = filled
            cost += sum(not board.is_at(name, cell) for name, cell in pairs.items())
            cost += CLEARING * len(strangers)
            if cost < least:
                best, least = filled, cost
        if best is not None:
            return best
    names = [name for item in shape.items for name in item.names]
    names += [location.name for location in board.locations]
    raise RefusalError(
        f'{len(things)} things can be used and {" or ".join(map(str, sizes))} are needed, with as '
        f'many free places in the pattern that was asked for. {board.lessons.reasons(names)}'
    )


def _candidates(
    shape: Arrange, n: int, board: Board
) -> Iterator[tuple[tuple[TablePlace, ...], float]]:
    """Yield patterns of places, and the cost of taking one."""
    steps = offsets(shape.shape, n)
    steps = steps[::-1] if shape.reverse else steps
    ways = [(named_patterns(steps, board.locations, shape.side), 0.0)]
    for pitch, cost in ((POSE_PITCH_M, UNNAMED), (TIGHT_PITCH_M, UNNAMED + 0.5)):
        ways.append((pose_patterns(steps, shape.side, pitch), cost))
    for cells, cost in ((cells, cost) for patterns, cost in ways for cells in patterns):
        yield cells, cost + PULL * Rectangle.around(cells).off_middle


def _filled(
    shape: Arrange, things: Sequence[str], cells: Sequence[TablePlace], board: Board
) -> tuple[dict[str, TablePlace], Rectangle, list[str]] | None:
    """Give each place of a pattern an object; None where that is not possible."""
    bad = board.lessons.bad
    there = {cell.key: thing.name for cell in cells if (thing := board.standing_at(cell))}
    if any(cell.key in bad and cell.key not in there for cell in cells):
        return None
    if shape.by_color:
        ordered = sorted(things, key=lambda name: board.things[name].hue)
        pairs = dict(zip(ordered, cells, strict=True))
    else:
        chosen = board.ranked(things, [*there.values()])[: len(cells)]
        pairs = dict(_keeping(chosen, cells, there))
    kinds = {board.things[name].kind for name in pairs}
    box = Rectangle.around(cells, _room(shape, cells))
    strangers = [
        thing.name
        for thing in board.things.values()
        if thing.movable
        and thing.at
        and thing.name not in pairs
        and box.gap(*thing.at[:2]) < (box.room if thing.kind in kinds else FREE_M)
    ]
    return None if any(name in bad for name in strangers) else (pairs, box, strangers)


def _room(shape: Arrange, cells: Sequence[TablePlace]) -> float:
    """Return how far other objects must be, so that they do not seem part of a pattern [m]."""
    if shape.shape in ('row', 'column') or len(cells) < 2:
        return FREE_M
    pairs = itertools.combinations(cells, 2)
    pitch = min(max(abs(one.x - two.x), abs(one.y - two.y)) for one, two in pairs)
    return max(KEEP_OUT_M, pitch + MORE_THAN_PITCH_M)


def _keeping(
    chosen: Sequence[str], cells: Sequence[TablePlace], there: Mapping[str, str]
) -> Iterator[tuple[str, TablePlace]]:
    """Pair objects with places; what stands in one of them stays there."""
    stays = {key: name for key, name in there.items() if name in chosen}
    waiting = iter([name for name in chosen if name not in stays.values()])
    for cell in cells:
        if (name := stays.get(cell.key) or next(waiting, None)) is not None:
            yield name, cell
