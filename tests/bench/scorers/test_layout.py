"""Goals of puzzles: moves that break a rule though the end is right."""

import pytest

from bbllm.core.types import Kind, Pose, SceneObject
from bbllm.skills.shapes import yaw_pose
from bbllm_bench.scorers.judging import judge
from bbllm_bench.suites.goals import Layout
from bbllm_bench.suites.scores import FinalState

LIMITS = {'near_m': 0.02, 'still_m': 0.01, 'level_m': 0.01, 'tilt_deg': 18}
TABLE = SceneObject(
    name='table',
    kind=Kind.FIXTURE,
    pose=Pose(position_m=(0.45, 0.0, -0.02)),
    size_m=(1.4, 1.6, 0.04),
)


def cube(name: str, x: float, y: float, z: float = 0.0, edge: float = 0.04) -> SceneObject:
    pose = yaw_pose((x, y, z + edge / 2), 0.0)
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=(edge, edge, edge))


def place(name: str, x: float, y: float) -> SceneObject:
    pose = Pose(position_m=(x, y, 0.0))
    return SceneObject(name=name, kind=Kind.LOCATION, pose=pose, size_m=(0.04, 0.04, 0.0))


def fault(
    now: list[SceneObject],
    *moves: tuple[str, str],
    start: list[SceneObject] | None = None,
    **goal: object,
) -> str:
    state = FinalState(
        objects={item.name: item for item in (TABLE, *now)},
        start={item.name: item for item in (TABLE, *(start or now))},
        moves=moves,
    )
    return judge(Layout.model_validate({'kind': 'layout', **LIMITS, **goal}), state).reason


A, B, C = place('A', 0.4, 0.0), place('B', 0.4, 0.2), place('C', 0.4, -0.2)
PILE = [A, B, C, cube('big', 0.4, 0.0, edge=0.05), cube('small', 0.4, 0.0, 0.05, 0.03)]
APART = [A, B, C, cube('big', 0.4, 0.2, edge=0.05), cube('small', 0.4, 0.0, edge=0.03)]
ON = {'big': 'A', 'small': 'big'}


@pytest.mark.parametrize('pose', ['0.4 0.0 0.025', '0.405 0.005 0.025'])
def test_moves_are_judged_one_by_one_whatever_the_end_is(pose: str) -> None:
    good = (('small', 'C'), ('big', pose), ('small', '0.4 0.0 0.065'))
    rules = {'on': ON, 'on_places': True, 'tallest': 2, 'moves': 3}

    assert fault(PILE, *good, start=APART, **rules) == ''
    bad = (('small', '0.4 0.2 0.065'), ('small', 'C'), *good[1:])
    assert fault(PILE, *bad, start=APART, **rules) == '4 moves were made; 3 are allowed.'
    assert fault(PILE, *bad, start=APART, **{**rules, 'moves': 4, 'tallest': 1}) == (
        'move 1 made a tower of 2 objects; 1 are allowed.'
    )
    beside = (('small', '0.5 -0.3 0.015'), *good[1:])
    assert fault(PILE, *beside, start=APART, **rules) == (
        'move 1 put small neither on a location nor on its like.'
    )
    there_and_back = (('big', 'C'), ('big', 'A'))
    assert fault(APART, *there_and_back, untouched=('big',)) == (
        'big was moved, which is not allowed.'
    )
