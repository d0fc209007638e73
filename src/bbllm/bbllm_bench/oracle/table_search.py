"""
From goals and a scene to steps in plain words.

Each goal becomes a place for each of its objects, where it can choose those that cost the fewest
moves. Objects are then brought to their places until all of them are there.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from bbllm.core.types import Scene
from bbllm_bench.oracle.lessons import Lessons
from bbllm_bench.oracle.table_board import (
    FREE_M,
    Board,
    OnTop,
    Region,
    Related,
    TablePlace,
    TableStep,
    Where,
    gap,
    off_middle,
    patterns,
)
from bbllm_bench.oracle.table_goals import (
    RELATED,
    Act,
    Arrange,
    RefusalError,
    Side,
    TableGoal,
    Use,
)

Targets = dict[str, Where]

BESIDE_M = 0.12
"""Up to here an object can keep the hand from another [m]."""
AWAY_M = 0.095
"""How far from all places of a goal objects are put aside [m]."""
KEEP_OUT_M = 0.085
"""How far a pattern is at least from objects of the kind that it is made of [m]."""
CLEARING = 2.0
"""Cost of putting something aside that is in the way [moves]."""
PULL = 30.0
"""Cost of a metre off the middle of the work space [moves/m]."""
OFFSETS: Mapping[str, Sequence[Sequence[tuple[int, int]]]] = {
    'plus': [((0, 0), (1, 0), (0, 1), (0, -1), (-1, 0))],  # middle first, while it is in reach
    'triangle': [((1, 0), (0, 1), (0, -1))],
    'square': [((1, 1), (1, 0), (0, 1), (0, 0))],
    'L': [
        ((2, 0), (1, 0), (0, 0), (0, -1), (0, -2)),
        ((2, 0), (1, 0), (0, 0), (0, -1)),
    ],
}
"""Patterns as grid cells (forward, left), the best first; rows and columns take all objects."""
TOO_MUCH = 'I cannot do all of this: {}. Ask for one of the two.'
SIDES: tuple[Side, Side] = ('left', 'right')


def steps_for(task: Sequence[TableGoal], scene: Scene, lessons: Lessons) -> list[str]:
    """
    Return the steps that reach all goals, and end at the base if something moved and it can.

    What people asked for later comes last, even where that undoes some of the task.

    Raises:
        RefusalError: It cannot be done, with the reason.
    """
    board = Board(scene, lessons)
    goals = [*task, *lessons.wishes]
    offered = {skill.name for skill in scene.skills}
    for i, goal in enumerate(goals):
        if isinstance(goal, Use) and goal.skill not in offered:
            if not goal.instead:
                raise RefusalError(f'there is no skill here to {goal.skill} objects.')
            goals[i] = Arrange('spots', goal.items, (goal.instead,))
    for _, stage in itertools.groupby(goals, lambda goal: isinstance(goal, Arrange)):
        arranged: list[Arrange] = []
        for goal in stage:
            if isinstance(goal, Act):
                _act(goal, board)
            elif isinstance(goal, Use):
                _use(goal, board)
            else:
                arranged.append(goal)
        _arrange(arranged, board)
    placed = any(step.verb == 'place' for step in board.steps)
    returns = any(skill.name == 'return_to_base' for skill in scene.skills)
    moved = bool(goals) and isinstance(goals[-1], Arrange) and (placed or not board.steps)
    if returns and moved and not board.held:
        board.steps.append(TableStep('home', 'return to base'))
    return [step.text for step in board.steps]


def _act(act: Act, board: Board) -> None:
    done = board.lessons.done
    if act.verb == 'pick':
        if board.held not in act.items[0].names:
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
    board.steps.append(TableStep(act.verb, text))
    if act.verb == 'open':
        board.held = None


def _use(use: Use, board: Board) -> None:
    """Add the step of a skill that is used on one object, with an empty hand."""
    name = board.choose(use.items)[0]
    text = f'{use.skill} {name} {use.words}'
    if board.lessons.done[text] > 0:
        board.lessons.done[text] -= 1
        return
    if board.held is not None:
        board.put(Region())
    board.steps.append(TableStep(use.skill, text))
    entity = board.objects[name]
    if entity.at is not None:
        (x, y, z), (dx, dy) = entity.at, use.shift_m
        there = (x + dx, y + dy, z)
        board.objects[name] = replace(entity, at=there)


def _arrange(goals: Sequence[Arrange], board: Board) -> None:
    """Add the steps that make some goals true together."""
    targets: Targets = {}
    strangers: list[str] = []
    spots = {spot for goal in goals for spot in goal.spots}
    board.away = [([cell], AWAY_M) for cell in board.locations if cell.key in spots]
    for goal in goals:
        match goal.shape:
            case 'parted':
                targets |= _apart(goal, board)
            case 'tower':
                targets |= _tower(goal, board, targets)
            case 'per side':
                targets |= _shared(goal, board)
            case 'spots' | 'free' | 'side':
                targets |= _loose(goal, board, targets)
            case shape if shape in RELATED:
                where = Related(shape, goal.spots)
                targets |= dict.fromkeys(board.choose(goal.items, goal.spots, targets), where)
            case _:
                pairs, more = _pattern(goal, board)
                targets |= pairs
                strangers += more
                board.away.append(([*pairs.values()], KEEP_OUT_M))
    taken = [where for where in targets.values() if _for_one(where, board)]
    if len({*taken}) < len(taken):
        raise RefusalError(TOO_MUCH.format('two objects cannot have one place'))
    cells = [where for where in targets.values() if isinstance(where, TablePlace)]
    board.away += [([cell], AWAY_M) for cell in cells]
    if strangers and board.held is not None:
        board.put(Region())
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
    on_top = isinstance(where, OnTop) and board.objects[where.base].movable
    return on_top or isinstance(where, TablePlace)


def _next(todo: Targets, there: Iterable[str], board: Board) -> str:
    """
    Return what is held, else the first object whose place is free, else the first.

    An object comes after the one that it is to stand on, and one that stands beside the place of
    another leaves before that place is filled.
    """
    below = {n: (getattr(w, 'base', ''), *getattr(w, 'refs', ())) for n, w in todo.items()}
    ready = [n for n, names in below.items() if todo.keys().isdisjoint(names)] or [*todo]
    if board.held in ready:
        return board.held
    cells = {name: where for name, where in todo.items() if isinstance(where, TablePlace)}

    def rank(n: str) -> tuple[bool, bool]:
        beside = (c.near(board.objects[n], BESIDE_M) for o, c in cells.items() if o != n)
        return board.in_the_way(todo[n], {n, *there}) is not None, not any(beside)

    return min(ready, key=rank)


# --- where objects go -------------------------------------------------------------------------


def _loose(goal: Arrange, board: Board, used: Targets) -> Targets:
    """Return where the objects of a goal go that is no pattern."""
    if goal.shape in ('free', 'side'):
        region = Region(goal.side)
        settled = [n for item in goal.items for n in item.names if board.is_at(n, region)]
        return dict.fromkeys(board.ranked(board.choose(goal.items, settled, used)), region)
    first = board.objects.get(goal.spots[0])
    if first is not None and first.kind != 'location':
        return _inside(goal, board, used)
    cells = [cell for spot in goal.spots for cell in board.locations if cell.key == spot]
    for spot in goal.spots:
        if spot in board.objects and board.objects[spot].in_reach is False:
            raise RefusalError(f'{spot} is out of the workspace of the robot.')
    if not cells:
        x, y, *_ = goal.spots[0].split()
        cells = [TablePlace(f'{x} {y}', float(x), float(y), goal.spots[0])]
    there = {name: cell for cell in cells for name in board.standing_at(cell)[:1]}
    chosen = board.choose(goal.items, [*there], used)
    most = sum(len(item.names) if item.count is None else item.count for item in goal.items)
    if len(cells) > most or len(chosen) > len(cells):
        raise RefusalError(
            f'{", ".join(goal.spots)}: {len(cells)} places for {len(chosen)} objects, '
            f'{", ".join(chosen)}. One place is needed for each.'
        )
    if len(goal.items) == len(cells) > 1:  # `the red and the blue cube to A and B`: in order
        return dict(zip(chosen, cells, strict=False))
    return {**_keeping(chosen, cells, board.standing_at)}


def _inside(goal: Arrange, board: Board, used: Targets) -> Targets:
    """Return in which of some containers objects go."""
    on = {n: board.on.get(n, '') for item in goal.items for n in item.names}
    settled = [name for name, below in on.items() if below in goal.spots]
    usable = [spot for spot in goal.spots if spot not in board.lessons.bad]
    chosen = board.choose(goal.items, settled, used)
    if not usable and not {*chosen} <= {*settled}:
        raise RefusalError(f'nothing can be put there. {board.lessons.reasons(goal.spots)}')
    return {name: OnTop(on[name] if name in settled else usable[0]) for name in chosen}


def _tower(goal: Arrange, board: Board, used: Targets) -> Targets:
    """Return the places of the objects of a tower, bottom first."""
    chosen = board.choose(goal.items, (), used)
    if any(item.count is None for item in goal.items):  # begin with the tower that stands
        bottoms = (name for name in chosen if board.on.get(name) not in chosen)
        standing = max(map(board.pile, bottoms), key=len, default=[])
        chosen = list(dict.fromkeys([*(n for n in standing if n in chosen), *chosen]))
    targets: Targets = {name: OnTop(base) for base, name in itertools.pairwise(chosen)}
    if goal.spots or goal.side:
        shape = 'spots' if goal.spots else 'side'
        bottom = replace(goal.items[0], names=(chosen[0],), count=1)
        return _loose(replace(goal, shape=shape, items=(bottom,)), board, used) | targets
    if len(chosen) < 2:
        names = [name for item in goal.items for name in item.names]
        raise RefusalError(f'a tower takes at least two objects. {board.lessons.reasons(names)}')
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
    bad = board.lessons.bad
    halves: dict[Side, list[str]] = {'left': [], 'right': []}

    def leftness(name: str) -> float:
        entity = board.objects[name]
        at_home = any(cell.near(entity) and cell.key not in bad for cell in board.locations)
        return (entity.at[1] if entity.at else 0.0) * (100 if at_home else 1)

    for item in goal.items:
        n = item.count or 1
        chosen = board.choose([replace(item, count=2 * n)])
        chosen.sort(key=leftness, reverse=True)  # what has a place already keeps its side
        halves['left'] += chosen[:n]
        halves['right'] += chosen[n:]
    members = {*halves['left'], *halves['right']}
    targets: Targets = {}
    for side, names in halves.items():
        cells = [c for c in board.locations if c.on_side(side) and c.key not in bad]
        blocked = {cell: board.in_the_way(cell, members) for cell in cells}
        usable = [cell for cell in cells if blocked[cell] not in bad]
        if len(usable) < len(names):
            raise RefusalError(
                f'{len(names)} locations are needed on the {side} side, and {len(usable)} can be '
                f'used. {board.lessons.reasons([cell.key for cell in board.locations])}'
            )
        ours = {*names}
        usable.sort(key=lambda c: (ours.isdisjoint(board.standing_at(c)), blocked[c] is not None))
        targets |= _keeping(names, usable, board.standing_at)
    return targets


def _pattern(goal: Arrange, board: Board) -> tuple[dict[str, TablePlace], list[str]]:
    """
    Return the places of the pattern that takes the fewest moves, and what has to leave it.

    Raises:
        RefusalError: Too few objects, or no room, with what ruled them out.
    """
    objects = board.choose(goal.items)
    n = max(len(objects), 1)
    line = [(-i, 0) if goal.shape == 'column' else (0, -i) for i in range(n)]
    shapes = OFFSETS.get(goal.shape, [line])
    # cells of many patterns are the same, and nothing moves meanwhile
    standing = cache(board.standing_at)
    for steps in (steps for steps in shapes if len(steps) <= len(objects)):
        best: tuple[float, dict[str, TablePlace], list[str]] | None = None
        for cells in patterns(tuple(steps[::-1] if goal.reverse else steps), goal.side):
            cost = PULL * off_middle(cells)
            if best is not None and cost >= best[0]:
                break  # and the others are further off
            if (filled := _filled(goal, objects, cells, board, standing)) is not None:
                pairs, strangers = filled
                cost += sum(not board.is_at(name, cell) for name, cell in pairs.items())
                cost += CLEARING * len(strangers)
                if best is None or cost < best[0]:
                    best = cost, pairs, strangers
        if best is not None:
            return best[1], best[2]
    names = [name for item in goal.items for name in item.names]
    names += [cell.key for cell in board.locations]
    raise RefusalError(
        f'{len(objects)} objects can be used and {" or ".join(str(len(s)) for s in shapes)} are '
        'needed, with as many free places in the pattern that was asked for. '
        f'{board.lessons.reasons(names)}'
    )


def _filled(
    goal: Arrange,
    objects: Sequence[str],
    cells: Sequence[TablePlace],
    board: Board,
    standing: Callable[[TablePlace], Sequence[str]],
) -> tuple[dict[str, TablePlace], list[str]] | None:
    """Give each place of a pattern an object; None where that is not possible."""
    bad = board.lessons.bad
    there = {name: cell for cell in cells for name in standing(cell)[:1]}
    if any(cell.key in bad and cell not in there.values() for cell in cells):
        return None
    if goal.by_color:
        objects = sorted(objects, key=lambda name: board.objects[name].hue)
        pairs = dict(zip(objects, cells, strict=True))
    else:
        pairs = _keeping(board.ranked(objects, [*there])[: len(cells)], cells, standing)
    line = len({cell.x for cell in cells}) == 1 or len({cell.y for cell in cells}) == 1
    kinds = () if line else {board.objects[name].kind for name in pairs}
    strangers = [
        entity.name
        for entity in board.objects.values()
        if entity.movable and entity.at and entity.name not in pairs
        and gap(cells, *entity.at[:2]) < (KEEP_OUT_M if entity.kind in kinds else FREE_M)
    ]  # fmt: skip
    return None if any(name in bad for name in strangers) else (pairs, strangers)


def _keeping(
    chosen: Sequence[str],
    cells: Sequence[TablePlace],
    standing: Callable[[TablePlace], Sequence[str]],
) -> dict[str, TablePlace]:
    """Pair objects with places; what stands in one of them stays there."""
    stays = {cell: name for cell in cells for name in standing(cell)[:1] if name in chosen}
    waiting = iter([name for name in chosen if name not in stays.values()])
    pairs = ((stays.get(cell) or next(waiting, ''), cell) for cell in cells)
    return {name: cell for name, cell in pairs if name}
