"""What is drawn, where, and that both files show the same."""

import io
import itertools
import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from bbllm.cli.views.picture_files import write_pictures
from bbllm.core.events import Ending, Episode, EpisodeEnded, EpisodeStarted, Event, SceneRecorded
from bbllm.core.journal import episode_of
from bbllm.core.types import Fact, Kind, Pose, Scene
from bbllm.scene.scene_file import list_scenes, load_scene
from bbllm_viewer.viz.colors import HEX, color_of
from bbllm_viewer.viz.png import to_png
from bbllm_viewer.viz.shapes import (
    Page,
    Paint,
    Panel,
    Polygon,
    Shape,
    Text,
    rectangle,
)
from bbllm_viewer.viz.sheet import draw_episode
from bbllm_viewer.viz.svg import to_svg
from bbllm_viewer.viz.table import Wanted, draw_scene, overlap, place_labels
from bbllm_viewer.viz.view import view_of


def scene(name: str = 'plus_sign') -> Scene:
    """Return a scene as it is at the start, with its far things marked."""
    file = load_scene(name)
    objects = (*file.fixtures, *file.movables, *file.places)
    far = [item for item in objects if math.hypot(*item.pose.position_m[:2]) > 0.8]
    facts = tuple(Fact(item.name, 'reachable', 'no') for item in far)
    return Scene(objects, (), facts, 0.0)


def moved(before: Scene, name: str, x: float, y: float, z: float = 0.02) -> Scene:
    """Return a scene in which one thing stands elsewhere."""
    objects = tuple(
        replace(item, pose=Pose(position_m=(x, y, z))) if item.name == name else item
        for item in before.objects
    )
    return replace(before, objects=objects)


def episode(*scenes: Scene, task: str = 'build something', ended: bool = True) -> Episode:
    """Return the record of an episode that shows these scenes."""
    start = EpisodeStarted(episode_id='e1', task=task, planner='p', brain='b', body='b')
    data = [start, *map(SceneRecorded, ('before', 'after'), scenes)]
    end = [EpisodeEnded(ending=Ending.FINISHED, message='')] if ended else []
    return episode_of([Event(0.0, each) for each in (*data, *end)])


def texts(page: Page) -> list[str]:
    """Return all that is written in a page."""
    inner = [s for panel in page.shapes if isinstance(panel, Panel) for s in panel.shapes]
    return [s.text for s in (*page.shapes, *inner) if isinstance(s, Text)]


def test_svg_is_xml_that_names_task_ending_and_every_object() -> None:
    page = draw_episode(episode(scene(), scene()))

    root = ET.fromstring(to_svg(page))

    written = [''.join(node.itertext()) for node in root.iter('{http://www.w3.org/2000/svg}text')]
    for item in load_scene('plus_sign').movables:
        assert written.count(item.name) == 2, f'{item.name} in both panels'
    assert {'build something', 'FINISHED', '10 cm', 'before', 'after'} <= set(written)


@pytest.mark.parametrize('task', ['<script>&amp;"\'</script>', 'a\x00b\x1bc', ']]>', '把方块'])
def test_no_task_can_break_the_svg(task: str) -> None:
    page = draw_episode(episode(scene(), task=task))

    root = ET.fromstring(to_svg(page).encode())

    assert not list(root.iter('{http://www.w3.org/2000/svg}script'))


def test_png_shows_the_cube_where_it_came_to_rest() -> None:
    before = scene()
    page = draw_episode(episode(before, moved(before, 'red_cube', 0.6, -0.3)))
    image = Image.open(io.BytesIO(to_png(page, scale=1.0))).convert('RGB')
    view = view_of([before, moved(before, 'red_cube', 0.6, -0.3)], 620)
    first, second = (shape for shape in page.shapes if isinstance(shape, Panel))

    def color_at(panel: Panel, x: float, y: float) -> tuple[int, ...]:
        px, py = view.at(x, y)
        color = image.getpixel((round(panel.corner[0] + px), round(panel.corner[1] + py)))
        assert isinstance(color, tuple)
        return color

    red = tuple(int(HEX['red'][i : i + 2], 16) for i in (1, 3, 5))
    assert image.size == (round(page.width), round(page.height))
    assert math.dist(color_at(second, 0.6, -0.3), red) < 20
    assert math.dist(color_at(first, 0.6, -0.3), red) > 100


@pytest.mark.parametrize('name', [name for name in list_scenes() if name != 'empty_table'])
def test_labels_of_the_shipped_scenes_neither_overlap_nor_leave_the_panel(name: str) -> None:
    view = view_of([scene(name)], 620)
    wanted = [
        Wanted(item.name, view.at(*item.pose.position_m[:2]), 0.03 * view.scale, 11.5)
        for item in scene(name).objects
        if item.kind is not Kind.FIXTURE
    ]
    assert all(0 < w.centre[0] < view.width and 0 < w.centre[1] < view.height for w in wanted)

    boxes = [label.box for label in place_labels(tuple(wanted), (), view.width, view.height)]

    assert not any(overlap(one, other) for one, other in itertools.combinations(boxes, 2))
    assert all(left >= 0 and right <= view.width for left, _, right, _ in boxes)


def test_what_is_held_or_on_a_location_is_written_and_a_pile_from_the_top_down() -> None:
    facts = (Fact('red_cube', 'on', 'location_A'), Fact('blue_cube', 'held_by', 'hand'))
    written = texts(draw_episode(episode(replace(scene(), facts=facts))))
    assert {'red_cube · A', 'blue_cube (in the hand)'} <= {*written}

    low = moved(scene(), 'red_cube', 0.6, -0.3)
    written = texts(draw_episode(episode(moved(low, 'blue_cube', 0.6, -0.3, 0.06))))
    assert written.index('on red_cube') == written.index('blue_cube') + 1
    assert 'red_cube' not in written


def test_an_object_that_moved_leaves_a_trace_and_others_do_not() -> None:
    before = scene()
    counts = []
    for after in (before, moved(before, 'red_cube', 0.6, -0.3)):
        shapes = draw_scene(after, view_of([before], 600), (0, 0), before=before).shapes
        paints = [shape.paint for shape in shapes if isinstance(shape, Polygon)]
        counts.append(sum(paint.dash == (2.5, 2.5) for paint in paints))

    assert counts == [0, 1]


def test_pictures_show_how_an_episode_ended_or_its_start_alone(tmp_path: Path) -> None:
    pictures = write_pictures(episode(scene(), ended=False), tmp_path / 'e1.jsonl')
    write_pictures(episode(scene(), scene()), tmp_path / 'e2.jsonl')

    svg, other = ((tmp_path / name).read_text() for name in ('e1.svg', 'e2.svg'))
    assert {path.name for path in pictures.paths} == {'e1.svg', 'e1.png'}
    assert [f'>{word}<' in svg for word in ('before', 'after', 'INTERRUPTED')] == [1, 0, 1]
    assert [f'>{word}<' in other for word in ('before', 'after', 'FINISHED')] == [1, 1, 1]


def filled(scene: Scene) -> dict[str | None, tuple[int, Polygon]]:
    """Return the first polygon of each fill, with its place in the order of drawing."""
    shapes = draw_scene(scene, view_of([scene], 600), (0, 0)).shapes
    polygons = [(i, shape) for i, shape in enumerate(shapes) if isinstance(shape, Polygon)]
    return {shape.paint.fill: (i, shape) for i, shape in reversed(polygons)}


def test_an_object_in_a_bowl_is_drawn_over_it_and_named_for_itself() -> None:
    start = scene('fruit')
    x, y, _ = next(item.pose.position_m for item in start.objects if item.name == 'bowl')
    end = moved(start, 'banana', x + 0.02, y, 0.025)
    found = filled(end)

    assert found[color_of('steelblue')][0] < found[color_of('gold')][0]
    names = texts(draw_episode(episode(end)))
    assert {'banana', 'bowl'} <= {*names}
    assert not any(name.startswith('on ') for name in names)


def test_a_name_between_two_objects_has_a_line_to_its_own() -> None:
    """The name of the lower of two cubes, close above each other, stood below the upper one."""
    above, below = (100.0, 100.0), (100.0, 140.0)
    boxes = tuple((x - 14, y - 14, x + 14, y + 14) for x, y in (above, below))
    names = (Wanted('orange_cube', above, 14.0, 11.5), Wanted('red_cube', below, 14.0, 11.5))

    for width, height in ((200.0, 240.0), (200.0, 160.0)):
        placed = place_labels(names, boxes, width, height, boxes)
        for name, spot, other in zip(names, placed, boxes[::-1], strict=True):
            near = (spot.box[0] - 8, spot.box[1] - 8, spot.box[2] + 8, spot.box[3] + 8)
            assert spot.leader is not None or overlap(near, other) == 0, name.text


def grey(*shapes: Shape) -> Image.Image:
    """Return shapes on a white page of 60 by 20 as the PNG file has them, in grey."""
    page = Page(width=60, height=20, title='', shapes=shapes)
    return Image.open(io.BytesIO(to_png(page, scale=1.0))).convert('L')


def test_a_panel_shows_what_is_beneath_and_cuts_off_what_reaches_over_its_edge() -> None:
    beneath = Polygon(rectangle(10, 5, 40, 10), Paint(fill='#808080'))
    wide = Polygon(rectangle(-50, 4, 200, 2), Paint(fill='#000000'))
    panel = Panel(corner=(20, 5), width=20, height=10, shapes=(wide,))
    image = grey(beneath, panel)

    assert [image.getpixel((x, 10)) for x in (5, 15, 30, 45)] == [255, 128, 0, 128]
    assert image.getpixel((30, 13)) == 128


@pytest.mark.parametrize('text', ['two\nlines', 'a\x00b\x1bc', '\ud800', '把方块', ''])
def test_no_name_can_break_the_png(text: str) -> None:
    assert grey(Text((5, 10), text, halo='#ffffff')).size == (60, 20)
