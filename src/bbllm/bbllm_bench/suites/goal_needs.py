"""Whether a scene has what a goal requires; otherwise no planner could ever reach it."""

from collections.abc import Iterator, Sequence

from bbllm.core.errors import ParseError, UnknownNameError
from bbllm.core.goals import parse_goal
from bbllm.core.types import Fact, Kind, Scene
from bbllm.scene.scene_file import SceneFile
from bbllm_bench.suites.goals import (
    ColorLine,
    Conditions,
    Corners,
    Goal,
    Hold,
    LetterL,
    Needs,
    PlusSign,
    Tower,
    Triangle,
)

_RANKS = {
    'heaviest': 'is heavier than all others',
    'second_heaviest': 'is heavier than all others but one',
    'lightest': 'is lighter than all others',
    'odd': 'weighs other than all others, which weigh the same',
}

Need = tuple[bool, str]
"""Whether a scene has it, and what in words."""


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


def _of_goal(goal: Goal, scene: SceneFile, out_of_reach: Sequence[str]) -> Iterator[Need]:
    near = [item for item in scene.movables if item.name not in out_of_reach]
    colors = [item.color for item in near if item.kind is Kind.CUBE]
    cubes = len(colors)
    blocks = [spec for spec in scene.objects if spec.name not in out_of_reach]
    loose = [spec for spec in blocks if not spec.fixed]
    match goal:
        case LetterL(least_cubes=n):
            yield cubes >= n, f'{n} cubes within reach'
        case PlusSign():
            yield cubes >= 5, '5 cubes within reach'
        case Triangle():
            named = f'of the colours {", ".join(goal.colors)}'
            fitting = sum(color in goal.colors for color in colors)
            yield fitting >= 3, f'3 cubes within reach {named}'
        case ColorLine():
            named = f'of the colours {", ".join(goal.colors)}'
            yield cubes >= 2, 'two cubes within reach'
            yield set(goal.colors).issuperset(colors), f'only cubes {named} within reach'
        case Corners():
            most = 4 * len(scene.tables)
            n = len(loose if goal.which == 'movable' else blocks)
            free = goal.which == 'movable' or len(loose) == len(blocks)
            few = bool(loose) and n <= most
            yield few, f'one to {most} blocks in reach that can be moved'
            yield free, 'blocks of which none is fixed, or which: movable'
        case Hold():
            name = goal.wanted({spec.name: spec.mass for spec in scene.objects})
            text = f'one block that {_RANKS[goal.which]}, within reach and not fixed'
            yield name in {spec.name for spec in loose}, text
        case Tower(height=n):
            high = len(loose) >= n - 1 and len(blocks) >= n
            all_differ = len(_masses(scene)) == len(scene.objects)
            by_weight = not goal.order.startswith('lighter_up') or all_differ
            based = not goal.order.endswith('on_fixed') or len(loose) < len(blocks)
            yield high, f'{n} blocks within reach, of which one may be fixed'
            yield based, 'a block within reach that is fixed to the table'
            yield by_weight, 'blocks that all weigh differently'
        case Conditions():
            items = (*scene.movables, *scene.places, *scene.fixtures)
            far = tuple(Fact(name, 'reachable', 'no') for name in out_of_reach)
            for text in goal.texts:
                try:
                    parse_goal(text, Scene(items, (), far, 0.0))
                except (ParseError, UnknownNameError) as error:
                    yield False, f'other conditions: {error}'
