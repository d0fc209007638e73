"""Errors of scenes from pictures, names of objects that look alike, and a judge that only sees."""

import math
from dataclasses import replace

import pytest

from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject
from bbllm.skills.shapes import yaw_pose
from bbllm_bench.scorers.pictures import (
    PictureErrors,
    bind_names,
    renamed,
    unseen_score,
)

EDGES = (0.04, 0.04, 0.04)


def cube(
    name: str, x: float, y: float, *, color: str = 'red', yaw_deg: float = 0.0
) -> SceneObject:
    pose = yaw_pose((x, y, 0.02), math.radians(yaw_deg))
    return SceneObject(name=name, kind=Kind.CUBE, pose=pose, size_m=EDGES, color=color)


def scene(*objects: SceneObject, facts: tuple[Fact, ...] = ()) -> Scene:
    table = SceneObject(name='table', kind=Kind.FIXTURE, pose=Pose(position_m=(0.3, 0.0, -0.02)))
    return Scene((table, *objects), (), facts, 0.0)


def errors_of(seen: Scene, true: Scene) -> PictureErrors:
    errors = PictureErrors()
    errors.add(seen, true)
    return errors


def test_errors_are_of_objects_that_are_where_the_scene_has_them() -> None:
    true = scene(cube('a', 0.4, 0.0), cube('b', 0.5, 0.0), cube('c', 0.6, 0.0))
    seen = scene(cube('a', 0.403, 0.0, yaw_deg=88.0), cube('b', 0.55, 0.0))

    result = errors_of(seen, true).result(unseen_score(()), pictures=4, wall_s=0.5)

    assert (result.present, result.shown, result.correct) == (3, 2, 1)
    assert result.recall == pytest.approx(1 / 3)
    assert result.precision == pytest.approx(1 / 2)
    assert result.position_mm == pytest.approx(3.0)
    assert result.turned_deg == pytest.approx(2.0, abs=0.01)  # a cube has four alike sides


def test_what_is_in_the_hand_counts_for_nothing() -> None:
    held = (Fact('a', 'held_by', 'hand'),)
    true = scene(cube('a', 0.4, 0.0), cube('b', 0.5, 0.0), facts=held)
    seen = scene(cube('a', 0.47, 0.0), cube('b', 0.5, 0.0), facts=held)

    errors = errors_of(seen, true)

    assert (errors.present, errors.shown, errors.correct) == (1, 1, 1)


def test_names_are_bound_only_among_objects_of_equal_appearance() -> None:
    true = scene(cube('left', 0.4, 0.2), cube('right', 0.4, -0.2), cube('b', 0.5, 0, color='blue'))
    swapped = scene(
        cube('right', 0.4, 0.2), cube('left', 0.4, -0.2), cube('b', 0.5, 0, color='blue')
    )

    assert bind_names(true, true) == {}
    assert bind_names(swapped, true) == {'left': 'right', 'right': 'left'}


def test_a_name_that_no_picture_uses_goes_to_what_no_picture_shows() -> None:
    true = scene(cube('left', 0.4, 0.2), cube('middle', 0.4, 0.0), cube('right', 0.4, -0.2))
    seen = scene(cube('left', 0.4, 0.0), cube('middle', 0.4, -0.2))

    bound = bind_names(seen, true)

    assert bound == {'left': 'right', 'middle': 'left', 'right': 'middle'}


def test_names_change_in_objects_and_facts_alike() -> None:
    facts = (Fact('left', 'on', 'right'), Fact('hand', 'is', 'empty'))
    true = scene(cube('left', 0.4, 0.2), cube('right', 0.4, -0.2), facts=facts)

    other = renamed(true, {'left': 'right', 'right': 'left'})

    assert other.names == ('table', 'right', 'left')
    assert other.facts == (Fact('right', 'on', 'left'), Fact('hand', 'is', 'empty'))
    assert renamed(true, {}) is true
    assert other.objects[1] == replace(true.objects[1], name='right')
