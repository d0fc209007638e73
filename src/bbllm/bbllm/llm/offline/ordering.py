"""In which order the parts of a task are taken: what others stand on comes first."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.llm.offline.board import Board
from bbllm.llm.offline.goals import Act, Goal, Move, Shape, Stay
from bbllm.llm.offline.phrases import Select, Target


def bottom_first(goals: Sequence[Goal]) -> list[Goal]:
    """
    Sort goals so that a thing is moved before another is put on it, else keep their order.

    A single action, such as a wait, parts what is before it from what comes after. Where things
    are to be on each other in a circle, the order is kept: planning finds that it cannot end so.
    """
    ordered: list[Goal] = []
    waiting: list[Goal] = []
    for goal in goals:
        if isinstance(goal, Act):
            ordered += [*_sorted(waiting), goal]
            waiting = []
        else:
            waiting.append(goal)
    return ordered + _sorted(waiting)


def target_of(goal: Goal) -> Target | None:
    """Return where a goal takes things, if it names a place."""
    if isinstance(goal, Shape):
        return goal.base
    return goal.target if isinstance(goal, Move | Act) else None


def fixed(goals: Sequence[Goal], board: Board) -> set[str]:
    """Return the things that are to stay where they are."""
    stay: set[str] = set()
    for goal in goals:
        if isinstance(goal, Stay):
            stay |= {name for item in goal.items for name in item.names}
    if any(isinstance(goal, Stay) and not goal.items for goal in goals):
        spoken = {name for goal in goals for item in goal.items for name in item.names}
        stay |= {name for name, item in board.things.items() if item.movable} - spoken
    return stay


def _sorted(goals: list[Goal]) -> list[Goal]:
    left, ordered = list(goals), []
    while left:
        ready = (goal for i, goal in enumerate(left) if not _must_wait(i, left))
        goal = next(ready, left[0])
        left.remove(goal)
        ordered.append(goal)
    return ordered


def _must_wait(i: int, goals: Sequence[Goal]) -> bool:
    """Tell whether others of these goals come before the one at an index."""
    moved, bases = _moved(goals[i]), _bases(goals[i])
    earlier = any(_moved(goal) & moved for goal in goals[:i])
    return earlier or any(_moved(goal) & bases for goal in goals if goal is not goals[i])


def _moved(goal: Goal) -> set[str]:
    """Return what a goal moves for certain: things that are named, not just described."""
    if isinstance(goal, Shape) and goal.shape == 'tower' and goal.base is None:
        return _named(goal.items[1:])
    return _named(goal.items)


def _bases(goal: Goal) -> set[str]:
    """Return what has to stand still under a goal."""
    if isinstance(goal, Shape):
        return _named(goal.items[:1]) if goal.shape == 'tower' and goal.base is None else set()
    target = target_of(goal)
    return _named(target.spots) if target is not None and target.kind == 'on' else set()


def _named(selects: Sequence[Select]) -> set[str]:
    return {select.names[0] for select in selects if len(select.names) == 1}
