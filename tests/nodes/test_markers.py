"""Markers of a scene: what is out of reach or lost looks so, and says so."""

from __future__ import annotations

import pytest
from visualization_msgs.msg import Marker

from bbllm.core.lost import LostObject, lost_facts
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject
from bbllm.nodes.markers import menu_marker, scene_markers, status_markers
from bbllm.worlds.menu import Numbers, robot_menu
from bbllm.worlds.status import Mood

pytestmark = pytest.mark.ros


def cube(name: str, x: float) -> SceneObject:
    return SceneObject(
        name=name,
        kind=Kind.CUBE,
        pose=Pose(position_m=(x, 0.1, 0.02)),
        size_m=(0.04, 0.04, 0.04),
        color='red',
    )


NEAR, FAR = cube('red_cube', 0.4), cube('far_cube', 1.0)


def markers_of(*facts: Fact) -> dict[tuple[str, int], Marker]:
    shown = scene_markers(Scene((NEAR, FAR), (), facts, 5.0)).markers
    assert shown[0].action == Marker.DELETEALL
    return {(marker.ns, marker.id): marker for marker in shown[1:]}


def test_what_is_out_of_reach_is_pale_and_says_so() -> None:
    shown = markers_of(Fact('far_cube', 'reachable', 'no'), Fact('red_cube', 'reachable', 'yes'))

    assert shown['objects', 0].color.a == 1.0
    assert shown['names', 0].text == 'red_cube'
    assert shown['objects', 1].color.a == pytest.approx(0.3)
    assert shown['names', 1].text == 'far_cube\n(out of reach)'


def test_lost_thing_is_marked_where_it_was_last_seen() -> None:
    lost = LostObject(name='blue_cube', position_m=(0.5, -0.2, 0.02), seen_s=2.0)

    shown = markers_of(*lost_facts([lost], 5.0))

    place = shown['lost', 0].pose.position
    assert (place.x, place.y, place.z) == (0.5, -0.2, 0.02)
    assert shown['lost', 0].type == Marker.SPHERE
    assert shown['lost names', 0].text == 'blue_cube\n(lost 3 s ago)'


def test_lost_thing_that_nobody_knows_a_place_of_is_not_drawn() -> None:
    assert ('lost', 0) not in markers_of(Fact('blue_cube', 'is', 'lost'))


def test_colour_of_the_status_tells_how_much_a_person_is_needed() -> None:
    colors = []
    for mood in Mood:
        _, text = status_markers(('task: none',), mood).markers
        assert text.text == 'task: none'
        colors.append((text.color.r, text.color.g, text.color.b))

    assert len(set(colors)) == len(Mood)


def test_handle_of_a_menu_is_larger_than_its_thing_and_moves_with_it() -> None:
    menu = robot_menu({}, None)

    marker = menu_marker(menu, Numbers())

    (handle,) = marker.controls[0].markers
    assert handle.header.frame_id == ''  # relative to the interactive marker
    assert handle.scale.x > menu.size_m[0]
    assert 0.0 < handle.color.a < 0.5
    assert [entry.title for entry in marker.menu_entries] == ['return to base', 'stop']
