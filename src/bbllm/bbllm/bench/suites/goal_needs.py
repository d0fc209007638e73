"""Whether a scene has what a goal requires; otherwise no planner could ever reach it."""

from collections.abc import Sequence

from bbllm.bench.suites.goals import (
    ColorLine,
    Contained,
    Corners,
    Goal,
    Hold,
    LetterL,
    Needs,
    OneSide,
    PairsASide,
    PlusSign,
    Resting,
    Segregated,
    Tower,
    Triangle,
)
from bbllm.core.types import Kind
from bbllm.sim.scene_file import SceneFile


def lacks(
    goal: Goal, scene: SceneFile, out_of_reach: Sequence[str] = (), needs: Needs = 'none'
) -> list[str]:
    """
    Return what a goal requires and a scene lacks, one sentence part each; empty if nothing.

    What is out of reach does not count, where a goal needs objects that can be moved. *needs* is
    what has to be found out, which must differ among the blocks.
    """
    requirements = [
        (needs != 'weights' or len(_masses(scene)) > 1, 'blocks that differ in `mass`'),
        (needs != 'movable' or bool(scene.fixed), 'a block that is `fixed`'),
        *_of_goal(goal, scene, out_of_reach),
    ]
    return [f'the goal {goal.kind} needs {text}' for met, text in requirements if not met]


def _masses(scene: SceneFile) -> set[float]:
    return {spec.mass for spec in scene.objects}


def _of_goal(goal: Goal, scene: SceneFile, out_of_reach: Sequence[str]) -> list[tuple[bool, str]]:
    """Return what a goal requires, in words, and whether a scene has it."""
    near = [item for item in scene.movables if item.name not in out_of_reach]
    colors = [item.color for item in near if item.kind is Kind.CUBE]
    cubes, cylinders = len(colors), sum(item.kind is Kind.CYLINDER for item in near)
    blocks = [spec for spec in scene.objects if spec.name not in out_of_reach]
    loose = [spec for spec in blocks if not spec.fixed]
    match goal:
        case OneSide(things=kind):
            return [((cubes if kind == 'cube' else cylinders) > 0, f'a {kind} within reach')]
        case LetterL(least_cubes=n):
            return [(cubes >= n, f'{n} cubes within reach')]
        case PlusSign():
            return [(cubes >= 5, '5 cubes within reach')]
        case PairsASide():
            both = 'exactly two cubes and two cylinders within reach'
            return [(cubes == cylinders == 2, both)]
        case Segregated():
            return [(min(cubes, cylinders) > 0, 'a cube and a cylinder within reach')]
        case Triangle():
            fitting = sum(color in goal.colors for color in colors)
            text = f'3 cubes within reach of the colours {", ".join(goal.colors)}'
            return [(fitting >= 3, text)]
        case ColorLine():
            known = f'only cubes of the colours {", ".join(goal.colors)} within reach'
            return [
                (cubes >= 2, 'two cubes within reach'),
                (set(goal.colors).issuperset(colors), known),
            ]
        case Corners():
            most = 4 * len(scene.tables)
            n = len(loose if goal.which == 'movable' else blocks)
            free = goal.which == 'movable' or len(loose) == len(blocks)
            return [
                (
                    bool(loose) and n <= most,
                    f'one to {most} blocks in reach that can be moved',
                ),
                (free, 'blocks of which none is fixed, or which: movable'),
            ]
        case Hold():
            most_kg = max(_masses(scene), default=0.0)
            heaviest = [spec for spec in scene.objects if spec.mass == most_kg]
            text = 'one block that is heavier than all others, within reach and not fixed'
            return [(len(heaviest) == 1 and heaviest[0] in loose, text)]
        case Tower(height=n):
            high = len(loose) >= n - 1 and len(blocks) >= n
            by_weight = goal.order != 'lighter_up' or len(_masses(scene)) == len(scene.objects)
            based = goal.order != 'on_fixed' or len(loose) < len(blocks)
            return [
                (high, f'{n} blocks within reach, of which one may be fixed'),
                (based, 'a block within reach that is fixed to the table'),
                (by_weight, 'blocks that all weigh differently'),
            ]
        case Contained(inside=pairs):
            goods = {item.name for item in scene.movables}
            return _names({*pairs, *pairs.values()}, goods)
        case Resting(on=pairs):
            goods = {item.name for item in scene.movables}
            places = {item.name for item in (*scene.places, *scene.fixtures)}
            return [
                *_names(set(pairs), goods),
                *_names(set(pairs.values()), goods | places),
            ]


def _names(wanted: set[str], known: set[str]) -> list[tuple[bool, str]]:
    return [(name in known, f'{name!r}, which the scene lacks') for name in sorted(wanted)]
