"""Whether a scene has what goals about weight and about fixed blocks speak of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bbllm.bench.suites.goals import Corners, Hold, Tower
from bbllm.bench.suites.scene_recipe import ObjectGroup, Recipe, greatest
from bbllm.sim.scene_file import ObjectSpec, SceneFile

Unseen = Tower | Corners | Hold
CORNERS = 4
"""A table has so many."""


def unseen_lacks(goal: Unseen, scene: SceneFile, out_of_reach: Sequence[str]) -> list[str]:
    """Return what such a goal speaks of and a scene lacks, one sentence part each."""
    near = [spec for spec in scene.objects if spec.name not in out_of_reach]
    return [f'the goal {goal.kind} needs {text}' for text in _missing(goal, scene, near)]


def _missing(goal: Unseen, scene: SceneFile, near: Sequence[ObjectSpec]) -> Iterable[str]:
    loose = [spec for spec in near if not spec.fixed]
    if isinstance(goal, Corners):
        wanted = loose if goal.which == 'movable' else near
        if not loose or len(wanted) > CORNERS * len(scene.tables):
            yield f'one to {CORNERS * len(scene.tables)} blocks within reach that can be moved'
        if goal.which == 'all' and len(loose) < len(near):
            yield 'blocks of which none is fixed, or which: movable'
        return
    masses = [spec.mass for spec in scene.objects]
    if isinstance(goal, Hold):
        heaviest = [spec for spec in loose if spec.mass == max(masses)]
        if len(heaviest) != 1 or masses.count(max(masses)) != 1:
            yield 'one block that is heavier than all others, within reach and not fixed'
        return
    if len(loose) < goal.height - 1 or len(near) < goal.height:
        yield f'{goal.height} blocks within reach, of which one may be fixed'
    if goal.order == 'on_fixed' and len(loose) == len(near):
        yield 'a block within reach that is fixed to the table'
    if goal.order == 'lighter_up' and len(set(masses)) < len(masses):
        yield 'blocks that all weigh differently'


def unseen_never_has(goal: Unseen, recipe: Recipe) -> list[str]:
    """Return what no scene made by a recipe can have although such a goal needs it."""
    near = [group for group in recipe.objects if group.reach]
    return [f'the goal {goal.kind} needs {text}' for text in _never(goal, recipe, near)]


def _never(goal: Unseen, recipe: Recipe, near: Sequence[ObjectGroup]) -> Iterable[str]:
    most, fixed = _count(near), sum(group.fixed for group in near)
    if isinstance(goal, Tower):
        if most < goal.height:
            yield f'{goal.height} blocks within reach, but `generate` makes at most {most}'
        if goal.order == 'on_fixed' and not fixed:
            yield 'a block that is fixed; give a group within reach `fixed: 1`'
    weighs = isinstance(goal, Hold) or (isinstance(goal, Tower) and goal.order == 'lighter_up')
    if weighs and not all(group.mass and group.mass_ratio > 1 for group in recipe.objects):
        yield 'blocks that weigh differently; give every group `mass` and a `mass_ratio` above 1'


def _count(groups: Iterable[ObjectGroup]) -> int:
    return sum(greatest(group.count) for group in groups)


def unmet(needs: str, *, masses: int, fixed: int) -> list[str]:
    """
    Return why what a task says has to be found out cannot be, one sentence part each.

    Args:
        needs: What has to be found out.
        masses: How many different masses there may be.
        fixed: How many blocks may be fixed.
    """
    if needs == 'weights' and masses < 2:
        return ['needs weights, but all blocks weigh the same; give them `mass`']
    if needs == 'movable' and not fixed:
        return ['needs movable, but no block is fixed; give one `fixed`']
    return []
