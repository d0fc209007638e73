"""Things in containers: what counts as in, and what does not; both formulations agree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bbllm.bench.scorers.judging import judge
from bbllm.bench.suites.goals import Contained
from bbllm.bench.suites.situation import Situation, Verdict
from bbllm.core.types import SceneObject
from bbllm.sim.scene_file import make_scene

GOAL = Contained(
    kind='contained', inside={'orange': 'bowl'}, rim_m=0.02, level_m=0.012, tilt_deg=18
)
SCENE = make_scene(
    {
        'objects': [
            {'name': 'bowl', 'kind': 'bowl', 'xy': [0.5, 0.0]},
            {'name': 'orange', 'kind': 'orange', 'xy': [0.5, 0.3]},
            {'name': 'can', 'kind': 'can', 'xy': [0.4, -0.3]},
        ]
    }
)
START = {item.name: item for item in (*SCENE.fixtures, *SCENE.movables)}


def moved(name: str, x: float, y: float, z: float) -> SceneObject:
    return replace(START[name], pose=replace(START[name].pose, position_m=(x, y, z)))


def verdict(*changed: SceneObject) -> tuple[Verdict, str]:
    now = {**START, **{item.name: item for item in changed}}
    judgement = judge(GOAL, Situation(objects=now, start=START))
    return judgement.verdict, judgement.reason


def test_a_thing_on_the_floor_of_its_container_is_in_it() -> None:
    assert verdict(moved('orange', 0.52, 0.01, 0.036)) == (Verdict.PASSED, '')


@pytest.mark.parametrize(
    ('at', 'why'),
    [
        ((0.5, 0.3, 0.03), 'the middle of orange is not'),
        ((0.5, 0.09, 0.075), 'the middle of orange is not'),
        ((0.5, 0.0, 0.12), 'orange is 4.5 cm above bowl'),
    ],
)
def test_beside_on_the_rim_or_above_is_not_in(at: tuple[float, float, float], why: str) -> None:
    said, reason = verdict(moved('orange', *at))

    assert said is Verdict.FAILED
    assert why in reason


def test_on_a_bowl_that_lies_upside_down_is_not_in_it() -> None:
    bowl = replace(START['bowl'], pose=replace(START['bowl'].pose, quat_xyzw=(1, 0, 0, 0)))

    assert verdict(bowl, moved('orange', 0.5, 0.0, 0.076)) == (
        Verdict.FAILED,
        'bowl is not upright.',
    )


def test_another_thing_in_the_container_fails_the_goal() -> None:
    said, reason = verdict(moved('orange', 0.5, 0.04, 0.036), moved('can', 0.5, -0.04, 0.046))

    assert said is Verdict.FAILED
    assert reason == 'can is in bowl, where it does not belong.'
