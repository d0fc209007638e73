"""Drawings of the page: shared where equal, complete, and where the numbers say."""

from dataclasses import replace
from pathlib import Path

import pytest

from bbllm.core.types import Pose, Scene
from bbllm_bench.report.gallery import (
    Drawings,
    final_scene,
    is_far,
    read_scenes,
    table_view,
)
from bbllm_viewer.viz.objects import FAR
from tests.bench.report import made_up


def scene() -> Scene:
    return made_up.start_of('right_side', 0)


def moved(before: Scene, name: str, x: float, y: float) -> Scene:
    objects = tuple(
        replace(item, pose=Pose(position_m=(x, y, 0.02))) if item.name == name else item
        for item in before.objects
    )
    return replace(before, objects=objects)


def test_equal_tables_share_a_drawing_and_other_ones_do_not() -> None:
    start = scene()
    drawings, view = Drawings(), table_view([start])

    one = drawings.draw_table(start, start, view)
    same = drawings.draw_table(moved(start, 'hand', 0, 0), start, view)
    other = drawings.draw_table(moved(start, 'red_cube', 0.5, -0.3), start, view)

    assert one is same
    assert other.id != one.id
    assert len(drawings.unique) == 2


def test_what_fell_far_away_is_named_and_does_not_shrink_the_rest() -> None:
    start = scene()
    gone = moved(start, 'red_cube', 40.0, 3.0)

    drawing = Drawings().draw_table(gone, start, table_view([start, gone]))

    assert [item.name for item in gone.objects if is_far(item)] == ['red_cube']
    assert 'red_cube' not in drawing.markup
    assert drawing.height < 2 * drawing.width


def test_unreachable_objects_are_marked_where_they_have_not_moved() -> None:
    start = scene()
    end = moved(start, 'azure_cube', 0.5, -0.3)

    still = final_scene(start.objects, {'before': start})
    nearer = final_scene(end.objects, {'before': start})

    assert still.has('azure_cube', 'reachable', 'no')
    assert not nearer.has('azure_cube', 'reachable', 'no')
    drawings = Drawings()
    drawings.draw_table(still, None, table_view([still]))
    assert FAR in drawings.rules


@pytest.mark.parametrize(
    'text', ['', 'nonsense\n', '{"kind": "scene", "data": {"moment": "before"']
)
def test_damaged_journal_gives_no_scene_and_no_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / 'e.jsonl'
    path.write_text(text)

    assert read_scenes(path) == {}
    assert read_scenes(tmp_path / 'gone.jsonl') == {}
    assert read_scenes(None) == {}
