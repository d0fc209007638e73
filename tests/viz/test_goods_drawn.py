"""Containers and what is in them, seen from above."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bbllm.core.types import Pose, Scene
from bbllm.sim.scene_file import load_scene
from bbllm.viz.colors import UNKNOWN, color_of
from bbllm.viz.shapes import Circle, Polygon, Text
from bbllm.viz.table import draw_scene
from bbllm.viz.view import View, view_of


def fruit(*, banana_in_bowl: bool = False) -> Scene:
    file = load_scene('fruit')
    x, y, _ = next(item.pose.position_m for item in file.movables if item.name == 'bowl')
    objects = tuple(
        replace(item, pose=Pose(position_m=(x + 0.02, y, 0.025)))
        if item.name == 'banana' and banana_in_bowl
        else item
        for item in file.movables
    )
    return Scene((*file.fixtures, *objects), (), (), 0.0)


def drawn(scene: Scene, view: View) -> tuple[Circle | Polygon | object, ...]:
    return draw_scene(scene, view, (0, 0)).shapes


def index_of_fill(shapes: tuple[object, ...], color: str) -> int:
    """Return which of the shapes is filled with the colour of a word, the first of them."""
    found = [
        i
        for i, shape in enumerate(shapes)
        if isinstance(shape, Circle | Polygon) and shape.paint.fill == color_of(color)
    ]
    return found[0]


def test_a_thing_in_a_bowl_is_drawn_over_it_and_named_for_itself() -> None:
    scene = fruit(banana_in_bowl=True)
    shapes = drawn(scene, view_of([scene], 600))

    assert index_of_fill(shapes, 'steelblue') < index_of_fill(shapes, 'gold')
    names = [shape.text for shape in shapes if isinstance(shape, Text)]
    assert {'banana', 'bowl'} <= {*names}
    assert not any(name.startswith('on ') for name in names)


def test_plate_bowl_and_what_is_as_long_as_wide_are_round_and_a_box_is_not() -> None:
    scene = fruit()
    shapes = drawn(scene, view_of([scene], 600))

    kinds = {
        color: type(shapes[index_of_fill(shapes, color)])
        for color in ('ivory', 'steelblue', 'seagreen', 'darkorange', 'peru', 'gold')
    }
    assert kinds == {
        'ivory': Circle,
        'steelblue': Circle,
        'seagreen': Circle,
        'darkorange': Circle,
        'peru': Polygon,
        'gold': Polygon,
    }


def test_a_container_is_in_the_picture_to_its_rim() -> None:
    scene = fruit()
    view = view_of([scene], 600)
    shapes = drawn(scene, view)
    bowl = shapes[index_of_fill(shapes, 'steelblue')]

    assert isinstance(bowl, Circle)
    assert bowl.radius <= bowl.centre[0] <= view.width - bowl.radius
    assert bowl.radius == pytest.approx(0.1 * view.scale)


def test_the_name_of_an_empty_container_is_not_written_on_another() -> None:
    scene = fruit()
    view = view_of([scene], 700)
    names = {s.text: s for s in drawn(scene, view) if isinstance(s, Text)}

    for item in scene.objects:
        if item.name in ('plate', 'bowl'):
            radius = item.size_m[0] / 2 * view.scale
            centre = view.at(*item.pose.position_m[:2])
            near = [n for n, text in names.items() if math.dist(text.position, centre) < radius]
            assert near == []


@pytest.mark.parametrize(
    ('word', 'color'),
    [('steelblue', '#4682b4'), ('dark orange', color_of('orange')), ('mauvish', UNKNOWN)],
)
def test_a_colour_of_css_is_drawn_as_it_is_there(word: str, color: str) -> None:
    assert color_of(word) == color
    assert color_of(word) == color  # PIL remembers what it was asked
